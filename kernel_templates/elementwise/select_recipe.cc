// Selection, bounds and interpolation.
#include <limits>

#include "kernel_templates/elementwise/elementwise_recipe.h"
#include "manifest/reference.h"

namespace tilewright {
namespace {

// Operands: input, mask, output. Param 0: the value, truncated for the integers.
ElementwiseProblem MaskedFillScalarProblem(const CallDesc& call) {
  ElementwiseProblem problem = BroadcastProblem(call);
  const DType dtype = call.input(0).desc.dtype;
  const ParamValue& value = call.params[0];
  if (IsFloating(dtype)) return problem;
  if (dtype == DType::kBool) {
    problem.scalars[0].i = value.as_float() != 0;
  } else if (value.kind() == ParamValue::Kind::kFloat) {
    StoreFromDouble(&problem.scalars[0].i, DType::kInt64, 0, value.as_float());
  }
  return problem;
}

// Params: min and max; null is no bound.
ElementwiseProblem ClampScalarProblem(const CallDesc& call) {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  ElementwiseProblem problem = BroadcastProblem(call);
  if (call.params[0].is_null()) problem.scalars[0].f = -kInf;
  if (call.params[1].is_null()) problem.scalars[1].f = kInf;
  return problem;
}

// Operands: input, min, max, output; either bound may be absent.
std::string_view ClampForm(const CallDesc& call) {
  if (!call.input(1).present) return "ClampMaxFunctor";
  return call.input(2).present ? "ClampFunctor" : "ClampMinFunctor";
}

std::unique_ptr<Recipe> MakeSelect(std::string_view functor) {
  return MakeElementwiseRecipe({"elementwise/select.cuh", functor});
}

}  // namespace

TILEWRIGHT_RECIPE(WhereFwdOp) { return MakeSelect("WhereFunctor"); }
TILEWRIGHT_RECIPE(MaskedFillFwdOp) { return MakeSelect("MaskedFillFunctor"); }
TILEWRIGHT_RECIPE(LerpFwdOp) { return MakeSelect("LerpFunctor"); }
TILEWRIGHT_RECIPE(LerpTensorFwdOp) { return MakeSelect("LerpTensorFunctor"); }

TILEWRIGHT_RECIPE(MaskedFillScalarFwdOp) {
  return MakeElementwiseRecipe(
      {"elementwise/select.cuh", "MaskedFillScalarFunctor", MaskedFillScalarProblem});
}

TILEWRIGHT_RECIPE(ClampScalarFwdOp) {
  return MakeElementwiseRecipe(
      {"elementwise/select.cuh", "ClampScalarFunctor", ClampScalarProblem});
}

// Which bounds are there is part of every problem: an absent operand has no dtype.
TILEWRIGHT_RECIPE(ClampFwdOp) {
  return MakeElementwiseRecipe({.file = "elementwise/select.cuh", .choose = ClampForm});
}

}  // namespace tilewright
