// Reductions along strided axes beside a dense one: lanes lie along the dense axis, warps along the
// others.
//
// Config:
//   Op, Element, Output   see reduce_ops.cuh
//   kWarps                warps of a CTA, which share its 32 * kVector results; a power of two
//   kGroups               blocks of results a CTA takes at once; 1 unless kWarps is
//   kUnroll               packets a thread loads at a time
//   kVector               elements a packet; divides the dense extent and, in bytes, every address
//   kDims                 a result's elements lie over more than one dim
//   kDenseOutput          results lie beside each other, aligned to kVector of them
//   kSplit                grid.y CTAs share a result and leave partials for CombineKernel
#ifndef TILEWRIGHT_ROW_COLUMN_REDUCE_CUH_
#define TILEWRIGHT_ROW_COLUMN_REDUCE_CUH_

#include "row/row_reduce.cuh"

namespace tilewright {

template <class Config>
class ColumnReduction {
 public:
  using T = typename Config::Element;
  using C = ComputeType<T>;
  using Op = typename Config::Op;
  using Value = typename Op::Value;
  static constexpr int kVector = Config::kVector;
  static constexpr int kUnroll = Config::kUnroll;
  static constexpr int kWarps = Config::kWarps;
  static constexpr int kBytes = kVector * static_cast<int>(sizeof(T));
  static_assert(IsPowerOfTwo(kVector) && kBytes <= 16 && IsPowerOfTwo(kWarps) && kWarps <= 32);
  static_assert(Config::kGroups == 1 || kWarps == 1);

  struct Storage {
    Value slots[kWarps][kVector][kWarpSize];
  };

  // Elements first, first + kWarps, ... below `end` of each result of a packet.
  __device__ __forceinline__ static void Walk(const ColumnReduceParams& p, const uint8_t* start,
                                              int64_t first, int64_t end, Value (&value)[kVector]) {
#pragma unroll
    for (int i = 0; i < kVector; ++i) {
      value[i] = Op::Identity();
      if constexpr (Op::kIndexed) {
        if (first < end) Op::Begin(value[i], first);
      }
    }
    int64_t at = first;
#pragma unroll 1
    for (; at + (kUnroll - 1) * kWarps < end; at += kUnroll * kWarps) {
      C x[kUnroll][kVector];
      Packet<kBytes> raw[kUnroll];
#pragma unroll
      for (int u = 0; u < kUnroll; ++u) {
        raw[u] = LoadGlobal<kBytes>(start + Offset(p, at + u * kWarps));
      }
#pragma unroll
      for (int u = 0; u < kUnroll; ++u) UnpackAny<T>(raw[u], x[u]);
#pragma unroll
      for (int i = 0; i < kVector; ++i) AddColumn(x, i, at, value[i]);
    }
#pragma unroll 1
    for (; at < end; at += kWarps) {
      C x[kVector];
      UnpackAny<T>(LoadGlobal<kBytes>(start + Offset(p, at)), x);
#pragma unroll
      for (int i = 0; i < kVector; ++i) {
        const C one[1] = {x[i]};
        Op::Add(value[i], one, at);
      }
    }
  }

