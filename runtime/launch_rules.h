// What a bound launch must keep to before it may reach the driver.
#ifndef TILEWRIGHT_RUNTIME_LAUNCH_RULES_H_
#define TILEWRIGHT_RUNTIME_LAUNCH_RULES_H_

#include <cstddef>

#include "absl/status/status.h"
#include "kernel_templates/launch.h"
#include "runtime/driver/driver.h"

namespace tilewright {

inline constexpr size_t kMaxParamBytes = 4096;
inline constexpr size_t kTensorMapBytes = 128;

// Internal where a launch breaks the contract of launch.h: no parameters or too many, a kernel (of
// `kernels`) or an operand (of `operands`) out of range, a slot outside the parameters, an
// unaligned tensor map, a grid beyond the limits.
absl::Status CheckLaunch(const Launch& launch, size_t kernels, int operands);

// The slot's tensor map in the driver's terms; the address is left 0.
TensorMapShape MapShape(const TensorMapSlot& slot);

}  // namespace tilewright

#endif  // TILEWRIGHT_RUNTIME_LAUNCH_RULES_H_
