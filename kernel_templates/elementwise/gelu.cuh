// The two forms of GELU.
#ifndef TILEWRIGHT_ELEMENTWISE_GELU_CUH_
#define TILEWRIGHT_ELEMENTWISE_GELU_CUH_

#include "device/base.cuh"

namespace tilewright {

// x * Phi(x), Phi the normal distribution function.
__device__ __forceinline__ float Gelu(float x) {
  constexpr float kSqrtHalf = 0.70710678118654752440f;
  return 0.5f * x * (1.0f + erff(x * kSqrtHalf));
}

// Its approximation by tanh.
__device__ __forceinline__ float GeluTanh(float x) {
  constexpr float kSqrt2OverPi = 0.79788456080286535588f;
  return 0.5f * x * (1.0f + tanhf(kSqrt2OverPi * (x + 0.044715f * x * x * x)));
}

}  // namespace tilewright

#endif  // TILEWRIGHT_ELEMENTWISE_GELU_CUH_
