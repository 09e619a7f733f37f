// Parameters of the pooling kernels, shared by the kernels and the recipes.
#ifndef TILEWRIGHT_POOL_PARAMS_CUH_
#define TILEWRIGHT_POOL_PARAMS_CUH_

#include "device/fast_divmod.cuh"

namespace tilewright {

inline constexpr int kPoolSpatial = 3;
inline constexpr int kPoolDims = 5;

// 64-bit coordinates and counts where `kWide`.
template <bool kWide>
struct PoolCoordinate {
  using Type = int;
  using Index = unsigned;
};
template <>
struct PoolCoordinate<true> {
  using Type = long long;
  using Index = unsigned long long;
};

// Axes are innermost first: width, height, depth, channel, batch; those that an input lacks have
// extent 1. Strides are in bytes.
template <bool kWide>
struct PoolParams {
  using Coordinate = typename PoolCoordinate<kWide>::Type;
  using Index = typename PoolCoordinate<kWide>::Index;

  const void* source;
  void* output;
  void* indices;
  long long input_stride[kPoolDims];
  long long output_stride[kPoolDims];
  long long indices_stride[kPoolDims];
  Index count;                              // outputs, or strips of them along the width
  FastDivmod<kWide> extent[kPoolDims - 1];  // of that grid
  Coordinate output_width;
  Coordinate input[kPoolSpatial];
  Coordinate kernel[kPoolSpatial];
  Coordinate stride[kPoolSpatial];
  Coordinate padding[kPoolSpatial];
  Coordinate dilation[kPoolSpatial];
  FastDivmod<kWide> outputs[kPoolSpatial];  // adaptive windows only
  long long divisor;                        // of averages; 0: a window's positions
  int count_padding;                        // those up to extent + padding count as positions
};

}  // namespace tilewright

#endif  // TILEWRIGHT_POOL_PARAMS_CUH_
