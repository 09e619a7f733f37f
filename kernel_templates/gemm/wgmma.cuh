// GEMM on Hopper's warp-group tensor cores (sm_90a): out = rows-operand * cols-operand^T.
//
// One warp loads tiles by TMA into a ring of kStages buffers; kMathGroups warp groups multiply them
// and store the result. Operands may be K-major or MN-major; with kSwap the output is transposed on
// its way out, so that few tokens can sit on wgmma's narrow N side.
//   cooperative  the math groups share one tile, split by rows
//   ping-pong    each of two math groups owns every second tile: one stores while the other
//                multiplies
//   split-K      the CTAs of a cluster share one tile, split along K (one tile a CTA)
//   tail split   tiles that would leave the last wave of CTAs part empty are split along K over all
//                of them; a second kernel adds the parts up
#ifndef TILEWRIGHT_GEMM_WGMMA_CUH_
#define TILEWRIGHT_GEMM_WGMMA_CUH_

// CONFIG_kTileCols is Config::kTileCols.
#ifdef CONFIG_kTileCols
#define TILEWRIGHT_WGMMA_USED(n) ((n) == CONFIG_kTileCols)
#endif

#include "device/base.cuh"
#include "device/cluster.cuh"
#include "device/mbarrier.cuh"
#include "device/smem_desc.cuh"
#include "device/tma.cuh"
#include "device/tma_multicast.cuh"
#include "device/warp.cuh"
#include "device/wgmma.cuh"
#include "gemm/params.cuh"
#include "gemm/wgmma_epilogue.cuh"
#include "gemm/wgmma_reduction.cuh"

namespace tilewright {

inline constexpr int kWgmmaTileK = 64;  // one 128-byte swizzled row of 16-bit elements

// What one math group holds.
template <class Config>
struct WgmmaTile {
  using Rule = Epilogue<Config>;
  using Output = typename Config::Output;
  static constexpr bool kSwap = Config::kSwap;
  static constexpr int kRows =
      Config::kPingPong ? Config::kTileRows : Config::kTileRows / Config::kMathGroups;
  static constexpr int kBlocks = kRows / 64;
  static constexpr int kCols = Config::kTileCols;
  // The epilogue stores chunks of 128 bytes of output columns; see TmaEpilogue.
  static constexpr int kChunkWidth = kSwizzleRowBytes / static_cast<int>(sizeof(Output));
  static constexpr int kChunks = CeilDiv(kSwap ? kRows : kCols, kChunkWidth);
  static constexpr int kChunkLines = kSwap ? kCols : kRows;
  static constexpr int kChunkBytes = kChunkLines * kSwizzleRowBytes;
  static constexpr int kStagingChunks = Config::kStagingChunks;
  static constexpr int kStagingBytes = kStagingChunks * kChunkBytes;
};

// The shared-memory layout: stage buffers, output staging, barriers.
template <class Config>
struct WgmmaSmem {
  static constexpr int kRowsBytes = Config::kTileRows * kSwizzleRowBytes;
  // An MN-major operand comes in blocks of 64.
  static constexpr int kColsBytes =
      (Config::kMnMajorCols ? (Config::kTileCols + 63) / 64 * 64 : Config::kTileCols) *
      kSwizzleRowBytes;
  static constexpr int kStageBytes = kRowsBytes + (kColsBytes + 1023) / 1024 * 1024;
  static constexpr int kStagingOffset = Config::kStages * kStageBytes;
  static constexpr int kStagingBytes =
      Config::kSplitK ? 0 : Config::kMathGroups * WgmmaTile<Config>::kStagingBytes;
  static constexpr int kBarrierOffset = kStagingOffset + kStagingBytes;
  static constexpr int kBarriers =
      2 * Config::kStages + (Config::kSplitK ? Config::kMathGroups : 0);
  static constexpr int kSlotsOffset = (kBarrierOffset + kBarriers * 8 + 127) / 128 * 128;

