// What a call runs, in a form that can be compared without a GPU.
#ifndef TILEWRIGHT_RUNTIME_CONFORM_CALL_IDENTITY_H_
#define TILEWRIGHT_RUNTIME_CONFORM_CALL_IDENTITY_H_

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "kernel_templates/recipe.h"

namespace tilewright {

struct CallIdentity {
  std::vector<KernelSpec> kernels;  // none where the call needs no launch
  std::string instantiations;       // "; "-separated, in order
  std::string closure_digests;      // comma-separated, in order
  std::string launch_digest;
};

// Everything of a bound call that the host decides: geometry, parameter bytes, pointer and
// tensor-map places, workspace.
std::string LaunchDigest(const BoundCall& bound);

// The kernels and launches of `call` under `config`. `closure_digest` maps a template file to its
// digest. Errors of the variant's Legal() and Bind(), and of `closure_digest`.
absl::StatusOr<CallIdentity> IdentifyCall(
    const CallDesc& call, const Variant& variant, const Config& config, const DeviceProfile& device,
    const std::function<absl::StatusOr<std::string>(std::string_view)>& closure_digest);

}  // namespace tilewright

#endif  // TILEWRIGHT_RUNTIME_CONFORM_CALL_IDENTITY_H_
