#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstring>
#include <limits>
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

// A map over one operand: `inner` contiguous elements, `outer` rows of them, then batches; one
// batch stands for all that share it. The stride of an axis that has one element is not looked at,
// so it is replaced by a valid one.
TensorMapSlot Map(size_t offset, const GemmOperand& operand, DType dtype, int64_t inner,
                  int64_t outer, int64_t batches, int64_t outer_stride, int64_t box_inner,
                  int64_t box_outer) {
  const int64_t bytes = DTypeSize(dtype);
  if (outer <= 1) outer_stride = CeilDiv(inner * bytes, 16) * 16 / bytes;
  if (operand.batch_stride == 0) batches = 1;
  const int64_t batch_stride = batches <= 1 ? outer_stride * outer : operand.batch_stride;
  TensorMapSlot slot;
  slot.offset = static_cast<uint16_t>(offset);
  slot.operand = static_cast<int8_t>(operand.operand);
  slot.dtype = dtype;
  slot.rank = 3;
  slot.dims = {static_cast<uint64_t>(inner), static_cast<uint64_t>(outer),
               static_cast<uint64_t>(batches)};
  slot.strides_bytes = {static_cast<uint64_t>(outer_stride * bytes),
                        static_cast<uint64_t>(batch_stride * bytes)};
  slot.box = {static_cast<uint32_t>(box_inner), static_cast<uint32_t>(box_outer), 1};
  // Lines that start off a multiple of 128 bytes: 256 would bring more of the neighbours.
  if (outer_stride * bytes % 128 != 0) slot.l2_promotion_bytes_log2 = 7;
  return slot;
}

TensorMapSlot InputMap(size_t offset, const GemmProblem& problem, const GemmOperand& side,
                       int64_t extent, bool mn_major, int64_t tile) {
  if (mn_major) {
    return Map(offset, side, problem.dtype, extent, problem.k, problem.batches, side.inner_stride,
               64, WgmmaConfig::kTileK);
  }
  return Map(offset, side, problem.dtype, problem.k, extent, problem.batches, side.outer_stride,
             WgmmaConfig::kTileK, tile);
}

// Stages of `bytes` each that leave room for the epilogue's staging. Narrow tiles gain nothing from
// more than 128 KB.
int64_t Stages(int64_t bytes, int64_t cols) {
  return std::clamp<int64_t>((cols <= 64 ? 128 : 200) * 1024 / bytes, 3, 12);
}

// Whether dense rows of the operands start off a multiple of 128 bytes.
bool OddPitch(const GemmProblem& problem) {
  const bool k_major =
      problem.AccessA() == OperandAccess::kKMajor || problem.AccessB() == OperandAccess::kKMajor;
  return k_major && problem.k % 64 != 0;
}

// Columns of an untuned tile that spans m tokens: few sizes. No more tokens are loaded than there
// are.
int64_t DefaultTokens(int64_t m) {
  return m <= 8
             ? 8
             : std::max<int64_t>(32, static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(m))));
}

