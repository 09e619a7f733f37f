// Gated activations: an activation of one input times the other.
#ifndef TILEWRIGHT_ELEMENTWISE_GATED_CUH_
#define TILEWRIGHT_ELEMENTWISE_GATED_CUH_

#include "device/nan_math.cuh"
#include "elementwise/elementwise.cuh"
#include "elementwise/precision.cuh"

namespace tilewright {

// silu(a) * b.
template <class T>
struct SiluMulFunctor : HomogeneousFunctor<T, 2> {
  static_assert(kIsSame<ComputeType<T>, float>);
  __device__ __forceinline__ float operator()(float a, float b) const {
    // a / (1 + exp(-a)). exp overflows to inf for a < -88: the quotient is then -0, as in the
    // limit, except that a of -inf gives NaN, as torch does.
    return a * RcpApprox(1.0f + Exp2(-kLog2e * a)) * b;
  }
};

// gelu(a) * b.
template <class T>
struct GeluMulFunctor : HomogeneousFunctor<T, 2> {
  __device__ __forceinline__ float operator()(float a, float b) const { return GeluFor<T>(a) * b; }
};
template <class T>
struct GeluTanhMulFunctor : HomogeneousFunctor<T, 2> {
  __device__ __forceinline__ float operator()(float a, float b) const {
    return GeluTanhFor<T>(a) * b;
  }
};

// g * sigmoid(1.702 * g) * (clamp(b, -7, 7) + 1) with g = min(a, 7).
template <class T>
struct SwigluOaiMulFunctor : HomogeneousFunctor<T, 2> {
  __device__ __forceinline__ float operator()(float a, float b) const {
    const float gate = MinNan(a, 7.0f);
    const float up = MinNan(MaxNan(b, -7.0f), 7.0f);
    return gate * SigmoidFor<T>(1.702f * gate) * (up + 1.0f);
  }
};

}  // namespace tilewright

#endif  // TILEWRIGHT_ELEMENTWISE_GATED_CUH_
