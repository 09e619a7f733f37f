// Pooling in three dims where windows of neighbouring planes overlap: a thread makes a strip of
// outputs of several planes, and reads each row of the input once for all of them.
//
// Config: that of strip_pool.cuh (kAxes is 3 and the dilation along the depth 1), and
//   kDepth     planes of outputs a thread: 2 or 4
//   kStrideD   between windows along the depth
#ifndef TILEWRIGHT_POOL_SLAB_POOL_CUH_
#define TILEWRIGHT_POOL_SLAB_POOL_CUH_

#include "device/shuffle.cuh"
#include "pool/strip_pool.cuh"

namespace tilewright {

template <class Config>
class SlabPool : public StripPool<Config> {
 public:
  using Strip = StripPool<Config>;
  using typename Strip::Index;
  using typename Strip::Params;
  static constexpr int kDepth = Config::kDepth;
  static constexpr int kPlanes = (kDepth - 1) * Config::kStrideD + Config::kKernelD;
  static constexpr int kSlabRows = kPlanes * Config::kKernelH;
  static_assert(Config::kAxes == 3 && (kDepth == 2 || kDepth == 4));

  // Strip `plane` of the slab at `place`, whose depth counts slabs.
  __device__ __forceinline__ SlabPool(const Params& p, const PoolPlace<Config>& place, bool exists,
                                      int plane)
      : SlabPool(p, At(place, plane), exists) {}

  // Makes the strips' outputs, which follow each other along the depth.
  __device__ __forceinline__ static void Run(SlabPool (&strips)[kDepth],
                                             typename Strip::Storage* storage) {
#pragma unroll
    for (int d = 0; d < kDepth; ++d) strips[d].Start();
#pragma unroll
    for (int first = 0; first < kSlabRows; first += Strip::kBatch) {
      uint32_t raw[Strip::kBatch][Strip::kWords];
#pragma unroll
      for (int b = 0; b < Strip::kBatch; ++b) {
        if (first + b < kSlabRows) strips[0].LoadRow(first + b, raw[b], !kBorrows || LaneId() == 0);
      }
#pragma unroll
      for (int b = 0; b < Strip::kBatch; ++b) {
        if (first + b < kSlabRows) strips[0].Borrow(raw[b]);
#pragma unroll
        for (int d = 0; d < kDepth; ++d) {
          const int row = first + b - d * Config::kStrideD * Config::kKernelH;
          if (row >= 0 && row < Strip::kRows) strips[d].TakeRow(row, raw[b]);
        }
      }
    }
#pragma unroll
    for (int d = 0; d < kDepth; ++d) {
      if (Config::kGather && d > 0) WarpBarrier();  // the storage has been read
      strips[d].Finish(storage);
    }
  }

 private:
  using Strip::kPieces;
  using Strip::kSize;
  // The strip's first piece is one value of 16 bits, left of its first output's position, and the
  // last one of the second piece of the strip before, which the lane before makes.
  static constexpr int kSecond = kPieces.count > 1 ? 1 : 0;
  static constexpr bool kBorrows = kSize == 2 && kPieces.column[0] == -1 && kPieces.size[0] == 1 &&
                                   kPieces.column[kSecond] == 0 &&
                                   kPieces.size[kSecond] == Config::kOutputs * Config::kStrideW &&
                                   kPieces.size[kSecond] > 1;

  // Takes the first piece of a row from the lane before; lane 0 has loaded it.
  __device__ __forceinline__ void Borrow(uint32_t (&raw)[Strip::kWords]) const {
    if constexpr (kBorrows) {
      constexpr int kLast = kPieces.word[kSecond] + kPieces.size[kSecond] * kSize / 4 - 1;
      const uint32_t before = ShuffleUp(raw[kLast], 1) >> 16;
      const uint32_t value =
          this->column_ > 0 ? before : PoolFill<typename Strip::Op, typename Strip::T>();
      raw[kPieces.word[0]] = LaneId() == 0 ? raw[kPieces.word[0]] : value;
    }
  }

  __device__ __forceinline__ SlabPool(const Params& p, const PoolPlace<Config>& place, bool exists)
      : Strip(p, place, exists && place.at[2] < p.outputs[2].divisor) {}
  __device__ __forceinline__ static PoolPlace<Config> At(PoolPlace<Config> place, int plane) {
    place.at[2] = place.at[2] * kDepth + plane;
    return place;
  }
};

template <class Config>
__global__ void __launch_bounds__(Config::kThreads)
    SlabPoolKernel(const __grid_constant__ PoolParams<Config::kWide> p) {
  using Slab = SlabPool<Config>;
  using Index = typename Slab::Index;
  const Index index = static_cast<Index>(blockIdx.x) * Config::kThreads + threadIdx.x;
  const bool exists = index < p.count;
  WaitForPriorGrids();
  typename Slab::Strip::Storage* storage = nullptr;
  if constexpr (Config::kGather) {
    __shared__ typename Slab::Strip::Storage storages[Config::kThreads / kWarpSize];
    storage = &storages[threadIdx.x / kWarpSize];
  }
  const PoolPlace<Config> place(p, exists ? index : 0);
  if constexpr (Config::kDepth == 2) {
    Slab strips[] = {Slab(p, place, exists, 0), Slab(p, place, exists, 1)};
    Slab::Run(strips, storage);
  } else {
    Slab strips[] = {Slab(p, place, exists, 0), Slab(p, place, exists, 1),
                     Slab(p, place, exists, 2), Slab(p, place, exists, 3)};
    Slab::Run(strips, storage);
  }
}

}  // namespace tilewright

#endif  // TILEWRIGHT_POOL_SLAB_POOL_CUH_
