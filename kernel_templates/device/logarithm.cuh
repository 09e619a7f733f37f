// Logarithms in PTX.
#ifndef TILEWRIGHT_DEVICE_LOGARITHM_CUH_
#define TILEWRIGHT_DEVICE_LOGARITHM_CUH_

#include "device/base.cuh"

namespace tilewright {

inline constexpr float kLn2 = 0.69314718055994530942f;

// lg2.approx.ftz.f32 (log2; absolute error at most 2^-22 near 1, else relative): sm_80. Thread.
__device__ __forceinline__ float Log2(float x) {
  float y;
  asm("lg2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

}  // namespace tilewright

#endif  // TILEWRIGHT_DEVICE_LOGARITHM_CUH_
