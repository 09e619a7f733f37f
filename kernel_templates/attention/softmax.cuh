// The online softmax over fragments of scores: a thread holds two rows (lane / 4, and 8 further) of
// 8-column tiles, two neighbouring columns of each.
#ifndef TILEWRIGHT_ATTENTION_SOFTMAX_CUH_
#define TILEWRIGHT_ATTENTION_SOFTMAX_CUH_

#include "attention/params.cuh"
#include "device/base.cuh"
#include "device/hold.cuh"
#include "device/math.cuh"
#include "device/warp.cuh"

namespace tilewright {

inline constexpr float kMinusInfinity = __builtin_bit_cast(float, 0xff800000u);

// The keys that the thread's two rows may see: first and last, inclusive.
struct VisibleKeys {
  int first[2];
  int last[2];
};

// A query's place: keys from `first` on to `last` are visible; none if first > last.
struct KeyRange {
  int first;
  int last;
};
__device__ __forceinline__ KeyRange VisibleRange(int position, int left, int right, int kv_len) {
  return {Max(0, position - left), Min(kv_len - 1, position + right)};
}

// Scores of invisible keys become minus infinity. `column` is the key of the tile's first column.
// Without kFirst no row has a first visible key but 0; without kLast none a last one in the tile.
template <bool kFirst = true, bool kLast = true, int kTiles>
__device__ __forceinline__ void MaskScores(float (&s)[kTiles][4], const VisibleKeys& keys,
                                           int column) {
  const int mine = column + threadIdx.x % 4 * 2;
#pragma unroll
  for (int row = 0; row < 2; ++row) {
    const int first = keys.first[row] - mine;
    const int last = keys.last[row] - mine;
#pragma unroll
    for (int tile = 0; tile < kTiles; ++tile) {
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        const int at = tile * 8 + i;
        if ((kFirst && at < first) || (kLast && at > last)) {
          s[tile][row * 2 + i] = kMinusInfinity;
        }
      }
    }
  }
}

// tanh by one exponential; absolute error about 1e-7.
__device__ __forceinline__ float Tanh(float x) {
  return 1.0f - 2.0f * RcpApprox(1.0f + Exp2(2.0f * kLog2e * x));
}

// softcap_log2 * tanh(softcap_in * s): capped scores times log2(e).
template <int kTiles>
__device__ __forceinline__ void CapScores(float (&s)[kTiles][4], float softcap_in,
                                          float softcap_log2) {
#pragma unroll
  for (int tile = 0; tile < kTiles; ++tile) {
#pragma unroll
    for (int i = 0; i < 4; ++i) s[tile][i] = softcap_log2 * Tanh(softcap_in * s[tile][i]);
  }
}

// The running maximum and sum of the thread's two rows. Scores are scaled by `scale` (of base 2
// logarithms) on the way into the exponential; the sum is this thread's share until Finish().
struct SoftmaxState {
  float max[2] = {kMinusInfinity, kMinusInfinity};  // of unscaled scores
  float sum[2] = {0.0f, 0.0f};

  // The highest score of a row so far, over its four threads.
  template <int kTiles>
  __device__ __forceinline__ float Highest(const float (&s)[kTiles][4], int row) const {
    float highest = max[row];
#pragma unroll
    for (int tile = 0; tile < kTiles; ++tile) {
      highest = MaxNumber(highest, MaxNumber(s[tile][row * 2], s[tile][row * 2 + 1]));
    }
    highest = MaxNumber(highest, ShuffleXor(highest, 1));
    return MaxNumber(highest, ShuffleXor(highest, 2));
  }
  // The same of both rows, by comparing as integers, of which one instruction takes three. That
  // finds the highest unless all are negative, which a vote of the warp tells. A NaN counts as the
  // highest: its row is NaN either way.
  template <int kTiles>
  __device__ __forceinline__ void HighestByVote(const float (&s)[kTiles][4],
                                                float (&highest)[2]) const {
    int part[2][2];
#pragma unroll
    for (int row = 0; row < 2; ++row) part[row][0] = part[row][1] = FloatToBits(max[row]);
#pragma unroll
    for (int tile = 0; tile < kTiles; ++tile) {
#pragma unroll
      for (int row = 0; row < 2; ++row) {
        int& to = part[row][tile % 2];
        to = MaxOfThree(FloatToBits(s[tile][row * 2]), FloatToBits(s[tile][row * 2 + 1]), to);
      }
    }
    bool negative = false;
#pragma unroll
    for (int row = 0; row < 2; ++row) {
      int all = Max(part[row][0], part[row][1]);
      all = Max(all, static_cast<int>(FloatToBits(ShuffleXor(BitsToFloat(all), 1))));
      all = Max(all, static_cast<int>(FloatToBits(ShuffleXor(BitsToFloat(all), 2))));
      negative = negative || all < 0;
      highest[row] = BitsToFloat(all);
    }
    if (__any_sync(0xffffffffu, negative)) {
#pragma unroll
      for (int row = 0; row < 2; ++row) highest[row] = Highest(s, row);
    }
  }

