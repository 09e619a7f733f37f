// The recipe of every operator that reduces rows and writes them back. An operator states its row
// operator, which axes make up a row, and its constants; all else is shared.
#ifndef TILEWRIGHT_KERNEL_TEMPLATES_ROW_ROW_RECIPE_H_
#define TILEWRIGHT_KERNEL_TEMPLATES_ROW_ROW_RECIPE_H_

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "kernel_templates/memory_bound.h"
#include "kernel_templates/recipe.h"
#include "kernel_templates/row/params.cuh"

namespace tilewright {

struct RowProblem {
  int input = 0;  // indices into CallDesc::operands; input and output have one shape
  int output = 1;
  absl::InlinedVector<int, kRowMaxColumns> columns;  // operands over the row axes alone
  int first_axis = 0;                                // the row is axes [first_axis, last_axis)
  int last_axis = 0;
  std::array<float, kRowScalars> scalars{};
};

struct RowOperator {
  std::string_view op;  // struct in row_ops.cuh
  RowProblem (*problem)(const CallDesc& call);
  // Kernel along a strided axis, of columns (column_softmax.cuh); empty where there is none.
  std::string_view column_template;
  std::string_view column_entry;
  bool log = false;  // of column_softmax.cuh
};

std::unique_ptr<Recipe> MakeRowRecipe(const RowOperator& op);

// The collapsed axes of a problem. Strides of `inner` are of input, output and the columns; those
// of `outer` of input and output; both innermost first.
struct RowPlan {
  DType dtype = DType::kFloat32;
  LayoutDims inner;
  LayoutDims outer;
  int64_t rows = 0;
  int64_t length = 0;
  bool contiguous = false;  // the row is dense in every operand
  int vector = 1;           // most elements an access along a contiguous row: a full one or 1
  // The row is one strided axis between at most one outer dim and a dense innermost one.
  bool strided_axis = false;
  int column_vector = 1;  // most elements an access along the dense dim then
};
RowPlan PlanRows(const CallDesc& call, const RowProblem& problem);

// The problem fields of rows, and their values; `rows` is what rows are called, and their bucket.
std::vector<ProblemField> RowFields(std::string rows);
ProblemFields DescribeRows(const RowPlan& plan, int64_t rows);

// Upper bound of the lengths that share kernels.
int64_t LengthBucket(int64_t length);
// The same for the lengths of strided axes.
int64_t ColumnLengthBucket(int64_t length);
// Upper bound of the row counts that share a winner; the last class has none.
int64_t RowsBucket(int64_t rows);

// The most CTAs of a cluster that the device schedules; 1: it has none.
int64_t LargestRowCluster(const DeviceProfile& device);

// The variants, in order of preference.
std::unique_ptr<Variant> MakeResidentRowVariant(const RowOperator& op);
std::unique_ptr<Variant> MakeColumnRingVariant(const RowOperator& op);
std::unique_ptr<Variant> MakeColumnVariant(const RowOperator& op);
std::unique_ptr<Variant> MakeStreamedRowVariant(const RowOperator& op);

}  // namespace tilewright

#endif  // TILEWRIGHT_KERNEL_TEMPLATES_ROW_ROW_RECIPE_H_
