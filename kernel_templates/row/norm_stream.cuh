// Norms of rows of any length and layout: each pass reads the row again. Portable.
//
// Config:
//   Op, Element, Column, kColumnKind   see norm_row.cuh
//   kThreads                           threads of a CTA; a CTA takes one row at a time
#ifndef TILEWRIGHT_ROW_NORM_STREAM_CUH_
#define TILEWRIGHT_ROW_NORM_STREAM_CUH_

#include "device/ldst.cuh"
#include "device/strided_offset.cuh"
#include "row/norm_ops.cuh"
#include "row/norm_params.cuh"

namespace tilewright {

template <class Config>
class StreamedNormRow {
 public:
  using T = typename Config::Element;
  using Column = typename Config::Column;
  using Op = typename Config::Op;
  static constexpr int kColumns = Op::kColumns;
  static constexpr bool kByElement = Config::kColumnKind == NormColumns::kElement;
  static constexpr bool kByChannel = Config::kColumnKind == NormColumns::kChannel;
  static constexpr bool kResidual = Op::kOutputs == 2;
  using Reducer = GroupReducer<typename Op::Value, Config::kThreads, 1, 1, 1>;
  static_assert(kIsSame<ComputeType<T>, float>);

  __device__ __forceinline__ StreamedNormRow(const NormParams& p, int64_t row, Reducer& reducer)
      : p_(p), reducer_(reducer) {
    const FastDivmod<true>* extent = p.extent + p.inner_rank;
#pragma unroll
    for (int i = 0; i < Op::kInputs; ++i) {
      inputs_[i] = static_cast<const uint8_t*>(p.inputs[i]) +
                   StridedOffset(row, p.row_rank, extent, p.input_stride[i] + p.inner_rank);
    }
#pragma unroll
    for (int i = 0; i < Op::kOutputs; ++i) {
      outputs_[i] = static_cast<uint8_t*>(p.outputs[i]) +
                    StridedOffset(row, p.row_rank, extent, p.output_stride[i] + p.inner_rank);
    }
    if constexpr (kByChannel) {
      const int64_t runs = p.packets / static_cast<int64_t>(p.run.divisor);
      channel_ = Op::kRowIsChannel ? row : row % p.channel_rows * runs;
    }
  }

  __device__ __forceinline__ float count() const { return p_.count; }
  __device__ __forceinline__ float eps() const { return p_.eps; }
  __device__ __forceinline__ float momentum() const { return p_.momentum; }
  __device__ __forceinline__ float unbias() const { return p_.unbias; }
  __device__ __forceinline__ void AddResidual() {}  // Values() adds it each time

  __device__ __forceinline__ Moments RowMoments() {
    Moments total = MomentsOp::Identity();
    ForEach([&](int64_t, const float* x, const float*) {
      total = MomentsOp::Combine(total, Moments{x[0], 0.0f, 1.0f});
    });
    return reducer_.template Reduce<MomentsOp>(total, 0);
  }
  template <class Reduction, class F>
  __device__ __forceinline__ typename Reduction::Value Reduce(F f) {
    typename Reduction::Value total = Reduction::Identity();
    ForEach([&](int64_t, const float* x, const float* columns) {
      total = Reduction::Combine(total, f(x, columns));
    });
    return reducer_.template Reduce<Reduction>(total, 0);
  }
  template <class F>
  __device__ __forceinline__ void Store(F f) {
    ForEach([&](int64_t at, const float* x, const float* columns) {
      if constexpr (kResidual) StoreAt(1, at, x[0]);
      StoreAt(0, at, f(x, columns));
    });
  }
  template <class F>
  __device__ __forceinline__ void Result(int i, F f) {
    if (threadIdx.x != 0) return;
    float* result = reinterpret_cast<float*>(static_cast<uint8_t*>(p_.results[i]) +
                                             channel_ * p_.column_stride[3 + i]);
    *result = f(*result);
  }

 private:
  static constexpr int kSlots = kColumns > 0 ? kColumns : 1;

  template <class Type>
  __device__ __forceinline__ static float LoadOne(const uint8_t* address) {
    float value[1];
    Unpack<Type>(LoadGlobal<sizeof(Type)>(address), value);
    return value[0];
  }
  __device__ __forceinline__ static float Rounded(float value) {
    return TypeTraits<T>::ToCompute(TypeTraits<T>::FromCompute(value));
  }
  __device__ __forceinline__ int64_t Offset(int64_t at, const long long* stride) const {
    return StridedOffset(at, p_.inner_rank, p_.extent, stride);
  }
  __device__ __forceinline__ void StoreAt(int output, int64_t at, float value) const {
    const float one[1] = {value};
    StoreGlobal<sizeof(T)>(outputs_[output] + Offset(at, p_.output_stride[output]),
                           Pack<T, sizeof(T)>(one));
  }
  __device__ __forceinline__ float ColumnAt(int c, int64_t at) const {
    const uint8_t* base = static_cast<const uint8_t*>(p_.columns[c]);
    if constexpr (kByElement) {
      return LoadOne<Column>(base + Offset(at, p_.column_strides[c % 2]));
    }
    unsigned long long run = 0;
    unsigned long long rest;
    if constexpr (!Op::kRowIsChannel) p_.run(static_cast<unsigned long long>(at), &run, &rest);
    base += (channel_ + static_cast<int64_t>(run)) * p_.column_stride[c];
    return c >= kColumns - Op::kFloatColumns ? LoadOne<float>(base) : LoadOne<Column>(base);
  }
  // f(position, the inputs, the columns) for each of this thread's elements.
  template <class F>
  __device__ __forceinline__ void ForEach(F f) const {
#pragma unroll 1
    for (int64_t at = threadIdx.x; at < p_.packets; at += Config::kThreads) {
      float x[Op::kInputs];
      float columns[kSlots];
#pragma unroll
      for (int i = 0; i < Op::kInputs; ++i) {
        x[i] = LoadOne<T>(inputs_[i] + Offset(at, p_.input_stride[i]));
      }
      if constexpr (kResidual) x[0] = Rounded(x[0] + x[1]);
#pragma unroll
      for (int c = 0; c < kColumns; ++c) columns[c] = ColumnAt(c, at);
      f(at, x, columns);
    }
  }

  const NormParams& p_;
  Reducer& reducer_;
  int64_t channel_ = 0;
  const uint8_t* inputs_[Op::kInputs];
  uint8_t* outputs_[Op::kOutputs];
};

template <class Config>
__global__ void __launch_bounds__(Config::kThreads)
    StreamedNormKernel(const __grid_constant__ NormParams p) {
  using Row = StreamedNormRow<Config>;
  __shared__ typename Row::Reducer::Storage storage;
  typename Row::Reducer reducer(storage, 0, threadIdx.x);
  WaitForPriorGrids();
#pragma unroll 1
  for (int64_t row = blockIdx.x; row < p.rows; row += gridDim.x) {
    Row streamed(p, row, reducer);
    Config::Op::Run(streamed);
    CtaBarrier();  // the next row uses the same slots
  }
}

}  // namespace tilewright

#endif  // TILEWRIGHT_ROW_NORM_STREAM_CUH_
