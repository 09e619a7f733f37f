// Functions in float32, as precise as results of type T need: to a few units in the last place of
// float32, or, where the result is rounded to 16 bits, by the approximate instructions alone.
#ifndef TILEWRIGHT_ELEMENTWISE_PRECISION_CUH_
#define TILEWRIGHT_ELEMENTWISE_PRECISION_CUH_

#include "device/math.cuh"

namespace tilewright {

template <class T>
inline constexpr bool kRoundsTo16Bits = kIsSame<T, fp16> || kIsSame<T, bf16>;

// For sums with numbers that are not tiny: results below the normal range may be 0.
template <class T>
__device__ __forceinline__ float ExpFor(float x) {
  if constexpr (kRoundsTo16Bits<T>) {
    return Exp2(kLog2e * x);
  } else {
    return expf(x);
  }
}

template <class T>
__device__ __forceinline__ float RcpFor(float x) {
  if constexpr (kRoundsTo16Bits<T>) {
    return RcpApprox(x);
  } else {
    return Rcp(x);
  }
}

template <class T>
__device__ __forceinline__ float DivFor(float a, float b) {
  if constexpr (kRoundsTo16Bits<T>) {
    return DivFull(a, b);
  } else {
    return a / b;
  }
}

template <class T>
__device__ __forceinline__ float SqrtFor(float x) {
  if constexpr (kRoundsTo16Bits<T>) {
    return SqrtApprox(x);
  } else {
    return sqrtf(x);
  }
}

// 1 / (1 + exp(-x)). -inf gives 0.
template <class T>
__device__ __forceinline__ float SigmoidFor(float x) {
  return RcpFor<T>(1.0f + ExpFor<T>(-x));
}

// exp(x) - 1: its Taylor series near 0, where the difference would cancel.
template <class T>
__device__ __forceinline__ float Expm1For(float x) {
  if constexpr (kRoundsTo16Bits<T>) {
    const float near = Fma(x, Fma(x, Fma(x, 1.0f / 24, 1.0f / 6), 0.5f), 1.0f) * x;
    return fabsf(x) < 0.125f ? near : Exp2(kLog2e * x) - 1.0f;
  } else {
    float near = Fma(x, 1.0f / 5040, 1.0f / 720);
    near = Fma(x, Fma(x, Fma(x, near, 1.0f / 120), 1.0f / 24), 1.0f / 6);
    near = Fma(x * x, Fma(x, near, 0.5f), x);
    return fabsf(x) < 0.35f ? near : expf(x) - 1.0f;
  }
}

// log(1 + exp(x)): its series where exp(x) is small.
template <class T>
__device__ __forceinline__ float Log1pExpFor(float x) {
  if constexpr (kRoundsTo16Bits<T>) {
    constexpr float kLn2 = 0.69314718055994530942f;
    const float e = Exp2(kLog2e * x);
    const float small = Fma(e, Fma(e, Fma(e, -0.25f, 1.0f / 3), -0.5f), 1.0f) * e;
    return e < 0.0625f ? small : kLn2 * Log2Approx(1.0f + e);
  } else {
    return log1pf(expf(x));
  }
}

// 1 - erf(x), with a relative error of 1.2e-7 from the fit and that of the exponential: the
// Chebyshev fit "erfcc" of Press et al., Numerical Recipes, 6.2, in powers of two.
__device__ __forceinline__ float ErfcFit(float x) {
  const float z = fabsf(x);
  const float t = RcpApprox(Fma(0.5f, z, 1.0f));
  float p = Fma(t, kLog2e * 0.17087277f, kLog2e * -0.82215223f);
  p = Fma(t, p, kLog2e * 1.48851587f);
  p = Fma(t, p, kLog2e * -1.13520398f);
  p = Fma(t, p, kLog2e * 0.27886807f);
  p = Fma(t, p, kLog2e * -0.18628806f);
  p = Fma(t, p, kLog2e * 0.09678418f);
  p = Fma(t, p, kLog2e * 0.37409196f);
  p = Fma(t, p, kLog2e * 1.00002368f);
  p = Fma(t, p, kLog2e * -1.26551223f);
  const float tail = t * Exp2(Fma(-kLog2e * z, z, p));
  return x >= 0 ? tail : 2.0f - tail;
}

// x * Phi(x), Phi the normal distribution function: relatively precise in its lower tail too.
template <class T>
__device__ __forceinline__ float GeluFor(float x) {
  constexpr float kSqrtHalf = 0.70710678118654752440f;
  if constexpr (kRoundsTo16Bits<T>) {
    return 0.5f * x * ErfcFit(-kSqrtHalf * x);
  } else {
    return 0.5f * x * erfcf(-kSqrtHalf * x);
  }
}

// Its approximation 0.5 * x * (1 + tanh(u)) by the identity 1 + tanh(u) = 2 * sigmoid(2 * u).
template <class T>
__device__ __forceinline__ float GeluTanhFor(float x) {
  constexpr float kTwiceSqrt2OverPi = 1.59576912160573071176f;
  return x * SigmoidFor<T>(kTwiceSqrt2OverPi * Fma(0.044715f * x * x, x, x));
}

}  // namespace tilewright

#endif  // TILEWRIGHT_ELEMENTWISE_PRECISION_CUH_
