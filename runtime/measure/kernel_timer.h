// Times kernels on the device, each sample with a cold L2.
#ifndef TILEWRIGHT_RUNTIME_MEASURE_KERNEL_TIMER_H_
#define TILEWRIGHT_RUNTIME_MEASURE_KERNEL_TIMER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/driver/driver.h"
#include "runtime/measure/cupti.h"
#include "runtime/measure/l2_flush.h"

namespace tilewright {

enum class TimingMethod : uint8_t {
  kCupti,   // CUPTI activity records: first kernel's start to last kernel's end
  kGraph,   // difference of graph replays with and without the work
  kEvents,  // CUDA events around the launch: includes launch latency
};
std::string_view TimingMethodName(TimingMethod method);  // "cupti", "graph", "events"

// Something to time. Both functions only enqueue on the stream that the timer was made with.
struct TimedWork {
  // Optional; outside the timed region, before the L2 is flushed: restores mutated inputs.
  std::function<absl::Status(int sample)> prepare;
  // Enqueues the kernels; `sample` counts up, to rotate inputs.
  std::function<absl::Status(int sample)> launch;
};

struct TimerOptions {
  int64_t l2_bytes = 0;  // 0: asks the driver
  bool flush_l2 = true;
  bool clean_l2 = false;                // flushed by reads: leaves the work nothing to write back
  int warmup = 3;                       // untimed launches of each work, per Time()
  std::vector<std::string> cupti_dirs;  // looked in first
  // Null: CUPTI where it works. For tests.
  std::function<absl::StatusOr<std::unique_ptr<KernelRecorder>>()> recorder;
};

// Needs a current context for as long as it lives; not thread-safe. `driver` outlives it.
class KernelTimer {
 public:
  static absl::StatusOr<std::unique_ptr<KernelTimer>> Create(Driver& driver, int device,
                                                             CudaStream stream,
                                                             TimerOptions options = {});
  ~KernelTimer();

  // `repeats` samples in microseconds of each work, taken round-robin so that drift hits all
  // alike. `starting(i)` is called before work i's sample. The error of a work that cannot run.
  absl::StatusOr<std::vector<std::vector<double>>> Time(
      std::span<const TimedWork> works, int repeats,
      const std::function<void(size_t)>& starting = nullptr);

  TimingMethod method() const { return method_; }
  // Why not CUPTI; empty where it is CUPTI.
  const std::string& fallback_reason() const { return fallback_reason_; }

 private:
  KernelTimer(Driver& driver, CudaStream stream, TimerOptions options)
      : driver_(driver), stream_(stream), options_(std::move(options)) {}

  absl::Status Prepare(const TimedWork& work, int sample);
  absl::Status Flush();
  absl::StatusOr<double> Sample(const TimedWork& work, int sample);
  absl::StatusOr<double> SampleCupti(const TimedWork& work, int sample);
  absl::StatusOr<double> SampleGraph(const TimedWork& work, int sample);
  absl::StatusOr<double> SampleEvents(const TimedWork& work, int sample);
  absl::StatusOr<CudaGraphExec> Record(const TimedWork* work, int sample);
  absl::StatusOr<double> ReplayUs(CudaGraphExec exec);
  void FallBack(std::string reason);

  Driver& driver_;
  const CudaStream stream_;
  const TimerOptions options_;
  TimingMethod method_ = TimingMethod::kCupti;
  std::string fallback_reason_;
  std::unique_ptr<KernelRecorder> recorder_;
  std::unique_ptr<L2Flush> flush_;
  CudaEvent start_ = nullptr;
  CudaEvent end_ = nullptr;
};

}  // namespace tilewright

#endif  // TILEWRIGHT_RUNTIME_MEASURE_KERNEL_TIMER_H_
