#include "autotune/paired_times.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace tilewright {
namespace {

// Guards what comparing in turns is for: a drift of both by half, and interrupts of either, leave
// their ratio, and the error says how sure it is.
TEST(PairedTimesTest, DriftAndInterruptsCancel) {
  std::mt19937_64 random(1);
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> uniform;
  int within = 0;
  constexpr int kRuns = 200;
  for (int run = 0; run < kRuns; ++run) {
    std::vector<double> slow;
    std::vector<double> fast;
    for (int r = 0; r < 400; ++r) {
      const double drift = 10 + 5.0 * r / 400;
      slow.push_back(1.01 * drift * std::exp(0.004 * normal(random)));
      fast.push_back(drift * std::exp(0.004 * normal(random)));
      if (uniform(random) < 0.02) slow.back() *= 1.5;
      if (uniform(random) < 0.02) fast.back() *= 1.5;
    }
    const PairedTime pair = Compare(slow, fast);
    EXPECT_NEAR(pair.log_ratio, std::log(1.01), 0.002);
    EXPECT_NEAR(pair.error, 0.004 * std::sqrt(2.0 / 400), 0.0001);
    within += std::abs(pair.log_ratio - std::log(1.01)) < 2 * pair.error;
  }
  EXPECT_NEAR(within / static_cast<double>(kRuns), 0.954, 0.05);
}

// Guards the edges: rounds that only one of them saw do not count.
TEST(PairedTimesTest, CountsCommonRounds) {
  const std::vector<double> two = {2, 4};
  const std::vector<double> one = {1, 2, 99};
  EXPECT_DOUBLE_EQ(Compare(two, one).log_ratio, std::log(2));
  EXPECT_DOUBLE_EQ(Compare(two, one).error, 0);
  EXPECT_DOUBLE_EQ(Compare({}, one).log_ratio, 0);
}

// Guards short kernels: samples that are all alike may be half a step off, scattered ones are not.
TEST(PairedTimesTest, ClockErrorVanishesWithScatter) {
  EXPECT_DOUBLE_EQ(ClockError(std::vector<double>(9, 2.56), 0.032), 0.016);
  const std::vector<double> scattered = {2.528, 2.528, 2.56, 2.56, 2.592, 2.592};
  EXPECT_LT(ClockError(scattered, 0.032), 1e-6);
}

}  // namespace
}  // namespace tilewright
