// Parameters of rotary position embedding, shared by the kernel and the recipe.
#ifndef TILEWRIGHT_ROPE_PARAMS_CUH_
#define TILEWRIGHT_ROPE_PARAMS_CUH_

#include "device/fast_divmod.cuh"

namespace tilewright {

inline constexpr int kRopeMostPairs = 256;

// Tokens are counted over (batch, position); strides are in elements. A head's columns are, in this
// order, the rotated ones and those that are copied.
struct RopeParams {
  const void* x;
  const void* positions;  // of each token; unused where a token's place is its position
  const float* factors;   // divide the frequency of each pair; unused without factors
  void* output;
  long long tokens;
  FastDivmod<true> sequence;  // tokens of one batch entry
  long long input_stride[3];  // batch, position, head
  long long output_stride[3];
  long long position_stride, factor_stride;
  long long input_step, output_step;  // from column to column
  int pairs;                          // rotated together in one head
  int items;                          // of one token; an item is what a thread handles at a time
  FastDivmod<false> head_items;       // of one head
  float amplitude;                    // of cosine and sine
  // What each pair turns by from one position to the next: the fraction of a turn, times 2^64; with
  // factors, the bits of the number of turns as a double.
  unsigned long long steps[kRopeMostPairs];
};

}  // namespace tilewright

#endif  // TILEWRIGHT_ROPE_PARAMS_CUH_