  // Replaces scores by their exponentials times 2^kShift and returns in `rescale` what earlier
  // results have to be multiplied by. Without kSum, their sums are left to AddSums()
  // or to a product; with kVote, maxima are found by HighestByVote().
  template <int kShift = 0, bool kSum = true, bool kVote = false, int kTiles>
  __device__ __forceinline__ void Update(float (&s)[kTiles][4], float scale, float (&rescale)[2]) {
    float voted[2];
    if constexpr (kVote) HighestByVote(s, voted);
#pragma unroll
    for (int row = 0; row < 2; ++row) {
      const float highest = kVote ? voted[row] : Highest(s, row);
      // A row that has seen nothing keeps exponentials of minus infinity, not of a difference.
      const float base = highest == kMinusInfinity ? 0.0f : highest * scale;
      rescale[row] = Exp2(Fma(max[row], scale, -base));
      max[row] = highest;
      const float shifted = kShift - base;
      float total = 0.0f;
#pragma unroll
      for (int tile = 0; tile < kTiles; ++tile) {
#pragma unroll
        for (int i = 0; i < 2; ++i) {
          float& value = s[tile][row * 2 + i];
          value = Exp2(Fma(value, scale, shifted));
          if constexpr (kSum) total += value;
        }
      }
      if constexpr (kSum) sum[row] = Fma(sum[row], rescale[row], total);
    }
  }

  // The sums of Update()'s exponentials, not before `ready` is there.
  template <int kTiles>
  __device__ __forceinline__ void AddSums(const float (&s)[kTiles][4], const float (&rescale)[2],
                                          float ready) {
    const float zero = ZeroAfter(ready);
#pragma unroll
    for (int row = 0; row < 2; ++row) {
      float total[2] = {zero, zero};
#pragma unroll
      for (int tile = 0; tile < kTiles; ++tile) {
        total[0] += s[tile][row * 2];
        total[1] += s[tile][row * 2 + 1];
      }
      sum[row] = Fma(sum[row], rescale[row], total[0] + total[1]);
    }
  }

  // Sums over the four threads of a row.
  __device__ __forceinline__ void Finish() {
#pragma unroll
    for (int row = 0; row < 2; ++row) {
      sum[row] += ShuffleXor(sum[row], 1);
      sum[row] += ShuffleXor(sum[row], 2);
    }
  }
  // What results are divided by; rows that saw nothing give zeros.
  __device__ __forceinline__ float Normaliser(int row) const {
    return sum[row] > 0.0f ? Rcp(sum[row]) : 0.0f;
  }
  // log2 of the sum of exponentials; minus infinity for a row that saw nothing.
  __device__ __forceinline__ float LogSum2(int row, float scale) const {
    return sum[row] > 0.0f ? Fma(max[row], scale, Log2Approx(sum[row])) : kMinusInfinity;
  }
};

// Float8 weights are 2^8 times as large, for the exponents that they would not use else; sums grow
// with them.
template <class Element>
inline constexpr int kWeightShift = kIsSame<Element, fp8_e4m3> ? 8 : 0;

// Rounded weights of 16 keys as the row operand of a matrix product.
template <class Element>
__device__ __forceinline__ void PackWeights(uint32_t (&a)[4], const float (&left)[4],
                                            const float (&right)[4]) {
  a[0] = Pack2<Element>(left[0], left[1]);
  a[1] = Pack2<Element>(left[2], left[3]);
  a[2] = Pack2<Element>(right[0], right[1]);
  a[3] = Pack2<Element>(right[2], right[3]);
}

}  // namespace tilewright

#endif  // TILEWRIGHT_ATTENTION_SOFTMAX_CUH_
