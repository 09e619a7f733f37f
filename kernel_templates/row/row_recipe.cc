#include "kernel_templates/row/row_recipe.h"

#include <string>
#include <utility>
#include <vector>

#include "kernel_templates/owning_recipe.h"

namespace tilewright {
namespace {

constexpr int kVectorBytes = 16;
constexpr int64_t kSmallestLength = 256;
constexpr int64_t kSmallestColumn = 4;
constexpr std::array<int64_t, 4> kRowClasses = {4, 32, 264, 2112};

bool IsAligned(const Operand& operand, int vector) {
  return operand.alignment % static_cast<uint32_t>(vector * DTypeSize(operand.desc.dtype)) == 0;
}

// Whether input, output and columns can be accessed `vector` elements at a time along the row.
bool RowVectorFits(const CallDesc& call, const RowProblem& problem, const RowPlan& plan,
                   int vector) {
  if (plan.length % vector != 0) return false;
  if (!IsAligned(call.operands[problem.input], vector)) return false;
  if (!IsAligned(call.operands[problem.output], vector)) return false;
  for (int column : problem.columns) {
    if (!IsAligned(call.operands[column], vector)) return false;
  }
  for (const LayoutDim& dim : plan.outer) {
    for (int64_t stride : dim.strides) {
      if (stride % vector != 0) return false;
    }
  }
  return true;
}

// Sees whether the row is a strided axis beside a dense dim, and how wide accesses of that may be.
void PlanStridedAxis(const CallDesc& call, const RowProblem& problem, RowPlan* plan) {
  if (plan->contiguous || plan->inner.size() != 1 || plan->outer.empty()) return;
  if (plan->outer.size() > 2) return;
  const LayoutDim& dense = plan->outer[0];
  if (dense.strides[0] != 1 || dense.strides[1] != 1) return;
  plan->strided_axis = true;
  for (int vector = kVectorBytes / DTypeSize(plan->dtype); vector > 1; vector /= 2) {
    bool fits = dense.extent % vector == 0 && IsAligned(call.operands[problem.input], vector) &&
                IsAligned(call.operands[problem.output], vector);
    for (size_t operand = 0; operand < 2; ++operand) {
      if (plan->inner[0].strides[operand] % vector != 0) fits = false;
      if (plan->outer.size() > 1 && plan->outer[1].strides[operand] % vector != 0) fits = false;
    }
    if (fits) {
      plan->column_vector = vector;
      return;
    }
  }
}

class RowRecipe : public OwningRecipe {
 public:
  explicit RowRecipe(const RowOperator& op) : OwningRecipe(RowFields("rows")), op_(op) {
    Add(MakeResidentRowVariant(op));
    if (!op.column_template.empty()) {
      Add(MakeColumnRingVariant(op));
      Add(MakeColumnVariant(op));
    }
    Add(MakeStreamedRowVariant(op));
  }

  ProblemFields Describe(const CallDesc& call) const override {
    const RowPlan plan = PlanRows(call, op_.problem(call));
    return DescribeRows(plan, RowsBucket(plan.rows));
  }

 private:
  RowOperator op_;
};

}  // namespace

std::vector<ProblemField> RowFields(std::string rows) {
  using Kind = ProblemField::Kind;
  return {{std::move(rows), Kind::kBucket},
          {"length", Kind::kBucket},
          {"layout", Kind::kClass},
          {"vector", Kind::kClass},
          {"row_dims", Kind::kClass}};
}

ProblemFields DescribeRows(const RowPlan& plan, int64_t rows) {
  const int layout = plan.contiguous ? 0 : plan.strided_axis ? 1 : 2;
  const int vector = plan.contiguous ? plan.vector : plan.column_vector;
  const int64_t length =
      plan.strided_axis ? ColumnLengthBucket(plan.length) : LengthBucket(plan.length);
  return {rows, length, layout, vector, plan.outer.size() > 1 ? 1 : 0};
}

RowPlan PlanRows(const CallDesc& call, const RowProblem& problem) {
  const TensorDesc& input = call.operands[problem.input].desc;
  const TensorDesc& output = call.operands[problem.output].desc;
  RowPlan plan;
  plan.dtype = input.dtype;
  LayoutDims inner;
  LayoutDims outer;
  for (int axis = input.rank() - 1; axis >= 0; --axis) {
    LayoutDim dim;
    dim.extent = input.shape[axis];
    dim.strides = {input.strides[axis], output.strides[axis]};
    const bool in_row = axis >= problem.first_axis && axis < problem.last_axis;
    if (in_row) {
      for (int column : problem.columns) {
        dim.strides.push_back(call.operands[column].desc.strides[axis - problem.first_axis]);
      }
    }
    (in_row ? inner : outer).push_back(dim);
  }
  plan.rows = Positions(outer);
  plan.length = Positions(inner);
  plan.inner = Collapse(inner);
  SortByStride(&outer);
  plan.outer = Collapse(outer);
  plan.contiguous = plan.inner.size() <= 1;
  if (plan.inner.size() == 1) {
    for (int64_t stride : plan.inner[0].strides) plan.contiguous &= stride == 1;
  }
  if (plan.contiguous) {
    const int full = kVectorBytes / DTypeSize(plan.dtype);
    if (RowVectorFits(call, problem, plan, full)) plan.vector = full;
  } else {
    PlanStridedAxis(call, problem, &plan);
  }
  return plan;
}

int64_t LengthBucket(int64_t length) { return PowerOfTwoBucket(length, kSmallestLength); }

int64_t ColumnLengthBucket(int64_t length) { return PowerOfTwoBucket(length, kSmallestColumn); }

int64_t RowsBucket(int64_t rows) {
  for (int64_t bound : kRowClasses) {
    if (rows <= bound) return bound;
  }
  return int64_t{1} << 62;
}

// Clusters exist from sm_90 on; every device that has them schedules 8 CTAs. 16 is beyond the
// portable size: data-centre parts that are not sliced have clusters of SMs that large.
int64_t LargestRowCluster(const DeviceProfile& device) {
  constexpr int64_t kPortable = 8;
  if (device.compute_capability() < 90) return 1;
  const bool data_centre = device.compute_capability() < 120;
  return data_centre && device.mig.empty() && device.sm_count >= 128 ? 2 * kPortable : kPortable;
}

std::unique_ptr<Recipe> MakeRowRecipe(const RowOperator& op) {
  return std::make_unique<RowRecipe>(op);
}

}  // namespace tilewright
