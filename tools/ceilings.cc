#include "tools/ceilings.h"

#include <algorithm>

#include "manifest/status.h"

namespace tilewright {
namespace {

constexpr char kTemplate[] = "support/ceilings.cuh";
constexpr uint32_t kThreads = 512;
constexpr int kUnroll = 4;
constexpr int64_t kPacketBytes = 16;
constexpr int kRepeats = 15;
constexpr int64_t kMatrix = 8192;
constexpr int kFmaSteps = 4096;
constexpr int kFmaChains = 8;

struct Traffic {
  int inputs;
  bool stores;
  int passes;  // over the buffer: loads plus stores
};

// Buffers of 1 GiB each, or less where the device is small.
struct Buffers {
  void* a = nullptr;
  void* b = nullptr;
  void* out = nullptr;
  int64_t bytes = 0;
  uint32_t grid = 0;
};

absl::StatusOr<Buffers> MakeBuffers(GpuSession& gpu) {
  TW_ASSIGN_OR_RETURN(const MemoryInfo memory, gpu.driver().Memory());
  Buffers buffers;
  buffers.grid = static_cast<uint32_t>(gpu.profile().sm_count) * 4;
  const int64_t step = int64_t{buffers.grid} * kThreads * kUnroll * kPacketBytes;
  const int64_t wanted =
      std::min<int64_t>(int64_t{1} << 30, static_cast<int64_t>(memory.free_bytes / 8));
  buffers.bytes = wanted / step * step;
  if (buffers.bytes == 0) return ResourceExhausted("calibrate: too little free device memory");
  TW_ASSIGN_OR_RETURN(buffers.a, gpu.AllocRandom(DType::kFloat32, buffers.bytes));
  TW_ASSIGN_OR_RETURN(buffers.b, gpu.AllocRandom(DType::kFloat32, buffers.bytes));
  TW_ASSIGN_OR_RETURN(buffers.out, gpu.Alloc(buffers.bytes));
  return buffers;
}

absl::StatusOr<double> MedianUs(GpuSession& gpu, const TimedWork& work) {
  TW_ASSIGN_OR_RETURN(auto samples, gpu.timer().Time({&work, 1}, kRepeats));
  return Summarize(std::move(samples.front())).median_us;
}

absl::StatusOr<double> TrafficGbps(GpuSession& gpu, const Buffers& buffers,
                                   const Traffic& traffic) {
  const KernelSpec spec{kTemplate,
                        "tilewright::TrafficKernel",
                        {{"int kInputs", Cat(traffic.inputs)},
                         {"bool kStores", traffic.stores ? "true" : "false"},
                         {"int kUnroll", Cat(kUnroll)}}};
  const CeilingParams params{buffers.a, buffers.b, buffers.out, buffers.bytes / kPacketBytes};
  const TimedWork work{nullptr,
                       [&](int) { return gpu.Launch(spec, buffers.grid, kThreads, &params); }};
  TW_ASSIGN_OR_RETURN(const double us, MedianUs(gpu, work));
  return static_cast<double>(buffers.bytes) * traffic.passes / us / 1e3;
}

absl::StatusOr<double> FmaTflops(GpuSession& gpu, const Buffers& buffers) {
  const KernelSpec spec{kTemplate, "tilewright::FmaKernel", {{"int kSteps", Cat(kFmaSteps)}}};
  const CeilingParams params{buffers.a, buffers.b, buffers.out, 0};
  const TimedWork work{nullptr,
                       [&](int) { return gpu.Launch(spec, buffers.grid, kThreads, &params); }};
  TW_ASSIGN_OR_RETURN(const double us, MedianUs(gpu, work));
  return 2.0 * kFmaChains * kFmaSteps * kThreads * buffers.grid / us / 1e6;
}

absl::StatusOr<double> MatmulTflops(GpuSession& gpu, const Buffers& buffers) {
  const int64_t bytes = kMatrix * kMatrix * DTypeSize(DType::kBFloat16);
  if (bytes > buffers.bytes) return ResourceExhausted("calibrate: too little free device memory");
  const Dims shape{kMatrix, kMatrix};
  TW_ASSIGN_OR_RETURN(void* const a, gpu.AllocRandom(DType::kBFloat16, bytes));
  TW_ASSIGN_OR_RETURN(void* const b, gpu.AllocRandom(DType::kBFloat16, bytes));
  const Tensor inputs[] = {Tensor::Contiguous(a, DType::kBFloat16, shape, gpu.device()),
                           Tensor::Contiguous(b, DType::kBFloat16, shape, gpu.device())};
  const Tensor outputs[] = {Tensor::Contiguous(buffers.out, DType::kBFloat16, shape, gpu.device())};
  const NamedParam params[] = {{"trans_b", true}};
  const TimedWork work{nullptr, [&](int) {
                         return gpu.runtime().Call("GemmFwdOp", inputs, outputs, params,
                                                   {.stream = gpu.stream()});
                       }};
  TW_ASSIGN_OR_RETURN(const double us, MedianUs(gpu, work));
  return 2.0 * kMatrix * kMatrix * kMatrix / us / 1e6;
}

}  // namespace

absl::StatusOr<Ceilings> MeasureCeilings(GpuSession& gpu) {
  TW_ASSIGN_OR_RETURN(const Buffers buffers, MakeBuffers(gpu));
  Ceilings ceilings;
  TW_ASSIGN_OR_RETURN(ceilings.read_gbps, TrafficGbps(gpu, buffers, {1, false, 1}));
  TW_ASSIGN_OR_RETURN(ceilings.copy_gbps, TrafficGbps(gpu, buffers, {1, true, 2}));
  TW_ASSIGN_OR_RETURN(ceilings.triad_gbps, TrafficGbps(gpu, buffers, {2, true, 3}));
  TW_ASSIGN_OR_RETURN(ceilings.matmul_tflops, MatmulTflops(gpu, buffers));
  TW_ASSIGN_OR_RETURN(ceilings.fp32_tflops, FmaTflops(gpu, buffers));
  ceilings.method = TimingMethodName(gpu.timer().method());
  return ceilings;
}

}  // namespace tilewright
