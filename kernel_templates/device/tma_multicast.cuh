// Loads into several CTAs of a cluster with a cache policy (sm_90).
#ifndef TILEWRIGHT_DEVICE_TMA_MULTICAST_CUH_
#define TILEWRIGHT_DEVICE_TMA_MULTICAST_CUH_

#include "device/base.cuh"
#include "device/mbarrier.cuh"
#include "device/tensor_map.cuh"

namespace tilewright {

// cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier.multicast::cluster.L2::cache_hint
// (sm_90): TmaLoadMulticast3d() with a cache policy (createpolicy).
__device__ __forceinline__ void TmaLoadMulticast3d(void* smem, const TensorMap* map,
                                                   Barrier* barrier, int x, int y, int z,
                                                   uint16_t ctas, uint64_t policy) {
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
      ".multicast::cluster.L2::cache_hint [%0], [%1, {%3, %4, %5}], [%2], %6, %7;" ::"r"(
          SharedAddress(smem)),
      "l"(map), "r"(SharedAddress(barrier)), "r"(x), "r"(y), "r"(z), "h"(ctas), "l"(policy)
      : "memory");
}

}  // namespace tilewright

#endif  // TILEWRIGHT_DEVICE_TMA_MULTICAST_CUH_
