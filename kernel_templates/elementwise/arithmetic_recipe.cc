// Arithmetic of two elements.
#include "kernel_templates/elementwise/elementwise_recipe.h"

namespace tilewright {
namespace {

// Param 0: rounding_mode, null, 0 (trunc) or 1 (floor).
int64_t RoundingMode(const CallDesc& call) {
  return call.params[0].is_null() ? -1 : call.params[0].as_int();
}
std::string_view DivForm(const CallDesc& call) {
  const int64_t mode = RoundingMode(call);
  return mode < 0 ? "DivFunctor" : mode == 0 ? "DivTruncFunctor" : "DivFloorFunctor";
}

std::unique_ptr<Recipe> MakeArithmetic(std::string_view functor) {
  return MakeElementwiseRecipe({"elementwise/arithmetic.cuh", functor});
}

}  // namespace

TILEWRIGHT_RECIPE(MulFwdOp) { return MakeArithmetic("MulFunctor"); }
TILEWRIGHT_RECIPE(RemainderFwdOp) { return MakeArithmetic("RemainderFunctor"); }
TILEWRIGHT_RECIPE(PowFwdOp) {
  return MakeElementwiseRecipe(
      {.file = "elementwise/arithmetic.cuh", .functor = "PowFunctor", .long_broadcasts = true});
}
TILEWRIGHT_RECIPE(MaximumFwdOp) { return MakeArithmetic("MaximumFunctor"); }
TILEWRIGHT_RECIPE(MinimumFwdOp) { return MakeArithmetic("MinimumFunctor"); }

TILEWRIGHT_RECIPE(FloorDivideFwdOp) { return MakeArithmetic("DivFloorFunctor"); }

TILEWRIGHT_RECIPE(DivFwdOp) {
  return MakeElementwiseRecipe(
      {.file = "elementwise/arithmetic.cuh", .choose = DivForm, .form = RoundingMode});
}

}  // namespace tilewright
