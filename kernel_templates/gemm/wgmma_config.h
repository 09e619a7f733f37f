// A wgmma configuration with names, and what follows from it: the constants of the kernel, its
// shared memory and registers.
#ifndef TILEWRIGHT_KERNEL_TEMPLATES_GEMM_WGMMA_CONFIG_H_
#define TILEWRIGHT_KERNEL_TEMPLATES_GEMM_WGMMA_CONFIG_H_

#include <algorithm>
#include <cstdint>

#include "autotune/config.h"
#include "kernel_templates/gemm/params.cuh"
#include "kernel_templates/gemm/problem.h"

namespace tilewright {

struct WgmmaConfig {
  int64_t tile_rows = 128;  // of the operand on wgmma's 64-row side: a, or b if swapped
  int64_t tile_cols = 256;  // of the other
  int64_t stages = 3;
  int64_t math_groups = 2;
  bool ping_pong = false;
  bool swap = false;
  int64_t split = 1;      // CTAs of a cluster that share a tile's K; run time
  int64_t in_flight = 1;  // wgmma groups left running while the next stage is awaited
  int64_t multicast = 1;  // CTAs of a cluster that share the cols operand's loads
  int64_t staging = 1;    // epilogue buffers of a math group, at most one a chunk
  int64_t group = 8;      // row tiles walked together; run time
  bool stream = false;    // the output makes way in L2 for the operands; run time
  bool tail = false;      // the last wave's tiles are split along K

  // Of the problem, not of the configuration.
  bool mn_major_rows = false;
  bool mn_major_cols = false;
  int64_t out_bytes = 2;  // of an output element

  static constexpr int64_t kTileK = 64;
  static constexpr int64_t kWholeTile = 4;  // for staging: all chunks of a tile

  static WgmmaConfig From(const Config& config, const GemmProblem& problem);
  Config ToConfig() const;

  int64_t threads() const { return (math_groups + 1) * 128; }
  int64_t group_rows() const { return ping_pong ? tile_rows : tile_rows / math_groups; }
  int64_t accumulators() const { return group_rows() / 64 * tile_cols / 2; }  // a thread
  // Of the epilogue: 128 bytes of output columns.
  int64_t chunks() const {
    const int64_t width = 128 / out_bytes;
    return ((swap ? group_rows() : tile_cols) + width - 1) / width;
  }
  int64_t staging_chunks() const {
    return staging == kWholeTile ? chunks() : std::min(staging, chunks());
  }
  // Blocks of a SM that the register allocation leaves room for (a launch bound).
  int64_t blocks_per_sm() const {
    const int64_t most = out_bytes == 4 ? 32 : 64;  // float output needs registers for addresses
    return math_groups == 1 && accumulators() <= most ? 2 : 1;
  }
  // setmaxnreg targets; 0: left alone.
  int64_t producer_registers() const;
  int64_t math_registers() const;

  // What a stage's loads bring, of boxes of so many rows; of an MN-major operand whole blocks
  // of 64.
  int64_t LoadedBytes(int64_t box_rows, int64_t box_cols) const;
  // Of a split's partial sums: slots of 64 x 8 float32 values, as many for each CTA of the cluster.
  int64_t SlotBytes() const;
  // Whether these fit in beside the stages, so that no CTA waits until another's are free.
  bool own_slots() const;
  // As the kernel lays it out.
  int64_t StageBytes() const;
  int64_t SmemBytes() const;

  // Whether the kernel can be built at all; extents aside.
  absl::Status Check(const DeviceProfile& device) const;
};

// How a tail split deals `tiles` of `k_tiles` steps to `ctas`: the tiles of full waves whole, each
// of the others in parts. One part: nothing is split.
struct TailSplit {
  int64_t first = 0;  // tile of the tail
  int64_t parts = 1;

  static TailSplit Of(int64_t tiles, int64_t k_tiles, int64_t ctas);
};

// The problem seen from the kernel's side, with a and b exchanged where the config says so.
struct WgmmaSides {
  const GemmOperand* rows;
  const GemmOperand* cols;
  int64_t row_extent;
  int64_t col_extent;

  static WgmmaSides Of(const GemmProblem& problem, bool swap);
};

// The order of row_tiles x col_tiles x batches output tiles, with `group` row tiles walked
// together.
TileWalk MakeTileWalk(int64_t row_tiles, int64_t col_tiles, int64_t batches, int64_t group);

}  // namespace tilewright

#endif  // TILEWRIGHT_KERNEL_TEMPLATES_GEMM_WGMMA_CONFIG_H_
