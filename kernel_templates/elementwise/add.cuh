// Sums and differences.
#ifndef TILEWRIGHT_ELEMENTWISE_ADD_CUH_
#define TILEWRIGHT_ELEMENTWISE_ADD_CUH_

#include "elementwise/elementwise.cuh"

namespace tilewright {

// a + alpha * b: fused in float for the floats, wrapping for the integers, "or" for bool.
template <class T>
struct AddFunctor : HomogeneousFunctor<T, 2> {
  static constexpr bool kInteger = kIsInteger<T>;
  using C = ComputeType<T>;
  using Wrapped = WrappingType<T>;
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

// a - alpha * b.
template <class T>
struct SubFunctor : AddFunctor<T> {
  static_assert(!kIsSame<T, bool8>);
  __device__ __forceinline__ explicit SubFunctor(const ElementwiseScalar* scalars)
      : AddFunctor<T>(scalars) {
    this->alpha = -this->alpha;
  }
};

}  // namespace tilewright

#endif  // TILEWRIGHT_ELEMENTWISE_ADD_CUH_
