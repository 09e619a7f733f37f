#include "runtime/op_table.h"

#include <utility>

#include "manifest/status.h"

namespace tilewright {

OpTable::OpTable() {
  snapshots_.push_back(std::make_unique<Snapshot>());
  current_.store(snapshots_.back().get(), std::memory_order_release);
}

const OpEntry* OpTable::Find(std::string_view name) const {
  const Snapshot& now = Current();
  const auto it = now.by_name.find(absl::string_view(name.data(), name.size()));
  return it == now.by_name.end() ? nullptr : it->second;
}

std::vector<const OpEntry*> OpTable::All() const { return Current().by_index; }

absl::Status OpTable::Add(std::vector<std::unique_ptr<OpEntry>> entries) {
  std::lock_guard<std::mutex> lock(mutex_);
  auto next = std::make_unique<Snapshot>(Current());
  for (const std::unique_ptr<OpEntry>& entry : entries) {
    entry->index = static_cast<int>(next->by_index.size());
    if (!next->by_name.emplace(entry->spec.name, entry.get()).second) {
      return absl::AlreadyExistsError(Cat("operator '", entry->spec.name, "' exists"));
    }
    next->by_index.push_back(entry.get());
  }
  for (auto& entry : entries) entries_.push_back(std::move(entry));
  snapshots_.push_back(std::move(next));
  current_.store(snapshots_.back().get(), std::memory_order_release);
  return absl::OkStatus();
}

absl::StatusOr<ProblemFields> DescribeProblem(const OpEntry& op, const CallDesc& call) {
  const std::span<const Variant* const> variants = op.recipe->variants();
  for (size_t i = 0; i < variants.size(); ++i) {
    if (variants[i] == nullptr) {
      return Internal(op.spec.name, ": variant ", i, " of ", variants.size(),
                      " of the recipe is null");
    }
  }
  ProblemFields fields = op.recipe->Describe(call);
  if (fields.size() != op.recipe->fields().size()) {
    return Internal(op.spec.name, ": the recipe describes ", call.ToString(), ": expected ",
                    op.recipe->fields().size(), " values, one of each field, got ", fields.size());
  }
  return fields;
}

std::vector<std::unique_ptr<OpEntry>> BuiltinOpEntries() {
  std::vector<std::unique_ptr<OpEntry>> entries;
  for (const OpSpec& spec : Manifest::BuiltinOps()) {
    auto entry = std::make_unique<OpEntry>();
    entry->spec = spec;
    entry->recipe = MakeBuiltinRecipe(spec.name);
    entry->reference = BuiltinReference(spec.name);
    entries.push_back(std::move(entry));
  }
  return entries;
}

}  // namespace tilewright
