#include "runtime/explain.h"

#include <array>
#include <optional>
#include <span>
#include <vector>

#include "manifest/op_spec.h"
#include "manifest/status.h"
#include "runtime/launch_rules.h"

namespace tilewright {
namespace {

absl::StatusOr<Explanation::Kernel> ExplainKernel(const KernelSpec& spec,
                                                  const DeviceProfile& device, Planner& planner,
                                                  Cache& cache) {
  TW_ASSIGN_OR_RETURN(const KernelKey key, planner.kernels().Key(spec, device.arch));
  Explanation::Kernel kernel;
  kernel.key = key.digest;
  kernel.instantiation = key.instantiation;
  if (const std::optional<KernelRow> row = cache.FindKernel(key.digest)) {
    kernel.in_cache = true;
    kernel.compiler = row->compiler;
    kernel.registers = row->registers;
    kernel.smem_bytes = row->static_smem_bytes;
  }
  return kernel;
}

// A description may be anyone's: it is checked as a call's tensors and params are.
absl::StatusOr<CallDesc> Checked(const OpSpec& op, const CallDesc& call) {
  const size_t operands = op.inputs.size() + op.outputs.size();
  if (call.operands.size() != operands) {
    return InvalidArgument(op.name, ": expected a call of ", operands, " operands, got ",
                           call.operands.size());
  }
  if (call.params.size() != op.params.size()) {
    return InvalidArgument(op.name, ": expected a call of ", op.params.size(), " parameters, got ",
                           call.params.size());
  }
  std::vector<NamedParam> params;
  for (size_t i = 0; i < op.params.size(); ++i) {
    params.push_back({op.params[i].name, call.params[i]});
  }
  const std::span<const Operand> all(call.operands.data(), operands);
  return MakeCall(op, all.first(op.inputs.size()), all.subspan(op.inputs.size()), params);
}

}  // namespace

std::string_view SourceName(Source source) {
  constexpr std::array<std::string_view, 4> kNames = {"loaded", "cache", "compiled", "tuned"};
  return kNames[static_cast<size_t>(source)];
}

std::string_view QualityName(Quality quality) {
  constexpr std::array<std::string_view, 3> kNames = {"winner", "neighbour", "default"};
  return kNames[static_cast<size_t>(quality)];
}

absl::StatusOr<Explanation> ExplainCall(const OpEntry& op, const CallDesc& described,
                                        const DeviceProfile& device, Planner& planner,
                                        Cache& cache) {
  TW_ASSIGN_OR_RETURN(const CallDesc call, Checked(op.spec, described));
  if (op.recipe == nullptr) return FailedPrecondition(op.spec.name, ": has no kernels");
  TW_ASSIGN_OR_RETURN(const ProblemFields fields, DescribeProblem(op, call));
  const ProblemKey problem = MakeProblemKey(call, *op.recipe, fields, device.Key());
  Explanation text;
  text.op = op.spec.name;
  text.call = call.ToString();
  text.problem_json = problem.problem_json;
  text.problem_key = problem.digest;
  text.device = problem.device;
  text.launches = HasWork(call);
  const absl::StatusOr<std::vector<Choice>> choices =
      planner.Choose(op, call, device, fields, problem);
  // What launches nothing needs no kernel that serves it.
  if (!text.launches && absl::IsFailedPrecondition(choices.status())) return text;
  TW_RETURN_IF_ERROR(choices.status());
  const Choice& choice = choices->front();
  text.quality = choice.quality;
  text.neighbour_json = choice.neighbour_json;
  text.config = choice.config;
  if (!text.launches) return text;
  text.predicted_us = choice.variant->PredictUs(call, choice.config, device);
  const std::vector<KernelSpec> specs = choice.variant->Kernels(call, choice.config);
  TW_ASSIGN_OR_RETURN(const BoundCall bound,
                      BindCall(*choice.variant, call, choice.config, device, specs.size()));
  text.workspace_bytes = bound.workspace_bytes;
  for (const KernelSpec& spec : specs) {
    TW_ASSIGN_OR_RETURN(Explanation::Kernel kernel, ExplainKernel(spec, device, planner, cache));
    text.kernels.push_back(std::move(kernel));
  }
  for (const Launch& launch : bound.launches) {
    text.kernels[static_cast<size_t>(launch.kernel)].smem_bytes += launch.dynamic_smem_bytes;
  }
  for (const Variant* variant : op.recipe->variants()) {
    const absl::Status serves = variant->Serves(call, device);
    if (!serves.ok()) {
      text.rejected_variants.push_back(Cat(variant->name(), ": ", serves.message()));
    }
  }
  // 0 where the profile is not calibrated.
  text.sol_us = SpeedOfLightUs(call, device).value_or(0);
  return text;
}

}  // namespace tilewright
