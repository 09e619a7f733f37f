// Tiles of rows in shared memory, and their mma.sync fragments. A tile is one or more columns of
// 128-byte swizzled rows (smem_desc.cuh), 64 elements of 16 bits each.
#ifndef TILEWRIGHT_ATTENTION_TILE_COPY_CUH_
#define TILEWRIGHT_ATTENTION_TILE_COPY_CUH_

#include "device/base.cuh"
#include "device/cp_async.cuh"
#include "device/mma16.cuh"
#include "device/packet.cuh"
#include "device/smem_desc.cuh"
#include "device/types.cuh"

namespace tilewright {

__host__ __device__ constexpr int TileBytes(int rows, int columns) {
  return (columns + 63) / 64 * rows * kSwizzleRowBytes;
}

// The shared address of the 16-byte piece `piece` of `row` in a tile of kRows rows.
template <int kRows>
__device__ __forceinline__ uint32_t PieceAddress(uint32_t tile, int row, int piece) {
  return tile + piece / 8 * (kRows * kSwizzleRowBytes) + SwizzledOffset(row, piece % 8);
}

// Eight elements of type Target from eight of type Source, `stride` apart.
template <class Target, class Source, bool kVector>
__device__ __forceinline__ void CopyPiece(uint32_t to, const Source* from, int64_t stride,
                                          bool present) {
  if constexpr (kVector && kIsSame<Target, Source>) {
    CopyAsync16(to, from, present ? 16 : 0);
  } else {
    uint32_t words[4] = {0, 0, 0, 0};
    if (present) {
      Source source[8];
      if constexpr (kVector && sizeof(Source) == 1) {
        const uint2 bits = *reinterpret_cast<const uint2*>(from);
#pragma unroll
        for (int i = 0; i < 8; ++i) {
          source[i].bits = static_cast<uint8_t>((i < 4 ? bits.x : bits.y) >> (i % 4 * 8));
        }
      } else {
#pragma unroll
        for (int i = 0; i < 8; ++i) source[i] = from[i * stride];
      }
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        if constexpr (kIsSame<Target, Source>) {
          words[i] = source[2 * i].bits | static_cast<uint32_t>(source[2 * i + 1].bits) << 16;
        } else {
          words[i] = Pack2<Target>(TypeTraits<Source>::ToCompute(source[2 * i]),
                                   TypeTraits<Source>::ToCompute(source[2 * i + 1]));
        }
      }
    }
    StoreShared16(to, words);
  }
}

// An offset that stands for a row of zeros. Others may be negative: strides may be.
inline constexpr int64_t kNoRow = -(1ll << 62);

// Copies kRows rows of kColumns columns (a multiple of 16; those from `columns` on become zeros) by
// kThreads threads. offset(r) is where row r starts, in elements from `base`, or kNoRow.
// Asynchronous where the types agree: to be committed and awaited.
template <int kRows, int kColumns, int kThreads, class Target, class Source, bool kVector,
          class Offset>
__device__ __forceinline__ void CopyTile(uint32_t tile, const Source* base, int64_t stride,
                                         int columns, const Offset& offset) {
  constexpr int kPieces = kColumns / 8;
  constexpr int kTotal = kRows * kPieces;
#pragma unroll 4
  for (int i = threadIdx.x % kThreads; i < kTotal; i += kThreads) {
    const int row = i / kPieces;
    const int piece = i - row * kPieces;
    const int64_t at = offset(row);
    const bool present = at != kNoRow && piece * 8 < columns;
    CopyPiece<Target, Source, kVector>(PieceAddress<kRows>(tile, row, piece),
                                       base + (present ? at + piece * 8 * stride : 0), stride,
                                       present);
  }
}

// The 16 x 16 piece at (row, column) as mma's row operand.
template <int kRows>
__device__ __forceinline__ void LoadRowFragment(uint32_t (&r)[4], uint32_t tile, int row,
                                                int column) {
  const int lane = threadIdx.x % 32;
  LoadMatrix4(r, PieceAddress<kRows>(tile, row + lane % 16, column / 8 + lane / 16));
}
// Keys [row, row + 16) x dimensions [column, column + 16) as two column operands, {b0, b1} each.
template <int kRows>
__device__ __forceinline__ void LoadKeyFragment(uint32_t (&r)[4], uint32_t tile, int row,
                                                int column) {
  const int lane = threadIdx.x % 32;
  LoadMatrix4(r,
              PieceAddress<kRows>(tile, row + lane / 16 * 8 + lane % 8, column / 8 + lane / 8 % 2));
}
// Values of keys [row, row + 16), dimensions [column, column + 16), likewise: the sum runs over
// keys.
template <int kRows>
__device__ __forceinline__ void LoadValueFragment(uint32_t (&r)[4], uint32_t tile, int column,
                                                  int row) {
  const int lane = threadIdx.x % 32;
  LoadMatrix4Transposed(
      r, PieceAddress<kRows>(tile, row + lane / 8 % 2 * 8 + lane % 8, column / 8 + lane / 16));
}

}  // namespace tilewright

#endif  // TILEWRIGHT_ATTENTION_TILE_COPY_CUH_
