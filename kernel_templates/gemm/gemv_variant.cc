#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>

#include "kernel_templates/gemm/params.cuh"
#include "kernel_templates/gemm/variants.h"
#include "manifest/status.h"

namespace tilewright {
namespace {

constexpr int64_t kMaxTokens = 16;      // rows of a
constexpr int64_t kMaxBatches = 65535;  // rows of a grid
// Weights of more elements than this keep the copy engine busy, which then streams them faster.
constexpr int64_t kManyWeights = int64_t{12} << 20;

int64_t RowsPerBlock(const Config& config) {
  return config.Get("warps") / config.Get("split") * config.Get("row_tiles") * 16;
}

int64_t TokenTiles(const GemmProblem& problem) { return problem.m <= 8 ? 1 : 2; }

// See MakeGemvVariant().
class GemvVariant : public Variant {
 public:
  explicit GemvVariant(GemmReader read) : read_(read) {}
  std::string_view name() const override { return "gemv"; }

  absl::Status Serves(const CallDesc& call, const DeviceProfile& device) const override {
    const GemmProblem problem = read_(call);
    if (device.compute_capability() < 80)
      return FailedPrecondition("needs sm_80, got ", device.arch);
    if (problem.m > kMaxTokens) {
      return FailedPrecondition("serves m up to ", kMaxTokens, ", got ", problem.m);
    }
    if (problem.batches > kMaxBatches) {
      return FailedPrecondition("serves up to ", kMaxBatches, " batches, got ", problem.batches);
    }
    if (problem.AccessA() != OperandAccess::kKMajor ||
        problem.AccessB() != OperandAccess::kKMajor) {
      return FailedPrecondition("needs a and b contiguous along K and 16-byte aligned");
    }
    if (device.arch == "sm_90a" && problem.OutputPieces() && problem.k > 0 && problem.m > 8) {
      return FailedPrecondition("leaves more than 8 rows to wgmma, got ", problem.m);
    }
    if (device.arch == "sm_90a" && problem.OutputPieces() && problem.k > 0 &&
        problem.n * BucketM(problem.batches) > kManyWeights / problem.k) {
      return FailedPrecondition("leaves ", problem.n, " x ", problem.k, " weights to wgmma");
    }
    return absl::OkStatus();
  }

  TuningSpace Space(const CallDesc&, const DeviceProfile&) const override {
    return {"gemv",
            {{"row_tiles", {1, 2}},
             {"warps", {4, 8, 16}},
             {"split", {1, 2, 4, 8, 16}},
             {"unroll", {1, 2, 4, 8}}}};
  }

  absl::Status Legal(const CallDesc& call, const Config& config,
                     const DeviceProfile&) const override {
    const int64_t tokens = TokenTiles(read_(call));
    if (config.Get("warps") % config.Get("split") != 0) {
      return FailedPrecondition("split must divide warps");
    }
    // Sums and the pieces in flight, 4 registers each.
    const int64_t rows = config.Get("row_tiles");
    const int64_t registers =
        4 * (rows * tokens + config.Get("unroll") * (2 * rows + tokens)) + 4 * rows + 40;
    if (registers * config.Get("warps") * 32 > 65536 || registers > 200) {
      return FailedPrecondition("about ", registers, " registers a thread");
    }
    if (config.Get("warps") * rows * tokens * 512 > 48 * 1024) {
      return FailedPrecondition("the partial sums exceed 48 KB");
    }
    return absl::OkStatus();
  }

