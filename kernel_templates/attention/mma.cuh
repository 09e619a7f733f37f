// Portable attention forward (sm_80 and up): mma.sync m16n8k16 over double-buffered tiles of keys
// and values. Any strides, masks, ragged and paged operands; 16-bit or float8 inputs, which are
// widened on their way into shared memory. Judges the other kernels.
//
// A CTA of four warps owns kTileM rows (queries, or queries x heads of a group), 16 a warp.
#ifndef TILEWRIGHT_ATTENTION_MMA_CUH_
#define TILEWRIGHT_ATTENTION_MMA_CUH_

#include "attention/sequence.cuh"
#include "attention/softmax.cuh"
#include "attention/tile_copy.cuh"
#include "device/cluster.cuh"
#include "device/cp_async.cuh"
#include "device/mma16.cuh"
#include "device/smem_desc.cuh"
#include "device/warp.cuh"

namespace tilewright {

// Shared memory and the constants of one instantiation. Head dimensions are padded to 16.
template <class Config>
struct MmaAttentionTile {
  static constexpr int kWarps = 4;
  static constexpr int kThreads = 32 * kWarps;
  static constexpr int kTileM = 16 * kWarps;
  static constexpr int kTileN = Config::kTileN;
  static constexpr int kStages = 2;
  static constexpr int kQueryBytes = TileBytes(kTileM, Config::kDim);
  static constexpr int kKeyBytes = TileBytes(kTileN, Config::kDim);
  static constexpr int kValueBytes = TileBytes(kTileN, Config::kValueDim);
  static constexpr int kStageBytes = kKeyBytes + kValueBytes;
  static constexpr int kSmemBytes = kQueryBytes + kStages * kStageBytes;
};

// What a CTA works on.
template <class Config>
struct MmaAttentionWork {
  using Seq = Sequence<Config>;
  using Tile = MmaAttentionTile<Config>;
  Seq sequence;
  int head;  // the first of `pack`
  int kv_head;
  int first_row;
  int rows;  // of the sequence
  KeyRange keys;

  // Row tiles are the slowest axis, the last ones first: causal masks give them the most work.
  __device__ static __forceinline__ MmaAttentionWork Of(const AttentionParams& p) {
    unsigned rest, head, tile, batch, kv_head, unused;
    p.by_heads(blockIdx.x, &rest, &head);
    const unsigned per_tile = static_cast<unsigned>(p.batches);
    tile = rest / per_tile;
    batch = rest - tile * per_tile;
    tile = static_cast<unsigned>(p.row_tiles) - 1 - tile;
    const int first_head = static_cast<int>(head * p.pack.divisor);
    p.group(static_cast<unsigned>(first_head), &kv_head, &unused);
    const Seq sequence = Seq::Of(p, static_cast<int>(batch));
    MmaAttentionWork work{sequence,
                          first_head,
                          static_cast<int>(kv_head),
                          static_cast<int>(tile) * Tile::kTileM,
                          sequence.q_len * static_cast<int>(p.pack.divisor),
                          {0, -1}};
    if (work.empty()) return work;
    const int last = Min(work.first_row + Tile::kTileM, work.rows) - 1;
    work.keys = {sequence.Visible(work.Query(work.first_row)).first,
                 sequence.Visible(work.Query(last)).last};
    return work;
  }

  __device__ __forceinline__ bool empty() const { return first_row >= rows; }
  __device__ __forceinline__ int Query(int row) const {
    unsigned query, unused;
    sequence.p.pack(static_cast<unsigned>(row), &query, &unused);
    return static_cast<int>(query);
  }
  __device__ __forceinline__ int Head(int row) const {
    unsigned query, in_pack;
    sequence.p.pack(static_cast<unsigned>(row), &query, &in_pack);
    return head + static_cast<int>(in_pack);
  }
};

template <class Config>
struct MmaAttention {
  using Element = typename Config::Element;
  using Tile = MmaAttentionTile<Config>;
  using Work = MmaAttentionWork<Config>;
  static constexpr int kColumnTiles = Tile::kTileN / 8;
  static constexpr int kValueTiles = Config::kValueDim / 8;

  __device__ static __forceinline__ void LoadQueries(const Work& work, uint32_t smem) {
    const AttentionParams& p = work.sequence.p;
    using Source = typename Config::QueryElement;
    CopyTile<Tile::kTileM, Config::kDim, Tile::kThreads, Element, Source, Config::kVector>(
        smem, static_cast<const Source*>(p.q), p.q_strides.dim, p.head_dim, [&](int r) {
          const int row = work.first_row + r;
          return row < work.rows
                     ? work.sequence.QueryOffset(p.q_strides, work.Query(row), work.Head(row))
                     : kNoRow;
        });
  }

