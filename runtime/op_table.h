// The operators of a runtime: built-in ones and an embedder's.
#ifndef TILEWRIGHT_RUNTIME_OP_TABLE_H_
#define TILEWRIGHT_RUNTIME_OP_TABLE_H_

#include <atomic>
#include <memory>
#include <mutex>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "kernel_templates/recipe.h"
#include "manifest/op_spec.h"
#include "manifest/reference.h"

namespace tilewright {

// One operator. Immutable, stays where it is for the table's lifetime.
struct OpEntry {
  int index = 0;
  OpSpec spec;
  std::unique_ptr<Recipe> recipe;  // null for an op without kernels
  ReferenceFunction reference;     // may be empty
};

// Purpose: finds operators by name and index without a lock; adding publishes a new snapshot and
// keeps the old ones, which is cheap because adding is rare. Thread-safe.
class OpTable {
 public:
  OpTable();

  const OpEntry* Find(std::string_view name) const;
  // Null if there is none.
  const OpEntry* At(int index) const {
    const std::vector<const OpEntry*>& entries = Current().by_index;
    return static_cast<size_t>(index) < entries.size() ? entries[static_cast<size_t>(index)]
                                                       : nullptr;
  }
  std::vector<const OpEntry*> All() const;
  // AlreadyExists, adding none, where a name is taken or given twice.
  absl::Status Add(std::vector<std::unique_ptr<OpEntry>> entries);

 private:
  struct Snapshot {
    std::vector<const OpEntry*> by_index;
    absl::flat_hash_map<std::string, const OpEntry*> by_name;
  };
  const Snapshot& Current() const { return *current_.load(std::memory_order_acquire); }

  std::mutex mutex_;
  std::vector<std::unique_ptr<OpEntry>> entries_;
  std::vector<std::unique_ptr<Snapshot>> snapshots_;
  std::atomic<const Snapshot*> current_{nullptr};
};

// Recipe::Describe(). Internal where the recipe breaks its contract: a null variant, or another
// number of values than fields.
absl::StatusOr<ProblemFields> DescribeProblem(const OpEntry& op, const CallDesc& call);

// The operators that come with the library.
std::vector<std::unique_ptr<OpEntry>> BuiltinOpEntries();

}  // namespace tilewright

#endif  // TILEWRIGHT_RUNTIME_OP_TABLE_H_
