// Host time of a call on a GPU, beside a bare cuLaunchKernelEx of the same kernels in the same run.
//
// A sample is a batch of asynchronous calls, short enough that the stream's queue never fills; the
// GPU is idle before each and waited for after it, outside the time. Batches of bare launches and
// of calls take turns, so that drift hits both alike: `extra_ns` is the median of the differences
// between neighbours, `bare_ns` and `call_ns` are medians. Nothing is captured.
#include <benchmark/benchmark.h>
#include <cuda.h>
#include <dlfcn.h>

#include <algorithm>
#include <barrier>
#include <chrono>
#include <functional>
#include <iostream>
#include <iterator>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "manifest/op_spec.h"
#include "manifest/status.h"
#include "runtime/runtime.h"
#include "tests/gpu/direct_call.h"

namespace tilewright {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kBatch = 256;
constexpr int kWarmUps = 64;
constexpr int kThreads = 16;
constexpr int64_t kSetBytes = 1 << 18;  // holds every operand of a case

struct Case {
  std::string name;
  std::string op;
  std::vector<Dims> inputs;
  std::vector<NamedParam> params;
};

std::vector<Case> Cases() {
  return {{"silu_and_mul", "SiluAndMulFwdOp", {{16, 2048}}, {}},
          {"rms_norm", "RMSNormFwdOp", {{16, 1024}, {1024}}, {{"normalized_shape", Dims{1024}}}},
          {"gemm", "GemmFwdOp", {{128, 128}, {128, 128}}, {{"trans_b", true}}}};
}

// The machine's first GPU, and the service on it. Its context is current on the main thread.
class Gpu {
 public:
  Gpu() : driver_(SystemDriver()), status_(Start()) {}

  const absl::Status& status() const { return status_; }
  Driver& driver() { return *driver_; }
  Runtime& runtime() { return *runtime_; }
  CudaContext context() const { return device_->context; }
  DirectSite site() { return {driver_.get(), &runtime_->kernels(), loader_.get(), device_}; }

 private:
  absl::Status Start() {
    TW_RETURN_IF_ERROR(driver_->Init());
    devices_ = std::make_unique<DeviceTable>(driver_.get(), "", Logger());
    TW_ASSIGN_OR_RETURN(device_, devices_->Get(0));
    current_ = std::make_unique<ScopedContext>(*driver_, device_->context);
    TW_RETURN_IF_ERROR(current_->status());
    loader_ = std::make_unique<KernelLoader>(driver_.get());
    RuntimeOptions options = RuntimeOptions::FromEnvironment();
    options.driver = driver_;
    options.logger = [](LogLevel, std::string_view) {};
    TW_ASSIGN_OR_RETURN(runtime_, Runtime::Open(std::move(options)));
    return absl::OkStatus();
  }

  std::shared_ptr<Driver> driver_;
  std::unique_ptr<DeviceTable> devices_;
  const VisibleDevice* device_ = nullptr;
  std::unique_ptr<ScopedContext> current_;
  std::unique_ptr<Runtime> runtime_;
  std::unique_ptr<KernelLoader> loader_;
  absl::Status status_;
};

Gpu& TheGpu() {
  static Gpu gpu;
  return gpu;
}

// A case on `sets` places in memory, which calls take in turn.
class Work {
 public:
  static absl::StatusOr<std::unique_ptr<Work>> Make(Gpu& gpu, const Case& spec, int sets) {
    std::unique_ptr<Work> work(new Work(gpu, spec));
    TW_RETURN_IF_ERROR(work->Init(spec, sets));
    return work;
  }
  ~Work() {
    gpu_.driver().SynchronizeContext().IgnoreError();
    if (memory_ != nullptr) gpu_.driver().Free(memory_).IgnoreError();
    if (workspace_ != nullptr) gpu_.driver().Free(workspace_).IgnoreError();
  }

  absl::Status Ours(int i, CudaStream stream) const {
    CallOptions options;
    options.stream = stream;
    options.workspace = workspace_;
    options.workspace_bytes = workspace_bytes_;
    const Set& set = sets_[static_cast<size_t>(i) % sets_.size()];
    return gpu_.runtime().Call(op_, set.inputs, {&set.output, 1}, params_, options);
  }

