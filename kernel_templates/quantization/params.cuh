// Parameters of the row quantiser, shared by the kernel and the recipe.
#ifndef TILEWRIGHT_QUANTIZATION_PARAMS_CUH_
#define TILEWRIGHT_QUANTIZATION_PARAMS_CUH_

#include "device/fast_divmod.cuh"

namespace tilewright {

// Rows are counted over up to three axes, innermost first; strides and steps are in elements.
struct Fp8QuantParams {
  const void* input;
  void* scale;
  void* output;
  long long rows;
  long long vectors;  // of one row
  FastDivmod<true> extent[2];
  long long input_stride[3];
  long long output_stride[3];
  long long scale_stride[3];
  long long input_step, output_step;  // from element to element of a row
};

}  // namespace tilewright

#endif  // TILEWRIGHT_QUANTIZATION_PARAMS_CUH_
