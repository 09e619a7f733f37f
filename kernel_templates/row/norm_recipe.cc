#include "kernel_templates/row/norm_recipe.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "kernel_templates/owning_recipe.h"
#include "kernel_templates/row/row_recipe.h"

namespace tilewright {
namespace {

constexpr int kVectorBytes = 16;

template <class Function>
void ForEachOperand(const NormProblem& problem, Function f) {
  for (const int operand : problem.inputs) f(operand);
  for (const int operand : problem.outputs) f(operand);
}

// Whether columns that follow a row's elements are dense in the row's order.
bool ColumnsAreDense(const CallDesc& call, const NormProblem& problem) {
  if (problem.kind != NormColumnKind::kElement) return true;
  return std::all_of(problem.columns.begin(), problem.columns.end(), [&](int column) {
    return call.operands[static_cast<size_t>(column)].desc.IsContiguous();
  });
}

bool Fits(const CallDesc& call, const NormPlan& plan, int vector) {
  if (plan.run_length % vector != 0) return false;
  bool fits = true;
  const auto aligned = [&](int index) {
    const Operand& operand = call.operands[static_cast<size_t>(index)];
    const auto bytes = static_cast<uint32_t>(vector * DTypeSize(operand.desc.dtype));
    fits = fits && operand.alignment % bytes == 0;
  };
  ForEachOperand(plan.problem, aligned);
  if (plan.problem.kind == NormColumnKind::kElement) {
    for (const int column : plan.problem.columns) aligned(column);
  }
  for (const LayoutDims* dims : {&plan.problem.runs, &plan.outer}) {
    for (const LayoutDim& dim : *dims) {
      for (const int64_t stride : dim.strides) fits = fits && stride % vector == 0;
    }
  }
  return fits;
}

class NormRecipe : public OwningRecipe {
 public:
  explicit NormRecipe(NormProblemFunction problem)
      : OwningRecipe({{"rows", Kind::kBucket},
                      {"length", Kind::kBucket},
                      {"dense", Kind::kClass},
                      {"vector", Kind::kClass},
                      {"runs", Kind::kClass},
                      // 0: statistics are given, 1: they are of the rows; + 2 with columns; 7: they
                      // are given, and rows are a channel of a sample.
                      {"form", Kind::kClass},
                      {"whole", Kind::kClass}}),
        problem_(problem) {
    Add(MakeNormRowVariant(problem));
    Add(MakeNormPassesVariant(problem));
    Add(MakePortableNormVariant(problem));
  }

  ProblemFields Describe(const CallDesc& call) const override {
    const NormPlan plan = PlanNorm(call, problem_);
    const int form = (plan.problem.given ? 4 : 0) + (plan.problem.op.empty() ? 0 : 1) +
                     (plan.problem.columns.size() > 2 ||
                              (!plan.problem.op.empty() && !plan.problem.columns.empty())
                          ? 2
                          : 0);
    return {RowsBucket(plan.rows), LengthBucket(plan.length), plan.dense ? 1 : 0,
            plan.vector,           plan.several_runs ? 1 : 0, form,
            plan.whole ? 1 : 0};
  }

