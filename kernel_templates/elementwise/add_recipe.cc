// AddFwdOp: input + alpha * other.
#include "kernel_templates/elementwise/elementwise_recipe.h"

namespace tilewright {
namespace {

// Operands: input, other, output. Params: alpha.
ElementwiseProblem AddProblem(const CallDesc& call) {
  const Dims& shape = call.operands[2].desc.shape;
  ElementwiseProblem problem;
  problem.shape = shape;
  problem.views = {BroadcastView(call, 2, shape), BroadcastView(call, 0, shape),
                   BroadcastView(call, 1, shape)};
  const ParamValue& alpha = call.params[0];
  if (IsInteger(problem.views[0].dtype)) {
    problem.scalars[0].i = alpha.as_int();
  } else {
    problem.scalars[0].f = alpha.as_float();
  }
  return problem;
}

}  // namespace

TILEWRIGHT_RECIPE(AddFwdOp) { return MakeElementwiseRecipe({"AddFunctor", AddProblem}); }

}  // namespace tilewright
