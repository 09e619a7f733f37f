// Offsets of positions numbered over dims of any strides.
#ifndef TILEWRIGHT_DEVICE_STRIDED_OFFSET_CUH_
#define TILEWRIGHT_DEVICE_STRIDED_OFFSET_CUH_

#include "device/base.cuh"
#include "device/fast_divmod.cuh"

namespace tilewright {

// Byte offset of position `index` over `rank` dims, innermost first; the last extent is not read.
__device__ __forceinline__ int64_t StridedOffset(int64_t index, int rank,
                                                 const FastDivmod<true>* extent,
                                                 const long long* stride) {
  if (rank == 0) return 0;
  unsigned long long rest = static_cast<unsigned long long>(index);
  int64_t offset = 0;
#pragma unroll 1
  for (int d = 0; d < rank - 1; ++d) {
    unsigned long long at;
    extent[d](rest, &rest, &at);
    offset += static_cast<int64_t>(at) * stride[d];
  }
  return offset + static_cast<int64_t>(rest) * stride[rank - 1];
}

}  // namespace tilewright

#endif  // TILEWRIGHT_DEVICE_STRIDED_OFFSET_CUH_
