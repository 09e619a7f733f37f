// Parameter structs of the GEMM kernels, shared by the kernels and the recipe. Plain C++.
#ifndef TILEWRIGHT_GEMM_PARAMS_CUH_
#define TILEWRIGHT_GEMM_PARAMS_CUH_

#include "device/fast_divmod.cuh"
#include "device/tensor_map.cuh"

namespace tilewright {

struct TileCoord {
  int row;
  int col;
  int batch;
};

// The order of output tiles: batch by batch, row tiles in groups, each group column by column, so
// that blocks running together share operands in L2.
struct TileWalk {
  FastDivmod<false> per_batch;    // tiles of a batch
  FastDivmod<false> per_group;    // tiles of a group of row tiles
  FastDivmod<false> height;       // row tiles of a group
  FastDivmod<false> last_height;  // of the last group, where that one has fewer
  unsigned full_groups;
  int tiles;  // of all batches

  TILEWRIGHT_HOST_DEVICE TileCoord At(int index) const {
    unsigned batch, tile, group, in_group, col, row;
    per_batch(static_cast<unsigned>(index), &batch, &tile);
    per_group(tile, &group, &in_group);
    if (group < full_groups) {
      height(in_group, &col, &row);
    } else {
      last_height(in_group, &col, &row);
    }
    return {static_cast<int>(group * height.divisor + row), static_cast<int>(col),
            static_cast<int>(batch)};
  }
};

// WgmmaGemmKernel: out(rows, cols) = rows-operand * cols-operand^T for each batch. `rows` fills
// wgmma's 64-row side, `cols` its N side; with swapped operands they are b and a.
struct WgmmaGemmParams {
  TensorMap rows_map;
  TensorMap cols_map;
  TensorMap out_map;
  void* out;                   // for split-K, which stores without the copy engine
  long long out_row_stride;    // elements; the other stride is 1
  long long out_batch_stride;  // elements
  int rows;                    // extent of the rows operand, in elements
  int cols;
  int k_tiles;
  TileWalk walk;  // with multicast a row tile is that of a whole cluster
};

// MmaGemmKernel: extents and strides in elements; any of them.
struct MmaGemmParams {
  const void* a;
  const void* b;
  void* d;
  long long a_stride_m, a_stride_k, a_stride_batch;
  long long b_stride_n, b_stride_k, b_stride_batch;
  long long d_stride_m, d_stride_n, d_stride_batch;
  long long m, n, k;
  int tiles_m, tiles_n;
  int batches;
  int group;
};

// GemvKernel: m rows of tokens against K-contiguous weights.
struct GemvParams {
  const void* a;
  const void* b;
  void* d;
  long long a_stride_m;
  long long b_stride_n;
  long long d_stride_m, d_stride_n;
  long long m, n, k;
};

}  // namespace tilewright

#endif  // TILEWRIGHT_GEMM_PARAMS_CUH_
