// SoftmaxFwdOp and LogSoftmaxFwdOp: along one axis.
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

constexpr std::string_view kColumnTemplate = "row/column_softmax.cuh";
constexpr std::string_view kColumnEntry = "tilewright::ColumnSoftmaxKernel";

TILEWRIGHT_RECIPE(SoftmaxFwdOp) {
  return MakeRowRecipe({"SoftmaxRow", SoftmaxProblem, kColumnTemplate, kColumnEntry});
}

TILEWRIGHT_RECIPE(LogSoftmaxFwdOp) {
  return MakeRowRecipe({"LogSoftmaxRow", SoftmaxProblem, kColumnTemplate, kColumnEntry, true});
}

}  // namespace tilewright
