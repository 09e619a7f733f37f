// Warp-level 16-bit matrix fragments: ldmatrix, stmatrix, movmatrix and mma.sync m16n8k16.
#ifndef TILEWRIGHT_DEVICE_MMA16_CUH_
#define TILEWRIGHT_DEVICE_MMA16_CUH_

#include "device/base.cuh"
#include "device/types.cuh"

namespace tilewright {

// ldmatrix.sync.aligned.m8n8.x4 (sm_75): four 8x8 matrices; lane 8i+r supplies the shared address
// of row r of matrix i. Warp.
__device__ __forceinline__ void LoadMatrix4(uint32_t (&r)[4], uint32_t address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(address)
               : "memory");
}

// ldmatrix.sync.aligned.m8n8.x4.trans (sm_75): the same, each matrix transposed. Warp.
__device__ __forceinline__ void LoadMatrix4Transposed(uint32_t (&r)[4], uint32_t address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(address)
               : "memory");
}

// stmatrix.sync.aligned.m8n8.x4 (sm_90): the inverse of LoadMatrix4. Warp.
__device__ __forceinline__ void StoreMatrix4(uint32_t address, const uint32_t (&r)[4]) {
  asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(address),
               "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3])
               : "memory");
}

// stmatrix.sync.aligned.m8n8.x4.trans (sm_90): the inverse of LoadMatrix4Transposed. Warp.
__device__ __forceinline__ void StoreMatrix4Transposed(uint32_t address, const uint32_t (&r)[4]) {
  asm volatile(
      "stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(address),
      "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3])
      : "memory");
}

// stmatrix.sync.aligned.m8n8.x2.trans (sm_90): two matrices, addresses from lanes 0-15. Warp.
__device__ __forceinline__ void StoreMatrix2Transposed(uint32_t address, uint32_t r0, uint32_t r1) {
  asm volatile("stmatrix.sync.aligned.m8n8.x2.trans.shared.b16 [%0], {%1, %2};" ::"r"(address),
               "r"(r0), "r"(r1)
               : "memory");
}

// movmatrix.sync.aligned.m8n8.trans (sm_75): transposes an 8x8 fragment in registers. Warp.
__device__ __forceinline__ uint32_t TransposeMatrix(uint32_t r) {
  uint32_t transposed;
  asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(transposed) : "r"(r));
  return transposed;
}

// mma.sync.aligned.m16n8k16.row.col.f32 (sm_80): d += a * b. Warp.
template <class Element>
__device__ __forceinline__ void Mma16(float (&d)[4], const uint32_t (&a)[4], uint32_t b0,
                                      uint32_t b1);

template <>
__device__ __forceinline__ void Mma16<fp16>(float (&d)[4], const uint32_t (&a)[4], uint32_t b0,
                                            uint32_t b1) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7},"
      " {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

template <>
__device__ __forceinline__ void Mma16<bf16>(float (&d)[4], const uint32_t (&a)[4], uint32_t b0,
                                            uint32_t b1) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7},"
      " {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

}  // namespace tilewright

#endif  // TILEWRIGHT_DEVICE_MMA16_CUH_
