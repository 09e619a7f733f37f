// Maximum and order of packed values; the maximum keeps NaN.
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

// set.gt.u32.f16x2 (all bits of a half where a > b): sm_80. Thread.
__device__ __forceinline__ uint32_t GreaterF16x2(uint32_t a, uint32_t b) {
  uint32_t y;
  asm("set.gt.u32.f16x2 %0, %1, %2;" : "=r"(y) : "r"(a), "r"(b));
  return y;
}
#if __CUDA_ARCH__ >= 900
// set.gt.u32.bf16x2 (all bits of a half where a > b): sm_90. Thread.
__device__ __forceinline__ uint32_t GreaterBf16x2(uint32_t a, uint32_t b) {
  uint32_t y;
  asm("set.gt.u32.bf16x2 %0, %1, %2;" : "=r"(y) : "r"(a), "r"(b));
  return y;
}
#else
__device__ __forceinline__ uint32_t GreaterBf16x2(uint32_t a, uint32_t b) {
  const uint32_t high = BitsToFloat(a & 0xffff0000) > BitsToFloat(b & 0xffff0000) ? 0xffff0000 : 0;
  return high | (BitsToFloat(a << 16) > BitsToFloat(b << 16) ? 0xffff : 0);
}
#endif

// All bits of each value where a > b, of a word of two 16-bit floats or one float.
template <class T>
__device__ __forceinline__ uint32_t GreaterWord(uint32_t a, uint32_t b) {
  if constexpr (kIsSame<T, fp16>) {
    return GreaterF16x2(a, b);
  } else if constexpr (kIsSame<T, bf16>) {
    return GreaterBf16x2(a, b);
  } else {
    return BitsToFloat(a) > BitsToFloat(b) ? 0xffffffff : 0;
  }
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