// A tile with `rows` weights on wgmma's rows, 64 of each math group, and `tokens` columns.
WgmmaConfig Swapped(const GemmProblem& problem, int64_t rows, int64_t tokens) {
  WgmmaConfig config{
      .tile_rows = rows, .tile_cols = tokens, .math_groups = rows / 64, .swap = true};
  config.mn_major_cols = problem.AccessA() == OperandAccess::kMnMajor;
  config.stages = Stages(config.StageBytes(), rows == 64 ? tokens : 128);
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
    // One tile spans the tokens. If these are many, twice the weights beside them are loaded into
    // fewer SMs.
    for (const int64_t rows : m > 32 ? std::vector<int64_t>{64, 128} : std::vector<int64_t>{64}) {
      WgmmaConfig config = Swapped(problem, rows, DefaultTokens(m));
      for (config.split = 1; config.split <= kMaxSplit; ++config.split) {
        candidates.push_back(config.ToConfig());
      }
    }
    if (problem.batches == 1) return candidates;
  }
  constexpr int64_t kWhole = WgmmaConfig::kWholeTile;
  WgmmaConfig narrow = Swapped(problem, 64, 128);
  narrow.group = 4;
  const WgmmaConfig square{
      .tile_rows = 128, .tile_cols = 128, .stages = 6, .in_flight = 0, .group = 16};
  // For short products of few rows: one tile's epilogue hides behind another's few steps.
  const WgmmaConfig small_pair{
      .tile_rows = 64, .tile_cols = 128, .stages = 6, .ping_pong = true, .staging = kWhole};
  const WgmmaConfig tiny{.tile_rows = 64, .tile_cols = 64, .stages = 8, .math_groups = 1};
  const WgmmaConfig medium{
      .tile_rows = 128, .tile_cols = 192, .stages = 4, .in_flight = 0, .staging = kWhole};
  const WgmmaConfig even{
      .tile_rows = 128, .tile_cols = 160, .stages = 5, .in_flight = 0, .group = 16};
  const WgmmaConfig tall{
      .tile_rows = 192, .tile_cols = 176, .stages = 4, .math_groups = 3, .in_flight = 0};
  const WgmmaConfig large{
      .tile_rows = 192, .tile_cols = 192, .stages = 4, .math_groups = 3, .in_flight = 0};
  const WgmmaConfig pair{.tile_rows = 128,
                         .tile_cols = 176,
                         .stages = 5,
                         .ping_pong = true,
                         .multicast = 2,
                         .group = 16};
  const WgmmaConfig high{
      .tile_rows = 256, .tile_cols = 128, .stages = 4, .in_flight = 0, .group = 4};
  // Two tiles that share their columns pay where these are many.
  const bool many = m >= 2048 && problem.n >= 2048 && (problem.batches > 1 || problem.k >= 4096);
  const bool is_tall = PrefersTall(problem, sms);
  const bool odd = OddPitch(problem);
  const bool share = odd || (many && !is_tall);
  const WgmmaConfig wide{.tile_rows = 128,
                         .tile_cols = 256,
                         .stages = share ? 3 : 4,
                         .in_flight = 0,
                         .multicast = share ? 2 : 1,
                         .staging = share ? kWhole : 1,
                         .group = share ? 16 : 8};
  // Few rows, whose tiles should be many, and columns of a width that leaves little of them idle.
  const WgmmaConfig slim{
      .tile_rows = 64, .tile_cols = 192, .stages = 6, .math_groups = 1, .staging = kWhole};
  const WgmmaConfig third{
      .tile_rows = 192, .tile_cols = 160, .stages = 4, .math_groups = 3, .in_flight = 0};
  const WgmmaConfig close{.tile_rows = 128, .tile_cols = 112, .stages = 6, .in_flight = 0};
  const WgmmaConfig broad{.tile_rows = 128, .tile_cols = 224, .stages = 4, .in_flight = 0};
  // Not all large tiles for every n: a problem's buckets would take too many kernels. Odd rows
  // leave only those that share loads, and small ones.
  WgmmaConfig shared = large;
  shared.stages = 3;
  shared.multicast = 2;
  std::vector<WgmmaConfig> offered = {narrow, slim, square};
  const auto offer = [&](std::initializer_list<WgmmaConfig> more) {
    offered.insert(offered.end(), more);
  };
  if (odd) {
    offer({shared});
  } else if (is_tall) {
    offer({broad, high, tall, large});
  } else {
    offer({even, broad, high, medium, pair, large});
  }
  if (m == 192 || m == 384) offer({third});
  if (m <= 512) offer({close});
  for (const WgmmaConfig& config : offered) candidates.push_back(config.ToConfig());
  if (problem.n < 128 && problem.n % 64 != 0) {
    WgmmaConfig thin = tiny;
    thin.tile_cols = CeilDiv(problem.n, 16) * 16;
    candidates.push_back(thin.ToConfig());
  }
  // A whole tile's bias beside 128 sums does not fit into the registers.
  const GemmEpilogue& epilogue = problem.epilogue;
  if (epilogue.bias == GemmEpilogue::Bias::kNone ||
      epilogue.activation <= GemmEpilogue::Activation::kRelu) {
    candidates.push_back(wide.ToConfig());
  }
  if (problem.batches > 1) {
    candidates.push_back(small_pair.ToConfig());
    candidates.push_back(tiny.ToConfig());
  }
  // Few tiles: their K is split over the CTAs of a cluster.
  WgmmaConfig parts = square;
  for (parts.split = 2; m * problem.batches <= 512 && parts.split <= 4; ++parts.split) {
    candidates.push_back(parts.ToConfig());
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
  const double usual = std::min(
      {waves_cols(128), waves_cols(160), waves_cols(176), waves_cols(192), waves_cols(256)});
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
                      : c.tile_cols == 224 ? 0.915
                      : c.tile_cols >= 160 ? 0.93
                      : c.tile_cols >= 128 ? 0.91
                                           : 0.72;
  const bool alone = c.math_groups == 1 || c.ping_pong;
  if (c.math_groups == 1 && c.tile_rows > 64) return 0.95 * (c.in_flight > 0 ? tile : 0.8 * tile);
  const double covered = c.in_flight > 0 ? (alone ? 1.0 : 0.96) : (alone ? 0.8 : 1.0);
  return tile * covered;
}

