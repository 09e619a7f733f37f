// Row operators on contiguous rows that are read once and kept in registers, split over the threads
// of a CTA or of a cluster.
//
// Config:
//   Op, Element        see row_ops.cuh
//   kThreads           threads a row and CTA, a power of two
//   kRows              rows a CTA
//   kPackets           packets a thread
//   kVector            elements a packet; divides the row's length and, in bytes, its addresses
//   kCluster           CTAs that share a row
//   kRowDims           rows are numbered over more than one dim
//   kEarlyColumns      columns are loaded before the reduction
//   kStreaming         rows are loaded and stored evict-first
//   kStages            a CTA takes row after row, which lie in a ring of so many (row_ring.cuh) on
//                      their way; columns that are loaded early stay in registers. 0: a CTA takes
//                      its rows alone
//   kPerSm             CTAs an SM then, else 1
// Capacity: kThreads * kPackets * kVector * kCluster elements.
#ifndef TILEWRIGHT_ROW_RESIDENT_ROW_CUH_
#define TILEWRIGHT_ROW_RESIDENT_ROW_CUH_

#include "device/ldst_if.cuh"
#include "row/params.cuh"
#include "row/row_ops.cuh"
#include "row/row_ring.cuh"

namespace tilewright {

template <class Config>
struct ResidentRowTraits {
  using T = typename Config::Element;
  using Op = typename Config::Op;
  static constexpr int kBytes = Config::kVector * static_cast<int>(sizeof(T));
  static constexpr CacheHint kHint =
      Config::kStreaming ? CacheHint::kStreaming : CacheHint::kDefault;
  static constexpr bool kStaged = Config::kStages > 0;
  using Reducer = GroupReducer<typename Op::Value, Config::kThreads, Config::kRows,
                               Config::kCluster, (kStaged ? 2 : Op::kSteps)>;
  using Ring =
      RowRing<(kStaged ? Config::kStages : 1), 1, Config::kThreads * Config::kPackets * kBytes>;
  static_assert(Config::kStages == 0 || (kBytes == 16 && Config::kCluster == 1 && Op::kSteps == 1));
  static_assert(Config::kStages == 0 || (Config::kRows == 1 && Config::kThreads > kWarpSize));
  static_assert(kIsSame<ComputeType<T>, float>);
  static_assert(IsPowerOfTwo(Config::kVector) && kBytes <= 16);
  static_assert(Config::kThreads * Config::kRows <= 1024);
  static_assert(Config::kThreads * Config::kRows % kWarpSize == 0);
};

// Byte offsets of a row's start in the input and the output.
struct RowOffsets {
  int64_t input;
  int64_t output;
};
template <bool kRowDims>
__device__ __forceinline__ RowOffsets OffsetsOfRow(const RowParams& p, int64_t row) {
  if constexpr (!kRowDims) return {row * p.input_stride[0], row * p.output_stride[0]};
  unsigned long long rest = static_cast<unsigned long long>(row);
  RowOffsets offsets = {0, 0};
#pragma unroll 1
  for (int d = 0; d < p.row_rank; ++d) {
    unsigned long long at = rest;
    if (d < p.row_rank - 1) p.extent[d](rest, &rest, &at);
    offsets.input += static_cast<int64_t>(at) * p.input_stride[d];
    offsets.output += static_cast<int64_t>(at) * p.output_stride[d];
  }
  return offsets;
}

template <class Config>
class ResidentRow {
 public:
  using Traits = ResidentRowTraits<Config>;
  using T = typename Traits::T;
  using Op = typename Traits::Op;
  static constexpr int kVector = Config::kVector;
  static constexpr int kPackets = Config::kPackets;
  static constexpr int kBytes = Traits::kBytes;

  __device__ __forceinline__ ResidentRow(const RowParams& p, int64_t row, int thread,
                                         typename Traits::Reducer& reducer)
      : p_(p), reducer_(reducer) {
    unsigned first = static_cast<unsigned>(thread);
#if __CUDA_ARCH__ >= 900
    if constexpr (Config::kCluster > 1) first += ClusterRank() * (Config::kThreads * kPackets);
#endif
    left_ = row < p.rows ? static_cast<int>(p.length) - static_cast<int>(first * kVector) : 0;
    column_offset_ = static_cast<int64_t>(first) * kBytes;
    Find(row < p.rows ? row : 0);
  }

