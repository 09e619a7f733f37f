// The second half of attention over chunks of keys (decode.cuh): sums the chunks' results.
#ifndef TILEWRIGHT_ATTENTION_COMBINE_CUH_
#define TILEWRIGHT_ATTENTION_COMBINE_CUH_

#include "attention/sequence.cuh"
#include "device/cluster.cuh"
#include "device/types.cuh"
#include "device/warp.cuh"

namespace tilewright {

// What one warp has summed: 64 columns a pair of floats a lane, relative to 2^max, and the sum of
// weights.
template <class Config>
struct CombinedChunks {
  static constexpr int kWarps = 4;
  static constexpr int kBatch = 8;  // chunks whose loads are in flight together
  static constexpr int kPairs = (Config::kValueDim + 63) / 64;
  float2 value[kPairs];
  float max;
  float sum;

  // Chunks first, first + kWarps, ... of a row.
  __device__ __forceinline__ void Add(const AttentionParams& p, int64_t rows, int64_t row,
                                      int first, int chunks) {
    max = kMinusInfinity;
    sum = 0.0f;
#pragma unroll
    for (int pair = 0; pair < kPairs; ++pair) value[pair] = {0.0f, 0.0f};
    for (int i = first; i < chunks; i += kWarps * kBatch) AddBatch(p, rows, row, i, chunks);
  }

  __device__ __forceinline__ void AddBatch(const AttentionParams& p, int64_t rows, int64_t row,
                                           int first, int chunks) {
    float log_sum[kBatch];
    float2 part[kBatch][kPairs];
#pragma unroll
    for (int j = 0; j < kBatch; ++j) {
      const int64_t chunk = first + j * kWarps;
      const bool present = chunk < chunks;
      log_sum[j] = present ? p.partial_lse[chunk * rows + row] : kMinusInfinity;
      const float* from = p.partial_o + (chunk * rows + row) * p.value_dim;
#pragma unroll
      for (int pair = 0; pair < kPairs; ++pair) {
        const int column = pair * 64 + threadIdx.x % 32 * 2;
        part[j][pair] = {0.0f, 0.0f};
        if (present && column < p.value_dim) {
          part[j][pair] = *reinterpret_cast<const float2*>(from + column);
        }
      }
    }
    float highest = max;
#pragma unroll
    for (int j = 0; j < kBatch; ++j) highest = MaxNumber(highest, log_sum[j]);
    const float base = highest == kMinusInfinity ? 0.0f : highest;
    const float rescale = Exp2(max - base);
    max = highest;
    sum *= rescale;
#pragma unroll
    for (int pair = 0; pair < kPairs; ++pair) {
      value[pair].x *= rescale;
      value[pair].y *= rescale;
    }
#pragma unroll
    for (int j = 0; j < kBatch; ++j) {
      const float weight = Exp2(log_sum[j] - base);
      sum += weight;
#pragma unroll
      for (int pair = 0; pair < kPairs; ++pair) {
        value[pair].x = Fma(part[j][pair].x, weight, value[pair].x);
        value[pair].y = Fma(part[j][pair].y, weight, value[pair].y);
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
  __shared__ float maxima[Combined::kWarps];
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

  Combined mine;
  mine.Add(p, rows, row, warp, chunks);
#pragma unroll
  for (int pair = 0; pair < Combined::kPairs; ++pair) {
    parts[warp][pair * 32 + lane] = mine.value[pair];
  }
  if (lane == 0) {
    maxima[warp] = mine.max;
    sums[warp] = mine.sum;
  }
  CtaBarrier();
  float highest = kMinusInfinity;
#pragma unroll
  for (int i = 0; i < Combined::kWarps; ++i) highest = MaxNumber(highest, maxima[i]);
  float weight[Combined::kWarps];
  float sum = 0.0f;
#pragma unroll
  for (int i = 0; i < Combined::kWarps; ++i) {
    weight[i] = Exp2(maxima[i] - (highest == kMinusInfinity ? 0.0f : highest));
    sum = Fma(sums[i], weight[i], sum);
  }
  const float factor = sum > 0.0f ? Rcp(sum) : 0.0f;
  uint16_t* line = static_cast<uint16_t*>(p.o) + sequence.QueryOffset(p.o_strides, query, head);
  for (int column = threadIdx.x * 2; column < p.value_dim; column += 256) {
    float2 value = {0.0f, 0.0f};
#pragma unroll
    for (int i = 0; i < Combined::kWarps; ++i) {
      const float2 part = parts[i][column / 2];
      value.x = Fma(part.x, weight[i], value.x);
      value.y = Fma(part.y, weight[i], value.y);
    }
    const uint32_t bits = Pack2<typename Config::Element>(value.x * factor, value.y * factor);
    line[column * p.o_strides.dim] = static_cast<uint16_t>(bits & 0xFFFF);
    line[(column + 1) * p.o_strides.dim] = static_cast<uint16_t>(bits >> 16);
  }
}

}  // namespace tilewright

#endif  // TILEWRIGHT_ATTENTION_COMBINE_CUH_
