// Position encodings: functions of the output's coordinates alone.
#ifndef TILEWRIGHT_ELEMENTWISE_POSITION_CUH_
#define TILEWRIGHT_ELEMENTWISE_POSITION_CUH_

#include "elementwise/elementwise.cuh"

namespace tilewright {

// A function of two coordinates.
template <class T>
struct PositionFunctor {
  static constexpr bool kWholeVectors = true;
  static constexpr int kInputs = 2;
  template <int kInput>
  using Input = Coordinate<int>;
  using Output = T;
};

// -2^(-8 * (head + 1) / heads) * |row - column|. Inputs: head, row - column. Scalar: -8 / heads.
template <class T>
struct AlibiFunctor : PositionFunctor<T> {
  float exponent;
  __device__ __forceinline__ explicit AlibiFunctor(const ElementwiseScalar* scalars)
      : exponent(static_cast<float>(scalars[0].f)) {}

  template <class Inputs, int kCount>
  __device__ __forceinline__ void Map(const Inputs& x, float (&values)[kCount]) const {
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      const float slope = exp2f(exponent * static_cast<float>(x.template At<0>(i) + 1));
      values[i] = -slope * fabsf(static_cast<float>(x.template At<1>(i)));
    }
  }
};

// sin(angle) at even columns, cos(angle) at odd ones, where angle = position / 10000^(2 * pair /
// width) and pair = column / 2. Inputs: position, column. Scalars: log2(10000) * 2 / width, and 2
// to the minus that. Angles are in turns and in double, so that large ones keep their fraction.
template <class T>
struct SinusoidalFunctor : PositionFunctor<T> {
  double decay, ratio;
  __device__ __forceinline__ explicit SinusoidalFunctor(const ElementwiseScalar* scalars)
      : decay(scalars[0].f), ratio(scalars[1].f) {}

  // Turns per position of a pair of columns.
  __device__ __forceinline__ double Frequency(int pair) const {
    constexpr double kLog2TwoPi = 2.6514961294723187980432;
    return exp2(-fma(decay, static_cast<double>(pair), kLog2TwoPi));
  }
  // Twice the fraction of the turn, within [-1, 1].
  static __device__ __forceinline__ float HalfTurns(double turns) {
    return 2.0f * static_cast<float>(turns - rint(turns));
  }

  // A vector begins at an even column of one position.
  template <class Inputs, int kCount>
  __device__ __forceinline__ void Map(const Inputs& x, float (&values)[kCount]) const {
    const auto position = static_cast<double>(x.template At<0>(0));
    const int column = x.template At<1>(0);
    double frequency = Frequency(column / 2);
    if constexpr (kCount == 1) {
      float sine, cosine;
      sincospif(HalfTurns(position * frequency), &sine, &cosine);
      values[0] = column % 2 == 0 ? sine : cosine;
    } else {
#pragma unroll
      for (int i = 0; i < kCount; i += 2) {
        sincospif(HalfTurns(position * frequency), &values[i], &values[i + 1]);
        frequency *= ratio;
      }
    }
  }
};

}  // namespace tilewright

#endif  // TILEWRIGHT_ELEMENTWISE_POSITION_CUH_
