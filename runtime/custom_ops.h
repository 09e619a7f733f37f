// Operators of an embedder's own.
#ifndef TILEWRIGHT_RUNTIME_CUSTOM_OPS_H_
#define TILEWRIGHT_RUNTIME_CUSTOM_OPS_H_

#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/op_table.h"
#include "runtime/runtime.h"

namespace tilewright {

// The entries of a custom op's manifest with their recipes and references. InvalidArgument, naming
// line, op and field, where an entry or one of its workloads breaks the manifest's rules, or where
// an op that claims to be implemented comes without a recipe.
absl::StatusOr<std::vector<std::unique_ptr<OpEntry>>> CustomOpEntries(const CustomOp& custom);

}  // namespace tilewright

#endif  // TILEWRIGHT_RUNTIME_CUSTOM_OPS_H_
