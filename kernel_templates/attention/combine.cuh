// The second half of attention over chunks of keys (decode.cuh): sums the chunks' results.
#ifndef TILEWRIGHT_ATTENTION_COMBINE_CUH_
#define TILEWRIGHT_ATTENTION_COMBINE_CUH_

#include "attention/sequence.cuh"
#include "device/cluster.cuh"
#include "device/types.cuh"
#include "device/warp.cuh"

namespace tilewright {

// What one warp has summed: 64 columns a pair of floats a lane, and the sum of weights.
template <class Config>
struct CombinedChunks {
  static constexpr int kWarps = 4;
  static constexpr int kPairs = (Config::kValueDim + 63) / 64;
  float2 value[kPairs];
  float sum;

  // Chunks first, first + kWarps, ... of a row; `base` is the largest of all their logarithms.
  __device__ __forceinline__ void Add(const AttentionParams& p, int64_t rows, int64_t row,
                                      int first, int chunks, float base) {
    sum = 0.0f;
#pragma unroll
    for (int pair = 0; pair < kPairs; ++pair) value[pair] = {0.0f, 0.0f};
#pragma unroll 4
    for (int i = first; i < chunks; i += kWarps) {
      const float weight = Exp2(p.partial_lse[i * rows + row] - base);
      const float* from = p.partial_o + (i * rows + row) * p.value_dim;
      sum += weight;
#pragma unroll
      for (int pair = 0; pair < kPairs; ++pair) {
        const int column = pair * 64 + threadIdx.x % 32 * 2;
        if (column >= p.value_dim) continue;
        const float2 part = *reinterpret_cast<const float2*>(from + column);
        value[pair].x = Fma(part.x, weight, value[pair].x);
        value[pair].y = Fma(part.y, weight, value[pair].y);
      }
    }
  }
};

// Merges the chunks of each query row: one CTA of four warps a row. Config: Element, kValueDim, and
// Sequence's traits.
template <class Config>
__global__ __launch_bounds__(128) void CombineAttentionKernel(
    const __grid_constant__ AttentionParams params) {
  using Combined = CombinedChunks<Config>;
  __shared__ float2 parts[Combined::kWarps][Combined::kPairs * 32];
  __shared__ float sums[Combined::kWarps];
  const AttentionParams& p = params;
  const int lane = threadIdx.x % 32;
  const int warp = threadIdx.x / 32;
  const int64_t rows = static_cast<int64_t>(p.batches) * p.q_len * p.heads;
  const int64_t row = blockIdx.x;
  const int head = static_cast<int>(row % p.heads);
  const int64_t rest = row / p.heads;
  const int query = static_cast<int>(rest % p.q_len);
  const auto sequence = Sequence<Config>::Of(p, static_cast<int>(rest / p.q_len));
  const int chunks = Min(p.chunks, Max(1, CeilDiv(sequence.kv_len, p.chunk)));
  WaitForPriorGrids();

  float highest = kMinusInfinity;
  for (int i = lane; i < chunks; i += 32) {
    highest = MaxNumber(highest, p.partial_lse[i * rows + row]);
  }
#pragma unroll
  for (int mask = 16; mask > 0; mask /= 2) highest = MaxNumber(highest, ShuffleXor(highest, mask));
  Combined mine;
  mine.Add(p, rows, row, warp, chunks, highest == kMinusInfinity ? 0.0f : highest);
#pragma unroll
  for (int pair = 0; pair < Combined::kPairs; ++pair) {
    parts[warp][pair * 32 + lane] = mine.value[pair];
  }
  if (lane == 0) sums[warp] = mine.sum;
  CtaBarrier();
  float sum = 0.0f;
#pragma unroll
  for (int i = 0; i < Combined::kWarps; ++i) sum += sums[i];
  const float factor = sum > 0.0f ? Rcp(sum) : 0.0f;
  uint16_t* line = static_cast<uint16_t*>(p.o) + sequence.QueryOffset(p.o_strides, query, head);
  for (int column = threadIdx.x * 2; column < p.value_dim; column += 256) {
    float2 value = {0.0f, 0.0f};
#pragma unroll
    for (int i = 0; i < Combined::kWarps; ++i) {
      const float2 part = parts[i][column / 2];
      value.x += part.x;
      value.y += part.y;
    }
    const uint32_t bits = Pack2<typename Config::Element>(value.x * factor, value.y * factor);
    line[column * p.o_strides.dim] = static_cast<uint16_t>(bits & 0xFFFF);
    line[(column + 1) * p.o_strides.dim] = static_cast<uint16_t>(bits >> 16);
  }
}

}  // namespace tilewright

#endif  // TILEWRIGHT_ATTENTION_COMBINE_CUH_
