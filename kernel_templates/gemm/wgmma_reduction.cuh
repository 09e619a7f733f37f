// Sums of a tile's parts of K, for kernels whose accumulators are wgmma fragments: within a cluster
// through shared memory, or by a second kernel through global memory.
#ifndef TILEWRIGHT_GEMM_WGMMA_REDUCTION_CUH_
#define TILEWRIGHT_GEMM_WGMMA_REDUCTION_CUH_

#include "device/base.cuh"
#include "device/cluster.cuh"
#include "device/mbarrier.cuh"
#include "device/mma16.cuh"
#include "device/types.cuh"
#include "gemm/epilogue.cuh"
#include "gemm/params.cuh"

namespace tilewright {

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
    using Rule = typename Tile::Rule;
    using Output = typename Tile::Output;
    Output* out = static_cast<Output*>(params.out) + batch * params.out_batch_stride;
    col += lane % 4 * 2;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int r = row + half * 8 + lane / 4;
      float pair[2];
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        pair[i] = Rule::Apply(d[2 * half + i], params.bias, r, params.rows, col + i, params.cols);
      }
      if constexpr (!Tile::kSwap) {
        StoreNeighbours(out + r * params.out_row_stride, pair[0], pair[1], r, params.rows, col,
                        params.cols);
      } else if constexpr (sizeof(Output) == 4) {
        for (int i = 0; i < 2; ++i) {
          if (r >= params.rows || col + i >= params.cols) continue;
          out[(col + i) * params.out_row_stride + r] = pair[i];
        }
      } else {
        // One 8 x 8 piece, transposed: lane / 4 becomes the output's row.
        const uint32_t bits = TransposeMatrix(Pack2<Output>(pair[0], pair[1]));
        const int out_row = col - lane % 4 * 2 + lane / 4;
        const int out_col = row + half * 8 + lane % 4 * 2;
        Output* to = out + out_row * params.out_row_stride + out_col;
        if (out_row < params.cols && out_col + 1 < params.rows) {
          *reinterpret_cast<uint32_t*>(to) = bits;
        } else if (out_row < params.cols && out_col < params.rows) {
          to->bits = static_cast<uint16_t>(bits & 0xFFFF);
        }
      }
    }
  }

  template <class Output>
  __device__ static __forceinline__ void StoreNeighbours(Output* line, float low, float high,
                                                         int row, int rows, int col, int cols) {
    using Rule = typename Tile::Rule;
    if (row < rows && col + 1 < cols) {
      Rule::StorePair(line + col, low, high);
    } else if (row < rows && col < cols) {
      Rule::StoreOne(line + col, low);
    }
  }
};

// The parts of K of a tail's tiles: float32 sums in global memory, in the order of the registers.
template <class Config, class Tile>
struct TailReduction {
  using Cluster = ClusterReduction<Tile>;
  static constexpr int kShares = Cluster::kShares;  // of 64 x 8, of a warp group
  static constexpr int kGroups = Config::kPingPong ? 1 : Config::kMathGroups;
  static constexpr int kBlocksPerGroup = CeilDiv(kShares, kTailShares);

  __device__ static __forceinline__ float4* Slot(const WgmmaGemmParams& params, int part,
                                                 int group) {
    return static_cast<float4*>(params.partials) +
           (static_cast<int64_t>(part) * kGroups + group) * kShares * 128 + threadIdx.x % 128;
  }

  __device__ static __forceinline__ void Store(const float (&acc)[Tile::kBlocks][Tile::kCols / 2],
                                               const WgmmaGemmParams& params, int part, int group) {
    float4* slot = Slot(params, part, group);
#pragma unroll
    for (int share = 0; share < kShares; ++share) {
      const float* d = acc[share / Cluster::kPieces] + share % Cluster::kPieces * 4;
      slot[share * 128] = make_float4(d[0], d[1], d[2], d[3]);
    }
  }

  __device__ static __forceinline__ void Reduce(const WgmmaGemmParams& params, int block) {
    const int first = block % kBlocksPerGroup * kTailShares;
    const int group = block / kBlocksPerGroup % kGroups;
    const int tile_in_tail = block / kBlocksPerGroup / kGroups;
    const TileCoord tile = params.walk.At(params.tail_first + tile_in_tail);
    const int row = tile.row * Config::kTileRows + group * Tile::kRows;
    float4 sums[kTailShares] = {};
    for (int part = 0; part < params.tail_parts; ++part) {
      const float4* slot = Slot(params, tile_in_tail * params.tail_parts + part, group);
#pragma unroll
      for (int i = 0; i < kTailShares; ++i) {
        if (kShares % kTailShares != 0 && first + i >= kShares) continue;
        const float4 more = slot[(first + i) * 128];
        sums[i] = make_float4(sums[i].x + more.x, sums[i].y + more.y, sums[i].z + more.z,
                              sums[i].w + more.w);
      }
    }
    const int thread = threadIdx.x % 128;
#pragma unroll
    for (int i = 0; i < kTailShares; ++i) {
      const int share = first + i;
      if (kShares % kTailShares != 0 && share >= kShares) continue;
      const float sum[4] = {sums[i].x, sums[i].y, sums[i].z, sums[i].w};
      Cluster::StoreShare(sum, params, row + share / Cluster::kPieces * 64 + thread / 32 * 16,
                          tile.col * Config::kTileCols + share % Cluster::kPieces * 8, tile.batch,
                          thread % 32);
    }
  }
};

}  // namespace tilewright

#endif  // TILEWRIGHT_GEMM_WGMMA_REDUCTION_CUH_
