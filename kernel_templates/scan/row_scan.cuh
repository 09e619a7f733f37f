// Scans of rows: each is read once, tile by tile, and scanned in registers, then over the warps of
// a CTA or a cluster. A row may be cut into chunks, a CTA each, once their totals are known.
//
// Config:
//   Op, Element   see scan_ops.cuh
//   kWarps        warps a row
//   kRows         rows a CTA
//   kPackets      packets a thread keeps
//   kVector       elements a packet; divides the row's length and, in bytes, its addresses
//   kCluster      CTAs that share a row
//   kLoop         rows, or chunks, of more than one tile; else a tile holds the row
//   kRowDims      rows are numbered over more than one dim
//   kStrided      elements of a row lie apart; kVector is 1
// A tile has 32 * kWarps * kPackets * kVector * kCluster elements.
#ifndef TILEWRIGHT_SCAN_ROW_SCAN_CUH_
#define TILEWRIGHT_SCAN_ROW_SCAN_CUH_

#include "device/cluster.cuh"
#include "device/ldst_if.cuh"
#include "scan/params.cuh"
#include "scan/scan_ops.cuh"

namespace tilewright {

template <class Config>
class RowScan {
 public:
  using Op = typename Config::Op;
  using Value = typename Op::Value;
  using T = typename Config::Element;
  static constexpr int kVector = Config::kVector;
  static constexpr int kPackets = Config::kPackets;
  static constexpr int kWarps = Config::kWarps;
  static constexpr int kBytes = kVector * static_cast<int>(sizeof(T));
  static constexpr int kStep = kWarpSize * kVector;  // elements between a thread's packets
  static constexpr int kCtaTile = kStep * kPackets * kWarps;
  static constexpr int kTile = kCtaTile * Config::kCluster;
  static_assert(kIsSame<ComputeType<T>, float>);
  static_assert(IsPowerOfTwo(kVector) && kBytes <= 16 && (kVector == 1 || !Config::kStrided));
  static_assert(IsPowerOfTwo(kWarps) && kWarps * Config::kRows <= 32);
  static_assert(Config::kCluster == 1 || (!Config::kLoop && Config::kRows == 1));

  // Two of each, so that one barrier a tile is enough.
  struct Storage {
    Value warps[2][Config::kRows][kWarps];
    Value ctas[Config::kCluster];
  };

  // The grid has `chunks` chunks of each row.
  __device__ __forceinline__ RowScan(const RowScanParams& p, Storage& storage, unsigned chunks)
      : p_(p), storage_(storage), lane_(static_cast<int>(LaneId())) {
    const int warp = threadIdx.x / kWarpSize;
    warp_ = warp % kWarps;
    group_ = warp / kWarps;
    unsigned block = blockIdx.x / Config::kCluster;
    if constexpr (Config::kLoop) {
      chunk_ = block % chunks;
      block /= chunks;
    }
    row_ = static_cast<int64_t>(block) * Config::kRows + group_;
  }

  __device__ __forceinline__ void Run() {
    FindRow();
    Value carry = Op::Identity();
    if constexpr (Config::kLoop) {
      if (chunk_ > 0) carry = TotalOfChunks(chunk_);
      int buffer = 0;
      Load(raw_);
      while (true) {
        const bool more = left_ > kTile;
        Packet<kBytes> next[kPackets];
        uint8_t* output = output_;
        const int64_t left = left_;
        Advance(kTile);
        if (more) Load(next);
        carry = Op::Carry(Scan(carry, output, left, buffer));
        if (!more) break;
        buffer ^= 1;
#pragma unroll
        for (int k = 0; k < kPackets; ++k) raw_[k] = next[k];
      }
    } else {
      Load(raw_);
      Scan(carry, output_, left_, 0);
    }
  }

