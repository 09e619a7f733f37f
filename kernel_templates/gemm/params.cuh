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

inline constexpr int kTailShares = 4;  // of 64 x 8 sums, that a block of WgmmaReduceKernel does

// WgmmaGemmKernel: out(rows, cols) = rows-operand * cols-operand^T for each batch. `rows` fills
// wgmma's 64-row side, `cols` its N side; with swapped operands they are b and a.
struct WgmmaGemmParams {
  TensorMap rows_map;
  TensorMap cols_map;
  TensorMap out_map;
  void* out;                   // for split-K, which stores without the copy engine
  const void* bias;            // where Config::kBias says so
  long long out_row_stride;    // elements; the other stride is 1
  long long out_batch_stride;  // elements
  int rows;                    // extent of the rows operand, in elements
  int cols;
  // Where the last tile starts at most: it may do some of the one before it again, with the same
  // results, as the copy engine is slow at boxes that reach past the end.
  int last_row, last_col;
  int loaded_bytes;  // of a stage
  int k_tiles;
  int rows_batch_step;  // 0: all batches share the operand, else 1
  int cols_batch_step;
  // Whether an operand is read once, so that L2 need not keep it; the output, whether it should
  // make way for the operands.
  bool stream_rows, stream_cols, stream_out;
  // Whether L2 need not keep what several tiles read, since they do so at about the same time: the
  // first of them says so for all.
  bool stream_first;
  TileWalk walk;  // with multicast a row tile is that of a whole cluster
  // Tail split: each tile from `tail_first` on is done in `tail_parts` parts of K by as many CTAs,
  // whose float32 sums WgmmaReduceKernel adds up.
  int tail_first;
  int tail_parts;
  void* partials;
};

// MmaGemmKernel: extents and strides in elements; any of them.
struct MmaGemmParams {
  const void* a;
  const void* b;
  void* d;
  const void* bias;  // where Config::kBias says so
  long long a_stride_m, a_stride_k, a_stride_batch;
  long long b_stride_n, b_stride_k, b_stride_batch;
  long long d_stride_m, d_stride_n, d_stride_batch;
  long long m, n, k;
  int tiles_m, tiles_n;
  int batches;
  int group;
};

// GemvKernel: m rows of tokens, K-contiguous, against weights, a batch a grid row. `b_stride` is
// that of the axis of the weights that is not contiguous.
struct GemvParams {
  const void* a;
  const void* b;
  void* d;
  const void* bias;  // where Config::kBias says so
  long long a_stride_m, a_stride_batch;
  long long b_stride, b_stride_batch;
  long long d_stride_m, d_stride_n, d_stride_batch;
  long long m, n, k;
};

}  // namespace tilewright

#endif  // TILEWRIGHT_GEMM_PARAMS_CUH_