  double PredictUs(const CallDesc& call, const Config& config,
                   const DeviceProfile& device) const override {
    const GemmProblem problem = read_(call).Bucketed();
    const double sms = std::max(device.sm_count, 1);
    const double batches = static_cast<double>(problem.batches);
    const double n = static_cast<double>(problem.n);
    const double k = static_cast<double>(problem.k);
    const double bytes = 2 * batches * (n * k + static_cast<double>(problem.m) * (n + k));
    // Bytes a SM keeps in flight bound its share of the bandwidth; about 40 KB saturate it.
    const double blocks = batches * std::ceil(n / static_cast<double>(RowsPerBlock(config)));
    const double warps = static_cast<double>(config.Get("warps"));
    const double pieces = static_cast<double>(2 * config.Get("row_tiles") * config.Get("unroll"));
    const double fit = std::max(1.0, std::floor(65536 / (warps * 32 * (56 + 6 * pieces))));
    const double resident = std::min(std::ceil(blocks / sms), fit);
    const double supply = std::min(1.0, resident * warps * pieces * 512 / 40000);
    const double waves = blocks / (sms * resident);
    const double balance = waves < 4 ? std::ceil(waves) / std::max(waves, 0.25) : 1.0;
    // A warp's turns through its part of K, each of which waits for memory once.
    const double turns = k / static_cast<double>(config.Get("split") * 32 * config.Get("unroll"));
    const double latency_us = std::ceil(waves) * (1.0 + turns * 0.8);
    const double memory_us = bytes / BandwidthBytesPerUs(device) / supply * std::min(balance, 4.0);
    return 2.2 + std::max(memory_us, latency_us) + 0.02 * latency_us;
  }

  // What was fastest in measurements (NOTES.md): K split over as many warps as it feeds.
  Config Default(const CallDesc& call, const DeviceProfile&) const override {
    const GemmProblem problem = read_(call);
    int64_t split = 16;
    while (split > 1 && split * 64 > problem.k) split /= 2;
    return {"gemv",
            {{"row_tiles", 1},
             {"warps", std::max<int64_t>(split, 4)},
             {"split", split},
             {"unroll", 2}}};
  }

  std::vector<KernelSpec> Kernels(const CallDesc& call, const Config& config) const override {
    const GemmProblem problem = read_(call);
    const auto value = [&](std::string_view name) { return std::to_string(config.Get(name)); };
    KernelSpec spec{"gemm/gemv.cuh",
                    "tilewright::GemvKernel",
                    {{"using Element", std::string(ElementName(problem.dtype))},
                     {"int kTokenTiles", std::to_string(TokenTiles(problem))},
                     {"int kRowTiles", value("row_tiles")},
                     {"int kWarps", value("warps")},
                     {"int kSplit", value("split")},
                     {"int kUnroll", value("unroll")}}};
    AddEpilogueConstants(problem, true, spec);
    return {spec};
  }

  absl::StatusOr<BoundCall> Bind(const CallDesc& call, const Config& config,
                                 const DeviceProfile&) const override {
    const GemmProblem problem = read_(call);
    BoundCall bound;
    if (problem.empty()) return bound;
    const int64_t rows = RowsPerBlock(config);
    const int64_t blocks = (problem.n + rows - 1) / rows;
    if (blocks > 0x7FFFFFFF) return FailedPrecondition("gemv: n = ", problem.n, " is too large");
    Launch launch;
    launch.grid = {static_cast<uint32_t>(blocks), static_cast<uint32_t>(problem.batches), 1};
    launch.block = {static_cast<uint32_t>(config.Get("warps") * 32), 1, 1};
    launch.SetParams(GemvParams{.a = nullptr,
                                .b = nullptr,
                                .d = nullptr,
                                .bias = nullptr,
                                .a_stride_m = problem.a.outer_stride,
                                .a_stride_batch = problem.a.batch_stride,
                                .b_stride = problem.b.outer_stride,
                                .b_stride_batch = problem.b.batch_stride,
                                .d_stride_m = problem.d.outer_stride,
                                .d_stride_n = problem.d.inner_stride,
                                .d_stride_batch = problem.d.batch_stride,
                                .m = problem.m,
                                .n = problem.n,
                                .k = problem.k});
    AddOperandPointers<GemvParams>(problem, launch);
    bound.launches.push_back(std::move(launch));
    return bound;
  }

 private:
  const GemmReader read_;
};

}  // namespace

std::unique_ptr<Variant> MakeGemvVariant(GemmReader read) {
  return std::make_unique<GemvVariant>(read);
}

}  // namespace tilewright
