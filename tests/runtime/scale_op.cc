#include "tests/runtime/scale_op.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <memory>

#include "manifest/op_spec.h"
#include "manifest/status.h"

namespace tilewright {
namespace {

constexpr char kManifest[] = R"(ScaleTestOp:
  family: test
  reference: none
  formula: output = x * factor, rounded once.
  source: defined here
  status: implemented
  signature:
    inputs:
      x: {dtype: [float16, bfloat16, float32]}
    outputs:
      output: {dtype: same_as(x), shape: x.shape}
    params:
      factor: {type: float, default: 2.0}
  in_place: [[output, x]]
  roofline:
    flops: product(x.shape)
    bytes: 2 * product(x.shape) * elem_bytes
  workloads:
    - label: small
      inputs: {x: [64, 128]}
      dtypes: [float32]
    - label: large
      inputs: {x: [4096, 4096]}
      dtypes: [float16, bfloat16]
SumTestOp:
  family: test
  reference: none
  formula: output = the sum of x.
  source: defined here
  status: implemented
  signature:
    inputs:
      x: {dtype: [float32], shape: '[M, N]'}
    outputs:
      output: {dtype: same_as(x), shape: '(1,)'}
  roofline: {formula: SumWork}
  workloads:
    - label: small
      inputs: {x: [64, 128]}
      dtypes: [float32]
    - label: large
      inputs: {x: [4096, 4096]}
      dtypes: [float32]
)";

constexpr char kScaleTemplate[] = R"(#pragma once
namespace test {
struct ScaleParams { const void* x; void* output; long long count; float factor; };
template <class Config>
__global__ void __launch_bounds__(Config::kThreads) ScaleKernel(
    const __grid_constant__ ScaleParams p) {
  using Element = typename Config::Element;
  const long long first = (blockIdx.x * (long long)Config::kThreads + threadIdx.x) * Config::kVector;
  for (int i = 0; i < Config::kVector; ++i) {
    if (first + i < p.count) {
      ((Element*)p.output)[first + i] = ((const Element*)p.x)[first + i] * p.factor;
    }
  }
}
}  // namespace test
)";

constexpr char kSumTemplate[] = R"(#pragma once
namespace test {
struct SumParams { const float* x; float* out; float* partial; long long count; };
struct alignas(64) PassParams { unsigned char map[128]; const float* x; float* out; long long n; };
template <class Config>
__global__ void SumKernel(const __grid_constant__ PassParams p) {
  float sum = 0;
  for (long long i = threadIdx.x; i < p.n; i += Config::kThreads) sum += p.x[i];
  atomicAdd(p.out, sum);
}
}  // namespace test
)";

int64_t Bucket(int64_t value) {
  return static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(std::max<int64_t>(value, 1))));
}

class ScaleVariant : public Variant {
 public:
  std::string_view name() const override { return "scale"; }
  absl::Status Serves(const CallDesc& call, const DeviceProfile&) const override {
    for (const Operand& operand : call.operands) {
      if (!operand.desc.IsContiguous()) return FailedPrecondition("needs dense tensors");
    }
    return absl::OkStatus();
  }
  TuningSpace Space(const CallDesc&, const DeviceProfile&) const override {
    return {"scale", {{"threads", {64, 128, 256}}, {"vector", {1, 2, 4}}}};
  }
  absl::Status Legal(const CallDesc& call, const Config& config,
                     const DeviceProfile&) const override {
    const int64_t vector = config.Get("vector");
    if (call.input(0).desc.elements() % vector != 0) {
      return FailedPrecondition("count is not a multiple of ", vector);
    }
    return absl::OkStatus();
  }
  double PredictUs(const CallDesc& call, const Config& config,
                   const DeviceProfile&) const override {
    return 1.0 + (config.Get("threads") > 128 ? 0.1 : 0) +
           static_cast<double>(call.input(0).desc.elements()) * 1e-6 /
               static_cast<double>(config.Get("vector"));
  }
  Config Default(const CallDesc&, const DeviceProfile&) const override {
    return {"scale", {{"threads", 128}, {"vector", 1}}};
  }
  std::vector<KernelSpec> Kernels(const CallDesc& call, const Config& config) const override {
    const bool full = call.input(0).desc.dtype == DType::kFloat32;
    return {{"test/scale.cuh",
             "test::ScaleKernel",
             {{"int kThreads", Cat(config.Get("threads"))},
              {"int kVector", Cat(config.Get("vector"))},
              {"using Element", full ? "float" : "unsigned short"}}}};
  }
  absl::StatusOr<BoundCall> Bind(const CallDesc& call, const Config& config,
                                 const DeviceProfile&) const override {
    const int64_t count = call.input(0).desc.elements();
    const int64_t block = config.Get("threads") * config.Get("vector");
    BoundCall bound;
    Launch& launch = bound.launches.emplace_back();
    launch.grid[0] = static_cast<uint32_t>((count + block - 1) / block);
    launch.block[0] = static_cast<uint32_t>(config.Get("threads"));
    launch.SetParams(
        ScaleParams{nullptr, nullptr, count, static_cast<float>(call.params[0].as_float())});
    launch.pointers = {{offsetof(ScaleParams, x), 0, 0}, {offsetof(ScaleParams, output), 1, 0}};
    return bound;
  }
};