  // Keys and values of tokens [token, token + kTileN); those past the end become zeros.
  __device__ static __forceinline__ void LoadKeys(const Work& work, uint32_t smem, int token) {
    const AttentionParams& p = work.sequence.p;
    using Source = typename Config::KeyElement;
    const auto row = [&](int r) {
      return token + r < work.sequence.kv_len ? work.sequence.KeyRow(token + r) : int64_t{-1};
    };
    const int64_t k_base = work.sequence.KeyBase(p.k_strides, work.kv_head);
    const int64_t v_base = work.sequence.KeyBase(p.v_strides, work.kv_head);
    CopyTile<Tile::kTileN, Config::kDim, Tile::kThreads, Element, Source, Config::kVector>(
        smem, static_cast<const Source*>(p.k) + k_base, p.k_strides.dim, p.head_dim, [&](int r) {
          const int64_t at = row(r);
          return at < 0 ? kNoRow : at * p.k_strides.row;
        });
    CopyTile<Tile::kTileN, Config::kValueDim, Tile::kThreads, Element, Source, Config::kVector>(
        smem + Tile::kKeyBytes, static_cast<const Source*>(p.v) + v_base, p.v_strides.dim,
        p.value_dim, [&](int r) {
          const int64_t at = row(r);
          return at < 0 ? kNoRow : at * p.v_strides.row;
        });
  }

  __device__ static __forceinline__ void Scores(float (&s)[kColumnTiles][4], uint32_t queries,
                                                uint32_t keys) {
    const int warp = threadIdx.x / 32;
#pragma unroll
    for (int tile = 0; tile < kColumnTiles; ++tile) {
#pragma unroll
      for (int i = 0; i < 4; ++i) s[tile][i] = 0.0f;
    }
#pragma unroll
    for (int k = 0; k < Config::kDim; k += 16) {
      uint32_t a[4];
      LoadRowFragment<Tile::kTileM>(a, queries, warp * 16, k);
#pragma unroll
      for (int tile = 0; tile < kColumnTiles; tile += 2) {
        uint32_t b[4];
        LoadKeyFragment<Tile::kTileN>(b, keys, tile * 8, k);
        Mma16<Element>(s[tile], a, b[0], b[1]);
        Mma16<Element>(s[tile + 1], a, b[2], b[3]);
      }
    }
  }

  __device__ static __forceinline__ void Accumulate(float (&o)[kValueTiles][4],
                                                    const float (&s)[kColumnTiles][4],
                                                    uint32_t values) {
#pragma unroll
    for (int k = 0; k < Tile::kTileN; k += 16) {
      uint32_t a[4];
      PackWeights<Element>(a, s[k / 8], s[k / 8 + 1]);
#pragma unroll
      for (int tile = 0; tile < kValueTiles; tile += 2) {
        uint32_t b[4];
        LoadValueFragment<Tile::kTileN>(b, values, tile * 8, k);
        Mma16<Element>(o[tile], a, b[0], b[1]);
        Mma16<Element>(o[tile + 1], a, b[2], b[3]);
      }
    }
  }

  __device__ static __forceinline__ void Rescale(float (&o)[kValueTiles][4], const float (&by)[2]) {
#pragma unroll
    for (int tile = 0; tile < kValueTiles; ++tile) {
#pragma unroll
      for (int i = 0; i < 4; ++i) o[tile][i] *= by[i / 2];
    }
  }

  // Scales of float8 operands: of scores, and of the result.
  __device__ static __forceinline__ float ScoreScale(const Work& work) {
    const AttentionParams& p = work.sequence.p;
    const int batch = work.sequence.batch;
    float scale = 1.0f;
    if constexpr (sizeof(typename Config::QueryElement) == 1) {
      scale *= p.q_scale[batch * p.q_scale_batch + work.kv_head * p.q_scale_head];
    }
    if constexpr (sizeof(typename Config::KeyElement) == 1) {
      scale *= p.k_scale[batch * p.k_scale_batch + work.kv_head * p.k_scale_head];
    }
    return scale;
  }
  __device__ static __forceinline__ float ValueScale(const Work& work) {
    if constexpr (sizeof(typename Config::KeyElement) == 1) {
      const AttentionParams& p = work.sequence.p;
      return p.v_scale[work.sequence.batch * p.v_scale_batch + work.kv_head * p.v_scale_head];
    } else {
      return 1.0f;
    }
  }

