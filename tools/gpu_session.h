// One GPU, held by a command that measures: runtime, context, stream, memory and timer.
#ifndef TILEWRIGHT_TOOLS_GPU_SESSION_H_
#define TILEWRIGHT_TOOLS_GPU_SESSION_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "manifest/device_profile.h"
#include "runtime/driver/driver.h"
#include "runtime/measure/kernel_timer.h"
#include "runtime/runtime.h"

namespace tilewright {

struct TimeSummary {
  double median_us = 0;
  double p10_us = 0;
  double p90_us = 0;
};
// The quantiles of a non-empty list.
TimeSummary Summarize(std::vector<double> samples_us);

// The primary context of the device is current on the thread that opened the session, as long as it
// lives. Memory is freed by FreeAll() and at the end. Not thread-safe.
class GpuSession {
 public:
  // FailedPrecondition without a driver or GPU.
  static absl::StatusOr<std::unique_ptr<GpuSession>> Open(const RuntimeOptions& options, int device,
                                                          bool clean_l2 = false);
  ~GpuSession();

  Driver& driver() { return *driver_; }
  Runtime& runtime() { return *runtime_; }
  const DeviceProfile& profile() const { return profile_; }
  int device() const { return device_; }
  CudaStream stream() const { return stream_; }
  KernelTimer& timer() { return *timer_; }

  absl::StatusOr<void*> Alloc(int64_t bytes);
  // Alloc, filled with random data of `dtype`; never zeros.
  absl::StatusOr<void*> AllocRandom(DType dtype, int64_t bytes);
  absl::StatusOr<void*> AllocCopy(std::span<const std::byte> bytes);
  void FreeAll();

  // Enqueues one kernel of the library's templates; loaded at its first use.
  absl::Status Launch(const KernelSpec& spec, uint32_t grid, uint32_t block, const void* params);

 private:
  struct Loaded {
    std::string instantiation;
    CudaLibrary library = nullptr;
    CudaKernel kernel = nullptr;
  };
  explicit GpuSession(int device) : device_(device) {}
  absl::Status Init(const RuntimeOptions& options, bool clean_l2);
  absl::StatusOr<CudaKernel> Load(const KernelSpec& spec);

  const int device_;
  std::shared_ptr<Driver> driver_;
  std::unique_ptr<Runtime> runtime_;
  DeviceProfile profile_;
  bool has_context_ = false;
  std::optional<ScopedContext> current_;
  CudaStream stream_ = nullptr;
  std::unique_ptr<KernelTimer> timer_;
  std::vector<void*> memory_;
  std::vector<Loaded> loaded_;
};

}  // namespace tilewright

#endif  // TILEWRIGHT_TOOLS_GPU_SESSION_H_
