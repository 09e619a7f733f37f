// GemmFwdOp and BmmFwdOp: which kernels serve a dense matrix product.
#include <array>

#include "kernel_templates/gemm/variants.h"

namespace tilewright {
namespace {

class GemmRecipe : public Recipe {
 public:
  explicit GemmRecipe(GemmReader read) : read_(read) {}
  std::span<const ProblemField> fields() const override { return fields_; }
  ProblemFields Describe(const CallDesc& call) const override { return DescribeGemm(read_(call)); }
  std::span<const Variant* const> variants() const override { return variants_; }

 private:
  const GemmReader read_;
  const std::array<ProblemField, kGemmFieldCount> fields_ = GemmFields();
  const std::unique_ptr<Variant> gemv_ = MakeGemvVariant(read_);
  const std::unique_ptr<Variant> wgmma_ = MakeWgmmaVariant(read_);
  const std::unique_ptr<Variant> mma_ = MakeMmaVariant(read_);
  const std::array<const Variant*, 3> variants_ = {gemv_.get(), wgmma_.get(), mma_.get()};
};

}  // namespace

TILEWRIGHT_RECIPE(GemmFwdOp) { return std::make_unique<GemmRecipe>(ReadGemm); }
TILEWRIGHT_RECIPE(BmmFwdOp) { return std::make_unique<GemmRecipe>(ReadBmm); }

}  // namespace tilewright