 private:
  NormProblemFunction problem_;
};

}  // namespace

LayoutDim AxisOf(const CallDesc& call, const absl::InlinedVector<int, 4>& operands, int axis) {
  LayoutDim dim;
  dim.extent = call.operands[static_cast<size_t>(operands[0])].desc.shape[axis];
  for (const int operand : operands) {
    dim.strides.push_back(call.operands[static_cast<size_t>(operand)].desc.strides[axis]);
  }
  return dim;
}

NormPlan PlanNorm(const CallDesc& call, NormProblemFunction problem) {
  NormPlan plan;
  plan.problem = problem(call);
  NormProblem& p = plan.problem;
  plan.dtype = call.operands[static_cast<size_t>(p.inputs[0])].desc.dtype;
  plan.column =
      p.columns.empty() ? plan.dtype : call.operands[static_cast<size_t>(p.columns[0])].desc.dtype;
  plan.rows = Positions(p.rows);
  plan.run_length = Positions(p.run);
  plan.length = plan.run_length * Positions(p.runs);
  p.run = Collapse(p.run);
  p.runs = Collapse(p.runs);
  plan.outer = Collapse(p.rows);
  plan.inner = p.run;
  plan.dense = p.run.size() <= 1 && p.runs.size() <= 1 && ColumnsAreDense(call, p);
  if (p.run.size() == 1) {
    for (const int64_t stride : p.run[0].strides) plan.dense &= stride == 1;
  } else if (p.run.empty()) {
    // Runs of one element.
    LayoutDim one;
    one.strides.assign(p.inputs.size() + p.outputs.size(), 1);
    plan.inner.push_back(one);
  }
  plan.several_runs = !p.runs.empty();
  plan.whole = (p.op == "AffineNormRow" || p.op == "PlainNormRow") &&
               plan.length == LengthBucket(plan.length);
  plan.inner.insert(plan.inner.end(), p.runs.begin(), p.runs.end());
  if (plan.dense) {
    for (int vector = kVectorBytes / DTypeSize(plan.dtype); vector > 1; vector /= 2) {
      if (!Fits(call, plan, vector)) continue;
      plan.vector = vector;
      break;
    }
  }
  return plan;
}

NormParams NormParamsOf(const CallDesc& call, const NormPlan& plan, int64_t vector) {
  const NormProblem& problem = plan.problem;
  const int64_t size = DTypeSize(plan.dtype);
  NormParams p{};
  p.rows = plan.rows;
  p.packets = plan.length / vector;
  p.split_packets = p.packets;
  p.splits = 1;
  p.channel_rows = problem.channel_rows;
  p.run = MakeFastDivmod<true>(
      static_cast<unsigned long long>(std::max<int64_t>(plan.run_length / vector, 1)));
  p.inner_rank = static_cast<int>(plan.inner.size());
  p.row_rank = static_cast<int>(plan.outer.size());
  p.count = static_cast<float>(plan.length);
  p.eps = problem.eps;
  p.momentum = problem.momentum;
  p.unbias = static_cast<float>(static_cast<double>(plan.length) /
                                static_cast<double>(std::max<int64_t>(plan.length - 1, 1)));
  size_t at = 0;
  for (const LayoutDims* dims : {&plan.inner, &plan.outer}) {
    for (const LayoutDim& dim : *dims) {
      const int64_t packed = at == 0 && dims == &plan.inner ? vector : 1;
      p.extent[at] = MakeFastDivmod<true>(
          static_cast<unsigned long long>(std::max<int64_t>(dim.extent / packed, 1)));
      for (size_t i = 0; i < dim.strides.size(); ++i) {
        const int64_t stride = dim.strides[i] * packed * size;
        if (i < problem.inputs.size()) {
          p.input_stride[i][at] = stride;
        } else {
          p.output_stride[i - problem.inputs.size()][at] = stride;
        }
      }
      ++at;
    }
  }
  for (size_t c = 0; c < problem.columns.size(); ++c) {
    const TensorDesc& desc = call.operands[static_cast<size_t>(problem.columns[c])].desc;
    if (problem.kind == NormColumnKind::kChannel) {
      p.column_stride[c] = desc.rank() > 0 ? desc.strides[0] * DTypeSize(desc.dtype) : 0;
    }
  }
  for (size_t i = 0; i < problem.results.size(); ++i) {
    const TensorDesc& desc = call.operands[static_cast<size_t>(problem.results[i])].desc;
    p.column_stride[3 + i] = desc.strides[0] * DTypeSize(desc.dtype);
  }
  return p;
}

void AddNormPointers(const NormPlan& plan, Launch* launch) {
  const auto add = [&](size_t offset, size_t i, int operand) {
    launch->pointers.push_back(
        {static_cast<uint16_t>(offset + i * sizeof(void*)), static_cast<int8_t>(operand), 0});
  };
  const NormProblem& problem = plan.problem;
  for (size_t i = 0; i < problem.inputs.size(); ++i) {
    add(offsetof(NormParams, inputs), i, problem.inputs[i]);
  }
  for (size_t i = 0; i < problem.outputs.size(); ++i) {
    add(offsetof(NormParams, outputs), i, problem.outputs[i]);
  }
  for (size_t i = 0; i < problem.columns.size(); ++i) {
    add(offsetof(NormParams, columns), i, problem.columns[i]);
  }
  for (size_t i = 0; i < problem.results.size(); ++i) {
    add(offsetof(NormParams, results), i, problem.results[i]);
  }
}

std::unique_ptr<Recipe> MakeNormRecipe(NormProblemFunction problem) {
  return std::make_unique<NormRecipe>(problem);
}

}  // namespace tilewright
