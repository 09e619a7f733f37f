// What a bound launch must keep to before it may reach the driver.
#ifndef TILEWRIGHT_RUNTIME_LAUNCH_RULES_H_
#define TILEWRIGHT_RUNTIME_LAUNCH_RULES_H_

#include <cstddef>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kernel_templates/launch.h"
#include "kernel_templates/recipe.h"
#include "manifest/call_desc.h"
#include "runtime/driver/driver.h"

namespace tilewright {

inline constexpr size_t kMaxParamBytes = 4096;
inline constexpr size_t kTensorMapBytes = 128;

// Something that the call writes has elements; without, nothing is launched.
bool HasWork(const CallDesc& call);

// Internal where bound launches of `kernels` kernels and `operands` operands break the contract of
// launch.h: a workspace of impossible size, no parameters or too many, a kernel or an operand out
// of range, a slot outside the parameters or the workspace, an unaligned tensor map, a grid beyond
// the limits.
absl::Status CheckLaunches(const BoundCall& bound, size_t kernels, int operands);

// Variant::Bind() of a call that needs `kernels` kernels. Its errors name op and variant; Internal
// where what it bound breaks CheckLaunches(), or launches nothing although an output has elements.
absl::StatusOr<BoundCall> BindCall(const Variant& variant, const CallDesc& call,
                                   const Config& config, const DeviceProfile& device,
                                   size_t kernels);

// The slot's tensor map in the driver's terms; the address is left 0.
TensorMapShape MapShape(const TensorMapSlot& slot);

}  // namespace tilewright

#endif  // TILEWRIGHT_RUNTIME_LAUNCH_RULES_H_
