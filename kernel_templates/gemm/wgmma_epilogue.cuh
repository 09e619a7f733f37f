// From accumulators to global memory, for kernels whose accumulators are wgmma fragments, by TMA.
#ifndef TILEWRIGHT_GEMM_WGMMA_EPILOGUE_CUH_
#define TILEWRIGHT_GEMM_WGMMA_EPILOGUE_CUH_

#include "device/base.cuh"
#include "device/cluster.cuh"
#include "device/mma16.cuh"
#include "device/shared_store.cuh"
#include "device/smem_desc.cuh"
#include "device/tma.cuh"
#include "device/types.cuh"
#include "device/warp.cuh"
#include "gemm/epilogue.cuh"
#include "gemm/params.cuh"

namespace tilewright {

// A warp group's results: its accumulators with the bias and activation applied, one by one where
// they are asked for, so that they need no registers of their own.
template <class Tile, class Params>
struct Results {
  using Rule = typename Tile::Rule;
  const float (&acc)[Tile::kBlocks][Tile::kCols / 2];
  const Params& params;
  int row, col;  // of the thread's first value

  // `row` and `col` are the element coordinates of the warp group's part of the tile.
  __device__ static __forceinline__ Results Of(const float (&acc)[Tile::kBlocks][Tile::kCols / 2],
                                               const Params& params, int row, int col) {
    const int lane = threadIdx.x % 32;
    return {acc, params, row + static_cast<int>(threadIdx.x) % 128 / 32 * 16 + lane / 4,
            col + lane % 4 * 2};
  }

  // Values 4p to 4p + 3 of a block are columns 8p, 8p + 1 of the thread's row, then of the row
  // eight further on.
  __device__ __forceinline__ float At(int block, int j) const {
    if constexpr (!Rule::kAny) return acc[block][j];
    return Rule::Apply(acc[block][j], params.bias, row + block * 64 + j % 4 / 2 * 8, params.rows,
                       col + j / 4 * 8 + j % 2, params.cols);
  }
};

// Rounds to the output type and stores through swizzled shared memory, then by TMA. A chunk is
// kWidth (128 bytes) contiguous output elements of kLines lines: columns of the warp group's rows,
// or, swapped, some of its rows. If the staging holds a whole tile it is filled in one go, else
// chunks go through a ring of kStagingChunks buffers. It is private to the warp group, whose 128
// threads all call; `barrier` is its named barrier.
template <class Tile>
struct TmaEpilogue {
  static constexpr bool kSwap = Tile::kSwap;
  static constexpr int kLines = Tile::kChunkLines;
  static constexpr int kChunks = Tile::kChunks;
  static constexpr int kWidth = Tile::kChunkWidth;
  static constexpr int kPiece = Tile::Rule::kOutputPiece;  // elements of 16 bytes
  using Output = typename Tile::Output;

  // Where a chunk starts within the tile. The last one ends with the tile: it may store some
  // columns again, with the same values.
  __device__ static constexpr int ChunkStart(int chunk) {
    return kSwap || Tile::kCols < kWidth ? chunk * kWidth
                                         : Min(chunk * kWidth, Tile::kCols - kWidth);
  }

  // The least number of chunks, if any, that can start evenly apart, at multiples of 8 columns, and
  // together cover a tile: then one loop body serves all of them.
  __device__ static constexpr int EvenChunks() {
    constexpr int kSpan = Tile::kCols - kWidth;  // from the first one's start to the last one's
    for (int steps = kChunks - 1; !kSwap && steps > 0 && steps < 2 * kChunks; ++steps) {
      if (kSpan % (8 * steps) == 0) return steps + 1;
    }
    return 0;
  }
  static constexpr int kEvenChunks = EvenChunks();
  static constexpr int kEvenStep =
      kEvenChunks == 0 ? 0 : (Tile::kCols - kWidth) / (kEvenChunks - 1);
  // A bias or activation is many instructions an element: compiled once a chunk's width, not once a
  // tile's, as their number is what a compile takes.
  static constexpr bool kRolled = Tile::Rule::kAny && kEvenChunks != 0;

