// What the wgmma attention kernel works on: its tiles in shared memory and its share of the rows.
#ifndef TILEWRIGHT_ATTENTION_WGMMA_MEMORY_CUH_
#define TILEWRIGHT_ATTENTION_WGMMA_MEMORY_CUH_

#include "attention/params.cuh"
#include "attention/sequence.cuh"
#include "attention/tile_copy.cuh"
#include "device/mbarrier.cuh"
#include "device/smem_desc.cuh"
#include "device/tma.cuh"
#include "device/tma4d.cuh"

namespace tilewright {

// Tiles are columns of 128-byte swizzled rows, 64 elements each or, with kFloat8, 128. Float8
// values lie transposed (transpose.cuh): their rows are dimensions, their columns keys.
template <class Config>
struct WgmmaAttentionTile {
  static constexpr int kTileM = 64 * Config::kMathGroups;
  static constexpr int kTileN = Config::kTileN;
  static constexpr int kColumns = kSwizzleRowBytes / sizeof(typename Config::Element);
  static constexpr int kStepKeys = 32 / sizeof(typename Config::Element);  // of a matrix product
  static constexpr int kDimBlocks = (Config::kDim + kColumns - 1) / kColumns;
  static constexpr int kOutputBlocks = (Config::kValueDim + 63) / 64;
  static constexpr int kValueBlocks =
      Config::kFloat8 ? (kTileN + kColumns - 1) / kColumns : kOutputBlocks;
  static constexpr int kQueryBlockBytes = kTileM * kSwizzleRowBytes;
  static constexpr int kKeyBlockBytes = kTileN * kSwizzleRowBytes;
  static constexpr int kQueryBytes = kDimBlocks * kQueryBlockBytes;
  static constexpr int kKeyBytes = kDimBlocks * kKeyBlockBytes;
  // Behind float8 values, where a product has place for them, a dimension of ones and seven of
  // zeros: their products are the sums of the weights. Summed by instructions of its own, each
  // exponential would have to arrive before the next but two could start.
  static constexpr int SumDims() { return Config::kFloat8 && Config::kValueDim <= 248 ? 8 : 0; }
  static constexpr int ProductDim() { return Config::kValueDim + SumDims(); }
  static constexpr int kValueBlockBytes =
      Config::kFloat8 ? ProductDim() * kSwizzleRowBytes : kKeyBlockBytes;
  static constexpr int kValueBytes = kValueBlocks * kValueBlockBytes;
  static constexpr int LoadedValueBytes() {
    return kValueBytes - kValueBlocks * SumDims() * kSwizzleRowBytes;
  }
  static constexpr int kOutputBytes = Config::kSharedOutput ? 0 : kOutputBlocks * kQueryBlockBytes;
  static_assert(!Config::kSharedOutput || kOutputBlocks <= kDimBlocks);

  // Of a tile of values as wgmma's column operand: MN-major, further 64 dimensions in the next
  // block; with kFloat8 K-major, further 128 keys in the next block.
  __device__ static __forceinline__ uint64_t ValueDescriptor(uint32_t address) {
    if constexpr (Config::kFloat8) return MatrixDescriptor(address);
    constexpr uint64_t kLeadingMask = static_cast<uint64_t>(0x3FFF) << 16;
    constexpr uint64_t kLeading = static_cast<uint64_t>(kKeyBlockBytes >> 4) << 16;
    return (MatrixDescriptor(address) & ~kLeadingMask) | kLeading;
  }

  // In descriptor units, between a tile's steps of a matrix product and between blocks of four.
  __device__ static constexpr int ValueStep() {
    return Config::kFloat8 ? kDescriptorStepK<false> : kDescriptorStepK<true>;
  }
  __device__ static constexpr int ValueStepBlock() {
    return Config::kFloat8 ? kValueBlockBytes / 16 : 4 * ValueStep();
  }

  // Writes the dimensions of ones and zeros behind the values of a tile; no load touches them. The
  // CTA's threads.
  __device__ static __forceinline__ void FillSumDims(unsigned char* tile) {
    constexpr uint32_t kOnes = 0x38383838;
    constexpr int kPieces = kValueBlocks * SumDims() * 8;
    for (int i = threadIdx.x; i < kPieces; i += blockDim.x) {
      const int row = i / 8 % 8;
      const uint32_t word = row == 0 ? kOnes : 0;
      *reinterpret_cast<uint4*>(tile + i / 64 * kValueBlockBytes +
                                SwizzledOffset(Config::kValueDim + row, i % 8)) = {word, word, word,
                                                                                   word};
    }
  }

