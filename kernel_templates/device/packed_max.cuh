// Maximum of packed values that keeps NaN.
#ifndef TILEWRIGHT_DEVICE_PACKED_MAX_CUH_
#define TILEWRIGHT_DEVICE_PACKED_MAX_CUH_

#include "device/nan_math.cuh"

namespace tilewright {

// max.NaN.f16x2: sm_80. Thread.
__device__ __forceinline__ uint32_t MaxNanF16x2(uint32_t a, uint32_t b) {
  uint32_t y;
  asm("max.NaN.f16x2 %0, %1, %2;" : "=r"(y) : "r"(a), "r"(b));
  return y;
}
// max.NaN.bf16x2: sm_80. Thread.
__device__ __forceinline__ uint32_t MaxNanBf16x2(uint32_t a, uint32_t b) {
  uint32_t y;
  asm("max.NaN.bf16x2 %0, %1, %2;" : "=r"(y) : "r"(a), "r"(b));
  return y;
}

// Of a word of two 16-bit floats or one float.
template <class T>
__device__ __forceinline__ uint32_t MaxNanWord(uint32_t a, uint32_t b) {
  if constexpr (kIsSame<T, fp16>) {
    return MaxNanF16x2(a, b);
  } else if constexpr (kIsSame<T, bf16>) {
    return MaxNanBf16x2(a, b);
  } else {
    return FloatToBits(MaxNan(BitsToFloat(a), BitsToFloat(b)));
  }
}

}  // namespace tilewright

#endif  // TILEWRIGHT_DEVICE_PACKED_MAX_CUH_
