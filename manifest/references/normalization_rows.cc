// References of norms over the last axes: layer norm, its adaptive forms, and fused residual adds.
#include <algorithm>

#include "manifest/edge_cases.h"
#include "manifest/references/normalized_rows.h"

namespace tilewright {
namespace {

constexpr double kImplicitEps = 0x1p-23;

// x + residual as their dtype holds it.
double AddedAt(const ReferenceCall& call, int64_t position) {
  const DType dtype = call.call->input(0).desc.dtype;
  double sum = 0;
  StoreFromDouble(&sum, dtype, 0, ElementOf(call, 0, position) + ElementOf(call, 1, position));
  return LoadAsDouble(&sum, dtype, 0);
}

// values[k] = finish(position, the element, its row's statistics) over rows of `length` elements.
template <class Load, class Finish>
absl::Status OverRows(std::span<const int64_t> elements, std::span<RefScalar> values,
                      int64_t length, Load load, Finish finish) {
  int64_t row = -1;
  RowStatistics statistics;
  for (const size_t k : GroupedOrder(elements)) {
    if (elements[k] / length != row) {
      row = elements[k] / length;
      std::vector<double> line;
      for (int64_t i = 0; i < length; ++i) line.push_back(load(row * length + i));
      statistics = StatisticsOf(line);
    }
    values[k] = finish(elements[k], load(elements[k]), statistics);
  }
  return absl::OkStatus();
}

int64_t LastExtent(const ReferenceCall& call) {
  const Dims& shape = call.call->input(0).desc.shape;
  return shape[shape.rank() - 1];
}

absl::Status FusedAdd(const ReferenceCall& call, int output, std::span<const int64_t> elements,
                      std::span<RefScalar> values, bool centered) {
  if (output == 1) {
    for (size_t k = 0; k < elements.size(); ++k) {
      const double x = ElementOf(call, 0, elements[k]);
      const double residual = ElementOf(call, 1, elements[k]);
      values[k].f = x + residual;
      values[k].magnitude = std::fabs(x) + std::fabs(residual);
    }
    return absl::OkStatus();
  }
  const double eps = call.call->params[0].as_float();
  const int64_t length = LastExtent(call);
  const auto load = [&](int64_t position) { return AddedAt(call, position); };
  return OverRows(elements, values, length, load,
                  [&](int64_t position, double value, RowStatistics row) {
                    const double weight = ElementOf(call, 2, position % length);
                    if (centered) {
                      const double bias = ElementOf(call, 3, position % length);
                      return Normalized(value, row, eps, weight, bias);
                    }
                    row.variance = row.squares;
                    row.mean = 0;
                    row.magnitude = 0;
                    return Normalized(value, row, eps, weight, 0);
                  });
}

absl::Status Adaptive(const ReferenceCall& call, std::span<const int64_t> elements,
                      std::span<RefScalar> values, bool gated) {
  const double eps = call.call->params[0].as_float();
  const auto load = [&](int64_t position) { return ElementOf(call, 0, position); };
  return OverRows(elements, values, LastExtent(call), load,
                  [&](int64_t position, double value, const RowStatistics& row) {
                    const double gate = gated ? ElementOf(call, 3, position) : 1;
                    RefScalar result = Normalized(value, row, eps, ElementOf(call, 1, position),
                                                  ElementOf(call, 2, position));
                    result.f *= gate;
                    result.magnitude *= std::fabs(gate);
                    return result;
                  });
}

// Shapes for operands that are all of x's shape, but for `columns` over its last axis.
std::vector<Workload> RowEdges(const std::vector<const char*>& whole,
                               const std::vector<const char*>& columns, bool normalized_shape) {
  const std::pair<const char*, Dims> shapes[] = {{"primes", {7, 61}},
                                                 {"one", {1, 1}},
                                                 {"one-column", {5, 1}},
                                                 {"rank-1", {97}},
                                                 {"row-of-46", {9, 46}},
                                                 {"power-of-two", {5, 4096}},
                                                 {"plus-one", {3, 4097}},
                                                 {"minus-one", {2, 8191}},
                                                 {"long", {2, 16387}},
                                                 {"very-long", {2, 131072}},
                                                 {"past-residence", {2, 262145}},
                                                 {"rank-8", {2, 1, 3, 1, 2, 1, 3, 5}},
                                                 {"wide-rows", {300, 1152}},
                                                 {"many-rows", {70001, 8}},
                                                 {"walked-rows", {1100, 2056}},
                                                 {"no-rows", {0, 64}},
                                                 {"no-columns", {3, 0}}};
  std::vector<Workload> cases;
  for (const auto& [label, shape] : shapes) {
    Workload& edge = cases.emplace_back();
    edge.label = label;
    const Dims last = {shape[shape.rank() - 1]};
    for (const char* name : whole) edge.input_shapes.emplace_back(name, shape);
    for (const char* name : columns) edge.input_shapes.emplace_back(name, last);
    if (normalized_shape) edge.params.emplace_back("normalized_shape", last);
  }
  return cases;
}

}  // namespace

TILEWRIGHT_REFERENCE(LayerNormFwdOp)
(const ReferenceCall& call, int /*output*/, std::span<const int64_t> elements,
 std::span<RefScalar> values) {
  const ParamValue& given = call.call->params[1];
  const double eps = given.is_null() ? kImplicitEps : given.as_float();
  const int64_t length = call.call->input(1).desc.elements();
  const auto load = [&](int64_t position) { return ElementOf(call, 0, position); };
  return OverRows(elements, values, length, load,
                  [&](int64_t position, double value, const RowStatistics& row) {
                    return Normalized(value, row, eps, ElementOf(call, 1, position % length),
                                      ElementOf(call, 2, position % length));
                  });
}

TILEWRIGHT_REFERENCE(FusedAddRMSNormFwdOp)
(const ReferenceCall& call, int output, std::span<const int64_t> elements,
 std::span<RefScalar> values) {
  return FusedAdd(call, output, elements, values, false);
}

TILEWRIGHT_REFERENCE(FusedAddLayerNormFwdOp)
(const ReferenceCall& call, int output, std::span<const int64_t> elements,
 std::span<RefScalar> values) {
  return FusedAdd(call, output, elements, values, true);
}

TILEWRIGHT_REFERENCE(AdaLayerNormFwdOp)
(const ReferenceCall& call, int /*output*/, std::span<const int64_t> elements,
 std::span<RefScalar> values) {
  return Adaptive(call, elements, values, false);
}

TILEWRIGHT_REFERENCE(AdaLayerNormZeroFwdOp)
(const ReferenceCall& call, int /*output*/, std::span<const int64_t> elements,
 std::span<RefScalar> values) {
  return Adaptive(call, elements, values, true);
}

TILEWRIGHT_EDGE_CASES(LayerNormFwdOp) {
  std::vector<Workload> cases = RowEdges({"x"}, {"weight", "bias"}, true);
  Workload& two = cases.emplace_back();
  two.label = "two-axes";
  two.input_shapes = {{"x", {2, 3, 5, 7}}, {"weight", {5, 7}}, {"bias", {5, 7}}};
  two.params = {{"normalized_shape", Dims{5, 7}}};
  for (const ParamValue& eps : {ParamValue(), ParamValue(0.0), ParamValue(10.0)}) {
    Workload edge = cases[0];
    edge.label = "eps-" + eps.ToString();
    edge.params.emplace_back("eps", eps);
    cases.push_back(edge);
  }
  return cases;
}
TILEWRIGHT_EDGE_CASES(FusedAddRMSNormFwdOp) {
  return RowEdges({"x", "residual"}, {"weight"}, false);
}
TILEWRIGHT_EDGE_CASES(FusedAddLayerNormFwdOp) {
  return RowEdges({"x", "residual"}, {"weight", "bias"}, false);
}
TILEWRIGHT_EDGE_CASES(AdaLayerNormFwdOp) { return RowEdges({"x", "scale", "shift"}, {}, false); }
TILEWRIGHT_EDGE_CASES(AdaLayerNormZeroFwdOp) {
  return RowEdges({"x", "scale", "shift", "gate"}, {}, false);
}

}  // namespace tilewright
