#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>

#include "kernel_templates/gemm/params.cuh"
#include "kernel_templates/gemm/variants.h"
#include "kernel_templates/gemm/wgmma_grid.h"
#include "manifest/status.h"

namespace tilewright {
namespace {

constexpr int64_t kTileK = 64;
constexpr int64_t kWarpRows = 32;
constexpr int64_t kWarpsN = 2;

bool Vector(const GemmProblem& problem) {
  return problem.AccessA() <= OperandAccess::kMnMajor &&
         problem.AccessB() <= OperandAccess::kMnMajor;
}

bool MnMajor(OperandAccess access) {
  return access == OperandAccess::kMnMajor || access == OperandAccess::kMnStrided;
}

int64_t SmemBytes(const Config& config) {
  return config.Get("stages") * (config.Get("tile_m") + config.Get("tile_n")) * kTileK * 2;
}

int64_t WarpsM(const Config& config) { return config.Get("tile_m") / kWarpRows; }
int64_t Threads(const Config& config) { return 32 * WarpsM(config) * kWarpsN; }

// See MakeMmaVariant().
class MmaVariant : public Variant {
 public:
  explicit MmaVariant(GemmReader read) : read_(read) {}
  std::string_view name() const override { return "mma"; }

  absl::Status Serves(const CallDesc&, const DeviceProfile& device) const override {
    if (device.compute_capability() < 80)
      return FailedPrecondition("needs sm_80, got ", device.arch);
    return absl::OkStatus();
  }

  TuningSpace Space(const CallDesc& call, const DeviceProfile&) const override {
    if (!Vector(read_(call))) {
      return {"mma", {{"tile_m", {64}}, {"tile_n", {64}}, {"stages", {2, 3}}, {"group", {8}}}};
    }
    return {"mma",
            {{"tile_m", {64, 128}},
             {"tile_n", {64, 128}},
             {"stages", {2, 3, 4}},
             {"group", {4, 8, 16}}}};
  }

  absl::Status Legal(const CallDesc& call, const Config& config,
                     const DeviceProfile& device) const override {
    const int64_t limit = device.smem_per_block_bytes > 0 ? device.smem_per_block_bytes : 101376;
    if (SmemBytes(config) > limit) {
      return FailedPrecondition("needs ", SmemBytes(config), " bytes of shared memory, has ",
                                limit);
    }
    if (!Vector(read_(call)) && config.Get("tile_m") * config.Get("tile_n") > 64 * 64) {
      return FailedPrecondition("element-wise reads take tiles of 64 x 64");
    }
    return absl::OkStatus();
  }

  double PredictUs(const CallDesc& call, const Config& config,
                   const DeviceProfile& device) const override {
    const GemmProblem problem = read_(call).Bucketed();
    const double sms = std::max(device.sm_count, 1);
    const double tile_m = static_cast<double>(config.Get("tile_m"));
    const double tile_n = static_cast<double>(config.Get("tile_n"));
    const double tiles = std::ceil(static_cast<double>(problem.m) / tile_m) *
                         std::ceil(static_cast<double>(problem.n) / tile_n) *
                         static_cast<double>(problem.batches);
    const double k_tiles = std::ceil(static_cast<double>(problem.k) / static_cast<double>(kTileK));
    const int64_t per_sm = std::max<int64_t>(
        1, std::min<int64_t>(228 * 1024 / (SmemBytes(config) + 1024), 512 / Threads(config)));
    // mma.sync reaches about 60 % of the wgmma rate on Hopper; small tiles lose to fragment loads.
    const double rate =
        TensorFlopsPerUs(device) / sms * 0.55 * (tile_m * tile_n < 128 * 128 ? 0.7 : 1);
    const double stage_us = 2 * tile_m * tile_n * static_cast<double>(kTileK) / rate;
    const double waves = std::ceil(tiles / (sms * static_cast<double>(per_sm)));
    const double resident = std::min<double>(static_cast<double>(per_sm), std::ceil(tiles / sms));
    // A block alone cannot hide the latency of its loads: about 0.6 us a stage over the ring.
    const double latency_us = 0.6 / static_cast<double>(config.Get("stages") - 1);
    const double per_tile = k_tiles * std::max(stage_us * resident, latency_us);
    const double memory_us =
        tiles * k_tiles * (tile_m + tile_n) * static_cast<double>(kTileK) * 2 / (5.5e6);
    const double elementwise = Vector(problem) ? 1.0 : 6.0;
    return 3.0 + std::max(waves * per_tile, memory_us) * elementwise;
  }

