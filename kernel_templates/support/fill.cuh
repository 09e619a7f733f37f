// Fills a buffer with random data on the device.
#ifndef TILEWRIGHT_SUPPORT_FILL_CUH_
#define TILEWRIGHT_SUPPORT_FILL_CUH_

#include "device/types.cuh"

namespace tilewright {

// The host's mirror is FillParams in runtime/worker/support_kernels.h.
struct FillParams {
  void* data;
  int64_t count;  // elements
  uint64_t seed;
};

// SplitMix64 (Steele, Lea, Flood 2014) as a counter-based hash.
__device__ __forceinline__ uint64_t HashAt(uint64_t seed, uint64_t counter) {
  uint64_t z = seed + (counter + 1) * 0x9e3779b97f4a7c15ULL;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
}

// Nearly N(0, 1): the sum of twelve uniforms less six (Irwin-Hall), of variance 1. Within +-6.
__device__ __forceinline__ float NearlyNormal(uint64_t seed, uint64_t counter) {
  uint32_t sum = 0;
#pragma unroll
  for (int part = 0; part < 3; ++part) {
    const uint64_t bits = HashAt(seed, 3 * counter + part);
    sum += static_cast<uint32_t>(bits & 0xffff) + static_cast<uint32_t>(bits >> 16 & 0xffff) +
           static_cast<uint32_t>(bits >> 32 & 0xffff) + static_cast<uint32_t>(bits >> 48);
  }
  return (static_cast<float>(sum) + 6.0f) * (1.0f / 65536.0f) - 6.0f;
}

// Config: Element; kSmallIntegers: uniform in [-2, 2] (unsigned: [0, 4]), exact in every dtype;
// else floats are nearly normal, integers uniform over their range, bool8 even odds.
// A grid-stride loop over `count`; any grid.
template <class Config>
__global__ void __launch_bounds__(256) FillKernel(const __grid_constant__ FillParams params) {
  using Element = typename Config::Element;
  auto* data = static_cast<Element*>(params.data);
  const int64_t step = static_cast<int64_t>(gridDim.x) * blockDim.x;
  int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  for (; i < params.count; i += step) {
    const uint64_t counter = static_cast<uint64_t>(i);
    const uint64_t bits = HashAt(params.seed, counter);
    if constexpr (kIsSame<Element, bool8>) {
      data[i] = bool8{static_cast<uint8_t>(bits >> 40 & 1)};
    } else if constexpr (kIsInteger<Element>) {
      constexpr int kLow = static_cast<Element>(-1) < static_cast<Element>(0) ? -2 : 0;
      data[i] = Config::kSmallIntegers ? static_cast<Element>(static_cast<int>(bits % 5) + kLow)
                                       : static_cast<Element>(bits);
    } else {
      const float value = Config::kSmallIntegers ? static_cast<float>(bits % 5) - 2.0f
                                                 : NearlyNormal(params.seed, counter);
      data[i] = TypeTraits<Element>::FromCompute(value);
    }
  }
}

}  // namespace tilewright

#endif  // TILEWRIGHT_SUPPORT_FILL_CUH_
