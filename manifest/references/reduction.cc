#include <algorithm>
#include <cmath>

#include "manifest/edge_cases.h"
#include "manifest/references/axis_cases.h"
#include "manifest/references/element_access.h"

namespace tilewright {
namespace {

// torch's choice where softmax is given no axis.
int ImplicitSoftmaxAxis(int rank) { return rank == 0 || rank == 1 || rank == 3 ? 0 : 1; }

// values[k] = function(x, maximum of its line, sum of exp(x - maximum)), along the axis. NaN, a
// +inf or only -inf in a line make the sum NaN.
template <class Function>
absl::Status ForEachInLine(const ReferenceCall& call, std::span<const int64_t> elements,
                           std::span<RefScalar> values, Function function) {
  const TensorDesc& x = call.call->input(0).desc;
  const ParamValue& dim = call.call->params[0];
  const int axis = dim.is_null() ? ImplicitSoftmaxAxis(x.rank()) : static_cast<int>(dim.as_int());
  const int64_t extent = x.rank() == 0 ? 1 : x.shape[axis];
  const int64_t stride = x.rank() == 0 ? 0 : x.strides[axis];
  // Each element's line starts where its coordinate along the axis is 0.
  std::vector<int64_t> offsets;
  std::vector<int64_t> lines;
  for (const int64_t element : elements) {
    const Dims at = CoordinatesOf(x.shape, element);
    offsets.push_back(OffsetOf(x, at));
    lines.push_back(offsets.back() - (x.rank() == 0 ? 0 : at[axis] * stride));
  }
  int64_t line = 0;
  bool started = false;
  double maximum = 0;
  double sum = 0;
  for (const size_t i : GroupedOrder(lines)) {
    if (!started || lines[i] != line) {
      started = true;
      line = lines[i];
      const std::vector<double> inputs =
          LoadLine(call.inputs[0].data, x.dtype, line, stride, extent);
      maximum = *std::max_element(inputs.begin(), inputs.end());
      sum = 0;
      for (const double input : inputs) sum += std::exp(input - maximum);
    }
    const double value = LoadAsDouble(call.inputs[0].data, x.dtype, offsets[i]);
    values[i] = function(value, maximum, sum);
  }
  return absl::OkStatus();
}

}  // namespace

// torch.nn.functional.softmax along one axis.
TILEWRIGHT_REFERENCE(SoftmaxFwdOp)
(const ReferenceCall& call, int /*output*/, std::span<const int64_t> elements,
 std::span<RefScalar> values) {
  return ForEachInLine(call, elements, values, [](double value, double maximum, double sum) {
    return RefScalar{std::exp(value - maximum) / sum};
  });
}

// torch.nn.functional.log_softmax along one axis.
TILEWRIGHT_REFERENCE(LogSoftmaxFwdOp)
(const ReferenceCall& call, int /*output*/, std::span<const int64_t> elements,
 std::span<RefScalar> values) {
  return ForEachInLine(call, elements, values, [](double value, double maximum, double sum) {
    return RefScalar{.f = value - maximum - std::log(sum), .inexact = true};
  });
}

TILEWRIGHT_EDGE_CASES(SoftmaxFwdOp) {
  const AxisCase own[] = {{"rank-0", {}, ParamValue()},
                          {"rank-1", {1000}, ParamValue()},
                          {"rank-3-implicit", {3, 4, 5}, ParamValue()},
                          {"rank-3-middle", {3, 129, 7}, 1},
                          {"rank-4-negative", {2, 3, 5, 7}, -2},
                          {"past-residence", {2, 262145}, 1},
                          {"million", {2, 1 << 20}, 1},
                          {"half-thousand", {4, 512}, 1},
                          {"short-axis-in-tiles", {3, 20, 72}, 1},
                          {"many-tiles", {32, 70000}, 0},
                          {"walked-rows", {1100, 2056}, 1}};
  return AxisCases(own);
}

TILEWRIGHT_EDGE_CASES(LogSoftmaxFwdOp) { return EdgeCases_SoftmaxFwdOp(); }

}  // namespace tilewright
