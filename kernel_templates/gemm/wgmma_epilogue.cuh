// From accumulators to global memory, for kernels whose accumulators are wgmma fragments.
#ifndef TILEWRIGHT_GEMM_WGMMA_EPILOGUE_CUH_
#define TILEWRIGHT_GEMM_WGMMA_EPILOGUE_CUH_

#include "device/base.cuh"
#include "device/cluster.cuh"
#include "device/mma16.cuh"
#include "device/smem_desc.cuh"
#include "device/tma.cuh"
#include "device/types.cuh"
#include "device/warp.cuh"

namespace tilewright {

// Rounds to the output type and stores through swizzled shared memory: stmatrix, then one TMA store
// a chunk. A chunk is 64 contiguous output elements of kLines lines: 64 columns of the warp group's
// rows, or, swapped, 64 of its rows. Chunks go through a ring of kStagingChunks buffers, private to
// the warp group, whose 128 threads all call; `barrier` is its named barrier.
template <class Tile>
struct TmaEpilogue {
  static constexpr bool kSwap = Tile::kSwap;
  static constexpr int kLines = Tile::kChunkLines;
  static constexpr int kChunks = Tile::kChunks;
  using Element = typename Tile::Element;
  using Accumulators = float[Tile::kBlocks][Tile::kCols / 2];

  // `row` and `col` are the element coordinates of the warp group's part of the tile. `turn` counts
  // the chunks this warp group has stored: the position in the ring.
  template <class Params>
  __device__ static __forceinline__ void Store(const Accumulators& acc, unsigned char* staging,
                                               const Params& params, int row, int col, int batch,
                                               int barrier, int& turn) {
    const int thread = threadIdx.x % 128;
#pragma unroll
    for (int chunk = 0; chunk < kChunks; ++chunk) {
      unsigned char* buffer = staging + turn * Tile::kChunkBytes;
      if (++turn == Tile::kStagingChunks) turn = 0;
      if (thread == 0) TmaStoreWaitRead<Tile::kStagingChunks - 1>();
      NamedBarrierSync(barrier, 128);  // the buffer is free
      if constexpr (kSwap) {
        StageSwapped(acc[chunk], SharedAddress(buffer), thread / 32, thread % 32);
      } else {
        Stage(acc, chunk, SharedAddress(buffer), thread / 32, thread % 32);
      }
      FenceProxyAsync();
      NamedBarrierSync(barrier, 128);
      const int x = kSwap ? row + chunk * 64 : col + chunk * 64;
      const int y = kSwap ? col : row;
      const int width = (kSwap ? params.rows : params.cols) - x;
      // The copy engine cuts a line off at a multiple of 16 bytes only.
      const bool ragged = width < 64 && width % 8 != 0;
      if (ragged) StoreRagged(buffer, params, x, y, width, batch);
      if (thread == 0) {
        if (!ragged) Issue(&params.out_map, buffer, x, y, batch);
        TmaStoreCommit();
      }
    }
  }

  // Output rows are wgmma rows.
  __device__ static __forceinline__ void Stage(const Accumulators& acc, int chunk, uint32_t buffer,
                                               int warp, int lane) {
#pragma unroll
    for (int block = 0; block < Tile::kBlocks; ++block) {
      const uint32_t row = block * 64 + warp * 16 + lane % 16;
#pragma unroll
      for (int j = 0; j < 8; j += 2) {
        uint32_t r[4];
        Pack(r, acc[block], chunk * 8 + j);
        StoreMatrix4(buffer + SwizzledOffset(row, j + lane / 16), r);
      }
    }
  }

  // Output rows are wgmma columns.
  __device__ static __forceinline__ void StageSwapped(const float (&d)[Tile::kCols / 2],
                                                      uint32_t buffer, int warp, int lane) {
    const uint32_t piece = warp * 2 + lane / 8 % 2;
#pragma unroll
    for (int j = 0; j + 1 < Tile::kCols / 8; j += 2) {
      uint32_t r[4];
      Pack(r, d, j);
      StoreMatrix4Transposed(buffer + SwizzledOffset((j + lane / 16) * 8 + lane % 8, piece), r);
    }
    if constexpr (Tile::kCols % 16 != 0) {
      constexpr int kLast = Tile::kCols / 8 - 1;
      StoreMatrix2Transposed(buffer + SwizzledOffset(kLast * 8 + lane % 8, piece),
                             Pack2<Element>(d[4 * kLast], d[4 * kLast + 1]),
                             Pack2<Element>(d[4 * kLast + 2], d[4 * kLast + 3]));
    }
  }

  // Columns 8j to 8j + 15 of the fragment.
  __device__ static __forceinline__ void Pack(uint32_t (&r)[4], const float (&d)[Tile::kCols / 2],
                                              int j) {
#pragma unroll
    for (int i = 0; i < 4; ++i) r[i] = Pack2<Element>(d[4 * j + 2 * i], d[4 * j + 2 * i + 1]);
  }