  unsigned char* base;
  __device__ __forceinline__ unsigned char* Rows(int stage) const {
    return base + stage * kStageBytes;
  }
  __device__ __forceinline__ unsigned char* Cols(int stage) const {
    return Rows(stage) + kRowsBytes;
  }
  __device__ __forceinline__ unsigned char* Staging(int group) const {
    return base + kStagingOffset + group * WgmmaTile<Config>::kStagingBytes;
  }
  // Split-K partial sums have memory of their own, or reuse the stage buffers.
  __device__ __forceinline__ unsigned char* Partials(int group) const {
    return base + (Config::kOwnSlots ? kSlotsOffset : 0) +
           group * ClusterReduction<WgmmaTile<Config>>::SlotBytes(ClusterSize());
  }
  __device__ __forceinline__ Barrier* Full(int stage) const {
    return reinterpret_cast<Barrier*>(base + kBarrierOffset) + stage;
  }
  __device__ __forceinline__ Barrier* Empty(int stage) const {
    return Full(Config::kStages + stage);
  }
  // Split-K: a math group's partial sums have arrived.
  __device__ __forceinline__ Barrier* Filled(int group) const {
    return Full(2 * Config::kStages + group);
  }
};

// A tile, or a part of its K, that a CTA works on.
struct WgmmaItem {
  TileCoord tile;
  int row, col;  // where it starts
  int k_begin, k_end;
  int part;  // index of its partial sums, of all tiles; -1: a whole tile
};

// The part of the work that a CTA does: items first, first + step, ... With multicast a schedule's
// row is one of the whole cluster.
template <class Config>
struct WgmmaWork {
  const WgmmaGemmParams& params;
  int first, step, items;
  int rank;  // in the cluster

  __device__ static __forceinline__ WgmmaWork Of(const WgmmaGemmParams& params) {
    WgmmaWork work{params, static_cast<int>(blockIdx.x) / Config::kMulticast,
                   static_cast<int>(gridDim.x) / Config::kMulticast, params.walk.tiles, 0};
    if constexpr (Config::kMulticast > 1 || Config::kSplitK) {
      work.rank = static_cast<int>(ClusterRank());
    }
    if constexpr (Config::kSplitK) {
      work.first /= static_cast<int>(ClusterSize());
      work.step = work.items;
    }
    if constexpr (Config::kTailSplit) {
      work.items = params.tail_first + (work.items - params.tail_first) * params.tail_parts;
    }
    return work;
  }

  __device__ __forceinline__ WgmmaItem At(int index) const {
    WgmmaItem item{{}, 0, 0, 0, params.k_tiles, -1};
    int part = rank, parts = 1;
    if constexpr (Config::kSplitK) parts = static_cast<int>(ClusterSize());
    if constexpr (Config::kTailSplit) {
      if (index >= params.tail_first) {
        item.part = index - params.tail_first;
        parts = params.tail_parts;
        part = item.part % parts;
        index = params.tail_first + item.part / parts;
      }
    }
    if constexpr (Config::kSplitK || Config::kTailSplit) {
      item.k_begin = static_cast<int>(static_cast<int64_t>(params.k_tiles) * part / parts);
      item.k_end = static_cast<int>(static_cast<int64_t>(params.k_tiles) * (part + 1) / parts);
    }
    item.tile = params.walk.At(index);
    if constexpr (Config::kMulticast > 1) item.tile.row = item.tile.row * Config::kMulticast + rank;
    item.row = Min(item.tile.row * Config::kTileRows, params.last_row);
    item.col = Min(item.tile.col * Config::kTileCols, params.last_col);
    return item;
  }
};

// Issues the loads of every tile. One thread.
template <class Config>
struct WgmmaProducer {
  using Smem = WgmmaSmem<Config>;

  // Loads kExtent rows (or columns) from `mn` on; into every CTA of the cluster if kShared. With
  // `once` L2 need not keep them.
  template <bool kMnMajor, int kExtent, bool kShared>
  __device__ static __forceinline__ void Load(unsigned char* smem, const TensorMap* map,
                                              Barrier* barrier, int mn, int k, int batch,
                                              bool once) {
#pragma unroll
    for (int i = 0; i < (kMnMajor ? CeilDiv(kExtent, 64) : 1); ++i) {
      unsigned char* block = smem + i * kTileBlockBytes;
      const int x = kMnMajor ? mn + i * 64 : k;
      const int y = kMnMajor ? k : mn;
      constexpr uint16_t kAll = (1 << Config::kMulticast) - 1;
      if (kShared && once) {
        TmaLoadMulticast3d(block, map, barrier, x, y, batch, kAll, PolicyEvictFirst());
      } else if (kShared) {
        TmaLoadMulticast3d(block, map, barrier, x, y, batch, kAll);
      } else if (once) {
        TmaLoad3d(block, map, barrier, x, y, batch, PolicyEvictFirst());
      } else {
        TmaLoad3d(block, map, barrier, x, y, batch);
      }
    }
  }

