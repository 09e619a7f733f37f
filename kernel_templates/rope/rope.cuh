// Rotary position embedding: pairs of columns of each head turn by an angle that is proportional to
// the token's position. Heads may share a table of cosines and sines, which their CTA makes once;
// else threads make those that they need.
//
// Config:
//   Element
//   Position   of the position array; void: a token's place in its sequence is its position
//   kHalves    column c pairs with column c + pairs; else column 2 p pairs with column 2 p + 1
//   kFactors   frequencies are divided by an array
//   kTable     of turns, in shared memory
//   kThreads, kGroup   threads of a CTA, and of one token; powers of two
//   kVector    columns a packet; they lie together where it is over 1
//   kUnroll    items a thread loads before it stores the first
//   kSameColumns   all items of a thread rotate the same columns; then none are copied
#ifndef TILEWRIGHT_ROPE_ROPE_CUH_
#define TILEWRIGHT_ROPE_ROPE_CUH_

#include "device/cluster.cuh"
#include "device/ldst.cuh"
#include "device/math.cuh"
#include "device/transcendental.cuh"
#include "device/warp.cuh"
#include "rope/params.cuh"

namespace tilewright {

template <class Config>
struct RopeTraits {
  using Element = typename Config::Element;
  static constexpr int kVector = Config::kVector;
  static constexpr int kBytes = kVector * static_cast<int>(sizeof(Element));
  // Pairs of an item. Neighbours are in one packet where that holds two.
  static constexpr int kPairs = Config::kHalves || kVector == 1 ? kVector : kVector / 2;
  static constexpr int kPackets = 2 * kPairs / kVector;
  static constexpr int kTokens = Config::kThreads / Config::kGroup;
  static_assert(IsPowerOfTwo(kVector) && kBytes <= 16);
  static_assert(Config::kThreads % Config::kGroup == 0);
};

// The packets of one item.
template <class Config>
struct RopeItem {
  Packet<RopeTraits<Config>::kBytes> packets[RopeTraits<Config>::kPackets];
};

struct alignas(8) CosineSine {
  float cosine, sine;
};

// Entries from one token's row of the table to the next: an odd number, so that rows differ in
// their banks.
__device__ __forceinline__ int TableRow(const RopeParams& p) { return p.pairs | 1; }

// Where a token's columns begin.
struct RopeToken {
  const uint8_t* input;
  uint8_t* output;
};

// Column of packet `k` of item `index` of a head.
template <class Config>
__device__ __forceinline__ int ColumnOf(const RopeParams& p, int index, int k) {
  using Traits = RopeTraits<Config>;
  const int pair = index * Traits::kPairs;
  if (!Config::kSameColumns && pair >= p.pairs) {  // copied: items follow the rotated columns
    return 2 * pair + k * Traits::kVector;
  }
  return Config::kHalves ? pair + k * p.pairs : 2 * pair + k * Traits::kVector;
}

template <class Config>
__device__ __forceinline__ int64_t StepOf(long long step) {
  constexpr int kSize = static_cast<int>(sizeof(typename Config::Element));
  return Config::kVector > 1 ? kSize : step * kSize;
}

template <class Config>
__device__ __forceinline__ void LoadItem(const RopeParams& p, const RopeToken& token, int item,
                                         RopeItem<Config>& loaded) {
  using Traits = RopeTraits<Config>;
  unsigned head, index;
  p.head_items(static_cast<unsigned>(item), &head, &index);
  const uint8_t* origin =
      token.input + head * p.input_stride[2] * static_cast<int>(sizeof(typename Config::Element));
#pragma unroll
  for (int k = 0; k < Traits::kPackets; ++k) {
    const int64_t column = ColumnOf<Config>(p, static_cast<int>(index), k);
    loaded.packets[k] = LoadGlobal<Traits::kBytes>(origin + column * StepOf<Config>(p.input_step));
  }
}

// Rotates the pairs of an item in place.
template <class Config>
__device__ __forceinline__ void Rotate(const CosineSine (&turn)[RopeTraits<Config>::kPairs],
                                       RopeItem<Config>& item) {
  using Traits = RopeTraits<Config>;
  using Element = typename Config::Element;
  float values[Traits::kPackets][Traits::kVector];
#pragma unroll
  for (int k = 0; k < Traits::kPackets; ++k) Unpack<Element>(item.packets[k], values[k]);
#pragma unroll
  for (int i = 0; i < Traits::kPairs; ++i) {
    constexpr bool kTwoPackets = Traits::kPackets == 2;
    float& first = values[0][kTwoPackets ? i : 2 * i];
    float& second = values[kTwoPackets ? 1 : 0][kTwoPackets ? i : 2 * i + 1];
    const float a = first, b = second;
    first = Fma(a, turn[i].cosine, -(b * turn[i].sine));
    second = Fma(b, turn[i].cosine, a * turn[i].sine);
  }
#pragma unroll
  for (int k = 0; k < Traits::kPackets; ++k) {
    item.packets[k] = Pack<Element, Traits::kBytes>(values[k]);
  }
}

template <class Config>
__device__ __forceinline__ void StoreItem(const RopeParams& p, const RopeToken& token, int item,
                                          const RopeItem<Config>& rotated) {
  using Traits = RopeTraits<Config>;
  unsigned head, index;
  p.head_items(static_cast<unsigned>(item), &head, &index);
  uint8_t* origin =
      token.output + head * p.output_stride[2] * static_cast<int>(sizeof(typename Config::Element));
#pragma unroll
  for (int k = 0; k < Traits::kPackets; ++k) {
    const int64_t column = ColumnOf<Config>(p, static_cast<int>(index), k);
    StoreGlobal<Traits::kBytes>(origin + column * StepOf<Config>(p.output_step),
                                rotated.packets[k]);
  }
}

template <class Config>
__device__ __forceinline__ int64_t PositionOf(const RopeParams& p, int64_t token, int64_t place) {
  if constexpr (kIsSame<typename Config::Position, void>) {
    return place;
  } else {
    using Position = typename Config::Position;
    return static_cast<const Position*>(p.positions)[token * p.position_stride];
  }
}

// The position of the token whose turns this thread makes: its own, or one of the table's rows. 0
// of one that does not exist.
template <class Config>
__device__ __forceinline__ int64_t TurnedPosition(const RopeParams& p, int64_t first_token) {
  constexpr int kTokens = RopeTraits<Config>::kTokens;
  const int thread = static_cast<int>(threadIdx.x);
  const int64_t token = first_token + (Config::kTable ? thread % kTokens : thread / Config::kGroup);
  if (token >= p.tokens) return 0;
  unsigned long long batch, place;
  p.sequence(static_cast<unsigned long long>(token), &batch, &place);
  return PositionOf<Config>(p, token, static_cast<int64_t>(place));
}

// What `pair` turns by at `position`. Positions are whole, so the whole turns of a step drop out,
// and a product modulo 2^64 keeps the fraction of even the largest position.
template <class Config>
__device__ __forceinline__ CosineSine TurnOf(const RopeParams& p, int64_t position, int pair) {
  constexpr float kTwoPi = 6.28318530717958647693f;
  uint64_t step = p.steps[pair];
  float amplitude = p.amplitude;
  if constexpr (Config::kFactors) {
    double turns = BitsToDouble(step) / p.factors[pair * p.factor_stride];
    turns -= floor(turns);
    if (turns != turns) amplitude = static_cast<float>(turns);
    step = static_cast<uint64_t>(turns * 0x1p64);
  }
  const uint64_t fraction = static_cast<uint64_t>(position) * step;
  const float turns = static_cast<float>(static_cast<int32_t>(fraction >> 32)) * 0x1p-32f;
  float sine, cosine;
  if constexpr (sizeof(typename Config::Element) == 2) {
    sine = SinApprox(turns * kTwoPi);
    cosine = CosApprox(turns * kTwoPi);
  } else {
    sincospif(2.0f * turns, &sine, &cosine);
  }
  return {cosine * amplitude, sine * amplitude};
}

// Fills the table of the CTA's tokens: row t holds pair v * kPairs + j at j * (items that rotate)
// + v, so that neighbouring threads read neighbouring entries. Neighbouring threads fill the same
// pair's, whose step they then read at once: those of row threadIdx.x % kTokens, at `position`.
template <class Config>
__device__ __forceinline__ void MakeTable(const RopeParams& p, int64_t position,
                                          CosineSine* table) {
  using Traits = RopeTraits<Config>;
  const int columns = p.pairs / Traits::kPairs;
  const int row = static_cast<int>(threadIdx.x) % Traits::kTokens;
  for (int pair = static_cast<int>(threadIdx.x) / Traits::kTokens; pair < p.pairs;
       pair += Config::kGroup) {
    const int slot = pair % Traits::kPairs * columns + pair / Traits::kPairs;
    table[row * TableRow(p) + slot] = TurnOf<Config>(p, position, pair);
  }
}

// The turns of the items of a token.
template <class Config>
struct TokenTurns {
  const RopeParams& p;
  const CosineSine* row;  // of the table
  int64_t position;

