#include "autotune/tuner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "autotune/statistics.h"
#include "tests/autotune/landscape.h"
#include "tests/autotune/simulated_evaluator.h"

namespace tilewright {
namespace {

std::vector<Candidate> SmallSpace(int count) {
  std::vector<Candidate> candidates;
  for (int i = 0; i < count; ++i) candidates.push_back({Config{"v", {{"x", i}}}, 10.0 + i});
  return candidates;
}
// x == 3 is fastest, though the model says 0; each step away costs 5%.
double SmallTrue(const Config& c) {
  return 10.0 * (1 + 0.05 * std::abs(static_cast<double>(c.Get("x") - 3)));
}

// Guards the search's purpose: near the exhaustive optimum at a fifth of the cost.
TEST(TunerTest, LandsWithinThreePercentMeasuringAFifth) {
  double worst = 0;
  double sum = 0;
  constexpr int kLandscapes = 40;
  for (int seed = 0; seed < kLandscapes; ++seed) {
    const Landscape land(static_cast<uint64_t>(seed));
    SimulatedEvaluator evaluator(land.Clock(), 99);
    const auto result = Tune(land.candidates, {}, evaluator, {});
    ASSERT_TRUE(result.ok()) << result.status();
    EXPECT_LE(evaluator.admitted(), static_cast<int>(land.candidates.size()) / 5);
    EXPECT_EQ(result->legal, static_cast<int64_t>(land.candidates.size()));
    const double loss = land.True(result->best) / land.Best() - 1;
    worst = std::max(worst, loss);
    sum += loss;
  }
  RecordProperty("worst_loss", std::to_string(worst));
  EXPECT_LE(worst, 0.03);
  EXPECT_LE(sum / kLandscapes, 0.01);
}

// Guards determinism: the same samples give the same result, whatever the order of candidates.
TEST(TunerTest, OrderOfCandidatesDoesNotMatter) {
  const Landscape land(7);
  const auto exact = [&](const Config& c) { return land.True(c); };
  SimulatedEvaluator first(exact, 1, /*noise=*/0);
  SimulatedEvaluator second(exact, 1, /*noise=*/0);
  auto reversed = land.candidates;
  std::reverse(reversed.begin(), reversed.end());
  const auto a = Tune(land.candidates, {}, first, {});
  const auto b = Tune(reversed, {}, second, {});
  ASSERT_TRUE(a.ok() && b.ok());
  EXPECT_EQ(a->best, b->best);
  ASSERT_EQ(a->trials.size(), b->trials.size());
  for (size_t i = 0; i < a->trials.size(); ++i) {
    EXPECT_EQ(a->trials[i].config, b->trials[i].config);
    EXPECT_EQ(a->trials[i].samples_us, b->trials[i].samples_us);
  }
}

// Guards the whole of a small space being tried, whatever the model thinks.
TEST(TunerTest, SmallSpaceIsExhaustive) {
  SimulatedEvaluator evaluator(SmallTrue, 3);
  const auto result = Tune(SmallSpace(20), {}, evaluator, {});
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->best.Get("x"), 3);
  EXPECT_EQ(evaluator.admitted(), 20);
  EXPECT_EQ(result->trials.size(), 20u);
  EXPECT_NEAR(result->median_us, 10, 0.5);
  EXPECT_EQ(result->trials[3].sample_count % 25, 0);
  EXPECT_EQ(result->trials[3].registers, 64);
}

// Guards correctness: a fast candidate that is wrong, fails or hangs never wins.
TEST(TunerTest, RejectedCandidatesNeverWin) {
  SimulatedEvaluator evaluator(SmallTrue, 3);
  evaluator.Reject(Config{"v", {{"x", 3}}}, CandidateStatus::kWrong);
  evaluator.Reject(Config{"v", {{"x", 2}}}, CandidateStatus::kFailed);
  evaluator.Reject(Config{"v", {{"x", 4}}}, CandidateStatus::kTimeout);
  const auto result = Tune(SmallSpace(10), {}, evaluator, {});
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->best.Get("x"), 1);  // ties with 5; the model prefers 1
  EXPECT_EQ(result->trials[3].status, CandidateStatus::kWrong);
  EXPECT_EQ(result->trials[2].status, CandidateStatus::kFailed);
  EXPECT_EQ(result->trials[4].status, CandidateStatus::kTimeout);
  EXPECT_EQ(result->trials[4].error, "made to be rejected");
}

