// Scalar math in PTX, one instruction each, and the few functions made of them.
#ifndef TILEWRIGHT_DEVICE_MATH_CUH_
#define TILEWRIGHT_DEVICE_MATH_CUH_

#include "device/types.cuh"

namespace tilewright {

inline constexpr float kLn2 = 0.69314718055994530942f;
inline constexpr float kLog2e = 1.44269504088896340736f;

// ex2.approx.ftz.f32 (2^x; error at most 2 units in the last place): sm_80. Thread.
__device__ __forceinline__ float Exp2(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
// rsqrt.approx.f32 (relative error at most 2^-22.9): sm_80. Thread.
__device__ __forceinline__ float RsqrtApprox(float x) {
  float y;
  asm("rsqrt.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
// sqrt.approx.f32 (relative error at most 2^-23): sm_80. Thread.
__device__ __forceinline__ float SqrtApprox(float x) {
  float y;
  asm("sqrt.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
// lg2.approx.f32 (error at most 2^-22 where the result is near 0, else 2^-22 of it): sm_80. Thread.
__device__ __forceinline__ float Log2Approx(float x) {
  float y;
  asm("lg2.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
// rcp.approx.ftz.f32 (error at most 1 unit in the last place): sm_80. Thread.
__device__ __forceinline__ float RcpApprox(float x) {
  float y;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
// rcp.rn.f32 (correctly rounded): sm_80. Thread.
__device__ __forceinline__ float Rcp(float x) {
  float y;
  asm("rcp.rn.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
// div.full.f32 (error at most 2 units in the last place, over the whole range): sm_80. Thread.
__device__ __forceinline__ float DivFull(float a, float b) {
  float y;
  asm("div.full.f32 %0, %1, %2;" : "=f"(y) : "f"(a), "f"(b));
  return y;
}
// sqrt.rn.f32 (correctly rounded): sm_80. Thread.
__device__ __forceinline__ float Sqrt(float x) {
  float y;
  asm("sqrt.rn.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
// fma.rn.f32: sm_80. Thread.
__device__ __forceinline__ float Fma(float a, float b, float c) {
  float y;
  asm("fma.rn.f32 %0, %1, %2, %3;" : "=f"(y) : "f"(a), "f"(b), "f"(c));
  return y;
}
// max.f32 (the other operand where one is NaN): sm_80. Thread.
__device__ __forceinline__ float MaxNumber(float a, float b) {
  float y;
  asm("max.f32 %0, %1, %2;" : "=f"(y) : "f"(a), "f"(b));
  return y;
}
// max.s32, twice, which sm_90 does at once: sm_80. Thread.
__device__ __forceinline__ int MaxOfThree(int a, int b, int c) {
  int y;
  asm("{.reg .s32 t; max.s32 t, %1, %2; max.s32 %0, t, %3;}" : "=r"(y) : "r"(a), "r"(b), "r"(c));
  return y;
}

}  // namespace tilewright

#endif  // TILEWRIGHT_DEVICE_MATH_CUH_
