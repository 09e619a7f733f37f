#include "kernel_templates/gemm/wgmma_config.h"

#include <algorithm>

#include "manifest/status.h"

namespace tilewright {
namespace {

constexpr int64_t kRowBytes = 128;  // of a swizzled tile: 64 16-bit elements
constexpr int64_t kSmemLimit = 232448;

int64_t RoundUp(int64_t value, int64_t step) { return (value + step - 1) / step * step; }

}  // namespace

WgmmaConfig WgmmaConfig::From(const Config& config, const GemmProblem& problem) {
  const bool swap = config.Get("swap") != 0;
  const bool mn_major_a = problem.AccessA() == OperandAccess::kMnMajor;
  const bool mn_major_b = problem.AccessB() == OperandAccess::kMnMajor;
  return {.tile_rows = config.Get("tile_rows"),
          .tile_cols = config.Get("tile_cols"),
          .stages = config.Get("stages"),
          .math_groups = config.Get("math_groups"),
          .ping_pong = config.Get("ping_pong") != 0,
          .swap = swap,
          .split = config.Get("split", 1),
          .in_flight = config.Get("in_flight", 1),
          .multicast = config.Get("multicast", 1),
          .staging = config.Get("staging", 1),
          .group = config.Get("group", 8),
          .stream = config.Get("stream", 0) != 0,
          .tail = config.Get("tail", 0) != 0,
          .mn_major_rows = swap ? mn_major_b : mn_major_a,
          .mn_major_cols = swap ? mn_major_a : mn_major_b,
          .out_bytes = DTypeSize(problem.epilogue.out_dtype)};
}

Config WgmmaConfig::ToConfig() const {
  return {"wgmma",
          {{"tile_rows", tile_rows},
           {"tile_cols", tile_cols},
           {"stages", stages},
           {"math_groups", math_groups},
           {"ping_pong", ping_pong ? 1 : 0},
           {"swap", swap ? 1 : 0},
           {"split", split},
           {"in_flight", in_flight},
           {"multicast", multicast},
           {"staging", staging},
           {"group", group},
           {"stream", stream ? 1 : 0},
           {"tail", tail ? 1 : 0}}};
}

int64_t WgmmaConfig::producer_registers() const {
  return math_groups == 1 ? 0 : math_groups == 2 ? 40 : 32;
}

int64_t WgmmaConfig::math_registers() const {
  return math_groups == 1 ? 0 : math_groups == 2 ? 232 : 160;
}

int64_t WgmmaConfig::LoadedBytes(int64_t box_rows, int64_t box_cols) const {
  return (box_rows + (mn_major_cols ? RoundUp(box_cols, 64) : box_cols)) * kRowBytes;
}

int64_t WgmmaConfig::StageBytes() const {
  const int64_t cols = mn_major_cols ? RoundUp(tile_cols, 64) : tile_cols;
  return tile_rows * kRowBytes + RoundUp(cols * kRowBytes, 1024);
}

int64_t WgmmaConfig::SlotBytes() const {
  const int64_t shares = group_rows() / 64 * (tile_cols / 8);
  return math_groups * ((shares + split - 1) / split * split) * 64 * 8 * 4;
}

bool WgmmaConfig::own_slots() const {
  const int64_t barriers = 8 * (2 * stages + math_groups);
  return split > 1 && RoundUp(stages * StageBytes() + barriers, 128) + SlotBytes() <= kSmemLimit;
}

int64_t WgmmaConfig::SmemBytes() const {
  const int64_t chunk_bytes = (swap ? tile_cols : group_rows()) * kRowBytes;
  const int64_t staged = split > 1 ? 0 : math_groups * staging_chunks() * chunk_bytes;
  const int64_t barriers = 2 * stages + (split > 1 ? math_groups : 0);
  const int64_t bytes = stages * StageBytes() + staged + 8 * barriers;
  return own_slots() ? RoundUp(bytes, 128) + SlotBytes() : bytes;
}

absl::Status WgmmaConfig::Check(const DeviceProfile& device) const {
  if (group_rows() % 64 != 0 || group_rows() == 0 || tile_rows % math_groups != 0) {
    return FailedPrecondition("a math group needs a multiple of 64 rows, has ", group_rows());
  }
  if (tile_rows > 256 || tile_cols > 256) return FailedPrecondition("a tile side is at most 256");
  if (tile_cols % (swap ? 8 : 16) != 0) {
    return FailedPrecondition("tile_cols = ", tile_cols, " is no multiple of ", swap ? 8 : 16);
  }
  if (ping_pong && (math_groups != 2 || split > 1)) {
    return FailedPrecondition("ping-pong needs two math groups and no split");
  }
  if (tail && (ping_pong || split > 1 || multicast > 1)) {
    return FailedPrecondition("a tail split goes with no ping-pong, split or multicast");
  }
  if (staging < 1 || (staging == kWholeTile && chunks() == 1)) {
    return FailedPrecondition("staging = ", staging, " of ", chunks(), " chunks");
  }
  if (staging == 2 && (chunks() <= 2 || ping_pong || tile_cols < 224)) {
    return FailedPrecondition("two epilogue buffers are for tiles of 224 columns and more");
  }
  if (multicast != 1 &&
      (multicast != 2 || split > 1 || tile_cols % (mn_major_cols ? 128 : 16) != 0)) {
    return FailedPrecondition("multicast = ", multicast, " needs even halves and no split");
  }
  const int64_t registers = math_groups == 3 ? 104 : 192;  // 128 a thread at the start
  if (accumulators() > registers) {
    return FailedPrecondition(accumulators(), " accumulators a thread, at most ", registers);
  }
  if (stages < 2 || stages <= in_flight) return FailedPrecondition("too few stages");
  if ((math_groups == 1 || ping_pong) && in_flight == 0) {
    return FailedPrecondition("a group that multiplies alone keeps a product in flight");
  }
  if (split > 1 && !own_slots() && stages * StageBytes() < SlotBytes()) {
    return FailedPrecondition("the partial sums of a split do not fit into the stages");
  }
  const int64_t limit = device.smem_per_block_bytes > 0 ? device.smem_per_block_bytes : kSmemLimit;
  if (SmemBytes() > limit) {
    return FailedPrecondition("needs ", SmemBytes(), " bytes of shared memory, has ", limit);
  }
  if (math_groups > 1 && !ping_pong && !swap && in_flight != 0) {
    return FailedPrecondition("groups that share a tile cover each other's waits");
  }
  if (blocks_per_sm() == 1 && stages < 6 && SmemBytes() + 3 * StageBytes() <= limit) {
    return FailedPrecondition(stages, " stages leave room for three more");
  }
  return absl::OkStatus();
}

TailSplit TailSplit::Of(int64_t tiles, int64_t k_tiles, int64_t ctas) {
  constexpr int64_t kMaxParts = 16;
  constexpr int64_t kMinSteps = 4;  // of K in a part
  const int64_t rest = tiles % ctas;
  if (rest == 0) return {tiles, 1};
  const int64_t parts = std::min({ctas / rest, k_tiles / kMinSteps, kMaxParts});
  return parts < 2 ? TailSplit{tiles, 1} : TailSplit{tiles - rest, parts};
}

TileWalk MakeTileWalk(int64_t row_tiles, int64_t col_tiles, int64_t batches, int64_t group) {
  const int64_t height = std::min(group, row_tiles);
  const int64_t rest = row_tiles % height;
  return {MakeFastDivmod<false>(row_tiles * col_tiles),
          MakeFastDivmod<false>(height * col_tiles),
          MakeFastDivmod<false>(height),
          MakeFastDivmod<false>(rest == 0 ? height : rest),
          static_cast<unsigned>(row_tiles / height),
          static_cast<int>(row_tiles * col_tiles * batches)};
}

WgmmaSides WgmmaSides::Of(const GemmProblem& problem, bool swap) {
  if (swap) return {&problem.b, &problem.a, problem.n, problem.m};
  return {&problem.a, &problem.b, problem.m, problem.n};
}

}  // namespace tilewright
