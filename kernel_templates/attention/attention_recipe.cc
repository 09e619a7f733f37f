// Which kernels serve the attention operators.
#include <memory>
#include <utility>
#include <vector>

#include "kernel_templates/attention/variants.h"

namespace tilewright {
namespace {

class AttentionRecipe : public Recipe {
 public:
  AttentionRecipe(AttentionReader read, std::vector<std::unique_ptr<Variant>> variants)
      : read_(read), owned_(std::move(variants)) {
    for (const auto& variant : owned_) variants_.push_back(variant.get());
  }

  std::span<const ProblemField> fields() const override { return AttentionFields(); }
  ProblemFields Describe(const CallDesc& call) const override { return read_(call).Describe(); }
  std::span<const Variant* const> variants() const override { return variants_; }

 private:
  const AttentionReader read_;
  const std::vector<std::unique_ptr<Variant>> owned_;
  std::vector<const Variant*> variants_;
};

// Many queries a sequence.
std::unique_ptr<Recipe> ForwardRecipe(AttentionReader read) {
  std::vector<std::unique_ptr<Variant>> variants;
  variants.push_back(MakeFloat8AttentionVariant(read));
  variants.push_back(MakeWgmmaAttentionVariant(read));
  variants.push_back(MakeMmaAttentionVariant(read));
  return std::make_unique<AttentionRecipe>(read, std::move(variants));
}

// Few queries a sequence.
std::unique_ptr<Recipe> DecodeRecipe(AttentionReader read) {
  std::vector<std::unique_ptr<Variant>> variants;
  variants.push_back(MakeSplitAttentionVariant(read));
  variants.push_back(MakeMmaAttentionVariant(read));
  return std::make_unique<AttentionRecipe>(read, std::move(variants));
}

}  // namespace

TILEWRIGHT_RECIPE(MultiHeadAttentionFwdOp) { return ForwardRecipe(ReadDense); }
TILEWRIGHT_RECIPE(GroupedQueryAttentionFwdOp) { return ForwardRecipe(ReadDense); }
TILEWRIGHT_RECIPE(GroupedQueryAttentionSlidingWindowFwdOp) { return ForwardRecipe(ReadWindow); }
TILEWRIGHT_RECIPE(GroupedQueryAttentionSlidingWindowVarlenFwdOp) {
  return ForwardRecipe(ReadWindowVarlen);
}
TILEWRIGHT_RECIPE(GroupedQueryAttentionPrefillFwdOp) { return ForwardRecipe(ReadPrefill); }
TILEWRIGHT_RECIPE(GroupedQueryAttentionPrefillPagedWithKVCacheFwdOp) {
  return ForwardRecipe(ReadPagedPrefill);
}
TILEWRIGHT_RECIPE(MultiHeadAttentionDecodeWithKVCacheFwdOp) { return DecodeRecipe(ReadDecode); }
TILEWRIGHT_RECIPE(GroupedQueryAttentionDecodeWithKVCacheFwdOp) {
  return DecodeRecipe(ReadGroupedDecode);
}
TILEWRIGHT_RECIPE(MultiHeadAttentionDecodePagedWithKVCacheFwdOp) {
  return DecodeRecipe(ReadPagedDecode);
}
TILEWRIGHT_RECIPE(GroupedQueryAttentionDecodePagedWithKVCacheFwdOp) {
  return DecodeRecipe(ReadGroupedPagedDecode);
}

}  // namespace tilewright
