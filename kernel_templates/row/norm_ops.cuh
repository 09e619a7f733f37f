// Norms of rows, over any Row that can reduce and store (norm_row.cuh, norm_stream.cuh). Each has
//
//   kInputs, kOutputs   operands of x's shape
//   kColumns            further values: of an element's column, of its channel or of its row
//   kFloatColumns       the last ones of these, float32 whatever the others are
//   kRowIsChannel       a row is one channel, whatever it is made of; else its runs are
//   Value               what is reduced
//   Run(row)
//
// A Row's functions are called by every thread of the CTA:
//
//   Moments row.Moments()              of input 0
//   Value row.Reduce<Op>(f)            f(inputs, columns) over the row, combined by Op
//   row.AddResidual()                  input 0 += input 1, rounded; stored to output 1
//   row.Store(f)                       output 0 = f(inputs, columns)
//   row.Result(i, value, old, f)       results[i] of the row's channel = f(old), by one thread
//   row.count(), eps(), momentum(), unbias()
#ifndef TILEWRIGHT_ROW_NORM_OPS_CUH_
#define TILEWRIGHT_ROW_NORM_OPS_CUH_

#include "device/reduce.cuh"

namespace tilewright {

// Where weights lie.
enum class NormColumns { kNone, kElement, kChannel };

template <int kIn, int kOut, int kColumn, int kFloatColumn = 0, bool kIsChannel = false>
struct NormShape {
  static constexpr int kInputs = kIn;
  static constexpr int kOutputs = kOut;
  static constexpr int kColumns = kColumn;
  static constexpr int kFloatColumns = kFloatColumn;
  static constexpr bool kRowIsChannel = kIsChannel;
};

// Mean and reciprocal deviation.
struct NormStatistics {
  float mean;
  float rstd;
};
// Of rows that fill every packet of every thread, so that all counts are known ahead. A row's count
// is a power of two then.
template <class Base>
struct WholeRows : Base {
  struct Whole;
};
template <class Op>
__device__ __forceinline__ constexpr bool HasWholeRows() {
  if constexpr (requires { typename Op::Whole; }) return true;
  return false;
}

template <class Row>
__device__ __forceinline__ NormStatistics StatisticsOf(const Row& row, const Moments& moments) {
  if constexpr (HasWholeRows<typename Row::Op>()) {
    const float inverse = RcpApprox(row.count());  // exact
    return {moments.sum * inverse, RsqrtApprox(Fma(moments.squares, inverse, row.eps()))};
  }
  return {moments.sum / row.count(), RsqrtApprox(moments.squares / row.count() + row.eps())};
}

// (x - mean) / sqrt(variance + eps) * weight + bias.
template <int kAffine>
struct LayerNorm : NormShape<1, 1, kAffine> {
  using Value = Moments;

  template <class Row>
  __device__ __forceinline__ static void Run(Row& row) {
    const NormStatistics s = StatisticsOf(row, row.RowMoments());
    row.Store([s](const float* x, const float* columns) {
      const float y = (x[0] - s.mean) * s.rstd;
      return kAffine > 0 ? y * columns[0] + columns[1] : y;
    });
  }
};
using PlainNormRow = LayerNorm<0>;
using AffineNormRow = LayerNorm<2>;

// The same with statistics that are given: the last columns are mean and variance.
template <int kAffine>
struct GivenNorm : NormShape<1, 1, kAffine + 2, 2> {
  using Value = float;

  template <class Row>
  __device__ __forceinline__ static void Run(Row& row) {
    const float eps = row.eps();
    row.Store([eps](const float* x, const float* columns) {
      const float y = (x[0] - columns[kAffine]) * RsqrtApprox(columns[kAffine + 1] + eps);
      return kAffine > 0 ? y * columns[0] + columns[1] : y;
    });
  }
};
using GivenPlainNormRow = GivenNorm<0>;
using GivenAffineNormRow = GivenNorm<2>;

// Of x + residual, which is written as well.
struct FusedAddLayerNormRow : NormShape<2, 2, 2> {
  using Value = Moments;

  template <class Row>
  __device__ __forceinline__ static void Run(Row& row) {
    row.AddResidual();
    const NormStatistics s = StatisticsOf(row, row.RowMoments());
    row.Store([s](const float* x, const float* columns) {
      return (x[0] - s.mean) * s.rstd * columns[0] + columns[1];
    });
  }
};
struct FusedAddRmsNormRow : NormShape<2, 2, 1> {
  using Value = float;

  template <class Row>
  __device__ __forceinline__ static void Run(Row& row) {
    row.AddResidual();
    const float sum =
        row.template Reduce<SumOp>([](const float* x, const float*) { return x[0] * x[0]; });
    const float rstd = RsqrtApprox(sum / row.count() + row.eps());
    row.Store([rstd](const float* x, const float* columns) { return x[0] * rstd * columns[0]; });
  }
};

// scale * normed + shift, and times gate.
template <bool kGate>
struct AdaptiveNorm : NormShape<(kGate ? 4 : 3), 1, 0> {
  using Value = Moments;

  template <class Row>
  __device__ __forceinline__ static void Run(Row& row) {
    const NormStatistics s = StatisticsOf(row, row.RowMoments());
    row.Store([s](const float* x, const float*) {
      const float y = x[1] * ((x[0] - s.mean) * s.rstd) + x[2];
      return kGate ? x[3] * y : y;
    });
  }
};
using AdaLayerNormRow = AdaptiveNorm<false>;
using AdaLayerNormZeroRow = AdaptiveNorm<true>;

// Batch norm in training, where a row is a channel: updates running_mean and running_var.
struct BatchNormRow : NormShape<1, 1, 2, 0, true> {
  using Value = Moments;

  template <class Row>
  __device__ __forceinline__ static void Run(Row& row) {
    const Moments moments = row.RowMoments();
    const NormStatistics s = StatisticsOf(row, moments);
    const float variance = moments.squares / row.count() * row.unbias();
    row.Result(0,
               [&](float old) { return (1.0f - row.momentum()) * old + row.momentum() * s.mean; });
    row.Result(
        1, [&](float old) { return (1.0f - row.momentum()) * old + row.momentum() * variance; });
    row.Store([s](const float* x, const float* columns) {
      return (x[0] - s.mean) * s.rstd * columns[0] + columns[1];
    });
  }
};

// Inputs grad_out, x; columns weight, mean, rstd; results grad_weight, grad_bias.
struct BatchNormGradientRow : NormShape<2, 1, 3, 0, true> {
  using Value = SumPair;

  __device__ __forceinline__ static SumPair Terms(const float* x, const float* columns) {
    return {x[0], x[0] * ((x[1] - columns[1]) * columns[2])};
  }
  __device__ __forceinline__ static float Gradient(const float* x, const float* columns,
                                                   const SumPair& means) {
    const float xhat = (x[1] - columns[1]) * columns[2];
    return columns[0] * columns[2] * (x[0] - means.a - xhat * means.b);
  }
  template <class Row>
  __device__ __forceinline__ static void Run(Row& row) {
    const SumPair sums = row.template Reduce<SumPairOp>(
        [](const float* x, const float* columns) { return Terms(x, columns); });
    row.Result(0, [&](float) { return sums.b; });
    row.Result(1, [&](float) { return sums.a; });
    const SumPair means = {sums.a / row.count(), sums.b / row.count()};
    row.Store(
        [means](const float* x, const float* columns) { return Gradient(x, columns, means); });
  }
};

}  // namespace tilewright

#endif  // TILEWRIGHT_ROW_NORM_OPS_CUH_
