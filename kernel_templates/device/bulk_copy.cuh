// Copies of dense bytes to shared memory by the copy engine (sm_90), and reads of shared memory by
// its 32-bit address.
#ifndef TILEWRIGHT_DEVICE_BULK_COPY_CUH_
#define TILEWRIGHT_DEVICE_BULK_COPY_CUH_

#include "device/mbarrier.cuh"
#include "device/packet.cuh"

namespace tilewright {

// cp.async.bulk.shared::cluster.global.mbarrier (sm_90): copies `bytes`, which are credited to
// `barrier`. Both addresses and the size are multiples of 16. One thread.
__device__ __forceinline__ void BulkLoad(uint32_t shared_address, const void* global,
                                         uint32_t bytes, Barrier* barrier) {
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, "
      "[%3];" ::"r"(shared_address),
      "l"(global), "r"(bytes), "r"(SharedAddress(barrier))
      : "memory");
}

// ld.shared.u32: sm_80. Thread.
__device__ __forceinline__ Packet<4> LoadShared4(uint32_t shared_address) {
  Packet<4> packet;
  asm volatile("ld.shared.u32 %0, [%1];" : "=r"(packet.words[0]) : "r"(shared_address));
  return packet;
}
// st.shared.u32: sm_80. Thread.
__device__ __forceinline__ void StoreShared4(uint32_t shared_address, const Packet<4>& packet) {
  asm volatile("st.shared.u32 [%0], %1;" ::"r"(shared_address), "r"(packet.words[0]) : "memory");
}
// ld.shared.v4.u32, predicated; zeros where false: sm_80. Thread.
__device__ __forceinline__ Packet<16> LoadSharedIf(bool predicate, uint32_t shared_address) {
  Packet<16> packet = {};
  asm volatile("{ .reg .pred p; setp.ne.u32 p, %5, 0; @p ld.shared.v4.u32 {%0, %1, %2, %3}, [%4]; }"
               : "+r"(packet.words[0]), "+r"(packet.words[1]), "+r"(packet.words[2]),
                 "+r"(packet.words[3])
               : "r"(shared_address), "r"(static_cast<uint32_t>(predicate)));
  return packet;
}

}  // namespace tilewright

#endif  // TILEWRIGHT_DEVICE_BULK_COPY_CUH_
