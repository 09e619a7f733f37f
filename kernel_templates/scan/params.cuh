// Parameters of the scan kernels, shared by the kernels and the recipes.
#ifndef TILEWRIGHT_SCAN_PARAMS_CUH_
#define TILEWRIGHT_SCAN_PARAMS_CUH_

#include "device/fast_divmod.cuh"

namespace tilewright {

inline constexpr int kScanMaxDims = 8;

// Rows are numbered over `row_rank` dims, innermost first (rank 0: one row); extent[d] is of every
// such dim but the last. Each row is cut into `chunks` of `chunk` elements. Strides are in bytes,
// `*_step` those of the scanned axis.
struct RowScanParams {
  const void* input;
  void* output;
  void* totals;  // [rows, chunks - 1], of the operator's values
  long long rows;
  long long length;
  long long chunk;
  unsigned chunks;
  int row_rank;
  long long input_step;
  long long output_step;
  long long input_stride[kScanMaxDims - 1];
  long long output_stride[kScanMaxDims - 1];
  FastDivmod<true> extent[kScanMaxDims - 2];
};

// A scan along a strided axis of [outer, length, inner], where inner is contiguous.
struct ColumnScanParams {
  const void* input;
  void* output;
  void* totals;  // [outer, chunks - 1, columns], of the operator's values
  long long length;
  long long chunk;  // rows
  long long inner;  // in vectors
  unsigned chunks;
  unsigned inner_blocks;  // warps' widths along inner
  long long input_outer_stride;
  long long input_stride;
  long long output_outer_stride;
  long long output_stride;
};

}  // namespace tilewright

#endif  // TILEWRIGHT_SCAN_PARAMS_CUH_
