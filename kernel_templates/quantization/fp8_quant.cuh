// Rows quantised to fp8 e4m3, each by a scale of its own: the largest magnitude maps to 448.
//
// Config:
//   Element   of the input
//   kThreads
//   kLanes    of one row; a power of two up to 32
//   kVector   elements a vector; its bytes lie together in input and output where it is over 1
//   kChunks   vectors a lane keeps in registers; 0: a row of any length is read twice
//   kStrided  rows over three axes of any strides, elements apart; kVector is 1
#ifndef TILEWRIGHT_QUANTIZATION_FP8_QUANT_CUH_
#define TILEWRIGHT_QUANTIZATION_FP8_QUANT_CUH_

#include "device/cluster.cuh"
#include "device/ldst.cuh"
#include "device/nan_math.cuh"
#include "device/warp.cuh"
#include "quantization/params.cuh"

namespace tilewright {

// Where one row's data lies.
struct QuantRow {
  const uint8_t* input;
  uint8_t* output;
  float* scale;
};

template <class Config>
__device__ __forceinline__ QuantRow RowAt(const Fp8QuantParams& p, int64_t row) {
  int64_t at[3] = {row, 0, 0};
  if constexpr (Config::kStrided) {
    unsigned long long rest = static_cast<unsigned long long>(row), inner, middle;
    p.extent[0](rest, &rest, &inner);
    p.extent[1](rest, &rest, &middle);
    at[0] = static_cast<int64_t>(inner);
    at[1] = static_cast<int64_t>(middle);
    at[2] = static_cast<int64_t>(rest);
  }
  int64_t input = 0, output = 0, scale = 0;
#pragma unroll
  for (int d = 0; d < (Config::kStrided ? 3 : 1); ++d) {
    input += at[d] * p.input_stride[d];
    output += at[d] * p.output_stride[d];
    scale += at[d] * p.scale_stride[d];
  }
  constexpr int kBytes = static_cast<int>(sizeof(typename Config::Element));
  return {static_cast<const uint8_t*>(p.input) + input * kBytes,
          static_cast<uint8_t*>(p.output) + output, static_cast<float*>(p.scale) + scale};
}

// Vector `index` of a row.
template <class Config>
__device__ __forceinline__ auto LoadVector(const Fp8QuantParams& p, const QuantRow& row,
                                           int64_t index) {
  constexpr int kBytes = Config::kVector * static_cast<int>(sizeof(typename Config::Element));
  const int64_t step = Config::kStrided ? p.input_step : 1;
  return LoadGlobal<kBytes>(row.input + index * step * kBytes);
}

template <class Config, class Packet>
__device__ __forceinline__ float LargestMagnitude(const Packet& packet, float largest) {
  float values[Config::kVector];
  Unpack<typename Config::Element>(packet, values);
#pragma unroll
  for (int i = 0; i < Config::kVector; ++i) largest = MaxNan(largest, fabsf(values[i]));
  return largest;
}

template <class Config, class Packet>
__device__ __forceinline__ void StoreQuantised(const Fp8QuantParams& p, const QuantRow& row,
                                               int64_t index, const Packet& packet, float scale) {
  float values[Config::kVector];
  Unpack<typename Config::Element>(packet, values);
#pragma unroll
  for (int i = 0; i < Config::kVector; ++i) values[i] /= scale;
  const int64_t step = Config::kStrided ? p.output_step : 1;
  StoreGlobal<Config::kVector>(row.output + index * step * Config::kVector,
                               Pack<fp8_e4m3, Config::kVector>(values));
}

// The largest of all lanes of a row; every lane of the warp takes part.
template <class Config>
__device__ __forceinline__ float LargestOfRow(float largest) {
#pragma unroll
  for (int lanes = Config::kLanes / 2; lanes > 0; lanes /= 2) {
    largest = MaxNan(largest, ShuffleXor(largest, lanes));
  }
  return largest;
}

// A row of zeros must not divide by 0.
__device__ __forceinline__ float ScaleOf(float largest) { return MaxNan(largest, 1e-4f) / 448.0f; }

template <class Config>
__global__ void __launch_bounds__(Config::kThreads)
    Fp8QuantKernel(const __grid_constant__ Fp8QuantParams p) {
  static_assert(IsPowerOfTwo(Config::kLanes) && Config::kLanes <= kWarpSize);
  static_assert(!Config::kStrided || Config::kVector == 1);
  constexpr int kHeld = Config::kChunks > 0 ? Config::kChunks : 1;
  WaitForPriorGrids();
  const int lane = static_cast<int>(threadIdx.x) % Config::kLanes;
  const int64_t row_index = static_cast<int64_t>(blockIdx.x) * (Config::kThreads / Config::kLanes) +
                            threadIdx.x / Config::kLanes;
  const bool exists = row_index < p.rows;
  const QuantRow row = RowAt<Config>(p, exists ? row_index : p.rows - 1);
  decltype(LoadVector<Config>(p, row, 0)) held[kHeld];
  float largest = 0;
  if constexpr (Config::kChunks > 0) {
#pragma unroll
    for (int c = 0; c < kHeld; ++c) {
      const int64_t index = lane + c * Config::kLanes;
      if (index < p.vectors) held[c] = LoadVector<Config>(p, row, index);
    }
#pragma unroll
    for (int c = 0; c < kHeld; ++c) {
      if (lane + c * Config::kLanes >= p.vectors) break;
      largest = LargestMagnitude<Config>(held[c], largest);
    }
  } else {
    for (int64_t index = lane; index < p.vectors; index += Config::kLanes) {
      largest = LargestMagnitude<Config>(LoadVector<Config>(p, row, index), largest);
    }
  }
  const float scale = ScaleOf(LargestOfRow<Config>(largest));
  if (!exists) return;
  if (lane == 0) *row.scale = scale;
  if constexpr (Config::kChunks > 0) {
#pragma unroll
    for (int c = 0; c < kHeld; ++c) {
      const int64_t index = lane + c * Config::kLanes;
      if (index < p.vectors) StoreQuantised<Config>(p, row, index, held[c], scale);
    }
  } else {
    for (int64_t index = lane; index < p.vectors; index += Config::kLanes) {
      StoreQuantised<Config>(p, row, index, LoadVector<Config>(p, row, index), scale);
    }
  }
}

}  // namespace tilewright

#endif  // TILEWRIGHT_QUANTIZATION_FP8_QUANT_CUH_
