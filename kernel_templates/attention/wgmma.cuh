// Attention forward on Hopper's warp-group tensor cores (sm_90a).
//
// One warp loads tiles of queries, keys and values by TMA; kMathGroups warp groups of 64 query rows
// each compute. Keys and values come right to left, so that masked tiles are done first. Within a
// group the scores of the next tile are multiplied while the weights of the last one are; between
// groups a turn makes one multiply while the other computes exponentials (after FlashAttention-3,
// Shah et al. 2024). CTAs are persistent: an epilogue overlaps the loads of the next row tile.
#ifndef TILEWRIGHT_ATTENTION_WGMMA_CUH_
#define TILEWRIGHT_ATTENTION_WGMMA_CUH_

// The products (device/wgmma_chain.cuh): scores over the head dimension, values over a tile's keys.
// CONFIG_<name> is Config::<name>; wgmma_float8.cuh has its own. No single steps are used.
#define TILEWRIGHT_WGMMA_USED(n) 0
#if defined(CONFIG_kTileN) && !defined(TILEWRIGHT_CHAIN_FLOAT8)
#define TILEWRIGHT_CHAIN_FLOAT8 0
#define TILEWRIGHT_CHAIN_SHARED_COLUMNS CONFIG_kTileN
#define TILEWRIGHT_CHAIN_SHARED_STEPS (CONFIG_kDim / 16)
#define TILEWRIGHT_CHAIN_REGISTER_COLUMNS CONFIG_kValueDim
#define TILEWRIGHT_CHAIN_REGISTER_STEPS (CONFIG_kTileN / 16)
#endif

#include "attention/sequence.cuh"
#include "attention/softmax.cuh"
#include "attention/wgmma_memory.cuh"
#include "attention/wgmma_producer.cuh"
#include "attention/wgmma_store.cuh"
#include "device/cluster.cuh"
#include "device/hold.cuh"
#include "device/mbarrier.cuh"
#include "device/warp.cuh"
#include "device/wgmma.cuh"
#include "device/wgmma_chain.cuh"

namespace tilewright {

// The turn to issue matrix products goes round the math groups, if there are several.
template <int kGroups>
struct MathTurn {
  static constexpr int kBarrier = 4;  // to 6; the epilogues use 1 to 3
  __device__ static __forceinline__ void Start(int group) {
    if (group == kGroups - 1) Pass(group);  // group 0 goes first
  }
  __device__ static __forceinline__ void Await(int group) {
    if constexpr (kGroups > 1) NamedBarrierSync(kBarrier + group, 256);
  }
  __device__ static __forceinline__ void Pass(int group) {
    if constexpr (kGroups > 1) {
      NamedBarrierArrive(kBarrier + (group + 1 == kGroups ? 0 : group + 1), 256);
    }
  }
};

// Rounded weights of one step of a matrix product, `s` being its tiles of eight keys.
template <class Element>
struct PackStep {
  __device__ static __forceinline__ void Run(uint32_t (&a)[4], const float (*s)[4]) {
    PackWeights<Element>(a, s[0], s[1]);
  }
};

// One math group: 64 rows of each tile.
template <class Config>
struct AttentionMath {
  using Element = typename Config::Element;
  using Tile = WgmmaAttentionTile<Config>;
  using Smem = WgmmaAttentionSmem<Config>;
  using Pipe = PipelineState<Config::kStages>;
  using Work = WgmmaAttentionWork<Config>;
  // Float8 products are short: without a mask, waiting for a turn costs more than it gives.
  using Turn = MathTurn<Config::kFloat8 && !Config::kCausal ? 1 : Config::kMathGroups>;
  using Product = WgmmaChain<Element>;
  static constexpr bool SumByProduct() { return Tile::SumDims() > 0; }
  static constexpr int kColumnTiles = Tile::kTileN / 8;
  static constexpr int kSteps = Tile::kTileN / Tile::kStepKeys;

