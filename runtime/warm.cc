// Compiling ahead of calls.
#include "kernel_templates/recipe.h"
#include "manifest/status.h"
#include "runtime/kernel_store.h"
#include "runtime/runtime.h"

namespace tilewright {

absl::Status Runtime::Warm(const CallDesc& call, const DeviceProfile& device) {
  TW_ASSIGN_OR_RETURN(const Explanation chosen, Explain(call, device));
  if (!chosen.launches) return absl::OkStatus();
  const Recipe& recipe = *FindRecipe(call.op->name);  // what was explained has one
  const auto build = [&](const Variant& variant, const Config& config) -> absl::Status {
    for (const KernelSpec& spec : variant.Kernels(call, config)) {
      TW_RETURN_IF_ERROR(kernels().GetOrBuild(spec, call.op->name, device.arch).status());
    }
    return absl::OkStatus();
  };
  const Variant* variant = FindVariant(recipe, chosen.config.variant);
  if (variant == nullptr) {
    return Internal(call.op->name, ": no variant '", chosen.config.variant, "'");
  }
  TW_RETURN_IF_ERROR(build(*variant, chosen.config));
  const Variant& portable = *recipe.variants().back();
  if (!portable.Serves(call, device).ok()) return absl::OkStatus();
  return build(portable, portable.Default(call, device));
}

}  // namespace tilewright