 private:
  __device__ __forceinline__ static int64_t Offset(const ColumnReduceParams& p, int64_t at) {
    if constexpr (!Config::kDims) return at * p.input_stride[0];
    return StridedOffset(at, p.axis_rank, p.extent, p.input_stride);
  }
  __device__ __forceinline__ static void AddColumn(const C (&x)[kUnroll][kVector], int i,
                                                   int64_t at, Value& value) {
    if constexpr (Op::kIndexed) {
#pragma unroll
      for (int u = 0; u < kUnroll; ++u) {
        const C one[1] = {x[u][i]};
        Op::Add(value, one, at + u * kWarps);
      }
    } else {
      C column[kUnroll];
#pragma unroll
      for (int u = 0; u < kUnroll; ++u) column[u] = x[u][i];
      Op::Add(value, column, at);
    }
  }
};

// Where results go: outputs, or partials.
template <class Config>
__device__ __forceinline__ void StoreColumn(const ColumnReduceParams& p, int64_t outer,
                                            int64_t column,
                                            const typename Config::Op::Value& value) {
  using Op = typename Config::Op;
  if constexpr (Config::kSplit) {
    const int64_t row = outer * (p.inner * Config::kVector) + column;
    const int64_t rows = p.outer * (p.inner * Config::kVector);
    static_cast<typename Op::Value*>(p.partials)[blockIdx.y * rows + row] = value;
  } else {
    int64_t offsets[Op::kOutputs];
#pragma unroll
    for (int i = 0; i < Op::kOutputs; ++i) {
      offsets[i] = column * p.inner_output_stride[i] +
                   StridedOffset(outer, p.outer_rank, p.extent + p.axis_rank, p.output_stride[i]);
    }
    FinishTo<Op, typename Config::Output>(p.outputs, offsets, value, p.scalars);
  }
}

// The results of a packet: in wide stores where they are dense.
template <class Config>
__device__ __forceinline__ void StoreColumns(
    const ColumnReduceParams& p, int64_t outer, int64_t column,
    const typename Config::Op::Value (&value)[Config::kVector]) {
  using Op = typename Config::Op;
  using Output = typename Config::Output;
  constexpr int kBytes = Config::kVector * static_cast<int>(sizeof(Output));
  constexpr int kStore = kBytes < 16 ? kBytes : 16;
  if constexpr (!Config::kSplit && Config::kDenseOutput && Op::kOutputs == 1) {
    constexpr int kEach = kStore / static_cast<int>(sizeof(Output));
    uint8_t* to = static_cast<uint8_t*>(p.outputs[0]) +
                  (column * static_cast<int64_t>(sizeof(Output)) +
                   StridedOffset(outer, p.outer_rank, p.extent + p.axis_rank, p.output_stride[0]));
#pragma unroll
    for (int from = 0; from < Config::kVector; from += kEach) {
      ComputeType<Output> y[kEach];
#pragma unroll
      for (int i = 0; i < kEach; ++i) {
        ComputeType<Output> one[1];
        Op::Finish(value[from + i], p.scalars, one);
        y[i] = one[0];
      }
      StoreGlobal<kStore>(to + from * static_cast<int>(sizeof(Output)), Pack<Output, kStore>(y));
    }
  } else {
#pragma unroll
    for (int i = 0; i < Config::kVector; ++i) {
      StoreColumn<Config>(p, outer, column + i, value[i]);
    }
  }
}

template <class Config>
__global__ void __launch_bounds__(Config::kWarps* Config::kGroups* kWarpSize)
    ColumnReduceKernel(const __grid_constant__ ColumnReduceParams p) {
  using Reduction = ColumnReduction<Config>;
  using Op = typename Config::Op;
  using Value = typename Op::Value;
  constexpr int kVector = Config::kVector;
  constexpr int kWarps = Config::kWarps;
  __shared__ typename Reduction::Storage storage;
  const int warp = Config::kGroups > 1 ? 0 : threadIdx.x / kWarpSize;
  const int group = Config::kGroups > 1 ? threadIdx.x / kWarpSize : 0;
  const int lane = threadIdx.x % kWarpSize;
  int64_t first = warp;
  int64_t end = p.length;
  if constexpr (Config::kSplit) {
    first += blockIdx.y * p.split_length;
    end = Min<int64_t>(end, (blockIdx.y + 1) * p.split_length);
  }
  const int64_t blocks = p.outer * static_cast<int64_t>(p.inner_blocks.divisor);
  WaitForPriorGrids();
  LaunchDependentGrids();
#pragma unroll 1
  for (int64_t block = static_cast<int64_t>(blockIdx.x) * Config::kGroups + group; block < blocks;
       block += static_cast<int64_t>(gridDim.x) * Config::kGroups) {
    unsigned long long outer;
    unsigned long long inner;
    p.inner_blocks(static_cast<unsigned long long>(block), &outer, &inner);
    const int64_t packet = static_cast<int64_t>(inner) * kWarpSize + lane;
    const bool has = packet < p.inner;
    const uint8_t* start = static_cast<const uint8_t*>(p.input) + packet * Reduction::kBytes +
                           StridedOffset(static_cast<int64_t>(outer), p.outer_rank,
                                         p.extent + p.axis_rank, p.input_stride + p.axis_rank);
    Value value[kVector];
    Reduction::Walk(p, start, first, has ? end : 0, value);
    if constexpr (kWarps > 1) {
#pragma unroll
      for (int i = 0; i < kVector; ++i) storage.slots[warp][i][lane] = value[i];
      CtaBarrier();
#pragma unroll 1
      for (int i = warp; i < kVector; i += kWarps) {
        Value total = storage.slots[0][i][lane];
#pragma unroll 1
        for (int w = 1; w < kWarps; ++w) total = Op::Combine(total, storage.slots[w][i][lane]);
        if (has) StoreColumn<Config>(p, static_cast<int64_t>(outer), packet * kVector + i, total);
      }
      CtaBarrier();  // the next block uses the same slots
    } else if (has) {
      StoreColumns<Config>(p, static_cast<int64_t>(outer), packet * kVector, value);
    }
  }
}

}  // namespace tilewright

#endif  // TILEWRIGHT_ROW_COLUMN_REDUCE_CUH_
