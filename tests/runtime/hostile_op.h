// An operator whose candidates misbehave, each in a way of its own, for tests of the tuner.
#ifndef TILEWRIGHT_TESTS_RUNTIME_HOSTILE_OP_H_
#define TILEWRIGHT_TESTS_RUNTIME_HOSTILE_OP_H_

#include <cstdint>

#include "runtime/runtime.h"

namespace tilewright {

// What a candidate of HostileTestOp does: the value of its axis "kind". By design every hostile one
// would be the fastest, were it to be believed.
enum class HostileKind : int64_t {
  kDefault,  // right, and slow
  kNoCompile,
  kSpills,
  kWrong,
  kHalfWritten,
  kOutOfBounds,
  kEndless,
  kTooMuchShared,
  kCrashes,
  kRight,  // right, and faster than the default
};
inline constexpr int64_t kHostileKinds = 10;

// HostileTestOp(x) -> output = 2 x, with ScaleTestOp's parameter struct. A kernel's source holds
// "kKind = <n>".
CustomOp HostileOp();

}  // namespace tilewright

#endif  // TILEWRIGHT_TESTS_RUNTIME_HOSTILE_OP_H_
