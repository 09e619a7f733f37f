// From a problem to a plan: which configuration, its kernels built and loaded.
#ifndef TILEWRIGHT_RUNTIME_PLANNER_H_
#define TILEWRIGHT_RUNTIME_PLANNER_H_

#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/kernel_loader.h"
#include "runtime/kernel_store.h"
#include "runtime/op_table.h"
#include "runtime/plan.h"
#include "runtime/runtime.h"
#include "runtime/winner_index.h"

namespace tilewright {

// A configuration that can run a call, and why it was chosen.
struct Choice {
  const Variant* variant = nullptr;
  Config config;
  Quality quality = Quality::kDefault;
  std::string neighbour_json;
};

// The variant of `config` where it can run this very call; null where it cannot.
const Variant* LegalVariant(const Recipe& recipe, const CallDesc& call, const Config& config,
                            const DeviceProfile& device);

// The same of a config that comes from a cache, which may be anyone's, or an older version's: it
// must also be a point of the variant's space, or its default. Null where it is not to be used.
const Variant* TrustedVariant(const Recipe& recipe, const CallDesc& call, const Config& config,
                              const DeviceProfile& device);

// What a resolution may do.
enum class Effort : uint8_t {
  kCompile,     // build what is missing
  kCachedOnly,  // serve what the cache holds, else FailedPrecondition
};

// Purpose: chooses and assembles. Choose() is pure but for reading the cache and needs no GPU;
// Assemble() builds and loads. Thread-safe.
class Planner {
 public:
  Planner(KernelStore* kernels, KernelLoader* loader, Cache* cache, Logger log)
      : kernels_(kernels), loader_(loader), cache_(cache), log_(std::move(log)), winners_(cache) {}

  // Legal choices in the order of preference: the problem's own winner, that of the nearest tuned
  // neighbour that lends its own, the recipe's default. FailedPrecondition listing each variant's
  // reason where none serves the call.
  absl::StatusOr<std::vector<Choice>> Choose(const OpEntry& op, const CallDesc& call,
                                             const DeviceProfile& device,
                                             const ProblemFields& fields,
                                             const ProblemKey& problem);

  // A plan of the first choice whose kernels can be had.
  absl::StatusOr<std::shared_ptr<const Plan>> Assemble(const OpEntry& op, const CallDesc& call,
                                                       const VisibleDevice& device,
                                                       const ProblemKey& problem,
                                                       const std::vector<Choice>& choices,
                                                       Effort effort);

  WinnerIndex& winners() { return winners_; }
  KernelStore& kernels() { return *kernels_; }

 private:
  // Whether a neighbour's winner may stand in for the default: where the model does not think it
  // slower here, or by less than it was measured to be faster than this very default there.
  bool Lends(const Neighbour& neighbour, const Variant& variant, const Choice& usual,
             const CallDesc& call, const DeviceProfile& device);
  absl::StatusOr<std::shared_ptr<const Plan>> AssembleOne(const OpEntry& op, const CallDesc& call,
                                                          const VisibleDevice& device,
                                                          const ProblemKey& problem,
                                                          const Choice& choice, Effort effort);
  // Adds the kernel to the plan.
  absl::Status AddKernel(const OpEntry& op, const KernelSpec& spec, const VisibleDevice& device,
                         Effort effort, Plan& plan);

  KernelStore* const kernels_;
  KernelLoader* const loader_;
  // Once for each row of the cache.
  void SayIgnored(const Neighbour& neighbour);

  Cache* const cache_;
  const Logger log_;
  WinnerIndex winners_;
  std::mutex ignored_mutex_;
  std::set<std::string> ignored_;  // keys of winners; guarded by ignored_mutex_
};

}  // namespace tilewright

#endif  // TILEWRIGHT_RUNTIME_PLANNER_H_
