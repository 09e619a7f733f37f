// The kernel families that serve matrix products. Each reads its problem through a GemmReader, so
// that every operator that is a matrix product can use it.
#ifndef TILEWRIGHT_KERNEL_TEMPLATES_GEMM_VARIANTS_H_
#define TILEWRIGHT_KERNEL_TEMPLATES_GEMM_VARIANTS_H_

#include <functional>
#include <memory>
#include <vector>

#include "kernel_templates/gemm/problem.h"
#include "kernel_templates/recipe.h"

namespace tilewright {

// "gemv": at most 16 rows of a, K-contiguous operands, no shared memory on the way in.
std::unique_ptr<Variant> MakeGemvVariant(GemmReader read);

// "wgmma": Hopper's warp-group tensor cores and copy engine; operands and output in 16-byte pieces.
std::unique_ptr<Variant> MakeWgmmaVariant(GemmReader read);

// "mma": portable, any extent, stride and alignment; sm_80 and up.
std::unique_ptr<Variant> MakeMmaVariant(GemmReader read);

// The legal point of `variant`'s candidates with the lowest time by `predict_us`. Candidates that
// cannot run are passed over; the first one must be legal.
Config FastestPredicted(const Variant& variant, const CallDesc& call, const DeviceProfile& device,
                        const std::vector<Config>& candidates,
                        const std::function<double(const Config&)>& predict_us);

// Figures of the device that the cost models use; the H200's where a profile is not calibrated.
double BandwidthBytesPerUs(const DeviceProfile& device);
double TensorFlopsPerUs(const DeviceProfile& device);

}  // namespace tilewright

#endif  // TILEWRIGHT_KERNEL_TEMPLATES_GEMM_VARIANTS_H_
