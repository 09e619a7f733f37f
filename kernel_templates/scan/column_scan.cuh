// Scans along a strided axis of [outer, length, inner] with inner contiguous: lanes lie along
// inner, warps along the axis, which is read once, tile by tile. An axis may be cut into chunks, a
// CTA each, once their totals are known.
//
// Config:
//   Op, Element  see scan_ops.cuh
//   kWarps       warps of a CTA, which share its 32 * kVector columns; a power of two
//   kPackets     rows a warp keeps, one after the other
//   kVector      elements a packet; divides inner and, in bytes, every address
#ifndef TILEWRIGHT_SCAN_COLUMN_SCAN_CUH_
#define TILEWRIGHT_SCAN_COLUMN_SCAN_CUH_

#include "device/cluster.cuh"
#include "device/ldst_if.cuh"
#include "scan/params.cuh"
#include "scan/scan_ops.cuh"

namespace tilewright {

template <class Config>
class ColumnScan {
 public:
  using Op = typename Config::Op;
  using Value = typename Op::Value;
  using T = typename Config::Element;
  static constexpr int kVector = Config::kVector;
  static constexpr int kPackets = Config::kPackets;
  static constexpr int kWarps = Config::kWarps;
  static constexpr int kBytes = kVector * static_cast<int>(sizeof(T));
  static constexpr int kTile = kWarps * kPackets;
  static_assert(kIsSame<ComputeType<T>, float>);
  static_assert(IsPowerOfTwo(kVector) && kBytes <= 16 && IsPowerOfTwo(kWarps) && kWarps <= 32);

  // Two, so that one barrier a tile is enough.
  struct Storage {
    Value warps[2][kWarps][kVector][kWarpSize];
  };
  static_assert(sizeof(Storage) <= 48 * 1024);

  // The grid has `chunks` chunks of each axis.
  __device__ __forceinline__ ColumnScan(const ColumnScanParams& p, Storage& storage,
                                        unsigned chunks)
      : p_(p), storage_(storage), warp_(threadIdx.x / kWarpSize), lane_(threadIdx.x % kWarpSize) {
    unsigned block = blockIdx.x;
    const unsigned inner = block % p.inner_blocks;
    block /= p.inner_blocks;
    chunk_ = block % chunks;
    outer_ = block / chunks;
    column_ = static_cast<int64_t>(inner) * kWarpSize + lane_;
    const int64_t start = chunk_ * p.chunk;
    left_ = Min(p.length - start, static_cast<int64_t>(p.chunk));
    const int64_t row = start + warp_ * kPackets;
    input_ = static_cast<const uint8_t*>(p.input) + outer_ * p.input_outer_stride +
             row * p.input_stride + column_ * kBytes;
    output_ = static_cast<uint8_t*>(p.output) + outer_ * p.output_outer_stride +
              row * p.output_stride + column_ * kBytes;
  }

  __device__ __forceinline__ void Run() {
    Value carry[kVector];
    Clear(carry);
    for (int64_t c = 0; c < chunk_; ++c) {
#pragma unroll
      for (int i = 0; i < kVector; ++i) {
        if (column_ < p_.inner) carry[i] = Op::Carry(Op::Combine(carry[i], Totals(c)[i]));
      }
    }
    int buffer = 0;
    Load();
    while (true) {
      Value values[kPackets][kVector];
      Value total[kVector];
      Clear(total);
#pragma unroll
      for (int k = 0; k < kPackets; ++k) Append(raw_[k], total, values[k]);
      uint8_t* output = output_;
      const int64_t left = left_;
      Advance();
      if (left_ > 0) Load();
      Value start[kVector];
      Prefix(buffer, total, carry, start);
#pragma unroll
      for (int k = 0; k < kPackets; ++k) Store(left, k, output, start, values[k]);
      if (left_ <= 0) break;
      buffer ^= 1;
    }
  }

  // Writes the totals of this CTA's chunk.
  __device__ __forceinline__ void RunTotal() {
    Value total[kVector];
    Clear(total);
    for (; left_ > 0; Advance()) {
      Load();
      Value unused[kVector];
#pragma unroll
      for (int k = 0; k < kPackets; ++k) Append(raw_[k], total, unused);
#pragma unroll
      for (int i = 0; i < kVector; ++i) total[i] = Op::Carry(total[i]);
    }
    Value start[kVector];
    Value carry[kVector];
    Clear(carry);
    Prefix(0, total, carry, start);
    if (warp_ == 0 && column_ < p_.inner) {
#pragma unroll
      for (int i = 0; i < kVector; ++i) Totals(chunk_)[i] = carry[i];
    }
  }

