// Operators of an embedder's own.
#ifndef TILEWRIGHT_RUNTIME_CUSTOM_OPS_H_
#define TILEWRIGHT_RUNTIME_CUSTOM_OPS_H_

#include <memory>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "kernel_templates/embedded.h"
#include "runtime/op_table.h"
#include "runtime/runtime.h"

namespace tilewright {

// The entries of a custom op's manifest with their recipes and references. InvalidArgument, naming
// line, op and field, where an entry or one of its workloads breaks the manifest's rules, or where
// an op that claims to be implemented comes without a recipe.
absl::StatusOr<std::vector<std::unique_ptr<OpEntry>>> CustomOpEntries(const CustomOp& custom);

// InvalidArgument, naming line, op and variant, where a kernel that one of the entries' workloads
// needs, on any architecture, is of a template that is not among `templates`, or includes one that
// is not.
absl::Status CheckTemplates(std::span<const std::unique_ptr<OpEntry>> entries,
                            const TemplateSet& templates);

}  // namespace tilewright

#endif  // TILEWRIGHT_RUNTIME_CUSTOM_OPS_H_