// Guards the error of a space without one usable candidate: it says why.
TEST(TunerTest, AllRejectedIsNotFoundWithReasons) {
  SimulatedEvaluator evaluator(SmallTrue, 3);
  for (int i = 0; i < 3; ++i) {
    evaluator.Reject(Config{"v", {{"x", i}}},
                     i == 0 ? CandidateStatus::kWrong : CandidateStatus::kFailed);
  }
  std::vector<Trial> seen;
  TuneOptions options;
  options.on_trial = [&](const Trial& trial) { seen.push_back(trial); };
  const auto result = Tune(SmallSpace(3), {}, evaluator, options);
  EXPECT_EQ(result.status().code(), absl::StatusCode::kNotFound);
  const std::string message(result.status().message());
  EXPECT_THAT(message, testing::HasSubstr("1 wrong"));
  EXPECT_THAT(message, testing::HasSubstr("2 failed"));
  EXPECT_THAT(message, testing::HasSubstr("made to be rejected"));
  EXPECT_EQ(seen.size(), 3u);
  EXPECT_EQ(Tune({}, {}, evaluator, {}).status().code(), absl::StatusCode::kInvalidArgument);
}

// Guards incremental tuning: what is known is not measured again.
TEST(TunerTest, OneMoreCandidateMeasuresOnlyThatOne) {
  SimulatedEvaluator first(SmallTrue, 3);
  auto known = Tune(SmallSpace(10), {}, first, {});
  ASSERT_TRUE(known.ok());
  for (Trial& trial : known->trials) trial.samples_us.clear();  // as read from a cache

  SimulatedEvaluator second([](const Config& c) { return c.Get("x") == 10 ? 8 : SmallTrue(c); }, 4);
  const auto result = Tune(SmallSpace(11), known->trials, second, {});
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->best.Get("x"), 10);
  EXPECT_THAT(second.admissions(),
              testing::ElementsAre(testing::Pair(R"({"variant":"v","x":10})", 1)));
  EXPECT_EQ(result->trials.size(), 11u);

  SimulatedEvaluator third(SmallTrue, 5);
  const auto again = Tune(SmallSpace(10), known->trials, third, {});
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(again->best, known->best);
  EXPECT_EQ(third.samples(), 0);
}

// Guards Ctrl-C: what was measured is kept, a later search goes on from there.
TEST(TunerTest, CancellationKeepsWhatIsKnown) {
  std::atomic<bool> cancelled = false;
  SimulatedEvaluator evaluator(SmallTrue, 3);
  evaluator.after_measure = [&] { cancelled = true; };
  TuneOptions options;
  options.cancelled = &cancelled;
  const auto result = Tune(SmallSpace(12), {}, evaluator, options);
  ASSERT_TRUE(result.ok());
  EXPECT_FALSE(result->complete);
  EXPECT_EQ(result->best.Get("x"), 3);
  EXPECT_EQ(evaluator.samples(), 12 * options.first_round_repeats);

  SimulatedEvaluator resumed(SmallTrue, 4);
  const auto rest = Tune(SmallSpace(12), result->trials, resumed, {});
  ASSERT_TRUE(rest.ok());
  EXPECT_TRUE(rest->complete);
  EXPECT_LT(resumed.admitted(), 12);
  EXPECT_EQ(rest->best.Get("x"), 3);

  cancelled = true;
  EXPECT_EQ(Tune(SmallSpace(2), {}, evaluator, options).status().code(),
            absl::StatusCode::kCancelled);
}

// Guards the stopping rule: at the stated fraction of speed of light, no more is compiled.
TEST(TunerTest, StopsNearSpeedOfLight) {
  const Landscape land(3);
  SimulatedEvaluator thrifty(land.Clock(), 1);
  SimulatedEvaluator thorough(land.Clock(), 1);
  TuneOptions options;
  options.sol_us = land.Best() * 1.5;
  ASSERT_TRUE(Tune(land.candidates, {}, thrifty, options).ok());
  ASSERT_TRUE(Tune(land.candidates, {}, thorough, {}).ok());
  EXPECT_LT(thrifty.admitted(), thorough.admitted());
}

// Guards hints: a winner from before a template edit is tried though the model dislikes it.
TEST(TunerTest, HintsAreTriedFirst) {
  const Landscape land(4);
  SimulatedEvaluator evaluator(land.Clock(), 1);
  Config worst = land.candidates[0].config;
  double worst_us = 0;
  for (const Candidate& c : land.candidates) {
    if (c.predicted_us > worst_us) worst_us = c.predicted_us, worst = c.config;
  }
  TuneOptions options;
  options.first = {worst, Config{"gone", {}}};
  std::vector<Config> order;
  options.on_trial = [&](const Trial& trial) { order.push_back(trial.config); };
  ASSERT_TRUE(Tune(land.candidates, {}, evaluator, options).ok());
  ASSERT_FALSE(order.empty());
  EXPECT_EQ(order.front(), worst);
}

