// Holds on registers: what a kernel says about the order of its instructions, to compilers.
#ifndef TILEWRIGHT_DEVICE_HOLD_CUH_
#define TILEWRIGHT_DEVICE_HOLD_CUH_

#include "device/base.cuh"

namespace tilewright {

// No instruction: keeps values in their registers up to here, and reads of them behind what stands
// before. Around the wait for a wgmma that has them in flight. Thread.
__device__ __forceinline__ void WgmmaHold(float& value) {
  asm volatile("" : "+f"(value)::"memory");
}
__device__ __forceinline__ void WgmmaHold(uint32_t& value) {
  asm volatile("" : "+r"(value)::"memory");
}

// WgmmaHold() of many values at a time, for the compiler's sake.
template <int kCount>
__device__ __forceinline__ void HoldAll(float (&v)[kCount]) {
  static_assert(kCount % 4 == 0);
#pragma unroll
  for (int i = 0; i < kCount / 8 * 8; i += 8) {
    asm volatile(""
                 : "+f"(v[i]), "+f"(v[i + 1]), "+f"(v[i + 2]), "+f"(v[i + 3]), "+f"(v[i + 4]),
                   "+f"(v[i + 5]), "+f"(v[i + 6]), "+f"(v[i + 7])::"memory");
  }
  if constexpr (kCount % 8 != 0) {
    constexpr int kAt = kCount - 4;
    asm volatile("" : "+f"(v[kAt]), "+f"(v[kAt + 1]), "+f"(v[kAt + 2]), "+f"(v[kAt + 3])::"memory");
  }
}

__device__ __forceinline__ void HoldAll(uint32_t (&v)[4]) {
  asm volatile("" : "+r"(v[0]), "+r"(v[1]), "+r"(v[2]), "+r"(v[3])::"memory");
}

// nanosleep.u32, never taken: sm_80. Thread. Keeps later waits behind the computation of `value`,
// which is below 2^127: the assembler would put a wait for a matrix product first, whose time was
// to be spent on that computation. (Asked whether it is negative, the assembler knows that
// exponentials are not, and drops the question.) Measured to help float8, whose products are short,
// and to cost 16-bit kernels 2 to 4 %.
__device__ __forceinline__ void HoldBack(float value) {
  asm volatile("{.reg .pred p; setp.gt.f32 p, %0, 0f7F000000; @p nanosleep.u32 20;}" ::"f"(value));
}

// Zero, but not before `value` is there, and not known to be zero: keeps the assembler from
// starting a sum earlier. Thread.
__device__ __forceinline__ float ZeroAfter(float value) {
  float zero;
  asm("{.reg .f32 t; max.f32 t, %1, 0f00000000; min.f32 %0, t, 0f00000000;}"
      : "=f"(zero)
      : "f"(value));
  return zero;
}

}  // namespace tilewright

#endif  // TILEWRIGHT_DEVICE_HOLD_CUH_