  __device__ __forceinline__ unsigned length() const { return p_.length; }

  __device__ __forceinline__ void Load() {
#pragma unroll
    for (int k = 0; k < kPackets; ++k) {
      raw_[k] = LoadGlobalIf<kBytes, Traits::kHint>(Has(k), input_ + k * kStep);
    }
  }
  __device__ __forceinline__ void LoadEarlyColumns() {
    if constexpr (Op::kColumns > 0 && Config::kEarlyColumns) {
#pragma unroll
      for (int k = 0; k < kPackets; ++k) LoadColumns(k, columns_[k]);
    }
  }
  // Takes up the row that is next in the ring.
  __device__ __forceinline__ void Take(int64_t row, const typename Traits::Ring& ring) {
    Find(row);
    step_ &= 1;
    ring.Await();
#pragma unroll
    for (int k = 0; k < kPackets; ++k) {
      raw_[k] =
          LoadSharedIf(Has(k), ring.Address(0) + static_cast<uint32_t>(column_offset_) + k * kStep);
    }
  }

  template <class Reduction, class F>
  __device__ __forceinline__ float Reduce(F f) {
    float total = Reduction::Identity();
#pragma unroll
    for (int k = 0; k < kPackets; ++k) {
      float x[kVector];
      Unpack<T>(raw_[k], x);
      float part = f(x[0]);
#pragma unroll
      for (int i = 1; i < kVector; ++i) part = Reduction::Combine(part, f(x[i]));
      total = Reduction::Combine(total, Has(k) ? part : Reduction::Identity());
    }
    return reducer_.template Reduce<Reduction>(total, step_++);
  }

  // Keeps each exponential under the thread's own maximum, so that one exchange is enough.
  __device__ __forceinline__ MaxSum ReduceExp() {
    thread_max_ = MaxOp::Identity();
#pragma unroll
    for (int k = 0; k < kPackets; ++k) {
      Unpack<T>(raw_[k], kept_[k]);
      float part = kept_[k][0];
#pragma unroll
      for (int i = 1; i < kVector; ++i) part = MaxNumber(part, kept_[k][i]);
      thread_max_ = MaxNumber(thread_max_, Has(k) ? part : MaxOp::Identity());
    }
    // With nothing but -inf (or NaN) here, subtracting 0 gives the sum 0 (or NaN).
    const float shift = thread_max_ == MaxOp::Identity() ? 0.0f : thread_max_;
    float sum = 0.0f;
#pragma unroll
    for (int k = 0; k < kPackets; ++k) {
      float part = 0.0f;
#pragma unroll
      for (int i = 0; i < kVector; ++i) {
        kept_[k][i] = Exp2((kept_[k][i] - shift) * kLog2e);
        part += kept_[k][i];
      }
      sum += Has(k) ? part : 0.0f;
    }
    return reducer_.template Reduce<MaxSumOp>(MaxSum{thread_max_, sum}, step_++);
  }

  template <class F>
  __device__ __forceinline__ void Store(F f) {
#pragma unroll
    for (int k = 0; k < kPackets; ++k) {
      float x[kVector];
      Unpack<T>(raw_[k], x);
      if constexpr (!Config::kEarlyColumns) LoadColumns(k, columns_[k]);
      float columns[kVector][kColumnSlots];
      UnpackColumns(columns_[k], columns);
#pragma unroll
      for (int i = 0; i < kVector; ++i) x[i] = f(x[i], columns[i]);
      StorePacket(k, x);
    }
  }

  __device__ __forceinline__ void StoreExp(float max, float scale) {
    const float factor = (thread_max_ == max ? 1.0f : Exp2((thread_max_ - max) * kLog2e)) * scale;
#pragma unroll
    for (int k = 0; k < kPackets; ++k) {
#pragma unroll
      for (int i = 0; i < kVector; ++i) kept_[k][i] *= factor;
      StorePacket(k, kept_[k]);
    }
  }