  // What an embedder would write by hand for these launches, with everything made before.
  absl::Status Bare(CudaStream stream) const {
    for (const DirectCall::Filled& filled : direct_->launches()) {
      const LaunchShape& shape = filled.ready.shape;
      CUlaunchAttribute attributes[2];
      unsigned count = 0;
      if (shape.cluster[0] * shape.cluster[1] * shape.cluster[2] > 1) {
        attributes[count].id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
        attributes[count++].value.clusterDim = {shape.cluster[0], shape.cluster[1],
                                                shape.cluster[2]};
      }
      if (shape.programmatic_dependent_launch) {
        attributes[count].id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
        attributes[count++].value.programmaticStreamSerializationAllowed = 1;
      }
      const CUlaunchConfig config = {shape.grid[0],
                                     shape.grid[1],
                                     shape.grid[2],
                                     shape.block[0],
                                     shape.block[1],
                                     shape.block[2],
                                     shape.dynamic_smem_bytes,
                                     stream,
                                     attributes,
                                     count};
      void* arguments[] = {filled.params->bytes};
      const CUresult result =
          launch_(&config, reinterpret_cast<CUfunction>(filled.ready.kernel), arguments, nullptr);
      if (result != CUDA_SUCCESS) return Internal("cuLaunchKernelEx: ", static_cast<int>(result));
    }
    return absl::OkStatus();
  }

  const std::string& label() const { return label_; }

 private:
  struct Set {
    std::vector<Tensor> inputs;
    Tensor output;
  };
  Work(Gpu& gpu, const Case& spec) : gpu_(gpu), params_(spec.params) {}

  absl::Status Init(const Case& spec, int sets) {
    void* const library = dlopen("libcuda.so.1", RTLD_NOW);
    if (library == nullptr) return FailedPrecondition("libcuda.so.1 is gone");
    launch_ = reinterpret_cast<decltype(launch_)>(dlsym(library, "cuLaunchKernelEx"));
    if (launch_ == nullptr) return FailedPrecondition("the driver has no cuLaunchKernelEx");
    TW_ASSIGN_OR_RETURN(op_, gpu_.runtime().Find(spec.op));
    std::vector<Operand> operands;
    for (const Dims& shape : spec.inputs) {
      operands.push_back({TensorDesc::Contiguous(DType::kBFloat16, shape), 256, true});
    }
    TW_ASSIGN_OR_RETURN(const CallDesc call,
                        InferCall(*gpu_.runtime().Spec(spec.op), operands, spec.params));
    TW_ASSIGN_OR_RETURN(memory_,
                        gpu_.driver().Alloc(static_cast<size_t>(sets) * size_t{kSetBytes}));
    TW_RETURN_IF_ERROR(
        gpu_.driver().Fill8(memory_, 0x3c, static_cast<size_t>(sets * kSetBytes), nullptr));
    for (int i = 0; i < sets; ++i) sets_.push_back(MakeSet(call, i));
    TW_ASSIGN_OR_RETURN(
        workspace_bytes_,
        gpu_.runtime().WorkspaceBytes(spec.op, sets_[0].inputs, {&sets_[0].output, 1}, params_));
    if (workspace_bytes_ > 0) {
      TW_ASSIGN_OR_RETURN(workspace_, gpu_.driver().Alloc(static_cast<size_t>(workspace_bytes_)));
    }
    return MakeDirect(spec, call);
  }

  // The same configuration as the service's.
  absl::Status MakeDirect(const Case& spec, const CallDesc& call) {
    const DirectSite site = gpu_.site();
    TW_ASSIGN_OR_RETURN(const Explanation explained,
                        gpu_.runtime().Explain(call, site.device->profile));
    const Variant* variant =
        FindVariant(*gpu_.runtime().FindRecipe(spec.op), explained.config.variant);
    std::vector<void*> pointers;
    for (const Tensor& tensor : sets_[0].inputs) pointers.push_back(tensor.data);
    pointers.push_back(sets_[0].output.data);
    TW_ASSIGN_OR_RETURN(
        direct_, DirectCall::Make(site, *variant, explained.config, call, pointers, workspace_));
    label_ = Cat(explained.config.variant, ", ", direct_->launches().size(), " launches");
    return absl::OkStatus();
  }

  Set MakeSet(const CallDesc& call, int index) const {
    auto* place = static_cast<std::byte*>(memory_) + index * kSetBytes;
    const auto take = [&place](const TensorDesc& desc) {
      const Tensor tensor{place, 0, desc};
      place += (desc.elements() * DTypeSize(desc.dtype) + 255) / 256 * 256;
      return tensor;
    };
    Set set;
    for (int i = 0; i < call.op->input_count(); ++i) set.inputs.push_back(take(call.input(i).desc));
    set.output = take(call.output(0).desc);
    return set;
  }

