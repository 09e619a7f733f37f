// Reductions whose elements lie along the innermost axis, or anywhere: one result by a group of
// threads of a CTA or of a cluster, or by several CTAs in two stages.
//
// RowReduceKernel's Config:
//   Op, Element, Output   see reduce_ops.cuh
//   kThreads              threads a result and CTA, a power of two
//   kRows                 results a CTA
//   kCluster              CTAs that share a result
//   kUnroll               packets a thread loads at a time
//   kVector               elements a packet; divides the innermost extent and, in bytes, every
//                         address
//   kDense                a result's packets follow each other in memory
//   kSplit                grid.y CTAs share a result and leave partials for CombineKernel
// CombineKernel's: Op, Output, kThreads, kRows.
#ifndef TILEWRIGHT_ROW_ROW_REDUCE_CUH_
#define TILEWRIGHT_ROW_ROW_REDUCE_CUH_

#include "device/ldst_if.cuh"
#include "device/strided_offset.cuh"
#include "row/reduce_ops.cuh"

namespace tilewright {

template <class T, int kBytes>
__device__ __forceinline__ void UnpackAny(const Packet<kBytes>& packet,
                                          ComputeType<T> (&x)[kBytes / sizeof(T)]) {
  if constexpr (kIsSame<T, complex128>) {
    UnpackComplex128(packet, x);
  } else {
    Unpack<T>(packet, x);
  }
}

// Writes the results of `value` to element offsets in bytes.
template <class Op, class Output>
__device__ __forceinline__ void FinishTo(void* const* outputs, const int64_t* offsets,
                                         const typename Op::Value& value,
                                         const ReduceScalars& scalars) {
  ComputeType<Output> y[Op::kOutputs];
  Op::Finish(value, scalars, y);
#pragma unroll
  for (int i = 0; i < Op::kOutputs; ++i) {
    *reinterpret_cast<Output*>(static_cast<uint8_t*>(outputs[i]) + offsets[i]) =
        TypeTraits<Output>::FromCompute(y[i]);
  }
}

template <class Op, class Output>
__device__ __forceinline__ void FinishRow(const RowReduceParams& p, int64_t row,
                                          const typename Op::Value& value) {
  int64_t offsets[Op::kOutputs];
#pragma unroll
  for (int i = 0; i < Op::kOutputs; ++i) {
    offsets[i] = StridedOffset(row, p.row_rank, p.extent + p.inner_rank, p.output_stride[i]);
  }
  FinishTo<Op, Output>(p.outputs, offsets, value, p.scalars);
}

template <class Config>
class RowReduction {
 public:
  using T = typename Config::Element;
  using Op = typename Config::Op;
  using Value = typename Op::Value;
  static constexpr int kVector = Config::kVector;
  static constexpr int kUnroll = Config::kUnroll;
  static constexpr int kBytes = kVector * static_cast<int>(sizeof(T));
  using Reducer = GroupReducer<Value, Config::kThreads, Config::kRows, Config::kCluster, 1>;
  static_assert(IsPowerOfTwo(kVector) && kBytes <= 16);
  static_assert(Config::kThreads * Config::kRows <= 1024);
  static_assert(Config::kThreads * Config::kRows % kWarpSize == 0);
  static_assert(Config::kCluster == 1 || (Config::kRows == 1 && !Config::kSplit));

  // Packets first, first + step, ... below `end` of a row.
  __device__ __forceinline__ static Value Walk(const RowReduceParams& p, const uint8_t* row,
                                               int64_t first, int64_t end, int64_t step) {
    if constexpr (Op::kIndexed) return WalkIndexed(p, row, first, end, step);
    Value value = Op::Identity();
#pragma unroll 1
    for (int64_t at = first; at < end; at += kUnroll * step) {
      Packet<kBytes> raw[kUnroll];
#pragma unroll
      for (int u = 0; u < kUnroll; ++u) {
        const int64_t packet = at + u * step;
        raw[u] = LoadGlobalIf<kBytes>(packet < end, row + Offset(p, packet));
      }
      if (at + (kUnroll - 1) * step < end) {
        // All at once: fewer combinations where these cost more than an element does.
        ComputeType<T> x[kUnroll * kVector];
#pragma unroll
        for (int u = 0; u < kUnroll; ++u) UnpackAt(raw[u], x, u * kVector);
        Op::Add(value, x, at * kVector);
      } else {
#pragma unroll
        for (int u = 0; u < kUnroll; ++u) {
          if (at + u * step < end) {
            ComputeType<T> x[kVector];
            UnpackAny<T>(raw[u], x);
            Op::Add(value, x, (at + u * step) * kVector);
          }
        }
      }
    }
    return value;
  }

