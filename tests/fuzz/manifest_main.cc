// libFuzzer target: any text as a manifest. What loads holds what was checked: names are there, and
// every workload is a call, or says why not.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "manifest/op_spec.h"

namespace tilewright {

// The built-in formulas are made by the build; here there are none.
RooflineFormula BuiltinRoofline(std::string_view) { return {}; }

}  // namespace tilewright

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace tilewright;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const absl::StatusOr<Manifest> manifest = Manifest::FromYaml(text, "fuzz.yaml");
  if (!manifest.ok()) {
    if (manifest.status().code() != absl::StatusCode::kInvalidArgument) abort();
    // Every error names the file.
    if (manifest.status().message().substr(0, 9) != "fuzz.yaml") abort();
    return 0;
  }
  for (const OpSpec& op : manifest->ops()) {
    if (op.name.empty() || op.inputs.empty() || op.outputs.empty()) abort();
    for (const Workload& workload : op.workloads) {
      for (const DType dtype : workload.dtypes) {
        const absl::StatusOr<CallDesc> call = WorkloadCall(op, workload, dtype);
        if (!call.ok()) {
          if (call.status().message().empty()) abort();
          continue;
        }
        if (call->operands.size() != op.inputs.size() + op.outputs.size()) abort();
        (void)call->ToString();
        (void)EvaluateRoofline(*call).ok();
      }
    }
  }
  return 0;
}
