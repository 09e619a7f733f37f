// Parameter structs of the GEMM kernels, shared by the kernels and the recipe. Plain C++.
#ifndef TILEWRIGHT_GEMM_PARAMS_CUH_
#define TILEWRIGHT_GEMM_PARAMS_CUH_

#include "device/tensor_map.cuh"

namespace tilewright {

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
  int row_tiles;  // of a whole cluster, with multicast
  int col_tiles;
  int batches;
  int group;  // row tiles that are walked together, for L2 reuse
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
