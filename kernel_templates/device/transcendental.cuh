// Sine and cosine by the approximate instructions. Radians within a turn or so of 0.
#ifndef TILEWRIGHT_DEVICE_TRIG_CUH_
#define TILEWRIGHT_DEVICE_TRIG_CUH_

#include "device/base.cuh"

namespace tilewright {

// sin.approx.ftz.f32 (absolute error at most 2^-20.5 from -2 pi to 2 pi): sm_80. Thread.
__device__ __forceinline__ float SinApprox(float x) {
  float y;
  asm("sin.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
// cos.approx.ftz.f32 (absolute error at most 2^-20.5 from -2 pi to 2 pi): sm_80. Thread.
__device__ __forceinline__ float CosApprox(float x) {
  float y;
  asm("cos.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

}  // namespace tilewright

#endif  // TILEWRIGHT_DEVICE_TRIG_CUH_
