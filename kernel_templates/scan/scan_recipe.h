// The recipe of the operators that scan along one axis, and what its variants share.
#ifndef TILEWRIGHT_KERNEL_TEMPLATES_SCAN_SCAN_RECIPE_H_
#define TILEWRIGHT_KERNEL_TEMPLATES_SCAN_SCAN_RECIPE_H_

#include <cstdint>
#include <memory>
#include <string_view>

#include "kernel_templates/recipe.h"
#include "kernel_templates/row/row_recipe.h"

namespace tilewright {

struct ScanOperator {
  std::string_view op;  // struct in scan_ops.cuh
  int64_t value_bytes;  // of its Value
  int64_t most_kept;    // elements a thread keeps without spilling
};

std::unique_ptr<Recipe> MakeScanRecipe(const ScanOperator& op);

// The axes of a scan of operand 0 into operand 1 along params[0].
RowPlan PlanScan(const CallDesc& call);

// Upper bound of the line counts that share a winner.
int64_t ScanLinesBucket(const RowPlan& plan);

// An axis of `length` cut for `wanted` CTAs a line: chunks of whole tiles.
struct ScanChunks {
  int64_t chunk = 0;
  int64_t chunks = 1;
};
ScanChunks CutScan(int64_t length, int64_t tile, int64_t wanted, int64_t most);

// The variants, in order of preference.
std::unique_ptr<Variant> MakeRowScanVariant(const ScanOperator& op);
std::unique_ptr<Variant> MakeColumnScanVariant(const ScanOperator& op);
std::unique_ptr<Variant> MakeStridedScanVariant(const ScanOperator& op);

}  // namespace tilewright

#endif  // TILEWRIGHT_KERNEL_TEMPLATES_SCAN_SCAN_RECIPE_H_