 private:
  static constexpr int kColumnSlots = Op::kColumns > 0 ? Op::kColumns : 1;
  struct Columns {
    Packet<kBytes> packet[kColumnSlots];
  };

  static constexpr int kStep = Config::kThreads * kBytes;  // bytes between a thread's packets

  __device__ __forceinline__ void Find(int64_t row) {
    const RowOffsets offsets = OffsetsOfRow<Config::kRowDims>(p_, row);
    input_ = static_cast<const uint8_t*>(p_.input) + (offsets.input + column_offset_);
    output_ = static_cast<uint8_t*>(p_.output) + (offsets.output + column_offset_);
  }

  __device__ __forceinline__ bool Has(int k) const {
    return left_ > k * Config::kThreads * kVector;
  }

  __device__ __forceinline__ void LoadColumns(int k, Columns& columns) const {
#pragma unroll
    for (int c = 0; c < Op::kColumns; ++c) {
      columns.packet[c] = LoadGlobalIf<kBytes>(
          Has(k), static_cast<const uint8_t*>(p_.columns[c]) + column_offset_ + k * kStep);
    }
  }
  __device__ __forceinline__ static void UnpackColumns(const Columns& columns,
                                                       float (&values)[kVector][kColumnSlots]) {
#pragma unroll
    for (int c = 0; c < Op::kColumns; ++c) {
      float x[kVector];
      Unpack<T>(columns.packet[c], x);
#pragma unroll
      for (int i = 0; i < kVector; ++i) values[i][c] = x[i];
    }
  }
  __device__ __forceinline__ void StorePacket(int k, const float (&x)[kVector]) const {
    StoreGlobalIf<kBytes, Traits::kHint>(Has(k), output_ + k * kStep, Pack<T, kBytes>(x));
  }

  const RowParams& p_;
  typename Traits::Reducer& reducer_;
  int left_;  // elements from this thread's first one to the row's end; not positive: none
  int64_t column_offset_;
  int step_ = 0;
  const uint8_t* input_;
  uint8_t* output_;
  float thread_max_ = 0.0f;
  Packet<kBytes> raw_[kPackets];
  Columns columns_[kPackets];
  float kept_[kPackets][kVector];
};

template <class Config>
__global__ void __launch_bounds__(Config::kThreads* Config::kRows,
                                  (Config::kStages > 0 ? Config::kPerSm : 0))
    ResidentRowKernel(const __grid_constant__ RowParams p) {
  using Traits = ResidentRowTraits<Config>;
  __shared__ typename Traits::Reducer::Storage storage;
  const int group = Config::kRows == 1 ? 0 : threadIdx.x / Config::kThreads;
  const int thread = threadIdx.x % Config::kThreads;
  typename Traits::Reducer reducer(storage, group, thread);
  reducer.Announce();
  const int64_t row = static_cast<int64_t>(blockIdx.x / Config::kCluster) * Config::kRows + group;
  if constexpr (Config::kStages == 0) {
    WaitForPriorGrids();
    ResidentRow<Config> resident(p, row, thread, reducer);
    resident.Load();
    resident.LoadEarlyColumns();
    Config::Op::Run(resident, p.scalars);
  } else {
    extern __shared__ __align__(128) uint8_t rows[];
    __shared__ typename Traits::Ring::Storage barriers;
    typename Traits::Ring ring(barriers, rows);
    if (threadIdx.x == 0) ring.Init();
    CtaBarrier();
    WaitForPriorGrids();
    ResidentRow<Config> resident(p, row, thread, reducer);
    WalkRing(
        ring, p.rows, p.length * static_cast<uint32_t>(sizeof(typename Config::Element)),
        [&](int64_t at, typename Traits::Ring::Inputs& inputs) {
          inputs[0] =
              static_cast<const uint8_t*>(p.input) + OffsetsOfRow<Config::kRowDims>(p, at).input;
        },
        [&] { resident.LoadEarlyColumns(); },
        [&](int64_t at) {
          resident.Take(at, ring);
          Config::Op::Run(resident, p.scalars);
        });
  }
}

}  // namespace tilewright

#endif  // TILEWRIGHT_ROW_RESIDENT_ROW_CUH_
