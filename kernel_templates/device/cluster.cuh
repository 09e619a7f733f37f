// Thread block clusters, distributed shared memory and programmatic dependent launch. sm_90 and up;
// on older architectures the functions of the last section do nothing and the others do not exist.
#ifndef TILEWRIGHT_DEVICE_CLUSTER_CUH_
#define TILEWRIGHT_DEVICE_CLUSTER_CUH_

#include "device/types.cuh"

namespace tilewright {

// cvta.to.shared: sm_80. Thread: the 32-bit address of an object in shared memory.
__device__ __forceinline__ uint32_t SharedAddress(const void* pointer) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(pointer));
}

#if __CUDA_ARCH__ >= 900
// mov.u32 %cluster_ctarank: sm_90. Thread.
__device__ __forceinline__ uint32_t ClusterRank() {
  uint32_t rank;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}
// mov.u32 %cluster_nctarank: sm_90. Thread.
__device__ __forceinline__ uint32_t ClusterSize() {
  uint32_t size;
  asm("mov.u32 %0, %%cluster_nctarank;" : "=r"(size));
  return size;
}
// mapa.shared::cluster: sm_90. Thread: the address of the same object in the CTA of `rank`.
__device__ __forceinline__ uint32_t MapToRank(uint32_t shared_address, uint32_t rank) {
  uint32_t address;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(address) : "r"(shared_address), "r"(rank));
  return address;
}
// ld.shared::cluster.u32: sm_90. Thread.
__device__ __forceinline__ uint32_t LoadCluster(uint32_t address) {
  uint32_t value;
  asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(value) : "r"(address) : "memory");
  return value;
}
// st.shared::cluster.u32: sm_90. Thread.
__device__ __forceinline__ void StoreCluster(uint32_t address, uint32_t value) {
  asm volatile("st.shared::cluster.u32 [%0], %1;" ::"r"(address), "r"(value) : "memory");
}
// st.async.shared::cluster (completes 4 bytes on the mbarrier of the same CTA): sm_90. Thread.
__device__ __forceinline__ void StoreAsyncCluster(uint32_t address, uint32_t value,
                                                  uint32_t mbarrier) {
  asm volatile(
      "st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%0], %1, [%2];" ::"r"(address),
      "r"(value), "r"(mbarrier)
      : "memory");
}
// st.async.shared::cluster.v4.f32 (completes 16 bytes on the mbarrier of the same CTA): sm_90.
// Thread.
__device__ __forceinline__ void StoreAsyncClusterFloat4(uint32_t address, float x, float y, float z,
                                                        float w, uint32_t mbarrier) {
  asm volatile(
      "st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.f32 [%0], {%1, %2, %3, %4}, "
      "[%5];" ::"r"(address),
      "f"(x), "f"(y), "f"(z), "f"(w), "r"(mbarrier)
      : "memory");
}
// barrier.cluster.arrive.release: sm_90. Cluster.
__device__ __forceinline__ void ClusterArrive() {
  asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
}
// barrier.cluster.arrive.relaxed (orders no memory): sm_90. Cluster.
__device__ __forceinline__ void ClusterArriveRelaxed() {
  asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
}
// barrier.cluster.wait.acquire: sm_90. Cluster.
__device__ __forceinline__ void ClusterWait() {
  asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
}
#endif

#if __CUDA_ARCH__ >= 900
// Both halves of the cluster barrier: sm_90. Cluster.
__device__ __forceinline__ void ClusterSync() {
  ClusterArrive();
  ClusterWait();
}
// The same without ordering memory: everybody is here, what they wrote need not be visible. Spares
// a fence of about a microsecond. Cluster.
__device__ __forceinline__ void ClusterSyncRelaxed() {
  ClusterArriveRelaxed();
  ClusterWait();
}
// ld.shared::cluster.v4.f32: sm_90. Thread.
__device__ __forceinline__ void LoadClusterFloat4(float (&value)[4], uint32_t address) {
  asm volatile("ld.shared::cluster.v4.f32 {%0, %1, %2, %3}, [%4];"
               : "=f"(value[0]), "=f"(value[1]), "=f"(value[2]), "=f"(value[3])
               : "r"(address)
               : "memory");
}
// setmaxnreg.dec.sync.aligned.u32: sm_90a. Warp group.
template <int kRegisters>
__device__ __forceinline__ void RegistersDecrease() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(kRegisters));
}
// setmaxnreg.inc.sync.aligned.u32: sm_90a. Warp group.
template <int kRegisters>
__device__ __forceinline__ void RegistersIncrease() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(kRegisters));
}
#endif

// griddepcontrol.wait: sm_90. Grid: returns when the grids this one depends on have finished and
// their writes are visible; at once unless launched programmatically.
__device__ __forceinline__ void WaitForPriorGrids() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}
// griddepcontrol.launch_dependents: sm_90. Grid: lets a dependent grid start when every CTA of this
// one has said so or has exited.
__device__ __forceinline__ void LaunchDependentGrids() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

}  // namespace tilewright

#endif  // TILEWRIGHT_DEVICE_CLUSTER_CUH_
