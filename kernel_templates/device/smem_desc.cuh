// Shared-memory tiles with the 128-byte swizzle, and the wgmma descriptors of them.
//
// A tile is a column of 128-byte rows, 1024-byte aligned; the copy engine and wgmma permute the
// 16-byte pieces of row r by XOR with r % 8. For 16-bit elements a row holds 64 of them.
//   K-major:  a row is 64 k-values of one m (or n); `extent` rows.
//   MN-major: a row is 64 m-values (or n) of one k; blocks of 64 m, each of 64 rows (k).
// In both, 64 further m-values are 8192 bytes on.
#ifndef TILEWRIGHT_DEVICE_SMEM_DESC_CUH_
#define TILEWRIGHT_DEVICE_SMEM_DESC_CUH_

#include "device/base.cuh"

namespace tilewright {

inline constexpr int kSwizzleRowBytes = 128;
inline constexpr int kSwizzleAtomBytes = 1024;  // 8 rows
inline constexpr int kTileBlockBytes = 64 * kSwizzleRowBytes;

// Byte offset of the 16-byte piece `column` of `row`.
__device__ constexpr uint32_t SwizzledOffset(uint32_t row, uint32_t column) {
  return row * kSwizzleRowBytes + ((column ^ (row & 7)) * 16);
}

// The wgmma matrix descriptor of a 64-element-wide tile at shared address `address`.
__device__ __forceinline__ uint64_t MatrixDescriptor(uint32_t address) {
  constexpr uint64_t kLeading = static_cast<uint64_t>(kTileBlockBytes >> 4) << 16;
  constexpr uint64_t kStride = static_cast<uint64_t>(kSwizzleAtomBytes >> 4) << 32;
  constexpr uint64_t kSwizzle128B = 1ull << 62;
  return kSwizzle128B | kStride | kLeading | ((address & 0x3FFFF) >> 4);
}

// Descriptor units (16 bytes) from one k16 step to the next, and from one 64-row block to the next.
template <bool kMnMajor>
inline constexpr uint64_t kDescriptorStepK = kMnMajor ? 16 * kSwizzleRowBytes / 16 : 32 / 16;
inline constexpr uint64_t kDescriptorStepBlock = kTileBlockBytes / 16;

}  // namespace tilewright

#endif  // TILEWRIGHT_DEVICE_SMEM_DESC_CUH_
