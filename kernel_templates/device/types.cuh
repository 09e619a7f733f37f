// Element types and their conversions. Storage structs hold bits; arithmetic happens in the compute
// type (float for the narrow floats). No CUDA header.
#ifndef TILEWRIGHT_DEVICE_TYPES_CUH_
#define TILEWRIGHT_DEVICE_TYPES_CUH_

#include "device/base.cuh"

namespace tilewright {

struct fp16 {
  uint16_t bits;
};
struct bf16 {
  uint16_t bits;
};
struct fp8_e4m3 {
  uint8_t bits;
};
struct fp8_e5m2 {
  uint8_t bits;
};
// One byte, 0 or 1.
struct bool8 {
  uint8_t bits;
};

// cvt.f32.f16: sm_80. Thread.
__device__ __forceinline__ float CvtF32F16(uint16_t bits) {
  float value;
  asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(bits));
  return value;
}
// cvt.rn.f16.f32: sm_80. Thread.
__device__ __forceinline__ uint16_t CvtF16F32(float value) {
  uint16_t bits;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(value));
  return bits;
}
// cvt.rn.bf16.f32: sm_80. Thread.
__device__ __forceinline__ uint16_t CvtBf16F32(float value) {
  uint16_t bits;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(bits) : "f"(value));
  return bits;
}
// cvt.rn.f16x2.f32 (`low` in the low half): sm_80. Thread.
__device__ __forceinline__ uint32_t CvtF16x2F32(float low, float high) {
  uint32_t bits;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(bits) : "f"(high), "f"(low));
  return bits;
}
// cvt.rn.bf16x2.f32 (`low` in the low half): sm_80. Thread.
__device__ __forceinline__ uint32_t CvtBf16x2F32(float low, float high) {
  uint32_t bits;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(bits) : "f"(high), "f"(low));
  return bits;
}
// Bits as a value and back: no instruction.
__device__ __forceinline__ float BitsToFloat(uint32_t bits) {
  return __builtin_bit_cast(float, bits);
}
__device__ __forceinline__ uint32_t FloatToBits(float value) {
  return __builtin_bit_cast(uint32_t, value);
}
__device__ __forceinline__ double BitsToDouble(uint64_t bits) {
  return __builtin_bit_cast(double, bits);
}
__device__ __forceinline__ uint64_t DoubleToBits(double value) {
  return __builtin_bit_cast(uint64_t, value);
}

#if __CUDA_ARCH__ >= 890
// cvt.rn.f16x2.e4m3x2: sm_89. Thread.
__device__ __forceinline__ uint32_t CvtF16x2E4m3x2(uint16_t pair) {
  uint32_t bits;
  asm("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(bits) : "h"(pair));
  return bits;
}
// cvt.rn.satfinite.e4m3x2.f32 (`low` in the low byte): sm_89. Thread.
__device__ __forceinline__ uint16_t CvtE4m3x2F32(float low, float high) {
  uint16_t bits;
  asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(bits) : "f"(high), "f"(low));
  return bits;
}
// cvt.rn.satfinite.e5m2x2.f32 (`low` in the low byte): sm_89. Thread.
__device__ __forceinline__ uint16_t CvtE5m2x2F32(float low, float high) {
  uint16_t bits;
  asm("cvt.rn.satfinite.e5m2x2.f32 %0, %1, %2;" : "=h"(bits) : "f"(high), "f"(low));
  return bits;
}
#endif

// Rounds to nearest even, saturating, to a float of 1 sign bit, `kExponent` exponent bits and the
// rest mantissa, as cvt.rn.satfinite does. `kMaxCode` is the largest finite code, `kNanCode` the
// NaN.
template <int kExponent, uint32_t kMaxCode, uint32_t kNanCode>
__device__ __forceinline__ uint8_t EncodeF8(float value) {
  constexpr int kMantissa = 7 - kExponent;
  constexpr int kBias = (1 << (kExponent - 1)) - 1;
  const uint32_t bits = FloatToBits(value);
  const uint32_t sign = bits >> 24 & 0x80;
  const uint32_t magnitude = bits & 0x7fffffff;
  if (magnitude > 0x7f800000) return kNanCode;
  uint32_t code;
  const int exponent = static_cast<int>(magnitude >> 23) - 127;
  if (exponent < 1 - kBias) {
    // Subnormal: a multiple of 2^(1 - kBias - kMantissa). Adding 2^23 of those units rounds.
    const float unit = BitsToFloat(static_cast<uint32_t>(1 - kBias - kMantissa + 127 + 23) << 23);
    code = FloatToBits(BitsToFloat(magnitude) + unit) & 0xff;
  } else {
    constexpr int kDrop = 23 - kMantissa;
    const uint32_t rounded = magnitude + (1u << (kDrop - 1)) - 1 + (magnitude >> kDrop & 1);
    code = (rounded >> kDrop) - (static_cast<uint32_t>(127 - kBias) << kMantissa);
  }
  return static_cast<uint8_t>(sign | (code > kMaxCode ? kMaxCode : code));
}

