// Row operators: what happens to a row, over any Row that can reduce and store (resident_row.cuh,
// streamed_row.cuh). A Row's functions are called by every thread of the CTA.
//
//   float row.Reduce<Op>(f)   f(x) over the row, combined by Op
//   MaxSum row.ReduceExp()    the maximum and the sum of exp(x - maximum)
//   row.Store(f)              output[i] = f(x[i], columns of i)
//   row.StoreExp(max, scale)  output[i] = exp(x[i] - max) * scale, after ReduceExp
#ifndef TILEWRIGHT_ROW_ROW_OPS_CUH_
#define TILEWRIGHT_ROW_ROW_OPS_CUH_

#include "device/reduce.cuh"

namespace tilewright {

// x * rsqrt(mean(x^2) + scalars[0]) * column 0.
struct RmsNormRow {
  static constexpr int kColumns = 1;
  static constexpr int kSteps = 1;
  using Value = float;

  template <class Row>
  __device__ __forceinline__ static void Run(Row& row, const float* scalars) {
    const float sum = row.template Reduce<SumOp>([](float x) { return x * x; });
    const float scale = RsqrtApprox(sum * Rcp(static_cast<float>(row.length())) + scalars[0]);
    row.Store([scale](float x, const float* columns) { return x * scale * columns[0]; });
  }
};

// exp(x - max) / sum(exp(x - max)). A NaN, an infinity, or nothing but -inf in a row makes all of
// it NaN (where torch gives NaN).
struct SoftmaxRow {
  static constexpr int kColumns = 0;
  static constexpr int kSteps = 1;
  using Value = MaxSum;

  template <class Row>
  __device__ __forceinline__ static void Run(Row& row, const float*) {
    const MaxSum total = row.ReduceExp();
    row.StoreExp(total.max, Rcp(total.sum));
  }
};

// x - max - log(sum(exp(x - max))); NaN where softmax gives it.
struct LogSoftmaxRow {
  static constexpr int kColumns = 0;
  static constexpr int kSteps = 1;
  using Value = MaxSum;

  template <class Row>
  __device__ __forceinline__ static void Run(Row& row, const float*) {
    const MaxSum total = row.ReduceExp();
    const float log_sum = Log2Approx(total.sum) * kLn2;
    row.Store([=](float x, const float*) { return x - total.max - log_sum; });
  }
};

}  // namespace tilewright

#endif  // TILEWRIGHT_ROW_ROW_OPS_CUH_
