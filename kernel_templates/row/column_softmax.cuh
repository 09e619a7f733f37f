// Softmax or its logarithm along a strided axis of [outer, length, inner] with inner contiguous:
// lanes lie along inner, warps along the axis.
//
// Config:
//   Element
//   kWarps    warps of a CTA, which share its 32 * kVector columns; a power of two
//   kPackets  packets a thread keeps, so that kWarps * kPackets holds the axis; 0: reads twice
//   kVector   elements a packet; divides inner and, in bytes, every address
//   kLog      writes x - max - log(sum) instead of exp(x - max) / sum
#ifndef TILEWRIGHT_ROW_COLUMN_SOFTMAX_CUH_
#define TILEWRIGHT_ROW_COLUMN_SOFTMAX_CUH_

#include "device/ldst_if.cuh"
#include "device/reduce.cuh"
#include "row/params.cuh"

namespace tilewright {

// One thread's share of the columns of its lane: rows warp, warp + kWarps, ... of the axis.
template <class Config>
class ColumnSlice {
 public:
  using T = typename Config::Element;
  static constexpr int kVector = Config::kVector;
  static constexpr int kWarps = Config::kWarps;
  static constexpr int kPackets = Config::kPackets;
  static constexpr int kBytes = kVector * static_cast<int>(sizeof(T));
  static_assert(kIsSame<ComputeType<T>, float>);
  static_assert(IsPowerOfTwo(kVector) && kBytes <= 16 && IsPowerOfTwo(kWarps) && kWarps <= 16);

  struct Storage {
    float max[kWarps][kVector][kWarpSize];
    float sum[kWarps][kVector][kWarpSize];
  };

  __device__ __forceinline__ ColumnSlice(const ColumnParams& p, int64_t outer, int64_t column)
      : warp_(threadIdx.x / kWarpSize),
        lane_(threadIdx.x % kWarpSize),
        rows_(column < p.inner ? p.length : 0),
        input_step_(kWarps * p.input_stride),
        output_step_(kWarps * p.output_stride) {
    input_ = static_cast<const uint8_t*>(p.input) + outer * p.input_outer_stride +
             warp_ * p.input_stride + column * kBytes;
    output_ = static_cast<uint8_t*>(p.output) + outer * p.output_outer_stride +
              warp_ * p.output_stride + column * kBytes;
  }

  // The maximum of this thread's part of each column and, unless kept, the sum under it.
  __device__ __forceinline__ void Load(MaxSum (&total)[kVector]) {
#pragma unroll
    for (int i = 0; i < kVector; ++i) total[i] = MaxSumOp::Identity();
    if constexpr (kPackets > 0) {
#pragma unroll
      for (int k = 0; k < kPackets; ++k) LoadRow(k, kept_[k]);
#pragma unroll
      for (int k = 0; k < kPackets; ++k) {
        const bool has = Has(k);
#pragma unroll
        for (int i = 0; i < kVector; ++i) {
          if (!has) kept_[k][i] = MaxOp::Identity();
          total[i].max = MaxNumber(total[i].max, kept_[k][i]);
        }
      }
    } else {
#pragma unroll 2
      for (int64_t k = 0; Has(k); ++k) {
        float x[kVector];
        LoadRow(k, x);
#pragma unroll
        for (int i = 0; i < kVector; ++i) {
          const float max = MaxNumber(total[i].max, x[i]);
          const float sum = MaxSumOp::Rescale(total[i], max);
          total[i] = {max, sum + Exp2((x[i] - Shift(max)) * kLog2e)};
        }
      }
    }
  }

  // The sum of this thread's part under the columns' maxima; keeps the exponentials, or x for kLog.
  __device__ __forceinline__ void Sum(const float (&max)[kVector], MaxSum (&total)[kVector]) {
#pragma unroll
    for (int i = 0; i < kVector; ++i) {
      if constexpr (kPackets > 0) {
        const float shift = Shift(max[i]);
#pragma unroll
        for (int k = 0; k < kPackets; ++k) {
          const float y = Exp2((kept_[k][i] - shift) * kLog2e);
          total[i].sum += y;
          if constexpr (!Config::kLog) kept_[k][i] = y;
        }
      } else {
        total[i].sum = MaxSumOp::Rescale(total[i], max[i]);
      }
    }
  }

  // What becomes of a column's sum before the store.
  __device__ __forceinline__ static float Scale(float sum) {
    return Config::kLog ? Log2Approx(sum) * kLn2 : Rcp(sum);
  }

