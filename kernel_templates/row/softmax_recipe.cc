// SoftmaxFwdOp: softmax along one axis.
#include "kernel_templates/row/row_recipe.h"

namespace tilewright {
namespace {

// Operands: x, output. Params: dim; null chooses the axis as torch does.
RowProblem SoftmaxProblem(const CallDesc& call) {
  const int rank = call.operands[0].desc.rank();
  const ParamValue& dim = call.params[0];
  RowProblem problem;
  if (dim.is_null()) {
    problem.first_axis = rank == 0 || rank == 1 || rank == 3 ? 0 : 1;
  } else {
    problem.first_axis = static_cast<int>(dim.as_int());
  }
  problem.last_axis = problem.first_axis + 1;
  return problem;
}

}  // namespace

TILEWRIGHT_RECIPE(SoftmaxFwdOp) {
  return MakeRowRecipe(
      {"SoftmaxRow", SoftmaxProblem, "row/column_softmax.cuh", "tilewright::ColumnSoftmaxKernel"});
}

}  // namespace tilewright
