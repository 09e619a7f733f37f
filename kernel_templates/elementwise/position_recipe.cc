// Position encodings that no input goes into.
#include <cmath>

#include "kernel_templates/elementwise/elementwise_recipe.h"

namespace tilewright {
namespace {

// Output of (heads, length, length). Coordinates: the head, and row minus column.
ElementwiseProblem AlibiProblem(const CallDesc& call) {
  ElementwiseProblem problem;
  problem.shape = call.output(0).desc.shape;
  problem.views = {BroadcastView(call, 0, problem.shape), CoordinateView({1, 0, 0}),
                   CoordinateView({0, 1, -1})};
  problem.scalars[0].f = -8.0 / static_cast<double>(problem.shape[0]);
  return problem;
}

// Output of (length, width). Coordinates: row and column.
ElementwiseProblem SinusoidalProblem(const CallDesc& call) {
  ElementwiseProblem problem;
  problem.shape = call.output(0).desc.shape;
  problem.views = {BroadcastView(call, 0, problem.shape), CoordinateView({1, 0}),
                   ConsecutiveView({0, 1})};
  problem.scalars[0].f = std::log2(10000.0) * 2 / static_cast<double>(problem.shape[1]);
  problem.scalars[1].f = std::exp2(-problem.scalars[0].f);
  return problem;
}

}  // namespace

TILEWRIGHT_RECIPE(AlibiFwdOp) {
  return MakeElementwiseRecipe({"elementwise/position.cuh", "AlibiFunctor", AlibiProblem});
}

TILEWRIGHT_RECIPE(SinusoidalFwdOp) {
  return MakeElementwiseRecipe(
      {"elementwise/position.cuh", "SinusoidalFunctor", SinusoidalProblem});
}

}  // namespace tilewright
