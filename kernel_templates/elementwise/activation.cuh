// Activations.
#ifndef TILEWRIGHT_ELEMENTWISE_ACTIVATION_CUH_
#define TILEWRIGHT_ELEMENTWISE_ACTIVATION_CUH_

#include "device/nan_math.cuh"
#include "elementwise/elementwise.cuh"
#include "elementwise/precision.cuh"

namespace tilewright {

// A scalar of a functor over floats.
__device__ __forceinline__ float FloatScalar(const ElementwiseScalar& scalar) {
  return static_cast<float>(scalar.f);
}

template <class T>
struct ReluFunctor : HomogeneousFunctor<T, 1> {
  __device__ __forceinline__ float operator()(float x) const { return MaxNan(x, 0.0f); }
};
template <class T>
struct GeluFunctor : HomogeneousFunctor<T, 1> {
  __device__ __forceinline__ float operator()(float x) const { return GeluFor<T>(x); }
};
template <class T>
struct GeluTanhFunctor : HomogeneousFunctor<T, 1> {
  __device__ __forceinline__ float operator()(float x) const { return GeluTanhFor<T>(x); }
};
// -inf gives NaN, as torch does.
template <class T>
struct SiluFunctor : HomogeneousFunctor<T, 1> {
  __device__ __forceinline__ float operator()(float x) const { return x * SigmoidFor<T>(x); }
};
template <class T>
struct HardsigmoidFunctor : HomogeneousFunctor<T, 1> {
  __device__ __forceinline__ float operator()(float x) const {
    return MinNan(MaxNan(x + 3.0f, 0.0f), 6.0f) * (1.0f / 6.0f);
  }
};
template <class T>
struct HardswishFunctor : HomogeneousFunctor<T, 1> {
  __device__ __forceinline__ float operator()(float x) const {
    return x * MinNan(MaxNan(x + 3.0f, 0.0f), 6.0f) * (1.0f / 6.0f);
  }
};

// x * tanh(log(1 + e)) with e = exp(x): the tanh is n / (n + 2) where n = e * (e + 2). It is 1 in
// float32 beyond 20, where n might overflow.
template <class T>
struct MishFunctor : HomogeneousFunctor<T, 1> {
  __device__ __forceinline__ float operator()(float x) const {
    const float e = expf(MinNan(x, 20.0f));
    const float n = e * (e + 2.0f);
    return x * (n / (n + 2.0f));
  }
};

template <class T>
struct SeluFunctor : HomogeneousFunctor<T, 1> {
  __device__ __forceinline__ float operator()(float x) const {
    constexpr float kScale = 1.05070098735548049342f;
    constexpr float kAlpha = 1.67326324235437728481f;
    return x > 0 ? kScale * x : kScale * kAlpha * Expm1For<T>(x);
  }
};

// Scalar: alpha.
template <class T>
struct EluFunctor : HomogeneousFunctor<T, 1> {
  float alpha;
  __device__ __forceinline__ explicit EluFunctor(const ElementwiseScalar* scalars)
      : alpha(FloatScalar(scalars[0])) {}
  __device__ __forceinline__ float operator()(float x) const {
    return x > 0 ? x : alpha * Expm1For<T>(x);
  }
};

// Scalar: the slope of negative elements.
template <class T>
struct LeakyReluFunctor : HomogeneousFunctor<T, 1> {
  float slope;
  __device__ __forceinline__ explicit LeakyReluFunctor(const ElementwiseScalar* scalars)
      : slope(FloatScalar(scalars[0])) {}
  __device__ __forceinline__ float operator()(float x) const { return x > 0 ? x : slope * x; }
};

// The slope of negative elements is the second input.
template <class T>
struct PreluFunctor : HomogeneousFunctor<T, 2> {
  __device__ __forceinline__ float operator()(float x, float slope) const {
    return x > 0 ? x : slope * x;
  }
};

// Scalars: beta, and the beta * x beyond which the result is x.
template <class T>
struct SoftplusFunctor : HomogeneousFunctor<T, 1> {
  float beta, inverse, threshold;
  __device__ __forceinline__ explicit SoftplusFunctor(const ElementwiseScalar* scalars)
      : beta(FloatScalar(scalars[0])), inverse(1.0f / beta), threshold(FloatScalar(scalars[1])) {}
  __device__ __forceinline__ float operator()(float x) const {
    const float scaled = x * beta;
    return scaled > threshold ? x : Log1pExpFor<T>(scaled) * inverse;
  }
};

}  // namespace tilewright

#endif  // TILEWRIGHT_ELEMENTWISE_ACTIVATION_CUH_
