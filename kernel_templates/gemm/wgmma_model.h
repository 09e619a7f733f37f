// The cost model of the wgmma kernels.
#ifndef TILEWRIGHT_KERNEL_TEMPLATES_GEMM_WGMMA_MODEL_H_
#define TILEWRIGHT_KERNEL_TEMPLATES_GEMM_WGMMA_MODEL_H_

#include "kernel_templates/gemm/problem.h"
#include "kernel_templates/gemm/wgmma_config.h"
#include "manifest/device_profile.h"

namespace tilewright {

// The longest of what the tensor cores, the way into a SM, L2, DRAM and the latency of the ring
// take, plus the parts that overlap nothing. Rates are measured ones (NOTES.md).
double PredictWgmmaUs(const GemmProblem& problem, const WgmmaConfig& config,
                      const DeviceProfile& device);

}  // namespace tilewright

#endif  // TILEWRIGHT_KERNEL_TEMPLATES_GEMM_WGMMA_MODEL_H_
