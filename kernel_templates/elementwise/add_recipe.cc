// Sums and differences: input + alpha * other, input - alpha * other.
#include "kernel_templates/elementwise/elementwise_recipe.h"

namespace tilewright {

TILEWRIGHT_RECIPE(AddFwdOp) { return MakeElementwiseRecipe({"elementwise/add.cuh", "AddFunctor"}); }

TILEWRIGHT_RECIPE(SubFwdOp) { return MakeElementwiseRecipe({"elementwise/add.cuh", "SubFunctor"}); }

}  // namespace tilewright
