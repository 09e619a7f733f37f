// Counter-based random numbers.
#ifndef TILEWRIGHT_DEVICE_RANDOM_CUH_
#define TILEWRIGHT_DEVICE_RANDOM_CUH_

#include "device/base.cuh"

namespace tilewright {

// mul.wide.u32: sm_80. Thread. Of 64-bit factors the compiler adds the product of the upper halves,
// though they are 0.
__device__ __forceinline__ uint64_t MultiplyWide(uint32_t a, uint32_t b) {
  uint64_t y;
  asm("mul.wide.u32 %0, %1, %2;" : "=l"(y) : "r"(a), "r"(b));
  return y;
}

struct PhiloxBlock {
  uint32_t words[4];
};

// Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011): block
// `counter` of the stream of `key`.
__device__ __forceinline__ PhiloxBlock Philox(uint64_t key, uint64_t counter) {
  constexpr uint32_t kMultiplier0 = 0xd2511f53, kMultiplier1 = 0xcd9e8d57;
  constexpr uint32_t kWeyl0 = 0x9e3779b9, kWeyl1 = 0xbb67ae85;
  uint32_t key0 = static_cast<uint32_t>(key);
  uint32_t key1 = static_cast<uint32_t>(key >> 32);
  PhiloxBlock x = {static_cast<uint32_t>(counter), static_cast<uint32_t>(counter >> 32), 0, 0};
#pragma unroll
  for (int round = 0; round < 10; ++round) {
    const uint64_t product0 = MultiplyWide(kMultiplier0, x.words[0]);
    const uint64_t product1 = MultiplyWide(kMultiplier1, x.words[2]);
    x = {static_cast<uint32_t>(product1 >> 32) ^ x.words[1] ^ key0, static_cast<uint32_t>(product1),
         static_cast<uint32_t>(product0 >> 32) ^ x.words[3] ^ key1,
         static_cast<uint32_t>(product0)};
    key0 += kWeyl0;
    key1 += kWeyl1;
  }
  return x;
}

// Word `index` of the stream.
__device__ __forceinline__ uint32_t PhiloxWord(uint64_t key, uint64_t index) {
  const PhiloxBlock block = Philox(key, index / 4);
  const uint32_t low = index % 2 == 0 ? block.words[0] : block.words[1];
  const uint32_t high = index % 2 == 0 ? block.words[2] : block.words[3];
  return index % 4 < 2 ? low : high;
}

}  // namespace tilewright

#endif  // TILEWRIGHT_DEVICE_RANDOM_CUH_
