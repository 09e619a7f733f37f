// GemmFwdOp: which kernels serve a dense matrix product.
#include <array>

#include "kernel_templates/gemm/variants.h"

namespace tilewright {
namespace {

class GemmRecipe : public Recipe {
 public:
  std::span<const ProblemField> fields() const override { return fields_; }

  ProblemFields Describe(const CallDesc& call) const override {
    const GemmProblem problem = ReadGemm(call);
    return {BucketM(problem.m),
            problem.n,
            problem.k,
            static_cast<int64_t>(problem.AccessA()),
            static_cast<int64_t>(problem.AccessB()),
            problem.OutputPieces() ? 1 : 0};
  }

  std::span<const Variant* const> variants() const override { return variants_; }

 private:
  using Kind = ProblemField::Kind;
  const std::array<ProblemField, 6> fields_ = {
      ProblemField{"m", Kind::kBucket},       ProblemField{"n", Kind::kExact},
      ProblemField{"k", Kind::kExact},        ProblemField{"a_access", Kind::kClass},
      ProblemField{"b_access", Kind::kClass}, ProblemField{"d_pieces", Kind::kClass}};
  const GemvVariant gemv_{ReadGemm};
  const WgmmaVariant wgmma_{ReadGemm};
  const MmaVariant mma_{ReadGemm};
  const std::array<const Variant*, 3> variants_ = {&gemv_, &wgmma_, &mma_};
};

}  // namespace

TILEWRIGHT_RECIPE(GemmFwdOp) { return std::make_unique<GemmRecipe>(); }

}  // namespace tilewright
