#include "kernel_templates/row/reduce_recipe.h"

#include <algorithm>
#include <cstddef>

#include "kernel_templates/owning_recipe.h"
#include "kernel_templates/row/row_recipe.h"
#include "manifest/status.h"

namespace tilewright {
namespace {

constexpr int kVectorBytes = 16;
constexpr int64_t kSmallestLength = 4;
constexpr int64_t kShortestDense = 16;  // a dense kept axis below this leaves most lanes idle

Dims ReducedAxes(const CallDesc& call, const ReduceOperator& op) {
  const int rank = call.operands[0].desc.rank();
  if (rank == 0) return {};
  const ParamValue& dim = call.params[static_cast<size_t>(op.axes_param)];
  if (dim.kind() == ParamValue::Kind::kInt) return {dim.as_int()};
  if (!dim.is_null() && (dim.as_list().rank() > 0 || op.none_if_empty)) return dim.as_list();
  Dims all;
  for (int64_t axis = 0; axis < rank; ++axis) all.push_back(axis);
  return all;
}

// Splits the axes into reduced and kept ones, collapsed.
void SplitAxes(const CallDesc& call, const ReduceOperator& op, ReducePlan* plan) {
  const TensorDesc& input = call.operands[0].desc;
  const Dims axes = ReducedAxes(call, op);
  const bool keepdim = call.operands[1].desc.rank() == input.rank();
  LayoutDims inner;
  LayoutDims outer;
  int output_axis = call.operands[1].desc.rank() - 1;
  for (int axis = input.rank() - 1; axis >= 0; --axis) {
    LayoutDim dim;
    dim.extent = input.shape[axis];
    dim.strides = {input.strides[axis]};
    const bool reduced = std::find(axes.begin(), axes.end(), axis) != axes.end();
    if (reduced) {
      inner.push_back(dim);
      if (keepdim) --output_axis;
      continue;
    }
    for (size_t i = 1; i < call.operands.size(); ++i) {
      dim.strides.push_back(call.operands[i].desc.strides[output_axis]);
    }
    --output_axis;
    outer.push_back(dim);
  }
  plan->rows = Positions(outer);
  plan->length = Positions(inner);
  if (!op.indexed) SortByStride(&inner);
  SortByStride(&outer);
  plan->inner = Collapse(inner);
  plan->outer = Collapse(outer);
}

// The most elements an access can have along dims[dense]: a power of two that divides its extent
// and every other stride of the input.
int VectorOf(const CallDesc& call, const ReducePlan& plan, const LayoutDims& dense) {
  for (int vector = kVectorBytes / DTypeSize(plan.dtype); vector > 1; vector /= 2) {
    bool fits = dense[0].extent % vector == 0;
    fits = fits &&
           call.operands[0].alignment % static_cast<uint32_t>(vector * DTypeSize(plan.dtype)) == 0;
    for (const LayoutDims* dims : {&plan.inner, &plan.outer}) {
      for (size_t d = dims == &dense ? 1 : 0; d < dims->size(); ++d) {
        fits = fits && (*dims)[d].strides[0] % vector == 0;
      }
    }
    if (fits) return vector;
  }
  return 1;
}

class ReduceRecipe : public OwningRecipe {
 public:
  explicit ReduceRecipe(const ReduceOperator& op)
      : OwningRecipe({{"rows", Kind::kBucket},
                      {"length", Kind::kBucket},
                      {"layout", Kind::kClass},
                      {"vector", Kind::kClass},
                      {"dense", Kind::kClass}}),
        op_(op) {
    Add(MakeRowReduceVariant(op));
    Add(MakeColumnReduceVariant(op));
    Add(MakeStridedReduceVariant(op));
  }

  ProblemFields Describe(const CallDesc& call) const override {
    const ReducePlan plan = PlanReduce(call, op_);
    return {ResultsBucket(plan), ReduceLengthBucket(plan.length), static_cast<int>(plan.layout),
            plan.vector, (plan.dense() ? 1 : 0) + (plan.dense_output ? 2 : 0)};
  }

