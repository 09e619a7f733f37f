// Compares two buffers on the device: counts the elements that differ by more than a tolerance.
#ifndef TILEWRIGHT_SUPPORT_COMPARE_CUH_
#define TILEWRIGHT_SUPPORT_COMPARE_CUH_

#include "device/types.cuh"

namespace tilewright {

// The host's mirrors are CompareParams and CompareResult in runtime/worker/support_kernels.h. The
// host sets the result to {0, ~0, 0, 0} beforehand.
struct CompareResult {
  unsigned long long mismatches;
  unsigned long long first;    // smallest index of a mismatch
  uint32_t max_absolute_bits;  // as float bits, which order like the floats do; of finite pairs
  uint32_t max_relative_bits;
};
struct CompareParams {
  const void* got;
  const void* expected;
  int64_t count;  // elements
  double absolute;
  double relative;
  CompareResult* result;
};

template <class Element>
__device__ __forceinline__ double Widen(Element value) {
  return static_cast<double>(TypeTraits<Element>::ToCompute(value));
}

// Equal where |got - expected| <= absolute + relative * |expected|, where both are NaN, and where
// both are the same infinity. Integers and bools are equal only where identical.
// Config: Element. A grid-stride loop over `count`; any grid.
template <class Config>
__global__ void __launch_bounds__(256) CompareKernel(const __grid_constant__ CompareParams params) {
  using Element = typename Config::Element;
  const auto* got = static_cast<const Element*>(params.got);
  const auto* expected = static_cast<const Element*>(params.expected);
  const int64_t step = static_cast<int64_t>(gridDim.x) * blockDim.x;
  int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  unsigned long long mismatches = 0;
  unsigned long long first = ~0ULL;
  double max_absolute = 0;
  double max_relative = 0;
  for (; i < params.count; i += step) {
    bool equal;
    if constexpr (kIsSame<Element, bool8>) {
      equal = got[i].bits == expected[i].bits;
    } else if constexpr (kIsInteger<Element>) {
      equal = got[i] == expected[i];
    } else {
      const double g = Widen(got[i]);
      const double e = Widen(expected[i]);
      const double difference = g > e ? g - e : e - g;
      const double magnitude = e < 0 ? -e : e;
      const bool finite = difference - difference == 0;
      equal = g == e || (g != g && e != e) ||
              (finite && difference <= params.absolute + params.relative * magnitude);
      if (finite) {
        max_absolute = Max(max_absolute, difference);
        if (magnitude > 0) max_relative = Max(max_relative, difference / magnitude);
      }
    }
    if (equal) continue;
    ++mismatches;
    first = Min(first, static_cast<unsigned long long>(i));
  }
  if (mismatches > 0) {
    atomicAdd(&params.result->mismatches, mismatches);
    atomicMin(&params.result->first, first);
  }
  if (max_absolute > 0) {
    atomicMax(&params.result->max_absolute_bits, FloatToBits(static_cast<float>(max_absolute)));
    atomicMax(&params.result->max_relative_bits, FloatToBits(static_cast<float>(max_relative)));
  }
}

}  // namespace tilewright

#endif  // TILEWRIGHT_SUPPORT_COMPARE_CUH_
