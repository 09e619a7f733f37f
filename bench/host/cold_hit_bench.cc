// Host time of an exact hit as a caller sees it: a launch runs enough of the driver's code, over
// enough of its data, that little of ours is left in the first-level caches by the next call.
#include <benchmark/benchmark.h>
#include <time.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "runtime/runtime.h"
#include "tests/runtime/fake_compiler.h"
#include "tests/runtime/noop_driver.h"

namespace tilewright {
namespace {

constexpr int kBatch = 256;
constexpr size_t kLineBytes = 64;
constexpr int kLogLines = 10;        // 64 KiB, more than a first-level cache has
constexpr size_t kParamBytes = 512;  // of a launch; what GEMM's come to

// Touches 2^kLog lines, each with a statement of its own.
template <int kLog>
[[gnu::always_inline]] inline void Touch(volatile unsigned char* lines) {
  if constexpr (kLog == 0) {
    *lines = static_cast<unsigned char>(*lines + 1);
  } else {
    Touch<kLog - 1>(lines);
    Touch<kLog - 1>(lines + (kLineBytes << (kLog - 1)));
  }
}

// A launch copies its parameters, pushes everything else out of the first-level caches with some
// 64 KiB of code over 64 KiB of data, and does nothing.
class EvictingDriver final : public NoopDriver {
 public:
  absl::Status Launch(const LaunchShape&, CudaKernel, CudaStream, void** params) override {
    const auto* from = static_cast<const std::byte*>(params[0]);
    for (size_t at = 0; at < kParamBytes; at += kLineBytes) {
      std::memcpy(copied_.data() + at, from + at, kLineBytes);
    }
    Touch<kLogLines>(data_.data());
    Touch<kLogLines>(data_.data());
    Touch<kLogLines>(data_.data());
    Touch<kLogLines>(data_.data());
    return absl::OkStatus();
  }

 private:
  std::array<std::byte, kParamBytes> copied_;
  std::vector<unsigned char> data_ = std::vector<unsigned char>(kLineBytes << kLogLines);
};

struct Case {
  const char* op;
  std::vector<Dims> inputs;
  Dims output;
  std::vector<NamedParam> params;
};

double CpuSeconds() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

double MedianNs(std::vector<double> seconds) {
  const auto half = seconds.begin() + std::ssize(seconds) / 2;
  std::nth_element(seconds.begin(), half, seconds.end());
  return *half * 1e9;
}

// Batches of calls and of bare launches in turns: `extra_ns` is the median of the differences.
void ColdHit(benchmark::State& state, const Case& spec) {
  RuntimeOptions options;
  const auto driver = std::make_shared<EvictingDriver>();
  options.driver = driver;
  options.compiler = std::make_shared<FakeCompiler>();
  options.logger = [](LogLevel, std::string_view) {};
  const std::unique_ptr<Runtime> runtime = Runtime::Open(std::move(options)).value();
  const OpHandle op = runtime->Find(spec.op).value();
  int64_t address = 0x7f0000000000;  // never followed
  const auto tensor = [&address](const Dims& shape) {
    address += int64_t{1} << 24;
    return Tensor::Contiguous(reinterpret_cast<void*>(address), DType::kBFloat16, shape);
  };
  std::vector<Tensor> inputs;
  for (const Dims& shape : spec.inputs) inputs.push_back(tensor(shape));
  const Tensor output = tensor(spec.output);
  CallOptions call;
  call.stream = driver->NewStream(0);
  call.workspace = reinterpret_cast<void*>(address + (int64_t{1} << 24));
  call.workspace_bytes = int64_t{1} << 24;
  const auto ours = [&] { return runtime->Call(op, inputs, {&output, 1}, spec.params, call); };
  if (const absl::Status status = ours(); !status.ok()) {
    state.SkipWithError(std::string(status.message()).c_str());
    return;
  }
  const LaunchShape shape;
  std::array<std::byte, kParamBytes> params{};
  void* arguments[] = {params.data()};
  const auto bare = [&] { return driver->Launch(shape, nullptr, nullptr, arguments); };
  const auto time = [](const auto& call_once) {
    const double start = CpuSeconds();
    for (int i = 0; i < kBatch; ++i) benchmark::DoNotOptimize(call_once());
    return (CpuSeconds() - start) / kBatch;
  };
  std::vector<double> extra;
  for (auto _ : state) {
    const double launch = time(bare);
    const double called = time(ours);
    extra.push_back(called - launch);
    state.SetIterationTime(called);
  }
  if (runtime->Counters().misses != 1) state.SkipWithError("not every call was a hit");
  state.counters["extra_ns"] = MedianNs(std::move(extra));
}

void Register(const char* name, Case spec) {
  benchmark::RegisterBenchmark(name, ColdHit, std::move(spec))->UseManualTime()->Iterations(500);
}

const bool kRegistered = [] {
  Register("ColdHit/silu_and_mul", {"SiluAndMulFwdOp", {{16, 2048}}, {16, 1024}, {}});
  Register("ColdHit/rms_norm",
           {"RMSNormFwdOp", {{16, 1024}, {1024}}, {16, 1024}, {{"normalized_shape", Dims{1024}}}});
  Register("ColdHit/gemm",
           {"GemmFwdOp", {{128, 128}, {128, 128}}, {128, 128}, {{"trans_b", true}}});
  return true;
}();

}  // namespace
}  // namespace tilewright