  const Smem& smem;
  const WgmmaAttentionParams& params;
  const int group;
  Pipe keys, values;
  float s[kColumnTiles][4];
  float o[Tile::ProductDim() / 2];  // the last four, if any: sums of weights
  uint32_t weights[kSteps][4];
  SoftmaxState state;
  VisibleKeys visible;
  float input_scale;  // of float8 queries and keys

  __device__ __forceinline__ float Scale() const {
    const float scale = params.call.scale_log2 * input_scale;
    // Of minus infinity, a scale of zero would make a NaN.
    constexpr float kSmallest = 1e-30f;
    const bool scaled = Config::kQueryScales || Config::kKeyScales;
    return Config::kSoftcap ? 1.0f : scaled ? MaxNumber(scale, kSmallest) : scale;
  }

  // s = queries * keys^T; asynchronous.
  __device__ __forceinline__ void IssueScores() {
    const uint64_t q =
        MatrixDescriptor(SharedAddress(smem.Queries()) + group * 64 * kSwizzleRowBytes);
    const uint64_t k = MatrixDescriptor(SharedAddress(smem.Keys(keys.stage)));
    auto& scores = reinterpret_cast<float(&)[kColumnTiles * 4]>(s);
    constexpr int kDimSteps = Config::kDim / Tile::kStepKeys;
    static_assert(kDescriptorStepK<false> == 2);  // which the product knows
    WgmmaFence();
    // Few steps of 16 bits cost the compiler little one by one.
    if constexpr (Config::kFloat8 || kDimSteps >= 4) {
      Product::template Shared<Tile::kQueryBlockBytes / 16, Tile::kKeyBlockBytes / 16>(scores, q,
                                                                                       k);
    } else {
#pragma unroll
      for (int step = 0; step < kDimSteps; ++step) {
        Product::SharedStep(scores, q + step * kDescriptorStepK<false>,
                            k + step * kDescriptorStepK<false>, step > 0);
      }
    }
    WgmmaCommit();
  }

  // o += weights * values; asynchronous.
  __device__ __forceinline__ void IssueValues() {
    const uint64_t v = Tile::ValueDescriptor(SharedAddress(smem.Values(values.stage)));
    WgmmaFence();
    Product::template Registers<Tile::ValueStep(), Tile::ValueStepBlock()>(o, weights, v);
    WgmmaCommit();
  }

  template <int kPending>
  __device__ __forceinline__ void AwaitScores() {
    WgmmaWait<kPending>();
    HoldAll(reinterpret_cast<float(&)[kColumnTiles * 4]>(s));
  }
  __device__ __forceinline__ void AwaitValues() {
    WgmmaWait<0>();
    HoldAll(o);
#pragma unroll
    for (int i = 0; i < kSteps; ++i) HoldAll(weights[i]);
  }

  __device__ __forceinline__ void ReleaseKeys() {
    if (threadIdx.x % 32 == 0) BarrierArrive(smem.KeysEmpty(keys.stage));
    keys.Advance();
  }
  __device__ __forceinline__ void ReleaseValues() {
    if (threadIdx.x % 32 == 0) BarrierArrive(smem.ValuesEmpty(values.stage));
    values.Advance();
  }

  __device__ __forceinline__ void Cap() {
    if constexpr (Config::kSoftcap) {
      CapScores(s, params.call.softcap_in * input_scale, params.call.softcap_log2);
    }
  }
  __device__ __forceinline__ void Mask(int block) {
    MaskScores<Config::kWindow>(s, visible, block * Tile::kTileN);
  }
  template <bool kSum>
  __device__ __forceinline__ void Exponentials(float (&rescale)[2]) {
    state.Update<kWeightShift<Element>, kSum, SumByProduct()>(s, Scale(), rescale);
  }
  __device__ __forceinline__ void Rescale(const float (&rescale)[2]) {
#pragma unroll
    for (int i = 0; i < Config::kValueDim / 2; ++i) o[i] *= rescale[i / 2 % 2];
    if constexpr (SumByProduct()) {
      AddSums();
#pragma unroll
      for (int row = 0; row < 2; ++row) state.sum[row] *= rescale[row];
#pragma unroll
      for (int i = Config::kValueDim / 2; i < Tile::ProductDim() / 2; ++i) {
        o[i] = 0.0f;
        WgmmaHold(o[i]);  // else the assembler would make products wait for each other
      }
    }
  }
  // Adds the sums of the last product's weights to those of the blocks before: the tensor cores
  // keep too few bits for those of all blocks. Threads of the columns without ones add zeros.
  __device__ __forceinline__ void AddSums() {
    if constexpr (SumByProduct()) {
#pragma unroll
      for (int row = 0; row < 2; ++row) state.sum[row] += o[Config::kValueDim / 2 + row * 2];
    }
  }
  __device__ __forceinline__ void Pack() {
#pragma unroll
    for (int step = 0; step < kSteps; ++step) {
      PackStep<Element>::Run(weights[step], s + step * (kColumnTiles / kSteps));
    }
  }

