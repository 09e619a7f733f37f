#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <string>

#include "kernel_templates/attention/variants.h"
#include "kernel_templates/gemm/variants.h"
#include "kernel_templates/memory_bound.h"
#include "manifest/status.h"

namespace tilewright {
namespace {

constexpr int64_t kRows = 16;  // of a CTA
constexpr int64_t kTokens = 16;
constexpr int64_t kMaxRows = 64;  // queries x heads that share a key head
constexpr int64_t kMaxChunks = 512;
constexpr int64_t kMaxCluster = 8;

int64_t CeilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

int64_t StageBytes(const AttentionProblem& problem) {
  return (CeilDiv(problem.padded_dim(), 64) + CeilDiv(problem.padded_value_dim(), 64)) * kTokens *
         128;
}

// What a CTA leaves for the others of its cluster.
int64_t PartBytes(const AttentionProblem& problem) {
  return kRows * (problem.padded_value_dim() + 1) * 4;
}

int64_t SmemBytes(const AttentionProblem& problem, const Config& config) {
  return config.Get("warps") * config.Get("stages") * StageBytes(problem) +
         (config.Get("cluster") != 0 ? PartBytes(problem) : 0);
}

int64_t RowTiles(const AttentionProblem& problem) {
  return CeilDiv(problem.params.q_len * problem.group(), kRows);
}

// CTAs of one chunk.
int64_t Items(const AttentionProblem& problem) {
  return SaturatedProduct({RowTiles(problem), problem.params.batches, problem.params.kv_heads});
}

int64_t Chunks(const AttentionProblem& problem, int64_t chunk) {
  return std::max<int64_t>(1, CeilDiv(problem.params.kv_len, chunk));
}

// CTAs that share a sequence's chunks in a cluster; 1 for none.
int64_t Cluster(const AttentionProblem& problem, const Config& config) {
  if (config.Get("cluster") == 0) return 1;
  return static_cast<int64_t>(
      std::bit_ceil(static_cast<uint64_t>(Chunks(problem, config.Get("chunk")))));
}

int64_t QueryRows(const AttentionProblem& problem) {
  return SaturatedProduct({problem.params.batches, problem.params.q_len, problem.params.heads});
}

class SplitAttentionVariant : public AttentionVariant {
 public:
  using AttentionVariant::AttentionVariant;
  std::string_view name() const override { return "split"; }

  absl::Status Serves(const CallDesc& call, const DeviceProfile& device) const override {
    TW_RETURN_IF_ERROR(RequireSm80(call, device));
    const AttentionProblem problem = read_(call);
    TW_RETURN_IF_ERROR(problem.CheckExtents());
    if (problem.params.q_len * problem.group() > kMaxRows) {
      return FailedPrecondition(problem.params.q_len, " queries x ", problem.group(),
                                " heads share a key head, at most ", kMaxRows);
    }
    if (problem.float8()) return FailedPrecondition("float8 operands");
    constexpr int64_t kMaxBlocks = 0x7FFFFFFF;
    if (std::max(Items(problem), QueryRows(problem)) > kMaxBlocks / kMaxChunks) {
      return FailedPrecondition("split: ", Items(problem), " tiles exceed the grid");
    }
    return absl::OkStatus();
  }

  TuningSpace Space(const CallDesc&, const DeviceProfile&) const override {
    return {"split",
            {{"chunk", {64, 128, 192, 256, 384, 512, 1024, 2048, 4096, 8192, 1 << 20}},
             {"stages", {2, 3, 4, 6}},
             {"warps", {2, 4, 8}},
             {"cluster", {0, 1}}}};
  }

  absl::Status Legal(const CallDesc& call, const Config& config,
                     const DeviceProfile& device) const override {
    const AttentionProblem problem = read_(call);
    const int64_t bytes = SmemBytes(problem, config);
    if (bytes > SmemLimit(device)) {
      return FailedPrecondition("needs ", bytes, " bytes of shared memory, has ",
                                SmemLimit(device));
    }
    const int64_t result = kRows * (problem.padded_value_dim() + 6) * 4;
    if (config.Get("stages") * StageBytes(problem) < result) {
      return FailedPrecondition("a warp's result does not fit into its stages");
    }
    const int64_t chunk = config.Get("chunk");
    if (Chunks(problem, chunk) > kMaxChunks) {
      return FailedPrecondition(Chunks(problem, chunk), " chunks, at most ", kMaxChunks);
    }
    if (config.Get("cluster") != 0) {
      if (device.compute_major < 9) return FailedPrecondition("clusters need sm_90");
      if (Chunks(problem, chunk) < 2 || Chunks(problem, chunk) > kMaxCluster) {
        return FailedPrecondition(Chunks(problem, chunk), " chunks in a cluster, 2 to ",
                                  kMaxCluster);
      }
    }
    return absl::OkStatus();
  }

