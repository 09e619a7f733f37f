// Two small operators of an embedder's own, for tests: element-wise scaling with a tunable space,
// and a two-pass sum with workspace and a tensor map.
#ifndef TILEWRIGHT_TESTS_RUNTIME_SCALE_OP_H_
#define TILEWRIGHT_TESTS_RUNTIME_SCALE_OP_H_

#include <memory>
#include <string_view>

#include "runtime/runtime.h"

namespace tilewright {

// ScaleTestOp(x, factor=2.0) -> output; in place is allowed. Kernels depend on dtype, threads and
// vector width only; rows of a problem are bucketed. SumTestOp(x) -> output of one element.
CustomOp ScaleAndSumOps();

// The parameter struct of ScaleTestOp's kernel.
struct ScaleParams {
  const void* x;
  void* output;
  int64_t count;
  float factor;
};

}  // namespace tilewright

#endif  // TILEWRIGHT_TESTS_RUNTIME_SCALE_OP_H_