  // `row` and `col` are the element coordinates of the warp group's part of the tile. `turn` counts
  // the chunks this warp group has stored: the position in the ring.
  template <class Params>
  __device__ static __forceinline__ void Store(const float (&acc)[Tile::kBlocks][Tile::kCols / 2],
                                               unsigned char* staging, const Params& params,
                                               int row, int col, int batch, int barrier,
                                               int& turn) {
    constexpr bool kWhole = Tile::kStagingChunks == kChunks;
    constexpr int kPerRound = kWhole ? kChunks : 1;
    const int thread = threadIdx.x % 128;
    const auto results = Results<Tile, Params>::Of(acc, params, row, col);
    // Of the two chunks of one block's float32 rows, two warps each have all of one.
    constexpr bool kAlike = kSwap && sizeof(Output) == 4 && Tile::kBlocks == 1;
    constexpr int kUnrolled = kAlike ? 1 : kChunks;
#pragma unroll kUnrolled
    for (int first = 0; first < kChunks; first += kPerRound) {
      unsigned char* buffer = staging + turn * Tile::kChunkBytes;
      if (!kWhole && ++turn == Tile::kStagingChunks) turn = 0;
      if (thread == 0) TmaStoreWaitRead<kWhole ? 0 : Tile::kStagingChunks - 1>();
      NamedBarrierSync(barrier, 128);  // the buffer is free
#pragma unroll kUnrolled
      for (int i = 0; i < kPerRound; ++i) {
        StageChunk(results, ChunkStart(first + i), SharedAddress(buffer) + i * Tile::kChunkBytes,
                   thread / 32, thread % 32);
      }
      FenceProxyAsync();
      NamedBarrierSync(barrier, 128);
#pragma unroll
      for (int i = 0; i < kPerRound; ++i) {
        StoreChunk(buffer + i * Tile::kChunkBytes, params,
                   (kSwap ? row : col) + ChunkStart(first + i), kSwap ? col : row, batch);
      }
      if (thread == 0) TmaStoreCommit();
    }
  }

  // A quarter of a chunk of two blocks, or half of one's, on its own.
  struct Piece : Tile {
    static constexpr int kBlocks = 1;
    static constexpr int kCols = kWidth / 2;
  };
  static constexpr int kPieces = 2 * Tile::kBlocks;
  static constexpr int kPieceSums = kWidth / 4;  // a thread's

  // The same in a loop over chunks and pieces; moves the accumulators of the next chunk to the
  // front after each, so that `acc` is used up.
  template <class Params>
  __device__ static __forceinline__ void StoreRolled(float (&acc)[Tile::kBlocks][Tile::kCols / 2],
                                                     unsigned char* staging, const Params& params,
                                                     int row, int col, int batch, int barrier,
                                                     int& turn) {
    const int thread = threadIdx.x % 128;
#pragma unroll 1
    for (int chunk = 0; chunk < kEvenChunks; ++chunk, col += kEvenStep) {
      unsigned char* buffer = staging + turn * Tile::kChunkBytes;
      if (++turn == Tile::kStagingChunks) turn = 0;
      if (thread == 0) TmaStoreWaitRead<Tile::kStagingChunks - 1>();
      NamedBarrierSync(barrier, 128);  // the buffer is free
#pragma unroll 1
      for (int piece = 0; piece < kPieces; ++piece) {
        StagePiece(acc, piece, SharedAddress(buffer), params, row, col);
      }
      FenceProxyAsync();
      NamedBarrierSync(barrier, 128);
      StoreChunk(buffer, params, col, row, batch);
      if (thread == 0) TmaStoreCommit();
#pragma unroll
      for (int block = 0; block < Tile::kBlocks; ++block) {
#pragma unroll
        for (int j = 0; j + kEvenStep / 2 < Tile::kCols / 2; ++j) {
          acc[block][j] = acc[block][j + kEvenStep / 2];
        }
      }
    }
  }

  // Of the chunk at the front of `acc`.
  template <class Params>
  __device__ static __forceinline__ void StagePiece(
      const float (&acc)[Tile::kBlocks][Tile::kCols / 2], int piece, uint32_t buffer,
      const Params& params, int row, int col) {
    float sums[1][kPieceSums];
#pragma unroll
    for (int i = 0; i < kPieces; ++i) {
#pragma unroll
      for (int j = 0; j < kPieceSums; ++j) {
        if (piece == i) sums[0][j] = acc[i / 2][i % 2 * kPieceSums + j];
      }
    }
    const int block = piece / 2, half = piece % 2;
    const auto results =
        Results<Piece, Params>::Of(sums, params, row + block * 64, col + half * (kWidth / 2));
    const int warp = threadIdx.x % 128 / 32, lane = threadIdx.x % 32;
    buffer += block * 64 * kSwizzleRowBytes;
    if constexpr (sizeof(Output) == 4) {
      TmaEpilogue<Piece>::StageFloat(results, 0, buffer, warp, lane, half * 4);
    } else {
      TmaEpilogue<Piece>::Stage(results, 0, buffer, warp, lane, half * 4);
    }
  }

