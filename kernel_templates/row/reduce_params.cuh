// Parameters of the reduction kernels, shared by the kernels and the recipes.
#ifndef TILEWRIGHT_ROW_REDUCE_PARAMS_CUH_
#define TILEWRIGHT_ROW_REDUCE_PARAMS_CUH_

#include "device/fast_divmod.cuh"

namespace tilewright {

inline constexpr int kReduceMaxDims = 8;
inline constexpr int kReduceMaxOutputs = 2;

struct ReduceScalars {
  float count;        // elements of a result
  float denominator;  // of the variance
};

// Results are numbered over row_rank dims, the packets of one over inner_rank dims, innermost
// first. Dims of the packets come first, then those of the rows. Strides are in bytes.
struct RowReduceParams {
  const void* input;
  void* outputs[kReduceMaxOutputs];
  void* partials;           // [splits][rows], of Op::Value
  long long rows;           // results
  long long packets;        // of one result
  long long split_packets;  // of one split
  int splits;
  int inner_rank;
  int row_rank;
  ReduceScalars scalars;
  FastDivmod<true> extent[kReduceMaxDims];
  long long input_stride[kReduceMaxDims];
  long long output_stride[kReduceMaxOutputs][kReduceMaxDims];  // row dims, from 0
};

// Results along a dense axis of `inner` packets, over outer_rank further dims; a result's elements
// over axis_rank dims, which come first.
struct ColumnReduceParams {
  const void* input;
  void* outputs[kReduceMaxOutputs];
  void* partials;  // [splits][outer][inner * kVector], of Op::Value
  long long outer;
  long long inner;
  long long length;        // elements of a result
  long long split_length;  // of one split
  FastDivmod<true> inner_blocks;
  int splits;
  int axis_rank;
  int outer_rank;
  ReduceScalars scalars;
  FastDivmod<true> extent[kReduceMaxDims - 1];
  long long input_stride[kReduceMaxDims - 1];
  long long output_stride[kReduceMaxOutputs][kReduceMaxDims - 1];  // outer dims, from 0
  long long inner_output_stride[kReduceMaxOutputs];                // of one element
};

}  // namespace tilewright

#endif  // TILEWRIGHT_ROW_REDUCE_PARAMS_CUH_
