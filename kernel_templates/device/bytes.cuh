// Bytes of 32-bit words.
#ifndef TILEWRIGHT_DEVICE_BYTES_CUH_
#define TILEWRIGHT_DEVICE_BYTES_CUH_

#include "device/base.cuh"

namespace tilewright {

// prmt.b32: bytes of {low, high} by the nibbles of `order`: sm_80. Thread.
__device__ __forceinline__ uint32_t PermuteBytes(uint32_t low, uint32_t high, uint32_t order) {
  uint32_t result;
  asm("prmt.b32 %0, %1, %2, %3;" : "=r"(result) : "r"(low), "r"(high), "r"(order));
  return result;
}

}  // namespace tilewright

#endif  // TILEWRIGHT_DEVICE_BYTES_CUH_
