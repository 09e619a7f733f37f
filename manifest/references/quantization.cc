#include <algorithm>
#include <cmath>

#include "manifest/edge_cases.h"
#include "manifest/references/element_access.h"

namespace tilewright {
namespace {

// max(largest magnitude, 1e-4) / 448; NaN if there is one.
double ScaleOfRow(const std::vector<double>& row) {
  double largest = 1e-4f;
  for (const double value : row) {
    if (std::isnan(value)) return value;
    largest = std::max(largest, std::fabs(value));
  }
  return largest / 448;
}

}  // namespace

// Output 0: the scale of each row; output 1: the row divided by it.
TILEWRIGHT_REFERENCE(FP8QuantFwdOp)
(const ReferenceCall& call, int output, std::span<const int64_t> elements,
 std::span<RefScalar> values) {
  const TensorDesc& input = call.call->input(0).desc;
  const int64_t width = input.shape[3];
  int64_t row = -1;
  std::vector<double> line;
  double scale = 0;
  for (size_t k = 0; k < elements.size(); ++k) {
    const int64_t first = output == 0 ? elements[k] * width : elements[k];
    if (first / width != row) {
      row = first / width;
      const int64_t origin = OffsetAt(input, row * width);
      line = LoadLine(call.inputs[0].data, input.dtype, origin, input.strides[3], width);
      scale = ScaleOfRow(line);
    }
    values[k].f = output == 0 ? scale : line[static_cast<size_t>(first % width)] / scale;
  }
  return absl::OkStatus();
}

TILEWRIGHT_EDGE_CASES(FP8QuantFwdOp) {
  const std::pair<const char*, Dims> shapes[] = {
      {"primes", {2, 7, 3, 61}},       {"one", {1, 1, 1, 1}},
      {"row-of-46", {1, 9, 1, 46}},    {"row-of-64", {2, 33, 4, 64}},
      {"row-of-72", {1, 5, 2, 72}},    {"row-of-512", {1, 3, 1, 512}},
      {"long", {1, 2, 1, 100003}},     {"plus-one", {1, 3, 1, 4097}},
      {"many-rows", {2, 35003, 1, 2}}, {"many-groups", {3, 2, 70001, 8}},
      {"empty", {0, 4, 1, 64}}};
  std::vector<Workload> cases;
  for (const auto& [label, shape] : shapes) {
    Workload& entry = cases.emplace_back();
    entry.label = label;
    entry.input_shapes = {{"input_tensor", shape}};
  }
  return cases;
}

}  // namespace tilewright
