#include "tests/gpu/gemm_builder.h"

#include <algorithm>
#include <atomic>
#include <iterator>
#include <mutex>
#include <set>
#include <thread>

#include "manifest/status.h"
#include "tests/gpu/gemm_kernels.h"

namespace tilewright {
namespace {

constexpr int64_t kExtents[] = {1, 7, 8, 15, 16, 17, 24, 40, 63, 65, 127, 129, 513, 1000};

// Between them they cover each tail.
constexpr int64_t kShapes[][3] = {
    {1, 136, 72},    {2, 520, 1000},  {5, 72, 264},    {8, 1000, 64},    {9, 264, 513},
    {16, 513, 136},  {17, 136, 328},  {24, 400, 65},   {31, 129, 200},   {33, 200, 1000},
    {48, 328, 72},   {63, 65, 127},   {65, 513, 40},   {80, 72, 520},    {96, 264, 264},
    {100, 1000, 16}, {127, 129, 513}, {128, 128, 128}, {129, 65, 1000},  {136, 513, 63},
    {160, 1000, 24}, {192, 176, 192}, {200, 328, 72},  {255, 257, 65},   {256, 256, 64},
    {257, 129, 127}, {300, 520, 200}, {384, 352, 136}, {385, 361, 200},  {400, 72, 1000},
    {512, 24, 513},  {513, 1000, 40}, {520, 136, 264}, {700, 400, 72},   {768, 176, 328},
    {1000, 65, 65},  {1025, 513, 17}, {1100, 200, 1},  {2050, 264, 136}, {130, 4104, 72}};

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

absl::StatusOr<std::unique_ptr<GemmBuilder>> GemmBuilder::Open(std::string path,
                                                               DeviceProfile device) {
  std::unique_ptr<GemmBuilder> builder(new GemmBuilder);
  builder->device_ = std::move(device);
  CacheOptions options;
  options.path = std::move(path);
  TW_ASSIGN_OR_RETURN(builder->cache_, Cache::Open(std::move(options)));
  TemplateSet templates = TemplateSet::Builtin();
  templates.Add(kGemmCheckPath, kGemmCheckTemplate);
  builder->kernels_ =
      std::make_unique<KernelStore>(std::move(templates), builder->cache_.get(), NvrtcCompiler());
  builder->owned_.push_back(MakeGemvVariant(ReadGemmCase));
  builder->owned_.push_back(MakeWgmmaVariant(ReadGemmCase));
  builder->owned_.push_back(MakeMmaVariant(ReadGemmCase));
  for (const auto& variant : builder->owned_) builder->variants_.push_back(variant.get());
  return builder;
}

const std::string& GemmBuilder::op_name() const { return CheckedOp().name; }

const Variant* GemmBuilder::Find(const Config& config) const {
  for (const Variant* variant : variants_) {
    if (variant->name() == config.variant) return variant;
  }
  return nullptr;
}

bool GemmBuilder::Takes(const Variant& variant, const CallDesc& call, const Config& config) const {
  return variant.Serves(call, device_).ok() && variant.Legal(call, config, device_).ok();
}

std::vector<Config> GemmBuilder::Defaults(const CallDesc& call) const {
  std::vector<Config> defaults;
  for (const Variant* variant : variants_) {
    if (variant->Serves(call, device_).ok()) defaults.push_back(variant->Default(call, device_));
  }
  return defaults;
}

GemmPlan GemmBuilder::EveryLegalCandidate(int part, int parts) const {
  GemmPlan plan;
  for (size_t i = static_cast<size_t>(part); i < std::size(kShapes);
       i += static_cast<size_t>(parts)) {
    const auto& [m, n, k] = kShapes[i];
    const GemmCase gemm{.m = m, .n = n, .k = k, .pad = 8};
    const CallDesc call = gemm.Call();
    std::vector<Config> configs;
    for (const Variant* variant : variants_) {
      if (!variant->Serves(call, device_).ok()) continue;
      const TuningSpace space = variant->Space(call, device_);
      for (int64_t point = 0; point < space.size(); ++point) {
        Config config = space.At(point);
        if (Takes(*variant, call, config)) configs.push_back(std::move(config));
      }
    }
    plan.emplace_back(gemm, std::move(configs));
  }
  return plan;
}

absl::Status GemmBuilder::Build(const std::vector<std::pair<CallDesc, Config>>& points,
                                const std::function<void(size_t, size_t)>& progress) {
  std::set<std::string> seen;
  std::vector<KernelSpec> specs;
  for (const auto& [call, config] : points) {
    for (KernelSpec& spec : Find(config)->Kernels(call, config)) {
      if (seen.insert(spec.Instantiation()).second) specs.push_back(std::move(spec));
    }
  }
  std::atomic<size_t> next{0};
  std::mutex reporting;
  size_t done = 0;
  std::vector<absl::Status> statuses(specs.size());
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < std::max(1u, std::thread::hardware_concurrency()); ++i) {
    threads.emplace_back([&] {
      for (size_t at = next++; at < specs.size(); at = next++) {
        statuses[at] = kernels_->GetOrBuild(specs[at], op_name(), device_.arch).status();
        const std::lock_guard lock(reporting);
        if (progress) progress(++done, specs.size());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const absl::Status& status : statuses) TW_RETURN_IF_ERROR(status);
  return absl::OkStatus();
}

std::vector<GemmCase> EveryExtent(bool trans_a, bool trans_b, int64_t pad) {
  std::vector<GemmCase> cases;
  for (int64_t m : kExtents) {
    for (int64_t n : kExtents) {
      for (int64_t k : kExtents) {
        GemmCase gemm{.m = m, .n = n, .k = k, .trans_a = trans_a, .trans_b = trans_b, .pad = pad};
        if (cases.size() % 2 == 1) gemm.dtype = gemm.out_dtype = DType::kFloat16;
        cases.push_back(gemm);
      }
    }
  }
  return cases;
}

std::vector<std::pair<CallDesc, Config>> PointsOf(const GemmPlan& plan) {
  std::vector<std::pair<CallDesc, Config>> points;
  for (const auto& [gemm, configs] : plan) {
    for (const Config& config : configs) points.emplace_back(gemm.Call(), config);
  }
  return points;
}

}  // namespace tilewright
