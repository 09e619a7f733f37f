#include "kernel_templates/gemm/wgmma_choice.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <optional>

#include "kernel_templates/gemm/wgmma_grid.h"

namespace tilewright {
namespace {

// Stages of `bytes` each that leave room for the epilogue's staging. Narrow tiles gain nothing from
// more than 128 KB.
int64_t Stages(int64_t bytes, int64_t cols) {
  const int64_t most = cols == 8 ? 12 : 10;
  return std::clamp<int64_t>((cols <= 64 ? 128 : 200) * int64_t{1024} / bytes, 3, most);
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

// Where two row tiles hold all tokens and pairs of them fill one wave: pairs that share the
// weights, which are then read once, by one load.
std::optional<WgmmaConfig> OneWaveOfPairs(const GemmProblem& problem, int64_t sms) {
  const int64_t m = BucketM(problem.m);
  if (problem.batches > 1 || (m != 256 && m != 384)) return std::nullopt;
  for (const int64_t cols :
       m == 256 ? std::vector<int64_t>{96, 112, 128} : std::vector<int64_t>{64, 160}) {
    const int64_t ctas = 2 * CeilDiv(problem.n, cols);
    if (ctas > sms || 5 * ctas < 4 * sms) continue;
    const WgmmaConfig pairs{.tile_rows = m / 2,
                            .tile_cols = cols,
                            .stages = cols == 160   ? 4
                                      : cols == 112 ? 7
                                                    : 6,
                            .math_groups = m / 128,
                            .in_flight = 0,
                            .multicast = 2,
                            .group = 4};
    if (problem.AccessB() != OperandAccess::kMnMajor || cols == 128) return pairs;
  }
  return std::nullopt;
}

// Where few weights and a long K leave tiles of all tokens, or of a third of 384, far from one
// wave: parts of K that fill it.
std::optional<WgmmaConfig> OneWaveOfParts(const GemmProblem& problem, int64_t sms) {
  const int64_t m = BucketM(problem.m);
  if (problem.batches > 1 || problem.k < 4096 || OddPitch(problem)) return std::nullopt;
  const auto fills = [&](int64_t tiles, int64_t split) {
    // Clusters of five leave a sixth of the SMs over (see the model).
    const int64_t usable = split == 5 ? sms * 5 / 6 : sms;
    return tiles * split <= usable && 5 * tiles * split >= 4 * sms;
  };
  WgmmaConfig parts{.tile_rows = 256, .stages = 5, .in_flight = 0, .group = 16};
  if (m == 192 || m == 256) {
    for (const auto& [cols, split] : {std::pair<int64_t, int64_t>{64, 2}, {96, 5}}) {
      parts.tile_cols = cols;
      parts.split = split;
      const bool whole = problem.AccessB() != OperandAccess::kMnMajor || cols == 64;
      if (whole && fills(CeilDiv(problem.n, cols), split)) return parts;
    }
  }
  if (m == 384 && fills(3 * CeilDiv(problem.n, 128), 2)) {
    WgmmaConfig thirds = Swapped(problem, 128, 128);
    thirds.stages = 7;
    thirds.split = 2;
    return thirds;
  }
  return std::nullopt;
}

// Batches of a short K and many columns are all output: 256 of these a tile.
std::optional<WgmmaConfig> FewRowsOfShortK(const GemmProblem& problem) {
  if (problem.k > 256 || problem.n < 1024) return std::nullopt;
  WgmmaConfig config = Swapped(problem, 256, 128);
  config.stages = 4;
  config.math_groups = 2;
  config.group = 8;
  return config;
}

// Of up to 128 rows: one tile spans the tokens. If these are many, twice the weights beside them
// are loaded into fewer SMs; where there are waves of tiles, if K is long.
std::vector<WgmmaConfig> FewRows(const GemmProblem& problem, int64_t m, int64_t sms) {
  const int64_t tiles = CeilDiv(problem.n, 64);
  const bool waves = m > 32 && problem.batches == 1 && tiles > 2 * sms;
  if (waves) {
    WgmmaConfig config =
        Swapped(problem, problem.k > 2048 ? 128 : 64, m == 96 ? 96 : DefaultTokens(m));
    if (config.tile_rows == 128 && config.tile_cols > 64) config.stages = 6;
    if (!config.mn_major_cols || config.tile_cols == 128) return {config};
  }
  // Half of the SMs read about as fast as all, so that summing up parts of K gains nothing, unless
  // K is long.
  const bool half = 20 * tiles >= 9 * sms && tiles <= sms;
  if (half && problem.batches == 1 && m <= 64 && (problem.k <= 8192 || 5 * tiles >= 4 * sms)) {
    WgmmaConfig config = Swapped(problem, 64, DefaultTokens(m));
    if (5 * tiles < 4 * sms) config.stages = 12;
    return {config};
  }
  // Where K has three parts, a tile of 96 tokens serves fewer as well as one of 64: one kernel.
  int64_t tokens = DefaultTokens(m);
  const bool thirds = 3 * tiles <= sms;
  if (problem.batches == 1 && problem.k >= 4096 && m <= 96 &&
      problem.AccessA() == OperandAccess::kKMajor &&
      (thirds ? m > 32 : half && 2 * tiles <= sms && m > 64)) {
    tokens = 96;
  }
  std::vector<WgmmaConfig> candidates;
  for (const int64_t rows : m > 32 ? std::vector<int64_t>{64, 128} : std::vector<int64_t>{64}) {
    WgmmaConfig config = Swapped(problem, rows, tokens);
    if (problem.batches > 1 && rows == 128 && config.tile_cols == 128) config.stages = 5;
    if (tokens == 96 && rows == 64) config.stages = 8;
    for (config.split = 1; config.split <= kMaxSplit; ++config.split) {
      if (tokens == 32 && problem.batches == 1 && config.split == 2) config.stages = 8;
      candidates.push_back(config);
    }
  }
  return candidates;
}

constexpr int64_t kWhole = WgmmaConfig::kWholeTile;
constexpr WgmmaConfig kSquare{
    .tile_rows = 128, .tile_cols = 128, .stages = 6, .in_flight = 0, .group = 16};
constexpr WgmmaConfig kTiny{.tile_rows = 64, .tile_cols = 64, .stages = 8, .math_groups = 1};
constexpr WgmmaConfig kLarge{
    .tile_rows = 192, .tile_cols = 192, .stages = 4, .math_groups = 3, .in_flight = 0};

// 128x256. Two buffers an epilogue fit in beside four stages: a chunk is staged while the one
// before it is being stored. Of batches that share loads, the whole tile beside three stages was
// faster.
WgmmaConfig Wide(const GemmProblem& problem, int64_t m, int64_t sms) {
  // Two tiles that share their columns pay where these are many, of many batches.
  const bool many = m >= 2048 && problem.n >= 2048 && problem.batches > 1;
  const bool share = OddPitch(problem) || (many && !PrefersTall(problem, sms));
  const bool whole = share && problem.batches > 1;
  return {.tile_rows = 128,
          .tile_cols = 256,
          .stages = whole ? 3 : 4,
          .in_flight = 0,
          .multicast = share ? 2 : 1,
          .staging = whole ? kWhole : 2,
          .group = 16};
}

// 128x176 by turns. Where K is short, tiles that share loads wait for each other too often.
WgmmaConfig Pair(const GemmProblem& problem) {
  const bool apart = problem.k <= 2048 && problem.AccessB() == OperandAccess::kKMajor;
  return {.tile_rows = 128,
          .tile_cols = 176,
          .stages = 5,
          .ping_pong = true,
          .multicast = apart ? 1 : 2,
          .group = 16};
}

// Not all large tiles for every n: a problem's buckets would take too many kernels. Rows of odd
// pitch leave only those that share loads.
std::vector<WgmmaConfig> LargeTiles(const GemmProblem& problem, int64_t sms) {
  if (OddPitch(problem)) {
    WgmmaConfig shared = kLarge;
    shared.stages = 3;
    shared.multicast = 2;
    WgmmaConfig turned = shared;
    turned.tile_cols = 176;
    turned.swap = true;
    turned.group = 16;
    return {shared, turned};
  }
  const WgmmaConfig even{
      .tile_rows = 128, .tile_cols = 160, .stages = 5, .in_flight = 0, .group = 16};
  const WgmmaConfig broad{
      .tile_rows = 128, .tile_cols = 224, .stages = 4, .in_flight = 0, .staging = 2};
  const WgmmaConfig high{
      .tile_rows = 256, .tile_cols = 128, .stages = 4, .in_flight = 0, .group = 4};
  const WgmmaConfig tall{
      .tile_rows = 192, .tile_cols = 176, .stages = 4, .math_groups = 3, .in_flight = 0};
  if (PrefersTall(problem, sms)) return {broad, high, tall, kLarge};
  return {even, broad, high, Pair(problem), kLarge};
}

// Tiles for any number of rows.
std::vector<WgmmaConfig> ManyRows(const GemmProblem& problem, int64_t m, int64_t sms) {
  WgmmaConfig narrow = Swapped(problem, 64, 128);
  if (problem.batches == 1 && problem.k <= 2048 && problem.n % 128 == 0 && !OddPitch(problem)) {
    narrow = {.tile_rows = 64, .tile_cols = 128, .stages = 8, .math_groups = 1, .staging = kWhole};
  }
  narrow.group = 4;
  // Few rows, whose tiles should be many, and columns of a width that leaves little of them idle.
  const WgmmaConfig slim{
      .tile_rows = 64, .tile_cols = 192, .stages = 6, .math_groups = 1, .staging = kWhole};
  const WgmmaConfig third{
      .tile_rows = 192, .tile_cols = 160, .stages = 4, .math_groups = 3, .in_flight = 0};
  const WgmmaConfig close{.tile_rows = 128, .tile_cols = 112, .stages = 7, .in_flight = 0};
  // For short products of few rows: one tile's epilogue hides behind another's few steps.
  const WgmmaConfig small_pair{
      .tile_rows = 64, .tile_cols = 128, .stages = 6, .ping_pong = true, .staging = kWhole};
  std::vector<WgmmaConfig> candidates = {narrow, slim, kSquare};
  for (const WgmmaConfig& config : LargeTiles(problem, sms)) candidates.push_back(config);
  if (m == 192 || m == 384) candidates.push_back(third);
  if (m <= 512 || m == 1024) candidates.push_back(close);
  if (problem.n < 128 && problem.n % 64 != 0) {
    WgmmaConfig thin = kTiny;
    thin.tile_cols = CeilDiv(problem.n, 16) * 16;
    candidates.push_back(thin);
  }
  candidates.push_back(Wide(problem, m, sms));
  WgmmaConfig tiny = kTiny;
  if (problem.k <= 256) tiny.stages = 4;
  if (problem.batches > 1) candidates.insert(candidates.end(), {small_pair, tiny});
  // Few tiles: their K is split over the CTAs of a cluster. Not beside another kernel that does so.
  GemmProblem fewer = problem;
  fewer.m = 256;
  const bool split = m * problem.batches <= 512 && !OneWaveOfParts(fewer, sms);
  WgmmaConfig parts = kSquare;
  for (parts.split = 2; split && parts.split <= 4; ++parts.split) candidates.push_back(parts);
  return candidates;
}

// The untuned candidates: few, so that a problem's buckets share kernels. What they are made of was
// the fastest in measurements (NOTES.md); which one is chosen is the model's.
std::vector<WgmmaConfig> Candidates(const GemmProblem& problem, int64_t sms) {
  const int64_t m = BucketM(problem.m);
  std::vector<WgmmaConfig> candidates;
  if (problem.batches > 1 && m > 64 && m <= 128) {
    if (const auto wide = FewRowsOfShortK(problem)) return {*wide};
  }
  if (m <= 128) candidates = FewRows(problem, m, sms);
  if (m <= 128 && problem.batches == 1) return candidates;
  if (const auto pairs = OneWaveOfPairs(problem, sms)) return {*pairs};
  if (const auto parts = OneWaveOfParts(problem, sms)) return {*parts};
  for (const WgmmaConfig& config : ManyRows(problem, m, sms)) candidates.push_back(config);
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

}  // namespace

TuningSpace WgmmaSpace(GemmProblem problem, const DeviceProfile& device) {
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
  if (m <= 1024) cols.insert(cols.begin() + 1, {96, 112});
  // A tile of all tokens, or of half, of the fewest and the middle of the bucket.
  if (m == 256) cols.insert(cols.end(), {200, 224});
  if (m == 384) cols.push_back(168);
  if (problem.n < 128 && problem.n % 64 != 0) cols.push_back(CeilDiv(problem.n, 16) * 16);
  if (m <= 128 && DefaultTokens(m) < 64) cols.insert(cols.begin(), DefaultTokens(m));
  const int64_t balanced = BalancedCols(problem, std::max(device.sm_count, 1));
  if (balanced != 256 && balanced != 160) cols.push_back(balanced);
  const bool few = m * problem.batches <= 512;
  // Columns of an MN-major operand come in blocks of 64, its rows in any number of these.
  const bool turned = m <= 1024 || (problem.AccessA() == OperandAccess::kKMajor &&
                                    problem.AccessB() == OperandAccess::kMnMajor);
  return {"wgmma",
          {{"tile_rows", {64, 128, 192, 256}},
           {"tile_cols", cols},
           {"stages", {3, 4, 5, 6, 7, 8}},
           {"math_groups", {1, 2, 3}},
           {"ping_pong", {0, 1}},
           {"swap", turned ? Values{0, 1} : Values{0}},
           {"split", few ? Values{1, 2, 3, 4, 5, 6} : Values{1}},
           {"in_flight", {0, 1}},
           {"multicast", {1, 2}},
           {"staging", {1, 2, WgmmaConfig::kWholeTile}},
           {"group", {4, 8, 16, 32}},
           {"stream", {0}},
           {"tail", {0, 1}}}};
}

std::vector<Config> WgmmaCandidates(GemmProblem problem, const DeviceProfile& device) {
  problem.batches = BucketM(problem.batches);
  const GemmProblem bucketed = problem.Bucketed();
  std::vector<Config> candidates;
  for (WgmmaConfig c : Candidates(problem, std::max(device.sm_count, 1))) {
    if (OffersGroups(bucketed) && c.split == 1) {
      const int64_t rows = WgmmaSides::Of(bucketed, c.swap).row_extent;
      c.group = std::min(c.group, LeastGroup(CeilDiv(rows, c.tile_rows)));
    }
    candidates.push_back(c.ToConfig());
  }
  return candidates;
}

}  // namespace tilewright
