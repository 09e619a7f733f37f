// The call that a workload, or a line of a shape file, stands for.
#ifndef TILEWRIGHT_MANIFEST_WORKLOAD_CALL_H_
#define TILEWRIGHT_MANIFEST_WORKLOAD_CALL_H_

#include <span>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "manifest/op_spec.h"

namespace tilewright {

using NamedDType = std::pair<std::string, DType>;

// WorkloadCall() with the dtypes of some inputs given by name, where they do not follow from
// `dtype`, that of the leading tensor. InvalidArgument where a name is no input with a shape.
absl::StatusOr<CallDesc> WorkloadCall(const OpSpec& op, const Workload& workload, DType dtype,
                                      std::span<const NamedDType> given);

}  // namespace tilewright

#endif  // TILEWRIGHT_MANIFEST_WORKLOAD_CALL_H_