  double PredictUs(const CallDesc& call, const Config& config,
                   const DeviceProfile& device) const override {
    constexpr double kLaunchUs = 3.0;
    constexpr double kSmBytesPerUs = 60e3;  // into one SM whose neighbours idle
    constexpr double kLatencyUs = 1.4;      // of a tile under load
    const AttentionProblem problem = read_(call);
    const int64_t chunk =
        std::min<int64_t>(config.Get("chunk"), std::max(problem.params.kv_len, 1));
    const double chunks = static_cast<double>(Chunks(problem, chunk));
    const double ctas = static_cast<double>(Items(problem)) * chunks;
    const double sms = std::max(device.sm_count, 1);
    const double warps = static_cast<double>(config.Get("warps"));
    const double stages = static_cast<double>(config.Get("stages"));
    const double smem = static_cast<double>(SmemBytes(problem, config)) + 1024;
    const double registers =
        2.0 * 8;  // warps of a block's registers that a SM holds: 16 of 128 each
    // Clusters larger than a free part of the device wait for one: as if it held one block an SM.
    const double resident =
        config.Get("cluster") != 0
            ? 1.0
            : std::max(1.0, std::min(std::floor(228 * 1024 / smem), std::floor(registers / warps)));
    const double row_bytes = static_cast<double>(StageBytes(problem)) / kTokens;
    const double cta_bytes = static_cast<double>(chunk) * row_bytes;
    const double slots = sms * resident;
    const double waves = ctas <= slots ? 1.0 : ctas / slots + 0.5;
    // A block's own rate: its ring in flight over the latency, at most a share of its SM's.
    const double sharing = std::min(resident, std::max(1.0, std::ceil(ctas / sms)));
    const double total_rate = BandwidthBytesPerUs(device) * 0.97;
    const double share = std::min(kSmBytesPerUs, total_rate / std::min(ctas, sms)) / sharing;
    const double in_flight = warps * (stages - 1) * static_cast<double>(StageBytes(problem));
    const double rate = std::min(share, in_flight / kLatencyUs);
    const double stream_us = waves * (cta_bytes / rate + 1.0);
    const double memory_us = problem.KeyBytes() / total_rate;
    const double partial_bytes = chunks > 1
                                     ? 2.0 * chunks * static_cast<double>(QueryRows(problem)) *
                                           (problem.params.value_dim + 1) * 4
                                     : 0.0;
    const double combine_us =
        chunks <= 1 ? 0.0
        : config.Get("cluster") != 0
            ? 1.0
            : 1.5 + 0.02 * chunks + partial_bytes / BandwidthBytesPerUs(device);
    return kLaunchUs + std::max(stream_us, memory_us) + combine_us;
  }

  // Two blocks an SM, one where they would have little to read: the fewest, longest chunks that
  // occupy them were the fastest in measurements.
  Config Default(const CallDesc& call, const DeviceProfile& device) const override {
    constexpr double kLittle = 128 * 1024;  // bytes of a block
    const AttentionProblem problem = read_(call);
    const int64_t sms = std::max(device.sm_count, 1);
    const bool little = problem.KeyBytes() < kLittle * 2 * static_cast<double>(sms);
    const int64_t blocks = little ? sms : 2 * sms;
    int64_t chunk = 1 << 20;
    for (const int64_t shorter : {8192, 4096, 2048, 1024, 512, 256, 128}) {
      const bool fits = Items(problem) * Chunks(problem, shorter) <= blocks;
      if (fits && Chunks(problem, shorter) <= kMaxChunks) chunk = shorter;
    }
    Config config;
    for (const auto& [warps, stages] :
         {std::pair<int64_t, int64_t>{4, 3}, {4, 2}, {2, 3}, {2, 2}, {2, 4}}) {
      config = {"split", {{"chunk", chunk}, {"stages", stages}, {"warps", warps}, {"cluster", 0}}};
      if (Legal(call, config, device).ok()) break;
    }
    Config together = config;
    together.values.back().second = 1;
    // Clusters that do not all fit at once take turns: only where every CTA has an SM to itself.
    const bool fits =
        Legal(call, together, device).ok() && Items(problem) * Cluster(problem, together) <= sms;
    return fits ? together : config;
  }

