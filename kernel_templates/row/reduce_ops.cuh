// Reductions as functors, over any kernel that walks the elements of a result (row_reduce.cuh,
// column_reduce.cuh). Each has
//
//   Value, Identity(), Combine(a, b)   as device/reduce.cuh wants them
//   Add(value, x, index)               adds the elements x[0], x[1], ... at positions index, ...
//   kIndexed                           positions matter; Begin(value, index) says where a thread's
//                                      first element is
//   kOutputs, Finish(value, scalars, y)   the results in the compute type of Output
//
// `scalars` are those of ReduceScalars.
#ifndef TILEWRIGHT_ROW_REDUCE_OPS_CUH_
#define TILEWRIGHT_ROW_REDUCE_OPS_CUH_

#include "device/complex.cuh"
#include "device/nan_math.cuh"
#include "device/reduce.cuh"
#include "row/reduce_params.cuh"

namespace tilewright {

template <class C>
__device__ __forceinline__ bool IsNonzero(C x) {
  return x != C(0);
}
template <class Real>
__device__ __forceinline__ bool IsNonzero(Complex<Real> x) {
  return x.real != Real(0) || x.imaginary != Real(0);
}

// f over the elements as a sum; kMean divides it by their number.
template <class Map, bool kMean, bool kRoot>
struct SumReduction {
  using Value = float;
  static constexpr bool kIndexed = false;
  static constexpr int kOutputs = 1;
  __device__ __forceinline__ static float Identity() { return 0.0f; }
  __device__ __forceinline__ static float Combine(float a, float b) { return a + b; }
  template <int kCount>
  __device__ __forceinline__ static void Add(float& value, const float (&x)[kCount], int64_t) {
    float part = Map::Of(x[0]);
#pragma unroll
    for (int i = 1; i < kCount; ++i) part += Map::Of(x[i]);
    value += part;
  }
  __device__ __forceinline__ static void Finish(float value, const ReduceScalars& scalars,
                                                float (&y)[1]) {
    y[0] = kMean ? value / scalars.count : kRoot ? Sqrt(value) : value;
  }
};
struct Same {
  __device__ __forceinline__ static float Of(float x) { return x; }
};
struct Magnitude {
  __device__ __forceinline__ static float Of(float x) {
    return BitsToFloat(FloatToBits(x) & 0x7fffffff);
  }
};
struct Square {
  __device__ __forceinline__ static float Of(float x) { return x * x; }
};
struct Negative {
  __device__ __forceinline__ static float Of(float x) { return -x; }
};
using SumReduce = SumReduction<Same, false, false>;
using MeanReduce = SumReduction<Same, true, false>;
using L1NormReduce = SumReduction<Magnitude, false, false>;
using L2NormReduce = SumReduction<Square, false, true>;

// The largest f(x); kNegate gives its negative. NaN wins.
template <class Map, bool kNegate>
struct MaxReduction {
  using Value = float;
  static constexpr bool kIndexed = false;
  static constexpr int kOutputs = 1;
  __device__ __forceinline__ static float Identity() { return BitsToFloat(0xff800000); }
  __device__ __forceinline__ static float Combine(float a, float b) { return MaxNan(a, b); }
  template <int kCount>
  __device__ __forceinline__ static void Add(float& value, const float (&x)[kCount], int64_t) {
    float part = Map::Of(x[0]);
#pragma unroll
    for (int i = 1; i < kCount; ++i) part = MaxNan(part, Map::Of(x[i]));
    value = MaxNan(value, part);
  }
  __device__ __forceinline__ static void Finish(float value, const ReduceScalars&, float (&y)[1]) {
    y[0] = kNegate ? -value : value;
  }
};
using AmaxReduce = MaxReduction<Same, false>;
using AminReduce = MaxReduction<Negative, true>;
using InfNormReduce = MaxReduction<Magnitude, false>;

// In double: a product of float32 may leave its range on the way to a result inside it.
struct ProdReduce {
  using Value = double;
  static constexpr bool kIndexed = false;
  static constexpr int kOutputs = 1;
  __device__ __forceinline__ static double Identity() { return 1.0; }
  __device__ __forceinline__ static double Combine(double a, double b) { return a * b; }
  template <int kCount>
  __device__ __forceinline__ static void Add(double& value, const float (&x)[kCount], int64_t) {
    double part = static_cast<double>(x[0]);
#pragma unroll
    for (int i = 1; i < kCount; ++i) part *= static_cast<double>(x[i]);
    value *= part;
  }
  __device__ __forceinline__ static void Finish(double value, const ReduceScalars&, float (&y)[1]) {
    y[0] = static_cast<float>(value);
  }
};

// kKind: 0 the variance, 1 its root, 2 the variance and the mean.
template <int kKind>
struct MomentsReduction {
  using Value = Moments;
  static constexpr bool kIndexed = false;
  static constexpr int kOutputs = kKind == 2 ? 2 : 1;
  __device__ __forceinline__ static Moments Identity() { return MomentsOp::Identity(); }
  __device__ __forceinline__ static Moments Combine(const Moments& a, const Moments& b) {
    return MomentsOp::Combine(a, b);
  }
  // The moments of kCount elements by two passes over them.
  template <int kCount>
  __device__ __forceinline__ static Moments Of(const float (&x)[kCount]) {
    float sum = x[0];
#pragma unroll
    for (int i = 1; i < kCount; ++i) sum += x[i];
    const float mean = sum * (1.0f / kCount);
    float squares = 0.0f;
#pragma unroll
    for (int i = 0; i < kCount; ++i) squares += (x[i] - mean) * (x[i] - mean);
    return {sum, squares, static_cast<float>(kCount)};
  }
  template <int kCount>
  __device__ __forceinline__ static void Add(Moments& value, const float (&x)[kCount], int64_t) {
    value = Combine(value, Of(x));
  }
  __device__ __forceinline__ static void Finish(const Moments& value, const ReduceScalars& scalars,
                                                float (&y)[kOutputs]) {
    const float variance = value.squares / scalars.denominator;
    y[0] = kKind == 1 ? Sqrt(variance) : variance;
    if constexpr (kKind == 2) {
      const float mean = value.sum / scalars.count;
      // Beside an infinity the squares are NaN, and torch's running mean is as well.
      y[1] = value.squares == value.squares || scalars.count < 2.0f ? mean : value.squares;
    }
  }
};
using VarReduce = MomentsReduction<0>;
using StdReduce = MomentsReduction<1>;
using VarMeanReduce = MomentsReduction<2>;

// max + log(sum(exp(x - max))); where the max is infinite, 0 stands for it.
struct LogSumExpReduce {
  using Value = MaxSum;
  static constexpr bool kIndexed = false;
  static constexpr int kOutputs = 1;
  __device__ __forceinline__ static MaxSum Identity() { return {BitsToFloat(0xff800000), 0.0f}; }
  __device__ __forceinline__ static float Shift(float max) {
    return (FloatToBits(max) & 0x7fffffff) == 0x7f800000 ? 0.0f : max;
  }
  __device__ __forceinline__ static float Rescale(const MaxSum& part, float max) {
    // Under nothing but -inf the sum is 0, or NaN.
    if (part.max == max || part.max == Identity().max) return part.sum;
    return part.sum * Exp2((part.max - Shift(max)) * kLog2e);
  }
  __device__ __forceinline__ static MaxSum Combine(const MaxSum& a, const MaxSum& b) {
    const float max = MaxNumber(a.max, b.max);
    return {max, Rescale(a, max) + Rescale(b, max)};
  }
  template <int kCount>
  __device__ __forceinline__ static void Add(MaxSum& value, const float (&x)[kCount], int64_t) {
    float max = value.max;
#pragma unroll
    for (int i = 0; i < kCount; ++i) max = MaxNumber(max, x[i]);
    const float shift = Shift(max);
    float sum = Rescale(value, max);
#pragma unroll
    for (int i = 0; i < kCount; ++i) sum += Exp2((x[i] - shift) * kLog2e);
    value = {max, sum};
  }
  __device__ __forceinline__ static void Finish(const MaxSum& value, const ReduceScalars&,
                                                float (&y)[1]) {
    y[0] = Shift(value.max) + Log2Approx(value.sum) * kLn2;
  }
};

// The best element and its position; the first NaN, else the first of the largest.
struct Best {
  float value;
  uint32_t index_low;
  uint32_t index_high;
  __device__ __forceinline__ uint64_t index() const {
    return static_cast<uint64_t>(index_high) << 32 | index_low;
  }
};
template <class Map>
struct ArgReduction {
  using Value = Best;
  static constexpr bool kIndexed = true;
  static constexpr int kOutputs = 1;
  __device__ __forceinline__ static Best Identity() {
    return {BitsToFloat(0xff800000), 0xffffffff, 0xffffffff};
  }
  __device__ __forceinline__ static bool Wins(const Best& a, const Best& b) {
    const bool a_nan = a.value != a.value;
    const bool b_nan = b.value != b.value;
    const bool ties = a.value == b.value || (a_nan && b_nan);
    if (ties) return a.index() < b.index();
    return a_nan || (!b_nan && a.value > b.value);
  }
  __device__ __forceinline__ static Best Combine(const Best& a, const Best& b) {
    return Wins(a, b) ? a : b;
  }
  // The thread's first element may be -inf, which is no better than nothing.
  __device__ __forceinline__ static void Begin(Best& value, int64_t index) {
    value.index_low = static_cast<uint32_t>(index);
    value.index_high = static_cast<uint32_t>(index >> 32);
  }
  // The best of some elements, NaN if there is one.
  template <int kCount>
  __device__ __forceinline__ static float Peak(const float (&x)[kCount]) {
    float best = Map::Of(x[0]);
#pragma unroll
    for (int i = 1; i < kCount; ++i) best = MaxNan(best, Map::Of(x[i]));
    return best;
  }
  template <int kCount>
  __device__ __forceinline__ static void Add(Best& value, const float (&x)[kCount], int64_t index) {
    const float best = Peak(x);
    if (best <= value.value || value.value != value.value) return;
    const bool nan = best != best;
    int first = 0;
#pragma unroll
    for (int i = kCount - 1; i >= 0; --i) {
      const float y = Map::Of(x[i]);
      if (nan ? y != y : y == best) first = i;
    }
    value.value = best;
    Begin(value, index + first);
  }
  __device__ __forceinline__ static void Finish(const Best& value, const ReduceScalars&,
                                                int64_t (&y)[1]) {
    y[0] = static_cast<int64_t>(value.index());
  }
};
using ArgmaxReduce = ArgReduction<Same>;
using ArgminReduce = ArgReduction<Negative>;

struct AnyReduce {
  using Value = uint32_t;
  static constexpr bool kIndexed = false;
  static constexpr int kOutputs = 1;
  __device__ __forceinline__ static uint32_t Identity() { return 0; }
  __device__ __forceinline__ static uint32_t Combine(uint32_t a, uint32_t b) { return a | b; }
  template <class C, int kCount>
  __device__ __forceinline__ static void Add(uint32_t& value, const C (&x)[kCount], int64_t) {
#pragma unroll
    for (int i = 0; i < kCount; ++i) value |= IsNonzero(x[i]) ? 1u : 0u;
  }
  __device__ __forceinline__ static void Finish(uint32_t value, const ReduceScalars&,
                                                bool (&y)[1]) {
    y[0] = value != 0;
  }
};
struct AllReduce {
  using Value = uint32_t;
  static constexpr bool kIndexed = false;
  static constexpr int kOutputs = 1;
  __device__ __forceinline__ static uint32_t Identity() { return 1; }
  __device__ __forceinline__ static uint32_t Combine(uint32_t a, uint32_t b) { return a & b; }
  template <class C, int kCount>
  __device__ __forceinline__ static void Add(uint32_t& value, const C (&x)[kCount], int64_t) {
#pragma unroll
    for (int i = 0; i < kCount; ++i) value &= IsNonzero(x[i]) ? 1u : 0u;
  }
  __device__ __forceinline__ static void Finish(uint32_t value, const ReduceScalars&,
                                                bool (&y)[1]) {
    y[0] = value != 0;
  }
};
struct CountNonzeroReduce {
  using Value = uint64_t;
  static constexpr bool kIndexed = false;
  static constexpr int kOutputs = 1;
  __device__ __forceinline__ static uint64_t Identity() { return 0; }
  __device__ __forceinline__ static uint64_t Combine(uint64_t a, uint64_t b) { return a + b; }
  template <class C, int kCount>
  __device__ __forceinline__ static void Add(uint64_t& value, const C (&x)[kCount], int64_t) {
    uint32_t part = 0;
#pragma unroll
    for (int i = 0; i < kCount; ++i) part += IsNonzero(x[i]) ? 1u : 0u;
    value += part;
  }
  __device__ __forceinline__ static void Finish(uint64_t value, const ReduceScalars&,
                                                int64_t (&y)[1]) {
    y[0] = static_cast<int64_t>(value);
  }
};

}  // namespace tilewright

#endif  // TILEWRIGHT_ROW_REDUCE_OPS_CUH_