 private:
  __device__ __forceinline__ static void Clear(Value (&values)[kVector]) {
#pragma unroll
    for (int i = 0; i < kVector; ++i) values[i] = Op::Identity();
  }
  __device__ __forceinline__ Value* Totals(int64_t chunk) const {
    const int64_t row = outer_ * static_cast<int64_t>(p_.chunks - 1) + chunk;
    return static_cast<Value*>(p_.totals) + (row * p_.inner + column_) * kVector;
  }
  __device__ __forceinline__ bool Has(int64_t left, int k) const {
    return column_ < p_.inner && left > warp_ * kPackets + k;
  }
  __device__ __forceinline__ void Advance() {
    input_ += kTile * p_.input_stride;
    output_ += kTile * p_.output_stride;
    left_ -= kTile;
  }
  __device__ __forceinline__ void Load() {
#pragma unroll
    for (int k = 0; k < kPackets; ++k) {
      raw_[k] = LoadGlobalIf<kBytes>(Has(left_, k), input_ + k * p_.input_stride);
    }
  }
  __device__ __forceinline__ static void Append(const Packet<kBytes>& raw, Value (&total)[kVector],
                                                Value (&values)[kVector]) {
    float x[kVector];
    Unpack<T>(raw, x);
#pragma unroll
    for (int i = 0; i < kVector; ++i) values[i] = total[i] = Op::Append(total[i], x[i]);
  }
  __device__ __forceinline__ void Store(int64_t left, int k, uint8_t* output,
                                        const Value (&start)[kVector],
                                        const Value (&values)[kVector]) const {
    float y[kVector];
#pragma unroll
    for (int i = 0; i < kVector; ++i) y[i] = Op::Result(start[i], values[i]);
    StoreGlobalIf<kBytes>(Has(left, k), output + k * p_.output_stride, Pack<T, kBytes>(y));
  }

  // What lies before this warp's rows of the tile; `carry` moves past the tile. One barrier.
  __device__ __forceinline__ void Prefix(int buffer, const Value (&total)[kVector],
                                         Value (&carry)[kVector], Value (&start)[kVector]) {
    if constexpr (kWarps == 1) {
#pragma unroll
      for (int i = 0; i < kVector; ++i) {
        start[i] = carry[i];
        carry[i] = Op::Carry(Op::Combine(carry[i], total[i]));
      }
    } else {
      auto& slots = storage_.warps[buffer];
#pragma unroll
      for (int i = 0; i < kVector; ++i) slots[warp_][i][lane_] = Op::Settle(total[i]);
      CtaBarrier();
#pragma unroll
      for (int i = 0; i < kVector; ++i) {
        start[i] = carry[i];
#pragma unroll 4
        for (int w = 0; w < kWarps; ++w) {
          if (w == warp_) start[i] = carry[i];
          carry[i] = Op::Combine(carry[i], slots[w][i][lane_]);
        }
        carry[i] = Op::Carry(carry[i]);
      }
    }
  }

  const ColumnScanParams& p_;
  Storage& storage_;
  int warp_;
  int lane_;
  int64_t chunk_;
  int64_t outer_;
  int64_t column_;  // in vectors
  int64_t left_;    // rows from the tile's start to the end of the axis or chunk
  const uint8_t* input_;
  uint8_t* output_;
  Packet<kBytes> raw_[kPackets];
};

template <class Config>
__global__ void __launch_bounds__(Config::kWarps* kWarpSize)
    ColumnScanKernel(const __grid_constant__ ColumnScanParams p) {
  __shared__ typename ColumnScan<Config>::Storage storage;
  WaitForPriorGrids();
  ColumnScan<Config>(p, storage, p.chunks).Run();
}

// The totals of every chunk of an axis but its last.
template <class Config>
__global__ void __launch_bounds__(Config::kWarps* kWarpSize)
    ColumnTotalKernel(const __grid_constant__ ColumnScanParams p) {
  __shared__ typename ColumnScan<Config>::Storage storage;
  WaitForPriorGrids();
  ColumnScan<Config>(p, storage, p.chunks - 1).RunTotal();
}

}  // namespace tilewright

#endif  // TILEWRIGHT_SCAN_COLUMN_SCAN_CUH_
