#include "tests/runtime/sum_op.h"

#include <cstddef>
#include <memory>

#include "kernel_templates/recipe.h"
#include "manifest/op_spec.h"
#include "manifest/status.h"

namespace tilewright {
namespace {

constexpr char kManifest[] = R"(SumTestOp:
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

constexpr char kTemplate[] = R"(#pragma once
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
    for (const int pass : {0, 1}) {
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
  const SumVariant variant_{};
  const std::vector<const Variant*> variants_ = {&variant_};
};

}  // namespace

CustomOp ScaleAndSumOps() {
  CustomOp both = ScaleOp();
  both.manifest_yaml += kManifest;
  both.templates.emplace_back("test/sum.cuh", kTemplate);
  both.recipe = [scale = both.recipe](std::string_view op) -> std::unique_ptr<Recipe> {
    if (op == "SumTestOp") return std::make_unique<SumRecipe>();
    return scale(op);
  };
  both.roofline = [](std::string_view formula) -> RooflineFormula {
    if (formula != "SumWork") return {};
    return [](const CallDesc& call) -> absl::StatusOr<Work> {
      const auto count = static_cast<double>(call.input(0).desc.elements());
      return Work{count, 4 * count};
    };
  };
  return both;
}

}  // namespace tilewright
