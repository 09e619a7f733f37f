// A tuning worker, whole but for the GPU: the fake driver runs ScaleTestOp's kernel on the host,
// and the recorder gives it a time. By design 256 threads by 4 elements are the fastest
// configuration that is right: 64 threads by 4 are faster, and wrong. HostileTestOp's candidates do
// what their kind says.
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <string>
#include <utility>
#include <vector>

#include "runtime/worker/worker.h"
#include "tests/runtime/emulated_kernels.h"
#include "tests/runtime/fake_driver.h"
#include "tests/runtime/hostile_op.h"
#include "tests/runtime/scale_op.h"

namespace tilewright {
namespace {

// The fake compiler names a kernel by its source, which spells the configuration out.
int Constant(const std::string& source, const std::string& name) {
  const size_t at = source.find(name + " = ");
  return at == std::string::npos ? 0 : std::stoi(source.substr(at + name.size() + 3));
}

class EmulatedGpu {
 public:
  void Run(const FakeLaunch& launch, void** params) {
    uint64_t ns = 1000;
    if (launch.kernel.find("support/fill.cuh") != std::string::npos) {
      EmulateFill(*static_cast<FillParams*>(params[0]));
    } else if (launch.kernel.find("support/compare.cuh") != std::string::npos) {
      const bool floats = launch.kernel.find("float") != std::string::npos;
      EmulateCompare(*static_cast<CompareParams*>(params[0]), floats);
    } else if (launch.kernel.find("test/hostile.cuh") != std::string::npos) {
      ns = Hostile(*static_cast<ScaleParams*>(params[0]),
                   static_cast<HostileKind>(Constant(launch.kernel, "kKind")));
    } else {
      ns = Scale(*static_cast<ScaleParams*>(params[0]), Constant(launch.kernel, "kThreads"),
                 Constant(launch.kernel, "kVector"));
    }
    intervals_.push_back({now_ns_, now_ns_ + ns});
    now_ns_ += ns + 1000;
  }
  std::vector<KernelInterval> TakeIntervals() { return std::exchange(intervals_, {}); }

 private:
  static uint64_t Hostile(const ScaleParams& p, HostileKind kind) {
    if (kind == HostileKind::kEndless) {
      for (;;) pause();
    }
    if (kind == HostileKind::kCrashes) raise(SIGKILL);
    auto* const out = static_cast<float*>(p.output);
    const int64_t written = kind == HostileKind::kHalfWritten ? p.count / 2 : p.count;
    for (int64_t i = 0; i < written; ++i) out[i] = static_cast<const float*>(p.x)[i] * p.factor;
    if (kind == HostileKind::kWrong) out[p.count - 1] += 1;
    if (kind == HostileKind::kOutOfBounds) out[p.count] = 0;
    if (kind == HostileKind::kDefault) return 10000;
    return kind == HostileKind::kRight ? 5000 : 1000;
  }
  static uint64_t Scale(const ScaleParams& p, int threads, int vector) {
    const bool wrong = threads == 64 && vector == 4;
    for (int64_t i = 0; i < p.count; ++i) {
      static_cast<float*>(p.output)[i] =
          static_cast<const float*>(p.x)[i] * p.factor + (wrong && i == 7 ? 1.0f : 0.0f);
    }
    if (wrong) return 2000;
    return 3000 +
           100 * static_cast<uint64_t>(1024 / std::max(threads, 1) + 16 / std::max(vector, 1));
  }

  std::vector<KernelInterval> intervals_;
  uint64_t now_ns_ = 0;
};

class EmulatedRecorder : public KernelRecorder {
 public:
  explicit EmulatedRecorder(EmulatedGpu* gpu) : gpu_(gpu) {}
  absl::StatusOr<std::vector<KernelInterval>> Collect() override { return gpu_->TakeIntervals(); }

 private:
  EmulatedGpu* const gpu_;
};

int Main() {
  EmulatedGpu gpu;
  FakeDriver driver;
  driver.OnLaunch([&gpu](const FakeLaunch& launch, void** params) { gpu.Run(launch, params); });
  TimerOptions options;
  options.flush_l2 = false;  // the host has none to flush
  options.recorder = [&gpu]() -> absl::StatusOr<std::unique_ptr<KernelRecorder>> {
    return std::make_unique<EmulatedRecorder>(&gpu);
  };
  return ServeWorker(driver, options);
}

}  // namespace
}  // namespace tilewright

int main() { return tilewright::Main(); }
