// Device code that judges matrix products: inputs of small integers, a plain product of its own,
// and a comparison of whole buffers.
#ifndef TILEWRIGHT_TESTS_GPU_GEMM_KERNELS_H_
#define TILEWRIGHT_TESTS_GPU_GEMM_KERNELS_H_

#include <cstdint>

namespace tilewright {

// A matrix of each batch; strides in elements.
struct GemmView {
  void* data = nullptr;  // element (0, 0, 0)
  int64_t batches = 0, rows = 0, cols = 0;
  int64_t batch_stride = 0, row_stride = 0, col_stride = 0;
};
struct GemmFillParams {
  GemmView to;
  uint32_t seed = 0;
  int normal = 0;  // 1: normally distributed values, not integers
};
struct GemmPlainParams {
  GemmView a, b, d;  // d[i](row, col) = activation(a[i](row, :) * b[i](:, col) + bias[col])
  const void* bias = nullptr;
  int activation = 0;  // as GemmEpilogue::Activation
};
// Counts 32-bit words of `got` that differ by more than `tolerance` (of a float's value; 0: bits,
// +0 and -0 alike) from `expected`.
struct GemmCompareParams {
  const uint32_t* got = nullptr;
  const uint32_t* expected = nullptr;
  int64_t words = 0;
  unsigned* wrong = nullptr;
  float tolerance = 0;
};

// Reads `pieces` of 16 bytes, each once: what any kernel of that much traffic takes at least.
struct GemmReadParams {
  const void* from = nullptr;
  int64_t pieces = 0;
  unsigned* wrong = nullptr;  // never written
  int evict_first = 0;        // 1: L2 need not keep them
};

inline constexpr char kGemmCheckPath[] = "test/gemm_check.cuh";
inline constexpr char kGemmCheckTemplate[] = R"(#pragma once
#include "device/types.cuh"
namespace test {
using namespace tilewright;
struct View { void* data; long long batches, rows, cols, batch_stride, row_stride, col_stride; };
struct FillParams { View to; unsigned seed; int normal; };
struct PlainParams { View a, b, d; const void* bias; int activation; };
struct CompareParams {
  const unsigned* got; const unsigned* expected; long long words; unsigned* wrong; float tolerance;
};
struct ReadParams { const uint4* from; long long pieces; unsigned* wrong; int evict_first; };

__device__ __forceinline__ long long Offset(const View& v, long long batch, long long row,
                                            long long col) {
  return batch * v.batch_stride + row * v.row_stride + col * v.col_stride;
}

// Integers from -3 to 3, by the element's logical place: the same in every layout.
template <class Config>
__global__ void FillKernel(const __grid_constant__ FillParams p) {
  using Element = typename Config::Element;
  const long long count = p.to.batches * p.to.rows * p.to.cols;
  for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; i < count;
       i += (long long)gridDim.x * blockDim.x) {
    unsigned hash = static_cast<unsigned>(i) * 2654435761u + p.seed;
    hash = (hash ^ (hash >> 15)) * 2246822519u;
    hash = (hash ^ (hash >> 13)) * 3266489917u;
    hash ^= hash >> 16;
    float value = static_cast<float>(static_cast<int>(hash % 7) - 3);
    if (p.normal != 0) value = normcdfinvf((hash >> 8) * (1.0f / 16777216.0f) + 1e-7f);
    const long long batch = i / (p.to.rows * p.to.cols), in = i % (p.to.rows * p.to.cols);
    static_cast<Element*>(p.to.data)[Offset(p.to, batch, in / p.to.cols, in % p.to.cols)] =
        TypeTraits<Element>::FromCompute(value);
  }
}

template <class Config>
__global__ void PlainKernel(const __grid_constant__ PlainParams p) {
  using Element = typename Config::Element;
  using Output = typename Config::Output;
  const long long count = p.d.batches * p.d.rows * p.d.cols;
  for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; i < count;
       i += (long long)gridDim.x * blockDim.x) {
    const long long batch = i / (p.d.rows * p.d.cols), in = i % (p.d.rows * p.d.cols);
    const long long row = in / p.d.cols, col = in % p.d.cols;
    const Element* a = static_cast<const Element*>(p.a.data) + Offset(p.a, batch, row, 0);
    const Element* b = static_cast<const Element*>(p.b.data) + Offset(p.b, batch, 0, col);
    float sum = 0;
    for (long long k = 0; k < p.a.cols; ++k) {
      sum += TypeTraits<Element>::ToCompute(a[k * p.a.col_stride]) *
             TypeTraits<Element>::ToCompute(b[k * p.b.row_stride]);
    }
    if (p.bias != nullptr) {
      sum += TypeTraits<Element>::ToCompute(static_cast<const Element*>(p.bias)[col]);
    }
    if (p.activation == 1) sum = fmaxf(sum, 0);
    if (p.activation == 2) sum = sum * normcdff(sum);
    if (p.activation == 3) sum = sum / (1 + expf(-sum));
    static_cast<Output*>(p.d.data)[Offset(p.d, batch, row, col)] =
        TypeTraits<Output>::FromCompute(sum);
  }
}