  __device__ static __forceinline__ void Store(const Work& work, const float (&o)[kValueTiles][4],
                                               const SoftmaxState& state, float scale) {
    using Output = typename Config::OutputElement;
    const AttentionParams& p = work.sequence.p;
    const float value_scale = ValueScale(work);
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int row = work.first_row + threadIdx.x / 32 * 16 + threadIdx.x % 32 / 4 + half * 8;
      if (row >= work.rows) continue;
      const int query = work.Query(row);
      const int head = work.Head(row);
      const float factor = state.Normaliser(half) * value_scale;
      auto* line =
          static_cast<uint16_t*>(p.o) + work.sequence.QueryOffset(p.o_strides, query, head);
      const int64_t step = p.o_strides.dim;
      const bool pairs = step == 1 && reinterpret_cast<uint64_t>(line) % 4 == 0;
#pragma unroll
      for (int tile = 0; tile < kValueTiles; ++tile) {
        const int column = tile * 8 + threadIdx.x % 4 * 2;
        if (column >= p.value_dim) continue;
        const uint32_t bits =
            Pack2<Output>(o[tile][half * 2] * factor, o[tile][half * 2 + 1] * factor);
        uint16_t* to = line + column * step;
        if (pairs) {
          *reinterpret_cast<uint32_t*>(to) = bits;
        } else {
          to[0] = static_cast<uint16_t>(bits & 0xFFFF);
          to[step] = static_cast<uint16_t>(bits >> 16);
        }
      }
      if (Config::kLse && threadIdx.x % 4 == 0) {
        p.lse[work.sequence.batch * p.lse_batch + head * p.lse_head + query * p.lse_row] =
            kLn2 * state.LogSum2(half, scale);
      }
    }
  }
};

template <class Config>
__global__ __launch_bounds__(128) void MmaAttentionKernel(
    const __grid_constant__ AttentionParams params) {
  using A = MmaAttention<Config>;
  using Tile = MmaAttentionTile<Config>;
  static_assert(Config::kDim % 16 == 0 && Config::kValueDim % 16 == 0 && Tile::kTileN % 16 == 0);
  static_assert(Config::kDim <= 256 && Config::kValueDim <= 256);
  extern __shared__ __align__(1024) unsigned char smem_bytes[];
  const uint32_t queries = SharedAddress(smem_bytes);
  const uint32_t ring = queries + Tile::kQueryBytes;
  const MmaAttentionWork<Config> work = MmaAttentionWork<Config>::Of(params);
  if (work.empty()) return;

  const int first = work.keys.first / Tile::kTileN;
  const int last = work.keys.last < work.keys.first ? first - 1 : work.keys.last / Tile::kTileN;
  A::LoadQueries(work, queries);
  if (first <= last) A::LoadKeys(work, ring, first * Tile::kTileN);
  CopyAsyncCommit();

  VisibleKeys mine;
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const int row = work.first_row + threadIdx.x / 32 * 16 + threadIdx.x % 32 / 4 + half * 8;
    const KeyRange keys = work.sequence.Visible(work.Query(row));
    mine.first[half] = keys.first;
    mine.last[half] = row < work.rows ? keys.last : -1;
  }
  const float fp8_scale = A::ScoreScale(work);
  const float scale = Config::kSoftcap ? 1.0f : params.scale_log2 * fp8_scale;
  SoftmaxState state;
  float o[A::kValueTiles][4] = {};
  for (int j = first; j <= last; ++j) {
    const uint32_t stage = ring + (j - first) % 2 * Tile::kStageBytes;
    const uint32_t next = ring + (j - first + 1) % 2 * Tile::kStageBytes;
    CopyAsyncWait<0>();
    CtaBarrier();  // the stage has arrived, and everybody is done with the other
    if (j < last) A::LoadKeys(work, next, (j + 1) * Tile::kTileN);
    CopyAsyncCommit();
    float s[A::kColumnTiles][4];
    A::Scores(s, queries, stage);
    if constexpr (Config::kSoftcap) {
      CapScores(s, params.softcap_in * fp8_scale, params.softcap_log2);
    } else {
#pragma unroll
      for (int tile = 0; tile < A::kColumnTiles; ++tile) {
#pragma unroll
        for (int i = 0; i < 4; ++i) s[tile][i] *= scale;
      }
    }
    MaskScores(s, mine, j * Tile::kTileN);
    float rescale[2];
    state.Update(s, 1.0f, rescale);
    A::Rescale(o, rescale);
    A::Accumulate(o, s, stage + Tile::kKeyBytes);
  }
  state.Finish();
  A::Store(work, o, state, 1.0f);
}

}  // namespace tilewright

#endif  // TILEWRIGHT_ATTENTION_MMA_CUH_
