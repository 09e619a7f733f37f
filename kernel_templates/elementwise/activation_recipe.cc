// Activations.
#include "kernel_templates/elementwise/elementwise_recipe.h"

namespace tilewright {
namespace {

// Operands: input, weight, output. A weight of one element holds for all; else it goes along
// axis 1.
ElementwiseProblem PreluProblem(const CallDesc& call) {
  const Operand& weight = call.input(1);
  const Dims& shape = call.operands[2].desc.shape;
  ElementwiseProblem problem;
  problem.shape = shape;
  problem.views = {BroadcastView(call, 2, shape), BroadcastView(call, 0, shape)};
  ElementwiseView slopes{1, 0, weight.desc.dtype, Dims(), weight.alignment};
  const bool single = weight.desc.rank() == 0 || weight.desc.shape[0] == 1;
  for (int axis = 0; axis < shape.rank(); ++axis) {
    slopes.strides.push_back(axis == 1 && !single ? weight.desc.strides[0] : 0);
  }
  problem.views.push_back(slopes);
  return problem;
}

// Param 0: approximate.
std::string_view GeluForm(const CallDesc& call) {
  return call.params[0].as_int() == 0 ? "GeluFunctor" : "GeluTanhFunctor";
}

std::unique_ptr<Recipe> MakeActivation(std::string_view functor) {
  return MakeElementwiseRecipe({"elementwise/activation.cuh", functor});
}

}  // namespace

TILEWRIGHT_RECIPE(ReluFwdOp) { return MakeActivation("ReluFunctor"); }
TILEWRIGHT_RECIPE(SiluFwdOp) { return MakeActivation("SiluFunctor"); }
TILEWRIGHT_RECIPE(HardsigmoidFwdOp) { return MakeActivation("HardsigmoidFunctor"); }
TILEWRIGHT_RECIPE(HardswishFwdOp) { return MakeActivation("HardswishFunctor"); }
TILEWRIGHT_RECIPE(MishFwdOp) { return MakeActivation("MishFunctor"); }
TILEWRIGHT_RECIPE(SeluFwdOp) { return MakeActivation("SeluFunctor"); }
TILEWRIGHT_RECIPE(EluFwdOp) { return MakeActivation("EluFunctor"); }
TILEWRIGHT_RECIPE(LeakyReluFwdOp) { return MakeActivation("LeakyReluFunctor"); }
TILEWRIGHT_RECIPE(SoftplusFwdOp) { return MakeActivation("SoftplusFunctor"); }

TILEWRIGHT_RECIPE(HardtanhFwdOp) {
  return MakeElementwiseRecipe({"elementwise/select.cuh", "ClampScalarFunctor"});
}

TILEWRIGHT_RECIPE(PreluFwdOp) {
  return MakeElementwiseRecipe({"elementwise/activation.cuh", "PreluFunctor", PreluProblem});
}

TILEWRIGHT_RECIPE(GeluFwdOp) {
  return MakeElementwiseRecipe(
      {.file = "elementwise/activation.cuh",
       .choose = GeluForm,
       .form = [](const CallDesc& call) { return call.params[0].as_int(); },
       .long_vectors = true});
}

}  // namespace tilewright
