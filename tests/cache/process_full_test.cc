// The rounds of process_test.cc in the numbers that are promised.
#include <gtest/gtest.h>

#include "tests/cache/process_rounds.h"

namespace tilewright {
namespace {

TEST(ProcessesFull, StartTogether30Rounds) { RunStartTogether(30); }
TEST(ProcessesFull, KillOwner200Rounds) { RunKillOwner(200); }

}  // namespace
}  // namespace tilewright