  __device__ __forceinline__ void AwaitValueTile() {
    BarrierWait(smem.ValuesFull(values.stage), values.parity);
  }
  // Before the first values of a row tile. Rows past the end of a sequence may be another's: a
  // weight of zero would not keep a NaN among them out.
  __device__ __forceinline__ void ZeroTail(const Work& work) {
    if constexpr (Config::kRagged || Config::kPaged) {
      const int rows = work.sequence.kv_len - work.last * Tile::kTileN;
      if (rows < Tile::kTileN) {
        AwaitValueTile();
        Tile::ZeroKeys(smem.Values(values.stage), rows);
        FenceProxyAsync();
        NamedBarrierSync(1 + group, 128);
      }
    }
  }

  // The scores of `block` and the values of the one after it. With a window, blocks that it cuts on
  // the left are `masked`.
  __device__ __forceinline__ void Step(int block, bool masked) {
    BarrierWait(smem.KeysFull(keys.stage), keys.parity);
    Turn::Await(group);
    IssueScores();
    AwaitValueTile();
    IssueValues();
    Turn::Pass(group);
    AwaitScores<1>();
    ReleaseKeys();
    Cap();
    if (Config::kWindow && masked) MaskScores<true, false>(s, visible, block * Tile::kTileN);
    float rescale[2];
    // Summed as they arrive, exponentials wait for each other; behind the values they do not. It
    // helps 16-bit kernels without a causal mask.
    constexpr bool kLateSums = !Config::kFloat8 && !Config::kCausal;
    Exponentials<!kLateSums && !SumByProduct()>(rescale);
    if constexpr (SumByProduct()) {
      HoldBack(s[kColumnTiles - 1][1] + s[kColumnTiles - 1][3]);
    } else if constexpr (Config::kFloat8) {
      HoldBack(state.sum[0] + state.sum[1]);
    }
    AwaitValues();
    ReleaseValues();
    if constexpr (kLateSums) state.AddSums(s, rescale, o[0]);
    Rescale(rescale);
    Pack();
  }

  // All blocks of a tile. The few that end its rows, which the mask may touch, come first, one
  // after the other; those that it does not touch overlap. Each part of the code stands here once.
  __device__ __forceinline__ void Blocks(const Work& work) {
    const int free_last = Config::kCausal ? work.FreeLast(0) : work.last - 1;
    const int free_first = Config::kWindow ? work.FreeFirst(group) : 0;
    int block = work.last;
#pragma unroll 1
    do {
      BarrierWait(smem.KeysFull(keys.stage), keys.parity);
      IssueScores();
      AwaitScores<0>();
      ReleaseKeys();
      Cap();
      Mask(block);
      float rescale[2];
      Exponentials<!SumByProduct()>(rescale);
      Rescale(rescale);
      Pack();
      if (block == work.last) ZeroTail(work);
      --block;
      if (block <= free_last) {
#pragma unroll 1
        for (; block >= work.first; --block) Step(block, block < free_first);
      }
      if (!Config::kSharedOutput && block < work.first) ReleaseQueries();
      AwaitValueTile();
      IssueValues();
      AwaitValues();
      ReleaseValues();
    } while (Config::kCausal && block >= work.first);
  }

