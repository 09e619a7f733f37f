// RMSNormFwdOp: x / sqrt(mean(x^2) + eps) * weight over the trailing axes of the normalized shape.
#include "kernel_templates/row/row_recipe.h"

namespace tilewright {
namespace {

// Where eps is null: the epsilon of the type it computes in, float32.
constexpr float kImplicitEps = 0x1p-23f;

// Operands: x, weight, output. Params: normalized_shape, eps.
RowProblem RmsNormProblem(const CallDesc& call) {
  const int rank = call.operands[0].desc.rank();
  RowProblem problem;
  problem.input = 0;
  problem.output = 2;
  problem.columns = {1};
  problem.first_axis = rank - call.operands[1].desc.rank();
  problem.last_axis = rank;
  const ParamValue& eps = call.params[1];
  problem.scalars[0] = eps.is_null() ? kImplicitEps : static_cast<float>(eps.as_float());
  return problem;
}

}  // namespace

TILEWRIGHT_RECIPE(RMSNormFwdOp) { return MakeRowRecipe({"RmsNormRow", RmsNormProblem, "", ""}); }

}  // namespace tilewright
