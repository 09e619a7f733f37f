// Comparisons, logic and bits.
#ifndef TILEWRIGHT_ELEMENTWISE_LOGIC_CUH_
#define TILEWRIGHT_ELEMENTWISE_LOGIC_CUH_

#include "elementwise/elementwise.cuh"

namespace tilewright {

// Comparisons; with NaN all but "not equal" are false.
template <class T>
struct EqFunctor : PredicateFunctor<T, 2> {
  template <class C>
  __device__ __forceinline__ bool operator()(C a, C b) const {
    return a == b;
  }
};
template <class T>
struct NeFunctor : PredicateFunctor<T, 2> {
  template <class C>
  __device__ __forceinline__ bool operator()(C a, C b) const {
    return a != b;
  }
};
template <class T>
struct GtFunctor : PredicateFunctor<T, 2> {
  template <class C>
  __device__ __forceinline__ bool operator()(C a, C b) const {
    return a > b;
  }
};
template <class T>
struct LtFunctor : PredicateFunctor<T, 2> {
  template <class C>
  __device__ __forceinline__ bool operator()(C a, C b) const {
    return a < b;
  }
};
template <class T>
struct GeFunctor : PredicateFunctor<T, 2> {
  template <class C>
  __device__ __forceinline__ bool operator()(C a, C b) const {
    return a >= b;
  }
};
template <class T>
struct LeFunctor : PredicateFunctor<T, 2> {
  template <class C>
  __device__ __forceinline__ bool operator()(C a, C b) const {
    return a <= b;
  }
};

// NaN counts as true.
template <class T>
struct LogicalAndFunctor : PredicateFunctor<T, 2> {
  template <class C>
  __device__ __forceinline__ bool operator()(C a, C b) const {
    return a != C{0} && b != C{0};
  }
};
template <class T>
struct LogicalOrFunctor : PredicateFunctor<T, 2> {
  template <class C>
  __device__ __forceinline__ bool operator()(C a, C b) const {
    return a != C{0} || b != C{0};
  }
};
template <class T>
struct LogicalNotFunctor : PredicateFunctor<T, 1> {
  template <class C>
  __device__ __forceinline__ bool operator()(C x) const {
    return x == C{0};
  }
};

// Bits of integers; bool stays 0 or 1.
template <class T>
struct BitwiseAndFunctor : HomogeneousFunctor<T, 2> {
  template <class C>
  __device__ __forceinline__ C operator()(C a, C b) const {
    return static_cast<C>(a & b);
  }
};
template <class T>
struct BitwiseOrFunctor : HomogeneousFunctor<T, 2> {
  template <class C>
  __device__ __forceinline__ C operator()(C a, C b) const {
    return static_cast<C>(a | b);
  }
};
template <class T>
struct BitwiseXorFunctor : HomogeneousFunctor<T, 2> {
  template <class C>
  __device__ __forceinline__ C operator()(C a, C b) const {
    return static_cast<C>(a ^ b);
  }
};
template <class T>
struct BitwiseNotFunctor : HomogeneousFunctor<T, 1> {
  template <class C>
  __device__ __forceinline__ C operator()(C x) const {
    if constexpr (kIsSame<C, bool>) {
      return !x;
    } else {
      return static_cast<C>(~x);
    }
  }
};

// Integers are finite.
template <class T>
struct IsnanFunctor : PredicateFunctor<T, 1> {
  template <class C>
  __device__ __forceinline__ bool operator()(C x) const {
    if constexpr (kIsSame<C, float>) {
      return x != x;
    } else {
      return false;
    }
  }
};
template <class T>
struct IsinfFunctor : PredicateFunctor<T, 1> {
  template <class C>
  __device__ __forceinline__ bool operator()(C x) const {
    if constexpr (kIsSame<C, float>) {
      return fabsf(x) == BitsToFloat(0x7f800000);
    } else {
      return false;
    }
  }
};
template <class T>
struct IsfiniteFunctor : PredicateFunctor<T, 1> {
  template <class C>
  __device__ __forceinline__ bool operator()(C x) const {
    if constexpr (kIsSame<C, float>) {
      return fabsf(x) < BitsToFloat(0x7f800000);
    } else {
      return true;
    }
  }
};

}  // namespace tilewright

#endif  // TILEWRIGHT_ELEMENTWISE_LOGIC_CUH_