  __device__ __forceinline__ void AwaitQueries(uint32_t& parity) {
    BarrierWait(smem.QueriesFull(), parity);
    parity ^= 1;
  }
  __device__ __forceinline__ void ReleaseQueries() {
    if (threadIdx.x % 32 == 0) BarrierArrive(smem.QueriesEmpty());
  }

  __device__ __forceinline__ void Run() {
    uint32_t q_parity = 0;
    Turn::Start(group);
    for (AttentionTurns turns(params.walk); turns.more(); turns.Next()) {
      const Work work = Work::Of(params, turns.index());
      if (work.empty()) continue;
      state = SoftmaxState();
      input_scale = work.InputScale();
#pragma unroll
      for (int i = 0; i < Tile::ProductDim() / 2; ++i) o[i] = 0.0f;
      if (!work.blind()) {
        visible = work.Visible(group);
        // The same twice, which the compiler orders differently: each as it ran in conformance.
        if constexpr (Config::kFloat8) {
          AwaitQueries(q_parity);
        } else {
          BarrierWait(smem.QueriesFull(), q_parity);
          q_parity ^= 1;
        }
        Blocks(work);
      }
      AddSums();
      state.Finish();
      AttentionStore<Config>::Run(o, state, Scale(), smem, params, work, group);
      if (Config::kSharedOutput && !work.blind()) ReleaseQueries();
    }
    if (threadIdx.x % 128 == 0) TmaStoreWaitRead<0>();
  }
};

template <class Config>
__global__ __launch_bounds__((Config::kMathGroups + 1) * 128, 1) void WgmmaAttentionKernel(
    const __grid_constant__ WgmmaAttentionParams params) {
  using Tile = WgmmaAttentionTile<Config>;
  static_assert(Config::kDim % Tile::kStepKeys == 0 && Config::kValueDim % 16 == 0);
  static_assert(!Config::kFloat8 || (Config::kRagged && !Config::kPaged && !Config::kLse));
  static_assert(Config::kTileN % Tile::kStepKeys == 0 && Config::kTileN <= 256 &&
                Config::kStages >= 2);
  using Smem = WgmmaAttentionSmem<Config>;
  extern __shared__ __align__(1024) unsigned char smem_bytes[];
  const Smem smem{smem_bytes};
  const int warp_group = ShuffleIndexBits(threadIdx.x / 128, 0);
  constexpr int kProducer = Config::kMathGroups;
  if (threadIdx.x == 0) {
    constexpr int kReleases = 4 * Config::kMathGroups;  // one a warp
    BarrierInit(smem.QueriesFull(), 1);
    BarrierInit(smem.QueriesEmpty(), kReleases);
    for (int stage = 0; stage < Config::kStages; ++stage) {
      BarrierInit(smem.KeysFull(stage), 1);
      BarrierInit(smem.ValuesFull(stage), 1);
      BarrierInit(smem.KeysEmpty(stage), kReleases);
      BarrierInit(smem.ValuesEmpty(stage), kReleases);
    }
    BarrierInitFence();
  } else if (threadIdx.x == kProducer * 128) {
    TmaPrefetchMap(&params.q_map);
    TmaPrefetchMap(&params.k_map);
    TmaPrefetchMap(&params.v_map);
  }
  if constexpr (Tile::SumDims() > 0) {
    for (int stage = 0; stage < Config::kStages; ++stage) Tile::FillSumDims(smem.Values(stage));
    FenceProxyAsync();
  }
  CtaBarrier();
  if (warp_group == kProducer) {
    RegistersDecrease<Config::kProducerRegisters>();
    if (threadIdx.x == kProducer * 128) AttentionProducer<Config>::Run(smem, params);
  } else {
    RegistersIncrease<Config::kMathRegisters>();
    AttentionMath<Config>{smem, params, warp_group}.Run();
  }
}

}  // namespace tilewright

#endif  // TILEWRIGHT_ATTENTION_WGMMA_CUH_