// SMs that clusters of `ctas` can occupy at once, one CTA each: a cluster stays within one of the
// groups of about 16 SMs.
double UsableSms(const DeviceProfile& device, int64_t ctas) {
  const int64_t sms = std::max<int64_t>(device.sm_count, 1);
  if (ctas <= 2) return static_cast<double>(sms);
  const int64_t groups = CeilDiv(sms, 18) - (ctas >= 5 ? 1 : 0);  // not all hold two of eight
  return static_cast<double>(std::max<int64_t>(1, groups * (sms / groups / ctas)) * ctas);
}

// Whether tiles are walked in groups of row tiles: not where one tile spans the tokens.
bool OffersGroups(const GemmProblem& bucketed) { return bucketed.m > 128 || bucketed.batches > 1; }

// The smallest group that holds `row_tiles`, among the space's.
int64_t LeastGroup(int64_t row_tiles) {
  return std::max<int64_t>(4,
                           static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(row_tiles))));
}

// CTAs that run at once, one wave of them. Each takes 1 KB of shared memory more than it asks for.
int64_t ResidentCtas(const WgmmaConfig& c, const DeviceProfile& device) {
  constexpr int64_t kSmemPerSm = 228 * 1024;
  const int64_t fit = std::max<int64_t>(1, kSmemPerSm / (c.SmemBytes() + 1024));
  return std::max<int64_t>(device.sm_count, 1) * std::min(c.blocks_per_sm(), fit);
}

// Tiles of the whole output, with multicast rounded up to whole clusters of them.
int64_t Tiles(const WgmmaConfig& c, const WgmmaSides& sides, int64_t batches) {
  return CeilDiv(sides.row_extent, c.tile_rows * c.multicast) * c.multicast *
         CeilDiv(sides.col_extent, c.tile_cols) * batches;
}

// Of a config with a tail split; else none.
TailSplit Tail(const WgmmaConfig& c, const GemmProblem& problem, const DeviceProfile& device) {
  const int64_t tiles = Tiles(c, WgmmaSides::Of(problem, c.swap), problem.batches);
  if (!c.tail) return {tiles, 1};
  return TailSplit::Of(tiles, KTiles(problem), ResidentCtas(c, device));
}

