#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <random>

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

// How often two machines agree on spaces of 24 whose times are `time(random)` microseconds, without
// and with a default to defend.
double Agreement(const std::function<double(std::mt19937_64&)>& time, bool has_default) {
  constexpr int kProblems = 200;
  constexpr int kCandidates = 24;
  int agree = 0;
  for (uint64_t seed = 0; seed < kProblems; ++seed) {
    std::mt19937_64 random(seed);
    std::map<std::string, double> times;
    std::vector<Candidate> candidates;
    for (int i = 0; i < kCandidates; ++i) {
      const Config config{"v", {{"x", i}}};
      times[config.ToJson()] = time(random);
      candidates.push_back({config, 10 + static_cast<double>(random() % 1000) / 1000});
    }
    const auto clock = [&](const Config& c) { return times.at(c.ToJson()); };
    TuneOptions options;
    if (has_default) options.incumbent = candidates[random() % kCandidates].config;
    SimulatedEvaluator left(clock, 1000 + seed);
    SimulatedEvaluator right(clock, 5000 + seed);
    const auto a = Tune(candidates, {}, left, options);
    const auto b = Tune(candidates, {}, right, options);
    EXPECT_TRUE(a.ok() && b.ok());
    agree += a.ok() && b.ok() && a->best == b->best;
  }
  return static_cast<double>(agree) / kProblems;
}

double Uniform(std::mt19937_64& random, double from, double to) {
  return std::uniform_real_distribution<double>(from, to)(random);
}

// Guards the same on near-ties: all within 0.3 %, which is less than the clock's noise of 0.4 %, or
// a third of them, the others slower by 3 % to a third.
TEST(TunerTest, TwoMachinesAgreeOnNearTies) {
  const auto all = [](std::mt19937_64& random) { return Uniform(random, 10, 10.03); };
  const auto some = [](std::mt19937_64& random) {
    return random() % 3 == 0 ? Uniform(random, 10, 10.03) : Uniform(random, 10.3, 13.3);
  };
  for (const bool has_default : {false, true}) {
    EXPECT_GE(Agreement(all, has_default), 0.99) << has_default;
    EXPECT_GE(Agreement(some, has_default), 0.99) << has_default;
  }
}

// The worst case: as dense on both sides of any limit to near-ties as within.
TEST(TunerTest, TwoMachinesAgreeWhereNoLimitIsClear) {
  const auto dense = [](std::mt19937_64& random) { return Uniform(random, 10, 10.2); };
  EXPECT_GE(Agreement(dense, false), 0.99);
  EXPECT_GE(Agreement(dense, true), 0.99);
  const auto sparser = [](std::mt19937_64& random) { return Uniform(random, 10, 10.5); };
  EXPECT_GE(Agreement(sparser, true), 0.99);
}

}  // namespace
}  // namespace tilewright
