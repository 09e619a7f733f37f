// Inputs whose values must fit together: offsets, lengths, tables, scales.
#ifndef TILEWRIGHT_MANIFEST_INPUT_VALUES_H_
#define TILEWRIGHT_MANIFEST_INPUT_VALUES_H_

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>

#include "absl/status/status.h"
#include "manifest/call_desc.h"

namespace tilewright {

// What the data is for.
enum class InputUse : uint8_t {
  kTime,   // a usual call: full lengths, shuffled tables
  kCheck,  // a hard one: uneven and empty lengths, NaN where nothing may be read
};

struct InputRequest {
  const CallDesc* call = nullptr;
  InputUse use = InputUse::kCheck;
  uint64_t seed = 0;
  // Element (0, ..., 0) of each input, in the manifest's order and the operand's dtype and strides;
  // null where the caller wants none of it.
  std::span<void* const> data;
};

// Called after every input has been filled with random data: overwrites what would make no valid
// call and leaves the rest. The same request gives the same values whichever inputs are wanted.
// Pure and thread-safe.
using InputFunction = std::function<absl::Status(const InputRequest&)>;

// The function of a built-in op; empty if random data will do. Each is defined beside the op's
// reference in manifest/references/ as
//   TILEWRIGHT_INPUTS(GroupedGemmFwdOp)(const InputRequest& request) { ... }
// and found by the build-time generator through that marker.
InputFunction BuiltinInputs(std::string_view op);

#define TILEWRIGHT_INPUTS(op) absl::Status Inputs_##op

}  // namespace tilewright

#endif  // TILEWRIGHT_MANIFEST_INPUT_VALUES_H_
