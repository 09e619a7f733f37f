// Attention of few query rows against many keys (sm_80 and up): bound by reading keys and values.
//
// A CTA takes one chunk of one sequence's keys for the (at most 16) query rows that share a key
// head: queries x heads of a group. Each warp streams its own 16-token tiles through a private
// cp.async ring, without a CTA barrier, and keeps its own softmax; the warps' results are merged at
// the end, and those of the chunks by CombineAttentionKernel or, where a cluster has all chunks of
// a sequence, by its CTAs.
#ifndef TILEWRIGHT_ATTENTION_DECODE_CUH_
#define TILEWRIGHT_ATTENTION_DECODE_CUH_

#include "attention/sequence.cuh"
#include "attention/softmax.cuh"
#include "attention/tile_copy.cuh"
#include "device/cluster.cuh"
#include "device/cp_async.cuh"
#include "device/mma16.cuh"
#include "device/prefetch.cuh"
#include "device/warp.cuh"

namespace tilewright {

template <class Config>
struct DecodeTile {
  static constexpr int kRows = 16;
  static constexpr int kTokens = 16;
  static constexpr int kKeyBytes = TileBytes(kTokens, Config::kDim);
  static constexpr int kValueBytes = TileBytes(kTokens, Config::kValueDim);
  static constexpr int kStageBytes = kKeyBytes + kValueBytes;
  static constexpr int kWarpBytes = Config::kStages * kStageBytes;
  // A warp's result, once its ring is done with: rows of kValueDim floats, then maxima and sums.
  static constexpr int kPitch = Config::kValueDim + 4;
  static constexpr int kResultBytes = kRows * (kPitch + 2) * 4;
  static_assert(kResultBytes <= kWarpBytes);
  static constexpr int kThreads = 32 * Config::kWarps;
  // With clusters, behind the rings: the CTA's result for the others, and its logarithms.
  static constexpr int kPartOffset = Config::kWarps * kWarpBytes;
  static constexpr int kLogSumOffset = kPartOffset + kRows * Config::kValueDim * 4;
};

template <class Config>
struct Decode {
  using Element = typename Config::Element;
  using Tile = DecodeTile<Config>;
  using Seq = Sequence<Config>;
  static constexpr int kSteps = Config::kDim / 16;
  static constexpr int kValueTiles = Config::kValueDim / 8;

  const AttentionParams& p;
  Seq sequence;
  int chunk;
  int first_row;  // of the rows that share the key head
  int kv_head;
  int rows;
  int begin, end;  // tokens

  __device__ static __forceinline__ Decode Of(const AttentionParams& p) {
    // Chunks are the fastest axis: the last chunks of uneven sequences end together.
    unsigned rest, chunk, head, tile, batch;
    chunk = blockIdx.x % p.chunks;
    rest = blockIdx.x / p.chunks;
    p.by_heads(rest, &rest, &head);
    p.by_tiles(rest, &batch, &tile);
    if (Config::kPaged && chunk * p.chunk < p.kv_len) {  // on its way while the length is
      unsigned page, slot;
      p.page(chunk * p.chunk, &page, &slot);
      PrefetchL2(p.table + batch * p.table_batch + page * p.table_page);
    }
    Decode d{p,
             Seq::Of(p, static_cast<int>(batch)),
             static_cast<int>(chunk),
             static_cast<int>(tile) * Tile::kRows,
             static_cast<int>(head),
             0,
             0,
             0};
    d.rows = d.sequence.q_len * static_cast<int>(p.pack.divisor);
    d.begin = Min(static_cast<int>(chunk) * p.chunk, d.sequence.kv_len);
    d.end = Min(d.begin + p.chunk, d.sequence.kv_len);
    return d;
  }

  struct Place {
    int query;
    int head;
  };
  __device__ __forceinline__ Place At(int row) const {
    unsigned query, in_pack;
    p.pack(static_cast<unsigned>(first_row + row), &query, &in_pack);
    return {static_cast<int>(query),
            kv_head * static_cast<int>(p.pack.divisor) + static_cast<int>(in_pack)};
  }

  // Starts the copy of the query rows into the warp's own shared memory.
  __device__ __forceinline__ void LoadQueries(uint32_t smem) const {
    CopyTile<Tile::kRows, Config::kDim, 32, Element, Element, Config::kVector>(
        smem, static_cast<const Element*>(p.q), p.q_strides.dim, p.head_dim, [&](int r) {
          if (first_row + r >= rows) return kNoRow;
          const Place place = At(r);
          return sequence.QueryOffset(p.q_strides, place.query, place.head);
        });
  }

