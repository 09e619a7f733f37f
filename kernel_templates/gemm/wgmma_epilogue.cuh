// From accumulators to global memory, for kernels whose accumulators are wgmma fragments.
#ifndef TILEWRIGHT_GEMM_WGMMA_EPILOGUE_CUH_
#define TILEWRIGHT_GEMM_WGMMA_EPILOGUE_CUH_

#include "device/base.cuh"
#include "device/cluster.cuh"
#include "device/mbarrier.cuh"
#include "device/mma16.cuh"
#include "device/smem_desc.cuh"
#include "device/tma.cuh"
#include "device/types.cuh"
#include "device/warp.cuh"

namespace tilewright {

// Rounds to the output type and stores through swizzled shared memory: stmatrix, then one TMA store
// a chunk. A chunk is 64 contiguous output elements of kLines lines: 64 columns of the warp group's
// rows, or, swapped, 64 of its rows. If the staging holds a whole tile it is filled in one go, else
// chunks go through a ring of kStagingChunks buffers. It is private to the warp group, whose 128
// threads all call; `barrier` is its named barrier.
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
    constexpr bool kWhole = Tile::kStagingChunks == kChunks;
    constexpr int kPerRound = kWhole ? kChunks : 1;
    const int thread = threadIdx.x % 128;
#pragma unroll
    for (int first = 0; first < kChunks; first += kPerRound) {
      unsigned char* buffer = staging + turn * Tile::kChunkBytes;
      if (!kWhole && ++turn == Tile::kStagingChunks) turn = 0;
      if (thread == 0) TmaStoreWaitRead<kWhole ? 0 : Tile::kStagingChunks - 1>();
      NamedBarrierSync(barrier, 128);  // the buffer is free
#pragma unroll
      for (int i = 0; i < kPerRound; ++i) {
        StageChunk(acc, first + i, SharedAddress(buffer) + i * Tile::kChunkBytes, thread);
      }
      FenceProxyAsync();
      NamedBarrierSync(barrier, 128);
#pragma unroll
      for (int i = 0; i < kPerRound; ++i) {
        const int chunk = first + i;
        StoreChunk(buffer + i * Tile::kChunkBytes, params, (kSwap ? row : col) + chunk * 64,
                   kSwap ? col : row, kSwap ? 64 : Min(64, Tile::kCols - chunk * 64), batch);
      }
      if (thread == 0) TmaStoreCommit();
    }
  }

  __device__ static __forceinline__ void StageChunk(const Accumulators& acc, int chunk,
                                                    uint32_t buffer, int thread) {
    if constexpr (kSwap) {
      StageSwapped(acc[chunk], buffer, thread / 32, thread % 32);
    } else {
      Stage(acc, chunk, buffer, thread / 32, thread % 32);
    }
  }

  // Stores a staged chunk of `columns` columns from output element (y, x) on.
  template <class Params>
  __device__ static __forceinline__ void StoreChunk(const unsigned char* buffer,
                                                    const Params& params, int x, int y, int columns,
                                                    int batch) {
    const int width = Min((kSwap ? params.rows : params.cols) - x, columns);
    // The copy engine cuts a line off at the tensor's end only, and at a multiple of 16 bytes.
    if (columns < 64 || (width < 64 && width % 8 != 0)) {
      StoreByThreads(buffer, params, x, y, width, batch);
    } else if (threadIdx.x % 128 == 0) {
      Issue(&params.out_map, buffer, x, y, batch);
    }
  }

  // Output rows are wgmma rows.
  __device__ static __forceinline__ void Stage(const Accumulators& acc, int chunk, uint32_t buffer,
                                               int warp, int lane) {
#pragma unroll
    for (int block = 0; block < Tile::kBlocks; ++block) {
      const uint32_t row = block * 64 + warp * 16 + lane % 16;
#pragma unroll
      for (int j = 0; j < 8 && chunk * 8 + j < Tile::kCols / 8; j += 2) {
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

  // Stores the first `width` columns of a chunk; each thread takes pieces of 16 bytes.
  template <class Params>
  __device__ static __forceinline__ void StoreByThreads(const unsigned char* buffer,
                                                        const Params& params, int x, int y,
                                                        int width, int batch) {
    const int piece = threadIdx.x % 8;
    const int elements = Min(width - piece * 8, 8);
    const int lines = Min((kSwap ? params.cols : params.rows) - y, kLines);
    const int64_t stride = params.out_row_stride;
    uint16_t* out = static_cast<uint16_t*>(params.out) + batch * params.out_batch_stride +
                    y * stride + x + piece * 8;
#pragma unroll 1
    for (int line = threadIdx.x % 128 / 8; line < lines; line += 16) {
      const unsigned char* from = buffer + SwizzledOffset(line, piece);
      if (elements == 8) {
        *reinterpret_cast<uint4*>(out + line * stride) = *reinterpret_cast<const uint4*>(from);
      }
#pragma unroll 1
      for (int i = 0; elements < 8 && i < elements; ++i) {
        out[line * stride + i] = reinterpret_cast<const uint16_t*>(from)[i];
      }
    }
  }
};

// Split-K within a cluster: the float32 partial tile is cut into shares of 64 rows x 8 columns,
// dealt to the CTAs in turn. Every CTA pushes each share into the shared memory of the share's
// owner, whose barrier counts the bytes, and who sums them in rank order, so that results are
// reproducible.
template <class Tile>
struct ClusterReduction {
  static constexpr int kShareBytes = 64 * 8 * 4;
  static constexpr int kPieces = Tile::kCols / 8;
  static constexpr int kShares = Tile::kBlocks * kPieces;  // of a warp group

  // Of a warp group's slots: one for each own share and CTA.
  __device__ static __forceinline__ int SlotBytes(int ctas) {
    return CeilDiv(kShares, ctas) * ctas * kShareBytes;
  }

  // Makes `barrier`, the warp group's, complete when all its slots are filled. One thread.
  __device__ static __forceinline__ void Expect(Barrier* barrier) {
    const int ctas = ClusterSize();
    const int own = (kShares + ctas - 1 - static_cast<int>(ClusterRank())) / ctas;
    BarrierArriveExpect(barrier, own * ctas * kShareBytes);
  }

  // `slots` are the warp group's. Every CTA of the cluster must be done with that memory. The 128
  // threads of a warp group call.
  __device__ static __forceinline__ void Push(const float (&acc)[Tile::kBlocks][Tile::kCols / 2],
                                              const unsigned char* slots, Barrier* barrier) {
    const uint32_t ctas = ClusterSize();
    const uint32_t filled = SharedAddress(barrier);
    uint32_t slot = SharedAddress(slots) + threadIdx.x % 128 * 16 + ClusterRank() * kShareBytes;
    uint32_t owner = 0;
#pragma unroll
    for (int share = 0; share < kShares; ++share) {
      const float* d = acc[share / kPieces] + share % kPieces * 4;
      StoreAsyncClusterFloat4(MapToRank(slot, owner), d[0], d[1], d[2], d[3],
                              MapToRank(filled, owner));
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
