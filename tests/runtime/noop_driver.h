// A driver whose calls on the hot path do nothing.
#ifndef TILEWRIGHT_TESTS_RUNTIME_NOOP_DRIVER_H_
#define TILEWRIGHT_TESTS_RUNTIME_NOOP_DRIVER_H_

#include "tests/runtime/fake_driver.h"

namespace tilewright {

// The fake driver with the calls of an exact hit replaced by constants: what is left is our own.
class NoopDriver : public FakeDriver {
 public:
  using FakeDriver::FakeDriver;
  absl::StatusOr<int> CurrentDevice() override { return 0; }
  absl::StatusOr<CaptureInfo> StreamCapture(CudaStream) override { return CaptureInfo{}; }
  absl::Status Launch(const LaunchShape&, CudaKernel, CudaStream, void**) override {
    return absl::OkStatus();
  }
};

}  // namespace tilewright

#endif  // TILEWRIGHT_TESTS_RUNTIME_NOOP_DRIVER_H_
