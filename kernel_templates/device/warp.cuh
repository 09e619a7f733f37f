// Warp-wide exchange, CTA barriers and thread coordinates.
#ifndef TILEWRIGHT_DEVICE_WARP_CUH_
#define TILEWRIGHT_DEVICE_WARP_CUH_

#include "device/types.cuh"

namespace tilewright {

inline constexpr int kWarpSize = 32;
inline constexpr uint32_t kFullWarp = 0xffffffff;

// shfl.sync.bfly.b32: sm_80. Warp: every lane takes part.
__device__ __forceinline__ uint32_t ShuffleXorBits(uint32_t value, int lane_mask) {
  uint32_t result;
  asm volatile("shfl.sync.bfly.b32 %0, %1, %2, 0x1f, 0xffffffff;"
               : "=r"(result)
               : "r"(value), "r"(lane_mask));
  return result;
}
// shfl.sync.idx.b32: sm_80. Warp: every lane takes part.
__device__ __forceinline__ uint32_t ShuffleIndexBits(uint32_t value, int lane) {
  uint32_t result;
  asm volatile("shfl.sync.idx.b32 %0, %1, %2, 0x1f, 0xffffffff;"
               : "=r"(result)
               : "r"(value), "r"(lane));
  return result;
}
// mov.u32 %laneid: sm_80. Thread.
__device__ __forceinline__ uint32_t LaneId() {
  uint32_t lane;
  asm("mov.u32 %0, %%laneid;" : "=r"(lane));
  return lane;
}
#if __CUDA_ARCH__ >= 900
// elect.sync: sm_90. Warp: true in one lane.
__device__ __forceinline__ bool ElectOne() {
  uint32_t elected;
  asm volatile("{ .reg .pred p; elect.sync _|p, 0xffffffff; selp.u32 %0, 1, 0, p; }"
               : "=r"(elected));
  return elected != 0;
}
#endif
// barrier.cta.sync 0: sm_80. CTA.
__device__ __forceinline__ void CtaBarrier() { asm volatile("barrier.cta.sync 0;" ::: "memory"); }
// barrier.cta.sync of `threads` threads (a multiple of 32) on barrier `id`: sm_80. Part of a CTA.
__device__ __forceinline__ void NamedBarrierSync(int id, int threads) {
  asm volatile("barrier.cta.sync %0, %1;" ::"r"(id), "r"(threads) : "memory");
}
// barrier.cta.arrive on barrier `id`, for NamedBarrierSync() of others: sm_80. Part of a CTA.
__device__ __forceinline__ void NamedBarrierArrive(int id, int threads) {
  asm volatile("barrier.cta.arrive %0, %1;" ::"r"(id), "r"(threads) : "memory");
}

// Any trivially copyable value of 4 or 8 bytes, or a struct of 32-bit members.
template <class T>
__device__ __forceinline__ T ShuffleXor(T value, int lane_mask) {
  static_assert(sizeof(T) % 4 == 0);
  union {
    T value;
    uint32_t words[sizeof(T) / 4];
  } bits = {value};
#pragma unroll
  for (int i = 0; i < static_cast<int>(sizeof(T) / 4); ++i) {
    bits.words[i] = ShuffleXorBits(bits.words[i], lane_mask);
  }
  return bits.value;
}
__device__ __forceinline__ float ShuffleXor(float value, int lane_mask) {
  return BitsToFloat(ShuffleXorBits(FloatToBits(value), lane_mask));
}
__device__ __forceinline__ uint32_t ShuffleXor(uint32_t value, int lane_mask) {
  return ShuffleXorBits(value, lane_mask);
}

}  // namespace tilewright

#endif  // TILEWRIGHT_DEVICE_WARP_CUH_