template <class Output>
__device__ __forceinline__ bool Differ(unsigned got, unsigned expected, float tolerance) {
  if (got == expected) return false;
  constexpr int kValues = 4 / sizeof(Output);
  for (int i = 0; i < kValues; ++i) {
    float values[2];
    const unsigned words[2] = {got, expected};
    for (int j = 0; j < 2; ++j) {
      if constexpr (kValues == 1) {
        values[j] = BitsToFloat(words[j]);
      } else {
        values[j] = TypeTraits<Output>::ToCompute(
            Output{static_cast<unsigned short>(words[j] >> (16 * i))});
      }
    }
    const bool nans = values[0] != values[0] && values[1] != values[1];
    if (!nans && !(fabsf(values[0] - values[1]) <= tolerance * fmaxf(1.0f, fabsf(values[1])))) {
      return true;
    }
  }
  return false;
}

template <class Config>
__global__ void CompareKernel(const __grid_constant__ CompareParams p) {
  unsigned wrong = 0;
  for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; i < p.words;
       i += (long long)gridDim.x * blockDim.x) {
    wrong += Differ<typename Config::Output>(p.got[i], p.expected[i], p.tolerance);
  }
  if (wrong != 0) atomicAdd(p.wrong, wrong);
}

template <class Config>
__global__ void ReadKernel(const __grid_constant__ ReadParams p) {
  unsigned long long policy;
  if (p.evict_first) {
    asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
  } else {
    asm("createpolicy.fractional.L2::evict_normal.b64 %0, 1.0;" : "=l"(policy));
  }
  const long long step = (long long)gridDim.x * blockDim.x;
  long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  unsigned all = 0;
  constexpr int kUnroll = 8;
  for (; i < p.pieces; i += kUnroll * step) {
    uint4 v[kUnroll] = {};
#pragma unroll
    for (int u = 0; u < kUnroll; ++u) {
      if (i + u * step < p.pieces) {
        asm volatile("ld.global.L1::no_allocate.L2::cache_hint.v4.u32 {%0, %1, %2, %3}, [%4], %5;"
                     : "=r"(v[u].x), "=r"(v[u].y), "=r"(v[u].z), "=r"(v[u].w)
                     : "l"(p.from + i + u * step), "l"(policy));
      }
    }
#pragma unroll
    for (int u = 0; u < kUnroll; ++u) all |= v[u].x ^ v[u].y ^ v[u].z ^ v[u].w;
  }
  if (all == 0x13579BDF) atomicAdd(p.wrong, 0u);  // keeps the loads
}
}  // namespace test
)";

}  // namespace tilewright

#endif  // TILEWRIGHT_TESTS_GPU_GEMM_KERNELS_H_
