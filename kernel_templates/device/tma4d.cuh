// Tiled copies of rank 4 by the tensor memory accelerator (sm_90). Issued by one thread.
#ifndef TILEWRIGHT_DEVICE_TMA4D_CUH_
#define TILEWRIGHT_DEVICE_TMA4D_CUH_

#include "device/mbarrier.cuh"
#include "device/tensor_map.cuh"

namespace tilewright {

// cp.async.bulk.tensor.4d.shared::cluster.global.tile.mbarrier (sm_90): loads the box at
// coordinates (x innermost, y, z, w); its whole size is credited to `barrier`.
__device__ __forceinline__ void TmaLoad4d(void* smem, const TensorMap* map, Barrier* barrier, int x,
                                          int y, int z, int w) {
  asm volatile(
      "cp.async.bulk.tensor.4d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
      " [%0], [%1, {%3, %4, %5, %6}], [%2];" ::"r"(SharedAddress(smem)),
      "l"(map), "r"(SharedAddress(barrier)), "r"(x), "r"(y), "r"(z), "r"(w)
      : "memory");
}

// cp.async.bulk.tensor.4d.global.shared::cta.tile.bulk_group (sm_90): stores the box; parts outside
// the tensor are dropped.
__device__ __forceinline__ void TmaStore4d(const TensorMap* map, const void* smem, int x, int y,
                                           int z, int w) {
  asm volatile(
      "cp.async.bulk.tensor.4d.global.shared::cta.tile.bulk_group [%0, {%2, %3, %4, %5}], "
      "[%1];" ::"l"(map),
      "r"(SharedAddress(smem)), "r"(x), "r"(y), "r"(z), "r"(w)
      : "memory");
}

}  // namespace tilewright

#endif  // TILEWRIGHT_DEVICE_TMA4D_CUH_