  __device__ static __forceinline__ void Run(const Smem& smem, const WgmmaGemmParams& params,
                                             const WgmmaWork<Config>& work) {
    constexpr int kPart = Config::kTileCols / Config::kMulticast;  // this CTA's of the cols operand
    PipelineState<Config::kStages> pipe;
    const int share = Config::kMulticast > 1 ? work.rank : 0;
    for (int index = work.first; index < work.items; index += work.step) {
      const WgmmaItem item = work.At(index);
      const int rows_batch = item.tile.batch * params.rows_batch_step;
      const int cols_batch = item.tile.batch * params.cols_batch_step;
      const int row = item.row;
      const int col = item.col + share * kPart;
      const bool rows_once = params.stream_rows || (params.stream_first && item.tile.col == 0);
      const bool cols_once =
          params.stream_cols || (params.stream_first && item.tile.row < Config::kMulticast);
      for (int k = item.k_begin; k < item.k_end; ++k, pipe.Advance()) {
        BarrierWait(smem.Empty(pipe.stage), pipe.parity ^ 1);
        Barrier* full = smem.Full(pipe.stage);
        BarrierArriveExpect(full, params.loaded_bytes);
        Load<Config::kMnMajorRows, Config::kTileRows, false>(
            smem.Rows(pipe.stage), &params.rows_map, full, row, k * kWgmmaTileK, rows_batch,
            rows_once);
        Load<Config::kMnMajorCols, kPart, (Config::kMulticast > 1)>(
            smem.Cols(pipe.stage) + share * kPart * kSwizzleRowBytes, &params.cols_map, full, col,
            k * kWgmmaTileK, cols_batch, cols_once);
      }
    }
  }
};

// One math group's multiplication of a tile.
template <class Config>
struct WgmmaMainloop {
  using Tile = WgmmaTile<Config>;
  using Smem = WgmmaSmem<Config>;
  using Pipe = PipelineState<Config::kStages>;
  using Instruction =
      Wgmma<typename Config::Element, Tile::kCols, Config::kMnMajorRows, Config::kMnMajorCols>;

  // Issues the products of one stage. `row_offset` is where the group's rows start, in bytes.
  __device__ static __forceinline__ void Issue(float (&acc)[Tile::kBlocks][Tile::kCols / 2],
                                               const Smem& smem, int stage, int row_offset,
                                               bool accumulate) {
    const uint64_t a = MatrixDescriptor(SharedAddress(smem.Rows(stage)) + row_offset);
    const uint64_t b = MatrixDescriptor(SharedAddress(smem.Cols(stage)));
    WgmmaFence();
#pragma unroll
    for (int k = 0; k < kWgmmaTileK / 16; ++k) {
#pragma unroll
      for (int block = 0; block < Tile::kBlocks; ++block) {
        Instruction::Run(
            acc[block],
            a + block * kDescriptorStepBlock + k * kDescriptorStepK<Config::kMnMajorRows>,
            b + k * kDescriptorStepK<Config::kMnMajorCols>, accumulate || k > 0);
      }
    }
    WgmmaCommit();
  }

  // Multiplies k_tiles stages, at least one, into acc; a stage is handed back once the product of
  // the next one has been issued. Returns the last one, whose product is left in flight: Finish()
  // it.
  __device__ static __forceinline__ int Run(float (&acc)[Tile::kBlocks][Tile::kCols / 2],
                                            const Smem& smem, Pipe& pipe, int k_tiles,
                                            int row_offset) {
    int previous = 0;
    for (int k = 0; k < k_tiles; ++k, pipe.Advance()) {
      BarrierWait(smem.Full(pipe.stage), pipe.parity);
      Issue(acc, smem, pipe.stage, row_offset, k > 0);
      WgmmaWait<Config::kInFlight>();
      if (k >= Config::kInFlight) Release(smem, Config::kInFlight == 0 ? pipe.stage : previous);
      previous = pipe.stage;
    }
    return previous;
  }

