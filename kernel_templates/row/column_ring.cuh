// Softmax or its logarithm along a short strided axis of [outer, length, inner] with inner
// contiguous (sm_90): each warp takes tiles of 128 bytes of inner by the whole axis, which the copy
// engine brings to its own ring of shared memory and takes from there; lanes lie along inner.
//
// Config:
//   Element
//   kWarps    warps of a CTA
//   kRows     room for the axis
//   kStages   tiles of a warp's ring
//   kLog      writes x - max - log(sum) instead of exp(x - max) / sum
#ifndef TILEWRIGHT_ROW_COLUMN_RING_CUH_
#define TILEWRIGHT_ROW_COLUMN_RING_CUH_

#include "device/bulk_copy.cuh"
#include "device/reduce.cuh"
#include "device/shuffle.cuh"
#include "device/tma.cuh"
#include "row/params.cuh"

namespace tilewright {

inline constexpr int kColumnTileBytes = 128;  // along inner

template <class Config>
class ColumnRing {
 public:
  using T = typename Config::Element;
  static constexpr int kRows = Config::kRows;
  static constexpr int kStages = Config::kStages;
  static constexpr int kVector = 4 / static_cast<int>(sizeof(T));
  static constexpr int kBytes = kColumnTileBytes * kRows;  // of a tile
  static constexpr int kColumns = kColumnTileBytes / static_cast<int>(sizeof(T));
  static_assert(kIsSame<ComputeType<T>, float> && kStages > 1);

  __device__ __forceinline__ ColumnRing(const ColumnRingParams& p, uint8_t* tiles, Barrier* full)
      : p_(p), tiles_(tiles), full_(full), lane_(threadIdx.x % kWarpSize) {}

  // One lane; the others wait for it.
  __device__ __forceinline__ void Init() const {
#pragma unroll
    for (int s = 0; s < kStages; ++s) BarrierInit(&full_[s], 1);
    BarrierInitFence();
  }
  // One lane.
  __device__ __forceinline__ void Fill(int stage, int64_t tile) const {
    const Place at = PlaceOf(tile);
    BarrierArriveExpect(&full_[stage], kBytes);
    TmaLoad3d(tiles_ + stage * kBytes, &p_.input, &full_[stage], at.column, 0, at.outer);
  }

  // Every lane: tile `tile` of this warp, whose next in line is `step` further.
  __device__ __forceinline__ void Work(int64_t tile, int64_t step) {
    uint8_t* const data = tiles_ + state_.stage * kBytes;
    const uint32_t address = SharedAddress(data) + static_cast<uint32_t>(lane_) * 4;
    BarrierWait(&full_[state_.stage], state_.parity);
    float x[kRows][kVector];
#pragma unroll
    for (int r = 0; r < kRows; ++r) Unpack<T>(LoadShared4(address + r * kColumnTileBytes), x[r]);
    Normalize(x);
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      StoreShared4(address + r * kColumnTileBytes, Pack<T, 4>(x[r]));
    }
    FenceProxyAsync();
    WarpBarrier();
    if (lane_ == 0) {
      const Place at = PlaceOf(tile);
      TmaStore3d(&p_.output, data, at.column, 0, at.outer);
      TmaStoreCommit();
      Refill(tile, step);
    }
    state_.Advance();
  }

 private:
  struct Place {
    int column;
    int outer;
  };
  __device__ __forceinline__ Place PlaceOf(int64_t tile) const {
    unsigned long long outer;
    unsigned long long inner;
    p_.inner_tiles(static_cast<unsigned long long>(tile), &outer, &inner);
    return {static_cast<int>(inner) * kColumns, static_cast<int>(outer)};
  }

  // The stage before this one, once its tile has been taken away.
  __device__ __forceinline__ void Refill(int64_t tile, int64_t step) {
    const int64_t next = tile + (kStages - 1) * step;
    if (!begun_) {
      begun_ = true;
      return;
    }
    if (next >= p_.tiles) return;
    TmaStoreWaitRead<1>();
    Fill(state_.stage == 0 ? kStages - 1 : state_.stage - 1, next);
  }

  __device__ __forceinline__ void Normalize(float (&x)[kRows][kVector]) const {
#pragma unroll
    for (int i = 0; i < kVector; ++i) {
      float max = MaxOp::Identity();
#pragma unroll
      for (int r = 0; r < kRows; ++r) {
        if (r >= p_.length) x[r][i] = MaxOp::Identity();
        max = MaxNumber(max, x[r][i]);
      }
      // With nothing but -inf in a column, subtracting 0 gives the sum 0.
      const float shift = max == MaxOp::Identity() ? 0.0f : max;
      float sum = 0.0f;
#pragma unroll
      for (int r = 0; r < kRows; ++r) {
        const float y = Exp2((x[r][i] - shift) * kLog2e);
        sum += y;
        if constexpr (!Config::kLog) x[r][i] = y;
      }
      const float scale = Config::kLog ? Log2Approx(sum) * kLn2 : Rcp(sum);
#pragma unroll
      for (int r = 0; r < kRows; ++r) {
        x[r][i] = Config::kLog ? x[r][i] - max - scale : x[r][i] * scale;
      }
    }
  }

  const ColumnRingParams& p_;
  uint8_t* tiles_;
  Barrier* full_;
  int lane_;
  bool begun_ = false;
  PipelineState<kStages> state_;
};

template <class Config>
__global__ void __launch_bounds__(Config::kWarps* kWarpSize)
    ColumnRingKernel(const __grid_constant__ ColumnRingParams p) {
  using Ring = ColumnRing<Config>;
  extern __shared__ __align__(128) uint8_t tiles[];
  __shared__ Barrier full[Config::kWarps][Config::kStages];
  const int warp = threadIdx.x / kWarpSize;
  Ring ring(p, tiles + warp * Config::kStages * Ring::kBytes, full[warp]);
  const bool leads = threadIdx.x % kWarpSize == 0;
  if (leads) ring.Init();
  const int64_t first = static_cast<int64_t>(blockIdx.x) * Config::kWarps + warp;
  const int64_t step = static_cast<int64_t>(gridDim.x) * Config::kWarps;
  WaitForPriorGrids();
  if (leads) {
#pragma unroll 1
    for (int s = 0; s < Config::kStages && first + s * step < p.tiles; ++s) {
      ring.Fill(s, first + s * step);
    }
  }
  WarpBarrier();
#pragma unroll 1
  for (int64_t tile = first; tile < p.tiles; tile += step) ring.Work(tile, step);
  if (leads) TmaStoreWaitRead<0>();
}

}  // namespace tilewright

#endif  // TILEWRIGHT_ROW_COLUMN_RING_CUH_
