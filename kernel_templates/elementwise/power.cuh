// a to the power of b in float32: 2^(b * log2|a|), and the sign that b's parity gives.
#ifndef TILEWRIGHT_ELEMENTWISE_POWER_CUH_
#define TILEWRIGHT_ELEMENTWISE_POWER_CUH_

#include "device/nan_math.cuh"
#include "device/transcendental.cuh"
#include "elementwise/precision.cuh"

namespace tilewright {

// The sum of two floats, the second far smaller.
struct FloatPair {
  float high, low;
};

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
// logarithm: 2^-24.7 for results of 16 bits, else 2^-33.
template <class T>
__device__ __forceinline__ float CubicRest(float x) {
  if constexpr (kRoundsTo16Bits<T>) {
    float p = Fma(x, 0.13820133f, -0.15122190f);
    p = Fma(x, p, 0.14042328f);
    p = Fma(x, p, -0.16472325f);
    p = Fma(x, p, 0.20007919f);
    p = Fma(x, p, -0.25004238f);
    return Fma(x, p, 0.33333266f);
  } else {
    float p = Fma(x, -0.1139925942f, 0.1212714165f);
    p = Fma(x, p, -0.0956598595f);
    p = Fma(x, p, 0.1072048098f);
    p = Fma(x, p, -0.1252781004f);
    p = Fma(x, p, 0.1430777609f);
    p = Fma(x, p, -0.1666586101f);
    p = Fma(x, p, 0.1999946684f);
    p = Fma(x, p, -0.2500000894f);
    return Fma(x, p, 0.3333333731f);
  }
}

// log2 of a positive and finite x: relatively to 2^-24 without a low part for results of 16 bits,
// else to 2^-29.
template <class T>
__device__ __forceinline__ FloatPair Log2Pair(float x) {
  constexpr float kLog2eLow = 1.925963033e-8f;
  const auto [exponent, f] = ScientificOf<T>(x);
  const float rest = CubicRest<T>(f);
  const float square = f * f;
  if constexpr (kRoundsTo16Bits<T>) {
    return {Fma(Fma(Fma(rest, f, -0.5f), square, f), kLog2e, exponent), 0.0f};
  } else {
    const float square_low = Fma(f, f, -square);
    const float half = -0.5f * square;
    const float start = f + half;
    const float start_low = Fma(-0.5f, square_low, (f - start) + half);
    const float cube = square * (f * rest);
    const float natural = start + cube;
    const float natural_low = (start - natural) + cube + start_low;
    const float binary = natural * kLog2e;
    float binary_low = Fma(natural, kLog2e, -binary);
    binary_low = Fma(natural, kLog2eLow, binary_low);
    binary_low = Fma(natural_low, kLog2e, binary_low);
    const float sum = exponent + binary;
    return {sum, (exponent - sum) + binary + binary_low};
  }
}

// 2^(x.high + x.low), over- and underflow included.
template <class T>
__device__ __forceinline__ float Exp2OfPair(FloatPair x) {
  if constexpr (kIsSame<T, fp16>) {
    return Exp2(x.high);  // what is flushed rounds to 0
  } else if constexpr (kRoundsTo16Bits<T>) {
    return Exp2Subnormal(x.high);
  } else {
    constexpr float kMost = 200.0f, kRound = 0x1.8p23f;
    const float bounded = MinNan(MaxNan(x.high, -kMost), kMost);
    const float shifted = bounded + kRound;
    const float low = bounded == x.high ? x.low : 0.0f;
    const float fraction = Exp2((bounded - (shifted - kRound)) + low);
    // Two steps, so that each is a normal number.
    const int whole = static_cast<int>(FloatToBits(shifted) - FloatToBits(kRound));
    const int half = whole >> 1;
    const auto power = [](int n) { return BitsToFloat(static_cast<uint32_t>(n + 127) << 23); };
    return fraction * power(half) * power(whole - half);
  }
}

// As C's pow has it for zeros, infinities, NaN and negative numbers.
template <class T>
__device__ __forceinline__ float Power(float a, float b) {
  constexpr uint32_t kInfinity = 0x7f800000, kNan = 0x7fffffff;
  const float x = fabsf(a);
  const float infinity = BitsToFloat(kInfinity);
  const bool ordinary = x > 0 && x < infinity;
  FloatPair log = Log2Pair<T>(x);
  if (!ordinary) log.high = x == 0 ? -infinity : x;
  FloatPair exponent = {b * log.high, 0.0f};
  if constexpr (!kRoundsTo16Bits<T>) {
    exponent.low = Fma(b, log.low, Fma(b, log.high, -exponent.high));
  }
  if (log.high == 0 || b == 0) exponent = {0.0f, 0.0f};  // 1, whatever the other is
  float y = Exp2OfPair<T>(exponent);
  if ((FloatToBits(a) >> 31) != 0) {
    const bool whole = truncf(b) == b;
    if (whole && truncf(0.5f * b) != 0.5f * b) y = -y;
    if (!whole && ordinary) y = BitsToFloat(kNan);
  }
  return y;
}

}  // namespace tilewright

#endif  // TILEWRIGHT_ELEMENTWISE_POWER_CUH_
