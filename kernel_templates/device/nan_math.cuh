// Minimum and maximum that keep NaN.
#ifndef TILEWRIGHT_DEVICE_NAN_MATH_CUH_
#define TILEWRIGHT_DEVICE_NAN_MATH_CUH_

#include "device/types.cuh"

namespace tilewright {

// max.NaN.f32 (NaN where either is): sm_80. Thread.
__device__ __forceinline__ float MaxNan(float a, float b) {
  float y;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(y) : "f"(a), "f"(b));
  return y;
}
// min.NaN.f32 (NaN where either is): sm_80. Thread.
__device__ __forceinline__ float MinNan(float a, float b) {
  float y;
  asm("min.NaN.f32 %0, %1, %2;" : "=f"(y) : "f"(a), "f"(b));
  return y;
}

}  // namespace tilewright

#endif  // TILEWRIGHT_DEVICE_NAN_MATH_CUH_
