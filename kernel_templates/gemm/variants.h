// The kernel families that serve matrix products. Each reads its problem through a GemmReader, so
// that every operator that is a matrix product can use it.
#ifndef TILEWRIGHT_KERNEL_TEMPLATES_GEMM_VARIANTS_H_
#define TILEWRIGHT_KERNEL_TEMPLATES_GEMM_VARIANTS_H_

#include <memory>
#include <string_view>
#include <vector>

#include "kernel_templates/gemm/problem.h"
#include "kernel_templates/recipe.h"

namespace tilewright {

// "gemv": at most kMaxTokens rows of a, K-contiguous operands, no shared memory on the way in.
class GemvVariant : public Variant {
 public:
  static constexpr int64_t kMaxTokens = 16;
  explicit GemvVariant(GemmReader read) : read_(read) {}
  std::string_view name() const override { return "gemv"; }
  absl::Status Serves(const CallDesc& call, const DeviceProfile& device) const override;
  TuningSpace Space(const CallDesc& call, const DeviceProfile& device) const override;
  absl::Status Legal(const CallDesc& call, const Config& config,
                     const DeviceProfile& device) const override;
  double PredictUs(const CallDesc& call, const Config& config,
                   const DeviceProfile& device) const override;
  Config Default(const CallDesc& call, const DeviceProfile& device) const override;
  std::vector<KernelSpec> Kernels(const CallDesc& call, const Config& config) const override;
  absl::StatusOr<BoundCall> Bind(const CallDesc& call, const Config& config,
                                 const DeviceProfile& device) const override;

 private:
  GemmReader read_;
};

// "wgmma": Hopper's warp-group tensor cores and copy engine; operands and output in 16-byte pieces.
class WgmmaVariant : public Variant {
 public:
  explicit WgmmaVariant(GemmReader read) : read_(read) {}
  std::string_view name() const override { return "wgmma"; }
  absl::Status Serves(const CallDesc& call, const DeviceProfile& device) const override;
  TuningSpace Space(const CallDesc& call, const DeviceProfile& device) const override;
  absl::Status Legal(const CallDesc& call, const Config& config,
                     const DeviceProfile& device) const override;
  double PredictUs(const CallDesc& call, const Config& config,
                   const DeviceProfile& device) const override;
  Config Default(const CallDesc& call, const DeviceProfile& device) const override;
  std::vector<KernelSpec> Kernels(const CallDesc& call, const Config& config) const override;
  absl::StatusOr<BoundCall> Bind(const CallDesc& call, const Config& config,
                                 const DeviceProfile& device) const override;

 private:
  GemmReader read_;
};

// "mma": portable, any extent, stride and alignment; sm_80 and up.
class MmaVariant : public Variant {
 public:
  explicit MmaVariant(GemmReader read) : read_(read) {}
  std::string_view name() const override { return "mma"; }
  absl::Status Serves(const CallDesc& call, const DeviceProfile& device) const override;
  TuningSpace Space(const CallDesc& call, const DeviceProfile& device) const override;
  absl::Status Legal(const CallDesc& call, const Config& config,
                     const DeviceProfile& device) const override;
  double PredictUs(const CallDesc& call, const Config& config,
                   const DeviceProfile& device) const override;
  Config Default(const CallDesc& call, const DeviceProfile& device) const override;
  std::vector<KernelSpec> Kernels(const CallDesc& call, const Config& config) const override;
  absl::StatusOr<BoundCall> Bind(const CallDesc& call, const Config& config,
                                 const DeviceProfile& device) const override;

 private:
  GemmReader read_;
};

// The legal point of `variant`'s candidates with the lowest predicted time. Candidates that cannot
// run are passed over; the first one must be legal.
Config FastestPredicted(const Variant& variant, const CallDesc& call, const DeviceProfile& device,
                        const std::vector<Config>& candidates);

// Figures of the device that the cost models use; the H200's where a profile is not calibrated.
double BandwidthBytesPerUs(const DeviceProfile& device);
double TensorFlopsPerUs(const DeviceProfile& device);

}  // namespace tilewright

#endif  // TILEWRIGHT_KERNEL_TEMPLATES_GEMM_VARIANTS_H_
