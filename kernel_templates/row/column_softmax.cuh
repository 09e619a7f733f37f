// Softmax along a strided axis of [outer, length, inner] with inner contiguous: lanes lie along
// inner, warps along the axis. Reads twice.
//
// Config:
//   Element
//   kWarps    warps of a CTA, which share its 32 * kVector columns; a power of two
//   kVector   elements a packet; divides inner and, in bytes, every address
#ifndef TILEWRIGHT_ROW_COLUMN_SOFTMAX_CUH_
#define TILEWRIGHT_ROW_COLUMN_SOFTMAX_CUH_

#include "device/ldst.cuh"
#include "device/reduce.cuh"
#include "row/params.cuh"

namespace tilewright {

template <class Config>
struct ColumnTraits {
  using T = typename Config::Element;
  static constexpr int kVector = Config::kVector;
  static constexpr int kWarps = Config::kWarps;
  static constexpr int kBytes = kVector * static_cast<int>(sizeof(T));
  static_assert(kIsSame<ComputeType<T>, float>);
  static_assert(IsPowerOfTwo(kVector) && kBytes <= 16 && IsPowerOfTwo(kWarps) && kWarps <= 32);
};

// The running maximum and sum of one packet of columns, after packet x.
template <int kVector>
__device__ __forceinline__ void Accumulate(const float (&x)[kVector], MaxSum (&total)[kVector]) {
#pragma unroll
  for (int i = 0; i < kVector; ++i) {
    const float max = MaxNumber(total[i].max, x[i]);
    const float shift = max == MaxOp::Identity() ? 0.0f : max;
    total[i] = {max, MaxSumOp::Rescale(total[i], max) + Exp2((x[i] - shift) * kLog2e)};
  }
}

template <class Config>
__global__ void __launch_bounds__(Config::kWarps* kWarpSize)
    ColumnSoftmaxKernel(const __grid_constant__ ColumnParams p) {
  using Traits = ColumnTraits<Config>;
  using T = typename Traits::T;
  constexpr int kVector = Traits::kVector;
  constexpr int kBytes = Traits::kBytes;
  __shared__ MaxSum shared[Traits::kWarps][kVector][kWarpSize];
  const int lane = threadIdx.x % kWarpSize;
  const int warp = threadIdx.x / kWarpSize;
  const int64_t blocks = CeilDiv<int64_t>(p.inner, kWarpSize);
  WaitForPriorGrids();
  for (int64_t block = blockIdx.x; block < p.outer * blocks; block += gridDim.x) {
    const int64_t outer = block / blocks;
    const int64_t column = block % blocks * kWarpSize + lane;
    const bool has = column < p.inner;
    const uint8_t* input =
        static_cast<const uint8_t*>(p.input) + outer * p.input_outer_stride + column * kBytes;
    uint8_t* output =
        static_cast<uint8_t*>(p.output) + outer * p.output_outer_stride + column * kBytes;
    MaxSum total[kVector];
#pragma unroll
    for (int i = 0; i < kVector; ++i) total[i] = MaxSumOp::Identity();
#pragma unroll 2
    for (int64_t n = warp; has && n < p.length; n += Traits::kWarps) {
      float x[kVector];
      Unpack<T>(LoadGlobal<kBytes>(input + n * p.input_stride), x);
      Accumulate(x, total);
    }
#pragma unroll
    for (int i = 0; i < kVector; ++i) shared[warp][i][lane] = total[i];
    CtaBarrier();
#pragma unroll
    for (int i = 0; i < kVector; ++i) {
      total[i] = MaxSumOp::Identity();
#pragma unroll 1
      for (int w = 0; w < Traits::kWarps; ++w) {
        total[i] = MaxSumOp::Combine(total[i], shared[w][i][lane]);
      }
      total[i].sum = Rcp(total[i].sum);
    }
    CtaBarrier();  // the next block uses the same slots
#pragma unroll 2
    for (int64_t n = warp; has && n < p.length; n += Traits::kWarps) {
      float x[kVector];
      Unpack<T>(LoadGlobal<kBytes>(input + n * p.input_stride), x);
#pragma unroll
      for (int i = 0; i < kVector; ++i) {
        x[i] = Exp2((x[i] - total[i].max) * kLog2e) * total[i].sum;
      }
      StoreGlobal<kBytes>(output + n * p.output_stride, Pack<T, kBytes>(x));
    }
  }
}

}  // namespace tilewright

#endif  // TILEWRIGHT_ROW_COLUMN_SOFTMAX_CUH_
