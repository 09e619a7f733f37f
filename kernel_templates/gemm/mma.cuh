// Portable GEMM (sm_80 and up): mma.sync m16n8k16 over a cp.async ring, any extent and any stride.
//
// With kVector, operands are read in 16-byte pieces along their contiguous axis (K, or M / N where
// kMnMajor is set); without, element by element. Extents that are no multiple of the tile are
// filled with zeros on the way in and cut off on the way out.
#ifndef TILEWRIGHT_GEMM_MMA_CUH_
#define TILEWRIGHT_GEMM_MMA_CUH_

#include "device/cluster.cuh"
#include "device/cp_async.cuh"
#include "device/mma16.cuh"
#include "device/packet.cuh"
#include "device/smem_desc.cuh"
#include "device/warp.cuh"
#include "gemm/epilogue.cuh"
#include "gemm/params.cuh"
#include "gemm/schedule.cuh"

namespace tilewright {

inline constexpr int kMmaTileK = 64;

// One operand's side of the tile. `mn` is its M or N axis, `k` the other.
template <class Config, int kExtent, bool kMnMajor>
struct MmaOperand {
  using Element = typename Config::Element;
  static constexpr int kBytes = kExtent * kSwizzleRowBytes;

  const Element* data;
  int64_t stride_mn, stride_k;
  int64_t extent_mn, extent_k;

  // Copies the tile at (mn0, k0) to shared memory, laid out as smem_desc.cuh says. A thread keeps
  // its place in the rows (the contiguous axis where kVector) and walks down them.
  __device__ __forceinline__ void Load(uint32_t smem, int64_t mn0, int64_t k0) const {
    constexpr int kPieces = kMnMajor ? kExtent / 8 : kMmaTileK / 8;  // in a row
    constexpr int kRows = kMnMajor ? kMmaTileK : kExtent;
    constexpr int kRowStep = Config::kThreads / kPieces;
    static_assert(Config::kThreads % kPieces == 0 && kRows % kRowStep == 0);
    const int row = threadIdx.x / kPieces;
    const int piece = threadIdx.x % kPieces;
    const int64_t row_stride = kMnMajor ? stride_k : stride_mn;
    const int64_t stride = kMnMajor ? stride_mn : stride_k;
    const int64_t first = (kMnMajor ? mn0 : k0) + piece * 8;
    const int count = Remaining(kMnMajor ? extent_mn : extent_k, first, 8);
    const int rows = Remaining(kMnMajor ? extent_k : extent_mn, kMnMajor ? k0 : mn0, kRows);
    const Element* from = data + ((kMnMajor ? k0 : mn0) + row) * row_stride + first * stride;
    const uint32_t to = smem + piece / 8 * kTileBlockBytes;
#pragma unroll
    for (int r = row; r < row + kRows; r += kRowStep, from += kRowStep * row_stride) {
      CopyPiece(to + SwizzledOffset(r, piece % 8), from, stride, r < rows ? count : 0);
    }
  }

  // Elements from `first` to `extent`, at most `limit`, at least 0.
  __device__ static __forceinline__ int Remaining(int64_t extent, int64_t first, int limit) {
    return static_cast<int>(Max<int64_t>(0, Min<int64_t>(limit, extent - first)));
  }

  // `count` elements, then zeros up to eight.
  __device__ __forceinline__ void CopyPiece(uint32_t to, const Element* from, int64_t stride,
                                            int count) const {
    if constexpr (Config::kVector) {
      CopyAsync16(to, count > 0 ? from : data, count * 2);
    } else {
      uint32_t words[4] = {0, 0, 0, 0};
#pragma unroll
      for (int i = 0; i < 8; ++i, from += stride) {
        if (i < count) words[i / 2] |= static_cast<uint32_t>(from->bits) << (i % 2 * 16);
      }
      StoreShared16(to, words);
    }
  }

  // Four 8x8 fragments at (mn, k): for A the 16 x 16 piece of mma's row operand; for B two
  // neighbouring 8-column operands, {b0, b1} each.
  __device__ static __forceinline__ void FragmentA(uint32_t (&r)[4], uint32_t smem, int mn, int k) {
    const int lane = threadIdx.x % 32;
    if constexpr (kMnMajor) {
      const int piece = mn / 8 + lane / 8 % 2;
      LoadMatrix4Transposed(r, smem + piece / 8 * kTileBlockBytes +
                                   SwizzledOffset(k + lane / 16 * 8 + lane % 8, piece % 8));
    } else {
      LoadMatrix4(r, smem + SwizzledOffset(mn + lane % 16, k / 8 + lane / 16));
    }
  }
  __device__ static __forceinline__ void FragmentB(uint32_t (&r)[4], uint32_t smem, int mn, int k) {
    const int lane = threadIdx.x % 32;
    if constexpr (kMnMajor) {
      const int piece = mn / 8 + lane / 16;
      LoadMatrix4Transposed(r, smem + piece / 8 * kTileBlockBytes +
                                   SwizzledOffset(k + lane / 8 % 2 * 8 + lane % 8, piece % 8));
    } else {
      LoadMatrix4(r, smem + SwizzledOffset(mn + lane / 16 * 8 + lane % 8, k / 8 + lane / 8 % 2));
    }
  }
};

template <class Config>
struct MmaTile {
  using Rule = Epilogue<Config>;
  static constexpr int kRows = Config::kTileM / Config::kWarpsM;
  static constexpr int kCols = Config::kTileN / Config::kWarpsN;
  using A = MmaOperand<Config, Config::kTileM, Config::kMnMajorA>;
  using B = MmaOperand<Config, Config::kTileN, Config::kMnMajorB>;
  static constexpr int kStageBytes = A::kBytes + B::kBytes;
  using Accumulators = float[kRows / 16][kCols / 8][4];

