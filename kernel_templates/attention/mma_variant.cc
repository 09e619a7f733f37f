#include <algorithm>
#include <cmath>
#include <string>

#include "kernel_templates/attention/variants.h"
#include "kernel_templates/gemm/variants.h"
#include "kernel_templates/memory_bound.h"
#include "manifest/status.h"

namespace tilewright {
namespace {

constexpr int64_t kTileM = 64;

int64_t CeilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

int64_t TileBytes(int64_t rows, int64_t columns) { return CeilDiv(columns, 64) * rows * 128; }

int64_t SmemBytes(const AttentionProblem& problem, int64_t tile_n) {
  return TileBytes(kTileM, problem.padded_dim()) +
         2 * (TileBytes(tile_n, problem.padded_dim()) +
              TileBytes(tile_n, problem.padded_value_dim()));
}

// Heads that share a tile: those of a group where a sequence has fewer queries than a tile.
int64_t Pack(const AttentionProblem& problem) {
  return problem.params.q_len < kTileM ? problem.group() : 1;
}

int64_t RowTiles(const AttentionProblem& problem) {
  return CeilDiv(problem.params.q_len * Pack(problem), kTileM);
}

int64_t Blocks(const AttentionProblem& problem) {
  return SaturatedProduct(
      {RowTiles(problem), problem.params.batches, problem.params.heads / Pack(problem)});
}

class MmaAttentionVariant : public AttentionVariant {
 public:
  using AttentionVariant::AttentionVariant;
  std::string_view name() const override { return "mma"; }

  absl::Status Serves(const CallDesc& call, const DeviceProfile& device) const override {
    TW_RETURN_IF_ERROR(RequireSm80(call, device));
    const AttentionProblem problem = read_(call);
    TW_RETURN_IF_ERROR(problem.CheckExtents());
    constexpr int64_t kMaxBlocks = 0x7FFFFFFF;
    if (!problem.empty() && Blocks(problem) > kMaxBlocks) {
      return FailedPrecondition("mma: ", Blocks(problem), " tiles exceed the grid");
    }
    return absl::OkStatus();
  }

  TuningSpace Space(const CallDesc&, const DeviceProfile&) const override {
    return {"mma", {{"tile_n", {32, 64, 128}}}};
  }

  absl::Status Legal(const CallDesc& call, const Config& config,
                     const DeviceProfile& device) const override {
    const int64_t bytes = SmemBytes(read_(call), config.Get("tile_n"));
    if (bytes > SmemLimit(device)) {
      return FailedPrecondition("needs ", bytes, " bytes of shared memory, has ",
                                SmemLimit(device));
    }
    return absl::OkStatus();
  }

  double PredictUs(const CallDesc& call, const Config& config,
                   const DeviceProfile& device) const override {
    const AttentionProblem problem = read_(call);
    const double tile_n = static_cast<double>(config.Get("tile_n"));
    const double flops = 2 * problem.Pairs() *
                         static_cast<double>(problem.params.head_dim + problem.params.value_dim);
    // mma.sync reaches a third of the tensor cores' rate here; narrow tiles pay more for each wait.
    const double us = flops / (TensorFlopsPerUs(device) * 0.35) * (1 + 8 / tile_n);
    return 5.0 + us + problem.KeyBytes() / BandwidthBytesPerUs(device);
  }

  Config Default(const CallDesc& call, const DeviceProfile& device) const override {
    const int64_t tile_n =
        SmemBytes(read_(call), 64) <= std::min<int64_t>(SmemLimit(device), 112 << 10) ? 64 : 32;
    return {"mma", {{"tile_n", tile_n}}};
  }

  std::vector<KernelSpec> Kernels(const CallDesc& call, const Config& config) const override {
    const AttentionProblem problem = read_(call);
    const auto flag = [](bool value) { return std::string(value ? "true" : "false"); };
    const auto type = [](DType dtype) { return std::string(AttentionElement(dtype)); };
    KernelSpec spec{"attention/mma.cuh",
                    "tilewright::MmaAttentionKernel",
                    {{"using Element", type(problem.compute_dtype())},
                     {"using QueryElement", type(problem.query_dtype)},
                     {"using KeyElement", type(problem.key_dtype)},
                     {"using OutputElement", type(problem.output_dtype)},
                     {"int kDim", std::to_string(problem.padded_dim())},
                     {"int kValueDim", std::to_string(problem.padded_value_dim())},
                     {"int kTileN", std::to_string(config.Get("tile_n"))},
                     {"bool kSoftcap", flag(problem.softcap)},
                     {"bool kLse", flag(problem.operands.lse >= 0)},
                     {"bool kVector", flag(problem.vector)}}};
    AddSequenceTraits(problem, spec.constants);
    std::vector<KernelSpec> kernels = {spec};
    Preparation::AddKernels(problem, false, kernels);
    return kernels;
  }

  absl::StatusOr<BoundCall> Bind(const CallDesc& call, const Config& config,
                                 const DeviceProfile&) const override {
    const AttentionProblem problem = read_(call);
    BoundCall bound;
    if (problem.empty()) return bound;
    const AttentionProblem attention = Preparation::Bind(call, problem, false, 1, bound);
    Launch launch;
    launch.grid = {static_cast<uint32_t>(Blocks(problem)), 1, 1};
    launch.block = {128, 1, 1};
    launch.dynamic_smem_bytes = static_cast<uint32_t>(SmemBytes(problem, config.Get("tile_n")));
    AttentionParams params = WithPack(attention, Pack(problem));
    params.row_tiles = static_cast<int>(RowTiles(problem));
    launch.SetParams(params);
    AddPointers(attention, 0, launch);
    bound.launches.push_back(std::move(launch));
    return bound;
  }
};

}  // namespace

std::unique_ptr<Variant> MakeMmaAttentionVariant(AttentionReader read) {
  return std::make_unique<MmaAttentionVariant>(read);
}

int64_t SmemLimit(const DeviceProfile& device) {
  return device.smem_per_block_bytes > 0 ? device.smem_per_block_bytes : 99 * 1024;
}

}  // namespace tilewright
