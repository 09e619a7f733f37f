// Norms of rows that are read once and kept in registers, split over the threads of a CTA or of a
// cluster.
//
// Config:
//   Op, Element   see norm_ops.cuh
//   Column        element type of the columns
//   kColumnKind   NormColumns: columns follow the row's elements, or its channels
//   kThreads      threads a row and CTA, a power of two
//   kRows         rows a CTA
//   kPackets      packets a thread
//   kVector       elements a packet; divides a row's dense runs and, in bytes, every address
//   kCluster      CTAs that share a row
//   kRuns         a row is of more than one dense run
//   kEarly        loads inputs past the first, and columns, before the reduction
//   kStages       a CTA takes row after row, which lie in a ring of so many (row_ring.cuh) on their
//                 way; columns that are loaded early stay in registers. 0: a CTA takes its rows
//                 alone
//   kPerSm        CTAs an SM then, else 1
// Capacity: kThreads * kPackets * kVector * kCluster elements.
#ifndef TILEWRIGHT_ROW_NORM_ROW_CUH_
#define TILEWRIGHT_ROW_NORM_ROW_CUH_

#include "device/ldst_if.cuh"
#include "device/strided_offset.cuh"
#include "row/norm_ops.cuh"
#include "row/norm_params.cuh"
#include "row/row_ring.cuh"

namespace tilewright {

template <class Config>
class NormRow {
 public:
  using T = typename Config::Element;
  using Column = typename Config::Column;
  using Op = typename Config::Op;
  static constexpr int kVector = Config::kVector;
  static constexpr int kPackets = Config::kPackets;
  static constexpr int kBytes = kVector * static_cast<int>(sizeof(T));
  static constexpr int kColumns = Op::kColumns;
  static constexpr bool kByElement = Config::kColumnKind == NormColumns::kElement;
  static constexpr bool kByChannel = Config::kColumnKind == NormColumns::kChannel;
  using Reducer =
      GroupReducer<typename Op::Value, Config::kThreads, Config::kRows, Config::kCluster, 2>;
  static_assert(kIsSame<ComputeType<T>, float>);
  static_assert(IsPowerOfTwo(kVector) && kBytes <= 16);
  static_assert(Config::kThreads * Config::kRows <= 1024);
  static_assert(Config::kThreads * Config::kRows % kWarpSize == 0);
  static constexpr bool kStaged = Config::kStages > 0;
  static constexpr int kRowBytes = Config::kThreads * kPackets * kBytes;
  using Ring = RowRing<kStaged ? Config::kStages : 1, Op::kInputs, kRowBytes>;
  static_assert(kByChannel || Op::kFloatColumns == 0);
  static_assert(!kStaged || (kBytes == 16 && Config::kCluster == 1 && Config::kRows == 1));
  static_assert(!kStaged || (Config::kThreads > kWarpSize && !kByChannel && !Config::kRuns));

  __device__ __forceinline__ NormRow(const NormParams& p, int64_t row, int thread, Reducer& reducer)
      : p_(p), reducer_(reducer), thread_(thread) {
    first_ = thread;
#if __CUDA_ARCH__ >= 900
    if constexpr (Config::kCluster > 1) {
      first_ += static_cast<int>(ClusterRank()) * (Config::kThreads * kPackets);
    }
#endif
    Find(row, here_);
  }

  // Where the inputs of a row begin.
  __device__ __forceinline__ void InputsOf(int64_t row,
                                           const uint8_t* (&inputs)[Op::kInputs]) const {
#pragma unroll
    for (int i = 0; i < Op::kInputs; ++i) {
      inputs[i] = static_cast<const uint8_t*>(p_.inputs[i]) +
                  StridedOffset(row, p_.row_rank, p_.extent + p_.inner_rank,
                                p_.input_stride[i] + p_.inner_rank);
    }
  }
  __device__ __forceinline__ float count() const { return p_.count; }
  __device__ __forceinline__ float eps() const { return p_.eps; }
  __device__ __forceinline__ float momentum() const { return p_.momentum; }
  __device__ __forceinline__ float unbias() const { return p_.unbias; }