  // The values of keys [first, kTileN) become zeros. The threads of a warp group.
  __device__ static __forceinline__ void ZeroKeys(unsigned char* tile, int first) {
    if constexpr (Config::kFloat8) {
      ZeroColumns(tile, (first + kTransposedGroup - 1) / kTransposedGroup * 2);
    } else {
      ZeroRows(tile, first);
    }
  }
  // Of a transposed tile, from the 16-byte piece `first` on: what remains of its group is zero.
  __device__ static __forceinline__ void ZeroColumns(unsigned char* tile, int first) {
    const uint4 zeros = {0, 0, 0, 0};
    for (int i = threadIdx.x % 128; i < (kTileN / 16 - first) * Config::kValueDim; i += 128) {
      const int row = i % Config::kValueDim;
      const int piece = first + i / Config::kValueDim;
      *reinterpret_cast<uint4*>(tile + piece / 8 * kValueBlockBytes +
                                SwizzledOffset(row, piece % 8)) = zeros;
    }
  }
  __device__ static __forceinline__ void ZeroRows(unsigned char* tile, int first) {
    constexpr int kPieces = kValueBlocks * 8;
    const uint4 zeros = {0, 0, 0, 0};
    for (int i = threadIdx.x % 128; i < (kTileN - first) * kPieces; i += 128) {
      const int row = first + i / kPieces;
      const int piece = i % kPieces;
      *reinterpret_cast<uint4*>(tile + piece / 8 * kKeyBlockBytes +
                                SwizzledOffset(row, piece % 8)) = zeros;
    }
  }
};

template <class Config>
struct WgmmaAttentionSmem {
  using Tile = WgmmaAttentionTile<Config>;
  static constexpr int kKeysOffset = Tile::kQueryBytes;
  static constexpr int kValuesOffset = kKeysOffset + Config::kStages * Tile::kKeyBytes;
  static constexpr int kOutputsOffset = kValuesOffset + Config::kStages * Tile::kValueBytes;
  static constexpr int kBarrierOffset = kOutputsOffset + Tile::kOutputBytes;

  unsigned char* base;
  __device__ __forceinline__ unsigned char* Queries() const { return base; }
  __device__ __forceinline__ unsigned char* Keys(int stage) const {
    return base + kKeysOffset + stage * Tile::kKeyBytes;
  }
  __device__ __forceinline__ unsigned char* Values(int stage) const {
    return base + kValuesOffset + stage * Tile::kValueBytes;
  }
  // A group's staged block of 64 rows x 64 dimensions: its own, or over its own queries.
  __device__ __forceinline__ unsigned char* Outputs(int group, int block) const {
    return base + (Config::kSharedOutput ? 0 : kOutputsOffset) + block * Tile::kQueryBlockBytes +
           group * kTileBlockBytes;
  }
  __device__ __forceinline__ Barrier* At(int index) const {
    return reinterpret_cast<Barrier*>(base + kBarrierOffset) + index;
  }
  __device__ __forceinline__ Barrier* QueriesFull() const { return At(0); }
  __device__ __forceinline__ Barrier* QueriesEmpty() const { return At(1); }
  __device__ __forceinline__ Barrier* KeysFull(int stage) const { return At(2 + stage); }
  __device__ __forceinline__ Barrier* KeysEmpty(int stage) const {
    return At(2 + Config::kStages + stage);
  }
  __device__ __forceinline__ Barrier* ValuesFull(int stage) const {
    return At(2 + 2 * Config::kStages + stage);
  }
  __device__ __forceinline__ Barrier* ValuesEmpty(int stage) const {
    return At(2 + 3 * Config::kStages + stage);
  }
};

// Where the rows of a block of keys lie: all of it in one place, or each kPageRows of it in a page.
template <class Config>
struct KeyRows {
  static constexpr int kPieces = Config::kTileN / Config::kPageRows;
  static constexpr int kPieceBytes = Config::kPageRows * kSwizzleRowBytes;
  static_assert(Config::kTileN % Config::kPageRows == 0 && Config::kPageRows % 8 == 0);
  int row[kPieces];

  __device__ static __forceinline__ KeyRows Of(const Sequence<Config>& sequence, int block) {
    KeyRows rows;
#pragma unroll
    for (int piece = 0; piece < kPieces; ++piece) {
      const int token = block * Config::kTileN + piece * Config::kPageRows;
      if constexpr (Config::kPaged) {
        // The table ends with the sequence; rows before the tensor read as zeros.
        rows.row[piece] =
            token < sequence.kv_len ? static_cast<int>(sequence.KeyRow(token)) : -Config::kPageRows;
      } else {
        rows.row[piece] = static_cast<int>(sequence.kv_row) + token;
      }
    }
    return rows;
  }
};

// The row tiles that a CTA takes: one of every round, forth and back, so that the sums of tiles of
// falling length are even.
class AttentionTurns {
 public:
  __device__ __forceinline__ explicit AttentionTurns(const AttentionWalk& walk)
      : tiles_(walk.tiles) {
    Place();
  }
  __device__ __forceinline__ bool more() const { return index_ < tiles_; }
  __device__ __forceinline__ int index() const { return index_; }
  __device__ __forceinline__ void Next() {
    ++round_;
    Place();
  }

