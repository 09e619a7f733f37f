// a to the power of b in float32: 2^(b * log2|a|), and the sign that b's parity gives. The
// logarithm is float32 for results of 16 bits, else double.
#ifndef TILEWRIGHT_ELEMENTWISE_POWER_CUH_
#define TILEWRIGHT_ELEMENTWISE_POWER_CUH_

#include "device/nan_math.cuh"
#include "device/transcendental.cuh"
#include "elementwise/precision.cuh"

namespace tilewright {

// Positive and finite x as 2^exponent * (1 + fraction), the fraction from -1/3 to 1/3.
struct Scientific {
  float exponent, fraction;
};
template <class T>
__device__ __forceinline__ Scientific ScientificOf(float x) {
  constexpr uint32_t kTwoThirds = 0x3f2aaaab;
  constexpr uint32_t kExponent = 0xff800000;             // and sign
  const bool tiny = !kIsSame<T, fp16> && x < 0x1p-126f;  // no float16 is
  const uint32_t bits = FloatToBits(tiny ? x * 0x1p24f : x);
  const uint32_t shift = (bits - kTwoThirds) & kExponent;
  const float exponent = static_cast<float>(static_cast<int32_t>(shift));
  return {Fma(exponent, 0x1p-23f, tiny ? -24.0f : 0.0f), BitsToFloat(bits - shift) - 1.0f};
}

// (log(1 + x) - x + x^2 / 2) / x^3 for x from -1/3 to 1/3, by least relative error of the
// logarithm: 2^-24.7.
__device__ __forceinline__ float CubicRest(float x) {
  float p = Fma(x, 0.13820133f, -0.15122190f);
  p = Fma(x, p, 0.14042328f);
  p = Fma(x, p, -0.16472325f);
  p = Fma(x, p, 0.20007919f);
  p = Fma(x, p, -0.25004238f);
  return Fma(x, p, 0.33333266f);
}

// log2 of a positive and finite x for results of 16 bits: relatively to 2^-24.
template <class T>
__device__ __forceinline__ float Log2Of(float x) {
  const auto [exponent, f] = ScientificOf<T>(x);
  const float square = f * f;
  return Fma(Fma(Fma(CubicRest(f), f, -0.5f), square, f), kLog2e, exponent);
}

// log2(1 + f) / f for f from -1/3 to 1/3, highest power first: in constant memory, so that the
// compiler reads each once for all elements of a vector.
template <class T>
__constant__ double kLog2Series[12] = {
    -0.16191320246069357, 0.17596484956590297, -0.13873901486506793, 0.15435798605446832,
    -0.1806644880486036,  0.2064511564408484,  -0.24044051684697687, 0.2885297117909238,
    -0.36067384324867696, 0.48089843611983374, -0.7213475203161789,  1.442695040751191};

// log2 of positive and finite x relatively to 2^-33: in double, whose products have a pipe of their
// own and need no low parts.
template <class T, int kCount>
__device__ __forceinline__ void Log2Doubles(const T (&x)[kCount], double (&log)[kCount]) {
  constexpr uint32_t kTwoThirds = 0x3fe55555;  // the upper word of a double
  constexpr uint32_t kExponent = 0xfff00000;
  double f[kCount], series[kCount];
#pragma unroll
  for (int k = 0; k < kCount; ++k) {
    const uint64_t bits = DoubleToBits(static_cast<double>(x[k]));
    const auto upper = static_cast<uint32_t>(bits >> 32);
    const uint32_t shift = (upper - kTwoThirds) & kExponent;
    f[k] = BitsToDouble(uint64_t{upper - shift} << 32 | static_cast<uint32_t>(bits)) - 1.0;
    // 2^20 times the exponent, in the last places of a double.
    log[k] = BitsToDouble(uint64_t{0x43300000} << 32 | (shift ^ 0x80000000)) - (0x1p52 + 0x1p31);
    series[k] = kLog2Series<T>[0];
  }
#pragma unroll
  for (int i = 1; i < 12; ++i) {
    const double term = kLog2Series<T>[i];
#pragma unroll
    for (int k = 0; k < kCount; ++k) series[k] = series[k] * f[k] + term;
  }
#pragma unroll
  for (int k = 0; k < kCount; ++k) log[k] = log[k] * 0x1p-20 + series[k] * f[k];
}

// x^b for an x that is not negative, where x, b or the result is out of the ordinary: 0, infinite,
// NaN or near either end of the range, or `exponent` is that of the result.
template <class T>
__device__ __noinline__ float PowerAtEnds(float x, float b, double exponent) {
  const float infinity = BitsToFloat(0x7f800000);
  if (x == 1 || b == 0) return 1.0f;
  const bool ordinary = x > 0 && x < infinity && fabsf(b) < infinity;
  if (!ordinary) return Exp2(b * (x < 1 ? -infinity : x > 1 ? infinity : x));
  const double bounded = exponent > 200 ? 200 : exponent < -200 ? -200 : exponent;
  const double shifted = bounded + 0x1.8p52;
  const int whole = static_cast<int>(static_cast<uint32_t>(DoubleToBits(shifted)));
  // Two steps, so that each is a normal number.
  const int half = whole >> 1;
  const auto power = [](int n) { return BitsToFloat(static_cast<uint32_t>(n + 127) << 23); };
  const float part = static_cast<float>(bounded - (shifted - 0x1.8p52));
  return Exp2(part) * power(half) * power(whole - half);
}

// The sign that a negative a gives to y, |a|^b; NaN where b is not whole and a `ordinary`.
__device__ __forceinline__ float WithSign(float y, float b, bool ordinary) {
  const bool whole = truncf(b) == b;
  if (whole && truncf(0.5f * b) != 0.5f * b) y = -y;
  if (!whole && ordinary) y = BitsToFloat(0x7fffffff);
  return y;
}

// a^b.
template <class T, int kCount>
__device__ __forceinline__ void PowersOf(const T (&a)[kCount], const T (&b)[kCount],
                                         T (&y)[kCount]) {
  constexpr uint32_t kMost = 0x405f0000;  // the upper word of 124
  T x[kCount];
  double log[kCount];
#pragma unroll
  for (int k = 0; k < kCount; ++k) x[k] = fabsf(a[k]);
  Log2Doubles(x, log);
#pragma unroll
  for (int k = 0; k < kCount; ++k) {
    const double exponent = static_cast<double>(b[k]) * log[k];
    const double shifted = exponent + 0x1.8p52;
    const auto whole = static_cast<uint32_t>(DoubleToBits(shifted));
    const float part = Exp2(static_cast<float>(exponent - (shifted - 0x1.8p52)));
    y[k] = BitsToFloat(FloatToBits(part) + (whole << 23));
    const bool inner = (static_cast<uint32_t>(DoubleToBits(exponent) >> 32) & 0x7fffffff) < kMost;
    const bool usual = FloatToBits(x[k]) - 1 < 0x7f7fffff && fabsf(b[k]) < BitsToFloat(0x7f800000);
    if (!inner || !usual) y[k] = PowerAtEnds<T>(x[k], b[k], exponent);
    if ((FloatToBits(a[k]) >> 31) != 0) {
      y[k] = WithSign(y[k], b[k], x[k] > 0 && x[k] < BitsToFloat(0x7f800000));
    }
  }
}

// 2^x for results of 16 bits.
template <class T>
__device__ __forceinline__ float Exp2Narrow(float x) {
  if constexpr (kIsSame<T, fp16>) {
    return Exp2(x);  // what is flushed rounds to 0
  } else {
    return Exp2Subnormal(x);
  }
}

// a^b for results of 16 bits, as C's pow has it for zeros, infinities, NaN and negative numbers.
template <class T>
__device__ __forceinline__ float Power(float a, float b) {
  static_assert(kRoundsTo16Bits<T>);
  const float x = fabsf(a);
  const float infinity = BitsToFloat(0x7f800000);
  const bool ordinary = x > 0 && x < infinity;
  float log = Log2Of<T>(x);
  if (!ordinary) log = x == 0 ? -infinity : x;
  float exponent = b * log;
  if (log == 0 || b == 0) exponent = 0.0f;  // 1, whatever the other is
  float y = Exp2Narrow<T>(exponent);
  if ((FloatToBits(a) >> 31) != 0) y = WithSign(y, b, ordinary);
  return y;
}

}  // namespace tilewright

#endif  // TILEWRIGHT_ELEMENTWISE_POWER_CUH_
