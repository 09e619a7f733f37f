#include "manifest/references/reduced_rows.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace tilewright {
namespace {

bool Contains(const Dims& axes, int64_t axis) {
  return std::find(axes.begin(), axes.end(), axis) != axes.end();
}

// The offset of the first element of result `element`: its coordinates along the kept axes.
int64_t RowOffset(const TensorDesc& x, const Dims& axes, int64_t element) {
  int64_t offset = 0;
  for (int axis = x.rank() - 1; axis >= 0; --axis) {
    if (Contains(axes, axis)) continue;
    offset += element % x.shape[axis] * x.strides[axis];
    element /= x.shape[axis];
  }
  return offset;
}

// Calls f(offset) for every position along the reduced axes.
template <class Function>
void ForEachReduced(const TensorDesc& x, const Dims& axes, int64_t offset, Function f) {
  Dims shape;
  Dims strides;
  for (const int64_t axis : axes) {
    shape.push_back(x.shape[static_cast<int>(axis)]);
    strides.push_back(x.strides[static_cast<int>(axis)]);
  }
  const int64_t count = shape.Product().value_or(0);
  Dims at = shape;
  for (int i = 0; i < at.rank(); ++i) at[i] = 0;
  for (int64_t done = 0; done < count; ++done) {
    f(offset);
    for (int i = at.rank() - 1; i >= 0; --i) {
      offset += strides[i];
      if (++at[i] < shape[i]) break;
      offset -= strides[i] * shape[i];
      at[i] = 0;
    }
  }
}

bool IsNonzero(const void* data, DType dtype, int64_t offset) {
  if (dtype == DType::kComplex64) {
    const auto* parts = static_cast<const float*>(data) + 2 * offset;
    return parts[0] != 0 || parts[1] != 0;
  }
  if (dtype == DType::kComplex128) {
    const auto* parts = static_cast<const double*>(data) + 2 * offset;
    return parts[0] != 0 || parts[1] != 0;
  }
  if (IsFloating(dtype)) return LoadAsDouble(data, dtype, offset) != 0;
  return LoadAsInt(data, dtype, offset) != 0;
}

Workload Edge(const char* label, const Dims& x, const ParamValue& dim) {
  Workload edge;
  edge.label = label;
  edge.input_shapes = {{"x", x}};
  edge.params = {{"dim", dim}};
  return edge;
}

}  // namespace

Dims ReducedAxes(const CallDesc& call, size_t param, EmptyAxes empty) {
  const int rank = call.input(0).desc.rank();
  if (rank == 0) return {};
  const ParamValue& dim = call.params[param];
  if (dim.kind() == ParamValue::Kind::kInt) return {dim.as_int()};
  if (!dim.is_null() && (dim.as_list().rank() > 0 || empty == EmptyAxes::kNone)) {
    return dim.as_list();
  }
  Dims all;
  for (int64_t axis = 0; axis < rank; ++axis) all.push_back(axis);
  return all;
}

std::vector<double> ReducedRow(const ReferenceCall& call, const Dims& axes, int64_t element) {
  const TensorDesc& x = call.call->input(0).desc;
  std::vector<double> row;
  ForEachReduced(x, axes, RowOffset(x, axes, element), [&](int64_t offset) {
    row.push_back(LoadAsDouble(call.inputs[0].data, x.dtype, offset));
  });
  return row;
}

std::vector<double> NonzeroRow(const ReferenceCall& call, const Dims& axes, int64_t element) {
  const TensorDesc& x = call.call->input(0).desc;
  std::vector<double> row;
  ForEachReduced(x, axes, RowOffset(x, axes, element), [&](int64_t offset) {
    row.push_back(IsNonzero(call.inputs[0].data, x.dtype, offset) ? 1 : 0);
  });
  return row;
}

RefScalar MeanOfRow(const std::vector<double>& row) {
  RefScalar mean;
  for (const double value : row) {
    mean.f += value;
    mean.magnitude += std::fabs(value);
  }
  mean.f /= static_cast<double>(row.size());
  mean.magnitude /= static_cast<double>(row.size());
  return mean;
}

double VarianceOfRow(const std::vector<double>& row, int64_t correction) {
  const double mean = MeanOfRow(row).f;
  double squares = 0;
  for (const double value : row) squares += (value - mean) * (value - mean);
  const auto count = static_cast<int64_t>(row.size());
  return squares / static_cast<double>(std::max<int64_t>(0, count - correction));
}

std::vector<Workload> ReductionEdgeCases(const ReductionEdges& allowed) {
  std::vector<Workload> cases = {Edge("primes", {5, 67}, 1),
                                 Edge("primes-outer", {67, 5}, 0),
                                 Edge("one", {1, 1}, 1),
                                 Edge("extent-one", {64, 1}, 1),
                                 Edge("two", {33, 2}, -1),
                                 Edge("rank-0", {}, -1),
                                 Edge("rank-1", {1000}, 0),
                                 Edge("row-of-46", {9, 46}, 1),
                                 Edge("middle", {3, 129, 7}, 1),
                                 Edge("outer-of-wide", {129, 520}, 0),
                                 Edge("long-outer", {5003, 33}, 0),
                                 Edge("outer-of-64", {300, 64}, 0),
                                 Edge("plus-one", {3, 4097}, 1),
                                 Edge("minus-one", {3, 1023}, 1),
                                 Edge("very-long", {2, 131073}, 1),
                                 Edge("million", {2, 1 << 20}, 1),
                                 Edge("one-long-row", {1, 3000001}, 1),
                                 Edge("many-rows", {70001, 3}, 1),
                                 Edge("many-rows-outer", {3, 70001}, 0),
                                 Edge("rank-8", {2, 3, 2, 5, 1, 2, 3, 2}, 3),
                                 Edge("no-rows", {0, 5}, 1)};
  if (allowed.list) {
    cases.push_back(Edge("two-axes", {7, 5, 11}, Dims{0, 2}));
    cases.push_back(Edge("two-axes-wide", {4, 33, 256}, Dims{0, 2}));
    cases.push_back(Edge("inner-axes", {7, 5, 12}, Dims{1, 2}));
    cases.push_back(Edge("outer-axes", {7, 5, 24}, Dims{0, 1}));
    cases.push_back(Edge("alternate", {2, 3, 2, 5, 3, 2, 3, 2}, Dims{0, 2, 4, 6}));
  }
  if (allowed.null) {
    cases.push_back(Edge("all", {3, 5, 7}, ParamValue()));
    cases.push_back(Edge("all-large", {301, 8192}, ParamValue()));
    cases.push_back(Edge("all-rank-0", {}, ParamValue()));
  }
  if (allowed.list && allowed.null) cases.push_back(Edge("empty-list", {4, 9}, Dims{}));
  if (allowed.empty_row) {
    cases.push_back(Edge("empty-axis", {5, 0}, 1));
    cases.push_back(Edge("empty-axis-outer", {0, 5}, 0));
    if (allowed.null) cases.push_back(Edge("empty-all", {0}, ParamValue()));
  }
  if (allowed.keepdim) {
    cases.push_back(Edge("keepdim", {6, 5, 40}, 1));
    cases.back().params.emplace_back("keepdim", true);
  }
  return cases;
}

}  // namespace tilewright
