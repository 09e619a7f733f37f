#include "tests/runtime/hostile_op.h"

#include <cstddef>
#include <memory>

#include "manifest/op_spec.h"
#include "manifest/status.h"
#include "tests/runtime/scale_op.h"

namespace tilewright {
namespace {

constexpr char kManifest[] = R"(HostileTestOp:
  family: test
  reference: none
  formula: output = 2 x.
  source: defined here
  status: implemented
  signature:
    inputs:
      x: {dtype: [float32]}
    outputs:
      output: {dtype: same_as(x), shape: x.shape}
  roofline:
    flops: product(x.shape)
    bytes: 2 * product(x.shape) * elem_bytes
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
struct HostileParams { const void* x; void* output; long long count; float factor; };
template <class Config>
__global__ void HostileKernel(const __grid_constant__ HostileParams p) {
  const long long i = blockIdx.x * 128ll + threadIdx.x;
  if (i < p.count) ((float*)p.output)[i] = ((const float*)p.x)[i] * p.factor;
}
}  // namespace test
)";

class HostileVariant : public Variant {
 public:
  std::string_view name() const override { return "hostile"; }
  absl::Status Serves(const CallDesc&, const DeviceProfile&) const override {
    return absl::OkStatus();
  }
  TuningSpace Space(const CallDesc&, const DeviceProfile&) const override {
    TuningAxis axis{"kind", {}};
    for (int64_t kind = 0; kind < kHostileKinds; ++kind) axis.values.push_back(kind);
    return {"hostile", {axis}};
  }
  absl::Status Legal(const CallDesc&, const Config&, const DeviceProfile&) const override {
    return absl::OkStatus();
  }
  double PredictUs(const CallDesc&, const Config&, const DeviceProfile&) const override {
    return 1;
  }
  Config Default(const CallDesc&, const DeviceProfile&) const override {
    return {"hostile", {{"kind", static_cast<int64_t>(HostileKind::kDefault)}}};
  }
  std::vector<KernelSpec> Kernels(const CallDesc&, const Config& config) const override {
    return {{"test/hostile.cuh", "test::HostileKernel", {{"int kKind", Cat(config.Get("kind"))}}}};
  }
  absl::StatusOr<BoundCall> Bind(const CallDesc& call, const Config& config,
                                 const DeviceProfile& device) const override {
    const int64_t count = call.input(0).desc.elements();
    BoundCall bound;
    Launch& launch = bound.launches.emplace_back();
    launch.grid[0] = static_cast<uint32_t>((count + 127) / 128);
    launch.block[0] = 128;
    if (config.Get("kind") == static_cast<int64_t>(HostileKind::kTooMuchShared)) {
      launch.dynamic_smem_bytes = static_cast<uint32_t>(device.smem_per_block_bytes + 1024);
    }
    launch.SetParams(ScaleParams{nullptr, nullptr, count, 2.0f});
    launch.pointers = {{offsetof(ScaleParams, x), 0, 0}, {offsetof(ScaleParams, output), 1, 0}};
    return bound;
  }
};

class HostileRecipe : public Recipe {
 public:
  std::span<const ProblemField> fields() const override { return fields_; }
  ProblemFields Describe(const CallDesc& call) const override {
    return {call.input(0).desc.elements()};
  }
  std::span<const Variant* const> variants() const override { return variants_; }

 private:
  const std::vector<ProblemField> fields_ = {{"count", ProblemField::Kind::kExact}};
  const HostileVariant variant_{};
  const std::vector<const Variant*> variants_ = {&variant_};
};

}  // namespace

CustomOp HostileOp() {
  CustomOp custom;
  custom.manifest_yaml = kManifest;
  custom.templates = {{"test/hostile.cuh", kTemplate}};
  custom.recipe = [](std::string_view) -> std::unique_ptr<Recipe> {
    return std::make_unique<HostileRecipe>();
  };
  return custom;
}

}  // namespace tilewright