struct alignas(64) PassParams {
  std::byte map[128];
  const void* x;
  void* out;
  int64_t count;
};

class SumVariant : public Variant {
 public:
  std::string_view name() const override { return "sum"; }
  absl::Status Serves(const CallDesc& call, const DeviceProfile&) const override {
    if (!call.input(0).desc.IsContiguous() || call.input(0).desc.shape[1] % 4 != 0) {
      return FailedPrecondition("needs dense rows of a multiple of 4");
    }
    return absl::OkStatus();
  }
  TuningSpace Space(const CallDesc&, const DeviceProfile&) const override {
    return {"sum", {{"threads", {128}}}};
  }
  absl::Status Legal(const CallDesc&, const Config&, const DeviceProfile&) const override {
    return absl::OkStatus();
  }
  double PredictUs(const CallDesc&, const Config&, const DeviceProfile&) const override {
    return 1;
  }
  Config Default(const CallDesc&, const DeviceProfile&) const override {
    return {"sum", {{"threads", 128}}};
  }
  std::vector<KernelSpec> Kernels(const CallDesc&, const Config& config) const override {
    const std::string threads = Cat(config.Get("threads"));
    return {{"test/sum.cuh", "test::SumKernel", {{"int kThreads", threads}, {"int kPass", "1"}}},
            {"test/sum.cuh", "test::SumKernel", {{"int kThreads", threads}, {"int kPass", "2"}}}};
  }
  absl::StatusOr<BoundCall> Bind(const CallDesc& call, const Config&,
                                 const DeviceProfile&) const override {
    const Dims& shape = call.input(0).desc.shape;
    BoundCall bound;
    bound.workspace_bytes = 1024;
    for (const int8_t pass : {0, 1}) {
      Launch& launch = bound.launches.emplace_back();
      launch.kernel = pass;
      launch.block[0] = 128;
      launch.SetParams(PassParams{{}, nullptr, nullptr, pass == 0 ? shape[0] * shape[1] : 1});
      launch.pointers = {
          {offsetof(PassParams, x), pass == 0 ? int8_t{0} : int8_t{kWorkspaceOperand}, 0},
          {offsetof(PassParams, out), pass == 0 ? int8_t{kWorkspaceOperand} : int8_t{1}, 0}};
      if (pass != 0) continue;
      TensorMapSlot map;
      map.dtype = DType::kFloat32;
      map.dims = {static_cast<uint64_t>(shape[1]), static_cast<uint64_t>(shape[0])};
      map.strides_bytes = {static_cast<uint64_t>(shape[1]) * 4};
      map.box = {4, 1};
      map.swizzle = TensorMapSlot::Swizzle::kNone;
      launch.tensor_maps.push_back(map);
    }
    return bound;
  }
};

class ScaleRecipe : public Recipe {
 public:
  std::span<const ProblemField> fields() const override { return fields_; }
  ProblemFields Describe(const CallDesc& call) const override {
    const TensorDesc& x = call.input(0).desc;
    const int64_t inner = x.rank() == 0 ? 1 : x.shape[x.rank() - 1];
    return {Bucket(inner == 0 ? 0 : x.elements() / inner), inner,
            x.IsContiguous() && call.output(0).desc.IsContiguous()};
  }
  std::span<const Variant* const> variants() const override { return variants_; }

 private:
  const std::vector<ProblemField> fields_ = {{"rows", ProblemField::Kind::kBucket},
                                             {"inner", ProblemField::Kind::kExact},
                                             {"dense", ProblemField::Kind::kClass}};
  const ScaleVariant variant_;
  const std::vector<const Variant*> variants_ = {&variant_};
};

class SumRecipe : public Recipe {
 public:
  std::span<const ProblemField> fields() const override { return fields_; }
  ProblemFields Describe(const CallDesc& call) const override {
    return {call.input(0).desc.shape[0], call.input(0).desc.shape[1]};
  }
  std::span<const Variant* const> variants() const override { return variants_; }

 private:
  const std::vector<ProblemField> fields_ = {{"m", ProblemField::Kind::kExact},
                                             {"n", ProblemField::Kind::kExact}};
  const SumVariant variant_;
  const std::vector<const Variant*> variants_ = {&variant_};
};

}  // namespace

CustomOp ScaleAndSumOps() {
  CustomOp custom;
  custom.manifest_yaml = kManifest;
  custom.templates = {{"test/scale.cuh", kScaleTemplate}, {"test/sum.cuh", kSumTemplate}};
  custom.recipe = [](std::string_view op) -> std::unique_ptr<Recipe> {
    if (op == "ScaleTestOp") return std::make_unique<ScaleRecipe>();
    return std::make_unique<SumRecipe>();
  };
  custom.roofline = [](std::string_view formula) -> RooflineFormula {
    if (formula != "SumWork") return {};
    return [](const CallDesc& call) -> absl::StatusOr<Work> {
      const auto count = static_cast<double>(call.input(0).desc.elements());
      return Work{count, 4 * count};
    };
  };
  return custom;
}

}  // namespace tilewright
