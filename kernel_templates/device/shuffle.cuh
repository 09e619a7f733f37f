// Exchange of values of several words between the lanes of a warp, and their barrier.
#ifndef TILEWRIGHT_DEVICE_SHUFFLE_CUH_
#define TILEWRIGHT_DEVICE_SHUFFLE_CUH_

#include "device/warp.cuh"

namespace tilewright {

// shfl.sync.up.b32 (lanes below `delta` get their own value): sm_80. Warp: every lane takes part.
__device__ __forceinline__ uint32_t ShuffleUpBits(uint32_t value, int delta) {
  uint32_t result;
  asm volatile("shfl.sync.up.b32 %0, %1, %2, 0, 0xffffffff;"
               : "=r"(result)
               : "r"(value), "r"(delta));
  return result;
}

// bar.warp.sync (orders the lanes' shared memory accesses): sm_80. Warp: every lane takes part.
__device__ __forceinline__ void WarpBarrier() {
  asm volatile("bar.warp.sync 0xffffffff;" ::: "memory");
}

// f(word) of each 32-bit word of a trivially copyable value.
template <class T, class F>
__device__ __forceinline__ T MapWords(T value, F f) {
  static_assert(sizeof(T) % 4 == 0);
  union {
    T value;
    uint32_t words[sizeof(T) / 4];
  } bits = {value};
#pragma unroll
  for (int i = 0; i < static_cast<int>(sizeof(T) / 4); ++i) bits.words[i] = f(bits.words[i]);
  return bits.value;
}
template <class T>
__device__ __forceinline__ T ShuffleUp(T value, int delta) {
  return MapWords(value, [=](uint32_t word) { return ShuffleUpBits(word, delta); });
}
template <class T>
__device__ __forceinline__ T ShuffleIndex(T value, int lane) {
  return MapWords(value, [=](uint32_t word) { return ShuffleIndexBits(word, lane); });
}

}  // namespace tilewright

#endif  // TILEWRIGHT_DEVICE_SHUFFLE_CUH_