 private:
  // Keeps the packet that has the best element, and looks for that in the end: no branch on the
  // way.
  __device__ __forceinline__ static Value WalkIndexed(const RowReduceParams& p, const uint8_t* row,
                                                      int64_t first, int64_t end, int64_t step) {
    Value value = Op::Identity();
    if (first < end) Op::Begin(value, first * kVector);
    float best = value.value;
    Packet<kBytes> kept = {};
    int64_t kept_at = first;
#pragma unroll 1
    for (int64_t at = first; at < end; at += kUnroll * step) {
      Packet<kBytes> raw[kUnroll];
#pragma unroll
      for (int u = 0; u < kUnroll; ++u) {
        const int64_t packet = at + u * step;
        raw[u] = LoadGlobalIf<kBytes>(packet < end, row + Offset(p, packet));
      }
#pragma unroll
      for (int u = 0; u < kUnroll; ++u) {
        float x[kVector];
        UnpackAny<T>(raw[u], x);
        const float peak = Op::Peak(x);
        const bool better = at + u * step < end && !(peak <= best) && best == best;
        best = better ? peak : best;
        kept_at = better ? at + u * step : kept_at;
#pragma unroll
        for (int w = 0; w < Packet<kBytes>::kWords; ++w) {
          kept.words[w] = better ? raw[u].words[w] : kept.words[w];
        }
      }
    }
    if (!(best <= value.value)) {
      float x[kVector];
      UnpackAny<T>(kept, x);
      Op::Add(value, x, kept_at * kVector);
    }
    return value;
  }

  template <int kCount>
  __device__ __forceinline__ static void UnpackAt(const Packet<kBytes>& packet,
                                                  ComputeType<T> (&x)[kCount], int at) {
    ComputeType<T> part[kVector];
    UnpackAny<T>(packet, part);
#pragma unroll
    for (int i = 0; i < kVector; ++i) x[at + i] = part[i];
  }
  __device__ __forceinline__ static int64_t Offset(const RowReduceParams& p, int64_t packet) {
    if constexpr (Config::kDense) return packet * kBytes;
    return StridedOffset(packet, p.inner_rank, p.extent, p.input_stride);
  }
};

template <class Config>
__global__ void __launch_bounds__(Config::kThreads* Config::kRows)
    RowReduceKernel(const __grid_constant__ RowReduceParams p) {
  using Reduction = RowReduction<Config>;
  using Op = typename Config::Op;
  using Value = typename Op::Value;
  __shared__ typename Reduction::Reducer::Storage storage;
  const int group = Config::kRows == 1 ? 0 : threadIdx.x / Config::kThreads;
  const int thread = threadIdx.x % Config::kThreads;
  typename Reduction::Reducer reducer(storage, group, thread);
  reducer.Announce();
  int64_t first = thread;
  int64_t end = p.packets;
#if __CUDA_ARCH__ >= 900
  if constexpr (Config::kCluster > 1) first += ClusterRank() * Config::kThreads;
#endif
  if constexpr (Config::kSplit) {
    first += blockIdx.y * p.split_packets;
    end = Min<int64_t>(end, (blockIdx.y + 1) * p.split_packets);
  }
  WaitForPriorGrids();
  LaunchDependentGrids();
  const int64_t step = static_cast<int64_t>(gridDim.x / Config::kCluster) * Config::kRows;
#pragma unroll 1
  for (int64_t block = static_cast<int64_t>(blockIdx.x / Config::kCluster) * Config::kRows;
       block < p.rows; block += step) {
    const int64_t row = block + group;
    const bool has = row < p.rows;
    const uint8_t* start = static_cast<const uint8_t*>(p.input) +
                           StridedOffset(has ? row : 0, p.row_rank, p.extent + p.inner_rank,
                                         p.input_stride + p.inner_rank);
    Value value =
        Reduction::Walk(p, start, first, has ? end : 0, Config::kThreads * Config::kCluster);
    value = reducer.template Reduce<Op>(value, 0);
    bool writes = thread == 0 && has;
#if __CUDA_ARCH__ >= 900
    if constexpr (Config::kCluster > 1) writes = writes && ClusterRank() == 0;
#endif
    if (writes) {
      if constexpr (Config::kSplit) {
        static_cast<Value*>(p.partials)[blockIdx.y * p.rows + row] = value;
      } else {
        FinishRow<Op, typename Config::Output>(p, row, value);
      }
    }
    // The next row uses the same slots. A cluster takes one row.
    if constexpr (Config::kThreads > kWarpSize && Config::kCluster == 1) CtaBarrier();
  }
}

// The second stage: a result's partials by a group of threads.
template <class Config>
__global__ void __launch_bounds__(Config::kThreads* Config::kRows)
    CombineKernel(const __grid_constant__ RowReduceParams p) {
  using Op = typename Config::Op;
  using Value = typename Op::Value;
  using Reducer = GroupReducer<Value, Config::kThreads, Config::kRows, 1, 1>;
  __shared__ typename Reducer::Storage storage;
  const int group = Config::kRows == 1 ? 0 : threadIdx.x / Config::kThreads;
  const int thread = threadIdx.x % Config::kThreads;
  Reducer reducer(storage, group, thread);
  WaitForPriorGrids();
  const Value* partials = static_cast<const Value*>(p.partials);
#pragma unroll 1
  for (int64_t block = static_cast<int64_t>(blockIdx.x) * Config::kRows; block < p.rows;
       block += static_cast<int64_t>(gridDim.x) * Config::kRows) {
    const int64_t row = block + group;
    Value value = Op::Identity();
    if (row < p.rows) {
#pragma unroll 4
      for (int split = thread; split < p.splits; split += Config::kThreads) {
        value = Op::Combine(value, partials[split * p.rows + row]);
      }
    }
    value = reducer.template Reduce<Op>(value, 0);
    if (thread == 0 && row < p.rows) FinishRow<Op, typename Config::Output>(p, row, value);
    if constexpr (Config::kThreads > kWarpSize) CtaBarrier();
  }
}

}  // namespace tilewright

#endif  // TILEWRIGHT_ROW_ROW_REDUCE_CUH_