  // Starts the copies of tokens [token, token + 16). The lanes look up one token each.
  __device__ __forceinline__ void LoadTokens(uint32_t stage, int token, const Element* keys,
                                             const Element* values) const {
    const int mine = token + threadIdx.x % 16;
    int64_t row = -1;
    if (mine < end) row = sequence.KeyRow(mine);
    const auto lookup = [&](int r, int64_t stride) {
      const uint32_t low = ShuffleIndexBits(static_cast<uint32_t>(row), r);
      const uint32_t high = ShuffleIndexBits(static_cast<uint32_t>(row >> 32), r);
      const auto at = static_cast<int64_t>(static_cast<uint64_t>(high) << 32 | low);
      return at < 0 ? kNoRow : at * stride;
    };
    CopyTile<Tile::kTokens, Config::kDim, 32, Element, Element, Config::kVector>(
        stage, keys, p.k_strides.dim, p.head_dim,
        [&](int r) { return lookup(r, p.k_strides.row); });
    CopyTile<Tile::kTokens, Config::kValueDim, 32, Element, Element, Config::kVector>(
        stage + Tile::kKeyBytes, values, p.v_strides.dim, p.value_dim,
        [&](int r) { return lookup(r, p.v_strides.row); });
  }

  __device__ __forceinline__ void Scores(float (&s)[2][4], const uint32_t (&q)[kSteps][4],
                                         uint32_t stage) const {
#pragma unroll
    for (int i = 0; i < 8; ++i) s[i / 4][i % 4] = 0.0f;
#pragma unroll
    for (int k = 0; k < kSteps; ++k) {
      uint32_t b[4];
      LoadKeyFragment<Tile::kTokens>(b, stage, 0, k * 16);
      Mma16<Element>(s[0], q[k], b[0], b[1]);
      Mma16<Element>(s[1], q[k], b[2], b[3]);
    }
    if constexpr (Config::kSoftcap) {
      CapScores(s, p.softcap_in, p.softcap_log2);
    } else {
#pragma unroll
      for (int i = 0; i < 8; ++i) s[i / 4][i % 4] *= p.scale_log2;
    }
  }

  __device__ __forceinline__ void Accumulate(float (&o)[kValueTiles][4], const float (&s)[2][4],
                                             const float (&rescale)[2], uint32_t values) const {
    if (rescale[0] != 1.0f || rescale[1] != 1.0f) {
#pragma unroll
      for (int tile = 0; tile < kValueTiles; ++tile) {
#pragma unroll
        for (int i = 0; i < 4; ++i) o[tile][i] *= rescale[i / 2];
      }
    }
    __syncwarp();
    uint32_t a[4];
    PackWeights<Element>(a, s[0], s[1]);
#pragma unroll
    for (int tile = 0; tile < kValueTiles; tile += 2) {
      uint32_t b[4];
      LoadValueFragment<Tile::kTokens>(b, values, tile * 8, 0);
      Mma16<Element>(o[tile], a, b[0], b[1]);
      Mma16<Element>(o[tile + 1], a, b[2], b[3]);
    }
  }

  // The warp's tiles, every kWarps-th of the chunk.
  __device__ __forceinline__ void Stream(float (&o)[kValueTiles][4], SoftmaxState& state,
                                         uint32_t ring) const {
    constexpr int kStep = Tile::kTokens * Config::kWarps;
    const auto* keys = static_cast<const Element*>(p.k) + sequence.KeyBase(p.k_strides, kv_head);
    const auto* values = static_cast<const Element*>(p.v) + sequence.KeyBase(p.v_strides, kv_head);
    // Queries go where the first tile that the loop loads will; they are in registers by then.
    const uint32_t queries = ring + (Config::kStages - 1) * Tile::kStageBytes;
    LoadQueries(queries);
    CopyAsyncCommit();
    const int start = begin + static_cast<int>(threadIdx.x / 32) * Tile::kTokens;
#pragma unroll
    for (int i = 0; i < Config::kStages - 1; ++i) {
      if (start + i * kStep < end) {
        LoadTokens(ring + i * Tile::kStageBytes, start + i * kStep, keys, values);
      }
      CopyAsyncCommit();
    }
    const int lane = threadIdx.x % 32;
    VisibleKeys visible;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int row = lane / 4 + half * 8;
      const bool real = first_row + row < rows;
      const KeyRange range = sequence.Visible(real ? At(row).query : 0);
      visible.first[half] = range.first;
      visible.last[half] = real ? range.last : -1;
    }
    CopyAsyncWait<Config::kStages - 1>();
    __syncwarp();
    uint32_t q[kSteps][4];
#pragma unroll
    for (int k = 0; k < kSteps; ++k) LoadRowFragment<Tile::kRows>(q[k], queries, 0, k * 16);
    int stage = 0;
    int fill = Config::kStages - 1;
    for (int token = start; token < end; token += kStep) {
      CopyAsyncWait<Config::kStages - 2>();
      __syncwarp();  // the tile has arrived, and every lane is done with the one before it
      const int ahead = token + (Config::kStages - 1) * kStep;
      if (ahead < end) LoadTokens(ring + fill * Tile::kStageBytes, ahead, keys, values);
      CopyAsyncCommit();
      const uint32_t at = ring + stage * Tile::kStageBytes;
      float s[2][4];
      Scores(s, q, at);
      MaskScores(s, visible, token);
      float rescale[2];
      state.Update(s, 1.0f, rescale);
      Accumulate(o, s, rescale, at + Tile::kKeyBytes);
      if (++stage == Config::kStages) stage = 0;
      if (++fill == Config::kStages) fill = 0;
    }
    CopyAsyncWait<0>();
    __syncwarp();
    state.Finish();
  }

