// Gated activations: an activation of one input times the other.
#ifndef TILEWRIGHT_ELEMENTWISE_GATED_CUH_
#define TILEWRIGHT_ELEMENTWISE_GATED_CUH_

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

}  // namespace tilewright

#endif  // TILEWRIGHT_ELEMENTWISE_GATED_CUH_
