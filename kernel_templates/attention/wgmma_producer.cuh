// The warp that loads the tiles of the wgmma attention kernel.
#ifndef TILEWRIGHT_ATTENTION_WGMMA_PRODUCER_CUH_
#define TILEWRIGHT_ATTENTION_WGMMA_PRODUCER_CUH_

#include "attention/wgmma_memory.cuh"
#include "device/mbarrier.cuh"
#include "device/tma4d.cuh"

namespace tilewright {

// Issues the loads of every tile. One thread.
template <class Config>
struct AttentionProducer {
  using Tile = WgmmaAttentionTile<Config>;
  using Smem = WgmmaAttentionSmem<Config>;
  using Pipe = PipelineState<Config::kStages>;
  using Work = WgmmaAttentionWork<Config>;

  using Rows = KeyRows<Config>;

  __device__ static __forceinline__ void LoadKeys(const Smem& smem, Pipe& pipe,
                                                  const WgmmaAttentionParams& params,
                                                  const Work& work, const Rows& rows) {
    BarrierWait(smem.KeysEmpty(pipe.stage), pipe.parity ^ 1);
    Barrier* const full = smem.KeysFull(pipe.stage);
    BarrierArriveExpect(full, Tile::kKeyBytes);
    Load<Tile::kDimBlocks>(smem.Keys(pipe.stage), &params.k_map, full, work, rows);
    pipe.Advance();
  }
  __device__ static __forceinline__ void LoadValues(const Smem& smem, Pipe& pipe,
                                                    const WgmmaAttentionParams& params,
                                                    const Work& work, const Rows& rows, int block) {
    BarrierWait(smem.ValuesEmpty(pipe.stage), pipe.parity ^ 1);
    Barrier* const full = smem.ValuesFull(pipe.stage);
    BarrierArriveExpect(full, Tile::LoadedValueBytes());
    if constexpr (Config::kFloat8) {
      const int column = work.sequence.TransposedColumn() + block * Tile::kTileN;
#pragma unroll
      for (int i = 0; i < Tile::kValueBlocks; ++i) {
        TmaLoad4d(smem.Values(pipe.stage) + i * Tile::kValueBlockBytes, &params.v_map, full,
                  column + i * Tile::kColumns, 0, work.kv_head, 0);
      }
    } else {
      Load<Tile::kValueBlocks>(smem.Values(pipe.stage), &params.v_map, full, work, rows);
    }
    pipe.Advance();
  }
  template <int kBlocks>
  __device__ static __forceinline__ void Load(unsigned char* tile, const TensorMap* map,
                                              Barrier* full, const Work& work, const Rows& rows) {
#pragma unroll
    for (int piece = 0; piece < Rows::kPieces; ++piece) {
#pragma unroll
      for (int i = 0; i < kBlocks; ++i) {
        TmaLoad4d(tile + i * Tile::kKeyBlockBytes + piece * Rows::kPieceBytes, map, full,
                  i * Tile::kColumns, rows.row[piece], work.kv_head,
                  Config::kPaged ? 0 : work.MapBatch());
      }
    }
  }

  __device__ static __forceinline__ void Run(const Smem& smem, const WgmmaAttentionParams& params) {
    Pipe keys, values;
    uint32_t q_parity = 1;
    for (AttentionTurns turns(params.walk); turns.more(); turns.Next()) {
      const Work work = Work::Of(params, turns.index());
      if (work.empty() || work.blind()) continue;
      BarrierWait(smem.QueriesEmpty(), q_parity);
      q_parity ^= 1;
      BarrierArriveExpect(smem.QueriesFull(), Tile::kQueryBytes);
      const int row = static_cast<int>(work.sequence.q_row) + work.first_row;
#pragma unroll
      for (int i = 0; i < Tile::kDimBlocks; ++i) {
        TmaLoad4d(smem.Queries() + i * Tile::kQueryBlockBytes, &params.q_map, smem.QueriesFull(),
                  i * Tile::kColumns, row, work.head, work.MapBatch());
      }
      Rows rows = Rows::Of(work.sequence, work.last);
      LoadKeys(smem, keys, params, work, rows);
      for (int block = work.last; block > work.first; --block) {
        const Rows next = Rows::Of(work.sequence, block - 1);
        LoadKeys(smem, keys, params, work, next);
        LoadValues(smem, values, params, work, rows, block);
        rows = next;
      }
      LoadValues(smem, values, params, work, rows, work.first);
    }
  }
};

}  // namespace tilewright

#endif  // TILEWRIGHT_ATTENTION_WGMMA_PRODUCER_CUH_
