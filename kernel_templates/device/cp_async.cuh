// Asynchronous 16-byte copies from global to shared memory by the threads themselves. sm_80 and up.
#ifndef TILEWRIGHT_DEVICE_CP_ASYNC_CUH_
#define TILEWRIGHT_DEVICE_CP_ASYNC_CUH_

#include "device/base.cuh"

namespace tilewright {

// cp.async.cg.shared.global (bypasses L1): sm_80. Thread. Copies `bytes` (0 to 16) and fills the
// rest of the 16 bytes with zeros; both addresses are multiples of 16.
__device__ __forceinline__ void CopyAsync16(uint32_t shared_address, const void* global,
                                            uint32_t bytes) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared_address), "l"(global),
               "r"(bytes)
               : "memory");
}
// st.shared.v4.u32: sm_80. Thread. The same destination, from registers.
__device__ __forceinline__ void StoreShared16(uint32_t shared_address, const uint32_t (&words)[4]) {
  asm volatile("st.shared.v4.u32 [%0], {%1, %2, %3, %4};" ::"r"(shared_address), "r"(words[0]),
               "r"(words[1]), "r"(words[2]), "r"(words[3])
               : "memory");
}
// cp.async.commit_group: sm_80. Thread.
__device__ __forceinline__ void CopyAsyncCommit() {
  asm volatile("cp.async.commit_group;" ::: "memory");
}
// cp.async.wait_group (until at most kPending groups are in flight): sm_80. Thread.
template <int kPending>
__device__ __forceinline__ void CopyAsyncWait() {
  asm volatile("cp.async.wait_group %0;" ::"n"(kPending) : "memory");
}

}  // namespace tilewright

#endif  // TILEWRIGHT_DEVICE_CP_ASYNC_CUH_
