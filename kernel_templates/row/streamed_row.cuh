// Row operators on rows of any length and layout: each pass reads the row again. Portable.
//
// Config:
//   Op, Element   see row_ops.cuh
//   kThreads      threads of a CTA; a CTA takes one row at a time
//   kVector       1: any strides. More: the row and its columns are contiguous and aligned to
//                 kVector elements, and kVector divides the length
#ifndef TILEWRIGHT_ROW_STREAMED_ROW_CUH_
#define TILEWRIGHT_ROW_STREAMED_ROW_CUH_

#include "device/ldst.cuh"
#include "device/strided_offset.cuh"
#include "row/params.cuh"
#include "row/row_ops.cuh"

namespace tilewright {

template <class Config>
class StreamedRow {
 public:
  using T = typename Config::Element;
  using Op = typename Config::Op;
  static constexpr int kVector = Config::kVector;
  static constexpr int kBytes = kVector * static_cast<int>(sizeof(T));
  using Reducer = GroupReducer<typename Op::Value, Config::kThreads, 1, 1, Op::kSteps>;
  static_assert(kIsSame<ComputeType<T>, float>);
  static_assert(IsPowerOfTwo(kVector) && kBytes <= 16);

  __device__ __forceinline__ StreamedRow(const StridedRowParams& p, int64_t row, Reducer& reducer)
      : p_(p), reducer_(reducer) {
    const FastDivmod<true>* extent = p.extent + p.inner_rank;
    input_ = static_cast<const uint8_t*>(p.input) +
             StridedOffset(row, p.row_rank, extent, p.input_stride + p.inner_rank);
    output_ = static_cast<uint8_t*>(p.output) +
              StridedOffset(row, p.row_rank, extent, p.output_stride + p.inner_rank);
  }

  __device__ __forceinline__ int64_t length() const { return p_.length; }

  template <class Reduction, class F>
  __device__ __forceinline__ float Reduce(F f) {
    float total = Reduction::Identity();
    ForEach([&](int64_t, const float(&x)[kVector]) {
#pragma unroll
      for (int i = 0; i < kVector; ++i) total = Reduction::Combine(total, f(x[i]));
    });
    return reducer_.template Reduce<Reduction>(total, step_++);
  }

  __device__ __forceinline__ MaxSum ReduceExp() {
    MaxSum total = MaxSumOp::Identity();
    ForEach([&](int64_t, const float(&x)[kVector]) {
      float max = total.max;
#pragma unroll
      for (int i = 0; i < kVector; ++i) max = MaxNumber(max, x[i]);
      const float shift = max == MaxOp::Identity() ? 0.0f : max;
      float sum = MaxSumOp::Rescale(total, max);
#pragma unroll
      for (int i = 0; i < kVector; ++i) sum += Exp2((x[i] - shift) * kLog2e);
      total = {max, sum};
    });
    return reducer_.template Reduce<MaxSumOp>(total, step_++);
  }

  template <class F>
  __device__ __forceinline__ void Store(F f) {
    ForEach([&](int64_t at, const float(&x)[kVector]) {
      float columns[kVector][kColumnSlots];
#pragma unroll
      for (int c = 0; c < Op::kColumns; ++c) {
        float column[kVector];
        LoadAt(p_.columns[c], at, p_.column_stride[c], column);
#pragma unroll
        for (int i = 0; i < kVector; ++i) columns[i][c] = column[i];
      }
      float y[kVector];
#pragma unroll
      for (int i = 0; i < kVector; ++i) y[i] = f(x[i], columns[i]);
      StoreGlobal<kBytes>(output_ + InnerOffset(at, p_.output_stride), Pack<T, kBytes>(y));
    });
  }

  __device__ __forceinline__ void StoreExp(float max, float scale) {
    Store([=](float x, const float*) { return Exp2((x - max) * kLog2e) * scale; });
  }

 private:
  static constexpr int kColumnSlots = Op::kColumns > 0 ? Op::kColumns : 1;

  __device__ __forceinline__ int64_t InnerOffset(int64_t at, const long long* stride) const {
    if constexpr (kVector > 1) return at * kBytes;
    return StridedOffset(at, p_.inner_rank, p_.extent, stride);
  }
  __device__ __forceinline__ void LoadAt(const void* base, int64_t at, const long long* stride,
                                         float (&x)[kVector]) const {
    Unpack<T>(LoadGlobal<kBytes>(static_cast<const uint8_t*>(base) + InnerOffset(at, stride)), x);
  }
  // f(packet number, its values) for each packet of this thread.
  template <class F>
  __device__ __forceinline__ void ForEach(F f) const {
#pragma unroll(kVector > 1 ? (Config::kThreads > 512 ? 2 : 4) : 1)
    for (int64_t at = threadIdx.x; at * kVector < p_.length; at += Config::kThreads) {
      float x[kVector];
      LoadAt(input_, at, p_.input_stride, x);
      f(at, x);
    }
  }

  const StridedRowParams& p_;
  Reducer& reducer_;
  int step_ = 0;
  const uint8_t* input_;
  uint8_t* output_;
};

template <class Config>
__global__ void __launch_bounds__(Config::kThreads)
    StreamedRowKernel(const __grid_constant__ StridedRowParams p) {
  using Row = StreamedRow<Config>;
  __shared__ typename Row::Reducer::Storage storage;
  typename Row::Reducer reducer(storage, 0, threadIdx.x);
  WaitForPriorGrids();
  for (int64_t row = blockIdx.x; row < p.rows; row += gridDim.x) {
    Row streamed(p, row, reducer);
    Config::Op::Run(streamed, p.scalars);
    CtaBarrier();  // the next row uses the same slots
  }
}

}  // namespace tilewright

#endif  // TILEWRIGHT_ROW_STREAMED_ROW_CUH_