  // Of item `index` of a head, which rotates.
  __device__ __forceinline__ void Of(int index,
                                     CosineSine (&turn)[RopeTraits<Config>::kPairs]) const {
    using Traits = RopeTraits<Config>;
    const int columns = p.pairs / Traits::kPairs;
#pragma unroll
    for (int j = 0; j < Traits::kPairs; ++j) {
      turn[j] = Config::kTable ? row[j * columns + index]
                               : TurnOf<Config>(p, position, index * Traits::kPairs + j);
    }
  }
};

template <class Config>
__global__ void __launch_bounds__(Config::kThreads)
    RopeKernel(const __grid_constant__ RopeParams p) {
  using Traits = RopeTraits<Config>;
  constexpr int kSize = static_cast<int>(sizeof(typename Config::Element));
  extern __shared__ __align__(16) unsigned char smem_bytes[];
  auto* table = reinterpret_cast<CosineSine*>(smem_bytes);
  WaitForPriorGrids();
  const int64_t first_token = static_cast<int64_t>(blockIdx.x) * Traits::kTokens;
  const int row = static_cast<int>(threadIdx.x) / Config::kGroup;
  const int64_t token_index = first_token + row;
  const bool exists = token_index < p.tokens;
  unsigned long long batch, place;
  p.sequence(static_cast<unsigned long long>(exists ? token_index : 0), &batch, &place);
  const RopeToken token = {
      static_cast<const uint8_t*>(p.x) + (static_cast<int64_t>(batch) * p.input_stride[0] +
                                          static_cast<int64_t>(place) * p.input_stride[1]) *
                                             kSize,
      static_cast<uint8_t*>(p.output) + (static_cast<int64_t>(batch) * p.output_stride[0] +
                                         static_cast<int64_t>(place) * p.output_stride[1]) *
                                            kSize};
  // The first items are on their way while the turns are made; positions that are read go first.
  constexpr bool kReadsPositions = !kIsSame<typename Config::Position, void>;
  int64_t position = 0;
  if constexpr (kReadsPositions) position = TurnedPosition<Config>(p, first_token);
  const int items = exists ? p.items : 0;
  int item = static_cast<int>(threadIdx.x) % Config::kGroup;
  RopeItem<Config> loaded[Config::kUnroll];
  const auto load = [&] {
#pragma unroll
    for (int u = 0; u < Config::kUnroll; ++u) {
      if (item + u * Config::kGroup < items) {
        LoadItem<Config>(p, token, item + u * Config::kGroup, loaded[u]);
      }
    }
  };
  load();
  if constexpr (!kReadsPositions) position = TurnedPosition<Config>(p, first_token);
  if constexpr (Config::kTable) {
    MakeTable<Config>(p, position, table);
    CtaBarrier();
  }
  const TokenTurns<Config> turns = {p, table + row * TableRow(p), position};
  CosineSine turn[Traits::kPairs];
  if constexpr (Config::kSameColumns) {
    unsigned head, index;
    p.head_items(static_cast<unsigned>(item), &head, &index);
    turns.Of(static_cast<int>(index), turn);
  }
  while (item < items) {
#pragma unroll
    for (int u = 0; u < Config::kUnroll; ++u) {
      const int at = item + u * Config::kGroup;
      if (at >= items) break;
      if constexpr (Config::kSameColumns) {
        Rotate<Config>(turn, loaded[u]);
      } else {
        unsigned head, index;
        p.head_items(static_cast<unsigned>(at), &head, &index);
        if (static_cast<int>(index) * Traits::kPairs < p.pairs) {
          turns.Of(static_cast<int>(index), turn);
          Rotate<Config>(turn, loaded[u]);
        }
      }
      StoreItem<Config>(p, token, at, loaded[u]);
    }
    item += Config::kUnroll * Config::kGroup;
    if (item < items) load();
  }
}

}  // namespace tilewright

#endif  // TILEWRIGHT_ROPE_ROPE_CUH_
