// Logarithms, sine, cosine and error function in float32, as precise as results of type T need: by
// libdevice, or, where the result is rounded to 16 bits, in about a third of its instructions and
// within a tenth of such a result's last place.
#ifndef TILEWRIGHT_ELEMENTWISE_NARROW_MATH_CUH_
#define TILEWRIGHT_ELEMENTWISE_NARROW_MATH_CUH_

#include "device/nan_math.cuh"
#include "elementwise/precision.cuh"

namespace tilewright {

// log(1 + x), its Taylor series, for |x| < 1/16: within 3e-6 of it.
__device__ __forceinline__ float Log1pNear(float x) {
  return Fma(x, Fma(x, Fma(x, -0.25f, 1.0f / 3), -0.5f), 1.0f) * x;
}

template <class T>
__device__ __forceinline__ float LogFor(float x) {
  if constexpr (kIsSame<T, fp16>) {
    const float beyond = x - 1.0f;  // exact where it is small
    const float far = kLn2 * Log2Approx(x);
    return fabsf(beyond) < 0.0625f ? Log1pNear(beyond) : far;
  } else if constexpr (kIsSame<T, bf16>) {
    return kLn2 * Log2Approx(x);  // the number next to 1 is far enough from it
  } else {
    return logf(x);
  }
}

template <class T>
__device__ __forceinline__ float Log1pFor(float x) {
  if constexpr (kRoundsTo16Bits<T>) {
    const float far = kLn2 * Log2Approx(1.0f + x);
    return fabsf(x) < 0.0625f ? Log1pNear(x) : far;
  } else {
    return log1pf(x);
  }
}

// An odd polynomial on [-2.75, 2.75], the best one of its degree (Remez), within 4.4e-5 of it;
// beyond, a result of 16 bits is 1.
template <class T>
__device__ __forceinline__ float ErfFor(float x) {
  if constexpr (kRoundsTo16Bits<T>) {
    const float y = MaxNan(MinNan(x, 2.75f), -2.75f);
    const float t = y * y;
    float p = Fma(t, -7.40872846e-07f, 2.6727903e-05f);
    p = Fma(t, p, -0.000423536469f);
    p = Fma(t, p, 0.00394864112f);
    p = Fma(t, p, -0.0246306613f);
    p = Fma(t, p, 0.110792182f);
    p = Fma(t, p, -0.375373048f);
    p = Fma(t, p, 1.12833039f);
    return y * p;
  } else {
    return erff(x);
  }
}

// sin(x - offset * pi), offset 0 or -1/2, for |x| up to kMostNarrowAngle: x less the nearest
// multiple of pi, the first product of which is exact to the last bit of x, then the best odd
// polynomial on [-pi/2, pi/2] (Remez), within 1e-6 of it.
inline constexpr float kMostNarrowAngle = 131072.0f;
template <bool kCosine>
__device__ __forceinline__ float SineNarrow(float x) {
  constexpr float kWhole = 12582912.0f;  // 1.5 * 2^23: what is added to it is rounded to integers
  constexpr float kPiHigh = 3.14159250259399414f;
  constexpr float kPiLow = 1.50995798828e-07f;
  constexpr float kInversePi = 0.318309886183790672f;
  const float sum = kCosine ? Fma(x, kInversePi, 0.5f) + kWhole : Fma(x, kInversePi, kWhole);
  const float turns = kCosine ? sum - kWhole - 0.5f : sum - kWhole;  // 0 is +0, which keeps x's -0
  const float r = Fma(-turns, kPiLow, Fma(-turns, kPiHigh, x));
  const float t = r * r;
  const float p =
      Fma(t, Fma(t, Fma(t, -0.000184864218f, 0.00831184442f), -0.166655497f), 0.999999056f);
  return BitsToFloat(FloatToBits(r * p) ^ FloatToBits(sum) << 31);
}

template <class T>
__device__ __forceinline__ float SinFor(float x) {
  if constexpr (kRoundsTo16Bits<T>) {
    if (kIsSame<T, fp16> || fabsf(x) < kMostNarrowAngle) return SineNarrow<false>(x);
  }
  return sinf(x);
}

template <class T>
__device__ __forceinline__ float CosFor(float x) {
  if constexpr (kRoundsTo16Bits<T>) {
    if (kIsSame<T, fp16> || fabsf(x) < kMostNarrowAngle) return SineNarrow<true>(x);
  }
  return cosf(x);
}

}  // namespace tilewright

#endif  // TILEWRIGHT_ELEMENTWISE_NARROW_MATH_CUH_
