#include <algorithm>
#include <cstddef>
#include <string>

#include "kernel_templates/gemm/params.cuh"
#include "kernel_templates/gemm/variants.h"
#include "kernel_templates/gemm/wgmma_config.h"
#include "manifest/status.h"

namespace tilewright {
namespace {

constexpr int64_t kMaxExtent = 0x7FFFFFFF;  // TMA coordinates are int32
constexpr int64_t kMaxSplit = 8;            // CTAs of a portable cluster

int64_t CeilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

int64_t KTiles(const GemmProblem& problem) { return CeilDiv(problem.k, WgmmaConfig::kTileK); }

// A map over one operand: `inner` contiguous elements, `outer` rows of them, then batches. The
// stride of an axis that has one element is not looked at, so it is replaced by a valid one.
TensorMapSlot Map(size_t offset, int operand, DType dtype, int64_t inner, int64_t outer,
                  int64_t batches, int64_t outer_stride, int64_t batch_stride, int64_t box_inner,
                  int64_t box_outer) {
  const int64_t row = CeilDiv(inner, 8) * 8;
  if (outer <= 1) outer_stride = row;
  if (batches <= 1) batch_stride = outer_stride * outer;
  TensorMapSlot slot;
  slot.offset = static_cast<uint16_t>(offset);
  slot.operand = static_cast<int8_t>(operand);
  slot.dtype = dtype;
  slot.rank = 3;
  slot.dims = {static_cast<uint64_t>(inner), static_cast<uint64_t>(outer),
               static_cast<uint64_t>(batches)};
  slot.strides_bytes = {static_cast<uint64_t>(outer_stride * 2),
                        static_cast<uint64_t>(batch_stride * 2)};
  slot.box = {static_cast<uint32_t>(box_inner), static_cast<uint32_t>(box_outer), 1};
  return slot;
}

TensorMapSlot InputMap(size_t offset, int operand, const GemmProblem& problem,
                       const GemmOperand& side, int64_t extent, bool mn_major, int64_t tile) {
  if (mn_major) {
    return Map(offset, operand, problem.dtype, extent, problem.k, problem.batches,
               side.inner_stride, side.batch_stride, 64, WgmmaConfig::kTileK);
  }
  return Map(offset, operand, problem.dtype, problem.k, extent, problem.batches, side.outer_stride,
             side.batch_stride, WgmmaConfig::kTileK, tile);
}

// The untuned candidates: few, so that a problem's buckets share kernels.
std::vector<Config> Candidates(const GemmProblem& problem, const DeviceProfile& device) {
  std::vector<Config> candidates;
  const int64_t m = BucketM(problem.m);
  if (m <= 256) {
    // One tile spans the tokens; 96 and 24 of them share the kernels of 128 and 32.
    const int64_t cols = m <= 8 ? 8 : m <= 16 ? 16 : m <= 32 ? 32 : m <= 64 ? 64 : 128;
    for (int64_t split : {1, 2, 3, 4, 5, 6, 7, 8}) {
      WgmmaConfig config{.tile_rows = 128, .tile_cols = cols, .stages = 6, .math_groups = 2};
      config.swap = true;
      config.split = split;
      if (split == 1) config.stages = 4;
      candidates.push_back(config.ToConfig());
    }
  }
  if (m > 128 || !device.arch.starts_with("sm_90")) {
    candidates.push_back(WgmmaConfig{.tile_rows = 128, .tile_cols = 128, .stages = 4}.ToConfig());
    candidates.push_back(WgmmaConfig{.tile_rows = 128, .tile_cols = 192, .stages = 4}.ToConfig());
    candidates.push_back(WgmmaConfig{.tile_rows = 128, .tile_cols = 256, .stages = 3}.ToConfig());
    candidates.push_back(WgmmaConfig{.tile_rows = 256, .tile_cols = 128, .stages = 3}.ToConfig());
  }
  return candidates;
}

}  // namespace

absl::Status WgmmaVariant::Serves(const CallDesc& call, const DeviceProfile& device) const {
  const GemmProblem problem = read_(call);
  if (device.arch != "sm_90a") return FailedPrecondition("needs sm_90a, got ", device.arch);
  if (problem.k == 0) return FailedPrecondition("k is 0");
  if (std::max({problem.m, problem.n, problem.k, problem.batches}) > kMaxExtent) {
    return FailedPrecondition("an extent exceeds ", kMaxExtent);
  }
  if (problem.AccessA() > OperandAccess::kMnMajor) {
    return FailedPrecondition("a is not contiguous along an axis, 16-byte aligned");
  }
  if (problem.AccessB() > OperandAccess::kMnMajor) {
    return FailedPrecondition("b is not contiguous along an axis, 16-byte aligned");
  }
  if (!problem.OutputPieces()) {
    return FailedPrecondition("d is not contiguous along n, 16-byte aligned");
  }
  return absl::OkStatus();
}

TuningSpace WgmmaVariant::Space(const CallDesc& call, const DeviceProfile&) const {
  const int64_t m = BucketM(read_(call).m);
  TuningSpace space{"wgmma", {}};
  if (m <= 128) {
    const int64_t cols = std::max<int64_t>(8, m <= 64 ? CeilDiv(m, 16) * 16 : m);
    space.axes = {{"tile_rows", {64, 128, 192, 256}},
                  {"tile_cols", m <= 8 ? std::vector<int64_t>{8} : std::vector<int64_t>{cols}},
                  {"stages", {3, 4, 6, 8, 12}},
                  {"math_groups", {1, 2, 3}},
                  {"ping_pong", {0}},
                  {"swap", {1}},
                  {"split", {1, 2, 3, 4, 5, 6, 7, 8}},
                  {"in_flight", {0, 1}},
                  {"group", {16}}};
    return space;
  }
  space.axes = {{"tile_rows", {64, 128, 192, 256}},
                {"tile_cols", {64, 128, 192, 256}},
                {"stages", {3, 4, 5, 6}},
                {"math_groups", {1, 2, 3}},
                {"ping_pong", {0, 1}},
                {"swap", m <= 512 ? std::vector<int64_t>{0, 1} : std::vector<int64_t>{0}},
                {"split", m <= 1024 ? std::vector<int64_t>{1, 2, 4} : std::vector<int64_t>{1}},
                {"in_flight", {0, 1}},
                {"group", {8, 16}}};
  return space;
}

absl::Status WgmmaVariant::Legal(const CallDesc& call, const Config& config,
                                 const DeviceProfile& device) const {
  const GemmProblem problem = read_(call);
  const WgmmaConfig c = WgmmaConfig::From(config);
  TW_RETURN_IF_ERROR(c.Check(WgmmaSides::Of(problem, c.swap).mn_major_cols, device));
  if (c.split < 1 || c.split > kMaxSplit) return FailedPrecondition("split = ", c.split);
  if (c.split > KTiles(problem)) {
    return FailedPrecondition("split = ", c.split, " of ", KTiles(problem), " k tiles");
  }
  return absl::OkStatus();
}

// Time of a full machine: the longer of what the tensor cores, L2 and DRAM take, plus the part that
// overlaps nothing.
double WgmmaVariant::PredictUs(const CallDesc& call, const Config& config,
                               const DeviceProfile& device) const {
  const GemmProblem problem = read_(call).Bucketed();
  const WgmmaConfig c = WgmmaConfig::From(config);
  const WgmmaSides sides = WgmmaSides::Of(problem, c.swap);
  const double sms = std::max(device.sm_count, 1);
  const double rows = static_cast<double>(c.tile_rows);
  const double cols = static_cast<double>(c.tile_cols);
  const int64_t tiles = CeilDiv(sides.row_extent, c.tile_rows) *
                        CeilDiv(sides.col_extent, c.tile_cols) * problem.batches;
  const double k_steps = static_cast<double>(CeilDiv(KTiles(problem), c.split));
  const double ctas = static_cast<double>(tiles * c.split);

  // One k step of one CTA: a SM does 4096 flops a cycle and reads 128 bytes of shared
  // memory a cycle; each math group reads the N side anew.
  const double us_per_cycle = 4096.0 / (TensorFlopsPerUs(device) / sms);
  const double math_cycles = rows * std::max(cols, 32.0) * 64 * 2 / 4096.0;
  const double smem_cycles = (rows + cols * std::ceil(rows / 64)) * 64 * 2 / 128.0;
  const double step_us = std::max(math_cycles, smem_cycles) * us_per_cycle;
  const double waves = std::ceil(ctas / sms);
  const double math_us = waves * k_steps * step_us;

  const double l2_bytes = ctas * k_steps * (rows + cols) * 64 * 2;
  const double l2_us = l2_bytes / 11e6 * (waves * sms / std::max(ctas, 1.0));
  const double m = static_cast<double>(problem.m), n = static_cast<double>(problem.n),
               k = static_cast<double>(problem.k), batches = static_cast<double>(problem.batches);
  const double dram_us = 2 * batches * (m * k + n * k + m * n) / BandwidthBytesPerUs(device);
  // A CTA sustains about one ring of stages a 1.1 us of memory latency.
  const double ring = static_cast<double>(c.stages * c.StageBytes(sides.mn_major_cols));
  const double resident = std::max(
      1.0,
      std::min<double>(
          std::ceil(ctas / sms),
          std::floor(228.0 * 1024 / static_cast<double>(c.SmemBytes(sides.mn_major_cols) + 1024))));
  const double latency_us = l2_bytes / (ring * resident * std::min(ctas, sms)) * 1.1;

  const double epilogue_us =
      rows * cols * 2 / 60000.0 * (c.ping_pong ? 0.4 : 1.0) +
      (c.split > 1 ? 1.2 + static_cast<double>(c.split) * rows * cols * 4 / sms / 1500 : 0);
  return 2.5 + std::max({math_us, l2_us, dram_us, latency_us}) + waves * epilogue_us;
}

Config WgmmaVariant::Default(const CallDesc& call, const DeviceProfile& device) const {
  return FastestPredicted(*this, call, device, Candidates(read_(call), device));
}

std::vector<KernelSpec> WgmmaVariant::Kernels(const CallDesc& call, const Config& config) const {
  const GemmProblem problem = read_(call);
  const WgmmaConfig c = WgmmaConfig::From(config);
  const WgmmaSides sides = WgmmaSides::Of(problem, c.swap);
  const auto number = [](int64_t value) { return std::to_string(value); };
  const auto flag = [](bool value) { return std::string(value ? "true" : "false"); };
  return {{"gemm/wgmma.cuh",
           "tilewright::WgmmaGemmKernel",
           {{"using Element", std::string(ElementName(problem.dtype))},
            {"int kTileRows", number(c.tile_rows)},
            {"int kTileCols", number(c.tile_cols)},
            {"int kStages", number(c.stages)},
            {"int kMathGroups", number(c.math_groups)},
            {"bool kPingPong", flag(c.ping_pong)},
            {"bool kSwap", flag(c.swap)},
            {"bool kSplitK", flag(c.split > 1)},
            {"bool kMnMajorRows", flag(sides.mn_major_rows)},
            {"bool kMnMajorCols", flag(sides.mn_major_cols)},
            {"int kInFlight", number(c.in_flight)},
            {"int kBlocksPerSm", number(c.blocks_per_sm())},
            {"int kProducerRegisters", number(c.producer_registers())},
            {"int kMathRegisters", number(c.math_registers())}}}};
}

absl::StatusOr<BoundCall> WgmmaVariant::Bind(const CallDesc& call, const Config& config,
                                             const DeviceProfile& device) const {
  const GemmProblem problem = read_(call);
  const WgmmaConfig c = WgmmaConfig::From(config);
  const WgmmaSides sides = WgmmaSides::Of(problem, c.swap);
  BoundCall bound;
  if (problem.empty()) return bound;

  WgmmaGemmParams params{};
  params.out_row_stride = problem.d.outer_stride;
  params.out_batch_stride = problem.d.batch_stride;
  params.rows = static_cast<int>(sides.row_extent);
  params.cols = static_cast<int>(sides.col_extent);
  params.k_tiles = static_cast<int>(KTiles(problem));
  params.row_tiles = static_cast<int>(CeilDiv(sides.row_extent, c.tile_rows));
  params.col_tiles = static_cast<int>(CeilDiv(sides.col_extent, c.tile_cols));
  params.batches = static_cast<int>(problem.batches);
  params.group = static_cast<int>(std::min<int64_t>(c.group, params.row_tiles));
  if (params.row_tiles > kMaxExtent / kMaxSplit / params.col_tiles / params.batches) {
    return FailedPrecondition("wgmma: ", params.batches, " x ", params.row_tiles, " x ",
                              params.col_tiles, " tiles exceed the grid");
  }
  const int64_t tiles = static_cast<int64_t>(params.row_tiles) * params.col_tiles * params.batches;

  Launch launch;
  constexpr int64_t kSmemPerSm = 228 * 1024;  // each block takes 1 KB more than it asks for
  const int64_t fit = kSmemPerSm / (c.SmemBytes(sides.mn_major_cols) + 1024);
  const int64_t resident = std::max<int64_t>(device.sm_count, 1) *
                           std::max<int64_t>(1, std::min(c.blocks_per_sm(), fit));
  launch.grid[0] = static_cast<uint32_t>(c.split > 1 ? tiles * c.split : std::min(tiles, resident));
  launch.block[0] = static_cast<uint32_t>(c.threads());
  launch.cluster[0] = static_cast<uint32_t>(c.split);
  launch.dynamic_smem_bytes = static_cast<uint32_t>(c.SmemBytes(sides.mn_major_cols));
  launch.SetParams(params);
  launch.pointers.push_back({offsetof(WgmmaGemmParams, out), 2, 0});
  launch.tensor_maps.push_back(InputMap(offsetof(WgmmaGemmParams, rows_map), sides.rows_operand,
                                        problem, *sides.rows, sides.row_extent, sides.mn_major_rows,
                                        c.tile_rows));
  launch.tensor_maps.push_back(InputMap(offsetof(WgmmaGemmParams, cols_map), sides.cols_operand,
                                        problem, *sides.cols, sides.col_extent, sides.mn_major_cols,
                                        c.tile_cols));
  launch.tensor_maps.push_back(Map(offsetof(WgmmaGemmParams, out_map), 2, problem.dtype, problem.n,
                                   problem.m, problem.batches, problem.d.outer_stride,
                                   problem.d.batch_stride, 64, c.swap ? c.tile_cols : 64));
  bound.launches.push_back(std::move(launch));
  return bound;
}

}  // namespace tilewright
