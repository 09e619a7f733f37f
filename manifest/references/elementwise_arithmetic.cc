#include <cmath>
#include <limits>

#include "manifest/references/elementwise_map.h"

namespace tilewright {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// Towards minus infinity, by way of the exact remainder.
double FloorQuotient(double a, double b) {
  if (b == 0) return a / b;
  const double remainder = std::fmod(a, b);
  double quotient = (a - remainder) / b;
  if (remainder != 0 && (b < 0) != (remainder < 0)) quotient -= 1;
  if (quotient == 0) return std::copysign(0.0, a / b);
  const double whole = std::floor(quotient);
  return quotient - whole > 0.5 ? whole + 1 : whole;
}

// Of the sign of b.
double FloorRemainder(double a, double b) {
  const double remainder = std::fmod(a, b);
  return remainder != 0 && (b < 0) != (remainder < 0) ? remainder + b : remainder;
}

// PyTorch truncates the quotient as float32 rounds it.
double TruncatedQuotient(double a, double b) {
  return std::trunc(static_cast<float>(a) / static_cast<float>(b));
}

std::vector<Workload> DivEdges() {
  std::vector<Workload> cases = BinaryEdges("input", "other");
  for (const int mode : {0, 1}) {
    for (Workload& entry : BinaryEdges("input", "other", {{"rounding_mode", mode}})) {
      entry.label += mode == 0 ? "-trunc" : "-floor";
      cases.push_back(std::move(entry));
    }
  }
  return cases;
}

}  // namespace

TILEWRIGHT_REFERENCE(MulFwdOp)
TILEWRIGHT_ELEMENTWISE(RealOrInteger2([](double a, double b) { return a * b; },
                                      [](int64_t a, int64_t b) {
                                        return static_cast<int64_t>(static_cast<uint64_t>(a) *
                                                                    static_cast<uint64_t>(b));
                                      }))
TILEWRIGHT_EDGE_CASES(MulFwdOp) { return BinaryEdges("input", "other"); }

// Param: rounding_mode, null, 0 (trunc) or 1 (floor).
TILEWRIGHT_REFERENCE(DivFwdOp)
TILEWRIGHT_ELEMENTWISE([](const InputElements& x) {
  const double quotient = x.f(0) / x.f(1);
  if (x.param(0).is_null()) return RefScalar{quotient, 0};
  if (x.param(0).as_int() == 0) return RefScalar{TruncatedQuotient(x.f(0), x.f(1)), 0};
  return RefScalar{FloorQuotient(x.f(0), x.f(1)), 0};
})
TILEWRIGHT_EDGE_CASES(DivFwdOp) { return DivEdges(); }

TILEWRIGHT_REFERENCE(FloorDivideFwdOp)
TILEWRIGHT_ELEMENTWISE(Real2(FloorQuotient))
TILEWRIGHT_EDGE_CASES(FloorDivideFwdOp) { return BinaryEdges("input", "other"); }

TILEWRIGHT_REFERENCE(RemainderFwdOp)
TILEWRIGHT_ELEMENTWISE(Real2(FloorRemainder))
TILEWRIGHT_EDGE_CASES(RemainderFwdOp) { return BinaryEdges("input", "other"); }

TILEWRIGHT_REFERENCE(PowFwdOp)
TILEWRIGHT_ELEMENTWISE(Real2([](double a, double b) { return std::pow(a, b); }))
TILEWRIGHT_EDGE_CASES(PowFwdOp) { return BinaryEdges("input", "exponent"); }

TILEWRIGHT_REFERENCE(MaximumFwdOp)
TILEWRIGHT_ELEMENTWISE(RealOrInteger2(
    [](double a, double b) { return std::isnan(a) || std::isnan(b) ? kNan : std::max(a, b); },
    [](int64_t a, int64_t b) { return std::max(a, b); }))
TILEWRIGHT_EDGE_CASES(MaximumFwdOp) { return BinaryEdges("input", "other"); }

TILEWRIGHT_REFERENCE(MinimumFwdOp)
TILEWRIGHT_ELEMENTWISE(RealOrInteger2(
    [](double a, double b) { return std::isnan(a) || std::isnan(b) ? kNan : std::min(a, b); },
    [](int64_t a, int64_t b) { return std::min(a, b); }))
TILEWRIGHT_EDGE_CASES(MinimumFwdOp) { return BinaryEdges("input", "other"); }

// torch.sub: input - alpha * other.
TILEWRIGHT_REFERENCE(SubFwdOp)
TILEWRIGHT_ELEMENTWISE([](const InputElements& x) {
  if (x.is_floating(0)) return RefScalar{x.f(0) - x.param(0).as_float() * x.f(1), 0};
  const auto scaled = static_cast<uint64_t>(x.param(0).as_int()) * static_cast<uint64_t>(x.i(1));
  const auto difference = static_cast<int64_t>(static_cast<uint64_t>(x.i(0)) - scaled);
  return RefScalar{0, WrapTo(x.output_dtype(), difference)};
})
TILEWRIGHT_EDGE_CASES(SubFwdOp) { return BinaryEdges("input", "other", {{"alpha", -3}}); }

}  // namespace tilewright
