// Functors of the elementwise operators. A functor states its inputs' and its output's element
// types, takes its run-time constants at construction, and maps compute values to a compute value.
#ifndef TILEWRIGHT_ELEMENTWISE_FUNCTORS_CUH_
#define TILEWRIGHT_ELEMENTWISE_FUNCTORS_CUH_

#include "device/math.cuh"
#include "elementwise/params.cuh"

namespace tilewright {

// Inputs and output of one type.
template <class T, int kInputCount>
struct HomogeneousFunctor {
  static constexpr int kInputs = kInputCount;
  template <int kInput>
  using Input = T;
  using Output = T;
};

// a + alpha * b: fused in float for the floats, wrapping for the integers, "or" for bool.
template <class T>
struct AddFunctor : HomogeneousFunctor<T, 2> {
  static constexpr bool kInteger = kIsInteger<T>;
  using C = ComputeType<T>;
  using Wrapped = Conditional<sizeof(T) == 8, uint64_t, uint32_t>;
  using Alpha = Conditional<kInteger, Wrapped, Conditional<kIsSame<C, bool>, bool, float>>;
  Alpha alpha;

  __device__ __forceinline__ explicit AddFunctor(const ElementwiseScalar* scalars) {
    if constexpr (kInteger) {
      alpha = static_cast<Alpha>(scalars[0].i);
    } else if constexpr (kIsSame<C, bool>) {
      alpha = scalars[0].f != 0;
    } else {
      alpha = static_cast<float>(scalars[0].f);
    }
  }
  __device__ __forceinline__ C operator()(C a, C b) const {
    if constexpr (kInteger) {
      return static_cast<C>(static_cast<Wrapped>(a) + alpha * static_cast<Wrapped>(b));
    } else if constexpr (kIsSame<C, bool>) {
      return a || (b && alpha);
    } else {
      return Fma(alpha, b, a);
    }
  }
};

// silu(a) * b.
template <class T>
struct SiluMulFunctor : HomogeneousFunctor<T, 2> {
  static_assert(kIsSame<ComputeType<T>, float>);
  __device__ __forceinline__ explicit SiluMulFunctor(const ElementwiseScalar*) {}
  __device__ __forceinline__ float operator()(float a, float b) const {
    // a / (1 + exp(-a)). exp overflows to inf for a < -88: the quotient is then -0, as in the
    // limit, except that a of -inf gives NaN, as torch does.
    return a * RcpApprox(1.0f + Exp2(-kLog2e * a)) * b;
  }
};

}  // namespace tilewright

#endif  // TILEWRIGHT_ELEMENTWISE_FUNCTORS_CUH_