  std::vector<KernelSpec> Kernels(const CallDesc& call, const Config& config) const override {
    const AttentionProblem problem = read_(call);
    const auto flag = [](bool value) { return std::string(value ? "true" : "false"); };
    KernelSpec stream{"attention/decode.cuh",
                      "tilewright::DecodeAttentionKernel",
                      {{"using Element", std::string(AttentionElement(problem.query_dtype))},
                       {"int kDim", std::to_string(problem.padded_dim())},
                       {"int kValueDim", std::to_string(problem.padded_value_dim())},
                       {"int kStages", std::to_string(config.Get("stages"))},
                       {"int kWarps", std::to_string(config.Get("warps"))},
                       {"int kCluster", std::to_string(Cluster(problem, config))},
                       {"bool kSoftcap", flag(problem.softcap)},
                       {"bool kVector", flag(problem.vector)}}};
    AddSequenceTraits(problem, stream.constants);
    KernelSpec combine{"attention/combine.cuh",
                       "tilewright::CombineAttentionKernel",
                       {{"using Element", std::string(AttentionElement(problem.query_dtype))},
                        {"int kValueDim", std::to_string(problem.padded_value_dim())}}};
    AddSequenceTraits(problem, combine.constants);
    if (config.Get("cluster") != 0) return {stream};
    return {stream, combine};
  }

  absl::StatusOr<BoundCall> Bind(const CallDesc& call, const Config& config,
                                 const DeviceProfile&) const override {
    const AttentionProblem problem = read_(call);
    BoundCall bound;
    if (problem.empty()) return bound;
    const int64_t chunk =
        std::min<int64_t>(config.Get("chunk"), std::max(problem.params.kv_len, 1));
    const int64_t cluster = Cluster(problem, config);
    const int64_t chunks = cluster > 1 ? cluster : Chunks(problem, chunk);
    AttentionParams params = WithPack(problem, problem.group());
    params.chunk = static_cast<int>(chunk);
    params.chunks = static_cast<int>(chunks);
    params.row_tiles = static_cast<int>(RowTiles(problem));
    params.by_tiles = MakeFastDivmod<false>(static_cast<unsigned long long>(RowTiles(problem)));
    Launch stream;
    stream.grid = {static_cast<uint32_t>(Items(problem) * chunks), 1, 1};
    stream.block = {static_cast<uint32_t>(32 * config.Get("warps")), 1, 1};
    stream.cluster = {static_cast<uint32_t>(cluster), 1, 1};
    stream.dynamic_smem_bytes = static_cast<uint32_t>(SmemBytes(problem, config));
    stream.SetParams(params);
    AddPointers(problem, 0, stream);
    Launch combine;
    combine.kernel = 1;
    combine.grid = {static_cast<uint32_t>(QueryRows(problem)), 1, 1};
    combine.block = {128, 1, 1};
    combine.programmatic_dependent_launch = true;
    combine.SetParams(params);
    AddPointers(problem, 0, combine);
    const bool combines = chunks > 1 && cluster == 1;
    if (combines) {
      const int64_t rows = chunks * QueryRows(problem);
      const int64_t o_bytes = rows * problem.params.value_dim * 4;
      for (Launch* launch : {&stream, &combine}) {
        launch->pointers.push_back({offsetof(AttentionParams, partial_o), kWorkspaceOperand, 0});
        launch->pointers.push_back(
            {offsetof(AttentionParams, partial_lse), kWorkspaceOperand, o_bytes});
      }
      bound.workspace_bytes = o_bytes + rows * 4;
    }
    bound.launches.push_back(std::move(stream));
    if (combines) bound.launches.push_back(std::move(combine));
    return bound;
  }
};

}  // namespace

std::unique_ptr<Variant> MakeSplitAttentionVariant(AttentionReader read) {
  return std::make_unique<SplitAttentionVariant>(read);
}

}  // namespace tilewright
