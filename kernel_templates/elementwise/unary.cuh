// Functions of one element.
#ifndef TILEWRIGHT_ELEMENTWISE_UNARY_CUH_
#define TILEWRIGHT_ELEMENTWISE_UNARY_CUH_

#include "elementwise/elementwise.cuh"
#include "elementwise/precision.cuh"

namespace tilewright {

// The functions of libdevice are within 2 units in the last place.
template <class T>
struct ExpFunctor : HomogeneousFunctor<T, 1> {
  __device__ __forceinline__ float operator()(float x) const { return expf(x); }
};
template <class T>
struct Expm1Functor : HomogeneousFunctor<T, 1> {
  __device__ __forceinline__ float operator()(float x) const { return Expm1For<T>(x); }
};
template <class T>
struct SqrtFunctor : HomogeneousFunctor<T, 1> {
  __device__ __forceinline__ float operator()(float x) const { return SqrtFor<T>(x); }
};
template <class T>
struct RsqrtFunctor : HomogeneousFunctor<T, 1> {
  __device__ __forceinline__ float operator()(float x) const { return rsqrtf(x); }
};
template <class T>
struct TanhFunctor : HomogeneousFunctor<T, 1> {
  __device__ __forceinline__ float operator()(float x) const { return tanhf(x); }
};
template <class T>
struct SigmoidFunctor : HomogeneousFunctor<T, 1> {
  __device__ __forceinline__ float operator()(float x) const { return SigmoidFor<T>(x); }
};

// Integers are whole already.
template <class T>
struct FloorFunctor : HomogeneousFunctor<T, 1> {
  template <class C>
  __device__ __forceinline__ C operator()(C x) const {
    if constexpr (kIsInteger<T>) {
      return x;
    } else {
      return floorf(x);
    }
  }
};
template <class T>
struct CeilFunctor : HomogeneousFunctor<T, 1> {
  template <class C>
  __device__ __forceinline__ C operator()(C x) const {
    if constexpr (kIsInteger<T>) {
      return x;
    } else {
      return ceilf(x);
    }
  }
};
template <class T>
struct TruncFunctor : HomogeneousFunctor<T, 1> {
  template <class C>
  __device__ __forceinline__ C operator()(C x) const {
    if constexpr (kIsInteger<T>) {
      return x;
    } else {
      return truncf(x);
    }
  }
};

// Half to even.
template <class T>
struct RoundFunctor : HomogeneousFunctor<T, 1> {
  template <class C>
  __device__ __forceinline__ C operator()(C x) const {
    if constexpr (kIsInteger<T>) {
      return x;
    } else {
      return rintf(x);
    }
  }
};
// The same at a number of decimals; scalar 0: the power of ten.
template <class T>
struct RoundFractionFunctor : HomogeneousFunctor<T, 1> {
  static_assert(!kIsInteger<T>);
  float power;
  __device__ __forceinline__ explicit RoundFractionFunctor(const ElementwiseScalar* scalars)
      : power(static_cast<float>(scalars[0].f)) {}
  __device__ __forceinline__ float operator()(float x) const { return rintf(x * power) / power; }
};
// At tens, hundreds, ...: scalar 0.
template <class T>
struct RoundMultipleFunctor : HomogeneousFunctor<T, 1> {
  static_assert(!kIsInteger<T>);
  float power;
  __device__ __forceinline__ explicit RoundMultipleFunctor(const ElementwiseScalar* scalars)
      : power(static_cast<float>(scalars[0].f)) {}
  __device__ __forceinline__ float operator()(float x) const { return rintf(x / power) * power; }
};

// Integers wrap: the magnitude of the least is itself.
template <class T>
struct AbsFunctor : HomogeneousFunctor<T, 1> {
  template <class C>
  __device__ __forceinline__ C operator()(C x) const {
    if constexpr (kIsInteger<T>) {
      return x < 0 ? static_cast<C>(-static_cast<WrappingType<T>>(x)) : x;
    } else {
      return fabsf(x);
    }
  }
};
template <class T>
struct NegFunctor : HomogeneousFunctor<T, 1> {
  template <class C>
  __device__ __forceinline__ C operator()(C x) const {
    if constexpr (kIsInteger<T>) {
      return static_cast<C>(-static_cast<WrappingType<T>>(x));
    } else {
      return -x;
    }
  }
};
// 0 for NaN, as torch has it.
template <class T>
struct SignFunctor : HomogeneousFunctor<T, 1> {
  template <class C>
  __device__ __forceinline__ C operator()(C x) const {
    return static_cast<C>((x > C{0}) - (x < C{0}));
  }
};

// Integers give float.
template <class T>
struct ReciprocalFunctor : HomogeneousFunctor<T, 1> {
  using Output = Conditional<kIsInteger<T>, float, T>;
  template <class C>
  __device__ __forceinline__ float operator()(C x) const {
    return Rcp(static_cast<float>(x));
  }
};

// NaN, +inf and -inf become scalar 0 and the halves of scalar 1.
template <class T>
struct NanToNumFunctor : HomogeneousFunctor<T, 1> {
  float nan, positive, negative;
  __device__ __forceinline__ explicit NanToNumFunctor(const ElementwiseScalar* scalars)
      : nan(static_cast<float>(scalars[0].f)),
        positive(scalars[1].pair[0]),
        negative(scalars[1].pair[1]) {}
  __device__ __forceinline__ float operator()(float x) const {
    if (x != x) return nan;
    if (fabsf(x) != BitsToFloat(0x7f800000)) return x;
    return x > 0 ? positive : negative;
  }
};

}  // namespace tilewright

#endif  // TILEWRIGHT_ELEMENTWISE_UNARY_CUH_
