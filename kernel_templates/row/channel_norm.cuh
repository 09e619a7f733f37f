// Norms by channel of any size, in passes over x: sums of each channel by many CTAs, their finish,
// and an elementwise pass; or that alone where the statistics are given.
//
// A channel's packets are numbered over the dims of a row (norm_params.cuh), rows are channels.
//
// Config of ChannelSumsKernel:    Op, Element, kThreads, kUnroll, kVector
//           ChannelFinishKernel:  Op, kThreads
//           ChannelApplyKernel:   Op, Element, Column, kThreads, kUnroll, kVector
#ifndef TILEWRIGHT_ROW_CHANNEL_NORM_CUH_
#define TILEWRIGHT_ROW_CHANNEL_NORM_CUH_

#include "device/ldst_if.cuh"
#include "device/strided_offset.cuh"
#include "row/norm_ops.cuh"
#include "row/norm_params.cuh"

namespace tilewright {

// Per channel, in the workspace: mean and rstd, or the means of the gradient's sums.
struct ChannelPair {
  float a;
  float b;
};

template <class Column>
__device__ __forceinline__ float LoadChannel(const NormParams& p, int c, int64_t channel) {
  float value[1];
  Unpack<Column>(LoadGlobal<sizeof(Column)>(static_cast<const uint8_t*>(p.columns[c]) +
                                            channel * p.column_stride[c]),
                 value);
  return value[0];
}
__device__ __forceinline__ float* ResultOf(const NormParams& p, int i, int64_t channel) {
  return reinterpret_cast<float*>(static_cast<uint8_t*>(p.results[i]) +
                                  channel * p.column_stride[3 + i]);
}

// The statistics of x and the update of the running ones: columns are weight, bias.
struct BatchMoments {
  static constexpr int kInputs = 1;
  using Sum = MomentsOp;
  struct Channel {};
  __device__ __forceinline__ static Channel Of(const NormParams&, int64_t) { return {}; }
  template <int kVector>
  __device__ __forceinline__ static Moments Terms(const float (&x)[1][kVector], const Channel&) {
    float sum = x[0][0];
#pragma unroll
    for (int i = 1; i < kVector; ++i) sum += x[0][i];
    const float mean = sum * (1.0f / kVector);
    float squares = 0.0f;
#pragma unroll
    for (int i = 0; i < kVector; ++i) squares += (x[0][i] - mean) * (x[0][i] - mean);
    return {sum, squares, static_cast<float>(kVector)};
  }
  __device__ __forceinline__ static ChannelPair Finish(const NormParams& p, int64_t channel,
                                                       const Moments& total) {
    const float mean = total.sum / p.count;
    const float variance = total.squares / p.count;
    float* running_mean = ResultOf(p, 0, channel);
    float* running_var = ResultOf(p, 1, channel);
    *running_mean = (1.0f - p.momentum) * *running_mean + p.momentum * mean;
    *running_var = (1.0f - p.momentum) * *running_var + p.momentum * (variance * p.unbias);
    return {mean, RsqrtApprox(variance + p.eps)};
  }
};

// The sums of the gradients: inputs grad_out, x; columns weight, mean, rstd.
struct BatchGradientSums {
  static constexpr int kInputs = 2;
  using Sum = SumPairOp;
  struct Channel {
    float mean;
    float rstd;
  };
  __device__ __forceinline__ static Channel Of(const NormParams& p, int64_t channel) {
    return {LoadChannel<float>(p, 1, channel), LoadChannel<float>(p, 2, channel)};
  }
  template <int kVector>
  __device__ __forceinline__ static SumPair Terms(const float (&x)[2][kVector],
                                                  const Channel& channel) {
    SumPair sum = {0.0f, 0.0f};
#pragma unroll
    for (int i = 0; i < kVector; ++i) {
      sum.a += x[0][i];
      sum.b += x[0][i] * (x[1][i] - channel.mean);
    }
    return {sum.a, sum.b * channel.rstd};
  }
  __device__ __forceinline__ static ChannelPair Finish(const NormParams& p, int64_t channel,
                                                       const SumPair& total) {
    *ResultOf(p, 0, channel) = total.b;
    *ResultOf(p, 1, channel) = total.a;
    return {total.a / p.count, total.b / p.count};
  }
};

// (x - mean) * rstd * weight + bias. kGiven: mean and variance are columns 2 and 3; else they are
// in the workspace. kAffine: columns 0 and 1 are weight and bias.
template <bool kGiven, bool kAffine>
struct ApplyNorm {
  static constexpr int kInputs = 1;
  struct Channel {
    float mean;
    float rstd;
    float weight;
    float bias;
  };
  template <class Column>
  __device__ __forceinline__ static Channel Of(const NormParams& p, int64_t channel,
                                               const ChannelPair* pairs) {
    Channel result;
    if constexpr (kGiven) {
      result.mean = LoadChannel<float>(p, 2, channel);
      result.rstd = RsqrtApprox(LoadChannel<float>(p, 3, channel) + p.eps);
    } else {
      result.mean = pairs[channel].a;
      result.rstd = pairs[channel].b;
    }
    result.weight = kAffine ? LoadChannel<Column>(p, 0, channel) : 1.0f;
    result.bias = kAffine ? LoadChannel<Column>(p, 1, channel) : 0.0f;
    return result;
  }
  template <int kVector>
  __device__ __forceinline__ static float At(const float (&x)[1][kVector], int i,
                                             const Channel& channel) {
    // One product after the other: that of rstd and weight may leave float32's range.
    const float y = (x[0][i] - channel.mean) * channel.rstd;
    return kAffine ? y * channel.weight + channel.bias : y;
  }
};
using ApplyBatchNorm = ApplyNorm<false, true>;
using ApplyGivenNorm = ApplyNorm<true, true>;
using ApplyGivenPlainNorm = ApplyNorm<true, false>;

struct ApplyBatchGradient {
  static constexpr int kInputs = 2;
  struct Channel {
    float mean;
    float rstd;
    float scale;
    ChannelPair means;
  };
  template <class Column>
  __device__ __forceinline__ static Channel Of(const NormParams& p, int64_t channel,
                                               const ChannelPair* pairs) {
    const float rstd = LoadChannel<float>(p, 2, channel);
    return {LoadChannel<float>(p, 1, channel), rstd, LoadChannel<Column>(p, 0, channel) * rstd,
            pairs[channel]};
  }
  template <int kVector>
  __device__ __forceinline__ static float At(const float (&x)[2][kVector], int i,
                                             const Channel& channel) {
    const float xhat = (x[1][i] - channel.mean) * channel.rstd;
    return channel.scale * (x[0][i] - channel.means.a - xhat * channel.means.b);
  }
};

// One block of packets of one channel.
struct ChannelBlock {
  int64_t channel;
  int64_t first;
  int64_t end;
};
__device__ __forceinline__ ChannelBlock BlockOf(const NormParams& p) {
  const int64_t channel = blockIdx.x / static_cast<unsigned>(p.splits);
  const int64_t split = blockIdx.x - channel * p.splits;
  return {channel, split * p.split_packets, Min<int64_t>(p.packets, (split + 1) * p.split_packets)};
}

// Loads kUnroll packets of each input, `step` apart.
template <class T, int kInputs, int kUnroll, int kVector>
__device__ __forceinline__ void LoadPackets(const NormParams& p, const int64_t (&base)[kInputs],
                                            int64_t at, int64_t end, int64_t step,
                                            Packet<kVector * sizeof(T)> (&raw)[kInputs][kUnroll]) {
#pragma unroll
  for (int u = 0; u < kUnroll; ++u) {
#pragma unroll
    for (int i = 0; i < kInputs; ++i) {
      const int64_t offset =
          base[i] + StridedOffset(at + u * step, p.inner_rank, p.extent, p.input_stride[i]);
      raw[i][u] = LoadGlobalIf<kVector * sizeof(T)>(
          at + u * step < end, static_cast<const uint8_t*>(p.inputs[i]) + offset);
    }
  }
}
template <int kInputs>
__device__ __forceinline__ void ChannelOffsets(const NormParams& p, int64_t channel,
                                               int64_t (&base)[kInputs]) {
#pragma unroll
  for (int i = 0; i < kInputs; ++i) {
    base[i] = StridedOffset(channel, p.row_rank, p.extent + p.inner_rank,
                            p.input_stride[i] + p.inner_rank);
  }
}

template <class Config>
__global__ void __launch_bounds__(Config::kThreads)
    ChannelSumsKernel(const __grid_constant__ NormParams p) {
  using Op = typename Config::Op;
  using T = typename Config::Element;
  using Value = typename Op::Sum::Value;
  constexpr int kInputs = Op::kInputs;
  constexpr int kVector = Config::kVector;
  constexpr int kUnroll = Config::kUnroll;
  using Reducer = GroupReducer<Value, Config::kThreads, 1, 1, 1>;
  __shared__ typename Reducer::Storage storage;
  Reducer reducer(storage, 0, threadIdx.x);
  const ChannelBlock block = BlockOf(p);
  WaitForPriorGrids();
  LaunchDependentGrids();
  const auto channel = Op::Of(p, block.channel);
  int64_t base[kInputs];
  ChannelOffsets(p, block.channel, base);
  Value total = Op::Sum::Identity();
#pragma unroll 1
  for (int64_t at = block.first + threadIdx.x; at < block.end; at += kUnroll * Config::kThreads) {
    Packet<kVector * sizeof(T)> raw[kInputs][kUnroll];
    LoadPackets<T, kInputs, kUnroll, kVector>(p, base, at, block.end, Config::kThreads, raw);
    if (at + (kUnroll - 1) * Config::kThreads < block.end) {
      // All at once: one combination of them.
      float x[kInputs][kUnroll * kVector];
#pragma unroll
      for (int u = 0; u < kUnroll; ++u) {
#pragma unroll
        for (int i = 0; i < kInputs; ++i) {
          float part[kVector];
          Unpack<T>(raw[i][u], part);
#pragma unroll
          for (int v = 0; v < kVector; ++v) x[i][u * kVector + v] = part[v];
        }
      }
      total = Op::Sum::Combine(total, Op::Terms(x, channel));
    } else {
#pragma unroll
      for (int u = 0; u < kUnroll; ++u) {
        float x[kInputs][kVector];
#pragma unroll
        for (int i = 0; i < kInputs; ++i) Unpack<T>(raw[i][u], x[i]);
        if (at + u * Config::kThreads < block.end) {
          total = Op::Sum::Combine(total, Op::Terms(x, channel));
        }
      }
    }
  }
  total = reducer.template Reduce<typename Op::Sum>(total, 0);
  if (threadIdx.x == 0) static_cast<Value*>(p.partials)[blockIdx.x] = total;
}

template <class Config>
__global__ void __launch_bounds__(Config::kThreads)
    ChannelFinishKernel(const __grid_constant__ NormParams p) {
  using Op = typename Config::Op;
  using Value = typename Op::Sum::Value;
  using Reducer = GroupReducer<Value, Config::kThreads, 1, 1, 1>;
  __shared__ typename Reducer::Storage storage;
  Reducer reducer(storage, 0, threadIdx.x);
  WaitForPriorGrids();
  LaunchDependentGrids();
  const int64_t channel = blockIdx.x;
  Value total = Op::Sum::Identity();
  const Value* partials = static_cast<const Value*>(p.partials) + channel * p.splits;
  for (int split = threadIdx.x; split < p.splits; split += Config::kThreads) {
    total = Op::Sum::Combine(total, partials[split]);
  }
  total = reducer.template Reduce<typename Op::Sum>(total, 0);
  if (threadIdx.x == 0) {
    static_cast<ChannelPair*>(p.pairs)[channel] = Op::Finish(p, channel, total);
  }
}

// A block is kThreads * kUnroll packets.
template <class Config>
__global__ void __launch_bounds__(Config::kThreads)
    ChannelApplyKernel(const __grid_constant__ NormParams p) {
  using Op = typename Config::Op;
  using T = typename Config::Element;
  constexpr int kInputs = Op::kInputs;
  constexpr int kVector = Config::kVector;
  constexpr int kUnroll = Config::kUnroll;
  constexpr int kBytes = kVector * static_cast<int>(sizeof(T));
  const ChannelBlock block = BlockOf(p);
  const int64_t first = block.first + threadIdx.x;
  int64_t base[kInputs];
  ChannelOffsets(p, block.channel, base);
  const int64_t output = StridedOffset(block.channel, p.row_rank, p.extent + p.inner_rank,
                                       p.output_stride[0] + p.inner_rank);
  WaitForPriorGrids();
  // Ahead of the channel's values, so that all are on their way together.
  Packet<kBytes> raw[kInputs][kUnroll];
  LoadPackets<T, kInputs, kUnroll, kVector>(p, base, first, block.end, Config::kThreads, raw);
  const auto channel = Op::template Of<typename Config::Column>(
      p, block.channel, static_cast<const ChannelPair*>(p.pairs));
#pragma unroll
  for (int u = 0; u < kUnroll; ++u) {
    const int64_t packet = first + u * Config::kThreads;
    float x[kInputs][kVector];
#pragma unroll
    for (int i = 0; i < kInputs; ++i) Unpack<T>(raw[i][u], x[i]);
    float y[kVector];
#pragma unroll
    for (int i = 0; i < kVector; ++i) y[i] = Op::At(x, i, channel);
    const int64_t offset =
        output + StridedOffset(packet, p.inner_rank, p.extent, p.output_stride[0]);
    StoreGlobalIf<kBytes>(packet < block.end, static_cast<uint8_t*>(p.outputs[0]) + offset,
                          Pack<T, kBytes>(y));
  }
}

}  // namespace tilewright

#endif  // TILEWRIGHT_ROW_CHANNEL_NORM_CUH_
