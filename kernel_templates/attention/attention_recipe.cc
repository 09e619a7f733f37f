// Which kernels serve the attention operators.
#include <array>

#include "kernel_templates/attention/variants.h"

namespace tilewright {
namespace {

class AttentionRecipe : public Recipe {
 public:
  explicit AttentionRecipe(AttentionReader read) : read_(read) {}

  std::span<const ProblemField> fields() const override { return AttentionFields(); }
  ProblemFields Describe(const CallDesc& call) const override { return read_(call).Describe(); }

 private:
  AttentionReader read_;
};

// Many queries a sequence.
class ForwardRecipe : public AttentionRecipe {
 public:
  explicit ForwardRecipe(AttentionReader read)
      : AttentionRecipe(read), float8_(read), wgmma_(read), mma_(read) {}
  std::span<const Variant* const> variants() const override { return variants_; }

 private:
  const Float8AttentionVariant float8_;
  const WgmmaAttentionVariant wgmma_;
  const MmaAttentionVariant mma_;
  const std::array<const Variant*, 3> variants_ = {&float8_, &wgmma_, &mma_};
};

// Few queries a sequence.
class DecodeRecipe : public AttentionRecipe {
 public:
  explicit DecodeRecipe(AttentionReader read) : AttentionRecipe(read), split_(read), mma_(read) {}
  std::span<const Variant* const> variants() const override { return variants_; }

 private:
  const SplitAttentionVariant split_;
  const MmaAttentionVariant mma_;
  const std::array<const Variant*, 2> variants_ = {&split_, &mma_};
};

}  // namespace

TILEWRIGHT_RECIPE(MultiHeadAttentionFwdOp) { return std::make_unique<ForwardRecipe>(ReadDense); }
TILEWRIGHT_RECIPE(GroupedQueryAttentionFwdOp) { return std::make_unique<ForwardRecipe>(ReadDense); }
TILEWRIGHT_RECIPE(GroupedQueryAttentionSlidingWindowFwdOp) {
  return std::make_unique<ForwardRecipe>(ReadWindow);
}
TILEWRIGHT_RECIPE(GroupedQueryAttentionSlidingWindowVarlenFwdOp) {
  return std::make_unique<ForwardRecipe>(ReadWindowVarlen);
}
TILEWRIGHT_RECIPE(GroupedQueryAttentionPrefillFwdOp) {
  return std::make_unique<ForwardRecipe>(ReadPrefill);
}
TILEWRIGHT_RECIPE(GroupedQueryAttentionPrefillPagedWithKVCacheFwdOp) {
  return std::make_unique<ForwardRecipe>(ReadPagedPrefill);
}
TILEWRIGHT_RECIPE(MultiHeadAttentionDecodeWithKVCacheFwdOp) {
  return std::make_unique<DecodeRecipe>(ReadDecode);
}
TILEWRIGHT_RECIPE(GroupedQueryAttentionDecodeWithKVCacheFwdOp) {
  return std::make_unique<DecodeRecipe>(ReadGroupedDecode);
}
TILEWRIGHT_RECIPE(MultiHeadAttentionDecodePagedWithKVCacheFwdOp) {
  return std::make_unique<DecodeRecipe>(ReadPagedDecode);
}
TILEWRIGHT_RECIPE(GroupedQueryAttentionDecodePagedWithKVCacheFwdOp) {
  return std::make_unique<DecodeRecipe>(ReadGroupedPagedDecode);
}

}  // namespace tilewright
