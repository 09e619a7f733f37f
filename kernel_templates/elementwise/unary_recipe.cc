// Functions of one element.
#include <cmath>
#include <limits>

#include "kernel_templates/elementwise/elementwise_recipe.h"

namespace tilewright {
namespace {

// Param 0: decimals. Integers are whole already.
int64_t RoundForm(const CallDesc& call) {
  const int64_t decimals = IsFloating(call.input(0).desc.dtype) ? call.params[0].as_int() : 0;
  return decimals > 0 ? 1 : decimals < 0 ? -1 : 0;
}
std::string_view RoundFunctor(const CallDesc& call) {
  const int64_t form = RoundForm(call);
  return form > 0 ? "RoundFractionFunctor" : form < 0 ? "RoundMultipleFunctor" : "RoundFunctor";
}
ElementwiseProblem RoundProblem(const CallDesc& call) {
  ElementwiseProblem problem = BroadcastProblem(call);
  const auto decimals = static_cast<double>(call.params[0].as_int());
  if (RoundForm(call) != 0) problem.scalars[0].f = std::pow(10.0, std::fabs(decimals));
  return problem;
}

double LargestFinite(DType dtype) {
  switch (dtype) {
    case DType::kFloat16:
      return 65504;
    case DType::kBFloat16:
      return 0x1.fep127;
    default:
      return std::numeric_limits<float>::max();
  }
}

// Params: nan, posinf, neginf; null is the largest and the least number of the dtype.
ElementwiseProblem NanToNumProblem(const CallDesc& call) {
  ElementwiseProblem problem = BroadcastProblem(call);
  const double largest = LargestFinite(call.input(0).desc.dtype);
  const auto or_largest = [&](size_t param, double otherwise) {
    const ParamValue& value = call.params[param];
    return static_cast<float>(value.is_null() ? otherwise : value.as_float());
  };
  problem.scalars[1].pair[0] = or_largest(1, largest);
  problem.scalars[1].pair[1] = or_largest(2, -largest);
  return problem;
}

std::unique_ptr<Recipe> MakeUnary(std::string_view functor) {
  return MakeElementwiseRecipe({"elementwise/unary.cuh", functor});
}
std::unique_ptr<Recipe> MakeTranscendental(std::string_view functor) {
  return MakeElementwiseRecipe({"elementwise/transcendental.cuh", functor});
}

}  // namespace

TILEWRIGHT_RECIPE(ExpFwdOp) { return MakeUnary("ExpFunctor"); }
TILEWRIGHT_RECIPE(Expm1FwdOp) { return MakeUnary("Expm1Functor"); }
TILEWRIGHT_RECIPE(LogFwdOp) { return MakeTranscendental("LogFunctor"); }
TILEWRIGHT_RECIPE(Log1pFwdOp) { return MakeTranscendental("Log1pFunctor"); }
TILEWRIGHT_RECIPE(SqrtFwdOp) { return MakeUnary("SqrtFunctor"); }
TILEWRIGHT_RECIPE(RsqrtFwdOp) { return MakeUnary("RsqrtFunctor"); }
TILEWRIGHT_RECIPE(SinFwdOp) { return MakeTranscendental("SinFunctor"); }
TILEWRIGHT_RECIPE(CosFwdOp) { return MakeTranscendental("CosFunctor"); }
TILEWRIGHT_RECIPE(ErfFwdOp) { return MakeTranscendental("ErfFunctor"); }
TILEWRIGHT_RECIPE(TanhFwdOp) { return MakeUnary("TanhFunctor"); }
TILEWRIGHT_RECIPE(SigmoidFwdOp) { return MakeUnary("SigmoidFunctor"); }
TILEWRIGHT_RECIPE(FloorFwdOp) { return MakeUnary("FloorFunctor"); }
TILEWRIGHT_RECIPE(CeilFwdOp) { return MakeUnary("CeilFunctor"); }
TILEWRIGHT_RECIPE(TruncFwdOp) { return MakeUnary("TruncFunctor"); }
TILEWRIGHT_RECIPE(AbsFwdOp) { return MakeUnary("AbsFunctor"); }
TILEWRIGHT_RECIPE(NegFwdOp) { return MakeUnary("NegFunctor"); }
TILEWRIGHT_RECIPE(SignFwdOp) { return MakeUnary("SignFunctor"); }

TILEWRIGHT_RECIPE(ReciprocalFwdOp) {
  return MakeElementwiseRecipe(
      {.file = "elementwise/unary.cuh", .functor = "ReciprocalFunctor", .typed_by = 1});
}

TILEWRIGHT_RECIPE(RoundFwdOp) {
  return MakeElementwiseRecipe({.file = "elementwise/unary.cuh",
                                .problem = RoundProblem,
                                .choose = RoundFunctor,
                                .form = RoundForm});
}

TILEWRIGHT_RECIPE(NanToNumFwdOp) {
  return MakeElementwiseRecipe({"elementwise/unary.cuh", "NanToNumFunctor", NanToNumProblem});
}

}  // namespace tilewright