// Conversions of one element. ToCompute widens exactly; FromCompute rounds to nearest even.
template <class T>
struct TypeTraits {  // float, double and the integers compute in themselves
  using Compute = T;
  __device__ __forceinline__ static T ToCompute(T value) { return value; }
  __device__ __forceinline__ static T FromCompute(T value) { return value; }
};
template <>
struct TypeTraits<fp16> {
  using Compute = float;
  __device__ __forceinline__ static float ToCompute(fp16 value) { return CvtF32F16(value.bits); }
  __device__ __forceinline__ static fp16 FromCompute(float value) { return {CvtF16F32(value)}; }
};
template <>
struct TypeTraits<bf16> {
  using Compute = float;
  __device__ __forceinline__ static float ToCompute(bf16 value) {
    return BitsToFloat(static_cast<uint32_t>(value.bits) << 16);
  }
  __device__ __forceinline__ static bf16 FromCompute(float value) { return {CvtBf16F32(value)}; }
};
template <>
struct TypeTraits<fp8_e5m2> {
  using Compute = float;
  __device__ __forceinline__ static float ToCompute(fp8_e5m2 value) {
    return CvtF32F16(static_cast<uint16_t>(value.bits << 8));  // the upper byte of an fp16
  }
  __device__ __forceinline__ static fp8_e5m2 FromCompute(float value) {
#if __CUDA_ARCH__ >= 890
    return {static_cast<uint8_t>(CvtE5m2x2F32(value, 0.0f))};
#else
    return {EncodeF8<5, 0x7b, 0x7f>(value)};
#endif
  }
};
template <>
struct TypeTraits<fp8_e4m3> {
  using Compute = float;
  __device__ __forceinline__ static float ToCompute(fp8_e4m3 value) {
#if __CUDA_ARCH__ >= 890
    return CvtF32F16(static_cast<uint16_t>(CvtF16x2E4m3x2(value.bits)));
#else
    if ((value.bits & 0x7f) == 0x7f) return BitsToFloat(0x7fffffff);
    const uint16_t half =
        static_cast<uint16_t>((value.bits & 0x80) << 8 | (value.bits & 0x7f) << 7);
    return CvtF32F16(half) * 256.0f;  // the exponent biases differ by 8
#endif
  }
  __device__ __forceinline__ static fp8_e4m3 FromCompute(float value) {
#if __CUDA_ARCH__ >= 890
    return {static_cast<uint8_t>(CvtE4m3x2F32(value, 0.0f))};
#else
    return {EncodeF8<4, 0x7e, 0x7f>(value)};
#endif
  }
};
template <>
struct TypeTraits<bool8> {
  using Compute = bool;
  __device__ __forceinline__ static bool ToCompute(bool8 value) { return value.bits != 0; }
  __device__ __forceinline__ static bool8 FromCompute(bool value) {
    return {static_cast<uint8_t>(value ? 1 : 0)};
  }
};

template <class T>
using ComputeType = typename TypeTraits<T>::Compute;

// Two rounded elements in one word, `low` first. For 16-bit floats.
template <class T>
__device__ __forceinline__ uint32_t Pack2(float low, float high) {
  if constexpr (kIsSame<T, bf16>) {
    return CvtBf16x2F32(low, high);
  } else {
    static_assert(kIsSame<T, fp16>);
    return CvtF16x2F32(low, high);
  }
}

}  // namespace tilewright

#endif  // TILEWRIGHT_DEVICE_TYPES_CUH_
