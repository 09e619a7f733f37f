// What becomes of a window: its average, its maximum, or its maximum and where that is; and where
// windows lie.
#ifndef TILEWRIGHT_POOL_POOL_OPS_CUH_
#define TILEWRIGHT_POOL_POOL_OPS_CUH_

#include "device/ldst_if.cuh"
#include "device/math.cuh"
#include "device/nan_math.cuh"
#include "pool/params.cuh"

namespace tilewright {

struct PoolAverage {
  static constexpr bool kAverage = true;
  static constexpr bool kIndices = false;
};
struct PoolMax {
  static constexpr bool kAverage = false;
  static constexpr bool kIndices = false;
};
struct PoolMaxIndices {
  static constexpr bool kAverage = false;
  static constexpr bool kIndices = true;
};

// What counts for positions outside the input: 0, or -inf. A word full of it.
template <class Op, class T>
__device__ __forceinline__ constexpr uint32_t PoolFill() {
  if constexpr (Op::kAverage) {
    return 0;
  } else if constexpr (kIsSame<T, fp16>) {
    return 0xfc00fc00;
  } else if constexpr (kIsSame<T, bf16>) {
    return 0xff80ff80;
  } else {
    return 0xff800000;
  }
}

// kBytes at `address`, or the fill.
template <class Op, class T, int kBytes, CacheHint kHint>
__device__ __forceinline__ Packet<kBytes> LoadOrFill(bool inside, const void* address) {
  Packet<kBytes> packet;
#pragma unroll
  for (int i = 0; i < Packet<kBytes>::kWords; ++i) packet.words[i] = PoolFill<Op, T>();
  if constexpr (kHint == CacheHint::kStreaming) {
    LoadStreamingIf(inside, address, packet);
  } else {
    LoadIf(inside, address, packet);
  }
  return packet;
}

// Position `index` of the grid of outputs (or strips) along each axis; 0 along those beyond kAxes
// and, where planes are one dim, the batch.
template <class Config>
struct PoolPlace {
  using Params = PoolParams<Config::kWide>;
  using Index = typename Params::Index;
  static_assert(Config::kAxes >= 1 && Config::kAxes <= kPoolSpatial);
  Index at[kPoolDims] = {};

  __device__ __forceinline__ PoolPlace(const Params& p, Index index) {
#pragma unroll
    for (int d = 0; d < Config::kAxes; ++d) p.extent[d](index, &index, &at[d]);
    if constexpr (Config::kPlaneDims > 1) {
      p.extent[kPoolSpatial](index, &at[kPoolSpatial + 1], &at[kPoolSpatial]);
    } else {
      at[kPoolSpatial] = index;
    }
  }
  // Whether an axis has more than position 0.
  __device__ __forceinline__ static constexpr bool Has(int d) {
    return d < kPoolSpatial ? d < Config::kAxes : d - kPoolSpatial < Config::kPlaneDims;
  }
};

// The largest value so far and its position.
template <class Coordinate>
struct PoolBest {
  float value;
  Coordinate at;
};

// Positions first, first + step, ..., `count` of them, all inside the input; `padded` counts those
// up to extent + padding.
template <class Coordinate>
struct PoolWindow {
  Coordinate first;
  Coordinate count;
  Coordinate padded;
};

// a / dilation rounded up, for positive a; mostly there is no dilation.
template <class Coordinate>
__device__ __forceinline__ Coordinate Taps(Coordinate a, Coordinate dilation) {
  return dilation == 1 ? a : (a + dilation - 1) / dilation;
}

template <class Coordinate>
__device__ __forceinline__ PoolWindow<Coordinate> FixedWindow(Coordinate extent, Coordinate at,
                                                              Coordinate kernel, Coordinate stride,
                                                              Coordinate padding,
                                                              Coordinate dilation) {
  PoolWindow<Coordinate> window;
  const Coordinate start = at * stride - padding;
  const Coordinate skipped = start < 0 ? Taps(-start, dilation) : 0;
  const Coordinate reach = Taps(extent - start, dilation);  // taps before the end
  window.first = start + skipped * dilation;
  window.count = Max(Min(kernel, reach) - skipped, static_cast<Coordinate>(0));
  window.padded = Min(start + kernel, extent + padding) - start;
  return window;
}

// Output `at` of `outputs`.
template <bool kWide, class Coordinate>
__device__ __forceinline__ PoolWindow<Coordinate> AdaptiveWindow(Coordinate extent, Coordinate at,
                                                                 const FastDivmod<kWide>& outputs) {
  using Index = typename PoolCoordinate<kWide>::Index;
  const Index from = static_cast<Index>(at) * static_cast<Index>(extent);
  Index first;
  Index last;
  Index rest;
  outputs(from, &first, &rest);
  outputs(from + extent - 1, &last, &rest);
  PoolWindow<Coordinate> window;
  window.first = static_cast<Coordinate>(first);
  window.count = window.padded = static_cast<Coordinate>(last - first) + 1;
  return window;
}

// What a window counts for along one axis in the divisor of an average.
template <class Params, class Coordinate>
__device__ __forceinline__ float PoolPositions(const Params& p,
                                               const PoolWindow<Coordinate>& window) {
  return static_cast<float>(p.count_padding ? window.padded : window.count);
}
// sum / divisor, correctly rounded but for the last bit and exact where the quotient is a number.
__device__ __forceinline__ float Quotient(float sum, float divisor) {
  const float inverse = RcpApprox(divisor);
  const float first = sum * inverse;
  const float rest = Fma(-first, divisor, sum);
  return rest == rest ? Fma(rest, inverse, first) : first;  // of an infinity there is no rest
}

}  // namespace tilewright

#endif  // TILEWRIGHT_POOL_POOL_OPS_CUH_