  // Takes up the row that is next in the ring.
  __device__ __forceinline__ void Take(int64_t row, const Ring& ring) {
    Find(row, here_);
    step_ ^= 1;
    ring.Await();
#pragma unroll
    for (int i = 0; i < Op::kInputs; ++i) {
#pragma unroll
      for (int k = 0; k < kPackets; ++k) {
        raw_[i][k] =
            LoadSharedIf(Has(k), ring.Address(i) +
                                     static_cast<uint32_t>(first_ + k * Config::kThreads) * kBytes);
      }
    }
  }

  __device__ __forceinline__ void Load() {
    if constexpr (!kStaged) LoadInputs<0, Config::kEarly ? Op::kInputs : 1>();
    if constexpr (Config::kEarly) LoadColumns();
  }

  __device__ __forceinline__ void AddResidual() {
    if constexpr (!Config::kEarly && !kStaged) LoadInputs<1, 2>();
#pragma unroll
    for (int k = 0; k < kPackets; ++k) {
      float x[kVector];
      float residual[kVector];
      Unpack<T>(raw_[0][k], x);
      Unpack<T>(raw_[1][k], residual);
#pragma unroll
      for (int i = 0; i < kVector; ++i) x[i] += residual[i];
      raw_[0][k] = Pack<T, kBytes>(x);
      StoreGlobalIf<kBytes>(Has(k), here_.outputs[1] + OutputOffset(1, k), raw_[0][k]);
    }
  }

  // Two passes over this thread's elements, then one exchange.
  __device__ __forceinline__ Moments RowMoments() {
    if constexpr (HasWholeRows<Op>()) return WholeMoments();
    float sum = 0.0f;
    int packets = 0;
#pragma unroll
    for (int k = 0; k < kPackets; ++k) {
      float x[kVector];
      Unpack<T>(raw_[0][k], x);
      float part = x[0];
#pragma unroll
      for (int i = 1; i < kVector; ++i) part += x[i];
      sum += part;  // 0 where there is no packet
      packets += Has(k) ? 1 : 0;
    }
    Moments moments = {sum, 0.0f, static_cast<float>(packets * kVector)};
    const float mean = moments.mean();
#pragma unroll
    for (int k = 0; k < kPackets; ++k) {
      float x[kVector];
      Unpack<T>(raw_[0][k], x);
      float part = 0.0f;
#pragma unroll
      for (int i = 0; i < kVector; ++i) part += (x[i] - mean) * (x[i] - mean);
      moments.squares += Has(k) ? part : 0.0f;
    }
    return reducer_.template Reduce<MomentsOp>(moments, step_);
  }

  template <class Reduction, class F>
  __device__ __forceinline__ typename Reduction::Value Reduce(F f) {
    typename Reduction::Value total = Reduction::Identity();
    if constexpr (!Config::kEarly && !kStaged && Op::kOutputs == 1) LoadInputs<1, Op::kInputs>();
    if constexpr (!Config::kEarly && kByChannel) LoadColumns();
#pragma unroll
    for (int k = 0; k < kPackets; ++k) {
      float x[kVector][Op::kInputs];
      float columns[kVector][kSlots];
      Values(k, x, columns);
      if (Has(k)) {
#pragma unroll
        for (int i = 0; i < kVector; ++i) total = Reduction::Combine(total, f(x[i], columns[i]));
      }
    }
    return reducer_.template Reduce<Reduction>(total, step_);
  }

  template <class F>
  __device__ __forceinline__ void Store(F f) {
    constexpr bool kLoaded = Config::kEarly || kIsSame<typename Op::Value, SumPair>;
    if constexpr (!kLoaded) {
      if constexpr (!kStaged && Op::kOutputs == 1) LoadInputs<1, Op::kInputs>();
      LoadColumns();
    }
#pragma unroll
    for (int k = 0; k < kPackets; ++k) {
      float x[kVector][Op::kInputs];
      float columns[kVector][kSlots];
      Values(k, x, columns);
      float y[kVector];
#pragma unroll
      for (int i = 0; i < kVector; ++i) y[i] = f(x[i], columns[i]);
      StoreGlobalIf<kBytes>(Has(k), here_.outputs[0] + OutputOffset(0, k), Pack<T, kBytes>(y));
    }
  }

