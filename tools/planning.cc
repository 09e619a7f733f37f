#include "tools/planning.h"

#include <algorithm>
#include <map>
#include <utility>

#include "autotune/tuner.h"
#include "manifest/status.h"
#include "runtime/kernel_store.h"
#include "runtime/tuning.h"
#include "runtime/worker/support_kernels.h"
#include "tools/message.h"

namespace tilewright {
namespace {

Need NeedOf(Quality quality) {
  switch (quality) {
    case Quality::kWinner:
      return Need::kWinner;
    case Quality::kNeighbour:
      return Need::kNeighbour;
    case Quality::kDefault:
      return Need::kDefault;
  }
  return Need::kDefault;
}

// Collects kernels, each key once.
class Planner {
 public:
  Planner(Runtime& runtime, const PlanOptions& options) : runtime_(runtime), options_(options) {}

  // `count`: how many calls this one stands for.
  absl::Status Add(const NamedCall& named, int count, const DeviceProfile& device) {
    const CallDesc& call = named.call;
    count_ = count;
    const Recipe* recipe = runtime_.FindRecipe(call.op->name);
    if (recipe == nullptr) return FailedPrecondition(call.op->name, " has no recipe");
    TW_ASSIGN_OR_RETURN(const Explanation chosen, runtime_.Explain(call, device));
    if (!chosen.launches) return absl::OkStatus();
    const Variant* variant = FindVariant(*recipe, chosen.config.variant);
    if (variant == nullptr) {
      return Internal(call.op->name, " has no variant '", chosen.config.variant, "'");
    }
    TW_RETURN_IF_ERROR(AddConfig(named, *variant, chosen.config, device, NeedOf(chosen.quality)));
    const Variant& portable = *recipe->variants().back();
    if (portable.Serves(call, device).ok()) {
      TW_RETURN_IF_ERROR(
          AddConfig(named, portable, portable.Default(call, device), device, Need::kFallback));
    }
    return options_.candidates ? AddCandidates(named, *recipe, device) : absl::OkStatus();
  }

  std::vector<NeededKernel> Take() { return std::move(kernels_); }

 private:
  absl::Status AddConfig(const NamedCall& named, const Variant& variant, const Config& config,
                         const DeviceProfile& device, Need need) {
    for (const KernelSpec& spec : variant.Kernels(named.call, config)) {
      TW_RETURN_IF_ERROR(AddKernel(named, spec, device, need));
    }
    return absl::OkStatus();
  }

  absl::Status AddKernel(const NamedCall& named, const KernelSpec& spec,
                         const DeviceProfile& device, Need need) {
    TW_ASSIGN_OR_RETURN(const KernelKey key, runtime_.kernels().Key(spec, device.arch));
    const auto [at, is_new] = index_.emplace(key.digest, kernels_.size());
    if (is_new) {
      kernels_.push_back({key, spec, named.call.op->name, need, named.origin, count_});
    } else {
      kernels_[at->second].calls += count_;
    }
    return absl::OkStatus();
  }

  // What the tuner would try first: the model's favourites, and the kernels that judge and time
  // them.
  absl::Status AddCandidates(const NamedCall& named, const Recipe& recipe,
                             const DeviceProfile& device) {
    std::vector<Candidate> candidates = TuningCandidates(recipe, named.call, device);
    std::stable_sort(
        candidates.begin(), candidates.end(),
        [](const Candidate& a, const Candidate& b) { return a.predicted_us < b.predicted_us; });
    const auto most = static_cast<size_t>(TuneOptions().max_candidates);
    if (candidates.size() > most) candidates.resize(most);
    for (const Candidate& candidate : candidates) {
      const Variant* variant = FindVariant(recipe, candidate.config.variant);
      if (variant == nullptr) return Internal("no variant '", candidate.config.variant, "'");
      TW_RETURN_IF_ERROR(AddConfig(named, *variant, candidate.config, device, Need::kCandidate));
    }
    std::vector<DType> dtypes;
    for (const Operand& operand : named.call.operands) {
      if (operand.present) dtypes.push_back(operand.desc.dtype);
    }
    for (const KernelSpec& spec : SupportKernels(dtypes)) {
      TW_RETURN_IF_ERROR(AddKernel(named, spec, device, Need::kSupport));
    }
    return absl::OkStatus();
  }

  Runtime& runtime_;
  const PlanOptions options_;
  int count_ = 1;
  std::vector<NeededKernel> kernels_;
  std::map<std::string, size_t> index_;  // key digest -> place in kernels_
};

}  // namespace

std::string_view NeedName(Need need) {
  switch (need) {
    case Need::kWinner:
      return "winner";
    case Need::kNeighbour:
      return "neighbour";
    case Need::kDefault:
      return "default";
    case Need::kFallback:
      return "fallback";
    case Need::kCandidate:
      return "candidate";
    case Need::kSupport:
      return "support";
  }
  return "unknown";
}

absl::StatusOr<std::vector<NeededKernel>> PlanKernels(std::span<const NamedCall> calls,
                                                      std::span<const DeviceProfile> devices,
                                                      Runtime& runtime,
                                                      const PlanOptions& options) {
  // Logs of real traffic name the same calls over and over.
  std::vector<std::pair<const NamedCall*, int>> distinct;
  std::map<std::string, size_t> places;
  for (const NamedCall& call : calls) {
    const auto [at, is_new] = places.emplace(call.call.ToString(), distinct.size());
    if (is_new) distinct.emplace_back(&call, 0);
    ++distinct[at->second].second;
  }
  Planner planner(runtime, options);
  for (const DeviceProfile& device : devices) {
    for (const auto& [call, count] : distinct) {
      if (absl::Status status = planner.Add(*call, count, device); !status.ok()) {
        return absl::Status(status.code(), Cat(call->origin, ": ", MessageOf(status)));
      }
    }
  }
  return planner.Take();
}

}  // namespace tilewright
