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

// Of four bytes, the top bits of those that are not 0; the other bits are arbitrary.
__device__ __forceinline__ uint32_t NonzeroBytes(uint32_t word) {
  return ((word & 0x7f7f7f7f) + 0x7f7f7f7f) | word;
}
// Four bools from the top bits of four bytes.
__device__ __forceinline__ uint32_t BoolsOfTopBits(uint32_t word) { return word >> 7 & 0x01010101; }
// By words where the elements are single bytes, else by elements. NaN counts as true.
template <class T, int kInputCount>
using LogicalFunctor = Conditional<sizeof(T) == 1, WordFunctor<T, bool8, kInputCount>,
                                   PredicateFunctor<T, kInputCount>>;

template <class T>
struct LogicalAndFunctor : LogicalFunctor<T, 2> {
  template <class C>
  __device__ __forceinline__ bool operator()(C a, C b) const {
    return a != C{0} && b != C{0};
  }
  __device__ __forceinline__ uint32_t Word(uint32_t a, uint32_t b) const {
    return BoolsOfTopBits(NonzeroBytes(a) & NonzeroBytes(b));
  }
};
template <class T>
struct LogicalOrFunctor : LogicalFunctor<T, 2> {
  template <class C>
  __device__ __forceinline__ bool operator()(C a, C b) const {
    return a != C{0} || b != C{0};
  }
  __device__ __forceinline__ uint32_t Word(uint32_t a, uint32_t b) const {
    return BoolsOfTopBits(NonzeroBytes(a | b));
  }
};
template <class T>
struct LogicalNotFunctor : LogicalFunctor<T, 1> {
  template <class C>
  __device__ __forceinline__ bool operator()(C x) const {
    return x == C{0};
  }
  __device__ __forceinline__ uint32_t Word(uint32_t x) const {
    return BoolsOfTopBits(~NonzeroBytes(x));
  }
};

// Bits of integers; bool stays 0 or 1.
template <class T>
struct BitwiseAndFunctor : WordFunctor<T, T, 2> {
  __device__ __forceinline__ uint32_t Word(uint32_t a, uint32_t b) const {
    return kIsSame<T, bool8> ? BoolsOfTopBits(NonzeroBytes(a) & NonzeroBytes(b)) : a & b;
  }
};
template <class T>
struct BitwiseOrFunctor : WordFunctor<T, T, 2> {
  __device__ __forceinline__ uint32_t Word(uint32_t a, uint32_t b) const {
    return kIsSame<T, bool8> ? BoolsOfTopBits(NonzeroBytes(a | b)) : a | b;
  }
};
template <class T>
struct BitwiseXorFunctor : WordFunctor<T, T, 2> {
  __device__ __forceinline__ uint32_t Word(uint32_t a, uint32_t b) const {
    return kIsSame<T, bool8> ? BoolsOfTopBits(NonzeroBytes(a) ^ NonzeroBytes(b)) : a ^ b;
  }
};
template <class T>
struct BitwiseNotFunctor : WordFunctor<T, T, 1> {
  __device__ __forceinline__ uint32_t Word(uint32_t x) const {
    return kIsSame<T, bool8> ? BoolsOfTopBits(~NonzeroBytes(x)) : ~x;
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
