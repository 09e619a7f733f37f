// CumsumFwdOp and CumprodFwdOp: sums and products of what lies before, along one axis.
#include "kernel_templates/scan/scan_recipe.h"

#include <algorithm>

#include "kernel_templates/owning_recipe.h"

namespace tilewright {
namespace {

class ScanRecipe : public OwningRecipe {
 public:
  explicit ScanRecipe(const ScanOperator& op) : OwningRecipe(RowFields("lines")) {
    Add(MakeRowScanVariant(op));
    Add(MakeColumnScanVariant(op));
    Add(MakeStridedScanVariant(op));
  }

  ProblemFields Describe(const CallDesc& call) const override {
    const RowPlan plan = PlanScan(call);
    return DescribeRows(plan, ScanLinesBucket(plan));
  }
};

}  // namespace

RowPlan PlanScan(const CallDesc& call) {
  RowProblem problem;
  problem.first_axis = static_cast<int>(call.params[0].as_int());
  problem.last_axis = problem.first_axis + 1;
  return PlanRows(call, problem);
}

int64_t ScanLinesBucket(const RowPlan& plan) {
  return plan.strided_axis ? PowerOfTwoBucket(plan.rows, 32) : RowsBucket(plan.rows);
}

ScanChunks CutScan(int64_t length, int64_t tile, int64_t wanted, int64_t most) {
  const int64_t tiles = (length + tile - 1) / tile;
  const int64_t chunks = std::clamp<int64_t>(wanted, 1, std::min(tiles, most));
  ScanChunks cut;
  cut.chunk = (tiles + chunks - 1) / chunks * tile;
  cut.chunks = (length + cut.chunk - 1) / cut.chunk;
  return cut;
}

std::unique_ptr<Recipe> MakeScanRecipe(const ScanOperator& op) {
  return std::make_unique<ScanRecipe>(op);
}

TILEWRIGHT_RECIPE(CumsumFwdOp) { return MakeScanRecipe({"ScanSum", 4, 32}); }

TILEWRIGHT_RECIPE(CumprodFwdOp) { return MakeScanRecipe({"ScanProduct", 8, 16}); }

}  // namespace tilewright
