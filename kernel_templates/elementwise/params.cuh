// Parameters of the elementwise kernel, shared by the kernel and the recipes.
#ifndef TILEWRIGHT_ELEMENTWISE_PARAMS_CUH_
#define TILEWRIGHT_ELEMENTWISE_PARAMS_CUH_

#include "device/fast_divmod.cuh"

namespace tilewright {

inline constexpr int kElementwiseScalars = 2;

// A functor's run-time constant: a float, an integer or two narrow floats, by the functor's choice.
union ElementwiseScalar {
  double f;
  long long i;
  float pair[2];
};

template <bool kWide>
struct ElementwiseIndex {
  using Type = unsigned;
};
template <>
struct ElementwiseIndex<true> {
  using Type = unsigned long long;
};

// The output's index space is `rank` dims, innermost first, cut into vectors along dim 0. `count`
// is the number of vectors; `extent[d]` of dim d counts vectors (d = 0) or positions, for every dim
// but the last. Strides are a step of that dim, in bytes (of a coordinate, in its values).
template <int kInputs, int kRank, bool kWide>
struct ElementwiseParams {
  using Index = typename ElementwiseIndex<kWide>::Type;

  void* output;
  const void* inputs[kInputs];  // of a coordinate: its value at the first element
  Index count;
  unsigned tail;  // elements after the last whole vector; rank 1 only
  FastDivmod<kWide> extent[kRank > 1 ? kRank - 1 : 1];
  long long output_stride[kRank];
  long long input_stride[kInputs][kRank];
  ElementwiseScalar scalars[kElementwiseScalars];
};

}  // namespace tilewright

#endif  // TILEWRIGHT_ELEMENTWISE_PARAMS_CUH_
