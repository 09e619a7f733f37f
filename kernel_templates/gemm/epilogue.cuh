// What happens to a float32 sum before it is rounded: out = activation(sum + bias), and how it is
// rounded. Config says which: Output, kBias (0 none, 1 along the kernel's rows, 2 along its
// columns; of the inputs' type), kActivation (0 none, 1 relu, 2 gelu, 3 silu).
#ifndef TILEWRIGHT_GEMM_EPILOGUE_CUH_
#define TILEWRIGHT_GEMM_EPILOGUE_CUH_

#include "device/base.cuh"
#include "device/math.cuh"
#include "device/types.cuh"

namespace tilewright {

template <class Config>
struct Epilogue {
  using Element = typename Config::Element;
  using Output = typename Config::Output;
  static constexpr bool kAny = Config::kBias != 0 || Config::kActivation != 0;
  static constexpr bool kRowBias = Config::kBias == 1;
  static constexpr bool kColBias = Config::kBias == 2;
  static constexpr int kOutputPiece = 16 / static_cast<int>(sizeof(Output));  // elements

  // The bias of line `index`; of one past the end, that of the last.
  __device__ static __forceinline__ float Bias(const void* bias, int64_t index, int64_t extent) {
    return TypeTraits<Element>::ToCompute(
        static_cast<const Element*>(bias)[Min(index, extent - 1)]);
  }

  __device__ static __forceinline__ float Activate(float x) {
    if constexpr (Config::kActivation == 1) {
      return x < 0 ? 0 : x;  // keeps NaN
    } else if constexpr (Config::kActivation == 2) {
      return Gelu(x);
    } else if constexpr (Config::kActivation == 3) {
      return x * RcpApprox(1.0f + Exp2(x * -kLog2e));
    } else {
      return x;
    }
  }

  // x * Phi(x), Phi the normal distribution function by Abramowitz and Stegun, 7.1.26: an absolute
  // error of 1.5e-7, in a third of erff's instructions, of which a tile has thousands.
  __device__ static __forceinline__ float Gelu(float x) {
    const float z = fabsf(x) * 0.70710678118654752440f;
    const float t = RcpApprox(Fma(0.3275911f, z, 1.0f));
    float sum = Fma(1.061405429f, t, -1.453152027f);
    sum = Fma(sum, t, 1.421413741f);
    sum = Fma(sum, t, -0.284496736f);
    sum = Fma(sum, t, 0.254829592f);
    const float tail = 0.5f * sum * t * Exp2(z * z * -kLog2e);
    return x * (x < 0 ? tail : 1.0f - tail);
  }

  // Of the element at (row, col) of a kernel whose output is rows x cols.
  __device__ static __forceinline__ float Apply(float sum, const void* bias, int64_t row,
                                                int64_t rows, int64_t col, int64_t cols) {
    if constexpr (kRowBias) sum += Bias(bias, row, rows);
    if constexpr (kColBias) sum += Bias(bias, col, cols);
    return Activate(sum);
  }

  // Stores two neighbours with one instruction.
  __device__ static __forceinline__ void StorePair(Output* out, float low, float high) {
    if constexpr (sizeof(Output) == 4) {
      *reinterpret_cast<float2*>(out) = make_float2(low, high);
    } else {
      *reinterpret_cast<uint32_t*>(out) = Pack2<Output>(low, high);
    }
  }
  __device__ static __forceinline__ void StoreOne(Output* out, float value) {
    *out = TypeTraits<Output>::FromCompute(value);
  }
};

}  // namespace tilewright

#endif  // TILEWRIGHT_GEMM_EPILOGUE_CUH_
