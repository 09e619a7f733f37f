// What a call would run, and why.
#ifndef TILEWRIGHT_RUNTIME_EXPLAIN_H_
#define TILEWRIGHT_RUNTIME_EXPLAIN_H_

#include "absl/status/statusor.h"
#include "cache/cache.h"
#include "runtime/op_table.h"
#include "runtime/planner.h"
#include "runtime/runtime.h"

namespace tilewright {

// Compiles and loads nothing; needs no GPU. Errors as of Planner::Choose().
absl::StatusOr<Explanation> ExplainCall(const OpEntry& op, const CallDesc& call,
                                        const DeviceProfile& device, Planner& planner,
                                        Cache& cache);

std::string_view SourceName(Source source);
std::string_view QualityName(Quality quality);

}  // namespace tilewright

#endif  // TILEWRIGHT_RUNTIME_EXPLAIN_H_
