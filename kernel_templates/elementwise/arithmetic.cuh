// Arithmetic of two elements.
#ifndef TILEWRIGHT_ELEMENTWISE_ARITHMETIC_CUH_
#define TILEWRIGHT_ELEMENTWISE_ARITHMETIC_CUH_

#include "device/nan_math.cuh"
#include "elementwise/elementwise.cuh"

namespace tilewright {

// The quotient rounded towards minus infinity, by way of the exact remainder: a / b rounded first
// may reach a whole number that the quotient is below.
__device__ __forceinline__ float FloorQuotient(float a, float b) {
  if (b == 0) return a / b;
  const float remainder = fmodf(a, b);
  float quotient = (a - remainder) / b;
  if (remainder != 0 && (b < 0) != (remainder < 0)) quotient -= 1.0f;
  if (quotient == 0) return copysignf(0.0f, a / b);
  const float whole = floorf(quotient);
  return quotient - whole > 0.5f ? whole + 1.0f : whole;
}

// Of the sign of b.
__device__ __forceinline__ float FloorRemainder(float a, float b) {
  const float remainder = fmodf(a, b);
  return remainder != 0 && (b < 0) != (remainder < 0) ? remainder + b : remainder;
}

template <class T>
struct DivFunctor : HomogeneousFunctor<T, 2> {
  __device__ __forceinline__ float operator()(float a, float b) const { return a / b; }
};
template <class T>
struct DivTruncFunctor : HomogeneousFunctor<T, 2> {
  __device__ __forceinline__ float operator()(float a, float b) const { return truncf(a / b); }
};
template <class T>
struct DivFloorFunctor : HomogeneousFunctor<T, 2> {
  __device__ __forceinline__ float operator()(float a, float b) const {
    return FloorQuotient(a, b);
  }
};
template <class T>
struct RemainderFunctor : HomogeneousFunctor<T, 2> {
  __device__ __forceinline__ float operator()(float a, float b) const {
    return FloorRemainder(a, b);
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
