// An operator of an embedder's own, in full: its manifest entry, its template, its recipe. An
// installed package has these headers below <tilewright/...>.
#include "tests/runtime/scale_op.h"

#include <cstddef>
#include <memory>
#include <string>

#include "kernel_templates/memory_bound.h"
#include "kernel_templates/recipe.h"
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
)";

// Element types and conversions are those of kernel_templates/device, as in built-in templates.
constexpr char kTemplate[] = R"(#pragma once
#include "device/types.cuh"
namespace test {
struct ScaleParams { const void* x; void* output; long long count; float factor; };
template <class Config>
__global__ void __launch_bounds__(Config::kThreads) ScaleKernel(
    const __grid_constant__ ScaleParams p) {
  using Element = typename Config::Element;  // float, tilewright::fp16 or tilewright::bf16
  using Traits = tilewright::TypeTraits<Element>;
  const auto* x = static_cast<const Element*>(p.x);
  auto* output = static_cast<Element*>(p.output);
  const long long first = (blockIdx.x * (long long)Config::kThreads + threadIdx.x) * Config::kVector;
  for (int i = 0; i < Config::kVector; ++i) {
    if (first + i < p.count) {
      output[first + i] = Traits::FromCompute(Traits::ToCompute(x[first + i]) * p.factor);
    }
  }
}
}  // namespace test
)";

// One way to serve the operator: when it can, its tuning space, its kernels and their launches.
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
    return {{"test/scale.cuh",
             "test::ScaleKernel",
             {{"int kThreads", Cat(config.Get("threads"))},
              {"int kVector", Cat(config.Get("vector"))},
              {"using Element", std::string(StorageTypeName(call.input(0).desc.dtype))}}}};
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

// What tells problems apart, and the variants, the portable one last.
class ScaleRecipe : public Recipe {
 public:
  std::span<const ProblemField> fields() const override { return fields_; }
  ProblemFields Describe(const CallDesc& call) const override {
    const TensorDesc& x = call.input(0).desc;
    const int64_t inner = x.rank() == 0 ? 1 : x.shape[x.rank() - 1];
    return {PowerOfTwoBucket(inner == 0 ? 0 : x.elements() / inner, 1), inner,
            x.IsContiguous() && call.output(0).desc.IsContiguous()};
  }
  std::span<const Variant* const> variants() const override { return variants_; }

 private:
  const std::vector<ProblemField> fields_ = {{"rows", ProblemField::Kind::kBucket},
                                             {"inner", ProblemField::Kind::kExact},
                                             {"dense", ProblemField::Kind::kClass}};
  const ScaleVariant variant_{};
  const std::vector<const Variant*> variants_ = {&variant_};
};

}  // namespace

CustomOp ScaleOp() {
  CustomOp custom;
  custom.manifest_yaml = kManifest;
  custom.templates = {{"test/scale.cuh", kTemplate}};
  custom.recipe = [](std::string_view) { return std::make_unique<ScaleRecipe>(); };
  return custom;
}

}  // namespace tilewright
