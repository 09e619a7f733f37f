// The kernel families that serve attention. Each reads its problem through an AttentionReader.
#ifndef TILEWRIGHT_KERNEL_TEMPLATES_ATTENTION_VARIANTS_H_
#define TILEWRIGHT_KERNEL_TEMPLATES_ATTENTION_VARIANTS_H_

#include <memory>
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
std::unique_ptr<Variant> MakeWgmmaAttentionVariant(AttentionReader read);

// "float8": the same kernel on float8 queries, keys and values, which tensor cores multiply twice
// as fast; values are transposed into the workspace first.
std::unique_ptr<Variant> MakeFloat8AttentionVariant(AttentionReader read);

// "split": few query rows a key head; the keys are cut into chunks; sm_80 and up.
std::unique_ptr<Variant> MakeSplitAttentionVariant(AttentionReader read);

// "mma": portable, any call; sm_80 and up.
std::unique_ptr<Variant> MakeMmaAttentionVariant(AttentionReader read);

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