  // Writes the total of this CTA's chunk.
  __device__ __forceinline__ void RunTotal() {
    FindRow();
    Value total = Op::Identity();
    for (; left_ > 0; Advance(kTile)) {
      Load(raw_);
#pragma unroll
      for (int k = 0; k < kPackets; ++k) {
        float x[kVector];
        Unpack<T>(raw_[k], x);
#pragma unroll
        for (int i = 0; i < kVector; ++i) total = Op::Append(total, x[i]);
      }
      total = Op::Carry(total);
    }
    total = WarpTotal<Op>(total);
    if (lane_ == 0) storage_.warps[0][group_][warp_] = total;
    CtaBarrier();
    if (warp_ == 0 && lane_ == 0 && row_ < p_.rows) {
      total = storage_.warps[0][group_][0];
      for (int w = 1; w < kWarps; ++w) total = Op::Combine(total, storage_.warps[0][group_][w]);
      static_cast<Value*>(p_.totals)[row_ * (p_.chunks - 1) + chunk_] = Op::Carry(total);
    }
  }

 private:
  // Sets the pointers to this thread's first packet and `left_`, the elements from the tile's start
  // to the end of the row or chunk. The number of tiles is the same for every row of the CTA.
  __device__ __forceinline__ void FindRow() {
    const bool exists = row_ < p_.rows;
    unsigned long long rest = static_cast<unsigned long long>(exists ? row_ : 0);
    int64_t input = 0;
    int64_t output = 0;
    if constexpr (Config::kRowDims) {
#pragma unroll 1
      for (int d = 0; d < p_.row_rank; ++d) {
        unsigned long long at = rest;
        if (d < p_.row_rank - 1) p_.extent[d](rest, &rest, &at);
        input += static_cast<int64_t>(at) * p_.input_stride[d];
        output += static_cast<int64_t>(at) * p_.output_stride[d];
      }
    } else {
      input = static_cast<int64_t>(rest) * p_.input_stride[0];
      output = static_cast<int64_t>(rest) * p_.output_stride[0];
    }
    first_ = (warp_ * kPackets * kWarpSize + lane_) * kVector;
#if __CUDA_ARCH__ >= 900
    if constexpr (Config::kCluster > 1) first_ += static_cast<int>(ClusterRank()) * kCtaTile;
#endif
    int64_t start = 0;
    left_ = p_.length;
    if constexpr (Config::kLoop) {
      start = chunk_ * p_.chunk;
      left_ = Min(p_.length - start, static_cast<int64_t>(p_.chunk));
    }
    exists_ = exists;
    input_ = static_cast<const uint8_t*>(p_.input) + input + (start + first_) * InputStep();
    output_ = static_cast<uint8_t*>(p_.output) + output + (start + first_) * OutputStep();
  }
  __device__ __forceinline__ int64_t InputStep() const {
    return Config::kStrided ? p_.input_step : static_cast<int64_t>(sizeof(T));
  }
  __device__ __forceinline__ int64_t OutputStep() const {
    return Config::kStrided ? p_.output_step : static_cast<int64_t>(sizeof(T));
  }
  __device__ __forceinline__ void Advance(int elements) {
    input_ += elements * InputStep();
    output_ += elements * OutputStep();
    left_ -= elements;
  }
  __device__ __forceinline__ bool Has(int64_t left, int k) const {
    return exists_ && left > first_ + k * kStep;
  }
  __device__ __forceinline__ void Load(Packet<kBytes> (&raw)[kPackets]) const {
#pragma unroll
    for (int k = 0; k < kPackets; ++k) {
      raw[k] = LoadGlobalIf<kBytes>(Has(left_, k), input_ + k * kStep * InputStep());
    }
  }

  // Scans the tile in raw_ and stores it. Returns the prefix after the tile.
  __device__ __forceinline__ Value Scan(Value carry, uint8_t* output, int64_t left, int buffer) {
    Value values[kPackets][kVector];
    Value before[kPackets];  // of this warp's elements before the packet
    Value total = Op::Identity();
#pragma unroll
    for (int k = 0; k < kPackets; ++k) {
      float x[kVector];
      Unpack<T>(raw_[k], x);
      Op::Prefixes(x, values[k]);
      const Value inclusive = WarpScan<Op>(Op::Settle(values[k][kVector - 1]), lane_);
      const Value lower = ShuffleUp(inclusive, 1);
      before[k] = lane_ > 0 ? Op::Combine(total, lower) : total;
      total = Op::Combine(total, ShuffleIndex(inclusive, kWarpSize - 1));
    }
    Value start = carry;
    if constexpr (kWarps > 1) start = Op::Combine(carry, BeforeWarp(buffer, total));
#if __CUDA_ARCH__ >= 900
    if constexpr (Config::kCluster > 1) start = Op::Combine(BeforeCta(total), start);
#endif
#pragma unroll
    for (int k = 0; k < kPackets; ++k) {
      const Value prefix = Op::Combine(start, before[k]);
      float y[kVector];
#pragma unroll
      for (int i = 0; i < kVector; ++i) y[i] = Op::Result(prefix, values[k][i]);
      StoreGlobalIf<kBytes>(Has(left, k), output + k * kStep * OutputStep(), Pack<T, kBytes>(y));
    }
    return Op::Combine(carry, total);
  }

