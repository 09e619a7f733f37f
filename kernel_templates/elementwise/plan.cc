#include <algorithm>

#include "kernel_templates/elementwise/elementwise_recipe.h"

namespace tilewright {
namespace {

constexpr int kVectorBytes = 64;  // of the widest operand
constexpr int kPacketBytes = 16;
constexpr int64_t kNarrowElements = int64_t{1} << 31;

LayoutDims DimsOf(const ElementwiseProblem& problem) {
  LayoutDims dims;
  for (int axis = problem.shape.rank() - 1; axis >= 0; --axis) {
    LayoutDim dim;
    dim.extent = problem.shape[axis];
    for (const ElementwiseView& view : problem.views) dim.strides.push_back(view.strides[axis]);
    dims.push_back(dim);
  }
  return dims;
}

// The size of the largest element of the operands that move along any dim.
int LargestElement(const ElementwiseProblem& problem, const LayoutDims& dims) {
  int size = 1;
  for (size_t v = 0; v < problem.views.size(); ++v) {
    const bool moves = std::any_of(dims.begin(), dims.end(),
                                   [v](const LayoutDim& dim) { return dim.strides[v] != 0; });
    const bool counts = moves && !problem.views[v].is_coordinate();
    if (counts) size = std::max(size, DTypeSize(problem.views[v].dtype));
  }
  return size;
}

// Whether every operand can be accessed `vector` elements at a time along dim 0.
bool VectorFits(const ElementwiseProblem& problem, const LayoutDims& dims, int vector) {
  if (dims.size() > 1 && dims[0].extent % vector != 0) return false;
  for (size_t v = 0; v < problem.views.size(); ++v) {
    const ElementwiseView& view = problem.views[v];
    const int64_t inner = dims[0].strides[v];
    if (view.consecutive && inner != 1) return false;
    if (view.is_coordinate() || (v > 0 && inner == 0)) continue;
    if (inner != 1) return false;
    const int size = DTypeSize(view.dtype);
    const int packet = std::min(vector, kPacketBytes / size);  // elements accessed at once
    if (view.alignment % static_cast<uint32_t>(packet * size) != 0) return false;
    for (size_t d = 1; d < dims.size(); ++d) {
      if (dims[d].strides[v] % packet != 0) return false;
    }
  }
  return true;
}

}  // namespace

ElementwiseView BroadcastView(const CallDesc& call, int operand, const Dims& shape) {
  const Operand& source = call.operands[static_cast<size_t>(operand)];
  ElementwiseView view{operand, 0, source.desc.dtype, Dims(), source.alignment};
  const int missing = shape.rank() - source.desc.rank();
  for (int axis = 0; axis < shape.rank(); ++axis) {
    const int from = axis - missing;
    const bool moves = from >= 0 && source.desc.shape[from] == shape[axis];
    view.strides.push_back(moves ? source.desc.strides[from] : 0);
  }
  return view;
}

ElementwiseView CoordinateView(const Dims& strides, int64_t base) {
  return {ElementwiseView::kCoordinate, base, DType::kInt64, strides};
}

ElementwiseView ConsecutiveView(const Dims& strides, int64_t base) {
  ElementwiseView view = CoordinateView(strides, base);
  view.consecutive = true;
  return view;
}

ElementwiseProblem BroadcastProblem(const CallDesc& call) {
  const int output = static_cast<int>(call.operands.size()) - 1;
  ElementwiseProblem problem;
  problem.shape = call.operands.back().desc.shape;
  problem.views.push_back(BroadcastView(call, output, problem.shape));
  for (int i = 0; i < output; ++i) {
    if (call.input(i).present) problem.views.push_back(BroadcastView(call, i, problem.shape));
  }
  const bool integer = IsInteger(problem.views[0].dtype);
  for (size_t i = 0; i < std::min(call.params.size(), problem.scalars.size()); ++i) {
    const ParamValue& param = call.params[i];
    if (param.is_null()) continue;
    if (integer) {
      problem.scalars[i].i = param.as_int();
    } else {
      problem.scalars[i].f = param.as_float();
    }
  }
  return problem;
}

ElementwisePlan PlanElementwise(const ElementwiseProblem& problem) {
  ElementwisePlan plan;
  LayoutDims dims = DimsOf(problem);
  SortByStride(&dims);
  plan.dims = Collapse(dims);
  if (plan.dims.empty()) {
    LayoutDim one;
    one.strides.assign(problem.views.size(), 1);
    plan.dims.push_back(one);
  }
  plan.elements = problem.shape.Product().value_or(0);
  plan.wide = plan.elements >= kNarrowElements;
  const int rank = static_cast<int>(plan.dims.size());
  plan.rank = rank <= 3 ? rank : kMaxRank;
  plan.element_bytes = LargestElement(problem, plan.dims);
  for (int vector = kVectorBytes / plan.element_bytes; vector > 1; vector /= 2) {
    if (!VectorFits(problem, plan.dims, vector)) continue;
    plan.vector = vector;
    for (size_t v = 1; v < problem.views.size(); ++v) {
      if (plan.dims[0].strides[v] == 0) plan.scalar_mask |= 1 << (v - 1);
    }
    break;
  }
  return plan;
}

}  // namespace tilewright
