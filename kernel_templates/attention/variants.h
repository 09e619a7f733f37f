// The kernel families that serve attention. Each reads its problem through an AttentionReader.
#ifndef TILEWRIGHT_KERNEL_TEMPLATES_ATTENTION_VARIANTS_H_
#define TILEWRIGHT_KERNEL_TEMPLATES_ATTENTION_VARIANTS_H_

#include <string_view>
#include <vector>

#include "kernel_templates/attention/problem.h"
#include "kernel_templates/recipe.h"

namespace tilewright {

class AttentionVariant : public Variant {
 public:
  explicit AttentionVariant(AttentionReader read) : read_(read) {}

 protected:
  AttentionReader read_;
};

// "wgmma": Hopper's warp-group tensor cores and copy engine, for many queries.
class WgmmaAttentionVariant : public AttentionVariant {
 public:
  using AttentionVariant::AttentionVariant;
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
};

// "float8": the same kernel on float8 queries, keys and values, which tensor cores multiply twice
// as fast; values are transposed into the workspace first.
class Float8AttentionVariant : public AttentionVariant {
 public:
  using AttentionVariant::AttentionVariant;
  std::string_view name() const override { return "float8"; }
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
};

// "split": few query rows a key head; the keys are cut into chunks; sm_80 and up.
class SplitAttentionVariant : public AttentionVariant {
 public:
  static constexpr int64_t kMaxRows = 64;  // queries x heads that share a key head
  using AttentionVariant::AttentionVariant;
  std::string_view name() const override { return "split"; }
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
};

// "mma": portable, any call; sm_80 and up.
class MmaAttentionVariant : public AttentionVariant {
 public:
  using AttentionVariant::AttentionVariant;
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
};

// What is done before attention itself: new tokens are appended to a paged cache that grows (and
// queries rotated into the workspace), and, where a kernel asks for it, float8 operands are widened
// into the workspace.
struct Preparation {
  // The kernels of it, behind those already there; none for most calls.
  static void AddKernels(const AttentionProblem& problem, bool widen,
                         std::vector<KernelSpec>& kernels);
  // Their launches, the kernels being numbered from `first_kernel` on; the problem that is left.
  static AttentionProblem Bind(const CallDesc& call, const AttentionProblem& problem, bool widen,
                               int first_kernel, BoundCall& bound);
};
// Whether the float8 operands of a problem can be widened.
bool CanWiden(const AttentionProblem& problem);

// Shared memory of a block that kernels may count on.
int64_t SmemLimit(const DeviceProfile& device);

}  // namespace tilewright

#endif  // TILEWRIGHT_KERNEL_TEMPLATES_ATTENTION_VARIANTS_H_
