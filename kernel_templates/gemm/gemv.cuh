// A few tokens against K-contiguous weights on the CUDA cores (sm_80 and up): streams the weights
// once, in 16-byte loads.
//
// A warp owns kRows weight rows and every kSplit-th part of K; the parts are summed through shared
// memory in a fixed order.
#ifndef TILEWRIGHT_GEMM_GEMV_CUH_
#define TILEWRIGHT_GEMM_GEMV_CUH_

#include "device/ldst.cuh"
#include "device/packet.cuh"
#include "device/warp.cuh"
#include "gemm/params.cuh"

namespace tilewright {

template <class Config>
struct GemvTile {
  using Element = typename Config::Element;
  static constexpr int kPiece = 8;           // elements of a 16-byte load
  static constexpr int kStep = 32 * kPiece;  // of a warp
  static constexpr int kRowsPerBlock = Config::kWarps / Config::kSplit * Config::kRows;
  using Sums = float[Config::kRows][Config::kTokens];

  // Elements [k, k + 8) of a row, or zeros where they do not all exist.
  template <CacheHint kHint>
  __device__ static __forceinline__ Packet<16> Piece(const Element* row, int64_t k, int64_t end) {
    Packet<16> piece = {};
    if (k + kPiece <= end) piece = LoadGlobal<16, kHint>(row + k);
    return piece;
  }

  // The last k % 8 elements, which no 16-byte load covers; one a lane.
  __device__ static __forceinline__ void AccumulateTail(Sums& sums, const GemvParams& p,
                                                        const Element* const (&rows)[Config::kRows],
                                                        int lane) {
    const int64_t k = p.k / kPiece * kPiece + lane;
    if (k >= p.k) return;
#pragma unroll
    for (int t = 0; t < Config::kTokens; ++t) {
      const float x = TypeTraits<Element>::ToCompute(Token(p, t)[k]);
#pragma unroll
      for (int r = 0; r < Config::kRows; ++r) {
        sums[r][t] += TypeTraits<Element>::ToCompute(rows[r][k]) * x;
      }
    }
  }

  __device__ static __forceinline__ const Element* Token(const GemvParams& p, int64_t t) {
    return static_cast<const Element*>(p.a) + Min<int64_t>(t, p.m - 1) * p.a_stride_m;
  }

  // Adds kUnroll steps from `k` on.
  __device__ static __forceinline__ void Accumulate(Sums& sums, const GemvParams& p,
                                                    const Element* const (&rows)[Config::kRows],
                                                    int64_t k) {
    Packet<16> weights[Config::kUnroll][Config::kRows];
#pragma unroll
    for (int u = 0; u < Config::kUnroll; ++u) {
#pragma unroll
      for (int r = 0; r < Config::kRows; ++r) {
        weights[u][r] = Piece<CacheHint::kStreaming>(rows[r], k + u * kStep, p.k);
      }
    }
#pragma unroll
    for (int u = 0; u < Config::kUnroll; ++u) {
      float w[Config::kRows][kPiece];
#pragma unroll
      for (int r = 0; r < Config::kRows; ++r) Unpack<Element>(weights[u][r], w[r]);
#pragma unroll
      for (int t = 0; t < Config::kTokens; ++t) {
        float v[kPiece];
        Unpack<Element>(Piece<CacheHint::kDefault>(Token(p, t), k + u * kStep, p.k), v);
#pragma unroll
        for (int r = 0; r < Config::kRows; ++r) {
#pragma unroll
          for (int i = 0; i < kPiece; ++i) sums[r][t] += w[r][i] * v[i];
        }
      }
    }
  }

  __device__ static __forceinline__ void Store(const GemvParams& p, int64_t row, int token,
                                               float sum) {
    if (row >= p.n || token >= p.m) return;
    static_cast<Element*>(p.d)[token * p.d_stride_m + row * p.d_stride_n] =
        TypeTraits<Element>::FromCompute(sum);
  }
};

// Many sums need more registers than the compiler would take by itself (0 leaves it to it).
template <class Config>
inline constexpr int kGemvMinBlocks = Config::kRows* Config::kTokens >= 16
                                          ? Max(1, 12 / Config::kWarps)
                                          : 0;

template <class Config>
__global__ __launch_bounds__(Config::kWarps * 32, kGemvMinBlocks<Config>) void GemvKernel(
    const __grid_constant__ GemvParams params) {
  using Tile = GemvTile<Config>;
  using Element = typename Config::Element;
  static_assert(Config::kWarps % Config::kSplit == 0);
  const int warp = threadIdx.x / 32;
  const int lane = threadIdx.x % 32;
  const int part = warp % Config::kSplit;
  const int64_t first_row = static_cast<int64_t>(blockIdx.x) * Tile::kRowsPerBlock +
                            warp / Config::kSplit * Config::kRows;

  const Element* rows[Config::kRows];
#pragma unroll
  for (int r = 0; r < Config::kRows; ++r) {
    rows[r] = static_cast<const Element*>(params.b) +
              Min<int64_t>(first_row + r, params.n - 1) * params.b_stride_n;
  }
  typename Tile::Sums sums = {};
  constexpr int kTurn = Tile::kStep * Config::kUnroll;
  for (int64_t k = part * kTurn; k < params.k; k += kTurn * Config::kSplit) {
    Tile::Accumulate(sums, params, rows, k + lane * Tile::kPiece);
  }
  if (part == 0) Tile::AccumulateTail(sums, params, rows, lane);

  constexpr int kValues = Config::kRows * Config::kTokens;
  __shared__ float partials[Config::kWarps][kValues];
#pragma unroll
  for (int i = 0; i < kValues; ++i) {
    float sum = sums[i / Config::kTokens][i % Config::kTokens];
#pragma unroll
    for (int mask = 16; mask > 0; mask /= 2) sum += ShuffleXor(sum, mask);
    if (lane == 0) partials[warp][i] = sum;
  }
  CtaBarrier();
  if (part != 0) return;
  for (int i = lane; i < kValues; i += 32) {
    float sum = 0;
    for (int s = 0; s < Config::kSplit; ++s) sum += partials[warp + s][i];
    Tile::Store(params, first_row + i / Config::kTokens, i % Config::kTokens, sum);
  }
}

}  // namespace tilewright

#endif  // TILEWRIGHT_GEMM_GEMV_CUH_
