#include <cmath>

#include "manifest/float_format.h"
#include "manifest/references/elementwise_map.h"

namespace tilewright {
namespace {

int64_t Same(int64_t x) { return x; }
int64_t Negative(int64_t x) { return static_cast<int64_t>(-static_cast<uint64_t>(x)); }

double RoundToDecimals(float x, int64_t decimals) {
  const auto power = static_cast<float>(std::pow(10.0, std::fabs(static_cast<double>(decimals))));
  if (decimals < 0) return std::nearbyint(x / power) * power;
  return std::nearbyint(x * power) / power;
}

std::vector<Workload> WithParams(std::vector<std::pair<std::string, ParamValue>> params,
                                 const char* label) {
  Workload entry;
  entry.label = label;
  entry.input_shapes = {{"input", {64, 33}}};
  entry.params = std::move(params);
  entry.dtypes = {DType::kFloat16, DType::kBFloat16, DType::kFloat32};
  return {entry};
}
std::vector<Workload> Joined(std::vector<Workload> cases, const std::vector<Workload>& more) {
  cases.insert(cases.end(), more.begin(), more.end());
  return cases;
}

std::vector<Workload> RoundEdges() {
  return Joined(Joined(UnaryEdges(), WithParams({{"decimals", 1}}, "one-decimal")),
                WithParams({{"decimals", -2}}, "hundreds"));
}
std::vector<Workload> NanToNumEdges() {
  return Joined(UnaryEdges(),
                WithParams({{"nan", 1.5}, {"posinf", 2.5}, {"neginf", -3.5}}, "replacements"));
}

}  // namespace

TILEWRIGHT_REFERENCE(ExpFwdOp)
TILEWRIGHT_ELEMENTWISE(Real1([](double x) { return std::exp(x); }))
TILEWRIGHT_EDGE_CASES(ExpFwdOp) { return UnaryEdges(); }

TILEWRIGHT_REFERENCE(Expm1FwdOp)
TILEWRIGHT_ELEMENTWISE(Real1([](double x) { return std::expm1(x); }))
TILEWRIGHT_EDGE_CASES(Expm1FwdOp) { return UnaryEdges(); }

TILEWRIGHT_REFERENCE(LogFwdOp)
TILEWRIGHT_ELEMENTWISE(Real1([](double x) { return std::log(x); }))
TILEWRIGHT_EDGE_CASES(LogFwdOp) { return UnaryEdges(); }

TILEWRIGHT_REFERENCE(Log1pFwdOp)
TILEWRIGHT_ELEMENTWISE(Real1([](double x) { return std::log1p(x); }))
TILEWRIGHT_EDGE_CASES(Log1pFwdOp) { return UnaryEdges(); }

TILEWRIGHT_REFERENCE(SqrtFwdOp)
TILEWRIGHT_ELEMENTWISE(Real1([](double x) { return std::sqrt(x); }))
TILEWRIGHT_EDGE_CASES(SqrtFwdOp) { return UnaryEdges(); }

TILEWRIGHT_REFERENCE(SinFwdOp)
TILEWRIGHT_ELEMENTWISE(Real1([](double x) { return std::sin(x); }))
TILEWRIGHT_EDGE_CASES(SinFwdOp) { return UnaryEdges(); }

TILEWRIGHT_REFERENCE(CosFwdOp)
TILEWRIGHT_ELEMENTWISE(Real1([](double x) { return std::cos(x); }))
TILEWRIGHT_EDGE_CASES(CosFwdOp) { return UnaryEdges(); }

TILEWRIGHT_REFERENCE(ErfFwdOp)
TILEWRIGHT_ELEMENTWISE(Real1([](double x) { return std::erf(x); }))
TILEWRIGHT_EDGE_CASES(ErfFwdOp) { return UnaryEdges(); }

TILEWRIGHT_REFERENCE(TanhFwdOp)
TILEWRIGHT_ELEMENTWISE(Real1([](double x) { return std::tanh(x); }))
TILEWRIGHT_EDGE_CASES(TanhFwdOp) { return UnaryEdges(); }

TILEWRIGHT_REFERENCE(RsqrtFwdOp)
TILEWRIGHT_ELEMENTWISE(Real1([](double x) { return 1 / std::sqrt(x); }))
TILEWRIGHT_EDGE_CASES(RsqrtFwdOp) { return UnaryEdges(); }

TILEWRIGHT_REFERENCE(SigmoidFwdOp)
TILEWRIGHT_ELEMENTWISE(Real1([](double x) { return 1 / (1 + std::exp(-x)); }))
TILEWRIGHT_EDGE_CASES(SigmoidFwdOp) { return UnaryEdges(); }

TILEWRIGHT_REFERENCE(FloorFwdOp)
TILEWRIGHT_ELEMENTWISE(RealOrInteger1([](double x) { return std::floor(x); }, Same))
TILEWRIGHT_EDGE_CASES(FloorFwdOp) { return UnaryEdges(); }

TILEWRIGHT_REFERENCE(CeilFwdOp)
TILEWRIGHT_ELEMENTWISE(RealOrInteger1([](double x) { return std::ceil(x); }, Same))
TILEWRIGHT_EDGE_CASES(CeilFwdOp) { return UnaryEdges(); }

TILEWRIGHT_REFERENCE(TruncFwdOp)
TILEWRIGHT_ELEMENTWISE(RealOrInteger1([](double x) { return std::trunc(x); }, Same))
TILEWRIGHT_EDGE_CASES(TruncFwdOp) { return UnaryEdges(); }

// Integers are whole; float32 decides which values are halves.
TILEWRIGHT_REFERENCE(RoundFwdOp)
TILEWRIGHT_ELEMENTWISE([](const InputElements& x) {
  if (!x.is_floating(0)) return x.x[0];
  return RefScalar{RoundToDecimals(static_cast<float>(x.f(0)), x.param(0).as_int()), 0};
})
TILEWRIGHT_EDGE_CASES(RoundFwdOp) { return RoundEdges(); }

TILEWRIGHT_REFERENCE(AbsFwdOp)
TILEWRIGHT_ELEMENTWISE(RealOrInteger1([](double x) { return std::fabs(x); },
                                      [](int64_t x) { return x < 0 ? Negative(x) : x; }))
TILEWRIGHT_EDGE_CASES(AbsFwdOp) { return UnaryEdges(); }

TILEWRIGHT_REFERENCE(NegFwdOp)
TILEWRIGHT_ELEMENTWISE(RealOrInteger1([](double x) { return -x; }, Negative))
TILEWRIGHT_EDGE_CASES(NegFwdOp) { return UnaryEdges(); }

TILEWRIGHT_REFERENCE(SignFwdOp)
TILEWRIGHT_ELEMENTWISE(RealOrInteger1([](double x) { return double(x > 0) - double(x < 0); },
                                      [](int64_t x) { return int64_t{x > 0} - int64_t{x < 0}; }))
TILEWRIGHT_EDGE_CASES(SignFwdOp) { return UnaryEdges(); }

// Integers give float32.
TILEWRIGHT_REFERENCE(ReciprocalFwdOp)
TILEWRIGHT_ELEMENTWISE([](const InputElements& x) {
  return RefScalar{1 / (x.is_floating(0) ? x.f(0) : static_cast<double>(x.i(0))), 0};
})
TILEWRIGHT_EDGE_CASES(ReciprocalFwdOp) { return UnaryEdges(); }

// Params: nan, posinf, neginf; null is the largest and the least number of the dtype.
TILEWRIGHT_REFERENCE(NanToNumFwdOp)
TILEWRIGHT_ELEMENTWISE([](const InputElements& x) {
  const double value = x.f(0);
  if (std::isnan(value)) return RefScalar{x.param(0).as_float(), 0};
  if (!std::isinf(value)) return RefScalar{value, 0};
  const ParamValue& replacement = x.param(value > 0 ? 1 : 2);
  if (!replacement.is_null()) return RefScalar{replacement.as_float(), 0};
  return RefScalar{std::copysign(LargestFinite(x.output_dtype()), value), 0};
})
TILEWRIGHT_EDGE_CASES(NanToNumFwdOp) { return NanToNumEdges(); }

}  // namespace tilewright
