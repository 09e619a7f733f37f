// A few tokens against K-contiguous weights (sm_80 and up): streams the weights once, straight into
// the fragments of mma.sync, whose 16-row side they fill; the tokens are its 8 columns.
//
// A warp owns kRowTiles x 16 weight rows and every kSplit-th part of K; the parts are summed
// through shared memory in a fixed order. The order of K within a fragment is free as long as both
// operands agree, so that a thread reads 16 contiguous bytes: eight k-values, for two products.
#ifndef TILEWRIGHT_GEMM_GEMV_CUH_
#define TILEWRIGHT_GEMM_GEMV_CUH_

#include "device/ldst.cuh"
#include "device/mma16.cuh"
#include "device/packet.cuh"
#include "device/warp.cuh"
#include "gemm/epilogue.cuh"
#include "gemm/params.cuh"

namespace tilewright {

template <class Config>
struct GemvTile {
  using Element = typename Config::Element;
  using Rule = Epilogue<Config>;
  static constexpr int kPiece = 8;                      // elements of a 16-byte load
  static constexpr int kStep = 4 * kPiece;              // of K: four threads share a line
  static constexpr int kRows = 16 * Config::kRowTiles;  // of a warp
  static constexpr int kTokens = 8 * Config::kTokenTiles;
  static constexpr int kRowsPerBlock = Config::kWarps / Config::kSplit * kRows;
  using Sums = float[Config::kRowTiles][Config::kTokenTiles][4];
  using Line = const Element*;

  // A thread's lines: weight rows lane / 4 and eight further on of each tile, tokens lane / 4.
  // Lines past the end repeat the last one.
  Line weights[Config::kRowTiles][2];
  Line tokens[Config::kTokenTiles];

  __device__ static __forceinline__ GemvTile Of(const GemvParams& p, int64_t first_row, int batch) {
    const int line = threadIdx.x % 32 / 4;
    const int piece = threadIdx.x % 4 * kPiece;
    GemvTile tile;
#pragma unroll
    for (int i = 0; i < 2 * Config::kRowTiles; ++i) {
      tile.weights[i / 2][i % 2] = static_cast<Line>(p.b) + batch * p.b_stride_batch +
                                   Min<int64_t>(first_row + line + i * 8, p.n - 1) * p.b_stride +
                                   piece;
    }
#pragma unroll
    for (int t = 0; t < Config::kTokenTiles; ++t) {
      tile.tokens[t] = static_cast<Line>(p.a) + batch * p.a_stride_batch +
                       Min<int64_t>(line + t * 8, p.m - 1) * p.a_stride_m + piece;
    }
    return tile;
  }

  // Elements [k, k + 8) of a line, with zeros for what does not exist (`left`: what does).
  template <CacheHint kHint, bool kTail>
  __device__ static __forceinline__ Packet<16> Piece(Line line, int64_t k, int64_t left) {
    if (!kTail || left >= kPiece) return LoadGlobal<16, kHint>(line + k);
    Packet<16> piece = {};
#pragma unroll
    for (int i = 0; i < kPiece; ++i) {
      if (i < left) piece.words[i / 2] |= static_cast<uint32_t>(line[k + i].bits) << (i % 2 * 16);
    }
    return piece;
  }

  // Adds the products of kSteps steps from `k` on.
  template <int kSteps, bool kTail>
  __device__ __forceinline__ void Accumulate(Sums& sums, int64_t k, int64_t end) const {
    const int64_t left = end - k - threadIdx.x % 4 * kPiece;
    Packet<16> w[kSteps][Config::kRowTiles][2];
    Packet<16> x[kSteps][Config::kTokenTiles];
#pragma unroll
    for (int s = 0; s < kSteps; ++s) {
#pragma unroll
      for (int i = 0; i < 2 * Config::kRowTiles; ++i) {
        w[s][i / 2][i % 2] =
            Piece<CacheHint::kStreaming, kTail>(weights[i / 2][i % 2], k + s * kStep, left);
      }
#pragma unroll
      for (int t = 0; t < Config::kTokenTiles; ++t) {
        x[s][t] = Piece<CacheHint::kDefault, kTail>(tokens[t], k + s * kStep, left);
      }
    }
#pragma unroll
    for (int s = 0; s < kSteps; ++s) {
#pragma unroll
      for (int r = 0; r < Config::kRowTiles; ++r) {
#pragma unroll
        for (int half = 0; half < 4; half += 2) {
          const uint32_t a[4] = {w[s][r][0].words[half], w[s][r][1].words[half],
                                 w[s][r][0].words[half + 1], w[s][r][1].words[half + 1]};
#pragma unroll
          for (int t = 0; t < Config::kTokenTiles; ++t) {
            Mma16<Element>(sums[r][t], a, x[s][t].words[half], x[s][t].words[half + 1]);
          }
        }
      }
    }
  }

  // Lays a warp's sums out as kTokens lines of kRows.
  __device__ static __forceinline__ void Spill(const Sums& sums, float* to) {
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int i = 0; i < kRows * kTokens / 32; ++i) {
      const int r = i / 4 / Config::kTokenTiles, t = i / 4 % Config::kTokenTiles;
      const int row = r * 16 + i % 4 / 2 * 8 + lane / 4;
      const int token = t * 8 + lane % 4 * 2 + i % 2;
      to[token * kRows + row] = sums[r][t][i % 4];
    }
  }
};

template <class Config>
__global__ __launch_bounds__(Config::kWarps *
                             32) void GemvKernel(const __grid_constant__ GemvParams params) {
  using Tile = GemvTile<Config>;
  static_assert(Config::kWarps % Config::kSplit == 0);
  const int warp = threadIdx.x / 32;
  const int lane = threadIdx.x % 32;
  const int part = warp % Config::kSplit;
  const int batch = static_cast<int>(blockIdx.y);
  const int64_t first_row =
      static_cast<int64_t>(blockIdx.x) * Tile::kRowsPerBlock + warp / Config::kSplit * Tile::kRows;
  const Tile tile = Tile::Of(params, first_row, batch);

  typename Tile::Sums sums = {};
  constexpr int kTurn = Tile::kStep * Config::kUnroll;
  const int64_t turns = params.k / kTurn;
  for (int64_t turn = part; turn < turns; turn += Config::kSplit) {
    tile.template Accumulate<Config::kUnroll, false>(sums, turn * kTurn, params.k);
  }
#pragma unroll 1
  for (int64_t k = turns * kTurn + part * Tile::kStep; k < params.k;
       k += Config::kSplit * Tile::kStep) {
    tile.template Accumulate<1, true>(sums, k, params.k);
  }

  constexpr int kValues = Tile::kRows * Tile::kTokens;
  __shared__ float partials[Config::kWarps][kValues];
  Tile::Spill(sums, partials[warp]);
  CtaBarrier();
  typename Config::Output* d =
      static_cast<typename Config::Output*>(params.d) + batch * params.d_stride_batch;
  for (int i = part * 32 + lane; i < kValues; i += Config::kSplit * 32) {
    const int token = i / Tile::kRows;
    const int64_t row = first_row + i % Tile::kRows;
    if (token >= params.m || row >= params.n) continue;
    float sum = 0;
#pragma unroll
    for (int s = 0; s < Config::kSplit; ++s) sum += partials[warp - part + s][i];
    sum = Tile::Rule::Apply(sum, params.bias, token, params.m, row, params.n);
    Tile::Rule::StoreOne(d + token * params.d_stride_m + row * params.d_stride_n, sum);
  }
}

}  // namespace tilewright

#endif  // TILEWRIGHT_GEMM_GEMV_CUH_
