// Gated activations: activation(x[:, :N]) * x[:, N:].
#include <bit>

#include "kernel_templates/elementwise/elementwise_recipe.h"

namespace tilewright {
namespace {

// Operands: x of (M, 2N), output of (M, N). Both halves are views of x.
ElementwiseProblem GatedProblem(const CallDesc& call) {
  const Operand& x = call.operands[0];
  const Dims& shape = call.operands[1].desc.shape;
  ElementwiseView gate{0, 0, x.desc.dtype, x.desc.strides, x.alignment};
  ElementwiseView up = gate;
  if (call.operands[1].desc.elements() > 0)
    up.byte_offset = shape[1] * x.desc.strides[1] * DTypeSize(x.desc.dtype);
  const uint64_t shifted = static_cast<uint64_t>(up.byte_offset) | x.alignment;
  up.alignment = 1u << std::countr_zero(shifted);
  ElementwiseProblem problem;
  problem.shape = shape;
  problem.views = {BroadcastView(call, 1, shape), gate, up};
  return problem;
}

std::unique_ptr<Recipe> MakeGatedRecipe(std::string_view functor) {
  return MakeElementwiseRecipe({"elementwise/gated.cuh", functor, GatedProblem});
}

}  // namespace

TILEWRIGHT_RECIPE(SiluAndMulFwdOp) { return MakeGatedRecipe("SiluMulFunctor"); }

TILEWRIGHT_RECIPE(GeluAndMulFwdOp) { return MakeGatedRecipe("GeluMulFunctor"); }

TILEWRIGHT_RECIPE(GeluTanhAndMulFwdOp) { return MakeGatedRecipe("GeluTanhMulFunctor"); }

TILEWRIGHT_RECIPE(SwigluOaiAndMulFwdOp) { return MakeGatedRecipe("SwigluOaiMulFunctor"); }

}  // namespace tilewright
