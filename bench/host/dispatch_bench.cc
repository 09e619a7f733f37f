// Host time of a call with the driver replaced by constants: what is measured is our own.
#include <benchmark/benchmark.h>

#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cache/cache.h"
#include "runtime/keys.h"
#include "runtime/runtime.h"
#include "tests/runtime/fake_compiler.h"
#include "tests/runtime/noop_driver.h"
#include "tests/runtime/sum_op.h"

namespace tilewright {
namespace {

// Device pointers are never followed, so any numbers do.
void* Address(int64_t offset) { return reinterpret_cast<void*>(0x7f0000000000 + offset); }

struct Service {
  explicit Service(std::string cache_path = "") {
    RuntimeOptions options;
    options.cache_path = std::move(cache_path);
    options.driver = driver;
    options.compiler = std::make_shared<FakeCompiler>();
    options.logger = [](LogLevel, std::string_view) {};
    runtime = Runtime::Open(std::move(options)).value();
    if (!runtime->Register(ScaleAndSumOps()).ok()) std::abort();
  }
  std::shared_ptr<NoopDriver> driver = std::make_shared<NoopDriver>();
  std::unique_ptr<Runtime> runtime;
};

// Never destroyed: the driver's state of the main thread is gone by the time statics are.
Service& Shared() {
  static Service& service = *new Service;
  return service;
}

CudaStream FakeStream() {
  static const CudaStream stream = Shared().driver->NewStream(0);
  return stream;
}

void Check(const absl::Status& status, benchmark::State& state) {
  if (!status.ok()) state.SkipWithError(std::string(status.message()).c_str());
}

// One input, one output, one parameter.
void ExactHit(benchmark::State& state) {
  Runtime& runtime = *Shared().runtime;
  const OpHandle op = runtime.Find("ScaleTestOp").value();
  const Tensor x = Tensor::Contiguous(Address(0), DType::kFloat32, {2048, 4096});
  const Tensor y = Tensor::Contiguous(Address(int64_t{1} << 30), DType::kFloat32, {2048, 4096});
  const NamedParam factor{"factor", 2.5};
  CallOptions options;
  options.stream = FakeStream();
  Check(runtime.Call(op, {&x, 1}, {&y, 1}, {&factor, 1}, options), state);
  for (auto _ : state) {
    benchmark::DoNotOptimize(runtime.Call(op, {&x, 1}, {&y, 1}, {&factor, 1}, options));
  }
}
BENCHMARK(ExactHit)->UseRealTime();
BENCHMARK(ExactHit)->Threads(16)->UseRealTime();

// As above, by name.
void ExactHitByName(benchmark::State& state) {
  Runtime& runtime = *Shared().runtime;
  const Tensor x = Tensor::Contiguous(Address(0), DType::kFloat32, {2048, 4096});
  const Tensor y = Tensor::Contiguous(Address(int64_t{1} << 30), DType::kFloat32, {2048, 4096});
  const NamedParam factor{"factor", 2.5};
  CallOptions options;
  options.stream = FakeStream();
  for (auto _ : state) {
    benchmark::DoNotOptimize(runtime.Call("ScaleTestOp", {&x, 1}, {&y, 1}, {&factor, 1}, options));
  }
}
BENCHMARK(ExactHitByName);

// Two launches, a tensor map and the caller's workspace.
void ExactHitWithTensorMap(benchmark::State& state) {
  Runtime& runtime = *Shared().runtime;
  const OpHandle op = runtime.Find("SumTestOp").value();
  const Tensor x = Tensor::Contiguous(Address(0), DType::kFloat32, {2048, 4096});
  const Tensor y = Tensor::Contiguous(Address(int64_t{1} << 30), DType::kFloat32, {1});
  CallOptions options;
  options.stream = FakeStream();
  options.workspace = Address(int64_t{1} << 31);
  options.workspace_bytes = 1024;
  Check(runtime.Call(op, {&x, 1}, {&y, 1}, {}, options), state);
  for (auto _ : state) {
    benchmark::DoNotOptimize(runtime.Call(op, {&x, 1}, {&y, 1}, {}, options));
  }
}
BENCHMARK(ExactHitWithTensorMap);

// Batch sizes that were never seen, of a problem that was.
void NewShapeOnKnownKernels(benchmark::State& state) {
  Service service;
  Runtime& runtime = *service.runtime;
  const OpHandle op = runtime.Find("ScaleTestOp").value();
  CallOptions options;
  options.stream = service.driver->NewStream(0);
  int64_t rows = int64_t{1} << 30;
  const auto call = [&] {
    const Tensor x = Tensor::Contiguous(Address(0), DType::kFloat32, {rows, 64});
    const Tensor y = Tensor::Contiguous(Address(int64_t{1} << 45), DType::kFloat32, {rows, 64});
    return runtime.Call(op, {&x, 1}, {&y, 1}, {}, options);
  };
  Check(call(), state);
  for (auto _ : state) {
    --rows;
    benchmark::DoNotOptimize(call());
  }
  if (runtime.Counters().exact_hits != 0) state.SkipWithError("a shape came twice");
  if (runtime.Counters().compiles != 1) state.SkipWithError("something was compiled");
}
BENCHMARK(NewShapeOnKnownKernels)->Iterations(1000000);

// A hit on one shape, after so many row lengths of the same operator were served.
void HitAfterLengths(benchmark::State& state, std::string_view op, size_t inputs) {
  const Service service;
  CallOptions options;
  options.stream = service.driver->NewStream(0);
  const auto call = [&](int64_t length) {
    const Tensor x = Tensor::Contiguous(Address(0), DType::kBFloat16, {64, length});
    const Tensor y = Tensor::Contiguous(Address(int64_t{1} << 30), DType::kBFloat16, {64, length});
    const Tensor both[] = {x, x};
    return service.runtime->Call(op, {both, inputs}, {&y, 1}, {}, options);
  };
  for (int64_t length = 1; length <= state.range(0); ++length) Check(call(length), state);
  for (auto _ : state) benchmark::DoNotOptimize(call(1));
}
BENCHMARK_CAPTURE(HitAfterLengths, softmax, "SoftmaxFwdOp", 1)->Arg(1)->Arg(500)->Arg(5000);
BENCHMARK_CAPTURE(HitAfterLengths, add, "AddFwdOp", 2)->Arg(1)->Arg(500)->Arg(5000);

void ProblemKeyBuilding(benchmark::State& state) {
  Runtime& runtime = *Shared().runtime;
  const OpSpec& spec = *runtime.Spec("ScaleTestOp");
  Operand x;
  x.desc = TensorDesc::Contiguous(DType::kFloat32, {2048, 4096});
  const CallDesc call = InferCall(spec, {&x, 1}, {}).value();
  const Recipe& recipe = *runtime.FindRecipe("ScaleTestOp");
  const DeviceProfile device = runtime.Device(0).value();
  for (auto _ : state) benchmark::DoNotOptimize(MakeProblemKey(call, recipe, device));
}
BENCHMARK(ProblemKeyBuilding);

void KernelKeyBuilding(benchmark::State& state) {
  Runtime& runtime = *Shared().runtime;
  const KernelSpec spec{
      "test/scale.cuh",
      "test::ScaleKernel",
      {{"int kThreads", "128"}, {"int kVector", "4"}, {"using Element", "float"}}};
  const std::string closure(32, 'a');
  for (auto _ : state) benchmark::DoNotOptimize(MakeKernelKey(spec, closure, "sm_90a"));
  benchmark::DoNotOptimize(&runtime);
}
BENCHMARK(KernelKeyBuilding);

// Opening a cache file that holds one kernel.
void CacheOpen(benchmark::State& state) {
  const std::string path =
      (std::filesystem::temp_directory_path() / "tilewright_bench_cache.db").string();
  std::filesystem::remove(path);
  const auto launch = [&](Service& service) {
    const Tensor x = Tensor::Contiguous(Address(0), DType::kFloat32, {64, 64});
    const Tensor y = Tensor::Contiguous(Address(1 << 20), DType::kFloat32, {64, 64});
    CallOptions options;
    options.stream = service.driver->NewStream(0);
    return service.runtime->Call("ScaleTestOp", {&x, 1}, {&y, 1}, {}, options);
  };
  {
    Service service(path);
    Check(launch(service), state);
  }
  for (auto _ : state) {
    CacheOptions options;
    options.path = path;
    benchmark::DoNotOptimize(Cache::Open(std::move(options)));
  }
}
BENCHMARK(CacheOpen)->Unit(benchmark::kMicrosecond);

// A new runtime on a warm cache, up to its first launch; the driver's own time is not in it.
void FirstLaunchWithWarmCache(benchmark::State& state) {
  const std::string path =
      (std::filesystem::temp_directory_path() / "tilewright_bench_warm.db").string();
  std::filesystem::remove(path);
  const auto launch = [&] {
    Service service(path);
    const Tensor x = Tensor::Contiguous(Address(0), DType::kFloat32, {64, 64});
    const Tensor y = Tensor::Contiguous(Address(1 << 20), DType::kFloat32, {64, 64});
    CallOptions options;
    options.stream = service.driver->NewStream(0);
    absl::Status status = service.runtime->Call("ScaleTestOp", {&x, 1}, {&y, 1}, {}, options);
    if (service.runtime->Counters().compiles != 0) return absl::InternalError("compiled");
    return status;
  };
  launch().IgnoreError();
  for (auto _ : state) Check(launch(), state);
}
BENCHMARK(FirstLaunchWithWarmCache)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace tilewright

BENCHMARK_MAIN();
