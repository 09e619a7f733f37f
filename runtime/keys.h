// The two keys: what finds a cubin, and what finds a winner.
#ifndef TILEWRIGHT_RUNTIME_KEYS_H_
#define TILEWRIGHT_RUNTIME_KEYS_H_

#include <string>
#include <string_view>

#include "kernel_templates/recipe.h"
#include "manifest/call_desc.h"
#include "manifest/device_profile.h"

namespace tilewright {

// Identifies a cubin on every machine: holds no path, no compiler build, no device.
struct KernelKey {
  std::string digest;  // 32 hex digits over everything below: KernelRow::key
  std::string closure_digest;
  std::string instantiation;
  std::string arch;
  std::string flags;  // space-separated
};
KernelKey MakeKernelKey(const KernelSpec& spec, std::string_view closure_digest,
                        std::string_view arch);

// Identifies a tuning problem: calls with equal keys share a winner.
struct ProblemKey {
  std::string digest;  // 32 hex digits over everything below: WinnerRow::key
  std::string op;
  std::string dtypes;        // "bfloat16,bfloat16->bfloat16", "-" for an absent input
  std::string problem_json;  // {"m":128,"n":7168,...}: the recipe's fields, in their order
  std::string device;        // DeviceProfile::Key()
};
ProblemKey MakeProblemKey(const CallDesc& call, const Recipe& recipe, const ProblemFields& fields,
                          std::string_view device_key);
ProblemKey MakeProblemKey(const CallDesc& call, const Recipe& recipe, const DeviceProfile& device);

std::string DTypeList(const CallDesc& call);
std::string ProblemJson(const Recipe& recipe, const ProblemFields& fields);
// The fields of a ProblemJson text; InvalidArgument where it does not hold just the recipe's
// fields.
absl::StatusOr<ProblemFields> ParseProblemJson(const Recipe& recipe, std::string_view json);

}  // namespace tilewright

#endif  // TILEWRIGHT_RUNTIME_KEYS_H_
