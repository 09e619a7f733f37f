// Arithmetic of two elements.
#ifndef TILEWRIGHT_ELEMENTWISE_ARITHMETIC_CUH_
#define TILEWRIGHT_ELEMENTWISE_ARITHMETIC_CUH_

#include "device/nan_math.cuh"
#include "elementwise/elementwise.cuh"
#include "elementwise/power.cuh"
#include "elementwise/precision.cuh"

namespace tilewright {

// a / b rounded towards minus infinity, and what is left of a: the remainder of the sign of b.
struct WholeAndRest {
  float whole, rest;
};

// By the reciprocal of b, to 2 units in the last place. `*sure` stays only where that was enough:
// the nearest whole number is then the one sought or the next, the fused remainder, which is exact,
// tells which, and no multiple of b overflowed or was lost.
__device__ __forceinline__ WholeAndRest DivideByReciprocal(float a, float b, float reciprocal,
                                                           bool* sure) {
  constexpr float kRound = 0x1.8p23f;  // a sum with it has no bits below 1
  constexpr uint32_t kSign = 0x80000000;
  const float quotient = a * reciprocal;
  const float whole = copysignf((quotient + kRound) - kRound, quotient);
  const float rest = Fma(-whole, b, a);
  *sure = *sure && fabsf(quotient) < 0x1p20f && fabsf(rest) < fabsf(b);
  const bool above = BitsToFloat(FloatToBits(rest) ^ (FloatToBits(b) & kSign)) < 0;
  return {above ? whole - 1.0f : whole, above ? rest + b : rest};
}

// The same for any numbers, as PyTorch has it; not inlined, as few vectors need it.
template <class T>
__device__ __noinline__ float FloorOfLarge(float a, float b) {
  if (b == 0) return a / b;
  const float remainder = fmodf(a, b);
  float quotient = (a - remainder) / b;
  if (remainder != 0 && (b < 0) != (remainder < 0)) quotient -= 1.0f;
  if (quotient == 0) return copysignf(0.0f, a / b);
  const float whole = floorf(quotient);
  return quotient - whole > 0.5f ? whole + 1.0f : whole;
}
template <class T>
__device__ __noinline__ float RemainderOfLarge(float a, float b) {
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
  static constexpr bool kWholeVectors = true;
  template <class Inputs, int kCount>
  __device__ __forceinline__ void Map(const Inputs& x, float (&values)[kCount]) const {
    bool sure = true;
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      const float b = x.template At<1>(i);
      values[i] = DivideByReciprocal(x.template At<0>(i), b, RcpApprox(b), &sure).whole;
    }
    if (sure) return;
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      values[i] = FloorOfLarge<T>(x.template At<0>(i), x.template At<1>(i));
    }
  }
};
// A zero has the sign of a.
template <class T>
struct RemainderFunctor : HomogeneousFunctor<T, 2> {
  static constexpr bool kWholeVectors = true;
  template <class Inputs, int kCount>
  __device__ __forceinline__ void Map(const Inputs& x, float (&values)[kCount]) const {
    bool sure = true;
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      const float a = x.template At<0>(i), b = x.template At<1>(i);
      const float rest = DivideByReciprocal(a, b, RcpApprox(b), &sure).rest;
      values[i] = rest == 0 ? copysignf(0.0f, a) : rest;
    }
    if (sure) return;
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      values[i] = RemainderOfLarge<T>(x.template At<0>(i), x.template At<1>(i));
    }
  }
};
template <class T>
struct PowFunctor : HomogeneousFunctor<T, 2> {
  __device__ __forceinline__ float operator()(float a, float b) const { return Power<T>(a, b); }
};
template <class T>
requires(sizeof(T) == sizeof(float)) struct PowFunctor<T> : HomogeneousFunctor<T, 2> {
  static constexpr bool kWholeVectors = true;
  template <class Inputs, int kCount>
  __device__ __forceinline__ void Map(const Inputs& x, float (&values)[kCount]) const {
    float a[kCount], b[kCount];
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      a[i] = x.template At<0>(i);
      b[i] = x.template At<1>(i);
    }
    PowersOf(a, b, values);
  }
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