// What overlaps nothing: the launch, the epilogue where no other tile is multiplied meanwhile, the
// sum of a split.
double ExposedUs(const WgmmaConfig& c, double waves) {
  constexpr double kLaunchUs = 2.3;  // start, first load, last store
  const double tile_bytes = static_cast<double>(c.tile_rows * c.tile_cols * 2);
  const bool behind_next = c.ping_pong && waves > 1;
  const double shown = behind_next ? 0.2 : c.staging_chunks() == c.chunks() ? 0.6 : 0.7;
  const double epilogue_us = waves * tile_bytes / 73e3 * shown;
  const double reduce_us =
      c.split > 1 ? 0.9 + 0.3 * static_cast<double>(c.split) + tile_bytes * 2 / 28e3 : 0.0;
  const double cluster_us = c.multicast > 1 ? 1.0 : 0.0;
  return kLaunchUs + cluster_us + epilogue_us + reduce_us;
}

// The second kernel of a tail split, and what passes through L2 between the two.
double TailUs(const WgmmaConfig& c, const TailSplit& tail, int64_t tiles) {
  if (tail.parts == 1) return 0.0;
  const auto parts = static_cast<double>((tiles - tail.first) * tail.parts);
  return 4.0 + parts * static_cast<double>(c.tile_rows * c.tile_cols) * 8 / 6e6;
}

// Where the last tile of a side starts so that its box stays inside (see WgmmaGemmParams), or,
// where it may not, the largest number. What is contiguous, in memory or in the output, keeps its
// alignment. The parts of a tail's tile are summed in another order than a whole tile.
int64_t LastStart(const WgmmaConfig& c, int64_t extent, int64_t tile, bool mn_major, bool is_m) {
  const int64_t last = extent - tile;
  const bool aligned = last % 8 == 0 || (is_m && !mn_major);
  return last >= 0 && aligned && !c.tail ? last : std::numeric_limits<int32_t>::max();
}

// Rows of an operand's box: no more than there are, where one tile spans them. What else is in the
// tile's shared memory then reaches only results that are not stored.
int64_t BoxRows(const WgmmaConfig& c, int64_t extent, int64_t tile, bool mn_major) {
  return mn_major || c.multicast > 1 ? tile : std::min(extent, tile);
}

// Gives the first launch's partial sums, of `parts` tiles, room in the workspace, and adds the
// launch that sums them up.
void AddReduction(const WgmmaConfig& c, int64_t parts, BoundCall& bound) {
  constexpr uint16_t kPartials = offsetof(WgmmaGemmParams, partials);
  bound.launches[0].pointers.push_back({kPartials, kWorkspaceOperand, 0});
  bound.workspace_bytes = parts * c.tile_rows * c.tile_cols * 4;
  Launch reduce;
  reduce.kernel = 1;
  reduce.programmatic_dependent_launch = true;
  reduce.params = bound.launches[0].params;
  reduce.pointers = bound.launches[0].pointers;
  WgmmaGemmParams params;
  std::memcpy(&params, reduce.params.data(), sizeof(params));
  const int64_t shares = c.group_rows() / 64 * (c.tile_cols / 8);
  reduce.grid[0] = static_cast<uint32_t>(parts / params.tail_parts * c.math_groups *
                                         CeilDiv(shares, kTailShares));
  reduce.block[0] = 128;
  bound.launches.push_back(std::move(reduce));
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
  GemmProblem problem = read_(call);
  problem.batches = BucketM(problem.batches);
  const int64_t m = BucketM(problem.m);
  using Values = std::vector<int64_t>;
  if (m <= 128 && problem.batches == 1) {
    Values cols = {DefaultTokens(m)};
    if (const int64_t close = CeilDiv(m, 16) * 16; close < cols[0] && m > 8) cols.push_back(close);
    return {"wgmma",
            {{"tile_rows", {64, 128, 192, 256}},
             {"tile_cols", cols},
             {"stages", {4, 6, 8, 9, 10, 12}},
             {"math_groups", {1, 2, 3}},
             {"ping_pong", {0}},
             {"swap", {1}},
             {"split", {1, 2, 3, 4, 5, 6, 7, 8}},
             {"in_flight", {1}},
             {"multicast", {1, 2}},
             {"staging", {1}},
             {"group", {16}},
             {"stream", {0}},
             {"tail", {0, 1}}}};
  }
  Values cols = {64, 128, 160, 176, 192, 256};
  if (m <= 512) cols.insert(cols.begin() + 1, {96, 112});
  if (problem.n < 128 && problem.n % 64 != 0) cols.push_back(CeilDiv(problem.n, 16) * 16);
  if (m <= 128 && DefaultTokens(m) < 64) cols.insert(cols.begin(), DefaultTokens(m));
  const int64_t balanced = BalancedCols(problem, std::max(device.sm_count, 1));
  if (balanced != 256 && balanced != 160) cols.push_back(balanced);
  const bool few = m * problem.batches <= 512;
  return {"wgmma",
          {{"tile_rows", {64, 128, 192, 256}},
           {"tile_cols", cols},
           {"stages", {3, 4, 5, 6, 8}},
           {"math_groups", {1, 2, 3}},
           {"ping_pong", {0, 1}},
           {"swap", m <= 1024 ? Values{0, 1} : Values{0}},
           {"split", few ? Values{1, 2, 3, 4, 5, 6} : Values{1}},
           {"in_flight", {0, 1}},
           {"multicast", {1, 2}},
           {"staging", {1, WgmmaConfig::kWholeTile}},
           {"group", {4, 8, 16, 32}},
           {"stream", {0}},
           {"tail", {0, 1}}}};
}

