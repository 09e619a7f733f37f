// Tuned winners, held in memory by problem family, so that a new problem reads no file.
#ifndef TILEWRIGHT_RUNTIME_WINNER_INDEX_H_
#define TILEWRIGHT_RUNTIME_WINNER_INDEX_H_

#include <chrono>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "cache/cache.h"
#include "kernel_templates/recipe.h"
#include "runtime/keys.h"

namespace tilewright {

// What a winner was measured with; a winner measured with another identity is a hint only.
struct SpaceIdentity {
  std::string closure_digest;  // of every template that the space can use
  std::string space_digest;
};
class KernelStore;
absl::StatusOr<SpaceIdentity> IdentifySpace(KernelStore& kernels, const Recipe& recipe,
                                            const CallDesc& call, const DeviceProfile& device);

// A tuned problem that can lend its winner to others.
struct Neighbour {
  ProblemFields fields;
  std::string problem_json;
  Config config;
  WinnerRow row;
};

// Purpose: the winners of each (op, dtypes, device) that was asked for, read from the cache once
// and again when they are older than `max_age`, so that what other processes tune is noticed.
// Thread-safe.
class WinnerIndex {
 public:
  explicit WinnerIndex(Cache* cache, std::chrono::milliseconds max_age = std::chrono::seconds(30))
      : cache_(cache), max_age_(max_age) {}

  using Family = std::shared_ptr<const std::vector<Neighbour>>;
  Family Winners(const ProblemKey& problem, const Recipe& recipe);
  void Forget(const ProblemKey& problem);  // after one was tuned

 private:
  struct Entry {
    Family winners;
    std::chrono::steady_clock::time_point read_at;
  };

  Cache* const cache_;
  const std::chrono::milliseconds max_age_;
  std::mutex mutex_;
  absl::flat_hash_map<std::string, Entry> families_;
};

// The sum over dims of |log2 of the ratio|; infinite where a class differs.
double ProblemDistance(const Recipe& recipe, const ProblemFields& a, const ProblemFields& b);

// How far a winner is lent: a factor of two in all. Farther away another regime may hold: one row
// and thousands have little in common.
constexpr double kLendingDistance = 1;

// The `winners` within that distance, from nearest to farthest. Ties are ordered by text; of one
// problem's winners the latest is first.
std::vector<const Neighbour*> Nearest(const Recipe& recipe, const ProblemFields& fields,
                                      const std::vector<Neighbour>& winners);

}  // namespace tilewright

#endif  // TILEWRIGHT_RUNTIME_WINNER_INDEX_H_
