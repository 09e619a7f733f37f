// The service's own kernels on the host, for workers over the fake driver.
#ifndef TILEWRIGHT_TESTS_RUNTIME_EMULATED_KERNELS_H_
#define TILEWRIGHT_TESTS_RUNTIME_EMULATED_KERNELS_H_

#include "runtime/worker/support_kernels.h"

namespace tilewright {

// FillKernel of float32: values that the seed decides.
void EmulateFill(const FillParams& params);
// CompareKernel of float32, else of bytes.
void EmulateCompare(const CompareParams& params, bool floats);

}  // namespace tilewright

#endif  // TILEWRIGHT_TESTS_RUNTIME_EMULATED_KERNELS_H_
