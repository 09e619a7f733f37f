// A second operator for tests, and both together.
#ifndef TILEWRIGHT_TESTS_RUNTIME_SUM_OP_H_
#define TILEWRIGHT_TESTS_RUNTIME_SUM_OP_H_

#include "runtime/runtime.h"
#include "tests/runtime/scale_op.h"

namespace tilewright {

// ScaleTestOp, and SumTestOp(x) -> output of one element: two passes with workspace and a tensor
// map. Its values are not tested.
CustomOp ScaleAndSumOps();

}  // namespace tilewright

#endif  // TILEWRIGHT_TESTS_RUNTIME_SUM_OP_H_
