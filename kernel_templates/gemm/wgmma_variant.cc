#include <algorithm>
#include <cstddef>
#include <string>

#include "kernel_templates/gemm/params.cuh"
#include "kernel_templates/gemm/variants.h"
#include "kernel_templates/gemm/wgmma_config.h"
#include "manifest/status.h"

namespace tilewright {
namespace {

constexpr int64_t kMaxExtent = 0x7FFFFFFF - 1024;  // TMA coordinates are int32; a tile overshoots
constexpr int64_t kMaxSplit = 8;                   // CTAs of a portable cluster

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

// Stages of `bytes` each that leave room for the epilogue's staging. Narrow tiles gain nothing from
// more than 128 KB.
int64_t Stages(int64_t bytes, int64_t cols) {
  return std::clamp<int64_t>((cols <= 64 ? 128 : 200) * 1024 / bytes, 3, 12);
}

// Columns of an untuned tile that spans m tokens: few sizes. 16 gained nothing over 32.
int64_t DefaultTokens(int64_t m) { return m <= 8 ? 8 : CeilDiv(m, 32) * 32; }

// A tile with the weights on wgmma's rows, one math group and `tokens` columns.
WgmmaConfig Swapped(const GemmProblem& problem, int64_t tokens) {
  WgmmaConfig config{.tile_rows = 64, .tile_cols = tokens, .math_groups = 1, .swap = true};
  config.stages = Stages(config.StageBytes(WgmmaSides::Of(problem, true).mn_major_cols), tokens);
  config.group = 16;
  return config;
}

// Of the two tiles of 176 columns a problem's buckets share one: 192 rows where they fill waves as
// well as 128 rows do (at 4096 rows) and K is long, so that the epilogue of 128 rows, which
// ping-pong hides, counts for little.
bool PrefersTall(const GemmProblem& problem, int64_t sms) {
  constexpr int64_t kRows = 4096;
  const auto waves_rows = [&](int64_t rows) {
    return CeilDiv(CeilDiv(kRows, rows) * CeilDiv(problem.n, 176) * problem.batches, sms) * rows;
  };
  return problem.k >= 4096 && waves_rows(192) <= waves_rows(128);
}

// The untuned candidates: few, so that a problem's buckets share kernels. What they are made of was
// the fastest in measurements (NOTES.md); which one is chosen is the model's.
std::vector<Config> Candidates(const GemmProblem& problem, int64_t sms) {
  std::vector<Config> candidates;
  const int64_t m = BucketM(problem.m);
  if (m <= 128) {
    // One tile spans the tokens.
    WgmmaConfig config = Swapped(problem, DefaultTokens(m));
    for (config.split = 1; config.split <= kMaxSplit; ++config.split) {
      candidates.push_back(config.ToConfig());
    }
    return candidates;
  }
  constexpr int64_t kWhole = WgmmaConfig::kWholeTile;
  const WgmmaConfig narrow = Swapped(problem, 128);
  const WgmmaConfig square{
      .tile_rows = 128, .tile_cols = 128, .stages = 5, .in_flight = 0, .staging = kWhole};
  const WgmmaConfig medium{
      .tile_rows = 128, .tile_cols = 192, .stages = 4, .in_flight = 0, .staging = kWhole};
  const WgmmaConfig tall{
      .tile_rows = 192, .tile_cols = 176, .stages = 4, .math_groups = 3, .in_flight = 0};
  const WgmmaConfig pair{.tile_rows = 128,
                         .tile_cols = 176,
                         .stages = 5,
                         .ping_pong = true,
                         .multicast = 2,
                         .group = 16};
  const WgmmaConfig wide{.tile_rows = 128,
                         .tile_cols = 256,
                         .stages = 3,
                         .in_flight = 0,
                         .multicast = 2,
                         .staging = kWhole,
                         .group = 16};
  for (const WgmmaConfig& config :
       {narrow, square, medium, PrefersTall(problem, sms) ? tall : pair, wide}) {
    candidates.push_back(config.ToConfig());
  }
  return candidates;
}

// Columns of 128-row tiles that leave least of the last wave idle, where that gains 4 % over the
// usual sizes; else 256.
int64_t BalancedCols(const GemmProblem& problem, int64_t sms) {
  const auto waves_cols = [&](int64_t cols) {
    const int64_t tiles = CeilDiv(BucketM(problem.m), 128) * CeilDiv(problem.n, cols);
    return static_cast<double>(CeilDiv(tiles * problem.batches, sms) * cols);
  };
  const double usual =
      std::min({waves_cols(128), waves_cols(176), waves_cols(192), waves_cols(256)});
  int64_t best = 256;
  for (int64_t cols = 144; cols < 256; cols += 16) {
    if (waves_cols(cols) < std::min(0.96 * usual, waves_cols(best))) best = cols;
  }
  return best;
}

// Share of the tensor cores' measured rate that a tile reaches in its main loop. Two groups that
// share a tile cover each other's waits; one that is alone needs its next product in flight.
double Efficiency(const WgmmaConfig& c) {
  const double tile = c.math_groups == 3   ? 0.95
                      : c.tile_cols >= 160 ? 0.93
                      : c.tile_cols >= 128 ? 0.91
                                           : 0.72;
  const bool alone = c.math_groups == 1 || c.ping_pong;
  const double covered = c.in_flight > 0 ? (alone ? 1.0 : 0.96) : (alone ? 0.8 : 1.0);
  return tile * covered;
}

// SMs that clusters of `ctas` can occupy at once, one CTA each: a cluster stays within one of the
// groups of about 16 SMs.
double UsableSms(const DeviceProfile& device, int64_t ctas) {
  const int64_t sms = std::max<int64_t>(device.sm_count, 1);
  if (ctas <= 2) return static_cast<double>(sms);
  const int64_t groups = CeilDiv(sms, 18);
  return static_cast<double>(std::max<int64_t>(1, groups * (sms / groups / ctas)) * ctas);
}

// What overlaps nothing: the launch, the epilogue where no other tile is multiplied meanwhile, the
// sum of a split.
double ExposedUs(const WgmmaConfig& c, double waves) {
  constexpr double kLaunchUs = 2.3;  // start, first load, last store
  const double tile_bytes = static_cast<double>(c.tile_rows * c.tile_cols * 2);
  const bool behind_next = c.ping_pong && waves > 1;
  const double shown = behind_next ? 0.2 : c.staging_chunks() == c.chunks() ? 0.5 : 1.0;
  const double epilogue_us = waves * tile_bytes / 73e3 * shown;
  const double reduce_us =
      c.split > 1 ? 0.9 + 0.3 * static_cast<double>(c.split) + tile_bytes * 2 / 25e3 : 0.0;
  const double cluster_us = c.multicast > 1 ? 0.6 : 0.0;
  return kLaunchUs + cluster_us + epilogue_us + reduce_us;
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

TuningSpace WgmmaVariant::Space(const CallDesc& call, const DeviceProfile& device) const {
  const GemmProblem problem = read_(call);
  const int64_t m = BucketM(problem.m);
  using Values = std::vector<int64_t>;
  if (m <= 128) {
    Values cols = {DefaultTokens(m)};
    if (m > 8 && m <= 16) cols.push_back(16);
    return {"wgmma",
            {{"tile_rows", {64, 128}},
             {"tile_cols", cols},
             {"stages", {4, 6, 8, 9, 10, 12}},
             {"math_groups", {1, 2}},
             {"ping_pong", {0}},
             {"swap", {1}},
             {"split", {1, 2, 3, 4, 5, 6, 7, 8}},
             {"in_flight", {1}},
             {"multicast", {1, 2}},
             {"staging", {1}},
             {"group", {16}}}};
  }
  Values cols = {64, 128, 176, 192, 256};
  const int64_t balanced = BalancedCols(problem, std::max(device.sm_count, 1));
  if (balanced != 256) cols.push_back(balanced);
  const bool few = m <= 512;
  return {"wgmma",
          {{"tile_rows", few ? Values{64, 128, 192} : Values{64, 128, 192, 256}},
           {"tile_cols", cols},
           {"stages", {3, 4, 5, 6, 8}},
           {"math_groups", {1, 2, 3}},
           {"ping_pong", {0, 1}},
           {"swap", m <= 1024 ? Values{0, 1} : Values{0}},
           {"split", few ? Values{1, 2} : Values{1}},
           {"in_flight", {0, 1}},
           {"multicast", {1, 2}},
           {"staging", {1, WgmmaConfig::kWholeTile}},
           {"group", {8, 16}}}};
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

// The longest of what the tensor cores, the way into a SM, L2, DRAM and the latency of the ring
// take, plus the parts that overlap nothing. Rates are measured ones (NOTES.md).
double WgmmaVariant::PredictUs(const CallDesc& call, const Config& config,
                               const DeviceProfile& device) const {
  constexpr double kSmBytesPerUs = 105e3;  // into one SM
  constexpr double kL2BytesPerUs = 12e6;
  constexpr double kJitter = 0.02;  // of the ring's latency; tells apart how many stages there are
  const GemmProblem problem = read_(call).Bucketed();
  const WgmmaConfig c = WgmmaConfig::From(config);
  const WgmmaSides sides = WgmmaSides::Of(problem, c.swap);
  const double sms = std::max(device.sm_count, 1);
  const double rows = static_cast<double>(c.tile_rows);
  const double cols = static_cast<double>(c.tile_cols);
  const int64_t tiles = CeilDiv(sides.row_extent, c.tile_rows * c.multicast) * c.multicast *
                        CeilDiv(sides.col_extent, c.tile_cols) * problem.batches;
  const double ctas = static_cast<double>(tiles * c.split);
  const double waves = std::ceil(ctas / UsableSms(device, c.split * c.multicast));
  const double k_steps = static_cast<double>(CeilDiv(KTiles(problem), c.split));

  // A SM multiplies 4096 flops and reads 128 bytes of shared memory a cycle; each 64 rows read the
  // other operand anew.
  const double us_per_cycle = 4096.0 / (TensorFlopsPerUs(device) / sms);
  const double math_cycles = rows * std::max(cols, 32.0) * 64 * 2 / 4096.0 / Efficiency(c);
  const double smem_cycles = (rows + cols * std::ceil(rows / 64)) * 64 * 2 / 128.0;
  const double math_us = waves * k_steps * std::max(math_cycles, smem_cycles) * us_per_cycle;

  const double step_bytes = (rows + cols) * 64 * 2;
  const double m = static_cast<double>(problem.m), n = static_cast<double>(problem.n),
               k = static_cast<double>(problem.k), batches = static_cast<double>(problem.batches);
  const double from_dram =
      std::min(1.0, 2 * batches * (m * k + n * k) / (ctas * k_steps * step_bytes));
  const double slower = (1 + 0.35 * from_dram) * (c.multicast > 1 ? 1.13 : 1.0);
  const double sm_us = waves * k_steps * step_bytes / kSmBytesPerUs * slower;
  const double shared_bytes = (rows + cols / static_cast<double>(c.multicast)) * 64 * 2;
  const double l2_us = ctas * k_steps * shared_bytes / kL2BytesPerUs;
  const double dram_us = 2 * batches * (m * k + n * k + m * n) / BandwidthBytesPerUs(device);
  const double smem_bytes = static_cast<double>(c.SmemBytes(sides.mn_major_cols)) + 1024;
  const double resident = std::max(1.0, std::min(waves, std::floor(228 * 1024 / smem_bytes)));
  const double ring = static_cast<double>(c.stages) * step_bytes;
  const double load_us = 0.9 + 1.1 * from_dram;  // latency under traffic
  const double latency_us = waves * k_steps * step_bytes / (ring * resident) * load_us;

  return std::max({math_us, sm_us, l2_us, dram_us, latency_us}) + kJitter * latency_us +
         ExposedUs(c, waves);
}

Config WgmmaVariant::Default(const CallDesc& call, const DeviceProfile& device) const {
  return FastestPredicted(*this, call, device,
                          Candidates(read_(call), std::max(device.sm_count, 1)));
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
            {"int kMulticast", number(c.multicast)},
            {"int kStagingChunks", number(c.split > 1 ? 1 : c.staging_chunks())},
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
  const int64_t row_tiles = CeilDiv(sides.row_extent, c.tile_rows * c.multicast);
  const int64_t col_tiles = CeilDiv(sides.col_extent, c.tile_cols);
  if (row_tiles > kMaxExtent / kMaxSplit / col_tiles / problem.batches) {
    return FailedPrecondition("wgmma: ", problem.batches, " x ", row_tiles, " x ", col_tiles,
                              " tiles exceed the grid");
  }
  const int64_t tiles = row_tiles * col_tiles * problem.batches;
  params.walk = MakeTileWalk(row_tiles, col_tiles, problem.batches,
                             std::max<int64_t>(1, c.group / c.multicast));

  Launch launch;
  constexpr int64_t kSmemPerSm = 228 * 1024;  // each block takes 1 KB more than it asks for
  const int64_t fit = kSmemPerSm / (c.SmemBytes(sides.mn_major_cols) + 1024);
  const int64_t resident = std::max<int64_t>(device.sm_count, 1) *
                           std::max<int64_t>(1, std::min(c.blocks_per_sm(), fit));
  launch.grid[0] = static_cast<uint32_t>(
      c.split > 1 ? tiles * c.split : std::min(tiles, resident / c.multicast) * c.multicast);
  launch.block[0] = static_cast<uint32_t>(c.threads());
  launch.cluster[0] = static_cast<uint32_t>(c.split * c.multicast);
  launch.dynamic_smem_bytes = static_cast<uint32_t>(c.SmemBytes(sides.mn_major_cols));
  launch.SetParams(params);
  launch.pointers.push_back({offsetof(WgmmaGemmParams, out), 2, 0});
  launch.tensor_maps.push_back(InputMap(offsetof(WgmmaGemmParams, rows_map), sides.rows_operand,
                                        problem, *sides.rows, sides.row_extent, sides.mn_major_rows,
                                        c.tile_rows));
  launch.tensor_maps.push_back(InputMap(offsetof(WgmmaGemmParams, cols_map), sides.cols_operand,
                                        problem, *sides.cols, sides.col_extent, sides.mn_major_cols,
                                        c.tile_cols / c.multicast));
  launch.tensor_maps.push_back(Map(offsetof(WgmmaGemmParams, out_map), 2, problem.dtype, problem.n,
                                   problem.m, problem.batches, problem.d.outer_stride,
                                   problem.d.batch_stride, 64, c.swap ? c.tile_cols : 64));
  bound.launches.push_back(std::move(launch));
  return bound;
}

}  // namespace tilewright
