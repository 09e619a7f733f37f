// Launching a ready call on the caller's stream.
#ifndef TILEWRIGHT_RUNTIME_LAUNCHER_H_
#define TILEWRIGHT_RUNTIME_LAUNCHER_H_

#include <span>

#include "absl/status/status.h"
#include "runtime/device_table.h"
#include "runtime/driver/driver.h"
#include "runtime/exact_call.h"
#include "runtime/launch_rules.h"
#include "runtime/runtime.h"

namespace tilewright {

// Those of one launch. Uninitialised.
struct alignas(128) ParamBytes {
  std::byte bytes[kMaxParamBytes];
};

// One pointer per operand, in CallDesc order.
using OperandPointers = std::span<const void* const>;

// Purpose: everything between a ready call and the driver: pointer checks, the stream's device, its
// capture, workspace, parameter bytes. Thread-safe.
class Launcher {
 public:
  Launcher(Driver* driver, DeviceTable* devices, bool check_pointers)
      : driver_(driver), devices_(devices), check_pointers_(check_pointers) {}

  // Allocates nothing on the host and synchronises nothing. With no current context on this thread,
  // or one that has gone, the device's primary context is pushed for the call. Under capture the
  // call's kernels are pinned to the graph. With `first_use` the driver is asked whether a pointer
  // belongs to another device, as it is on every call by RuntimeOptions::check_pointers.
  absl::Status Run(const ExactCall& call, OperandPointers pointers, const CallOptions& options,
                   bool first_use = false);

  // The capture state of a stream, with the primary context of `device` current if need be.
  // FailedPrecondition where the capture is invalid, or forbids any use of the stream.
  absl::StatusOr<CaptureInfo> Capture(CudaStream stream, const VisibleDevice& device);

 private:
  // The steps of a hit are compiled into one function: calls between them would be a tenth of it.
  [[gnu::always_inline]] inline absl::Status RunInContext(const ExactCall& call,
                                                          OperandPointers pointers,
                                                          const CallOptions& options,
                                                          bool first_use);
  absl::Status CheckStream(const ExactCall& call, CudaStream stream);
  absl::Status CheckPointers(const ExactCall& call, OperandPointers pointers);
  // Checks the stream; where it is being captured, pins the kernels.
  [[gnu::always_inline]] inline absl::Status Admit(const ExactCall& call, CudaStream stream);
  absl::Status Pin(const ExactCall& call, CudaGraph graph);
  absl::Status RunInOwnWorkspace(const ExactCall& call, OperandPointers pointers,
                                 CudaStream stream);
  // The parameters of `launch` with the addresses of this call.
  [[gnu::always_inline]] inline absl::Status Fill(const ReadyLaunch& launch,
                                                  OperandPointers pointers, void* workspace,
                                                  ParamBytes& params);
  // `params` are those of the first launch; they are overwritten.
  [[gnu::always_inline]] inline absl::Status LaunchAll(const ExactCall& call,
                                                       OperandPointers pointers, void* workspace,
                                                       ParamBytes& params, CudaStream stream);

  Driver* const driver_;
  DeviceTable* const devices_;
  const bool check_pointers_;
};

}  // namespace tilewright

#endif  // TILEWRIGHT_RUNTIME_LAUNCHER_H_
