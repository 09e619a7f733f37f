// Scan operators and scans over a warp and over the parts of a CTA or a cluster.
//
// An operator has a Value, Identity(), an associative Combine(earlier, later), Append(value,
// element), Prefixes(elements, values) of a packet, and Result(prefix, value). A value is appended
// to at most 64 times before Settle(value), which makes it fit for Combine() as the earlier or
// later one, or for Carry(value), which does so for a value of any number of elements.
#ifndef TILEWRIGHT_SCAN_SCAN_OPS_CUH_
#define TILEWRIGHT_SCAN_SCAN_OPS_CUH_

#include "device/shuffle.cuh"

namespace tilewright {

struct ScanSum {
  using Value = float;
  __device__ __forceinline__ static Value Identity() { return 0.0f; }
  __device__ __forceinline__ static Value Combine(Value a, Value b) { return a + b; }
  __device__ __forceinline__ static Value Append(Value a, float x) { return a + x; }
  template <int kCount>
  __device__ __forceinline__ static void Prefixes(const float (&x)[kCount],
                                                  Value (&values)[kCount]) {
    values[0] = x[0];
#pragma unroll
    for (int i = 1; i < kCount; ++i) values[i] = values[i - 1] + x[i];
  }
  __device__ __forceinline__ static Value Settle(Value a) { return a; }
  __device__ __forceinline__ static Value Carry(Value a) { return a; }
  __device__ __forceinline__ static float Result(Value prefix, Value value) {
    return prefix + value;
  }
};

// A product as mantissa * 2^exponent, 1 <= |mantissa| < 2 unless it is zero, infinite or NaN: a
// part that overflows or vanishes as a float would turn a zero or an infinity before it into NaN.
struct ScaledProduct {
  float mantissa;
  int exponent;
};
struct ScanProduct {
  using Value = ScaledProduct;

  __device__ __forceinline__ static Value Identity() { return {1.0f, 0}; }
  __device__ __forceinline__ static Value Combine(Value a, Value b) {
    return Normalised(a.mantissa * b.mantissa, a.exponent + b.exponent);
  }
  __device__ __forceinline__ static Value Append(Value a, float x) {
    const Value b = Of(x);
    return {a.mantissa * b.mantissa, a.exponent + b.exponent};
  }
  // Mostly every element is a normal number.
  template <int kCount>
  __device__ __forceinline__ static void Prefixes(const float (&x)[kCount],
                                                  Value (&values)[kCount]) {
    bool normal = true;
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      const uint32_t bits = FloatToBits(x[i]);
      const uint32_t field = bits >> 23 & 0xff;
      normal = normal && field - 1 < 254;
      values[i] = {WithoutExponent(bits), static_cast<int>(field) - 127};
    }
    if (!normal) {
#pragma unroll
      for (int i = 0; i < kCount; ++i) values[i] = Of(x[i]);
    }
#pragma unroll
    for (int i = 1; i < kCount; ++i) {
      values[i].mantissa *= values[i - 1].mantissa;
      values[i].exponent += values[i - 1].exponent;
    }
  }
  __device__ __forceinline__ static Value Settle(Value a) {
    return Normalised(a.mantissa, a.exponent);
  }
  __device__ __forceinline__ static Value Carry(Value a) {
    constexpr int kMost = 1 << 28;
    a = Settle(a);
    return {a.mantissa, Min(Max(a.exponent, -kMost), kMost)};
  }
  // Rounds once: the first factor leaves a normal number.
  __device__ __forceinline__ static float Result(Value prefix, Value value) {
    constexpr int kMost = 252;
    const int exponent = Min(Max(prefix.exponent + value.exponent, -kMost), kMost);
    const int half = exponent >> 1;
    return prefix.mantissa * value.mantissa * PowerOfTwo(half) * PowerOfTwo(exponent - half);
  }

 private:
  __device__ __forceinline__ static Value Of(float x) {
    const bool small = (FloatToBits(x) & 0x7f800000) == 0;  // subnormal or zero
    return Normalised(small ? x * 0x1p24f : x, small ? -24 : 0);
  }
  __device__ __forceinline__ static float WithoutExponent(uint32_t bits) {
    return BitsToFloat((bits & 0x807fffff) | 0x3f800000);
  }
  __device__ __forceinline__ static float PowerOfTwo(int exponent) {  // from -126 to 127
    return BitsToFloat(static_cast<uint32_t>(exponent + 127) << 23);
  }
  __device__ __forceinline__ static Value Normalised(float x, int exponent) {
    const uint32_t bits = FloatToBits(x);
    const int field = static_cast<int>(bits >> 23 & 0xff);
    if (field == 0 || field == 0xff) return {x, exponent};
    return {WithoutExponent(bits), exponent + field - 127};
  }
};

// Prefixes over the first `kWidth` lanes (a power of two), each with its own value included.
template <class Op, int kWidth = kWarpSize>
__device__ __forceinline__ typename Op::Value WarpScan(typename Op::Value value, int lane) {
#pragma unroll
  for (int delta = 1; delta < kWidth; delta *= 2) {
    const typename Op::Value before = ShuffleUp(value, delta);
    if (lane >= delta) value = Op::Combine(before, value);
  }
  return value;
}

template <class Op>
__device__ __forceinline__ typename Op::Value WarpTotal(typename Op::Value value) {
#pragma unroll
  for (int mask = kWarpSize / 2; mask > 0; mask /= 2) {
    value = Op::Combine(value, ShuffleXor(value, mask));
  }
  return value;
}

}  // namespace tilewright

#endif  // TILEWRIGHT_SCAN_SCAN_OPS_CUH_
