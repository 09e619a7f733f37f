// What functors are made of. A functor states its inputs' and its output's element types and maps
// compute values to a compute value, or, with kWholeVectors, the elements of a whole vector:
//   template <class Inputs, int kCount>
//   void Map(const Inputs& x, float (&values)[kCount]) const;  // x.template At<input>(element)
// One with run-time constants takes them at construction; one without has no constructor.
#ifndef TILEWRIGHT_ELEMENTWISE_FUNCTOR_CUH_
#define TILEWRIGHT_ELEMENTWISE_FUNCTOR_CUH_

#include "device/math.cuh"
#include "elementwise/params.cuh"

namespace tilewright {

// An input that no tensor holds: an integer that is linear in the position of the output's element,
// such as its index along an axis.
template <class Integer>
struct Coordinate {};
template <class T>
inline constexpr bool kIsCoordinate = false;
template <class Integer>
inline constexpr bool kIsCoordinate<Coordinate<Integer>> = true;

// Inputs and output of one type.
template <class T, int kInputCount>
struct HomogeneousFunctor {
  static constexpr bool kWholeVectors = false;
  static constexpr int kInputs = kInputCount;
  template <int kInput>
  using Input = T;
  using Output = T;
};

// Inputs of one type, bool as the output.
template <class T, int kInputCount>
struct PredicateFunctor {
  static constexpr bool kWholeVectors = false;
  static constexpr int kInputs = kInputCount;
  template <int kInput>
  using Input = T;
  using Output = bool8;
};

// Input kBool is bool; the others and the output are of one type.
template <class T, int kInputCount, int kBool>
struct SelectingFunctor {
  static constexpr bool kWholeVectors = false;
  static constexpr int kInputs = kInputCount;
  template <int kInput>
  using Input = Conditional<kInput == kBool, bool8, T>;
  using Output = T;
};

// Inputs and output of one size, mapped a word at a time, whatever elements it holds:
//   uint32_t Word(uint32_t a, uint32_t b) const;  // from as many words as there are inputs
struct MapsWords {};
template <class T, class OutputType, int kInputCount>
struct WordFunctor : MapsWords {
  static_assert(sizeof(T) == sizeof(OutputType));
  static constexpr bool kWholeVectors = false;
  static constexpr int kInputs = kInputCount;
  template <int kInput>
  using Input = T;
  using Output = OutputType;
};
template <class Functor>
inline constexpr bool kMapsWords = __is_base_of(MapsWords, Functor);

// The unsigned type in which integers of type T are added and multiplied: they wrap.
template <class T>
using WrappingType = Conditional<sizeof(T) == 8, uint64_t, uint32_t>;

template <class Functor>
__device__ __forceinline__ Functor MakeFunctor(const ElementwiseScalar* scalars) {
  if constexpr (__is_constructible(Functor, const ElementwiseScalar*)) {
    return Functor(scalars);
  } else {
    return Functor{};
  }
}

}  // namespace tilewright

#endif  // TILEWRIGHT_ELEMENTWISE_FUNCTOR_CUH_