  // acc += A * B over one stage, for the warp's part at (row, col) of the tile.
  __device__ static __forceinline__ void Multiply(Accumulators& acc, uint32_t stage, int row,
                                                  int col) {
#pragma unroll
    for (int k = 0; k < kMmaTileK; k += 16) {
      uint32_t a[kRows / 16][4];
#pragma unroll
      for (int i = 0; i < kRows / 16; ++i) A::FragmentA(a[i], stage, row + i * 16, k);
#pragma unroll
      for (int j = 0; j < kCols / 16; ++j) {
        uint32_t b[4];
        B::FragmentB(b, stage + A::kBytes, col + j * 16, k);
#pragma unroll
        for (int i = 0; i < kRows / 16; ++i) {
          Mma16<typename Config::Element>(acc[i][2 * j], a[i], b[0], b[1]);
          Mma16<typename Config::Element>(acc[i][2 * j + 1], a[i], b[2], b[3]);
        }
      }
    }
  }

  // Stores the warp's part, whose first element is output (row, col) of the batch at `d`.
  __device__ static __forceinline__ void Store(const Accumulators& acc, const MmaGemmParams& p,
                                               typename Rule::Output* d, int64_t row, int64_t col) {
    using Output = typename Rule::Output;
    row += threadIdx.x % 32 / 4;
    col += threadIdx.x % 4 * 2;
    const int rows = A::Remaining(p.m, row, kRows);
    const int cols = A::Remaining(p.n, col, kCols);
    // Pairs are aligned where the rows are; then one store does for two elements.
    const bool pairs = p.d_stride_n == 1 && p.d_stride_m % 2 == 0 &&
                       reinterpret_cast<uint64_t>(d) % (2 * sizeof(Output)) == 0;
    Output* line = d + row * p.d_stride_m + col * p.d_stride_n;
#pragma unroll
    for (int r = 0; r < kRows / 8; ++r, line += 8 * p.d_stride_m) {
      Output* out = line;
#pragma unroll
      for (int j = 0; j < kCols / 8; ++j, out += 8 * p.d_stride_n) {
        const float* sums = acc[r / 2][j] + r % 2 * 2;
        const float low = Rule::Apply(sums[0], p.bias, row + r * 8, p.m, col + j * 8, p.n);
        const float high = Rule::Apply(sums[1], p.bias, row + r * 8, p.m, col + j * 8 + 1, p.n);
        const int left = r * 8 < rows ? cols - j * 8 : 0;
        if (pairs && left > 1) {
          Rule::StorePair(out, low, high);
        } else {
          if (left > 0) Rule::StoreOne(out, low);
          if (left > 1) Rule::StoreOne(out + p.d_stride_n, high);
        }
      }
    }
  }
};

template <class Config>
__global__ __launch_bounds__(Config::kThreads) void MmaGemmKernel(
    const __grid_constant__ MmaGemmParams params) {
  using Tile = MmaTile<Config>;
  using Element = typename Config::Element;
  static_assert(Config::kThreads == 32 * Config::kWarpsM * Config::kWarpsN);
  static_assert(Tile::kRows % 16 == 0 && Tile::kCols % 16 == 0 && Config::kStages >= 2);
  static_assert(Config::kTileM % 64 == 0 && Config::kTileN % 64 == 0);
  extern __shared__ __align__(1024) unsigned char smem_bytes[];
  const uint32_t smem = SharedAddress(smem_bytes);
  const TileSchedule schedule{params.tiles_m, params.tiles_n, params.batches, params.group};
  const TileCoord tile = schedule.At(static_cast<int>(blockIdx.x));
  const int64_t row = static_cast<int64_t>(tile.row) * Config::kTileM;
  const int64_t col = static_cast<int64_t>(tile.col) * Config::kTileN;
  const typename Tile::A a{
      static_cast<const Element*>(params.a) + tile.batch * params.a_stride_batch, params.a_stride_m,
      params.a_stride_k, params.m, params.k};
  const typename Tile::B b{
      static_cast<const Element*>(params.b) + tile.batch * params.b_stride_batch, params.b_stride_n,
      params.b_stride_k, params.n, params.k};

  const int64_t k_tiles = CeilDiv<int64_t>(params.k, kMmaTileK);
  typename Tile::Accumulators acc = {};
  const int warp = threadIdx.x / 32;
  const int warp_row = warp / Config::kWarpsN * Tile::kRows;
  const int warp_col = warp % Config::kWarpsN * Tile::kCols;
  // The loads run kStages - 1 tiles ahead of the multiplication.
  int load_stage = 0;
  int stage = 0;
  for (int64_t k = 1 - Config::kStages; k < k_tiles; ++k) {
    if (k >= 0) {
      CopyAsyncWait<Config::kStages - 2>();
      CtaBarrier();  // the stage has arrived, and the one before it is free
    }
    if (k + Config::kStages - 1 < k_tiles) {
      const uint32_t to = smem + load_stage * Tile::kStageBytes;
      a.Load(to, row, (k + Config::kStages - 1) * kMmaTileK);
      b.Load(to + Tile::A::kBytes, col, (k + Config::kStages - 1) * kMmaTileK);
      if (++load_stage == Config::kStages) load_stage = 0;
    }
    CopyAsyncCommit();
    if (k >= 0) {
      Tile::Multiply(acc, smem + stage * Tile::kStageBytes, warp_row, warp_col);
      if (++stage == Config::kStages) stage = 0;
    }
  }
  Tile::Store(acc, params,
              static_cast<typename Config::Output*>(params.d) + tile.batch * params.d_stride_batch,
              row + warp_row, col + warp_col);
}

}  // namespace tilewright

#endif  // TILEWRIGHT_GEMM_MMA_CUH_
