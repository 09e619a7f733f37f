// Arithmetic of two elements.
#ifndef TILEWRIGHT_ELEMENTWISE_ARITHMETIC_CUH_
#define TILEWRIGHT_ELEMENTWISE_ARITHMETIC_CUH_

#include "device/nan_math.cuh"
#include "elementwise/elementwise.cuh"
#include "elementwise/precision.cuh"

namespace tilewright {

// a / b rounded towards minus infinity and what is left of a, where WholeOf() may be asked.
struct WholeAndRest {
  float whole, rest;
};

// Whether the quotient can be told from its neighbours, and a multiple of b is a number.
__device__ __forceinline__ bool HasSmallQuotient(float quotient, float b) {
  return fabsf(quotient) < 0x1p22f && fabsf(b) < BitsToFloat(0x7f800000);
}
// The rounded quotient may have reached a whole number that the exact one is below: the fused
// remainder then has the other sign than b. That of 16-bit types, an approximation, may also be
// below one that the exact one reaches; unless it is small, their remainder is exact.
template <class T>
__device__ __forceinline__ WholeAndRest WholeOf(float quotient, float a, float b) {
  float whole = floorf(quotient);
  const float rest = Fma(-whole, b, a);
  if (rest != 0 && (rest < 0) != (b < 0)) {
    whole -= 1.0f;
  } else if (kRoundsTo16Bits<T> && fabsf(quotient) >= 0.5f && fabsf(rest) >= fabsf(b)) {
    whole += 1.0f;
  }
  return {whole, Fma(-whole, b, a)};
}

// By way of the exact remainder.
__device__ __forceinline__ float FloorOfLarge(float a, float b) {
  if (b == 0) return a / b;
  const float remainder = fmodf(a, b);
  float quotient = (a - remainder) / b;
  if (remainder != 0 && (b < 0) != (remainder < 0)) quotient -= 1.0f;
  if (quotient == 0) return copysignf(0.0f, a / b);
  const float whole = floorf(quotient);
  return quotient - whole > 0.5f ? whole + 1.0f : whole;
}

template <class T>
__device__ __forceinline__ float FloorQuotient(float a, float b) {
  const float quotient = DivFor<T>(a, b);
  return HasSmallQuotient(quotient, b) ? WholeOf<T>(quotient, a, b).whole : FloorOfLarge(a, b);
}

// Of the sign of b; a zero has the sign of a.
template <class T>
__device__ __forceinline__ float FloorRemainder(float a, float b) {
  const float quotient = DivFor<T>(a, b);
  if (HasSmallQuotient(quotient, b)) {
    const float rest = WholeOf<T>(quotient, a, b).rest;
    return rest == 0 ? copysignf(0.0f, a) : rest;
  }
  const float remainder = fmodf(a, b);
  return remainder != 0 && (b < 0) != (remainder < 0) ? remainder + b : remainder;
}

template <class T>
struct DivFunctor : HomogeneousFunctor<T, 2> {
  __device__ __forceinline__ float operator()(float a, float b) const { return DivFor<T>(a, b); }
};
template <class T>
struct DivTruncFunctor : HomogeneousFunctor<T, 2> {
  __device__ __forceinline__ float operator()(float a, float b) const { return truncf(a / b); }
};
template <class T>
struct DivFloorFunctor : HomogeneousFunctor<T, 2> {
  __device__ __forceinline__ float operator()(float a, float b) const {
    return FloorQuotient<T>(a, b);
  }
};
template <class T>
struct RemainderFunctor : HomogeneousFunctor<T, 2> {
  __device__ __forceinline__ float operator()(float a, float b) const {
    return FloorRemainder<T>(a, b);
  }
};
template <class T>
struct PowFunctor : HomogeneousFunctor<T, 2> {
  __device__ __forceinline__ float operator()(float a, float b) const { return powf(a, b); }
};

// Integers wrap; bool is "and".
template <class T>
struct MulFunctor : HomogeneousFunctor<T, 2> {
  template <class C>
  __device__ __forceinline__ C operator()(C a, C b) const {
    if constexpr (kIsInteger<T>) {
      return static_cast<C>(static_cast<WrappingType<T>>(a) * static_cast<WrappingType<T>>(b));
    } else if constexpr (kIsSame<C, bool>) {
      return a && b;
    } else {
      return a * b;
    }
  }
};

// NaN where either is.
template <class T>
struct MaximumFunctor : HomogeneousFunctor<T, 2> {
  template <class C>
  __device__ __forceinline__ C operator()(C a, C b) const {
    if constexpr (kIsSame<C, float>) {
      return MaxNan(a, b);
    } else {
      return Max(a, b);
    }
  }
};
template <class T>
struct MinimumFunctor : HomogeneousFunctor<T, 2> {
  template <class C>
  __device__ __forceinline__ C operator()(C a, C b) const {
    if constexpr (kIsSame<C, float>) {
      return MinNan(a, b);
    } else {
      return Min(a, b);
    }
  }
};

}  // namespace tilewright

#endif  // TILEWRIGHT_ELEMENTWISE_ARITHMETIC_CUH_
