// Hints that bring global memory nearer.
#ifndef TILEWRIGHT_DEVICE_PREFETCH_CUH_
#define TILEWRIGHT_DEVICE_PREFETCH_CUH_

#include "device/base.cuh"

namespace tilewright {

// prefetch.global.L2 (sm_80): the line of `address`. Thread.
__device__ __forceinline__ void PrefetchL2(const void* address) {
  asm volatile("prefetch.global.L2 [%0];" ::"l"(address));
}

}  // namespace tilewright

#endif  // TILEWRIGHT_DEVICE_PREFETCH_CUH_
