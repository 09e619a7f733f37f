// What an operator's declaration must satisfy in itself, before any call.
#ifndef TILEWRIGHT_MANIFEST_SPEC_CHECK_H_
#define TILEWRIGHT_MANIFEST_SPEC_CHECK_H_

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "manifest/op_spec.h"

namespace tilewright {

struct SpecProblem {
  std::string field;  // "workloads[2]", relative to the entry
  std::string message;
  int line = 0;  // 0: that of the entry
};

// The first thing that is inconsistent, or nothing: names that are missing, given twice or unknown,
// wherever one field refers to another; expressions that use unknown names.
std::optional<SpecProblem> CheckSpec(const OpSpec& op);

// InvalidArgument with a line "file:line: op: ..." for each name that an entry before has, of the
// same file or of another, telling where that one is.
absl::Status CheckDistinctNames(std::span<const OpSpec> ops);

// "a, b", for messages.
std::string TensorNames(const std::vector<TensorSpec>& specs);

}  // namespace tilewright

#endif  // TILEWRIGHT_MANIFEST_SPEC_CHECK_H_
