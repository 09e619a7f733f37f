// Selection, bounds and interpolation.
#ifndef TILEWRIGHT_ELEMENTWISE_SELECT_CUH_
#define TILEWRIGHT_ELEMENTWISE_SELECT_CUH_

#include "device/nan_math.cuh"
#include "elementwise/elementwise.cuh"

namespace tilewright {

// condition ? a : b.
template <class T>
struct WhereFunctor : SelectingFunctor<T, 3, 0> {
  template <class C>
  __device__ __forceinline__ C operator()(bool condition, C a, C b) const {
    return condition ? a : b;
  }
};

// mask ? value : x.
template <class T>
struct MaskedFillFunctor : SelectingFunctor<T, 3, 1> {
  template <class C>
  __device__ __forceinline__ C operator()(C x, bool mask, C value) const {
    return mask ? value : x;
  }
};
// The same with a scalar as the value: an integer for the integers and bool, else a float.
template <class T>
struct MaskedFillScalarFunctor : SelectingFunctor<T, 2, 1> {
  using C = ComputeType<T>;
  C value;
  __device__ __forceinline__ explicit MaskedFillScalarFunctor(const ElementwiseScalar* scalars) {
    if constexpr (kIsInteger<T> || kIsSame<C, bool>) {
      value = static_cast<C>(scalars[0].i);
    } else {
      value = static_cast<C>(scalars[0].f);
    }
  }
  __device__ __forceinline__ C operator()(C x, bool mask) const { return mask ? value : x; }
};

// The upper bound wins where the bounds cross; NaN of any of them is the result.
template <class T>
struct ClampFunctor : HomogeneousFunctor<T, 3> {
  __device__ __forceinline__ float operator()(float x, float low, float high) const {
    return MinNan(MaxNan(x, low), high);
  }
};
template <class T>
struct ClampMinFunctor : HomogeneousFunctor<T, 2> {
  __device__ __forceinline__ float operator()(float x, float low) const { return MaxNan(x, low); }
};
template <class T>
struct ClampMaxFunctor : HomogeneousFunctor<T, 2> {
  __device__ __forceinline__ float operator()(float x, float high) const { return MinNan(x, high); }
};
// Scalars: the bounds.
template <class T>
struct ClampScalarFunctor : HomogeneousFunctor<T, 1> {
  float low, high;
  __device__ __forceinline__ explicit ClampScalarFunctor(const ElementwiseScalar* scalars)
      : low(static_cast<float>(scalars[0].f)), high(static_cast<float>(scalars[1].f)) {}
  __device__ __forceinline__ float operator()(float x) const {
    return MinNan(MaxNan(x, low), high);
  }
};

// a + weight * (b - a), from the nearer end.
__device__ __forceinline__ float Lerp(float a, float b, float weight) {
  const float span = b - a;
  return fabsf(weight) < 0.5f ? Fma(weight, span, a) : Fma(weight - 1.0f, span, b);
}
template <class T>
struct LerpTensorFunctor : HomogeneousFunctor<T, 3> {
  __device__ __forceinline__ float operator()(float a, float b, float weight) const {
    return Lerp(a, b, weight);
  }
};
// Scalar: the weight.
template <class T>
struct LerpFunctor : HomogeneousFunctor<T, 2> {
  float weight;
  __device__ __forceinline__ explicit LerpFunctor(const ElementwiseScalar* scalars)
      : weight(static_cast<float>(scalars[0].f)) {}
  __device__ __forceinline__ float operator()(float a, float b) const { return Lerp(a, b, weight); }
};

}  // namespace tilewright

#endif  // TILEWRIGHT_ELEMENTWISE_SELECT_CUH_
