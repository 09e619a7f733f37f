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

const OpSpec& CheckedOp() {
  static const OpSpec* const op = [] {
    auto* made = new OpSpec;
    made->name = "GemmCheckOp";
    made->inputs.resize(2);
    made->outputs.resize(1);
    return made;
  }();
  return *op;
}

// Of [batches, rows, cols], stored transposed or not, with leading dimensions rounded up to `pad`.
Operand MakeOperand(DType dtype, int64_t batches, int64_t rows, int64_t cols, bool transposed,
                    int64_t pad, bool shared) {
  const int64_t outer = transposed ? cols : rows;
  int64_t leading = transposed ? rows : cols;
  if (pad > 0) leading = (leading + pad - 1) / pad * pad + pad;
  Operand operand;
  operand.desc.dtype = dtype;
  operand.desc.shape = Dims{batches, rows, cols};
  operand.desc.strides =
      Dims{shared ? 0 : leading * outer, transposed ? 1 : leading, transposed ? leading : 1};
  operand.alignment = 256;
  operand.present = true;
  return operand;
}

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

CallDesc GemmCase::Call() const {
  CallDesc call;
  call.op = &CheckedOp();
  call.operands.push_back(MakeOperand(dtype, batches, m, k, trans_a, pad, shared_a));
  call.operands.push_back(MakeOperand(dtype, batches, k, n, trans_b, pad, shared_b));
  call.operands.push_back(MakeOperand(out_dtype, batches, m, n, trans_d, pad, false));
  call.params.push_back(ParamValue(static_cast<int64_t>(activation)));
  if (bias) call.operands.push_back({TensorDesc::Contiguous(dtype, Dims{n}), 256, true});
  return call;
}

std::string GemmCase::ToString() const {
  return Cat(DTypeName(dtype), " to ", DTypeName(out_dtype), " ", batches, "x", m, "x", n, "x", k,
             trans_a ? " t" : " n", trans_b ? "t" : "n", trans_d ? "t" : "n", " pad ", pad,
             shared_a ? " shared a" : "", shared_b ? " shared b" : "", bias ? " bias" : "",
             " activation ", static_cast<int>(activation));
}

GemmProblem ReadGemmCase(const CallDesc& call) {
  GemmProblem problem = ReadMatrices(call, false, false);
  problem.epilogue.activation = static_cast<GemmEpilogue::Activation>(call.params[0].as_int());
  if (call.operands.size() > 3) {
    problem.epilogue.bias = GemmEpilogue::Bias::kAlongN;
    problem.epilogue.bias_operand = 3;
  }
  return problem.Canonical();
}

absl::StatusOr<std::unique_ptr<GemmChecker>> GemmChecker::Open() {
  std::unique_ptr<GemmChecker> checker(new GemmChecker);
  TW_RETURN_IF_ERROR(checker->Init());
  return checker;
}

absl::Status GemmChecker::Init() {
  driver_ = SystemDriver();
  TW_RETURN_IF_ERROR(driver_->Init());
  CacheOptions options;
  const char* const kept = std::getenv("TILEWRIGHT_GEMM_CHECK_CACHE");
  options.path = kept != nullptr ? kept
                                 : (std::filesystem::temp_directory_path() /
                                    Cat("tilewright-gemm-check-", getpid(), ".db"))
                                       .string();
  TW_ASSIGN_OR_RETURN(cache_, Cache::Open(std::move(options)));
  TemplateSet templates = TemplateSet::Builtin();
  templates.Add(kGemmCheckPath, kGemmCheckTemplate);
  kernels_ = std::make_unique<KernelStore>(std::move(templates), cache_.get(), NvrtcCompiler());
  devices_ = std::make_unique<DeviceTable>(driver_.get(), "");
  TW_ASSIGN_OR_RETURN(site_.device, devices_->Get(0));
  current_ = std::make_unique<ScopedContext>(*driver_, site_.device->context);
  TW_RETURN_IF_ERROR(current_->status());
  loader_ = std::make_unique<KernelLoader>(driver_.get());
  site_.driver = driver_.get();
  site_.kernels = kernels_.get();
  site_.loader = loader_.get();
  TW_ASSIGN_OR_RETURN(stream_, driver_->CreateStream());
  TW_ASSIGN_OR_RETURN(void* const wrong, driver_->Alloc(kMaxPending * sizeof(unsigned)));
  wrong_ = static_cast<unsigned*>(wrong);
  TW_RETURN_IF_ERROR(driver_->Fill32(wrong_, 0, kMaxPending, stream_));
  owned_.push_back(MakeGemvVariant(ReadGemmCase));
  owned_.push_back(MakeWgmmaVariant(ReadGemmCase));
  owned_.push_back(MakeMmaVariant(ReadGemmCase));
  for (const auto& variant : owned_) variants_.push_back(variant.get());
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

const Variant* GemmChecker::Find(const Config& config) const {
  for (const Variant* variant : variants_) {
    if (variant->name() == config.variant) return variant;
  }
  return nullptr;
}

absl::Status GemmChecker::Build(const std::vector<std::pair<CallDesc, Config>>& points) {
  std::set<std::string> seen;
  std::vector<KernelSpec> specs;
  for (const auto& [call, config] : points) {
    for (KernelSpec& spec : Find(config)->Kernels(call, config)) {
      if (seen.insert(spec.Instantiation()).second) specs.push_back(std::move(spec));
    }
  }
  std::atomic<size_t> next{0};
  std::vector<absl::Status> statuses(specs.size());
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < std::max(1u, std::thread::hardware_concurrency()); ++i) {
    threads.emplace_back([&] {
      for (size_t at = next++; at < specs.size(); at = next++) {
        statuses[at] = kernels_->GetOrBuild(specs[at], CheckedOp().name, device().arch).status();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const absl::Status& status : statuses) TW_RETURN_IF_ERROR(status);
  return absl::OkStatus();
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
                        kernels_->GetOrBuild(spec, CheckedOp().name, device().arch));
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
  TW_ASSIGN_OR_RETURN(const BoundCall bound, Find(config)->Bind(call_, config, device()));
  // Never moved, so that calls made before keep theirs: no wave of partial tiles is larger.
  constexpr int64_t kWorkspaceBytes = int64_t{48} << 20;
  if (bound.workspace_bytes > kWorkspaceBytes) {
    return Internal("needs ", bound.workspace_bytes, " bytes of workspace");
  }
  TW_RETURN_IF_ERROR(Take(5, kWorkspaceBytes));
  return DirectCall::Make(site_, *Find(config), config, call_, pointers, buffers_[5]);
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
