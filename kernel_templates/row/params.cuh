// Parameters of the row kernels, shared by the kernels and the recipes.
#ifndef TILEWRIGHT_ROW_PARAMS_CUH_
#define TILEWRIGHT_ROW_PARAMS_CUH_

#include "device/fast_divmod.cuh"
#include "device/tensor_map.cuh"

namespace tilewright {

inline constexpr int kRowMaxDims = 8;
inline constexpr int kRowMaxColumns = 2;  // operands with one element a column: weight, bias
inline constexpr int kRowScalars = 2;

// Rows are numbered over `row_rank` dims, innermost first (rank 0: one row); extent[d] is of every
// such dim but the last. Strides are in bytes.
struct RowParams {
  const void* input;
  void* output;
  const void* columns[kRowMaxColumns];
  long long rows;
  unsigned length;  // elements a row
  int row_rank;
  float scalars[kRowScalars];
  long long input_stride[kRowMaxDims - 1];
  long long output_stride[kRowMaxDims - 1];
  FastDivmod<true> extent[kRowMaxDims - 2];
};

// For rows of any layout: dims 0 .. inner_rank - 1, innermost first, make up the row, the next
// row_rank dims number the rows. `extent` is of every dim.
struct StridedRowParams {
  const void* input;
  void* output;
  const void* columns[kRowMaxColumns];
  long long rows;
  long long length;
  int inner_rank;
  int row_rank;
  float scalars[kRowScalars];
  FastDivmod<true> extent[kRowMaxDims];
  long long input_stride[kRowMaxDims];
  long long output_stride[kRowMaxDims];
  long long column_stride[kRowMaxColumns][kRowMaxDims];  // inner dims only
};

// A reduction along a strided axis of [outer, length, inner], where inner is contiguous.
struct ColumnParams {
  const void* input;
  void* output;
  long long outer;
  long long length;
  long long inner;                // in vectors
  FastDivmod<true> inner_blocks;  // warps' widths along inner
  long long input_outer_stride;
  long long input_stride;
  long long output_outer_stride;
  long long output_stride;
};

// The same as tiles: 128 bytes of inner by the whole axis.
struct ColumnRingParams {
  TensorMap input;  // inner, axis, outer
  TensorMap output;
  FastDivmod<false> inner_tiles;  // along inner
  int tiles;                      // beside a tile of every warp, an int
  int length;
};

}  // namespace tilewright

#endif  // TILEWRIGHT_ROW_PARAMS_CUH_
