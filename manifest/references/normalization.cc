#include <cmath>

#include "manifest/edge_cases.h"
#include "manifest/references/element_access.h"

namespace tilewright {
namespace {

// What torch adds where eps is None: the epsilon of the type it computes in, which is float32 for
// float16, bfloat16 and float32.
constexpr double kImplicitEps = 0x1p-23;

}  // namespace

// torch.nn.functional.rms_norm: x / sqrt(mean(x^2) + eps) * weight over the trailing axes.
TILEWRIGHT_REFERENCE(RMSNormFwdOp)
(const ReferenceCall& call, int /*output*/, std::span<const int64_t> elements,
 std::span<RefScalar> values) {
  const TensorDesc& x = call.call->input(0).desc;
  const TensorDesc& weight = call.call->input(1).desc;
  const ParamValue& given_eps = call.call->params[1];
  const double eps = given_eps.is_null() ? kImplicitEps : given_eps.as_float();
  const int64_t n = weight.elements();
  int64_t row = -1;
  double inverse_rms = 0;
  for (const size_t i : GroupedOrder(elements)) {
    if (elements[i] / n != row) {
      row = elements[i] / n;
      double sum = 0;
      for (int64_t j = 0; j < n; ++j) {
        const double value = LoadAsDouble(call.inputs[0].data, x.dtype, OffsetAt(x, row * n + j));
        sum += value * value;
      }
      inverse_rms = 1 / std::sqrt(sum / static_cast<double>(n) + eps);
    }
    const double value = LoadAsDouble(call.inputs[0].data, x.dtype, OffsetAt(x, elements[i]));
    const double scale =
        LoadAsDouble(call.inputs[1].data, weight.dtype, OffsetAt(weight, elements[i] % n));
    values[i].f = value * inverse_rms * scale;
  }
  return absl::OkStatus();
}

TILEWRIGHT_EDGE_CASES(RMSNormFwdOp) {
  struct Problem {
    const char* label;
    Dims x, normalized;
    ParamValue eps = 1e-6;
  };
  const Problem problems[] = {{"primes", {7, 61}, {61}},
                              {"one", {1, 1}, {1}},
                              {"one-column", {5, 1}, {1}},
                              {"rank-1", {97}, {97}},
                              {"row-of-46", {9, 46}, {46}},
                              {"power-of-two", {5, 4096}, {4096}},
                              {"plus-one", {3, 4097}, {4097}},
                              {"minus-one", {2, 8191}, {8191}},
                              {"long", {2, 16387}, {16387}},
                              {"very-long", {2, 131072}, {131072}},
                              {"past-residence", {2, 262145}, {262145}},
                              {"million", {2, 1 << 20}, {1 << 20}},
                              {"rank-8", {2, 1, 3, 1, 2, 1, 3, 5}, {3, 5}},
                              {"two-axes", {2, 3, 5, 7}, {5, 7}},
                              {"all-axes", {3, 5, 7}, {3, 5, 7}},
                              {"eps-null", {4, 64}, {64}, ParamValue()},
                              {"eps-zero", {4, 64}, {64}, 0.0},
                              {"eps-large", {4, 64}, {64}, 10.0},
                              {"many-rows", {70001, 8}, {8}},
                              {"walked-rows", {1100, 2056}, {2056}},
                              {"no-rows", {0, 64}, {64}},
                              {"no-columns", {3, 0}, {0}}};
  std::vector<Workload> cases;
  for (const Problem& problem : problems) {
    Workload& entry = cases.emplace_back();
    entry.label = problem.label;
    entry.input_shapes = {{"x", problem.x}, {"weight", problem.normalized}};
    entry.params = {{"normalized_shape", problem.normalized}, {"eps", problem.eps}};
  }
  return cases;
}

}  // namespace tilewright
