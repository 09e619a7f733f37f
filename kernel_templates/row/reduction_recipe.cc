// The reductions: each is a functor of reduce_ops.cuh and where its parameters are.
#include "kernel_templates/row/reduce_recipe.h"

namespace tilewright {

TILEWRIGHT_RECIPE(SumFwdOp) { return MakeReduceRecipe({.op = "SumReduce"}); }
TILEWRIGHT_RECIPE(MeanFwdOp) { return MakeReduceRecipe({.op = "MeanReduce"}); }
TILEWRIGHT_RECIPE(AmaxFwdOp) { return MakeReduceRecipe({.op = "AmaxReduce"}); }
TILEWRIGHT_RECIPE(AminFwdOp) { return MakeReduceRecipe({.op = "AminReduce"}); }
TILEWRIGHT_RECIPE(ProdFwdOp) { return MakeReduceRecipe({.op = "ProdReduce", .value_bytes = 8}); }
TILEWRIGHT_RECIPE(LogSumExpFwdOp) {
  return MakeReduceRecipe({.op = "LogSumExpReduce", .value_bytes = 8});
}
TILEWRIGHT_RECIPE(VarFwdOp) {
  return MakeReduceRecipe({.op = "VarReduce", .value_bytes = 12, .correction_param = 1});
}
TILEWRIGHT_RECIPE(StdFwdOp) {
  return MakeReduceRecipe({.op = "StdReduce", .value_bytes = 12, .correction_param = 1});
}
TILEWRIGHT_RECIPE(VarMeanFwdOp) {
  return MakeReduceRecipe({.op = "VarMeanReduce", .value_bytes = 12, .correction_param = 1});
}
TILEWRIGHT_RECIPE(ArgmaxFwdOp) {
  return MakeReduceRecipe({.op = "ArgmaxReduce", .value_bytes = 12, .indexed = true});
}
TILEWRIGHT_RECIPE(ArgminFwdOp) {
  return MakeReduceRecipe({.op = "ArgminReduce", .value_bytes = 12, .indexed = true});
}
TILEWRIGHT_RECIPE(AnyFwdOp) { return MakeReduceRecipe({.op = "AnyReduce", .none_if_empty = true}); }
TILEWRIGHT_RECIPE(AllFwdOp) { return MakeReduceRecipe({.op = "AllReduce", .none_if_empty = true}); }
TILEWRIGHT_RECIPE(CountNonzeroFwdOp) {
  return MakeReduceRecipe({.op = "CountNonzeroReduce", .value_bytes = 8});
}
TILEWRIGHT_RECIPE(L1NormFwdOp) { return MakeReduceRecipe({.op = "L1NormReduce", .axes_param = 1}); }
TILEWRIGHT_RECIPE(L2NormFwdOp) { return MakeReduceRecipe({.op = "L2NormReduce", .axes_param = 1}); }
TILEWRIGHT_RECIPE(InfNormFwdOp) {
  return MakeReduceRecipe({.op = "InfNormReduce", .axes_param = 1});
}

}  // namespace tilewright
