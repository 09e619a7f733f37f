// The example of an operator of an embedder's own: element-wise scaling with a tunable space.
#ifndef TILEWRIGHT_TESTS_RUNTIME_SCALE_OP_H_
#define TILEWRIGHT_TESTS_RUNTIME_SCALE_OP_H_

#include <cstdint>

#include "runtime/runtime.h"

namespace tilewright {

// ScaleTestOp(x, factor=2.0) -> output; in place is allowed. Kernels depend on dtype, threads and
// vector width only; rows of a problem are bucketed.
CustomOp ScaleOp();

// The parameter struct of its kernel, as in the template.
struct ScaleParams {
  const void* x;
  void* output;
  int64_t count;
  float factor;
};

}  // namespace tilewright

#endif  // TILEWRIGHT_TESTS_RUNTIME_SCALE_OP_H_
