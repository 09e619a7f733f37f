// Whose winner a call runs with: its own, a neighbour's, or none.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "manifest/status.h"
#include "runtime/keys.h"
#include "runtime/winner_index.h"
#include "tests/runtime/runtime_fixture.h"
#include "tests/runtime/winner_of.h"

namespace tilewright {
namespace {

using ::testing::HasSubstr;

class WinnerTest : public RuntimeFixture {
 protected:
  ProblemKey ProblemOf(int64_t rows, int64_t inner) {
    return MakeProblemKey(ScaleCall(rows, inner), *runtime_->FindRecipe("ScaleTestOp"),
                          runtime_->Device(0).value());
  }
  // A winner of 64 threads by 4 elements for ScaleTestOp on rows by inner elements, measured with
  // nothing that is there now.
  WinnerRow WinnerFor(int64_t rows, int64_t inner) {
    return WinnerOf(ProblemOf(rows, inner), {"scale", {{"threads", 64}, {"vector", 4}}});
  }
};

// Guards: a neighbour's winner is taken only where it is legal for the very shape.
TEST_F(WinnerTest, NeighbourMustBeLegalForTheRealShape) {
  Open();
  MakeCurrent();
  ASSERT_TRUE(runtime_->cache().PutWinner(WinnerFor(32, 3)).ok());
  ASSERT_TRUE(Scale(32, 3).ok());  // 96 elements: a multiple of 4
  EXPECT_EQ(driver_->Launches().back().shape.block[0], 64u);
  ASSERT_TRUE(Scale(31, 3).ok());  // 93 elements, in the same bucket
  EXPECT_EQ(driver_->Launches().back().shape.block[0], 128u);
  ASSERT_TRUE(Scale(30, 3).ok());  // 90: not a multiple of 4
  EXPECT_EQ(driver_->Launches().back().shape.block[0], 128u);
  ASSERT_TRUE(Scale(64, 3).ok());  // a neighbour
  EXPECT_EQ(driver_->Launches().back().shape.block[0], 64u);
}

// Guards that a call is not slower for what was tuned elsewhere: one row's winner is not lent to
// thousands, nor one that the model thinks slower than the default, unless it was measured to be
// faster than that default by more.
TEST_F(WinnerTest, NeighbourMustNotBeSlower) {
  Open();
  ASSERT_TRUE(runtime_->cache().PutWinner(WinnerFor(1, 64)).ok());
  WinnerRow disliked = WinnerFor(16, 64);
  disliked.config_json = Config{"scale", {{"threads", 256}, {"vector", 1}}}.ToJson();
  ASSERT_TRUE(runtime_->cache().PutWinner(disliked).ok());
  EXPECT_EQ(ExplainScale(2).quality, Quality::kNeighbour);
  EXPECT_EQ(ExplainScale(1024).quality, Quality::kDefault);
  EXPECT_EQ(ExplainScale(32).quality, Quality::kDefault);
  TrialRow trial;
  trial.problem_key = disliked.key;
  trial.op = disliked.op;
  trial.device = disliked.device;
  trial.config_json = Config{"scale", {{"threads", 128}, {"vector", 1}}}.ToJson();
  for (const auto& [us, quality] :
       {std::pair{1.05, Quality::kDefault}, {1.2, Quality::kNeighbour}}) {
    trial.median_us = us;
    ASSERT_TRUE(runtime_->cache().PutTrials({trial}).ok());
    EXPECT_EQ(ExplainScale(32).quality, quality) << us;
  }
}

// Guards what is said where the problem's own winner was measured with other templates: not that it
// is a neighbour's.
TEST_F(WinnerTest, OutdatedWinnersAreCalledSo) {
  Open();
  MakeCurrent();
  WinnerRow row = WinnerFor(8, 64);
  row.closure_digest = "of another text";
  ASSERT_TRUE(runtime_->cache().PutWinner(row).ok());
  EXPECT_EQ(ExplainScale(8).quality, Quality::kNeighbour);
  ASSERT_TRUE(Scale(8).ok());
  ASSERT_EQ(Log().size(), 1u);
  EXPECT_THAT(Log()[0], HasSubstr("its winner of other templates or another tuning space"));
}

// Guards: a winner measured with what is there now runs as such, and nothing is said.
TEST_F(WinnerTest, CurrentWinnersAreWinners) {
  Open();
  MakeCurrent();
  const SpaceIdentity now = IdentifySpace(runtime_->kernels(), *runtime_->FindRecipe("ScaleTestOp"),
                                          ScaleCall(8), runtime_->Device(0).value())
                                .value();
  WinnerRow row = WinnerFor(8, 64);
  row.closure_digest = now.closure_digest;
  row.space_digest = now.space_digest;
  ASSERT_TRUE(runtime_->cache().PutWinner(row).ok());
  const Explanation explained = ExplainScale(8);
  EXPECT_EQ(explained.quality, Quality::kWinner);
  EXPECT_EQ(explained.neighbour_json, "");
  EXPECT_EQ(explained.config.Get("threads"), 64);
  ASSERT_TRUE(Scale(8).ok());
  EXPECT_EQ(driver_->Launches().back().shape.block[0], 64u);
  EXPECT_TRUE(Log().empty());
}

// Guards: a winner of other templates that is faster, later, or both, does not stand before that of
// these.
TEST_F(WinnerTest, CurrentWinnersAreNotDisplaced) {
  Open();
  const SpaceIdentity now = IdentifySpace(runtime_->kernels(), *runtime_->FindRecipe("ScaleTestOp"),
                                          ScaleCall(8), runtime_->Device(0).value())
                                .value();
  WinnerRow row = WinnerFor(8, 64);
  row.closure_digest = now.closure_digest;
  row.space_digest = now.space_digest;
  row.tuned_unix = 1700000000;
  ASSERT_TRUE(runtime_->cache().PutWinner(row).ok());
  for (const int64_t tuned : {1600000000, 1800000000}) {
    WinnerRow other = WinnerFor(8, 64);
    other.closure_digest = Cat("of another text ", tuned);
    other.config_json = Config{"scale", {{"threads", 256}, {"vector", 1}}}.ToJson();
    other.median_us = 0.5;
    other.tuned_unix = tuned;
    ASSERT_TRUE(runtime_->cache().PutWinner(other).ok());
  }
  const Explanation explained = ExplainScale(8);
  EXPECT_EQ(explained.quality, Quality::kWinner);
  EXPECT_EQ(explained.config.Get("threads"), 64);
}

}  // namespace
}  // namespace tilewright