  __device__ __forceinline__ void Store(const float (&max)[kVector],
                                        const float (&scale)[kVector]) {
    if constexpr (kPackets > 0) {
#pragma unroll
      for (int k = 0; k < kPackets; ++k) StoreRow(k, kept_[k], max, scale);
    } else {
#pragma unroll 2
      for (int64_t k = 0; Has(k); ++k) {
        float x[kVector];
        LoadRow(k, x);
#pragma unroll
        for (int i = 0; i < kVector; ++i) {
          if constexpr (!Config::kLog) x[i] = Exp2((x[i] - Shift(max[i])) * kLog2e);
        }
        StoreRow(k, x, max, scale);
      }
    }
  }

  // Combines each column's value over the warps. One barrier.
  template <class Op>
  __device__ __forceinline__ void AcrossWarps(float (&slots)[kWarps][kVector][kWarpSize],
                                              float (&value)[kVector]) const {
    if constexpr (kWarps > 1) {
#pragma unroll
      for (int i = 0; i < kVector; ++i) slots[warp_][i][lane_] = value[i];
      CtaBarrier();
#pragma unroll
      for (int i = 0; i < kVector; ++i) value[i] = Op::Identity();
#pragma unroll 1
      for (int w = 0; w < kWarps; ++w) {
#pragma unroll
        for (int i = 0; i < kVector; ++i) value[i] = Op::Combine(value[i], slots[w][i][lane_]);
      }
    }
  }

 private:
  // What to subtract: with nothing but -inf in a column, 0, so that its sum is 0.
  __device__ __forceinline__ static float Shift(float max) {
    return max == MaxOp::Identity() ? 0.0f : max;
  }
  __device__ __forceinline__ bool Has(int64_t k) const { return warp_ + k * kWarps < rows_; }
  __device__ __forceinline__ void LoadRow(int64_t k, float (&x)[kVector]) const {
    Unpack<T>(LoadGlobalIf<kBytes>(Has(k), input_ + k * input_step_), x);
  }
  __device__ __forceinline__ void StoreRow(int64_t k, const float (&x)[kVector],
                                           const float (&max)[kVector],
                                           const float (&scale)[kVector]) const {
    float y[kVector];
#pragma unroll
    for (int i = 0; i < kVector; ++i)
      y[i] = Config::kLog ? x[i] - max[i] - scale[i] : x[i] * scale[i];
    StoreGlobalIf<kBytes>(Has(k), output_ + k * output_step_, Pack<T, kBytes>(y));
  }

  int warp_;
  int lane_;
  int64_t rows_;        // 0 for lanes past the last column
  int64_t input_step_;  // bytes between this thread's rows
  int64_t output_step_;
  const uint8_t* input_;
  uint8_t* output_;
  float kept_[kPackets > 0 ? kPackets : 1][kVector];
};

template <class Config>
__global__ void __launch_bounds__(Config::kWarps* kWarpSize)
    ColumnSoftmaxKernel(const __grid_constant__ ColumnParams p) {
  using Slice = ColumnSlice<Config>;
  constexpr int kVector = Slice::kVector;
  __shared__ typename Slice::Storage storage;
  const int64_t blocks = p.outer * static_cast<int64_t>(p.inner_blocks.divisor);
  WaitForPriorGrids();
#pragma unroll 1
  for (int64_t block = blockIdx.x; block < blocks; block += gridDim.x) {
    unsigned long long outer;
    unsigned long long inner;
    p.inner_blocks(static_cast<unsigned long long>(block), &outer, &inner);
    Slice slice(p, static_cast<int64_t>(outer),
                static_cast<int64_t>(inner) * kWarpSize + threadIdx.x % kWarpSize);
    MaxSum total[kVector];
    float max[kVector];
    float sum[kVector];
    slice.Load(total);
#pragma unroll
    for (int i = 0; i < kVector; ++i) max[i] = total[i].max;
    slice.template AcrossWarps<MaxOp>(storage.max, max);
    slice.Sum(max, total);
#pragma unroll
    for (int i = 0; i < kVector; ++i) sum[i] = total[i].sum;
    slice.template AcrossWarps<SumOp>(storage.sum, sum);
#pragma unroll
    for (int i = 0; i < kVector; ++i) sum[i] = Slice::Scale(sum[i]);
    slice.Store(max, sum);
  }
}

}  // namespace tilewright

#endif  // TILEWRIGHT_ROW_COLUMN_SOFTMAX_CUH_
