#include "kernel_templates/gemm/wgmma_grid.h"

#include <algorithm>
#include <bit>

namespace tilewright {

bool OddPitch(const GemmProblem& problem) {
  const bool k_major =
      problem.AccessA() == OperandAccess::kKMajor || problem.AccessB() == OperandAccess::kKMajor;
  return k_major && problem.k % 64 != 0;
}

bool OffersGroups(const GemmProblem& bucketed) { return bucketed.m > 128 || bucketed.batches > 1; }

int64_t LeastGroup(int64_t row_tiles) {
  return std::max<int64_t>(4,
                           static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(row_tiles))));
}

int64_t ResidentCtas(const WgmmaConfig& c, const DeviceProfile& device) {
  constexpr int64_t kSmemPerSm = 228 * 1024;
  const int64_t fit = std::max<int64_t>(1, kSmemPerSm / (c.SmemBytes() + 1024));
  return std::max<int64_t>(device.sm_count, 1) * std::min(c.blocks_per_sm(), fit);
}

int64_t Tiles(const WgmmaConfig& c, const WgmmaSides& sides, int64_t batches) {
  return CeilDiv(sides.row_extent, c.tile_rows * c.multicast) * c.multicast *
         CeilDiv(sides.col_extent, c.tile_cols) * batches;
}

TailSplit Tail(const WgmmaConfig& c, const GemmProblem& problem, const DeviceProfile& device) {
  const int64_t tiles = Tiles(c, WgmmaSides::Of(problem, c.swap), problem.batches);
  if (!c.tail) return {tiles, 1};
  return TailSplit::Of(tiles, KTiles(problem), ResidentCtas(c, device));
}

}  // namespace tilewright
