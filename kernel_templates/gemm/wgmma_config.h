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

  static constexpr int64_t kTileK = 64;
  static constexpr int64_t kWholeTile = 4;  // for staging: no tile has more chunks

  static WgmmaConfig From(const Config& config);
  Config ToConfig() const;

  int64_t threads() const { return (math_groups + 1) * 128; }
  int64_t group_rows() const { return ping_pong ? tile_rows : tile_rows / math_groups; }
  int64_t accumulators() const { return group_rows() / 64 * tile_cols / 2; }  // a thread
  int64_t chunks() const {                                                    // of the epilogue
    return swap ? group_rows() / 64 : (tile_cols + 63) / 64;
  }
  int64_t staging_chunks() const { return std::min(staging, chunks()); }
  // Blocks of a SM that the register allocation leaves room for (a launch bound).
  int64_t blocks_per_sm() const { return math_groups == 1 && accumulators() <= 64 ? 2 : 1; }
  // setmaxnreg targets; 0: left alone.
  int64_t producer_registers() const;
  int64_t math_registers() const;

  // As the kernel lays it out. `mn_major_cols`: the operand on the N side is MN-major.
  int64_t StageBytes(bool mn_major_cols) const;
  int64_t SmemBytes(bool mn_major_cols) const;

  // Whether the kernel can be built at all; problem aside.
  absl::Status Check(bool mn_major_cols, const DeviceProfile& device) const;
};

// The problem seen from the kernel's side, with a and b exchanged where the config says so.
struct WgmmaSides {
  const GemmOperand* rows;
  const GemmOperand* cols;
  int rows_operand;  // index into the call's operands
  int cols_operand;
  int64_t row_extent;
  int64_t col_extent;
  bool mn_major_rows;
  bool mn_major_cols;

  static WgmmaSides Of(const GemmProblem& problem, bool swap);
};

// The order of row_tiles x col_tiles x batches output tiles, with `group` row tiles walked
// together.
TileWalk MakeTileWalk(int64_t row_tiles, int64_t col_tiles, int64_t batches, int64_t group);

}  // namespace tilewright

#endif  // TILEWRIGHT_KERNEL_TEMPLATES_GEMM_WGMMA_CONFIG_H_
