// The tensor memory accelerator (sm_90): tiled copies between global and shared memory. All of
// these are issued by one thread.
#ifndef TILEWRIGHT_DEVICE_TMA_CUH_
#define TILEWRIGHT_DEVICE_TMA_CUH_

#include "device/base.cuh"
#include "device/mbarrier.cuh"
#include "device/tensor_map.cuh"

namespace tilewright {

// prefetch.tensormap (sm_90): brings the descriptor into the descriptor cache.
__device__ __forceinline__ void TmaPrefetchMap(const TensorMap* map) {
  asm volatile("prefetch.tensormap [%0];" ::"l"(map) : "memory");
}

// cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier (sm_90): loads the box at
// coordinates (x innermost, y, z); its whole size is credited to `barrier`.
__device__ __forceinline__ void TmaLoad3d(void* smem, const TensorMap* map, Barrier* barrier, int x,
                                          int y, int z) {
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
      " [%0], [%1, {%3, %4, %5}], [%2];" ::"r"(SharedAddress(smem)),
      "l"(map), "r"(SharedAddress(barrier)), "r"(x), "r"(y), "r"(z)
      : "memory");
}

// The same with a cache policy (createpolicy).
__device__ __forceinline__ void TmaLoad3d(void* smem, const TensorMap* map, Barrier* barrier, int x,
                                          int y, int z, uint64_t policy) {
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
      ".L2::cache_hint [%0], [%1, {%3, %4, %5}], [%2], %6;" ::"r"(SharedAddress(smem)),
      "l"(map), "r"(SharedAddress(barrier)), "r"(x), "r"(y), "r"(z), "l"(policy)
      : "memory");
}

// The same into every CTA of the cluster whose bit is set in `ctas`, at the same offsets.
__device__ __forceinline__ void TmaLoadMulticast3d(void* smem, const TensorMap* map,
                                                   Barrier* barrier, int x, int y, int z,
                                                   uint16_t ctas) {
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
      ".multicast::cluster [%0], [%1, {%3, %4, %5}], [%2], %6;" ::"r"(SharedAddress(smem)),
      "l"(map), "r"(SharedAddress(barrier)), "r"(x), "r"(y), "r"(z), "h"(ctas)
      : "memory");
}

// createpolicy.fractional.L2::evict_first.b64 (sm_80): for data that is read once.
__device__ __forceinline__ uint64_t PolicyEvictFirst() {
  uint64_t policy;
  asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
  return policy;
}

// createpolicy.fractional.L2::evict_last.b64 (sm_80): for data that other blocks read again.
__device__ __forceinline__ uint64_t PolicyEvictLast() {
  uint64_t policy;
  asm volatile("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy));
  return policy;
}

// cp.async.bulk.tensor.3d.global.shared::cta.tile.bulk_group (sm_90): stores the box; parts outside
// the tensor are dropped.
__device__ __forceinline__ void TmaStore3d(const TensorMap* map, const void* smem, int x, int y,
                                           int z) {
  asm volatile(
      "cp.async.bulk.tensor.3d.global.shared::cta.tile.bulk_group [%0, {%2, %3, %4}], [%1];" ::"l"(
          map),
      "r"(SharedAddress(smem)), "r"(x), "r"(y), "r"(z)
      : "memory");
}

// The same with a cache policy (createpolicy).
__device__ __forceinline__ void TmaStore3d(const TensorMap* map, const void* smem, int x, int y,
                                           int z, uint64_t policy) {
  asm volatile(
      "cp.async.bulk.tensor.3d.global.shared::cta.tile.bulk_group.L2::cache_hint"
      " [%0, {%2, %3, %4}], [%1], %5;" ::"l"(map),
      "r"(SharedAddress(smem)), "r"(x), "r"(y), "r"(z), "l"(policy)
      : "memory");
}

// cp.async.bulk.commit_group (sm_90).
__device__ __forceinline__ void TmaStoreCommit() {
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}

// cp.async.bulk.wait_group.read (sm_90): until all but kPending of the committed groups of stores
// have read their shared memory.
template <int kPending>
__device__ __forceinline__ void TmaStoreWaitRead() {
  asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(kPending) : "memory");
}

// cp.async.bulk.wait_group (sm_90): until the committed stores are complete.
__device__ __forceinline__ void TmaStoreWait() {
  asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}

// fence.proxy.async.shared::cta (sm_90): orders this thread's ordinary shared-memory accesses
// before accesses of the copy engine and the tensor cores. Each writing thread.
__device__ __forceinline__ void FenceProxyAsync() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

}  // namespace tilewright

#endif  // TILEWRIGHT_DEVICE_TMA_CUH_
