// Kernels with one fault each, which a checker must report before its silence about ours counts.
#ifndef TILEWRIGHT_TESTS_GPU_PLANTED_H_
#define TILEWRIGHT_TESTS_GPU_PLANTED_H_

#include "kernel_templates/recipe.h"

namespace tilewright {

// Launched with one CTA of kPlantedThreads threads.
inline constexpr int kPlantedThreads = 128;

// `count` elements lie at `in` and `out` each.
struct PlantedParams {
  const float* in = nullptr;
  float* out = nullptr;
  int64_t count = 0;
};

inline constexpr char kPlantedPath[] = "test/planted.cuh";
inline constexpr char kPlantedTemplate[] = R"(#pragma once
namespace test {
struct PlantedParams { const float* in; float* out; long long count; };

// One element past the end is stored.
template <class Config>
__global__ void OutOfBoundsKernel(const __grid_constant__ PlantedParams p) {
  for (long long i = threadIdx.x; i <= p.count; i += blockDim.x) p.out[i] = 1.0f;
}

// A thread reads what another warp's thread stores, with no barrier between.
template <class Config>
__global__ void RaceKernel(const __grid_constant__ PlantedParams p) {
  __shared__ float values[Config::kThreads];
  values[threadIdx.x] = static_cast<float>(threadIdx.x);
  const float other = values[(threadIdx.x + Config::kThreads / 2) % Config::kThreads];
  if (threadIdx.x < p.count) p.out[threadIdx.x] = other;
}

// Memory that nobody wrote is read.
template <class Config>
__global__ void UninitialisedKernel(const __grid_constant__ PlantedParams p) {
  for (long long i = threadIdx.x; i < p.count; i += blockDim.x) p.out[i] = p.in[i] + 1.0f;
}

// Half of a warp waits at a barrier of the whole CTA.
template <class Config>
__global__ void BarrierKernel(const __grid_constant__ PlantedParams p) {
  if (threadIdx.x % 32 < 16) __syncthreads();
  if (threadIdx.x < p.count) p.out[threadIdx.x] = 1.0f;
}
}  // namespace test
)";

// `entry`: the name of a kernel above.
inline KernelSpec PlantedSpec(const std::string& entry) {
  return {kPlantedPath, "test::" + entry, {{"int kThreads", std::to_string(kPlantedThreads)}}};
}

}  // namespace tilewright

#endif  // TILEWRIGHT_TESTS_GPU_PLANTED_H_
