// Counting host allocations.
#ifndef TILEWRIGHT_TESTS_RUNTIME_ALLOCATION_COUNT_H_
#define TILEWRIGHT_TESTS_RUNTIME_ALLOCATION_COUNT_H_

#include <cstdint>

namespace tilewright {

// Calls of operator new on the calling thread since it began.
int64_t AllocationsOfThisThread();

}  // namespace tilewright

#endif  // TILEWRIGHT_TESTS_RUNTIME_ALLOCATION_COUNT_H_
