// Dropout: input, coordinate and, where given, seed and offset from memory.
#include <bit>
#include <cmath>

#include "kernel_templates/elementwise/elementwise_recipe.h"

namespace tilewright {
namespace {

// Operands: input, state, output. Params: p, seed, offset, training.
ElementwiseProblem DropoutProblem(const CallDesc& call) {
  const Operand& state = call.input(1);
  const double p = call.params[0].as_float();
  const bool drops = call.params[3].as_bool() && p > 0;
  ElementwiseProblem problem;
  problem.shape = call.output(0).desc.shape;
  problem.views = {BroadcastView(call, 2, problem.shape), BroadcastView(call, 0, problem.shape),
                   ConsecutiveView(TensorDesc::Contiguous(DType::kInt64, problem.shape).strides,
                                   call.params[2].as_int())};
  if (state.present) {
    Dims fixed = problem.shape;
    for (int axis = 0; axis < fixed.rank(); ++axis) fixed[axis] = 0;
    const int64_t step = state.desc.strides[0] * DTypeSize(state.desc.dtype);
    problem.views.push_back({1, 0, state.desc.dtype, fixed, state.alignment});
    problem.views.push_back({1, step, state.desc.dtype, fixed, state.alignment});
  }
  // A word below the threshold is dropped. At p = 1 all are scaled by 0.
  const double scale = !drops ? 1 : p < 1 ? 1 / (1 - p) : 0;
  const auto threshold = static_cast<uint32_t>(drops && p < 1 ? std::floor(p * 0x1p32) : 0);
  const auto bits = uint64_t{std::bit_cast<uint32_t>(static_cast<float>(scale))};
  problem.scalars[0].i = call.params[1].as_int();
  problem.scalars[1].i = static_cast<int64_t>(bits << 32 | threshold);
  return problem;
}

// Whether there is a state is part of every problem: an absent operand has no dtype.
std::string_view DropoutForm(const CallDesc& call) {
  return call.input(1).present ? "DropoutStateFunctor" : "DropoutFunctor";
}

}  // namespace

TILEWRIGHT_RECIPE(DropoutFwdOp) {
  return MakeElementwiseRecipe({.file = "elementwise/dropout.cuh",
                                .problem = DropoutProblem,
                                .choose = DropoutForm,
                                .long_vectors = true});
}

}  // namespace tilewright
