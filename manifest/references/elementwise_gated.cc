#include <algorithm>
#include <cmath>

#include "manifest/references/elementwise_map.h"

namespace tilewright {
namespace {

double Same(double x) { return x; }

// activation(x[:, :N]) * factor(x[:, N:]).
template <class Activation, class Factor = double (*)(double)>
absl::Status MapGated(const ReferenceCall& call, std::span<const int64_t> elements,
                      std::span<RefScalar> values, Activation activation, Factor factor = Same) {
  const TensorDesc& x = call.call->input(0).desc;
  const int64_t n = call.call->output(0).desc.shape[1];
  for (size_t i = 0; i < elements.size(); ++i) {
    const int64_t row = elements[i] / n;
    const int64_t column = elements[i] % n;
    const double gate =
        LoadAsDouble(call.inputs[0].data, x.dtype, row * x.strides[0] + column * x.strides[1]);
    const double up = LoadAsDouble(call.inputs[0].data, x.dtype,
                                   row * x.strides[0] + (n + column) * x.strides[1]);
    values[i].f = activation(gate) * factor(up);
  }
  return absl::OkStatus();
}

std::vector<Workload> GatedEdges() {
  struct Problem {
    const char* label;
    int64_t m, n;
  };
  constexpr Problem kProblems[] = {
      {"primes", 7, 61},    {"one", 1, 1},           {"one-column", 97, 1},
      {"row-of-46", 9, 46}, {"plus-one", 3, 4097},   {"minus-one", 3, 1023},
      {"long", 2, 100003},  {"million", 2, 1 << 20}, {"many-rows", 70001, 4},
      {"no-rows", 0, 4},    {"no-columns", 5, 0}};
  std::vector<Workload> cases;
  for (const auto& [label, m, n] : kProblems) {
    Workload& entry = cases.emplace_back();
    entry.label = label;
    entry.input_shapes = {{"x", Dims{m, 2 * n}}};
  }
  return cases;
}

}  // namespace

TILEWRIGHT_REFERENCE(SiluAndMulFwdOp)
(const ReferenceCall& call, int /*output*/, std::span<const int64_t> elements,
 std::span<RefScalar> values) {
  return MapGated(call, elements, values, [](double g) { return g / (1 + std::exp(-g)); });
}
TILEWRIGHT_EDGE_CASES(SiluAndMulFwdOp) { return GatedEdges(); }

TILEWRIGHT_REFERENCE(GeluAndMulFwdOp)
(const ReferenceCall& call, int /*output*/, std::span<const int64_t> elements,
 std::span<RefScalar> values) {
  return MapGated(call, elements, values,
                  [](double g) { return 0.5 * g * (1 + std::erf(g * M_SQRT1_2)); });
}
TILEWRIGHT_EDGE_CASES(GeluAndMulFwdOp) { return GatedEdges(); }

TILEWRIGHT_REFERENCE(GeluTanhAndMulFwdOp)
(const ReferenceCall& call, int /*output*/, std::span<const int64_t> elements,
 std::span<RefScalar> values) {
  return MapGated(call, elements, values, [](double g) {
    return 0.5 * g * (1 + std::tanh(std::sqrt(2 / M_PI) * (g + 0.044715 * g * g * g)));
  });
}
TILEWRIGHT_EDGE_CASES(GeluTanhAndMulFwdOp) { return GatedEdges(); }

// The gate is clamped from above, the other half from both sides, and 1 is added to it.
TILEWRIGHT_REFERENCE(SwigluOaiAndMulFwdOp)
(const ReferenceCall& call, int /*output*/, std::span<const int64_t> elements,
 std::span<RefScalar> values) {
  const auto clamped = [](double x, double low, double high) {
    return std::isnan(x) ? x : std::min(std::max(x, low), high);
  };
  return MapGated(
      call, elements, values,
      [&](double g) {
        const double gate = clamped(g, -HUGE_VAL, 7);
        return gate / (1 + std::exp(-1.702 * gate));
      },
      [&](double up) { return clamped(up, -7, 7) + 1; });
}
TILEWRIGHT_EDGE_CASES(SwigluOaiAndMulFwdOp) { return GatedEdges(); }

}  // namespace tilewright