  // Leaves the warp's result where its ring was.
  __device__ __forceinline__ void Leave(const float (&o)[kValueTiles][4], const SoftmaxState& state,
                                        float* result) const {
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int row = lane / 4 + half * 8;
#pragma unroll
      for (int tile = 0; tile < kValueTiles; ++tile) {
        auto* to = reinterpret_cast<float2*>(result + row * Tile::kPitch + tile * 8 + lane % 4 * 2);
        *to = {o[tile][half * 2], o[tile][half * 2 + 1]};
      }
      if (lane % 4 == 0) {
        float* facts = result + Tile::kRows * Tile::kPitch + row * 2;
        facts[0] = state.max[half];
        facts[1] = state.sum[half];
      }
    }
  }

  // Merges the warps' results of each row; 16 threads share a row.
  __device__ __forceinline__ void Merge(unsigned char* smem) const {
    const auto result = [&](int warp) {
      return reinterpret_cast<const float*>(smem + warp * Tile::kWarpBytes);
    };
    constexpr int kTeams = Tile::kThreads / 16;
    for (int row = threadIdx.x / 16; row < Min(Tile::kRows, rows - first_row); row += kTeams) {
      float highest = kMinusInfinity;
      for (int warp = 0; warp < Config::kWarps; ++warp) {
        highest = MaxNumber(highest, result(warp)[Tile::kRows * Tile::kPitch + row * 2]);
      }
      const float base = highest == kMinusInfinity ? 0.0f : highest;
      float weight[Config::kWarps];
      float sum = 0.0f;
#pragma unroll
      for (int warp = 0; warp < Config::kWarps; ++warp) {
        const float* facts = result(warp) + Tile::kRows * Tile::kPitch + row * 2;
        weight[warp] = Exp2(facts[0] - base);
        sum = Fma(facts[1], weight[warp], sum);
      }
      const float factor = sum > 0.0f ? Rcp(sum) : 0.0f;
      const Place place = At(row);
      for (int column = threadIdx.x % 16 * 2; column < p.value_dim; column += 32) {
        float2 value = {0.0f, 0.0f};
#pragma unroll
        for (int warp = 0; warp < Config::kWarps; ++warp) {
          const float2 part =
              *reinterpret_cast<const float2*>(result(warp) + row * Tile::kPitch + column);
          value.x = Fma(part.x, weight[warp], value.x);
          value.y = Fma(part.y, weight[warp], value.y);
        }
        value = {value.x * factor, value.y * factor};
        if constexpr (Config::kCluster > 1) {
          float* part = reinterpret_cast<float*>(smem + Tile::kPartOffset);
          *reinterpret_cast<float2*>(part + row * Config::kValueDim + column) = value;
        } else {
          Store(place, column, value.x, value.y);
        }
      }
      if (p.chunks > 1 && threadIdx.x % 16 == 0) {
        const float log_sum = sum > 0.0f ? base + Log2Approx(sum) : kMinusInfinity;
        if constexpr (Config::kCluster > 1) {
          reinterpret_cast<float*>(smem + Tile::kLogSumOffset)[row] = log_sum;
        } else {
          p.partial_lse[PartialRow(place)] = log_sum;
        }
      }
    }
  }

  __device__ __forceinline__ int64_t PartialRow(Place place) const {
    const int64_t row = static_cast<int64_t>(chunk) * p.batches + sequence.batch;
    return (row * p.q_len + place.query) * p.heads + place.head;
  }
  __device__ __forceinline__ void Store(Place place, int column, float left, float right) const {
    if (Config::kCluster == 1 && p.chunks > 1) {
      float* to = p.partial_o + PartialRow(place) * p.value_dim + column;
      *reinterpret_cast<float2*>(to) = {left, right};
      return;
    }
    const uint32_t bits = Pack2<Element>(left, right);
    uint16_t* to = static_cast<uint16_t*>(p.o) +
                   sequence.QueryOffset(p.o_strides, place.query, place.head) +
                   column * p.o_strides.dim;
    to[0] = static_cast<uint16_t>(bits & 0xFFFF);
    to[p.o_strides.dim] = static_cast<uint16_t>(bits >> 16);
  }

