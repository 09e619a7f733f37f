// What a bound launch must keep to before it may reach the driver.
#ifndef TILEWRIGHT_RUNTIME_LAUNCH_RULES_H_
#define TILEWRIGHT_RUNTIME_LAUNCH_RULES_H_

#include <cstddef>
#include <string_view>

#include "absl/status/status.h"
#include "kernel_templates/launch.h"
#include "manifest/call_desc.h"
#include "runtime/driver/driver.h"

namespace tilewright {

inline constexpr size_t kMaxParamBytes = 4096;
inline constexpr size_t kTensorMapBytes = 128;

// Something that the call writes has elements; without, nothing is launched.
bool HasWork(const CallDesc& call);

// Internal where a launch breaks the contract of launch.h: no parameters or too many, a kernel (of
// `kernels`) or an operand (of `operands`) out of range, a slot outside the parameters, an
// unaligned tensor map, a grid beyond the limits.
absl::Status CheckLaunch(const Launch& launch, size_t kernels, int operands);

// Internal where a bound call breaks the contract of launch.h: no launch although an output has
// elements, a workspace of impossible size, a slot outside the workspace, a launch that breaks
// CheckLaunch(). Names op and variant.
absl::Status CheckBound(const CallDesc& call, std::string_view variant, const BoundCall& bound,
                        size_t kernels);

// The slot's tensor map in the driver's terms; the address is left 0.
TensorMapShape MapShape(const TensorMapSlot& slot);

}  // namespace tilewright

#endif  // TILEWRIGHT_RUNTIME_LAUNCH_RULES_H_