  // Stages the chunk that starts at element `start` of the contiguous axis.
  template <class R>
  __device__ static __forceinline__ void StageChunk(const R& results, int start, uint32_t buffer,
                                                    int warp, int lane) {
    constexpr bool kFloat = sizeof(Output) == 4;
    if constexpr (kFloat && kSwap) {
      StageFloatSwapped(results, start, buffer, warp, lane);
    } else if constexpr (kFloat) {
      StageFloat(results, start / 8, buffer, warp, lane);
    } else if constexpr (kSwap) {
      StageSwapped(results, start / 64, buffer, warp, lane);
    } else {
      Stage(results, start / 8, buffer, warp, lane);
    }
  }

  // Stores a staged chunk from output element (y, x) on.
  template <class Params>
  __device__ static __forceinline__ void StoreChunk(const unsigned char* buffer,
                                                    const Params& params, int x, int y, int batch) {
    constexpr int kColumns = kSwap ? kWidth : Min(kWidth, Tile::kCols);
    const int width = Min((kSwap ? params.rows : params.cols) - x, kColumns);
    // The copy engine cuts a line off at the tensor's end only, and at a multiple of 16 bytes.
    if (kColumns < kWidth || (width < kWidth && width % kPiece != 0)) {
      // The most sums a thread take the compiler longest: they get the shorter code.
      if constexpr (Tile::kBlocks * Tile::kCols >= 2 * 176) {
        StoreOneByOne(buffer, params, x, y, width, batch);
      } else {
        StoreByThreads(buffer, params, x, y, width, batch);
      }
    } else if (threadIdx.x % 128 == 0) {
      Issue(&params.out_map, buffer, x, y, batch, params.stream_out);
    }
  }

  // Output rows are wgmma rows; from fragment `first` (of 8 columns) on, to the chunk's 16-byte
  // column `x` on.
  template <class R>
  __device__ static __forceinline__ void Stage(const R& results, int first, uint32_t buffer,
                                               int warp, int lane, int x = 0) {
#pragma unroll
    for (int block = 0; block < Tile::kBlocks; ++block) {
      const uint32_t row = block * 64 + warp * 16 + lane % 16;
#pragma unroll
      for (int j = 0; j < 8 && first + j < Tile::kCols / 8; j += 2) {
        uint32_t r[4];
        Pack(r, results, block, first + j);
        StoreMatrix4(buffer + SwizzledOffset(row, x + j + lane / 16), r);
      }
    }
  }

  template <class R>
  __device__ static __forceinline__ void StageFloat(const R& results, int first, uint32_t buffer,
                                                    int warp, int lane, int x = 0) {
#pragma unroll
    for (int block = 0; block < Tile::kBlocks; ++block) {
      const uint32_t row = block * 64 + warp * 16 + lane / 4;
#pragma unroll
      for (int j = 0; j < 4 && first + j < Tile::kCols / 8; ++j) {
#pragma unroll
        for (int half = 0; half < 2; ++half) {
          const int at = (first + j) * 4 + half * 2;
          StoreShared8(
              buffer + SwizzledOffset(row + half * 8, x + j * 2 + lane % 4 / 2) + lane % 2 * 8,
              results.At(block, at), results.At(block, at + 1));
        }
      }
    }
  }

  // Output rows are wgmma columns.
  template <class R>
  __device__ static __forceinline__ void StageSwapped(const R& results, int block, uint32_t buffer,
                                                      int warp, int lane) {
    const uint32_t piece = warp * 2 + lane / 8 % 2;
#pragma unroll
    for (int j = 0; j + 1 < Tile::kCols / 8; j += 2) {
      uint32_t r[4];
      Pack(r, results, block, j);
      StoreMatrix4Transposed(buffer + SwizzledOffset((j + lane / 16) * 8 + lane % 8, piece), r);
    }
    if constexpr (Tile::kCols % 16 != 0) {
      constexpr int kLast = Tile::kCols / 8 - 1;
      StoreMatrix2Transposed(buffer + SwizzledOffset(kLast * 8 + lane % 8, piece),
                             PackPair(results, block, 4 * kLast),
                             PackPair(results, block, 4 * kLast + 2));
    }
  }

