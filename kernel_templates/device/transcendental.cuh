// Approximate instructions that few kernels need.
#ifndef TILEWRIGHT_DEVICE_TRANSCENDENTAL_CUH_
#define TILEWRIGHT_DEVICE_TRANSCENDENTAL_CUH_

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
// ex2.approx.f32 (2^x, subnormal results included; error at most 2 units in the last place): sm_80.
// Thread.
__device__ __forceinline__ float Exp2Subnormal(float x) {
  float y;
  asm("ex2.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

}  // namespace tilewright

#endif  // TILEWRIGHT_DEVICE_TRANSCENDENTAL_CUH_
