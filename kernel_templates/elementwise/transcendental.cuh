// Functions of one element of which 16 bits need less than float32 does.
#ifndef TILEWRIGHT_ELEMENTWISE_TRANSCENDENTAL_CUH_
#define TILEWRIGHT_ELEMENTWISE_TRANSCENDENTAL_CUH_

#include "elementwise/elementwise.cuh"
#include "elementwise/narrow_math.cuh"

namespace tilewright {

template <class T>
struct LogFunctor : HomogeneousFunctor<T, 1> {
  __device__ __forceinline__ float operator()(float x) const { return LogFor<T>(x); }
};
template <class T>
struct Log1pFunctor : HomogeneousFunctor<T, 1> {
  __device__ __forceinline__ float operator()(float x) const { return Log1pFor<T>(x); }
};
template <class T>
struct SinFunctor : HomogeneousFunctor<T, 1> {
  __device__ __forceinline__ float operator()(float x) const { return SinFor<T>(x); }
};
template <class T>
struct CosFunctor : HomogeneousFunctor<T, 1> {
  __device__ __forceinline__ float operator()(float x) const { return CosFor<T>(x); }
};
template <class T>
struct ErfFunctor : HomogeneousFunctor<T, 1> {
  __device__ __forceinline__ float operator()(float x) const { return ErfFor<T>(x); }
};

}  // namespace tilewright

#endif  // TILEWRIGHT_ELEMENTWISE_TRANSCENDENTAL_CUH_
