// From the accumulators of the wgmma attention kernel to global memory.
#ifndef TILEWRIGHT_ATTENTION_WGMMA_STORE_CUH_
#define TILEWRIGHT_ATTENTION_WGMMA_STORE_CUH_

#include "attention/softmax.cuh"
#include "attention/wgmma_memory.cuh"
#include "device/hold.cuh"
#include "device/mma16.cuh"
#include "device/warp.cuh"

namespace tilewright {

template <class Config>
struct AttentionStore {
  using Element = typename Config::OutputElement;
  using Tile = WgmmaAttentionTile<Config>;
  using Smem = WgmmaAttentionSmem<Config>;
  using Work = WgmmaAttentionWork<Config>;
  static constexpr int kPieces = Config::kValueDim / 8;

  // Divides the group's 64 rows by their sums and stores them. The group's 128 threads call.
  __device__ static __forceinline__ void Run(float (&o)[Tile::ProductDim() / 2],
                                             const SoftmaxState& state, float scale,
                                             const Smem& smem, const WgmmaAttentionParams& params,
                                             const Work& work, int group) {
    const int thread = threadIdx.x % 128;
    const int rows = Min(64, work.sequence.q_len - work.first_row - group * 64);
    if (thread == 0) TmaStoreWaitRead<0>();
    NamedBarrierSync(1 + group, 128);  // the staging is free
    Stage(o, state, work.ValueScale(), smem, group);
    if constexpr (Config::kLse) StoreLse(state, scale, params.call, work, group, rows);
    FenceProxyAsync();
    NamedBarrierSync(1 + group, 128);
    if (Config::kRagged && rows < 64) {
      StoreByThreads(smem, params.call, work, group, rows);
    } else if (thread == 0 && rows > 0) {
      const int row = static_cast<int>(work.sequence.q_row) + work.first_row + group * 64;
#pragma unroll
      for (int block = 0; block < Tile::kOutputBlocks; ++block) {
        TmaStore4d(&params.o_map, smem.Outputs(group, block), block * 64, row, work.head,
                   work.MapBatch());
      }
      TmaStoreCommit();
      if (Config::kSharedOutput) TmaStoreWaitRead<0>();
    }
    if (Config::kSharedOutput) NamedBarrierSync(1 + group, 128);
  }

  __device__ static __forceinline__ void Stage(const float (&o)[Tile::ProductDim() / 2],
                                               const SoftmaxState& state, float value_scale,
                                               const Smem& smem, int group) {
    const float factor[2] = {state.Normaliser(0) * value_scale, state.Normaliser(1) * value_scale};
    // Computed here: addresses kept from tile to tile would take the registers of the products.
    uint32_t thread = threadIdx.x % 128;
    WgmmaHold(thread);
    const uint32_t lane = thread % 32;
    const uint32_t row = thread / 32 * 16 + lane % 16;
#pragma unroll
    for (int piece = 0; piece < kPieces; piece += 2) {
      uint32_t r[4];
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const float* pair = o + piece * 4 + i * 2;
        r[i] = Pack2<Element>(pair[0] * factor[i % 2], pair[1] * factor[i % 2]);
      }
      const uint32_t block = SharedAddress(smem.Outputs(group, piece / 8));
      StoreMatrix4(block + SwizzledOffset(row, piece % 8 + lane / 16), r);
    }
  }

  __device__ static __forceinline__ void StoreLse(const SoftmaxState& state, float scale,
                                                  const AttentionParams& p, const Work& work,
                                                  int group, int rows) {
    if (threadIdx.x % 4 != 0) return;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int in_group = threadIdx.x % 128 / 32 * 16 + threadIdx.x % 32 / 4 + half * 8;
      if (in_group >= rows) continue;
      const int64_t row = work.first_row + group * 64 + in_group;
      p.lse[work.sequence.batch * p.lse_batch + work.head * p.lse_head + row * p.lse_row] =
          kLn2 * state.LogSum2(half, scale);
    }
  }

  // The last rows of a ragged sequence: those behind them are the next one's.
  __device__ static __forceinline__ void StoreByThreads(const Smem& smem, const AttentionParams& p,
                                                        const Work& work, int group, int rows) {
    auto* out = static_cast<uint16_t*>(p.o) +
                work.sequence.QueryOffset(p.o_strides, work.first_row + group * 64, work.head);
#pragma unroll 1
    for (int i = threadIdx.x % 128; i < rows * kPieces; i += 128) {
      const int row = i / kPieces;
      const int piece = i % kPieces;
      if (piece * 8 >= p.value_dim) continue;
      const unsigned char* from = smem.Outputs(group, piece / 8) + SwizzledOffset(row, piece % 8);
      *reinterpret_cast<uint4*>(out + row * p.o_strides.row + piece * 8) =
          *reinterpret_cast<const uint4*>(from);
    }
  }
};

}  // namespace tilewright

#endif  // TILEWRIGHT_ATTENTION_WGMMA_STORE_CUH_
