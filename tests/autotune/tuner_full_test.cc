#include <gtest/gtest.h>

#include "autotune/tuner.h"
#include "tests/autotune/landscape.h"
#include "tests/autotune/simulated_evaluator.h"

namespace tilewright {
namespace {

// Guards reproducibility across machines: other noise, drift and outliers, the same winner.
TEST(TunerTest, TwoMachinesAgree) {
  int agree = 0;
  constexpr int kProblems = 100;
  for (int seed = 0; seed < kProblems; ++seed) {
    const Landscape land(static_cast<uint64_t>(seed));
    const auto clock = land.Clock();
    SimulatedEvaluator left(clock, 1000 + static_cast<uint64_t>(seed));
    SimulatedEvaluator right(clock, 5000 + static_cast<uint64_t>(seed));
    const auto a = Tune(land.candidates, {}, left, {});
    const auto b = Tune(land.candidates, {}, right, {});
    ASSERT_TRUE(a.ok() && b.ok());
    agree += a->best == b->best;
  }
  EXPECT_GE(agree, kProblems * 99 / 100);
}

}  // namespace
}  // namespace tilewright