 private:
  ReduceOperator op_;
};

// Threads a result in the second stage: the fewer results, the more partials each has.
int64_t CombineThreads(const ReducePlan& plan) {
  const int64_t rows = ResultsBucket(plan);
  return rows <= 32 ? 256 : rows <= 512 ? 32 : 8;
}
constexpr int64_t kCombineBlock = 256;

}  // namespace

ReducePlan PlanReduce(const CallDesc& call, const ReduceOperator& op) {
  ReducePlan plan;
  plan.dtype = call.operands[0].desc.dtype;
  plan.output = call.operands[1].desc.dtype;
  SplitAxes(call, op, &plan);
  if (plan.inner.empty() ? plan.outer.empty() : plan.inner[0].strides[0] == 1) {
    plan.layout = ReduceLayout::kRows;
    if (!plan.inner.empty()) plan.vector = VectorOf(call, plan, plan.inner);
  } else if (!plan.outer.empty() && plan.outer[0].strides[0] == 1 &&
             plan.outer[0].extent >= kShortestDense) {
    plan.layout = ReduceLayout::kColumns;
    plan.vector = VectorOf(call, plan, plan.outer);
    const auto bytes = static_cast<uint32_t>(plan.vector * DTypeSize(plan.output));
    plan.dense_output = call.operands[1].alignment % bytes == 0 && plan.outer[0].strides[1] == 1;
    for (size_t d = 1; d < plan.outer.size(); ++d) {
      if (plan.outer[d].strides[1] % plan.vector != 0) plan.dense_output = false;
    }
  }
  return plan;
}

ReduceScalars ScalarsOf(const CallDesc& call, const ReduceOperator& op, const ReducePlan& plan) {
  int64_t correction = 0;
  if (op.correction_param >= 0) {
    correction = call.params[static_cast<size_t>(op.correction_param)].as_int();
  }
  ReduceScalars scalars{};
  scalars.count = static_cast<float>(plan.length);
  scalars.denominator = std::max(
      0.0f, static_cast<float>(static_cast<double>(plan.length) - static_cast<double>(correction)));
  return scalars;
}

int64_t ResultsBucket(const ReducePlan& plan) {
  return plan.layout == ReduceLayout::kColumns ? PowerOfTwoBucket(plan.rows, 32)
                                               : RowsBucket(plan.rows);
}

int64_t ReduceLengthBucket(int64_t length) { return PowerOfTwoBucket(length, kSmallestLength); }

std::vector<std::pair<std::string, std::string>> ReduceConstants(const ReduceOperator& op,
                                                                 const ReducePlan& plan) {
  return {{"using Op", Cat("tilewright::", op.op)},
          {"using Element", std::string(StorageTypeName(plan.dtype))},
          {"using Output", std::string(StorageTypeName(plan.output))}};
}

KernelSpec CombineSpec(const ReduceOperator& op, const ReducePlan& plan) {
  KernelSpec spec;
  spec.template_file = "row/row_reduce.cuh";
  spec.entry = "tilewright::CombineKernel";
  spec.constants = {{"using Op", Cat("tilewright::", op.op)},
                    {"using Output", std::string(StorageTypeName(plan.output))},
                    {"int kThreads", Cat(CombineThreads(plan))},
                    {"int kRows", Cat(kCombineBlock / CombineThreads(plan))}};
  return spec;
}

namespace {

// The results' pointers, one behind the other from `offset` of the parameters.
void AddResultPointers(const CallDesc& call, size_t offset, Launch* launch) {
  for (size_t i = 1; i < call.operands.size(); ++i) {
    launch->pointers.push_back(
        {static_cast<uint16_t>(offset + (i - 1) * sizeof(void*)), static_cast<int8_t>(i), 0});
  }
}

// The second stage, the first one having left `splits` partials a result.
Launch CombineLaunch(const CallDesc& call, const ReduceOperator& op, const ReducePlan& plan,
                     int64_t splits) {
  RowReduceParams p{};
  p.rows = plan.rows;
  p.splits = static_cast<int>(splits);
  p.row_rank = static_cast<int>(plan.outer.size());
  p.scalars = ScalarsOf(call, op, plan);
  for (size_t d = 0; d < plan.outer.size(); ++d) {
    p.extent[d] = MakeFastDivmod<true>(static_cast<unsigned long long>(plan.outer[d].extent));
    for (size_t i = 1; i < call.operands.size(); ++i) {
      p.output_stride[i - 1][d] = plan.outer[d].strides[i] * DTypeSize(plan.output);
    }
  }
  Launch launch;
  launch.kernel = 1;
  launch.SetParams(p);
  const int64_t rows = kCombineBlock / CombineThreads(plan);
  launch.grid[0] = static_cast<uint32_t>(std::min<int64_t>((plan.rows + rows - 1) / rows, 65536));
  launch.block[0] = static_cast<uint32_t>(kCombineBlock);
  launch.programmatic_dependent_launch = true;
  launch.pointers.push_back({offsetof(RowReduceParams, partials), kWorkspaceOperand, 0});
  AddResultPointers(call, offsetof(RowReduceParams, outputs), &launch);
  return launch;
}

}  // namespace

void AddReduceLaunch(const CallDesc& call, const ReduceOperator& op, const ReducePlan& plan,
                     ReducePointers pointers, bool split, int64_t splits, Launch launch,
                     BoundCall* bound) {
  if (split) {
    bound->workspace_bytes = splits * plan.rows * op.value_bytes;
    launch.pointers.push_back({static_cast<uint16_t>(pointers.partials), kWorkspaceOperand, 0});
  } else {
    AddResultPointers(call, pointers.outputs, &launch);
  }
  bound->launches.push_back(std::move(launch));
  if (split) bound->launches.push_back(CombineLaunch(call, op, plan, splits));
}

std::unique_ptr<Recipe> MakeReduceRecipe(const ReduceOperator& op) {
  return std::make_unique<ReduceRecipe>(op);
}

}  // namespace tilewright
