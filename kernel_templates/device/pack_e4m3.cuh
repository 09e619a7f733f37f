// Rounding to float8.
#ifndef TILEWRIGHT_DEVICE_PACK_E4M3_CUH_
#define TILEWRIGHT_DEVICE_PACK_E4M3_CUH_

#include "device/base.cuh"

namespace tilewright {

// cvt.rn.satfinite.e4m3x2.f32, twice (sm_89): four rounded values, `a` in the lowest byte. Thread.
__device__ __forceinline__ uint32_t PackE4m3x4(float a, float b, float c, float d) {
  uint32_t bits;
  asm("{.reg .b16 low, high; cvt.rn.satfinite.e4m3x2.f32 low, %2, %1;"
      " cvt.rn.satfinite.e4m3x2.f32 high, %4, %3; mov.b32 %0, {low, high};}"
      : "=r"(bits)
      : "f"(a), "f"(b), "f"(c), "f"(d));
  return bits;
}

}  // namespace tilewright

#endif  // TILEWRIGHT_DEVICE_PACK_E4M3_CUH_
