// Softmax or its logarithm along a short strided axis of [outer, length, inner] with inner
// contiguous (sm_90): each warp takes tiles of 128 bytes of inner by the whole axis, which the copy
// engine brings to its own ring of shared memory and takes from there; lanes lie along inner.
//
// Config:
//   Element
//   kWarps    warps of a CTA
//   kRows     room for the axis: the least power of two that holds it
//   kStages   tiles of a warp's ring
//   kLog      writes x - max - log(sum) instead of exp(x - max) / sum
#ifndef TILEWRIGHT_ROW_COLUMN_RING_CUH_
#define TILEWRIGHT_ROW_COLUMN_RING_CUH_

#include "device/math.cuh"
#include "device/packet.cuh"
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
  using Raw = Conditional<sizeof(T) == 2, uint16_t, uint32_t>;
  static constexpr int kBytes = kColumnTileBytes * kRows;  // of a tile
  static constexpr int kColumns = kColumnTileBytes / static_cast<int>(sizeof(T));
  static_assert(kIsSame<ComputeType<T>, float> && kStages > 1);

  __device__ __forceinline__ ColumnRing(const ColumnRingParams& p, uint8_t* tiles, Barrier* full,
                                        int first)
      : p_(p), tiles_(tiles), full_(full), lane_(threadIdx.x % kWarpSize), next_(first) {}

  // One lane; the others wait for it.
  __device__ __forceinline__ void Init() const {
#pragma unroll
    for (int s = 0; s < kStages; ++s) BarrierInit(&full_[s], 1);
    BarrierInitFence();
  }
  // One lane: keeps the ring full. A tile's place is free once the store before the last one has
  // read it.
  __device__ __forceinline__ void Fill(int step) {
    if (worked_ > 1) TmaStoreWaitRead<1>();
    const int most = kStages + (worked_ > 0 ? worked_ - 1 : 0);
    ++worked_;
#pragma unroll 1
    for (; issued_ < most && next_ < p_.tiles; ++issued_, next_ += step) {
      const Place at = PlaceOf(next_);
      BarrierArriveExpect(&full_[filling_], kBytes);
      TmaLoad3d(tiles_ + filling_ * kBytes, &p_.input, &full_[filling_], at.column, 0, at.outer);
      filling_ = filling_ + 1 == kStages ? 0 : filling_ + 1;
    }
  }

  // Every lane: tile `tile` of this warp.
  __device__ __forceinline__ void Work(int tile) {
    uint8_t* const data = tiles_ + state_.stage * kBytes;
    BarrierWait(&full_[state_.stage], state_.parity);
#pragma unroll 1
    for (int i = 0; i < kVector; ++i) {
      Normalize(reinterpret_cast<Raw*>(data) + lane_ * kVector + i);
    }
    FenceProxyAsync();
    WarpBarrier();
    if (lane_ == 0) {
      const Place at = PlaceOf(tile);
      TmaStore3d(&p_.output, data, at.column, 0, at.outer);
      TmaStoreCommit();
    }
    state_.Advance();
  }

 private:
  struct Place {
    int column;
    int outer;
  };
  __device__ __forceinline__ Place PlaceOf(int tile) const {
    unsigned outer;
    unsigned inner;
    p_.inner_tiles(static_cast<unsigned>(tile), &outer, &inner);
    return {static_cast<int>(inner) * kColumns, static_cast<int>(outer)};
  }

  // One column of the tile, whose rows are kColumns apart. A loop over a lane's columns takes the
  // compiler half as long as both at once, and as many instructions.
  __device__ __forceinline__ void Normalize(Raw* column) const {
    const float nothing = BitsToFloat(0xff800000);
    float x[kRows];
    float max = nothing;
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      float value[1];
      Unpack<T>(Packet<sizeof(T)>{{column[r * kColumns]}}, value);
      x[r] = r > kRows / 2 && r >= p_.length ? nothing : value[0];
      max = MaxNumber(max, x[r]);
    }
    // With nothing but -inf in a column, subtracting 0 gives the sum 0.
    const float shift = max == nothing ? 0.0f : max;
    float sum = 0.0f;
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      const float y = Exp2((x[r] - shift) * kLog2e);
      sum += y;
      if constexpr (!Config::kLog) x[r] = y;
    }
    const float scale = Config::kLog ? Log2Approx(sum) * kLn2 : Rcp(sum);
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      const float y[1] = {Config::kLog ? x[r] - max - scale : x[r] * scale};
      column[r * kColumns] = static_cast<Raw>(Pack<T, sizeof(T)>(y).words[0]);
    }
  }

  const ColumnRingParams& p_;
  uint8_t* tiles_;
  Barrier* full_;
  int lane_;
  int next_;         // tile to load
  int filling_ = 0;  // stage of it
  int issued_ = 0;   // tiles
  int worked_ = 0;
  PipelineState<kStages> state_;
};

template <class Config>
__global__ void __launch_bounds__(Config::kWarps* kWarpSize)
    ColumnRingKernel(const __grid_constant__ ColumnRingParams p) {
  using Ring = ColumnRing<Config>;
  extern __shared__ __align__(128) uint8_t tiles[];
  __shared__ Barrier full[Config::kWarps][Config::kStages];
  const int warp = threadIdx.x / kWarpSize;
  const int first = static_cast<int>(blockIdx.x) * Config::kWarps + warp;
  const int step = static_cast<int>(gridDim.x) * Config::kWarps;
  Ring ring(p, tiles + warp * Config::kStages * Ring::kBytes, full[warp], first);
  const bool leads = threadIdx.x % kWarpSize == 0;
  if (leads) ring.Init();
  WaitForPriorGrids();
  WarpBarrier();
#pragma unroll 1
  for (int tile = first; tile < p.tiles; tile += step) {
    if (leads) ring.Fill(step);
    ring.Work(tile);
  }
  if (leads) TmaStoreWaitRead<0>();
}

}  // namespace tilewright

#endif  // TILEWRIGHT_ROW_COLUMN_RING_CUH_