// Thirty configs, of which "x" == 7 is served untuned; the model likes that one least.
struct Incumbency {
  static constexpr int kServed = 7;
  std::vector<Candidate> candidates;
  TuneOptions options;
  Incumbency() {
    for (int i = 0; i < 30; ++i) {
      candidates.push_back({Config{"v", {{"x", i}}}, i == kServed ? 99.0 : 10.0 + i % 5});
    }
    options.incumbent = candidates[kServed].config;
    options.exhaustive_below = 30;
  }
};

// Guards that tuning never makes a call slower: on a clock that scatters by 5 %, what is picked
// over the untuned choice is faster in truth.
TEST(TunerTest, NothingSlowerReplacesTheIncumbent) {
  const Incumbency setup;
  const auto truth = [](const Config& c) {
    const int64_t x = c.Get("x");
    return x == Incumbency::kServed ? 10.0 : 10.05 + 0.01 * static_cast<double>(x);
  };
  int misled = 0;
  int kept = 0;
  for (uint64_t seed = 0; seed < 100; ++seed) {
    SimulatedEvaluator evaluator(truth, seed, /*noise=*/0.05);
    const auto result = Tune(setup.candidates, {}, evaluator, setup.options);
    ASSERT_TRUE(result.ok()) << result.status();
    kept += result->best.Get("x") == Incumbency::kServed;
    SimulatedEvaluator same(truth, seed, /*noise=*/0.05);
    const auto without = Tune(setup.candidates, {}, same, {});
    ASSERT_TRUE(without.ok()) << without.status();
    misled += without->best.Get("x") != Incumbency::kServed;
  }
  EXPECT_GE(kept, 99);
  EXPECT_GE(misled, 50);  // without the rule: the case is hard
}

// Guards the same where the time is up after a few rounds: a gain within their scatter is luck.
TEST(TunerTest, LuckDoesNotReplaceTheIncumbent) {
  Incumbency setup;
  setup.options.final_us = 1;
  const auto truth = [](const Config&) { return 10.0; };
  int kept = 0;
  for (uint64_t seed = 0; seed < 200; ++seed) {
    SimulatedEvaluator evaluator(truth, seed, /*noise=*/0.05);
    const auto result = Tune(setup.candidates, {}, evaluator, setup.options);
    ASSERT_TRUE(result.ok()) << result.status();
    kept += result->best.Get("x") == Incumbency::kServed;
  }
  EXPECT_GE(kept, 190);
}

// Guards that the rule above does not keep what is clearly slower.
TEST(TunerTest, SomethingFasterReplacesTheIncumbent) {
  const Incumbency setup;
  const auto truth = [](const Config& c) { return c.Get("x") == 3 ? 9.6 : 10.0; };
  for (uint64_t seed = 0; seed < 20; ++seed) {
    SimulatedEvaluator evaluator(truth, seed);
    const auto result = Tune(setup.candidates, {}, evaluator, setup.options);
    ASSERT_TRUE(result.ok()) << result.status();
    EXPECT_EQ(result->best.Get("x"), 3);
  }
}

// Guards short kernels: where samples do not scatter, one step of the clock is no reason, two are.
TEST(TunerTest, OneStepOfTheClockDoesNotReplaceTheIncumbent) {
  const Incumbency setup;
  for (const auto& [rival, best] : {std::pair{2.560, Incumbency::kServed}, {2.528, 3}}) {
    const auto truth = [rival = rival](const Config& c) {
      return c.Get("x") == 3 ? rival : c.Get("x") == Incumbency::kServed ? 2.592 : 3.0;
    };
    SimulatedEvaluator evaluator = SimulatedEvaluator::Still(truth);
    const auto result = Tune(setup.candidates, {}, evaluator, setup.options);
    ASSERT_TRUE(result.ok()) << result.status();
    EXPECT_EQ(result->best.Get("x"), best) << rival;
  }
}

// Guards gains below a step of the clock: samples that scatter over steps average to the truth.
TEST(TunerTest, GainsBelowAStepOfTheClockAreSeen) {
  const Incumbency setup;
  const auto truth = [](const Config& c) { return c.Get("x") == 3 ? 1.57 : 1.6; };
  for (uint64_t seed = 0; seed < 10; ++seed) {
    SimulatedEvaluator evaluator(truth, seed, /*noise=*/0.01);
    const auto result = Tune(setup.candidates, {}, evaluator, setup.options);
    ASSERT_TRUE(result.ok()) << result.status();
    EXPECT_EQ(result->best.Get("x"), 3);
  }
}

