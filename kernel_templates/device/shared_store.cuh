// Stores of registers to shared memory by 32-bit address.
#ifndef TILEWRIGHT_DEVICE_SHARED_STORE_CUH_
#define TILEWRIGHT_DEVICE_SHARED_STORE_CUH_

#include "device/base.cuh"

namespace tilewright {

// st.shared.f32 (sm_80). Thread.
__device__ __forceinline__ void StoreShared4(uint32_t address, float value) {
  asm volatile("st.shared.f32 [%0], %1;" : : "r"(address), "f"(value) : "memory");
}

// st.shared.v2.f32 (sm_80). Thread.
__device__ __forceinline__ void StoreShared8(uint32_t address, float first, float second) {
  asm volatile("st.shared.v2.f32 [%0], {%1, %2};"
               :
               : "r"(address), "f"(first), "f"(second)
               : "memory");
}

}  // namespace tilewright

#endif  // TILEWRIGHT_DEVICE_SHARED_STORE_CUH_