  // A chunk is 32 of a block's rows, from `start` on: those of two warps.
  template <class R>
  __device__ static __forceinline__ void StageFloatSwapped(const R& results, int start,
                                                           uint32_t buffer, int warp, int lane) {
    const int x = warp * 16 - start % 64 + lane / 4;
    if (x < 0 || x >= 32) return;
#pragma unroll
    for (int j = 0; j < Tile::kCols / 2; ++j) {
      const uint32_t line = j / 4 * 8 + lane % 4 * 2 + j % 2;
      const uint32_t at = x + j % 4 / 2 * 8;
      StoreShared4(buffer + SwizzledOffset(line, at / 4) + at % 4 * 4,
                   results.At(Tile::kBlocks == 1 ? 0 : start / 64, j));
    }
  }

  // Columns 8j to 8j + 15 of the fragment.
  template <class R>
  __device__ static __forceinline__ void Pack(uint32_t (&r)[4], const R& results, int block,
                                              int j) {
#pragma unroll
    for (int i = 0; i < 4; ++i) r[i] = PackPair(results, block, 4 * j + 2 * i);
  }
  template <class R>
  __device__ static __forceinline__ uint32_t PackPair(const R& results, int block, int j) {
    return Pack2<Output>(results.At(block, j), results.At(block, j + 1));
  }

  // The output map's box is kWidth x 64, or, swapped, kWidth x kLines.
  __device__ static __forceinline__ void Issue(const TensorMap* map, const unsigned char* buffer,
                                               int x, int y, int batch, bool stream) {
    constexpr int kBoxLines = kSwap ? kLines : 64;
#pragma unroll
    for (int line = 0; line < kLines; line += kBoxLines) {
      const unsigned char* box = buffer + line * kSwizzleRowBytes;
      if (stream) {
        TmaStore3d(map, box, x, y + line, batch, PolicyEvictFirst());
      } else {
        TmaStore3d(map, box, x, y + line, batch);
      }
    }
  }

  // Stores the first `width` columns of a chunk; each thread takes pieces of 16 bytes.
  template <class Params>
  __device__ static __forceinline__ void StoreByThreads(const unsigned char* buffer,
                                                        const Params& params, int x, int y,
                                                        int width, int batch) {
    const int piece = threadIdx.x % 8;
    const int elements = Min(width - piece * kPiece, kPiece);
    const int lines = Min((kSwap ? params.cols : params.rows) - y, kLines);
    const int64_t stride = params.out_row_stride;
    Output* out = static_cast<Output*>(params.out) + batch * params.out_batch_stride + y * stride +
                  x + piece * kPiece;
#pragma unroll 1
    for (int line = threadIdx.x % 128 / 8; line < lines; line += 16) {
      const unsigned char* from = buffer + SwizzledOffset(line, piece);
      if (elements == kPiece) {
        *reinterpret_cast<uint4*>(out + line * stride) = *reinterpret_cast<const uint4*>(from);
      }
#pragma unroll 1
      for (int i = 0; elements < kPiece && i < elements; ++i) {
        out[line * stride + i] = reinterpret_cast<const Output*>(from)[i];
      }
    }
  }

  // The same, one element after another.
  template <class Params>
  __device__ static __forceinline__ void StoreOneByOne(const unsigned char* buffer,
                                                       const Params& params, int x, int y,
                                                       int width, int batch) {
    const int column = threadIdx.x % kWidth;
    if (column >= width) return;
    const int lines = Min((kSwap ? params.cols : params.rows) - y, kLines);
    const int64_t stride = params.out_row_stride;
    Output* out =
        static_cast<Output*>(params.out) + batch * params.out_batch_stride + y * stride + x + column;
#pragma unroll 1
    for (int line = threadIdx.x % 128 / kWidth; line < lines; line += 128 / kWidth) {
      const unsigned char* from = buffer + SwizzledOffset(line, column / kPiece);
      out[line * stride] = reinterpret_cast<const Output*>(from)[column % kPiece];
    }
  }
};

}  // namespace tilewright

#endif  // TILEWRIGHT_GEMM_WGMMA_EPILOGUE_CUH_
