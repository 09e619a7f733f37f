// Transaction barriers in shared memory and the position in a ring of them.
#ifndef TILEWRIGHT_DEVICE_MBARRIER_CUH_
#define TILEWRIGHT_DEVICE_MBARRIER_CUH_

#include "device/cluster.cuh"

namespace tilewright {

// One mbarrier object. Lives in shared memory, 8-byte aligned.
using Barrier = uint64_t;

// mbarrier.init.shared::cta.b64 (sm_80). One thread.
__device__ __forceinline__ void BarrierInit(Barrier* barrier, uint32_t arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(SharedAddress(barrier)),
               "r"(arrivals)
               : "memory");
}

// fence.mbarrier_init.release.cluster (sm_90): makes initialised barriers visible to the cluster
// and to the copy engine. The initialising thread.
__device__ __forceinline__ void BarrierInitFence() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

// mbarrier.arrive.expect_tx.shared::cta.b64 (sm_90): arrives and adds bytes to await. One thread.
__device__ __forceinline__ void BarrierArriveExpect(Barrier* barrier, uint32_t bytes) {
  asm volatile(
      "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(SharedAddress(barrier)),
      "r"(bytes)
      : "memory");
}

// mbarrier.arrive.shared::cta.b64 (sm_80). Each calling thread arrives once.
__device__ __forceinline__ void BarrierArrive(Barrier* barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(SharedAddress(barrier)) : "memory");
}

// mapa + mbarrier.arrive.shared::cluster (sm_90): arrives at the same barrier of CTA `rank`. Says
// that reads are over; orders no writes for the other CTA (.release.cluster would, by a fence of
// about a microsecond).
__device__ __forceinline__ void BarrierArriveRemote(Barrier* barrier, uint32_t rank) {
  asm volatile(
      "{.reg .b32 remote; mapa.shared::cluster.u32 remote, %0, %1;"
      " mbarrier.arrive.shared::cluster.b64 _, [remote];}" ::"r"(SharedAddress(barrier)),
      "r"(rank)
      : "memory");
}

// mbarrier.try_wait.parity.shared::cta.b64 (sm_90), repeated until the phase of `parity` has
// completed.
__device__ __forceinline__ void BarrierWait(Barrier* barrier, uint32_t parity) {
  uint32_t done;
  do {
    asm volatile(
        "{.reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, "
        "p;}"
        : "=r"(done)
        : "r"(SharedAddress(barrier)), "r"(parity)
        : "memory");
  } while (!done);
}

// A position in a ring of kStages buffers that are filled and drained in order. `parity` is that of
// the full barrier to await; a producer awaits the empty barrier with the opposite parity, so that
// the first round finds every buffer free.
template <int kStages>
struct PipelineState {
  int stage = 0;
  uint32_t parity = 0;

  __device__ __forceinline__ void Advance() {
    if (++stage == kStages) {
      stage = 0;
      parity ^= 1;
    }
  }
  // Skips `count` buffers, which another consumer drains.
  __device__ __forceinline__ void Skip(int count) {
    const int next = stage + count;
    const int rounds = next / kStages;
    stage = next - rounds * kStages;
    parity ^= static_cast<uint32_t>(rounds & 1);
  }
};

}  // namespace tilewright

#endif  // TILEWRIGHT_DEVICE_MBARRIER_CUH_