absl::Status WgmmaVariant::Legal(const CallDesc& call, const Config& config,
                                 const DeviceProfile& device) const {
  const GemmProblem problem = read_(call);
  const WgmmaConfig c = WgmmaConfig::From(config, problem);
  TW_RETURN_IF_ERROR(c.Check(device));
  if (c.split < 1 || c.split > kMaxSplit) return FailedPrecondition("split = ", c.split);
  if (c.tail && Tail(c, problem.Bucketed(), device).parts == 1) {
    return FailedPrecondition("the last wave is full enough, or K too short, for a tail split");
  }
  // Each cluster does one tile: the order of tiles means little, and more than two waves gain
  // nothing.
  const int64_t sms = std::max<int64_t>(device.sm_count, 1);
  const GemmProblem bucketed = problem.Bucketed();
  const int64_t tiles = Tiles(c, WgmmaSides::Of(bucketed, c.swap), bucketed.batches);
  if (c.split > 1 && (c.group != 16 || tiles * c.split > std::max(2 * sms, c.split))) {
    return FailedPrecondition("split = ", c.split, " of ", tiles, " tiles, group = ", c.group);
  }
  // Where every row tile is in one group, a larger one is the same.
  const int64_t row_tiles = CeilDiv(WgmmaSides::Of(bucketed, c.swap).row_extent, c.tile_rows);
  if (OffersGroups(bucketed) && c.split == 1 && c.group > LeastGroup(row_tiles)) {
    return FailedPrecondition("group = ", c.group, " of ", row_tiles, " row tiles");
  }
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
  const GemmProblem call_problem = read_(call);
  const WgmmaConfig c = WgmmaConfig::From(config, call_problem);
  const GemmProblem problem = call_problem.Bucketed();
  const WgmmaSides sides = WgmmaSides::Of(problem, c.swap);
  const double sms = std::max(device.sm_count, 1);
  const double rows = static_cast<double>(c.tile_rows);
  const double cols = static_cast<double>(c.tile_cols);
  const int64_t tiles = Tiles(c, sides, problem.batches);
  const double ctas = static_cast<double>(tiles * c.split);
  double waves = std::ceil(ctas / UsableSms(device, c.split * c.multicast));
  const double k_steps = static_cast<double>(CeilDiv(KTiles(problem), c.split));
  const TailSplit tail = Tail(c, problem, device);
  if (tail.parts > 1) {
    waves = static_cast<double>(tail.first / ResidentCtas(c, device)) +
            1.0 / static_cast<double>(tail.parts);
  }

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
  // Rows off a multiple of 128 bytes take an eighth more lines, and many more requests.
  const double odd = OddPitch(problem) ? (c.multicast > 1 ? 1.2 : 1.5) : 1.0;
  const double slower = (1 + 0.35 * from_dram) * (c.multicast > 1 ? 1.13 : 1.0) * odd;
  const double sm_us = waves * k_steps * step_bytes / kSmBytesPerUs * slower;
  const double shared_bytes = (rows + cols / static_cast<double>(c.multicast)) * 64 * 2;
  const double l2_us = ctas * k_steps * shared_bytes / kL2BytesPerUs;
  // What several SMs read at once is in part fetched anew.
  const double dram_us = 2 * batches * (m * k + n * k + m * n) / BandwidthBytesPerUs(device) *
                         (1 + 0.3 * (1 - from_dram));
  const double smem_bytes = static_cast<double>(c.SmemBytes()) + 1024;
  const double resident = std::max(1.0, std::min(waves, std::floor(228 * 1024 / smem_bytes)));
  const double ring = static_cast<double>(c.stages) * step_bytes;
  const double load_us = 0.9 + 1.1 * from_dram;  // latency under traffic
  const double latency_us = waves * k_steps * step_bytes / (ring * resident) * load_us;

  return std::max({math_us, sm_us, l2_us, dram_us, latency_us}) + kJitter * latency_us +
         ExposedUs(c, std::ceil(waves)) + TailUs(c, tail, tiles);
}