  Gpu& gpu_;
  CUresult (*launch_)(const CUlaunchConfig*, CUfunction, void**, void**) = nullptr;
  OpHandle op_;
  const std::vector<NamedParam> params_;
  void* memory_ = nullptr;
  void* workspace_ = nullptr;
  int64_t workspace_bytes_ = 0;
  std::vector<Set> sets_;
  std::unique_ptr<DirectCall> direct_;
  std::string label_;
};

using Launcher = std::function<absl::Status(int i, CudaStream stream)>;

// Seconds of host time a call, over one batch on an idle stream.
absl::StatusOr<double> TimeBatch(Driver& driver, const Launcher& launch, CudaStream stream) {
  absl::Status status;
  const auto start = Clock::now();
  for (int i = 0; i < kBatch; ++i) status.Update(launch(i, stream));
  const std::chrono::duration<double> taken = Clock::now() - start;
  TW_RETURN_IF_ERROR(status);
  TW_RETURN_IF_ERROR(driver.SynchronizeStream(stream));
  return taken.count() / kBatch;
}

// As TimeBatch, on `kThreads` threads at once, each with a stream of its own: the mean over them.
absl::StatusOr<double> TimeThreads(Gpu& gpu, const Launcher& launch) {
  std::barrier ready(kThreads);
  std::vector<absl::StatusOr<double>> taken(kThreads, 0.0);
  const auto body = [&](absl::StatusOr<double>& mine) {
    const ScopedContext current(gpu.driver(), gpu.context());
    absl::StatusOr<CudaStream> stream = gpu.driver().CreateStream();
    absl::Status status = stream.status();
    for (int i = 0; i < kWarmUps && status.ok(); ++i) status = launch(i, *stream);
    if (status.ok()) status = gpu.driver().SynchronizeStream(*stream);
    ready.arrive_and_wait();
    mine = status.ok() ? TimeBatch(gpu.driver(), launch, *stream) : status;
    if (stream.ok()) gpu.driver().DestroyStream(*stream).IgnoreError();
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) threads.emplace_back([&, i] { body(taken[size_t(i)]); });
  for (std::thread& thread : threads) thread.join();
  double sum = 0;
  for (const absl::StatusOr<double>& one : taken) {
    TW_RETURN_IF_ERROR(one.status());
    sum += *one;
  }
  return sum / kThreads;
}

double MedianNs(std::vector<double> seconds) {
  const auto half = seconds.begin() + std::ssize(seconds) / 2;
  std::nth_element(seconds.begin(), half, seconds.end());
  return *half * 1e9;
}

absl::Status Measure(benchmark::State& state, const Case& spec, int sets, bool threads) {
  Gpu& gpu = TheGpu();
  TW_RETURN_IF_ERROR(gpu.status());
  TW_ASSIGN_OR_RETURN(const std::unique_ptr<Work> work, Work::Make(gpu, spec, sets));
  TW_ASSIGN_OR_RETURN(const CudaStream stream, gpu.driver().CreateStream());
  const Launcher sides[] = {[&](int, CudaStream on) { return work->Bare(on); },
                            [&](int i, CudaStream on) { return work->Ours(i, on); }};
  for (const Launcher& launch : sides) {
    for (int i = 0; i < kWarmUps; ++i) TW_RETURN_IF_ERROR(launch(i, stream));
  }
  TW_RETURN_IF_ERROR(gpu.driver().SynchronizeStream(stream));
  std::vector<double> times[2], extra;
  for (auto _ : state) {
    double taken[2];
    for (size_t turn = 0; turn < 2; ++turn) {
      const size_t side = (turn + extra.size()) % 2;
      TW_ASSIGN_OR_RETURN(taken[side], threads ? TimeThreads(gpu, sides[side])
                                               : TimeBatch(gpu.driver(), sides[side], stream));
      times[side].push_back(taken[side]);
    }
    extra.push_back(taken[1] - taken[0]);
    state.SetIterationTime(taken[1]);
  }
  state.counters["bare_ns"] = MedianNs(times[0]);
  state.counters["call_ns"] = MedianNs(times[1]);
  state.counters["extra_ns"] = MedianNs(extra);
  state.SetLabel(work->label());
  return gpu.driver().DestroyStream(stream);
}

void Register(const Case& spec, int sets, bool threads) {
  const std::string name = Cat(spec.name, "/pointers:", sets, "/threads:", threads ? kThreads : 1);
  benchmark::RegisterBenchmark(name.c_str(),
                               [=](benchmark::State& state) {
                                 const absl::Status status = Measure(state, spec, sets, threads);
                                 if (!status.ok()) {
                                   state.SkipWithError(std::string(status.message()).c_str());
                                 }
                               })
      ->UseManualTime()
      ->Iterations(threads ? 10 : 200)
      ->Repetitions(7)
      ->ReportAggregatesOnly();
}

}  // namespace
}  // namespace tilewright

int main(int argc, char** argv) {
  using namespace tilewright;
  for (const Case& spec : Cases()) {
    for (const bool threads : {false, true}) {
      for (const int sets : {1, 8, 1024}) Register(spec, sets, threads);
    }
  }
  benchmark::Initialize(&argc, argv);
  if (!TheGpu().status().ok()) {
    std::cout << "SKIPPED: " << TheGpu().status().message() << "\n";
    return 0;
  }
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
