// Parameters of the norm kernels, shared by the kernels and the recipes.
#ifndef TILEWRIGHT_ROW_NORM_PARAMS_CUH_
#define TILEWRIGHT_ROW_NORM_PARAMS_CUH_

#include "device/fast_divmod.cuh"

namespace tilewright {

inline constexpr int kNormMaxDims = 8;
inline constexpr int kNormMaxInputs = 4;   // of x's shape
inline constexpr int kNormMaxOutputs = 2;  // of x's shape
inline constexpr int kNormMaxColumns = 5;  // smaller: weight, bias, statistics

// A row is numbered in packets over inner_rank dims, innermost first; rows over the row_rank dims
// after them. `extent` is of every dim, the innermost in packets; strides are in bytes, that of the
// innermost dim of a packet.
struct NormParams {
  const void* inputs[kNormMaxInputs];
  void* outputs[kNormMaxOutputs];
  const void* columns[kNormMaxColumns];
  void* results[2];  // one value a channel: running statistics, gradients
  void* partials;    // of the channels' splits, of Op::Sum::Value
  void* pairs;       // of the channels, ChannelPair
  long long rows;
  long long packets;        // of a row
  long long split_packets;  // of a split
  long long channel_rows;   // rows that follow each other's channels before these repeat
  FastDivmod<true> run;     // packets of one channel of a row
  int splits;
  int inner_rank;
  int row_rank;
  float count;  // elements of a row
  float eps;
  float momentum;
  float unbias;  // count / (count - 1)
  FastDivmod<true> extent[kNormMaxDims];
  long long input_stride[kNormMaxInputs][kNormMaxDims];
  long long output_stride[kNormMaxOutputs][kNormMaxDims];
  long long column_stride[kNormMaxColumns];   // of a channel
  long long column_strides[2][kNormMaxDims];  // of columns along the row: inner dims
};

}  // namespace tilewright

#endif  // TILEWRIGHT_ROW_NORM_PARAMS_CUH_