  template <class F>
  __device__ __forceinline__ void Result(int i, F f) {
    bool one = here_.valid && thread_ == 0;
#if __CUDA_ARCH__ >= 900
    if constexpr (Config::kCluster > 1) one = one && ClusterRank() == 0;
#endif
    if (!one) return;
    float* result = reinterpret_cast<float*>(static_cast<uint8_t*>(p_.results[i]) +
                                             here_.channel * p_.column_stride[3 + i]);
    *result = f(*result);
  }

 private:
  // RowMoments() of a whole row.
  __device__ __forceinline__ Moments WholeMoments() {
    constexpr float kCount = kPackets * kVector;
    float sum = 0.0f;
    float squares = 0.0f;
#pragma unroll
    for (int k = 0; k < kPackets; ++k) {
      float x[kVector];
      Unpack<T>(raw_[0][k], x);
      float part = x[0];
#pragma unroll
      for (int i = 1; i < kVector; ++i) part += x[i];
      sum += part;
    }
    const float mean = sum * (1.0f / kCount);
#pragma unroll
    for (int k = 0; k < kPackets; ++k) {
      float x[kVector];
      Unpack<T>(raw_[0][k], x);
      float part = 0.0f;
#pragma unroll
      for (int i = 0; i < kVector; ++i) part = Fma(x[i] - mean, x[i] - mean, part);
      squares += part;
    }
    return reducer_.template Reduce<EqualMomentsOp>({sum, squares, 0.5f / kCount}, step_);
  }

  // Where a row is.
  struct Place {
    bool valid;
    int left;  // packets from this thread's first one to the row's end; not positive: none
    int64_t channel;
    const uint8_t* inputs[Op::kInputs];
    uint8_t* outputs[Op::kOutputs];
  };
  __device__ __forceinline__ void Find(int64_t row, Place& place) const {
    place.valid = row < p_.rows;
    place.left = place.valid ? static_cast<int>(p_.packets) - first_ : 0;
    const int64_t at = place.valid ? row : 0;
    const FastDivmod<true>* extent = p_.extent + p_.inner_rank;
    InputsOf(at, place.inputs);
#pragma unroll
    for (int i = 0; i < Op::kOutputs; ++i) {
      place.outputs[i] =
          static_cast<uint8_t*>(p_.outputs[i]) +
          StridedOffset(at, p_.row_rank, extent, p_.output_stride[i] + p_.inner_rank);
    }
    place.channel = 0;
    if constexpr (kByChannel) {  // the first one of the row
      const int64_t runs = p_.packets / static_cast<int64_t>(p_.run.divisor);
      place.channel = Op::kRowIsChannel ? at : at % p_.channel_rows * runs;
    }
  }

  static constexpr int kSlots = kColumns > 0 ? kColumns : 1;
  static constexpr int kColumnBytes = kVector * static_cast<int>(sizeof(Column));

  __device__ __forceinline__ bool Has(int k) const { return here_.left > k * Config::kThreads; }
  __device__ __forceinline__ int64_t PacketOf(int k) const { return first_ + k * Config::kThreads; }
  // Byte offset of a packet in an operand with these strides of its runs and packets.
  __device__ __forceinline__ int64_t OffsetOf(int k, const long long* stride) const {
    if constexpr (!Config::kRuns) return PacketOf(k) * kBytes;
    unsigned long long run;
    unsigned long long at;
    p_.run(static_cast<unsigned long long>(PacketOf(k)), &run, &at);
    return static_cast<int64_t>(run) * stride[1] + static_cast<int64_t>(at) * kBytes;
  }
  __device__ __forceinline__ int64_t OutputOffset(int i, int k) const {
    return OffsetOf(k, p_.output_stride[i]);
  }