  // The total of the row's warps before this one; `total` becomes that of the CTA. One barrier.
  __device__ __forceinline__ Value BeforeWarp(int buffer, Value& total) {
    Value* slots = storage_.warps[buffer][group_];
    if (lane_ == 0) slots[warp_] = total;
    CtaBarrier();
    const Value inclusive = WarpScan<Op, kWarps>(slots[lane_ % kWarps], lane_);
    const Value lower = ShuffleIndex(inclusive, warp_ > 0 ? warp_ - 1 : 0);
    total = ShuffleIndex(inclusive, kWarps - 1);
    return warp_ > 0 ? lower : Op::Identity();
  }

#if __CUDA_ARCH__ >= 900
  // The total of the CTAs before this one. Each pushes its own to those after it; then nobody
  // touches another's memory, so that a CTA may exit.
  __device__ __forceinline__ Value BeforeCta(Value total) {
    const unsigned rank = ClusterRank();
    ClusterWait();  // every CTA runs
    if (threadIdx.x < Config::kCluster && threadIdx.x > rank) {
      const uint32_t address = MapToRank(SharedAddress(&storage_.ctas[rank]), threadIdx.x);
      uint32_t offset = 0;
      MapWords(total, [&](uint32_t word) {
        StoreCluster(address + offset, word);
        offset += 4;
        return word;
      });
    }
    ClusterArrive();
    ClusterWait();
    Value before = Op::Identity();
#pragma unroll 1
    for (unsigned r = 0; r < rank; ++r) before = Op::Combine(before, storage_.ctas[r]);
    return before;
  }
#endif

  // The total of the row's first `count` chunks, in an order that depends on `count` alone.
  __device__ __forceinline__ Value TotalOfChunks(int64_t count) const {
    const Value* totals = static_cast<const Value*>(p_.totals);
    totals += (exists_ ? row_ : 0) * static_cast<int64_t>(p_.chunks - 1);
    Value total = Op::Identity();
#pragma unroll 4
    for (int64_t c = lane_; c < count; c += kWarpSize) total = Op::Combine(total, totals[c]);
    return Op::Carry(WarpTotal<Op>(total));
  }

  const RowScanParams& p_;
  Storage& storage_;
  int lane_;
  int warp_;   // of the row's
  int group_;  // row of the CTA's
  int64_t row_;
  int64_t chunk_ = 0;
  bool exists_;
  int first_;  // this thread's first element of a tile
  int64_t left_;
  const uint8_t* input_;
  uint8_t* output_;
  Packet<kBytes> raw_[kPackets];
};

template <class Config>
__global__ void __launch_bounds__(Config::kWarps* Config::kRows* kWarpSize)
    RowScanKernel(const __grid_constant__ RowScanParams p) {
  __shared__ typename RowScan<Config>::Storage storage;
#if __CUDA_ARCH__ >= 900
  if constexpr (Config::kCluster > 1) ClusterArriveRelaxed();
#endif
  WaitForPriorGrids();
  RowScan<Config>(p, storage, p.chunks).Run();
}

// The totals of every chunk of a row but its last.
template <class Config>
__global__ void __launch_bounds__(Config::kWarps* Config::kRows* kWarpSize)
    RowTotalKernel(const __grid_constant__ RowScanParams p) {
  __shared__ typename RowScan<Config>::Storage storage;
  WaitForPriorGrids();
  RowScan<Config>(p, storage, p.chunks - 1).RunTotal();
}

}  // namespace tilewright

#endif  // TILEWRIGHT_SCAN_ROW_SCAN_CUH_
