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

  // The bias of line `index`; of one past the end, that of the last. In the index's own type: of 32
  // bits it takes fewer instructions.
  template <class Index, class Extent>
  __device__ static __forceinline__ float Bias(const void* bias, Index index, Extent extent) {
    return TypeTraits<Element>::ToCompute(
        static_cast<const Element*>(bias)[Min(index, static_cast<Index>(extent - 1))]);
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

  // x * Phi(x), Phi the normal distribution function as the logistic function, to the base 2, of an
  // odd polynomial: fitted to an absolute error of 3e-6 in the product, which beyond the fit's 6
  // only falls. A tile has thousands of these, so that their instructions tell in its compile time.
  __device__ static __forceinline__ float Gelu(float x) {
    const float square = x * x;
    float odds = Fma(3.229005411e-6f, square, -8.823841607e-5f);
    odds = Fma(odds, square, -3.602731387e-4f);
    odds = Fma(odds, square, 1.052266859e-1f);
    odds = Fma(odds, square, 2.302045391f);
    return x * RcpApprox(1.0f + Exp2(-x * odds));
  }

  // Of the element at (row, col) of a kernel whose output is rows x cols.
  template <class Row, class Rows, class Col, class Cols>
  __device__ static __forceinline__ float Apply(float sum, const void* bias, Row row, Rows rows,
                                                Col col, Cols cols) {
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