  template <int kFirst, int kLast>
  __device__ __forceinline__ void LoadInputs() {
#pragma unroll
    for (int i = kFirst; i < kLast; ++i) {
#pragma unroll
      for (int k = 0; k < kPackets; ++k) {
        raw_[i][k] =
            LoadGlobalIf<kBytes>(Has(k), here_.inputs[i] + OffsetOf(k, p_.input_stride[i]));
      }
    }
  }
  __device__ __forceinline__ void LoadColumns() {
#pragma unroll
    for (int c = 0; c < kColumns; ++c) {
      const uint8_t* base = static_cast<const uint8_t*>(p_.columns[c]);
#pragma unroll
      for (int k = 0; k < kPackets; ++k) {
        if constexpr (kByElement) {
          element_columns_[c][k] =
              LoadGlobalIf<kColumnBytes>(Has(k), base + PacketOf(k) * kColumnBytes);
        } else {
          const uint8_t* at = base + (here_.channel + ChannelIn(k)) * p_.column_stride[c];
          float value[1];
          if (c >= kColumns - Op::kFloatColumns) {
            Unpack<float>(LoadGlobalIf<sizeof(float)>(Has(k), at), value);
          } else {
            Unpack<Column>(LoadGlobalIf<sizeof(Column)>(Has(k), at), value);
          }
          channel_columns_[c][k] = value[0];
        }
      }
    }
  }
  // The channel of a packet within the row; 0 where a row is one channel.
  __device__ __forceinline__ int64_t ChannelIn(int k) const {
    if constexpr (!Config::kRuns) return 0;
    if constexpr (Op::kRowIsChannel) return 0;
    unsigned long long run;
    unsigned long long at;
    p_.run(static_cast<unsigned long long>(PacketOf(k)), &run, &at);
    return Has(k) ? static_cast<int64_t>(run) : 0;
  }
  __device__ __forceinline__ void Values(int k, float (&x)[kVector][Op::kInputs],
                                         float (&columns)[kVector][kSlots]) const {
#pragma unroll
    for (int i = 0; i < Op::kInputs; ++i) {
      float values[kVector];
      Unpack<T>(raw_[i][k], values);
#pragma unroll
      for (int v = 0; v < kVector; ++v) x[v][i] = values[v];
    }
#pragma unroll
    for (int c = 0; c < kColumns; ++c) {
      float values[kVector];
      if constexpr (kByElement) Unpack<Column>(element_columns_[c][k], values);
#pragma unroll
      for (int v = 0; v < kVector; ++v) {
        columns[v][c] = kByElement ? values[v] : channel_columns_[c][k];
      }
    }
  }

  const NormParams& p_;
  Reducer& reducer_;
  int thread_;
  int first_;
  int step_ = 0;
  Place here_;
  Packet<kBytes> raw_[Op::kInputs][kPackets];
  Packet<(kColumnBytes > 16 ? 16 : kColumnBytes)> element_columns_[kSlots][kPackets];
  float channel_columns_[kSlots][kPackets];
};

template <class Config>
__global__ void __launch_bounds__(Config::kThreads* Config::kRows,
                                  (Config::kStages > 0 ? Config::kPerSm : 0))
    NormRowKernel(const __grid_constant__ NormParams p) {
  using Row = NormRow<Config>;
  __shared__ typename Row::Reducer::Storage storage;
  const int group = Config::kRows == 1 ? 0 : threadIdx.x / Config::kThreads;
  const int thread = threadIdx.x % Config::kThreads;
  typename Row::Reducer reducer(storage, group, thread);
  reducer.Announce();
  const int64_t block = static_cast<int64_t>(blockIdx.x / Config::kCluster) * Config::kRows;
  Row row(p, block + group, thread, reducer);
  if constexpr (Config::kStages == 0) {
    WaitForPriorGrids();
    row.Load();
    Config::Op::Run(row);
  } else {
    extern __shared__ __align__(128) uint8_t rows[];
    __shared__ typename Row::Ring::Storage barriers;
    typename Row::Ring ring(barriers, rows);
    if (threadIdx.x == 0) ring.Init();
    CtaBarrier();
    WaitForPriorGrids();
    WalkRing(
        ring, p.rows, static_cast<uint32_t>(p.packets) * Row::kBytes,
        [&](int64_t at, typename Row::Ring::Inputs& inputs) { row.InputsOf(at, inputs); },
        [&] { row.Load(); },
        [&](int64_t at) {
          row.Take(at, ring);
          Config::Op::Run(row);
        });
  }
}

}  // namespace tilewright

#endif  // TILEWRIGHT_ROW_NORM_ROW_CUH_
