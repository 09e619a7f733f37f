// Which wgmma configurations are worth a look: the tuning space, and the few untuned candidates.
#ifndef TILEWRIGHT_KERNEL_TEMPLATES_GEMM_WGMMA_CHOICE_H_
#define TILEWRIGHT_KERNEL_TEMPLATES_GEMM_WGMMA_CHOICE_H_

#include <vector>

#include "autotune/config.h"
#include "kernel_templates/gemm/problem.h"
#include "manifest/device_profile.h"

namespace tilewright {

// Before legality; depends on the problem's fields only.
TuningSpace WgmmaSpace(GemmProblem problem, const DeviceProfile& device);

// The untuned candidates: few, so that a problem's buckets share kernels. What they are made of was
// the fastest in measurements (NOTES.md); which one is chosen is the model's.
std::vector<Config> WgmmaCandidates(GemmProblem problem, const DeviceProfile& device);

}  // namespace tilewright

#endif  // TILEWRIGHT_KERNEL_TEMPLATES_GEMM_WGMMA_CHOICE_H_
