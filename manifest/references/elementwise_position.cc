#include <cmath>

#include "manifest/edge_cases.h"
#include "manifest/references/element_access.h"

namespace tilewright {
namespace {

std::vector<Workload> PositionEdges(const char* first, const char* second,
                                    std::vector<std::pair<int64_t, int64_t>> sizes) {
  std::vector<Workload> cases;
  for (const auto& [a, b] : sizes) {
    Workload& entry = cases.emplace_back();
    entry.label = std::to_string(a) + "-by-" + std::to_string(b);
    entry.params = {{first, a}, {second, b}};
  }
  return cases;
}

}  // namespace

// -2^(-8 * (head + 1) / heads) * |row - column|.
TILEWRIGHT_REFERENCE(AlibiFwdOp)
(const ReferenceCall& call, int /*output*/, std::span<const int64_t> elements,
 std::span<RefScalar> values) {
  const Dims& shape = call.call->output(0).desc.shape;
  for (size_t k = 0; k < elements.size(); ++k) {
    const Dims at = CoordinatesOf(shape, elements[k]);
    const double slope =
        std::exp2(-8 * static_cast<double>(at[0] + 1) / static_cast<double>(shape[0]));
    values[k].f = -slope * std::fabs(static_cast<double>(at[1] - at[2]));
  }
  return absl::OkStatus();
}
TILEWRIGHT_EDGE_CASES(AlibiFwdOp) {
  return PositionEdges("num_heads", "seq_len",
                       {{7, 61},
                        {1, 1},
                        {12, 128},
                        {3, 46},
                        {5, 129},
                        {70001, 2},
                        {1, 3001},
                        {2, 17},
                        {31, 5},
                        {64, 1}});
}

// sin(position / 10000^(2 * pair / width)) at even columns, cos of the same at odd ones.
TILEWRIGHT_REFERENCE(SinusoidalFwdOp)
(const ReferenceCall& call, int /*output*/, std::span<const int64_t> elements,
 std::span<RefScalar> values) {
  const Dims& shape = call.call->output(0).desc.shape;
  for (size_t k = 0; k < elements.size(); ++k) {
    const Dims at = CoordinatesOf(shape, elements[k]);
    const double exponent = static_cast<double>(at[1] - at[1] % 2) / static_cast<double>(shape[1]);
    const double angle = static_cast<double>(at[0]) / std::pow(10000.0, exponent);
    values[k].f = at[1] % 2 == 0 ? std::sin(angle) : std::cos(angle);
  }
  return absl::OkStatus();
}
TILEWRIGHT_EDGE_CASES(SinusoidalFwdOp) {
  return PositionEdges("seq_len", "d_model",
                       {{61, 62},
                        {1, 2},
                        {1, 1022},
                        {9, 46},
                        {129, 128},
                        {70001, 2},
                        {200003, 4},
                        {33, 14},
                        {2, 256},
                        {7, 4098}});
}

}  // namespace tilewright
