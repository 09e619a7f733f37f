#include <algorithm>
#include <string>

#include "kernel_templates/gemm/params.cuh"
#include "kernel_templates/gemm/variants.h"
#include "manifest/status.h"

namespace tilewright {
namespace {

int64_t RowsPerBlock(const Config& config) {
  return config.Get("warps") / config.Get("split") * config.Get("rows");
}

int64_t Tokens(const GemmProblem& problem) { return BucketM(problem.m); }

}  // namespace

absl::Status GemvVariant::Serves(const CallDesc& call, const DeviceProfile& device) const {
  const GemmProblem problem = read_(call);
  if (device.compute_capability() < 80) return FailedPrecondition("needs sm_80, got ", device.arch);
  if (problem.m > kMaxTokens) {
    return FailedPrecondition("serves m up to ", kMaxTokens, ", got ", problem.m);
  }
  if (problem.batches != 1) return FailedPrecondition("serves no batches");
  if (problem.AccessA() != OperandAccess::kKMajor || problem.AccessB() != OperandAccess::kKMajor) {
    return FailedPrecondition("needs a and b contiguous along K and 16-byte aligned");
  }
  return absl::OkStatus();
}

TuningSpace GemvVariant::Space(const CallDesc&, const DeviceProfile&) const {
  return {
      "gemv",
      {{"rows", {1, 2, 4}}, {"warps", {4, 8, 16}}, {"split", {1, 2, 4, 8}}, {"unroll", {1, 2, 4}}}};
}

absl::Status GemvVariant::Legal(const CallDesc& call, const Config& config,
                                const DeviceProfile&) const {
  const int64_t tokens = Tokens(read_(call));
  if (config.Get("warps") % config.Get("split") != 0) {
    return FailedPrecondition("split must divide warps");
  }
  // Sums, and the weights in flight: 4 registers a piece and 8 once widened.
  const int64_t rows = config.Get("rows");
  const int64_t registers = rows * tokens + rows * (4 * config.Get("unroll") + 8) + 40;
  if (registers * config.Get("warps") * 32 > 65536 || registers > 168) {
    return FailedPrecondition("about ", registers, " registers a thread");
  }
  return absl::OkStatus();
}

double GemvVariant::PredictUs(const CallDesc& call, const Config& config,
                              const DeviceProfile& device) const {
  const GemmProblem problem = read_(call).Bucketed();
  const double sms = std::max(device.sm_count, 1);
  const double n = static_cast<double>(problem.n);
  const double k = static_cast<double>(problem.k);
  const double bytes = 2 * (n * k + static_cast<double>(problem.m) * (n + k));
  // Bytes a SM keeps in flight bound its share of the bandwidth; about 40 KB saturate it.
  const double blocks = std::ceil(n / static_cast<double>(RowsPerBlock(config)));
  const double warps = static_cast<double>(config.Get("warps"));
  const double resident = std::min(std::ceil(blocks / sms) * warps, std::floor(48 / warps) * warps);
  const double in_flight =
      resident * 512 * static_cast<double>(config.Get("rows") * config.Get("unroll"));
  const double supply = std::min(1.0, in_flight / 40000);
  const double waves = blocks / (sms * std::max(1.0, resident / warps));
  const double balance = std::min(4.0, std::ceil(waves)) / std::min(4.0, std::max(waves, 0.25));
  const double memory_us =
      bytes / BandwidthBytesPerUs(device) / supply * (waves < 4 ? balance : 1.0);
  // One multiply-add and about one conversion an element and token, 128 lanes a SM at 1.7 GHz.
  const double issue_us =
      n * k *
      (static_cast<double>(problem.m) + 1.5 +
       1.5 * static_cast<double>(problem.m) / static_cast<double>(config.Get("rows"))) /
      (sms * 128 * 1700);
  return 2.0 + std::max(memory_us, issue_us);
}

// The fastest of the measured ones (NOTES.md): one token leaves registers for a deep K split.
Config GemvVariant::Default(const CallDesc& call, const DeviceProfile&) const {
  const GemmProblem problem = read_(call);
  if (Tokens(problem) > 1) {
    return {"gemv", {{"rows", 4}, {"warps", 4}, {"split", 2}, {"unroll", 2}}};
  }
  constexpr int64_t kTurn = 32 * 8 * 2;  // elements of K that a warp takes at once
  int64_t split = 8;
  while (split > 1 && split * kTurn > 2 * problem.k) split /= 2;
  return {"gemv", {{"rows", 2}, {"warps", 8}, {"split", split}, {"unroll", 2}}};
}

std::vector<KernelSpec> GemvVariant::Kernels(const CallDesc& call, const Config& config) const {
  const GemmProblem problem = read_(call);
  const auto value = [&](std::string_view name) { return std::to_string(config.Get(name)); };
  return {{"gemm/gemv.cuh",
           "tilewright::GemvKernel",
           {{"using Element", std::string(ElementName(problem.dtype))},
            {"int kTokens", std::to_string(Tokens(problem))},
            {"int kRows", value("rows")},
            {"int kWarps", value("warps")},
            {"int kSplit", value("split")},
            {"int kUnroll", value("unroll")}}}};
}

absl::StatusOr<BoundCall> GemvVariant::Bind(const CallDesc& call, const Config& config,
                                            const DeviceProfile&) const {
  const GemmProblem problem = read_(call);
  BoundCall bound;
  if (problem.empty()) return bound;
  const int64_t rows = RowsPerBlock(config);
  const int64_t blocks = (problem.n + rows - 1) / rows;
  if (blocks > 0x7FFFFFFF) return FailedPrecondition("gemv: n = ", problem.n, " is too large");
  Launch launch;
  launch.grid = {static_cast<uint32_t>(blocks), 1, 1};
  launch.block = {static_cast<uint32_t>(config.Get("warps") * 32), 1, 1};
  launch.SetParams(GemvParams{.a = nullptr,
                              .b = nullptr,
                              .d = nullptr,
                              .a_stride_m = problem.a.outer_stride,
                              .b_stride_n = problem.b.outer_stride,
                              .d_stride_m = problem.d.outer_stride,
                              .d_stride_n = problem.d.inner_stride,
                              .m = problem.m,
                              .n = problem.n,
                              .k = problem.k});
  launch.pointers = {{offsetof(GemvParams, a), 0, 0},
                     {offsetof(GemvParams, b), 1, 0},
                     {offsetof(GemvParams, d), 2, 0}};
  bound.launches.push_back(std::move(launch));
  return bound;
}

}  // namespace tilewright
