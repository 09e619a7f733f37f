// Comparisons, logic and bits.
#include "kernel_templates/elementwise/elementwise_recipe.h"

namespace tilewright {
namespace {

// Bool of inputs of any type.
std::unique_ptr<Recipe> MakePredicate(std::string_view functor) {
  return MakeElementwiseRecipe(
      {.file = "elementwise/logic.cuh", .functor = functor, .typed_by = 1});
}
std::unique_ptr<Recipe> MakeBitwise(std::string_view functor) {
  return MakeElementwiseRecipe({"elementwise/logic.cuh", functor});
}

}  // namespace

TILEWRIGHT_RECIPE(EqFwdOp) { return MakePredicate("EqFunctor"); }
TILEWRIGHT_RECIPE(NeFwdOp) { return MakePredicate("NeFunctor"); }
TILEWRIGHT_RECIPE(GtFwdOp) { return MakePredicate("GtFunctor"); }
TILEWRIGHT_RECIPE(LtFwdOp) { return MakePredicate("LtFunctor"); }
TILEWRIGHT_RECIPE(GeFwdOp) { return MakePredicate("GeFunctor"); }
TILEWRIGHT_RECIPE(LeFwdOp) { return MakePredicate("LeFunctor"); }
TILEWRIGHT_RECIPE(LogicalAndFwdOp) { return MakePredicate("LogicalAndFunctor"); }
TILEWRIGHT_RECIPE(LogicalOrFwdOp) { return MakePredicate("LogicalOrFunctor"); }
TILEWRIGHT_RECIPE(LogicalNotFwdOp) { return MakePredicate("LogicalNotFunctor"); }
TILEWRIGHT_RECIPE(IsnanFwdOp) { return MakePredicate("IsnanFunctor"); }
TILEWRIGHT_RECIPE(IsinfFwdOp) { return MakePredicate("IsinfFunctor"); }
TILEWRIGHT_RECIPE(IsfiniteFwdOp) { return MakePredicate("IsfiniteFunctor"); }

TILEWRIGHT_RECIPE(BitwiseAndFwdOp) { return MakeBitwise("BitwiseAndFunctor"); }
TILEWRIGHT_RECIPE(BitwiseOrFwdOp) { return MakeBitwise("BitwiseOrFunctor"); }
TILEWRIGHT_RECIPE(BitwiseXorFwdOp) { return MakeBitwise("BitwiseXorFunctor"); }
TILEWRIGHT_RECIPE(BitwiseNotFwdOp) { return MakeBitwise("BitwiseNotFunctor"); }

}  // namespace tilewright
