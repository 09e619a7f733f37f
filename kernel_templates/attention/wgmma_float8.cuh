// WgmmaAttentionKernel on float8 queries, keys and transposed values.
#ifndef TILEWRIGHT_ATTENTION_WGMMA_FLOAT8_CUH_
#define TILEWRIGHT_ATTENTION_WGMMA_FLOAT8_CUH_

// The products, as in wgmma.cuh; values have eight more columns, for sums, where there is place.
#ifdef CONFIG_kTileN
#define TILEWRIGHT_CHAIN_FLOAT8 1
#define TILEWRIGHT_CHAIN_SHARED_COLUMNS CONFIG_kTileN
#define TILEWRIGHT_CHAIN_SHARED_STEPS (CONFIG_kDim / 32)
#define TILEWRIGHT_CHAIN_REGISTER_COLUMNS \
  (CONFIG_kValueDim <= 248 ? CONFIG_kValueDim + 8 : CONFIG_kValueDim)
#define TILEWRIGHT_CHAIN_REGISTER_STEPS (CONFIG_kTileN / 32)
#endif

#include "attention/wgmma.cuh"
#include "device/pack_e4m3.cuh"

namespace tilewright {

// A thread has two keys of each tile of eight, where the operand wants four neighbours: keys are
// taken in the order of TransposedKey().
template <>
struct PackStep<fp8_e4m3> {
  __device__ static __forceinline__ void Run(uint32_t (&a)[4], const float (*s)[4]) {
    a[0] = PackE4m3x4(s[0][0], s[0][1], s[1][0], s[1][1]);
    a[1] = PackE4m3x4(s[0][2], s[0][3], s[1][2], s[1][3]);
    a[2] = PackE4m3x4(s[2][0], s[2][1], s[3][0], s[3][1]);
    a[3] = PackE4m3x4(s[2][2], s[2][3], s[3][2], s[3][3]);
  }
};

}  // namespace tilewright

#endif  // TILEWRIGHT_ATTENTION_WGMMA_FLOAT8_CUH_
