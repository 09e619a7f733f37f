// CumsumFwdOp and CumprodFwdOp: sums and products of what lies before, along one axis.
#include "kernel_templates/scan/scan_recipe.h"

#include <algorithm>
#include <array>
#include <vector>

namespace tilewright {
namespace {

class ScanRecipe : public Recipe {
 public:
  explicit ScanRecipe(const ScanOperator& op)
      : rows_(MakeRowScanVariant(op)),
        columns_(MakeColumnScanVariant(op)),
        strided_(MakeStridedScanVariant(op)),
        variants_{rows_.get(), columns_.get(), strided_.get()} {}

  std::span<const ProblemField> fields() const override {
    using Kind = ProblemField::Kind;
    static const std::array<ProblemField, 5> fields = {{{"lines", Kind::kBucket},
                                                        {"length", Kind::kBucket},
                                                        {"layout", Kind::kClass},
                                                        {"vector", Kind::kClass},
                                                        {"row_dims", Kind::kClass}}};
    return fields;
  }
  ProblemFields Describe(const CallDesc& call) const override {
    const RowPlan plan = PlanScan(call);
    const int layout = plan.contiguous ? 0 : plan.strided_axis ? 1 : 2;
    const int64_t length =
        plan.strided_axis ? ColumnLengthBucket(plan.length) : LengthBucket(plan.length);
    return {ScanLinesBucket(plan), length, layout,
            plan.contiguous ? plan.vector : plan.column_vector, plan.outer.size() > 1};
  }
  std::span<const Variant* const> variants() const override { return variants_; }

 private:
  std::unique_ptr<Variant> rows_;
  std::unique_ptr<Variant> columns_;
  std::unique_ptr<Variant> strided_;
  std::array<const Variant*, 3> variants_;
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