  Config Default(const CallDesc& call, const DeviceProfile& device) const override {
    const auto point = [](int64_t m, int64_t n, int64_t stages) {
      return Config{"mma", {{"tile_m", m}, {"tile_n", n}, {"stages", stages}, {"group", 8}}};
    };
    if (!Vector(read_(call))) return point(64, 64, 2);
    return FastestPredicted(*this, call, device, {point(64, 64, 3), point(128, 128, 3)},
                            [&](const Config& config) { return PredictUs(call, config, device); });
  }

  std::vector<KernelSpec> Kernels(const CallDesc& call, const Config& config) const override {
    const GemmProblem problem = read_(call);
    const auto number = [](int64_t value) { return std::to_string(value); };
    const auto flag = [](bool value) { return std::string(value ? "true" : "false"); };
    KernelSpec spec{"gemm/mma.cuh",
                    "tilewright::MmaGemmKernel",
                    {{"using Element", std::string(ElementName(problem.dtype))},
                     {"int kTileM", number(config.Get("tile_m"))},
                     {"int kTileN", number(config.Get("tile_n"))},
                     {"int kStages", number(config.Get("stages"))},
                     {"int kWarpsM", number(WarpsM(config))},
                     {"int kWarpsN", number(kWarpsN)},
                     {"int kThreads", number(Threads(config))},
                     {"bool kMnMajorA", flag(MnMajor(problem.AccessA()))},
                     {"bool kMnMajorB", flag(MnMajor(problem.AccessB()))},
                     {"bool kVector", flag(Vector(problem))}}};
    AddEpilogueConstants(problem, true, spec);
    return {spec};
  }

  absl::StatusOr<BoundCall> Bind(const CallDesc& call, const Config& config,
                                 const DeviceProfile&) const override {
    const GemmProblem problem = read_(call);
    BoundCall bound;
    if (problem.empty()) return bound;
    const int64_t tiles_m = CeilDiv(problem.m, config.Get("tile_m"));
    const int64_t tiles_n = CeilDiv(problem.n, config.Get("tile_n"));
    constexpr int64_t kMaxBlocks = 0x7FFFFFFF;
    if (tiles_m > kMaxBlocks / tiles_n || tiles_m * tiles_n > kMaxBlocks / problem.batches) {
      return FailedPrecondition("mma: ", problem.batches, " x ", tiles_m, " x ", tiles_n,
                                " tiles exceed the grid");
    }
    Launch launch;
    launch.grid = {static_cast<uint32_t>(tiles_m * tiles_n * problem.batches), 1, 1};
    launch.block = {static_cast<uint32_t>(Threads(config)), 1, 1};
    launch.dynamic_smem_bytes = static_cast<uint32_t>(SmemBytes(config));
    MmaGemmParams params{};
    params.a_stride_m = problem.a.outer_stride;
    params.a_stride_k = problem.a.inner_stride;
    params.a_stride_batch = problem.a.batch_stride;
    params.b_stride_n = problem.b.outer_stride;
    params.b_stride_k = problem.b.inner_stride;
    params.b_stride_batch = problem.b.batch_stride;
    params.d_stride_m = problem.d.outer_stride;
    params.d_stride_n = problem.d.inner_stride;
    params.d_stride_batch = problem.d.batch_stride;
    params.m = problem.m;
    params.n = problem.n;
    params.k = problem.k;
    params.tiles_m = static_cast<int>(tiles_m);
    params.tiles_n = static_cast<int>(tiles_n);
    params.batches = static_cast<int>(problem.batches);
    params.group = static_cast<int>(std::min(config.Get("group"), tiles_m));
    launch.SetParams(params);
    AddOperandPointers<MmaGemmParams>(problem, launch);
    bound.launches.push_back(std::move(launch));
    return bound;
  }

 private:
  const GemmReader read_;
};

}  // namespace

std::unique_ptr<Variant> MakeMmaVariant(GemmReader read) {
  return std::make_unique<MmaVariant>(read);
}

}  // namespace tilewright
