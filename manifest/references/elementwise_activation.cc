#include <cmath>
#include <limits>

#include "manifest/references/elementwise_map.h"

namespace tilewright {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kSeluScale = 1.0507009873554804934193349852946;
constexpr double kSeluAlpha = 1.6732632423543772848170429916717;

// NaN stays.
double Clamped(double x, double low, double high) {
  if (std::isnan(x)) return x;
  return std::min(std::max(x, low), high);
}

double Gelu(double x) { return 0.5 * x * (1 + std::erf(x * M_SQRT1_2)); }
double GeluTanh(double x) {
  return 0.5 * x * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
}

std::vector<Workload> GeluEdges() {
  std::vector<Workload> cases = UnaryEdges();
  for (Workload& entry : UnaryEdges({{"approximate", 1}})) {
    entry.label += "-tanh";
    cases.push_back(std::move(entry));
  }
  return cases;
}

}  // namespace

TILEWRIGHT_REFERENCE(ReluFwdOp)
TILEWRIGHT_ELEMENTWISE(Real1([](double x) { return Clamped(x, 0, kInf); }))
TILEWRIGHT_EDGE_CASES(ReluFwdOp) { return UnaryEdges(); }

// Param: approximate, 0 (none) or 1 (tanh).
TILEWRIGHT_REFERENCE(GeluFwdOp)
TILEWRIGHT_ELEMENTWISE([](const InputElements& x) {
  return RefScalar{x.param(0).as_int() == 0 ? Gelu(x.f(0)) : GeluTanh(x.f(0)), 0};
})
TILEWRIGHT_EDGE_CASES(GeluFwdOp) { return GeluEdges(); }

TILEWRIGHT_REFERENCE(SiluFwdOp)
TILEWRIGHT_ELEMENTWISE(Real1([](double x) { return x / (1 + std::exp(-x)); }))
TILEWRIGHT_EDGE_CASES(SiluFwdOp) { return UnaryEdges(); }

TILEWRIGHT_REFERENCE(HardsigmoidFwdOp)
TILEWRIGHT_ELEMENTWISE(Real1([](double x) { return Clamped(x + 3, 0, 6) / 6; }))
TILEWRIGHT_EDGE_CASES(HardsigmoidFwdOp) { return UnaryEdges(); }

TILEWRIGHT_REFERENCE(HardswishFwdOp)
TILEWRIGHT_ELEMENTWISE(Real1([](double x) { return x * Clamped(x + 3, 0, 6) / 6; }))
TILEWRIGHT_EDGE_CASES(HardswishFwdOp) { return UnaryEdges(); }

TILEWRIGHT_REFERENCE(MishFwdOp)
TILEWRIGHT_ELEMENTWISE(Real1([](double x) {
  return x * std::tanh(x > 40 ? x : std::log1p(std::exp(x)));
}))
TILEWRIGHT_EDGE_CASES(MishFwdOp) { return UnaryEdges(); }

TILEWRIGHT_REFERENCE(SeluFwdOp)
TILEWRIGHT_ELEMENTWISE(Real1([](double x) {
  return kSeluScale * (x > 0 ? x : kSeluAlpha * std::expm1(x));
}))
TILEWRIGHT_EDGE_CASES(SeluFwdOp) { return UnaryEdges(); }

TILEWRIGHT_REFERENCE(EluFwdOp)
TILEWRIGHT_ELEMENTWISE([](const InputElements& x) {
  const double value = x.f(0);
  return RefScalar{value > 0 ? value : x.param(0).as_float() * std::expm1(value), 0};
})
TILEWRIGHT_EDGE_CASES(EluFwdOp) { return UnaryEdges({{"alpha", 1.5}}); }

TILEWRIGHT_REFERENCE(LeakyReluFwdOp)
TILEWRIGHT_ELEMENTWISE([](const InputElements& x) {
  const double value = x.f(0);
  return RefScalar{value > 0 ? value : x.param(0).as_float() * value, 0};
})
TILEWRIGHT_EDGE_CASES(LeakyReluFwdOp) { return UnaryEdges({{"negative_slope", 0.5}}); }

TILEWRIGHT_REFERENCE(HardtanhFwdOp)
TILEWRIGHT_ELEMENTWISE([](const InputElements& x) {
  return RefScalar{Clamped(x.f(0), x.param(0).as_float(), x.param(1).as_float()), 0};
})
TILEWRIGHT_EDGE_CASES(HardtanhFwdOp) { return UnaryEdges({{"min_val", -0.75}, {"max_val", 0.25}}); }

TILEWRIGHT_REFERENCE(SoftplusFwdOp)
TILEWRIGHT_ELEMENTWISE([](const InputElements& x) {
  const double value = x.f(0);
  const double beta = x.param(0).as_float();
  if (value * beta > x.param(1).as_float()) return RefScalar{value, 0};
  return RefScalar{std::log1p(std::exp(value * beta)) / beta, 0};
})
TILEWRIGHT_EDGE_CASES(SoftplusFwdOp) { return UnaryEdges({{"beta", 0.5}, {"threshold", 1.0}}); }

// A weight of one element holds for all; else it goes along axis 1.
TILEWRIGHT_REFERENCE(PreluFwdOp)
(const ReferenceCall& call, int /*output*/, std::span<const int64_t> elements,
 std::span<RefScalar> values) {
  const TensorDesc& input = call.call->input(0).desc;
  const TensorDesc& weight = call.call->input(1).desc;
  const bool single = weight.rank() == 0 || weight.shape[0] == 1;
  for (size_t k = 0; k < elements.size(); ++k) {
    const Dims at = CoordinatesOf(input.shape, elements[k]);
    const double x = LoadAsDouble(call.inputs[0].data, input.dtype, OffsetOf(input, at));
    const double slope =
        LoadAsDouble(call.inputs[1].data, weight.dtype, single ? 0 : at[1] * weight.strides[0]);
    values[k].f = x > 0 ? x : slope * x;
  }
  return absl::OkStatus();
}
TILEWRIGHT_EDGE_CASES(PreluFwdOp) {
  const std::pair<const char*, std::pair<Dims, Dims>> problems[] = {
      {"primes", {{7, 13, 61}, {13}}},   {"rank-0", {{}, {}}},
      {"rank-1", {{127}, {1}}},          {"single", {{5, 7}, {1}}},
      {"scalar", {{5, 7}, {}}},          {"channels-last-axis", {{70001, 3}, {3}}},
      {"one-channel", {{4, 1, 9}, {1}}}, {"plus-one", {{3, 2, 4097}, {2}}},
      {"row-of-46", {{9, 46}, {46}}},    {"empty", {{0, 3}, {3}}}};
  std::vector<Workload> cases;
  for (const auto& [label, shapes] : problems) {
    Workload& entry = cases.emplace_back();
    entry.label = label;
    entry.input_shapes = {{"input", shapes.first}, {"weight", shapes.second}};
  }
  return cases;
}

}  // namespace tilewright