#if __CUDA_ARCH__ >= 900
  // Sums the results of the cluster's CTAs, each thread of them four columns of a row at a time.
  __device__ __forceinline__ void MergeCluster(const unsigned char* smem) const {
    constexpr int kPieces = Config::kValueDim / 4;
    const uint32_t part = SharedAddress(smem + Tile::kPartOffset);
    const uint32_t log_sums = SharedAddress(smem + Tile::kLogSumOffset);
    const int total = Min(Tile::kRows, rows - first_row) * kPieces;
    const int first = static_cast<int>(ClusterRank()) * Tile::kThreads + threadIdx.x;
    for (int i = first; i < total; i += Config::kCluster * Tile::kThreads) {
      const int row = i / kPieces;
      const int column = i % kPieces * 4;
      if (column >= p.value_dim) continue;
      float log_sum[Config::kCluster];
      float value[Config::kCluster][4];
      float highest = kMinusInfinity;
#pragma unroll
      for (int rank = 0; rank < Config::kCluster; ++rank) {
        log_sum[rank] = BitsToFloat(LoadCluster(MapToRank(log_sums + row * 4, rank)));
        LoadClusterFloat4(value[rank], MapToRank(part + i * 16, rank));
      }
#pragma unroll
      for (int rank = 0; rank < Config::kCluster; ++rank) {
        highest = MaxNumber(highest, log_sum[rank]);
      }
      const float base = highest == kMinusInfinity ? 0.0f : highest;
      float sum = 0.0f;
      float result[4] = {0.0f, 0.0f, 0.0f, 0.0f};
#pragma unroll
      for (int rank = 0; rank < Config::kCluster; ++rank) {
        const float weight = Exp2(log_sum[rank] - base);
        sum += weight;
#pragma unroll
        for (int j = 0; j < 4; ++j) result[j] = Fma(value[rank][j], weight, result[j]);
      }
      const float factor = sum > 0.0f ? Rcp(sum) : 0.0f;
      const Place place = At(row);
      Store(place, column, result[0] * factor, result[1] * factor);
      Store(place, column + 2, result[2] * factor, result[3] * factor);
    }
  }
#endif
};

template <class Config>
__global__ __launch_bounds__(32 * Config::kWarps) void DecodeAttentionKernel(
    const __grid_constant__ AttentionParams params) {
  using Tile = DecodeTile<Config>;
  static_assert(Config::kDim % 16 == 0 && Config::kValueDim % 16 == 0 && Config::kStages >= 2);
  extern __shared__ __align__(1024) unsigned char smem_bytes[];
  LaunchDependentGrids();
  const auto decode = Decode<Config>::Of(params);
  if constexpr (Config::kCluster == 1) {
    if (decode.begin >= decode.end && decode.chunk > 0) return;  // CombineAttentionKernel knows
  }
  unsigned char* const mine = smem_bytes + threadIdx.x / 32 * Tile::kWarpBytes;
  float o[Decode<Config>::kValueTiles][4] = {};
  SoftmaxState state;
  decode.Stream(o, state, SharedAddress(mine));
  decode.Leave(o, state, reinterpret_cast<float*>(mine));
  CtaBarrier();
  decode.Merge(smem_bytes);
#if __CUDA_ARCH__ >= 900
  if constexpr (Config::kCluster > 1) {
    ClusterSync();
    decode.MergeCluster(smem_bytes);
    ClusterSyncRelaxed();  // nobody leaves while others read its result
  }
#else
  static_assert(Config::kCluster == 1);
#endif
}

}  // namespace tilewright

#endif  // TILEWRIGHT_ATTENTION_DECODE_CUH_
