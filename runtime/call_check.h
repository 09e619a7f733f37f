// Checking a call's tensors before anything is resolved.
#ifndef TILEWRIGHT_RUNTIME_CALL_CHECK_H_
#define TILEWRIGHT_RUNTIME_CALL_CHECK_H_

#include <span>

#include "absl/status/statusor.h"
#include "manifest/call_desc.h"
#include "manifest/op_spec.h"
#include "runtime/tensor.h"

namespace tilewright {

// A call against its contract, with its device.
struct CheckedCall {
  CallDesc call;
  int device = 0;
};

// MakeCall() plus what concerns pointers: null with elements (unless `pointers_known` is false),
// elements not aligned to their size, tensors of several devices. InvalidArgument names op,
// argument, expected and got.
absl::StatusOr<CheckedCall> CheckCall(const OpSpec& op, std::span<const Tensor> inputs,
                                      std::span<const Tensor> outputs,
                                      std::span<const NamedParam> params, bool pointers_known);

}  // namespace tilewright

#endif  // TILEWRIGHT_RUNTIME_CALL_CHECK_H_
