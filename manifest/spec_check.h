// What an operator's declaration must satisfy in itself, before any call.
#ifndef TILEWRIGHT_MANIFEST_SPEC_CHECK_H_
#define TILEWRIGHT_MANIFEST_SPEC_CHECK_H_

#include <optional>
#include <string>

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

}  // namespace tilewright

#endif  // TILEWRIGHT_MANIFEST_SPEC_CHECK_H_
