#include "tests/gpu/gemm_checker.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <thread>

#include "manifest/status.h"

namespace tilewright {
namespace {

constexpr int64_t kGuardBytes = 4096;
constexpr uint32_t kPoison = 0x7FFF7FFF;  // NaN in every 16-bit format and in float
constexpr int kMaxPending = 4096;

int64_t SpanBytes(const Operand& operand) {
  int64_t last = 0;
  for (int axis = 0; axis < operand.desc.rank(); ++axis) {
    if (operand.desc.shape[axis] == 0) return 0;
    last += (operand.desc.shape[axis] - 1) * operand.desc.strides[axis];
  }
  return (last + 1) * DTypeSize(operand.desc.dtype);
}

int64_t RoundUp(int64_t value, int64_t step) { return (value + step - 1) / step * step; }

}  // namespace

absl::StatusOr<std::unique_ptr<GemmChecker>> GemmChecker::Open() {
  std::unique_ptr<GemmChecker> checker(new GemmChecker);
  TW_RETURN_IF_ERROR(checker->Init());
  return checker;
}

absl::Status GemmChecker::Init() {
  driver_ = SystemDriver();
  TW_RETURN_IF_ERROR(driver_->Init());
  devices_ = std::make_unique<DeviceTable>(driver_.get(), "", Logger());
  TW_ASSIGN_OR_RETURN(site_.device, devices_->Get(0));
  current_ = std::make_unique<ScopedContext>(*driver_, site_.device->context);
  TW_RETURN_IF_ERROR(current_->status());
  const char* const kept = std::getenv("TILEWRIGHT_GEMM_CHECK_CACHE");
  const std::filesystem::path own =
      std::filesystem::temp_directory_path() / Cat("tilewright-gemm-check-", getpid(), ".db");
  TW_ASSIGN_OR_RETURN(
      builder_, GemmBuilder::Open(kept != nullptr ? kept : own.string(), site_.device->profile));
  loader_ = std::make_unique<KernelLoader>(driver_.get());
  site_.driver = driver_.get();
  site_.kernels = &builder_->kernels();
  site_.loader = loader_.get();
  TW_ASSIGN_OR_RETURN(stream_, driver_->CreateStream());
  TW_ASSIGN_OR_RETURN(void* const wrong, driver_->Alloc(kMaxPending * sizeof(unsigned)));
  wrong_ = static_cast<unsigned*>(wrong);
  TW_RETURN_IF_ERROR(driver_->Fill32(wrong_, 0, kMaxPending, stream_));
  return absl::OkStatus();
}

GemmChecker::~GemmChecker() {
  SetInputsAside();
  for (std::byte* buffer : aside_) driver_->Free(buffer).IgnoreError();
  for (std::byte* buffer : buffers_) {
    if (buffer != nullptr) driver_->Free(buffer).IgnoreError();
  }
  if (wrong_ != nullptr) driver_->Free(wrong_).IgnoreError();
  own_.clear();
  loader_.reset();
  if (stream_ != nullptr) driver_->DestroyStream(stream_).IgnoreError();
}

absl::Status GemmChecker::Take(int buffer, int64_t bytes) {
  if (bytes <= bytes_[buffer]) return absl::OkStatus();
  if (buffers_[buffer] != nullptr) {
    TW_RETURN_IF_ERROR(driver_->SynchronizeStream(stream_));
    TW_RETURN_IF_ERROR(driver_->Free(buffers_[buffer]));
    buffers_[buffer] = nullptr;
  }
  bytes_[buffer] = RoundUp(bytes * 3 / 2, 1 << 20);
  TW_ASSIGN_OR_RETURN(void* const memory, driver_->Alloc(static_cast<size_t>(bytes_[buffer])));
  buffers_[buffer] = static_cast<std::byte*>(memory);
  return absl::OkStatus();
}

template <class Params>
absl::Status GemmChecker::RunOwn(const std::string& entry, DType element, DType output,
                                 const Params& params, int64_t count) {
  if (count == 0) return absl::OkStatus();
  const KernelSpec spec{kGemmCheckPath,
                        "test::" + entry,
                        {{"using Element", std::string(ElementName(element))},
                         {"using Output", std::string(ElementName(output))}}};
  std::shared_ptr<const LoadedKernel>& loaded = own_[spec.Instantiation()];
  if (loaded == nullptr) {
    TW_ASSIGN_OR_RETURN(const KernelStore::Result built,
                        builder_->kernels().GetOrBuild(spec, builder_->op_name(), device().arch));
    TW_ASSIGN_OR_RETURN(loaded, loader_->Load(built.row, *site_.device));
  }
  LaunchShape shape;
  shape.block[0] = 256;
  shape.grid[0] = static_cast<uint32_t>(std::min<int64_t>((count + 255) / 256, 4096));
  Params copy = params;
  void* arguments[] = {&copy};
  return driver_->Launch(shape, loaded->kernel, stream_, arguments);
}

GemmView GemmChecker::View(int operand, std::byte* data) const {
  const TensorDesc& desc = call_.operands[static_cast<size_t>(operand)].desc;
  return {data + kGuardBytes, desc.shape[0],   desc.shape[1],  desc.shape[2],
          desc.strides[0],    desc.strides[1], desc.strides[2]};
}

absl::Status GemmChecker::Allocate(const GemmCase& gemm) {
  gemm_ = gemm;
  call_ = gemm.Call();
  for (size_t i = 0; i < call_.operands.size(); ++i) {
    const int64_t bytes = RoundUp(SpanBytes(call_.operands[i]), 256) + 2 * kGuardBytes;
    TW_RETURN_IF_ERROR(Take(static_cast<int>(i), bytes));
    TW_RETURN_IF_ERROR(
        driver_->Fill32(buffers_[i], kPoison, static_cast<size_t>(bytes) / 4, stream_));
    if (i == 2) out_bytes_ = bytes;
  }
  return absl::OkStatus();
}

// Batches that share an operand fill it once.
absl::Status GemmChecker::FillInputs(uint32_t seed, int normal) {
  for (int operand : {0, 1, 3}) {
    if (operand == 3 && !gemm_.bias) continue;
    GemmView view = operand == 3 ? GemmView{Data(3), 1, 1, gemm_.n, gemm_.n, gemm_.n, 1}
                                 : View(operand, buffers_[operand]);
    if (view.batch_stride == 0) view.batches = std::min<int64_t>(view.batches, 1);
    TW_RETURN_IF_ERROR(
        RunOwn("FillKernel", gemm_.dtype, gemm_.dtype,
               GemmFillParams{view, seed + 17 * static_cast<uint32_t>(operand), normal},
               view.batches * view.rows * view.cols));
  }
  return absl::OkStatus();
}

void* GemmChecker::Data(int operand) const { return buffers_[operand] + kGuardBytes; }

absl::Status GemmChecker::PrepareNormal(const GemmCase& gemm, uint32_t seed) {
  TW_RETURN_IF_ERROR(Allocate(gemm));
  return FillInputs(seed, 1);
}

void GemmChecker::SetInputsAside() {
  for (int operand : {0, 1, 3}) {
    if (buffers_[operand] != nullptr) aside_.push_back(buffers_[operand]);
    buffers_[operand] = nullptr;
    bytes_[operand] = 0;
  }
}

absl::Status GemmChecker::FreeInputsAside() {
  TW_RETURN_IF_ERROR(driver_->SynchronizeStream(stream_));
  for (std::byte* buffer : aside_) TW_RETURN_IF_ERROR(driver_->Free(buffer));
  aside_.clear();
  return absl::OkStatus();
}

absl::Status GemmChecker::Prepare(const GemmCase& gemm, uint32_t seed) {
  TW_RETURN_IF_ERROR(Allocate(gemm));
  TW_RETURN_IF_ERROR(FillInputs(seed, 0));
  TW_RETURN_IF_ERROR(Take(4, out_bytes_));
  TW_RETURN_IF_ERROR(
      driver_->Fill32(buffers_[4], kPoison, static_cast<size_t>(out_bytes_) / 4, stream_));
  const GemmView d = View(2, buffers_[4]);
  const GemmPlainParams plain{View(0, buffers_[0]), View(1, buffers_[1]), d,
                              gemm.bias ? Data(3) : nullptr, static_cast<int>(gemm.activation)};
  return RunOwn("PlainKernel", gemm.dtype, gemm.out_dtype, plain, d.batches * d.rows * d.cols);
}

absl::StatusOr<std::unique_ptr<DirectCall>> GemmChecker::Direct(const Config& config) {
  std::vector<void*> pointers;
  for (size_t i = 0; i < call_.operands.size(); ++i) {
    pointers.push_back(Data(static_cast<int>(i)));
  }
  TW_ASSIGN_OR_RETURN(const BoundCall bound, builder_->Find(config)->Bind(call_, config, device()));
  // Never moved, so that calls made before keep theirs: no wave of partial tiles is larger.
  constexpr int64_t kWorkspaceBytes = int64_t{48} << 20;
  if (bound.workspace_bytes > kWorkspaceBytes) {
    return Internal("needs ", bound.workspace_bytes, " bytes of workspace");
  }
  TW_RETURN_IF_ERROR(Take(5, kWorkspaceBytes));
  return DirectCall::Make(site_, *builder_->Find(config), config, call_, pointers, buffers_[5]);
}

absl::Status GemmChecker::Check(const Config& config) {
  TW_RETURN_IF_ERROR(
      driver_->Fill32(buffers_[2], kPoison, static_cast<size_t>(out_bytes_) / 4, stream_));
  TW_ASSIGN_OR_RETURN(const auto direct, Direct(config));
  TW_RETURN_IF_ERROR(direct->Launch(stream_));
  return Compare(Cat(gemm_.ToString(), " ", config.ToJson()));
}

absl::Status GemmChecker::Compare(const std::string& what) {
  if (pending_.size() == kMaxPending) return Internal("too many unsettled checks");
  GemmCompareParams compare;
  compare.got = reinterpret_cast<uint32_t*>(buffers_[2]);
  compare.expected = reinterpret_cast<uint32_t*>(buffers_[4]);
  compare.words = out_bytes_ / 4;
  compare.wrong = wrong_ + pending_.size();
  if (gemm_.activation > GemmEpilogue::Activation::kRelu) {
    compare.tolerance = gemm_.out_dtype == DType::kFloat32 ? 1e-5F : 1e-2F;
  }
  pending_.push_back(what);
  ++checks_;
  return RunOwn("CompareKernel", gemm_.dtype, gemm_.out_dtype, compare, compare.words);
}

absl::StatusOr<std::vector<std::string>> GemmChecker::Settle() {
  std::vector<unsigned> counts(pending_.size());
  const size_t bytes = counts.size() * sizeof(unsigned);
  if (bytes > 0) TW_RETURN_IF_ERROR(driver_->CopyToHost(counts.data(), wrong_, bytes, stream_));
  TW_RETURN_IF_ERROR(driver_->Fill32(wrong_, 0, kMaxPending, stream_));
  TW_RETURN_IF_ERROR(driver_->SynchronizeStream(stream_));
  std::vector<std::string> lines;
  for (size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] != 0) lines.push_back(Cat(counts[i], " words differ: ", pending_[i]));
  }
  pending_.clear();
  return lines;
}

absl::Status GemmChecker::LaunchRead(const void* data, int64_t bytes, bool evict_first) {
  const GemmReadParams read{data, bytes / 16, wrong_, evict_first ? 1 : 0};
  const int64_t threads = int64_t{device().sm_count} * 2048;  // all that are resident at once
  return RunOwn("ReadKernel", gemm_.dtype, gemm_.out_dtype, read, threads);
}

absl::StatusOr<CudaGraphExec> GemmChecker::Capture(const Config& config, CudaStream stream) {
  TW_ASSIGN_OR_RETURN(const auto direct, Direct(config));
  TW_RETURN_IF_ERROR(driver_->BeginCapture(stream, CaptureMode::kThreadLocal));
  const absl::Status launched = direct->Launch(stream);
  auto graph = driver_->EndCapture(stream);
  TW_RETURN_IF_ERROR(launched);
  TW_RETURN_IF_ERROR(graph.status());
  auto exec = driver_->Instantiate(*graph);
  driver_->DestroyGraph(*graph).IgnoreError();
  return exec;
}

}  // namespace tilewright