  // The output map's box is 64 x 64, or, swapped, 64 x kLines.
  __device__ static __forceinline__ void Issue(const TensorMap* map, const unsigned char* buffer,
                                               int x, int y, int batch) {
    constexpr int kBoxLines = kSwap ? kLines : 64;
#pragma unroll
    for (int line = 0; line < kLines; line += kBoxLines) {
      TmaStore3d(map, buffer + line * kSwizzleRowBytes, x, y + line, batch);
    }
  }

  // Stores a chunk of which only `width` columns exist, by the threads.
  template <class Params>
  __device__ static __forceinline__ void StoreRagged(const unsigned char* buffer,
                                                     const Params& params, int x, int y, int width,
                                                     int batch) {
    const int piece = threadIdx.x % 64;  // the element of a line
    const int lines = Min((kSwap ? params.cols : params.rows) - y, kLines);
    const int64_t stride = params.out_row_stride;
    uint16_t* out = static_cast<uint16_t*>(params.out) + batch * params.out_batch_stride +
                    y * stride + x + piece;
#pragma unroll 1
    for (int line = threadIdx.x % 128 / 64; line < lines && piece < width; line += 2) {
      out[line * stride] = *reinterpret_cast<const uint16_t*>(
          buffer + SwizzledOffset(line, piece / 8) + piece % 8 * 2);
    }
  }
};

// Split-K within a cluster: the float32 partial tile is cut into shares of 64 rows x 8 columns,
// dealt to the CTAs in turn. Every CTA pushes each share into the shared memory of the share's
// owner, who sums them in rank order, so that results are reproducible.
template <class Tile>
struct ClusterReduction {
  static constexpr int kShareBytes = 64 * 8 * 4;
  static constexpr int kPieces = Tile::kCols / 8;
  static constexpr int kShares = Tile::kBlocks * kPieces;  // of a warp group

  // Of a warp group's slots: one for each own share and CTA.
  __device__ static __forceinline__ int SlotBytes(int ctas) {
    return CeilDiv(kShares, ctas) * ctas * kShareBytes;
  }

  // `slots` are the warp group's. Every CTA of the cluster must be done with that memory. The 128
  // threads of a warp group call.
  __device__ static __forceinline__ void Push(const float (&acc)[Tile::kBlocks][Tile::kCols / 2],
                                              const unsigned char* slots) {
    const uint32_t ctas = ClusterSize();
    uint32_t slot = SharedAddress(slots) + threadIdx.x % 128 * 16 + ClusterRank() * kShareBytes;
    uint32_t owner = 0;
#pragma unroll
    for (int share = 0; share < kShares; ++share) {
      const float* d = acc[share / kPieces] + share % kPieces * 4;
      StoreClusterFloat4(MapToRank(slot, owner), d[0], d[1], d[2], d[3]);
      if (++owner == ctas) {
        owner = 0;
        slot += ctas * kShareBytes;
      }
    }
  }

  // Sums and stores this CTA's shares. `row` and `col` as in TmaEpilogue.
  template <class Params>
  __device__ static __forceinline__ void Reduce(const unsigned char* slots, const Params& params,
                                                int row, int col, int batch) {
    const int ctas = ClusterSize();
    const int thread = threadIdx.x % 128;
    const float4* part = reinterpret_cast<const float4*>(slots) + thread;
    for (int share = ClusterRank(); share < kShares; share += ctas) {
      float sum[4] = {0, 0, 0, 0};
      for (int rank = 0; rank < ctas; ++rank, part += kShareBytes / 16) {
        sum[0] += part->x;
        sum[1] += part->y;
        sum[2] += part->z;
        sum[3] += part->w;
      }
      const int first_row = row + share / kPieces * 64 + thread / 32 * 16;
      StoreShare(sum, params, first_row, col + share % kPieces * 8, batch, thread % 32);
    }
  }

  // Stores the warp's 16 x 8 piece at (row, col).
  template <class Params>
  __device__ static __forceinline__ void StoreShare(const float (&d)[4], const Params& params,
                                                    int row, int col, int batch, int lane) {
    using Element = typename Tile::Element;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      uint32_t pair = Pack2<Element>(d[2 * half], d[2 * half + 1]);
      int r = row + half * 8 + lane / 4;
      int c = col + lane % 4 * 2;
      if constexpr (Tile::kSwap) {
        pair = TransposeMatrix(pair);
        r = col + lane / 4;
        c = row + half * 8 + lane % 4 * 2;
      }
      const int out_rows = Tile::kSwap ? params.cols : params.rows;
      const int out_cols = Tile::kSwap ? params.rows : params.cols;
      uint16_t* out = static_cast<uint16_t*>(params.out) + batch * params.out_batch_stride +
                      r * params.out_row_stride + c;
      if (r < out_rows && c + 1 < out_cols) {
        *reinterpret_cast<uint32_t*>(out) = pair;
      } else if (r < out_rows && c < out_cols) {
        *out = static_cast<uint16_t>(pair & 0xFFFF);
      }
    }
  }
};

}  // namespace tilewright

#endif  // TILEWRIGHT_GEMM_WGMMA_EPILOGUE_CUH_
