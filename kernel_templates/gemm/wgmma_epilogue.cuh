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
// for each 64 contiguous output elements. `staging` is private to the warp group. All of a
// warp group's 128 threads call; `barrier` is its named barrier.
template <class Tile>
struct TmaEpilogue {
  // Output rows are wgmma rows: staging holds [block of 64 rows][column chunk] of 64 x 64.
  __device__ static __forceinline__ void Stage(const float (&acc)[Tile::kBlocks][Tile::kCols / 2],
                                               uint32_t staging, int warp, int lane) {
    const uint32_t row = warp * 16 + lane % 16;
#pragma unroll
    for (int block = 0; block < Tile::kBlocks; ++block) {
#pragma unroll
      for (int j = 0; j < Tile::kCols / 8; j += 2) {
        uint32_t r[4];
        Pack(r, acc[block], j);
        const uint32_t chunk = staging + (block * (Tile::kCols / 64) + j / 8) * kTileBlockBytes;
        StoreMatrix4(chunk + SwizzledOffset(row, j % 8 + lane / 16), r);
      }
    }
  }

  // Output rows are wgmma columns: staging holds [block of 64 wgmma rows] of kCols x 64.
  __device__ static __forceinline__ void StageSwapped(
      const float (&acc)[Tile::kBlocks][Tile::kCols / 2], uint32_t staging, int warp, int lane) {
    const uint32_t piece = warp * 2 + lane / 8 % 2;
#pragma unroll
    for (int block = 0; block < Tile::kBlocks; ++block) {
      const uint32_t chunk = staging + block * Tile::kCols * kSwizzleRowBytes;
#pragma unroll
      for (int j = 0; j + 1 < Tile::kCols / 8; j += 2) {
        uint32_t r[4];
        Pack(r, acc[block], j);
        StoreMatrix4Transposed(chunk + SwizzledOffset((j + lane / 16) * 8 + lane % 8, piece), r);
      }
      if constexpr (Tile::kCols % 16 != 0) {
        constexpr int kLast = Tile::kCols / 8 - 1;
        const float(&d)[Tile::kCols / 2] = acc[block];
        StoreMatrix2Transposed(chunk + SwizzledOffset(kLast * 8 + lane % 8, piece),
                               Pack2<typename Tile::Element>(d[4 * kLast], d[4 * kLast + 1]),
                               Pack2<typename Tile::Element>(d[4 * kLast + 2], d[4 * kLast + 3]));
      }
    }
  }

  __device__ static __forceinline__ void Pack(uint32_t (&r)[4], const float (&d)[Tile::kCols / 2],
                                              int j) {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      r[i] = Pack2<typename Tile::Element>(d[4 * j + 2 * i], d[4 * j + 2 * i + 1]);
    }
  }

  // `row` and `col` are the element coordinates of the warp group's part of the output.
  __device__ static __forceinline__ void Store(const float (&acc)[Tile::kBlocks][Tile::kCols / 2],
                                               unsigned char* staging, const TensorMap* out_map,
                                               int row, int col, int batch, int barrier) {
    const int thread = threadIdx.x % 128;
    if (thread == 0) TmaStoreWaitRead();
    NamedBarrierSync(barrier, 128);
    const uint32_t address = SharedAddress(staging);
    if constexpr (Tile::kSwap) {
      StageSwapped(acc, address, thread / 32, thread % 32);
    } else {
      Stage(acc, address, thread / 32, thread % 32);
    }
    FenceProxyAsync();
    NamedBarrierSync(barrier, 128);
    if (thread == 0) {
      Issue(staging, out_map, row, col, batch);
      TmaStoreCommit();
    }
  }

  __device__ static __forceinline__ void Issue(const unsigned char* staging,
                                               const TensorMap* out_map, int row, int col,
                                               int batch) {
#pragma unroll
    for (int block = 0; block < Tile::kBlocks; ++block) {
      if constexpr (Tile::kSwap) {
        TmaStore3d(out_map, staging + block * Tile::kCols * kSwizzleRowBytes, row + block * 64, col,
                   batch);
      } else {
        constexpr int kChunks = Tile::kCols / 64;
#pragma unroll
        for (int chunk = 0; chunk < kChunks; ++chunk) {
          TmaStore3d(out_map, staging + (block * kChunks + chunk) * kTileBlockBytes,
                     col + chunk * 64, row + block * 64, batch);
        }
      }
    }
  }
};

// Split-K within a cluster: every CTA leaves its float32 partial tile in its own shared memory, and
// each sums a share of the tile over the CTAs in rank order, so that results are reproducible. One
// share is 64 rows x 8 columns.
template <class Tile>
struct ClusterReduction {
  static constexpr int kShareBytes = 128 * 4 * 4;
  static constexpr int kGroupShares = Tile::kBlocks * (Tile::kCols / 8);

  // `partials` is the warp group's part. The 128 threads of a warp group call.
  __device__ static __forceinline__ void Publish(const float (&acc)[Tile::kBlocks][Tile::kCols / 2],
                                                 unsigned char* partials) {
    float4* out = reinterpret_cast<float4*>(partials) + threadIdx.x % 128;
#pragma unroll
    for (int block = 0; block < Tile::kBlocks; ++block) {
#pragma unroll
      for (int j = 0; j < Tile::kCols / 8; ++j) {
        const float(&d)[Tile::kCols / 2] = acc[block];
        out[(block * (Tile::kCols / 8) + j) * 128] =
            make_float4(d[4 * j], d[4 * j + 1], d[4 * j + 2], d[4 * j + 3]);
      }
    }
  }

  // Sums and stores this CTA's shares. `row` and `col` as in TmaEpilogue.
  template <class Params>
  __device__ static __forceinline__ void Reduce(const unsigned char* partials, const Params& params,
                                                int row, int col, int batch) {
    const uint32_t ctas = ClusterSize();
    const int thread = threadIdx.x % 128;
    const uint32_t base = SharedAddress(partials) + thread * 16;
    for (int share = ClusterRank(); share < kGroupShares; share += ctas) {
      float sum[4] = {0, 0, 0, 0};
      for (uint32_t rank = 0; rank < ctas; ++rank) {
        float part[4];
        LoadClusterFloat4(part, MapToRank(base + share * kShareBytes, rank));
#pragma unroll
        for (int i = 0; i < 4; ++i) sum[i] += part[i];
      }
      constexpr int kPieces = Tile::kCols / 8;
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
