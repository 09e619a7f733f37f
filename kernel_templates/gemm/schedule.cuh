// Which output tile a block works on, and in which order.
#ifndef TILEWRIGHT_GEMM_SCHEDULE_CUH_
#define TILEWRIGHT_GEMM_SCHEDULE_CUH_

#include "device/base.cuh"
#include "gemm/params.cuh"

namespace tilewright {

// Walks tiles so that blocks running together share operands in L2: row tiles are taken in groups
// of `group`, each group column by column.
struct TileSchedule {
  int row_tiles;
  int col_tiles;
  int batches;
  int group;

  __device__ __forceinline__ int Count() const { return row_tiles * col_tiles * batches; }

  __device__ __forceinline__ TileCoord At(int index) const {
    const int per_batch = row_tiles * col_tiles;
    const int batch = index / per_batch;
    const int tile = index - batch * per_batch;
    const int per_group = group * col_tiles;
    const int first = tile / per_group * group;
    const int in_group = tile - first * col_tiles;
    const int height = min(group, row_tiles - first);
    const int col = in_group / height;
    return {first + in_group - col * height, col, batch};
  }
};

}  // namespace tilewright

#endif  // TILEWRIGHT_GEMM_SCHEDULE_CUH_
