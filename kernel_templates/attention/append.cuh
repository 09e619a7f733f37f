// Appends new tokens to a paged cache, with their scales; with kRotate, rotates keys and queries at
// their positions first (rotary position embedding, halves of the first rotary_dim elements).
#ifndef TILEWRIGHT_ATTENTION_APPEND_CUH_
#define TILEWRIGHT_ATTENTION_APPEND_CUH_

#include "attention/params.cuh"
#include "device/base.cuh"
#include "device/math.cuh"
#include "device/types.cuh"
#include "device/warp.cuh"

namespace tilewright {

// One CTA a token. Config: Element, CacheElement, kRotate.
template <class Config>
struct Append {
  using Element = typename Config::Element;
  using CacheElement = typename Config::CacheElement;
  static constexpr int kThreads = 128;
  static constexpr bool kScaled = sizeof(CacheElement) == 1;

  // The sequence of a row: the last whose first row is not past it. Empty ones are skipped so.
  __device__ static __forceinline__ int SequenceOf(const AttentionParams& p, int row) {
    int low = 0, high = p.batches;
    while (high - low > 1) {
      const int middle = (low + high) / 2;
      if (p.q_starts[middle * p.q_starts_stride] <= row) {
        low = middle;
      } else {
        high = middle;
      }
    }
    return low;
  }

  // Cosine and sine of position * base^(-2e / rotary_dim) for each pair of elements. The angle is
  // reduced in float64: positions reach past what float32 resolves.
  __device__ static __forceinline__ void Angles(float2* table, const AppendParams& a,
                                                int position) {
    for (int e = threadIdx.x; e < static_cast<int>(a.rotary_dim) / 2; e += kThreads) {
      const double turns = position * exp2(a.log2_base * e) * 0.15915494309189533577;
      const auto rest = static_cast<float>(turns - rint(turns));
      float2 value;
      sincospif(2.0f * rest, &value.y, &value.x);
      table[e] = value;
    }
  }

  // Element `d` of a row, rotated.
  __device__ static __forceinline__ float Rotated(const Element* row, int64_t stride, int d,
                                                  const float2* table, int rotary_dim) {
    const float x = TypeTraits<Element>::ToCompute(row[d * stride]);
    if (!Config::kRotate || d >= rotary_dim) return x;
    const int half = rotary_dim / 2;
    const bool low = d < half;
    const float other = TypeTraits<Element>::ToCompute(row[(low ? d + half : d - half) * stride]);
    const float2 angle = table[low ? d : d - half];
    const float value = low ? x * angle.x - other * angle.y : x * angle.x + other * angle.y;
    return TypeTraits<Element>::ToCompute(TypeTraits<Element>::FromCompute(value));
  }

  __device__ static __forceinline__ void Write(void* pages, int64_t at, float value, float scale) {
    static_cast<CacheElement*>(pages)[at] =
        TypeTraits<CacheElement>::FromCompute(kScaled ? value / scale : value);
  }
};

template <class Config>
__global__ __launch_bounds__(128) void AppendKernel(const __grid_constant__ AppendParams a) {
  using A = Append<Config>;
  using Element = typename Config::Element;
  const AttentionParams& p = a.call;
  __shared__ float2 table[Config::kRotate ? 128 : 1];
  const int token = static_cast<int>(blockIdx.x);
  const int batch = A::SequenceOf(p, token);
  const int in_sequence = token - p.q_starts[batch * p.q_starts_stride];
  const int position = p.kv_lengths[batch * p.kv_lengths_stride] + in_sequence;
  if (position < 0 || position >= p.kv_len) return;  // the table has no slot for it
  if constexpr (Config::kRotate) {
    A::Angles(table, a, position);
    CtaBarrier();
  }
  unsigned page, slot;
  p.page(static_cast<unsigned>(position), &page, &slot);
  const int64_t row =
      int64_t{p.table[batch * p.table_batch + page * p.table_page]} * p.page.divisor + slot;
  if (row < 0) return;  // an entry of -1
  const float k_scale = A::kScaled ? *p.k_scale : 1.0f;
  const float v_scale = A::kScaled ? *p.v_scale : 1.0f;
  for (int i = threadIdx.x; i < p.kv_heads * p.head_dim; i += A::kThreads) {
    const int head = i / p.head_dim;
    const int d = i - head * p.head_dim;
    const auto* k = static_cast<const Element*>(a.k_new) + token * a.k_new_strides.row +
                    head * a.k_new_strides.head;
    const float key = A::Rotated(k, a.k_new_strides.dim, d, table, static_cast<int>(a.rotary_dim));
    A::Write(a.k_pages, row * p.k_strides.row + head * p.k_strides.head + d * p.k_strides.dim, key,
             k_scale);
    const Element value =
        static_cast<const Element*>(a.v_new)[token * a.v_new_strides.row +
                                             head * a.v_new_strides.head + d * a.v_new_strides.dim];
    A::Write(a.v_pages, row * p.v_strides.row + head * p.v_strides.head + d * p.v_strides.dim,
             TypeTraits<Element>::ToCompute(value), v_scale);
  }
  if constexpr (Config::kRotate) {
    for (int i = threadIdx.x; i < p.heads * p.head_dim; i += A::kThreads) {
      const int head = i / p.head_dim;
      const int d = i - head * p.head_dim;
      const auto* q =
          static_cast<const Element*>(p.q) + token * p.q_strides.row + head * p.q_strides.head;
      static_cast<Element*>(a.q_rotated)[int64_t{token} * p.heads * p.head_dim + i] =
          TypeTraits<Element>::FromCompute(
              A::Rotated(q, p.q_strides.dim, d, table, static_cast<int>(a.rotary_dim)));
    }
  }
}

}  // namespace tilewright

#endif  // TILEWRIGHT_ATTENTION_APPEND_CUH_
