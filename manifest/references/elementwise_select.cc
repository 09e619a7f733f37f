#include <cmath>
#include <limits>

#include "manifest/references/elementwise_map.h"

namespace tilewright {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

// The upper bound wins where they cross; NaN of any is the result.
double Clamped(double x, double low, double high) {
  if (std::isnan(x) || std::isnan(low) || std::isnan(high)) return x + low + high;
  return std::min(std::max(x, low), high);
}

double Interpolated(double a, double b, double weight) {
  const double span = b - a;
  return std::fabs(weight) < 0.5 ? a + weight * span : b - span * (1 - weight);
}

// One value for all.
std::vector<Workload> MaskedFillEdges() {
  std::vector<Workload> cases = BinaryEdges("input", "mask");
  for (Workload& entry : cases) entry.input_shapes.emplace_back("value", Dims{});
  return cases;
}

// With both bounds, then with either.
std::vector<Workload> ClampEdges() {
  std::vector<Workload> cases = TernaryEdges("input", "min", "max");
  for (const char* bound : {"min", "max"}) {
    for (Workload& entry : BinaryEdges("input", bound)) {
      entry.label = entry.label + "-" + bound;
      cases.push_back(std::move(entry));
    }
  }
  return cases;
}

}  // namespace

TILEWRIGHT_REFERENCE(WhereFwdOp)
TILEWRIGHT_ELEMENTWISE([](const InputElements& x) { return x.x[x.i(0) != 0 ? 1 : 2]; })
TILEWRIGHT_EDGE_CASES(WhereFwdOp) { return TernaryEdges("condition", "input", "other"); }

TILEWRIGHT_REFERENCE(MaskedFillFwdOp)
TILEWRIGHT_ELEMENTWISE([](const InputElements& x) { return x.x[x.i(1) != 0 ? 2 : 0]; })
TILEWRIGHT_EDGE_CASES(MaskedFillFwdOp) { return MaskedFillEdges(); }

// The value is truncated for the integers.
TILEWRIGHT_REFERENCE(MaskedFillScalarFwdOp)
TILEWRIGHT_ELEMENTWISE([](const InputElements& x) {
  if (x.i(1) == 0) return x.x[0];
  const ParamValue& value = x.param(0);
  if (x.is_floating(0)) return RefScalar{value.as_float(), 0};
  const DType dtype = x.output_dtype();
  if (dtype == DType::kBool) return RefScalar{0, value.as_float() != 0};
  if (value.kind() == ParamValue::Kind::kInt) return RefScalar{0, WrapTo(dtype, value.as_int())};
  return RefScalar{0, WrapTo(dtype, static_cast<int64_t>(value.as_float()))};
})
TILEWRIGHT_EDGE_CASES(MaskedFillScalarFwdOp) {
  return BinaryEdges("input", "mask", {{"value", 3}});
}

// A missing bound bounds nothing.
TILEWRIGHT_REFERENCE(ClampFwdOp)
TILEWRIGHT_ELEMENTWISE([](const InputElements& x) {
  const bool has_low = x.call.input(1).present;
  const bool has_high = x.call.input(2).present;
  return RefScalar{Clamped(x.f(0), has_low ? x.f(1) : -kInf, has_high ? x.f(2) : kInf), 0};
})
TILEWRIGHT_EDGE_CASES(ClampFwdOp) { return ClampEdges(); }

TILEWRIGHT_REFERENCE(ClampScalarFwdOp)
TILEWRIGHT_ELEMENTWISE([](const InputElements& x) {
  const double low = x.param(0).is_null() ? -kInf : x.param(0).as_float();
  const double high = x.param(1).is_null() ? kInf : x.param(1).as_float();
  return RefScalar{Clamped(x.f(0), low, high), 0};
})
TILEWRIGHT_EDGE_CASES(ClampScalarFwdOp) { return UnaryEdges({{"min", -0.5}, {"max", 0.25}}); }

TILEWRIGHT_REFERENCE(LerpFwdOp)
TILEWRIGHT_ELEMENTWISE([](const InputElements& x) {
  return RefScalar{Interpolated(x.f(0), x.f(1), x.param(0).as_float()), 0};
})
TILEWRIGHT_EDGE_CASES(LerpFwdOp) { return BinaryEdges("input", "end", {{"weight", 0.3}}); }

TILEWRIGHT_REFERENCE(LerpTensorFwdOp)
TILEWRIGHT_ELEMENTWISE([](const InputElements& x) {
  return RefScalar{Interpolated(x.f(0), x.f(1), x.f(2)), 0};
})
TILEWRIGHT_EDGE_CASES(LerpTensorFwdOp) { return TernaryEdges("input", "end", "weight"); }

}  // namespace tilewright