Config WgmmaVariant::Default(const CallDesc& call, const DeviceProfile& device) const {
  GemmProblem problem = read_(call);
  problem.batches = BucketM(problem.batches);
  std::vector<Config> candidates = Candidates(problem, std::max(device.sm_count, 1));
  const GemmProblem bucketed = problem.Bucketed();
  for (Config& candidate : candidates) {
    WgmmaConfig c = WgmmaConfig::From(candidate, problem);
    if (!OffersGroups(bucketed) || c.split > 1) continue;
    const int64_t rows = WgmmaSides::Of(bucketed, c.swap).row_extent;
    c.group = std::min(c.group, LeastGroup(CeilDiv(rows, c.tile_rows)));
    candidate = c.ToConfig();
  }
  return FastestPredicted(*this, call, device, candidates);
}

std::vector<KernelSpec> WgmmaVariant::Kernels(const CallDesc& call, const Config& config) const {
  const GemmProblem problem = read_(call);
  const WgmmaConfig c = WgmmaConfig::From(config, problem);
  const auto number = [](int64_t value) { return std::to_string(value); };
  const auto flag = [](bool value) { return std::string(value ? "true" : "false"); };
  KernelSpec spec{"gemm/wgmma.cuh",
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
                   {"bool kMnMajorRows", flag(c.mn_major_rows)},
                   {"bool kMnMajorCols", flag(c.mn_major_cols)},
                   {"int kInFlight", number(c.in_flight)},
                   {"int kBlocksPerSm", number(c.blocks_per_sm())},
                   {"int kProducerRegisters", number(c.producer_registers())},
                   {"int kMathRegisters", number(c.math_registers())},
                   {"bool kTailSplit", flag(c.tail)}}};
  AddEpilogueConstants(problem, !c.swap, spec);
  if (!c.tail) return {spec};
  KernelSpec reduce = spec;
  reduce.entry = "tilewright::WgmmaReduceKernel";
  return {spec, reduce};
}