  __device__ static __forceinline__ void Finish(const Smem& smem, int last) {
    if constexpr (Config::kInFlight != 0) {
      WgmmaWait<0>();
      Release(smem, last);
    }
  }

  // Hands a stage back to the producers that fill it: one arrival a warp at each of them.
  __device__ static __forceinline__ void Release(const Smem& smem, int stage) {
    const int lane = threadIdx.x % 32;
    if constexpr (Config::kMulticast > 1) {
      if (lane < Config::kMulticast) BarrierArriveRemote(smem.Empty(stage), lane);
    } else {
      if (lane == 0) BarrierArrive(smem.Empty(stage));
    }
  }
};

// Ping-pong: the turn to multiply goes from one math group to the other. Without it a group that is
// rounds ahead of the ring would take an old phase of a full barrier for its own.
struct PingPongTurn {
  static constexpr int kBarrier = 4;  // and 5; the epilogues use 1 to 3
  __device__ static __forceinline__ void Start(int group) {
    if (group == 1) Pass(group);  // group 0 goes first
  }
  __device__ static __forceinline__ void Await(int group) {
    NamedBarrierSync(kBarrier + group, 256);
  }
  __device__ static __forceinline__ void Pass(int group) {
    NamedBarrierArrive(kBarrier + 1 - group, 256);
  }
};

// A math group's share: for each of its tiles, multiply and store.
template <class Config>
__device__ __forceinline__ void WgmmaMathGroup(const WgmmaSmem<Config>& smem,
                                               const WgmmaGemmParams& params,
                                               const WgmmaWork<Config>& work, int group) {
  using Tile = WgmmaTile<Config>;
  const int row_in_tile = Config::kPingPong ? 0 : group * Tile::kRows;
  PipelineState<Config::kStages> pipe;
  [[maybe_unused]] int turn = 0;  // in the ring of the epilogue
  if (Config::kPingPong) {
    pipe.Skip(group * params.k_tiles);
    PingPongTurn::Start(group);
  }
  const int turns = Config::kPingPong ? Config::kMathGroups : 1;
  const int begin = work.first + (Config::kPingPong ? group * work.step : 0);
  for (int index = begin; index < work.items; index += turns * work.step) {
    const WgmmaItem item = work.At(index);
    const int row = item.row + row_in_tile;
    const int col = item.col;
    float acc[Tile::kBlocks][Tile::kCols / 2];
    if (Config::kPingPong) PingPongTurn::Await(group);
    const int last = WgmmaMainloop<Config>::Run(acc, smem, pipe, item.k_end - item.k_begin,
                                                row_in_tile * kSwizzleRowBytes);
    // All of this tile's stages have been awaited: the other group's products may queue behind.
    if (Config::kPingPong && index + work.step < work.items) PingPongTurn::Pass(group);
    WgmmaMainloop<Config>::Finish(smem, last);
    if constexpr (Config::kSplitK) {
      if constexpr (Config::kOwnSlots) {
        ClusterWait();  // every CTA has initialised its barriers, long ago
      } else {
        if (threadIdx.x % 128 == 0) ClusterReduction<Tile>::Expect(smem.Filled(group));
        ClusterSyncRelaxed();  // every CTA is done with its stage buffers
      }
      ClusterReduction<Tile>::Push(acc, smem.Partials(group), smem.Filled(group));
      BarrierWait(smem.Filled(group), 0);
      ClusterReduction<Tile>::Reduce(smem.Partials(group), params, row, col, item.tile.batch);
    } else if (Config::kTailSplit && item.part >= 0) {
      TailReduction<Config, Tile>::Store(acc, params, item.part, group);
    } else if constexpr (TmaEpilogue<Tile>::kRolled) {
      TmaEpilogue<Tile>::StoreRolled(acc, smem.Staging(group), params, row, col, item.tile.batch,
                                     1 + group, turn);
    } else {
      TmaEpilogue<Tile>::Store(acc, smem.Staging(group), params, row, col, item.tile.batch,
                               1 + group, turn);
    }
    if (Config::kPingPong) pipe.Skip((turns - 1) * params.k_tiles);
  }
  if (!Config::kSplitK && threadIdx.x % 128 == 0) TmaStoreWaitRead<0>();
}

template <class Config>
__global__ __launch_bounds__(
    (Config::kMathGroups + 1) * 128,
    Config::kBlocksPerSm) void WgmmaGemmKernel(const __grid_constant__ WgmmaGemmParams params) {
  static_assert(Config::kTileCols % (Config::kSwap ? 8 : 16) == 0 && Config::kTileCols <= 256);
  static_assert(WgmmaTile<Config>::kRows % 64 == 0 && Config::kTileRows <= 256);
  static_assert(Config::kStages > Config::kInFlight);
  static_assert(Config::kMulticast == 1 ||
                (!Config::kSplitK && Config::kTileCols % (Config::kMnMajorCols ? 128 : 16) == 0));
  static_assert(!Config::kPingPong ||
                (Config::kMathGroups == 2 && !Config::kSplitK && !Config::kTailSplit));
  static_assert(!Config::kTailSplit || (!Config::kSplitK && Config::kMulticast == 1));
  static_assert(!Config::kOwnSlots || Config::kSplitK);
  using Smem = WgmmaSmem<Config>;
  extern __shared__ __align__(1024) unsigned char smem_bytes[];
  const Smem smem{smem_bytes};
  const int warp_group = ShuffleIndexBits(threadIdx.x / 128, 0);

  if (threadIdx.x == 0) {
    constexpr int kReleases =
        4 * (Config::kPingPong ? 1 : Config::kMathGroups) * Config::kMulticast;
    for (int stage = 0; stage < Config::kStages; ++stage) {
      BarrierInit(smem.Full(stage), 1);
      BarrierInit(smem.Empty(stage), kReleases);
    }
    for (int group = 0; Config::kSplitK && group < Config::kMathGroups; ++group) {
      BarrierInit(smem.Filled(group), 1);
      if constexpr (Config::kOwnSlots) {
        ClusterReduction<WgmmaTile<Config>>::Expect(smem.Filled(group));
      }
    }
    BarrierInitFence();
  } else if (threadIdx.x == Config::kMathGroups * 128) {
    TmaPrefetchMap(&params.rows_map);
    TmaPrefetchMap(&params.cols_map);
  }
  if constexpr (Config::kOwnSlots) ClusterArriveRelaxed();  // awaited where sums are pushed
  if constexpr (Config::kMulticast > 1) {
    ClusterSyncRelaxed();
  } else {
    CtaBarrier();
  }

  if constexpr (Config::kTailSplit) LaunchDependentGrids();
  const WgmmaWork<Config> work = WgmmaWork<Config>::Of(params);
  if (warp_group == Config::kMathGroups) {
    if constexpr (Config::kProducerRegisters != 0) RegistersDecrease<Config::kProducerRegisters>();
    // One thread, elected so that the compiler knows it for one: else each load is a loop over
    // lanes.
    if (ShuffleIndexBits(threadIdx.x / 32, 0) == Config::kMathGroups * 4 && ElectOne()) {
      WgmmaProducer<Config>::Run(smem, params, work);
    }
    __syncwarp();
    // The math groups' barrier.
    if constexpr (Config::kOwnSlots) {
      ClusterWait();
    } else if constexpr (Config::kSplitK) {
      ClusterSyncRelaxed();
    }
  } else {
    if constexpr (Config::kMathRegisters != 0) RegistersIncrease<Config::kMathRegisters>();
    WgmmaMathGroup<Config>(smem, params, work, warp_group);
  }
  // No CTA leaves while another may still write to its shared memory.
  if constexpr (Config::kMulticast > 1) ClusterSyncRelaxed();
}

// Adds up the parts of the tail's tiles, in order, and stores the results. A block of 128 threads
// does kTailShares shares of one math group's part of a tile.
template <class Config>
__global__ __launch_bounds__(128) void WgmmaReduceKernel(
    const __grid_constant__ WgmmaGemmParams params) {
  using Tile = WgmmaTile<Config>;
  WaitForPriorGrids();
  TailReduction<Config, Tile>::Reduce(params, static_cast<int>(blockIdx.x));
}

}  // namespace tilewright

#endif  // TILEWRIGHT_GEMM_WGMMA_CUH_
