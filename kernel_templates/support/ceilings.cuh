// What a device can do at best: memory traffic and float arithmetic, for `tilewright calibrate`.
#ifndef TILEWRIGHT_SUPPORT_CEILINGS_CUH_
#define TILEWRIGHT_SUPPORT_CEILINGS_CUH_

#include "device/ldst.cuh"

namespace tilewright {

// The host's mirror is CeilingParams in tools/ceilings.h. `count` is in packets of 16 bytes.
struct CeilingParams {
  const void* a;
  const void* b;
  void* out;
  int64_t count;
};

// a + 3 b, element by element.
__device__ __forceinline__ Packet<16> Triad(const Packet<16>& a, const Packet<16>& b) {
  Packet<16> sum;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    sum.words[i] = FloatToBits(BitsToFloat(a.words[i]) + 3.0f * BitsToFloat(b.words[i]));
  }
  return sum;
}

// Config: kInputs (1 or 2) and kStores tell read (1, false), copy (1, true) and triad (2, true)
// apart; kUnroll packets a thread and step. A grid-stride loop; `count` divides by kUnroll times
// the grid's threads. A read stores only what random data never gives.
template <class Config>
__global__ void __launch_bounds__(512) TrafficKernel(const __grid_constant__ CeilingParams params) {
  constexpr int kUnroll = Config::kUnroll;
  const auto* a = static_cast<const Packet<16>*>(params.a);
  const auto* b = static_cast<const Packet<16>*>(params.b);
  auto* out = static_cast<Packet<16>*>(params.out);
  const int64_t threads = static_cast<int64_t>(gridDim.x) * blockDim.x;
  const int64_t first = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  uint32_t bits = 0;
  for (int64_t at = first; at < params.count; at += threads * kUnroll) {
    Packet<16> x[kUnroll], y[kUnroll];
#pragma unroll
    for (int i = 0; i < kUnroll; ++i) {
      LoadStreaming(a + at + i * threads, x[i]);
      if constexpr (Config::kInputs == 2) LoadStreaming(b + at + i * threads, y[i]);
    }
#pragma unroll
    for (int i = 0; i < kUnroll; ++i) {
      if constexpr (Config::kInputs == 2) x[i] = Triad(x[i], y[i]);
      if constexpr (Config::kStores) StoreStreaming(out + at + i * threads, x[i]);
      bits |= x[i].words[0] & x[i].words[1] & x[i].words[2] & x[i].words[3];
    }
  }
  if constexpr (!Config::kStores) {
    if (bits == 0) static_cast<uint32_t*>(params.out)[first] = bits;
  }
}

// Config: kSteps. Each thread runs eight chains of kSteps fused multiply-adds; `count` is unused.
template <class Config>
__global__ void __launch_bounds__(512) FmaKernel(const __grid_constant__ CeilingParams params) {
  constexpr int kChains = 8;
  const int64_t first = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  const float* a = static_cast<const float*>(params.a);
  const float scale = a[first % 1024] * 1e-3f;
  float chain[kChains];
#pragma unroll
  for (int i = 0; i < kChains; ++i) chain[i] = a[(first + i) % 1024];
#pragma unroll 16
  for (int step = 0; step < Config::kSteps; ++step) {
#pragma unroll
    for (int i = 0; i < kChains; ++i) chain[i] = chain[i] * scale + scale;
  }
  float sum = 0;
#pragma unroll
  for (int i = 0; i < kChains; ++i) sum += chain[i];
  static_cast<float*>(params.out)[first] = sum;
}

}  // namespace tilewright

#endif  // TILEWRIGHT_SUPPORT_CEILINGS_CUH_