absl::StatusOr<BoundCall> WgmmaVariant::Bind(const CallDesc& call, const Config& config,
                                             const DeviceProfile& device) const {
  const GemmProblem problem = read_(call);
  const WgmmaConfig c = WgmmaConfig::From(config, problem);
  const WgmmaSides sides = WgmmaSides::Of(problem, c.swap);
  BoundCall bound;
  if (problem.empty()) return bound;

  WgmmaGemmParams params{};
  params.out_row_stride = problem.d.outer_stride;
  params.out_batch_stride = problem.d.batch_stride;
  params.rows = static_cast<int>(sides.row_extent);
  params.cols = static_cast<int>(sides.col_extent);
  params.last_row =
      static_cast<int>(LastStart(c, sides.row_extent, c.tile_rows, c.mn_major_rows, !c.swap));
  params.last_col =
      static_cast<int>(LastStart(c, sides.col_extent, c.tile_cols, c.mn_major_cols, c.swap));
  const int64_t box_rows = BoxRows(c, sides.row_extent, c.tile_rows, c.mn_major_rows);
  const int64_t box_cols = BoxRows(c, sides.col_extent, c.tile_cols, c.mn_major_cols);
  params.loaded_bytes = static_cast<int>(c.LoadedBytes(box_rows, box_cols));
  params.k_tiles = static_cast<int>(KTiles(problem));
  params.rows_batch_step = sides.rows->batch_stride == 0 ? 0 : 1;
  params.cols_batch_step = sides.cols->batch_stride == 0 ? 0 : 1;
  const int64_t row_tiles = CeilDiv(sides.row_extent, c.tile_rows * c.multicast);
  const int64_t col_tiles = CeilDiv(sides.col_extent, c.tile_cols);
  if (row_tiles > kMaxExtent / kMaxSplit / col_tiles / problem.batches) {
    return FailedPrecondition("wgmma: ", problem.batches, " x ", row_tiles, " x ", col_tiles,
                              " tiles exceed the grid");
  }
  params.stream_rows = col_tiles == 1 && params.rows_batch_step != 0;
  params.stream_cols = row_tiles == 1 && params.cols_batch_step != 0;
  params.stream_out = c.stream;
  const int64_t tiles = row_tiles * col_tiles * problem.batches;
  params.walk = MakeTileWalk(row_tiles, col_tiles, problem.batches,
                             std::max<int64_t>(1, c.group / c.multicast));
  const TailSplit tail = Tail(c, problem, device);
  const int64_t whole = tail.parts == 1 ? tiles : tail.first;
  const int64_t items = whole + (tiles - whole) * tail.parts;
  params.tail_first = static_cast<int>(whole);
  params.tail_parts = static_cast<int>(tail.parts);

  Launch launch;
  const int64_t resident = ResidentCtas(c, device);
  launch.grid[0] = static_cast<uint32_t>(
      c.split > 1 ? tiles * c.split : std::min(items, resident / c.multicast) * c.multicast);
  launch.block[0] = static_cast<uint32_t>(c.threads());
  launch.cluster[0] = static_cast<uint32_t>(c.split * c.multicast);
  launch.dynamic_smem_bytes = static_cast<uint32_t>(c.SmemBytes());
  launch.SetParams(params);
  launch.pointers.push_back(
      {offsetof(WgmmaGemmParams, out), static_cast<int8_t>(problem.d.operand), 0});
  AddBiasPointer(problem, offsetof(WgmmaGemmParams, bias), launch);
  launch.tensor_maps.push_back(InputMap(offsetof(WgmmaGemmParams, rows_map), problem, *sides.rows,
                                        sides.row_extent, c.mn_major_rows, box_rows));
  launch.tensor_maps.push_back(InputMap(offsetof(WgmmaGemmParams, cols_map), problem, *sides.cols,
                                        sides.col_extent, c.mn_major_cols, box_cols / c.multicast));
  launch.tensor_maps.push_back(Map(offsetof(WgmmaGemmParams, out_map), problem.d,
                                   problem.epilogue.out_dtype, problem.n, problem.m,
                                   problem.batches, problem.d.outer_stride, 128 / c.out_bytes,
                                   c.swap ? c.tile_cols : 64));
  bound.launches.push_back(std::move(launch));
  if (tail.parts > 1) AddReduction(c, items - whole, bound);
  return bound;
}

}  // namespace tilewright
