// The recipe of every operator that normalises rows or channels. An operator states its functors
// (norm_ops.cuh, channel_norm.cuh) and what its rows are made of; all else is shared.
#ifndef TILEWRIGHT_KERNEL_TEMPLATES_ROW_NORM_RECIPE_H_
#define TILEWRIGHT_KERNEL_TEMPLATES_ROW_NORM_RECIPE_H_

#include <cstdint>
#include <memory>
#include <string_view>

#include "absl/container/inlined_vector.h"
#include "kernel_templates/memory_bound.h"
#include "kernel_templates/recipe.h"
#include "kernel_templates/row/norm_params.cuh"

namespace tilewright {

enum class NormColumnKind : uint8_t { kNone, kElement, kChannel };

// What a call asks for. Operands are indices into CallDesc::operands; `inputs` and `outputs` are of
// x's shape. Dims are innermost first, with the strides of the inputs and then of the outputs.
struct NormProblem {
  std::string_view op;        // rows, struct in norm_ops.cuh; empty: the statistics are given
  std::string_view sums_op;   // passes, structs in channel_norm.cuh; empty: there is none
  std::string_view apply_op;  // empty: rows only
  absl::InlinedVector<int, 4> inputs;
  absl::InlinedVector<int, 2> outputs;
  absl::InlinedVector<int, 4> columns;
  absl::InlinedVector<int, 2> results;  // operands with a value a channel that are written
  NormColumnKind kind = NormColumnKind::kNone;
  bool given = false;  // the last columns of `op` are the statistics
  LayoutDims run;      // of one channel of a row, or all of a row
  LayoutDims runs;     // the rest of a row
  LayoutDims rows;
  int64_t channel_rows = 1;            // rows that have different channels
  int64_t longest = int64_t{1} << 62;  // rows beyond this go in passes
  float eps = 0;
  float momentum = 0;
};
using NormProblemFunction = NormProblem (*)(const CallDesc& call);

std::unique_ptr<Recipe> MakeNormRecipe(NormProblemFunction problem);

// One axis of x's shape with the strides of `operands` along it.
LayoutDim AxisOf(const CallDesc& call, const absl::InlinedVector<int, 4>& operands, int axis);

// A problem collapsed.
struct NormPlan {
  NormProblem problem;
  DType dtype = DType::kFloat32;
  DType column = DType::kFloat32;
  LayoutDims inner;  // of a row: its run, then its runs
  LayoutDims outer;  // rows
  int64_t rows = 0;
  int64_t length = 0;      // of a row
  int64_t run_length = 0;  // of a run
  bool dense = false;      // a row is dense runs at even distances in every operand
  bool several_runs = false;
  bool whole = false;  // rows are as long as their bucket, and normed by moments of their own
  int vector = 1;      // most elements an access along a dense run
};
NormPlan PlanNorm(const CallDesc& call, NormProblemFunction problem);

// Parameters with packets of `vector` elements.
NormParams NormParamsOf(const CallDesc& call, const NormPlan& plan, int64_t vector);
// The pointers that every kernel of a plan has.
void AddNormPointers(const NormPlan& plan, Launch* launch);

// The variants, in order of preference. The last serves any layout.
std::unique_ptr<Variant> MakeNormRowVariant(NormProblemFunction problem);
std::unique_ptr<Variant> MakeNormPassesVariant(NormProblemFunction problem);
std::unique_ptr<Variant> MakePortableNormVariant(NormProblemFunction problem);

// The elementwise pass where the statistics are given, for the passes and the portable variant.
KernelSpec NormApplySpec(const NormPlan& plan, int64_t vector, int64_t threads, int64_t unroll);
Launch NormApplyLaunch(const CallDesc& call, const NormPlan& plan, int64_t vector, int64_t threads,
                       int64_t unroll, int kernel);

}  // namespace tilewright

#endif  // TILEWRIGHT_KERNEL_TEMPLATES_ROW_NORM_RECIPE_H_