 private:
  __device__ __forceinline__ void Place() {
    const int ctas = static_cast<int>(gridDim.x);
    const int cta = static_cast<int>(blockIdx.x);
    index_ = round_ * ctas + (round_ % 2 == 0 ? cta : ctas - 1 - cta);
  }

  const int tiles_;
  int round_ = 0;
  int index_ = 0;
};

// One row tile of one head.
template <class Config>
struct WgmmaAttentionWork {
  using Tile = WgmmaAttentionTile<Config>;
  Sequence<Config> sequence;
  int head;
  int kv_head;
  int first_row;
  int first, last;  // blocks of keys; none if first > last

  __device__ static __forceinline__ WgmmaAttentionWork Of(const WgmmaAttentionParams& params,
                                                          int index) {
    const AttentionWalk& walk = params.walk;
    unsigned rest, tile, batch, head, kv_head, unused;
    walk.by_tiles(static_cast<unsigned>(index), &rest, &tile);
    walk.by_heads(rest, &batch, &head);
    params.call.group(head, &kv_head, &unused);
    const auto sequence = Sequence<Config>::Of(params.call, static_cast<int>(batch));
    WgmmaAttentionWork work{sequence,
                            static_cast<int>(head),
                            static_cast<int>(kv_head),
                            (walk.row_tiles - 1 - static_cast<int>(tile)) * Tile::kTileM,
                            0,
                            -1};
    if (work.empty()) return work;
    const int last_row = Min(work.first_row + Tile::kTileM, sequence.q_len) - 1;
    const int first_key = sequence.Visible(work.first_row).first;
    const int last_key = sequence.Visible(last_row).last;
    if (last_key >= first_key) {
      work.first = first_key / Tile::kTileN;
      work.last = last_key / Tile::kTileN;
    }
    return work;
  }

  // No rows; no visible keys.
  __device__ __forceinline__ bool empty() const { return first_row >= sequence.q_len; }
  __device__ __forceinline__ bool blind() const { return first > last; }
  // What float8 inputs are multiplied by: products of queries and keys, and values.
  __device__ __forceinline__ float InputScale() const {
    const AttentionParams& p = sequence.p;
    float scale = 1.0f;
    if constexpr (Config::kQueryScales) {
      scale *= p.q_scale[sequence.batch * p.q_scale_batch + kv_head * p.q_scale_head];
    }
    if constexpr (Config::kKeyScales) {
      scale *= p.k_scale[sequence.batch * p.k_scale_batch + kv_head * p.k_scale_head];
    }
    return scale;
  }
  __device__ __forceinline__ float ValueScale() const {
    if constexpr (Config::kKeyScales) {
      const AttentionParams& p = sequence.p;
      return p.v_scale[sequence.batch * p.v_scale_batch + kv_head * p.v_scale_head];
    } else {
      return 1.0f;
    }
  }

  // The coordinate of the sequence in the tensor maps.
  __device__ __forceinline__ int MapBatch() const { return Config::kRagged ? 0 : sequence.batch; }

  // What the thread's rows may see.
  __device__ __forceinline__ VisibleKeys Visible(int group) const {
    VisibleKeys visible;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int row =
          first_row + group * 64 + threadIdx.x % 128 / 32 * 16 + threadIdx.x % 32 / 4 + half * 8;
      const KeyRange keys = sequence.Visible(row);
      visible.first[half] = keys.first;
      visible.last[half] = keys.last;
    }
    return visible;
  }
  // The last block that every row of the group sees to its end, and the first from its start.
  __device__ __forceinline__ int FreeLast(int group) const {
    const int last_key = sequence.Visible(first_row + group * 64).last;
    return last_key < Tile::kTileN - 1 ? -1 : (last_key + 1) / Tile::kTileN - 1;
  }
  __device__ __forceinline__ int FreeFirst(int group) const {
    const int first_key = sequence.Visible(first_row + group * 64 + 63).first;
    return (first_key + Tile::kTileN - 1) / Tile::kTileN;
  }
};

}  // namespace tilewright

#endif  // TILEWRIGHT_ATTENTION_WGMMA_MEMORY_CUH_