// Guards the final: the incumbent is measured beside the finalists and once more against the
// fastest, however little the model or the first samples think of it, and a wrong one never wins.
TEST(TunerTest, IncumbentIsMeasuredToTheEnd) {
  Incumbency setup;
  const auto truth = [](const Config& c) {
    return c.Get("x") == Incumbency::kServed ? 15.0 : 10.0 + static_cast<double>(c.Get("x"));
  };
  SimulatedEvaluator evaluator(truth, 1);
  setup.options.exhaustive_below = 0;
  const auto result = Tune(setup.candidates, {}, evaluator, setup.options);
  ASSERT_TRUE(result.ok()) << result.status();
  const auto served =
      std::find_if(result->trials.begin(), result->trials.end(),
                   [](const Trial& trial) { return trial.config.Get("x") == Incumbency::kServed; });
  ASSERT_NE(served, result->trials.end());
  EXPECT_EQ(served->sample_count, 2 * setup.options.final_repeats);
  EXPECT_NEAR(served->median_us, 15, 0.5);

  SimulatedEvaluator rejecting(truth, 1);
  rejecting.Reject(*setup.options.incumbent, CandidateStatus::kWrong);
  const auto other = Tune(setup.candidates, {}, rejecting, setup.options);
  ASSERT_TRUE(other.ok()) << other.status();
  EXPECT_NE(other->best.Get("x"), Incumbency::kServed);
}

// Guards the GPU time of a problem: of short kernels and long ones, where candidates are far apart
// and where the choice between near-ties takes all the samples it can get, with a default to defend
// and without.
TEST(TunerTest, SamplesTakeNoMoreThanTheyMay) {
  for (const double scale : {0.1, 10.0, 40.0}) {  // of some 100 us
    for (uint64_t seed = 0; seed < 4; ++seed) {
      const Landscape land(seed);
      const auto apart = [&](const Config& c) { return scale * land.True(c); };
      const auto near = [&](const Config& c) {
        return scale * (100 + 0.02 * land.Hash(c.ToJson(), 1));
      };
      for (const auto& truth :
           {SimulatedEvaluator::TrueTime(apart), SimulatedEvaluator::TrueTime(near)}) {
        TuneOptions options;
        if (seed % 2 == 1) options.incumbent = land.candidates[seed * 10].config;
        SimulatedEvaluator evaluator(truth, seed + 7);
        const auto result = Tune(land.candidates, {}, evaluator, options);
        ASSERT_TRUE(result.ok()) << result.status();
        EXPECT_LE(evaluator.gpu_us(), 1.05 * options.gpu_us) << scale << " " << seed;
        EXPECT_NEAR(result->gpu_us, evaluator.gpu_us(), 1);
        double best = truth(result->best);
        for (const Candidate& c : land.candidates) best = std::min(best, truth(c.config));
        EXPECT_LE(truth(result->best), 1.03 * best) << scale << " " << seed;
      }
    }
  }
}

// Guards that the bound takes nothing from kernels that are long beyond it but the repeats.
TEST(TunerTest, EndlessKernelsAreMeasuredTheLeastTimes) {
  SimulatedEvaluator evaluator([](const Config& c) { return 1e6 * SmallTrue(c); }, 3);
  TuneOptions options;
  const auto result = Tune(SmallSpace(8), {}, evaluator, options);
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->best.Get("x"), 3);
  for (const Trial& trial : result->trials) {
    EXPECT_LE(trial.sample_count, options.first_round_repeats) << trial.config.ToJson();
    EXPECT_GE(trial.sample_count, options.least_repeats) << trial.config.ToJson();
  }
}

// Guards the progress text that the CLI prints.
TEST(TunerTest, ProgressNamesCountsAndBest) {
  SimulatedEvaluator evaluator(SmallTrue, 3);
  std::vector<std::string> lines;
  TuneOptions options;
  options.progress = [&](std::string_view line) { lines.emplace_back(line); };
  ASSERT_TRUE(Tune(SmallSpace(6), {}, evaluator, options).ok());
  ASSERT_FALSE(lines.empty());
  EXPECT_THAT(lines.back(), testing::StartsWith("6/6 measured, best "));
  EXPECT_THAT(lines.back(), testing::HasSubstr(R"("x":3)"));
}

// Guards the quantiles that reach the cache.
TEST(StatisticsTest, QuantilesInterpolate) {
  const std::vector<double> samples = {5, 1, 3, 2, 4};
  const SampleSummary summary = Summarize(samples);
  EXPECT_DOUBLE_EQ(summary.median, 3);
  EXPECT_DOUBLE_EQ(summary.p10, 1.4);
  EXPECT_DOUBLE_EQ(summary.p90, 4.6);
  EXPECT_DOUBLE_EQ(Quantile(std::vector<double>{1, 2}, 0.5), 1.5);
  EXPECT_DOUBLE_EQ(Quantile({}, 0.5), 0);
}

}  // namespace
}  // namespace tilewright
