// A winner whose config is of no space, as a call meets it. The full test tries every operator's.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>

#include "cache/cache.h"
#include "runtime/keys.h"
#include "tests/runtime/runtime_fixture.h"
#include "tests/runtime/winner_of.h"

namespace tilewright {
namespace {

using IgnoredWinnerTest = RuntimeFixture;

// Guards a call over such a row: the default is launched, and one line names the row's config.
TEST_F(IgnoredWinnerTest, DefaultServesAndOneLineSaysWhy) {
  for (const int64_t threads :
       {int64_t{0}, int64_t{-1}, int64_t{99999999}, std::numeric_limits<int64_t>::max()}) {
    Open();
    MakeCurrent();
    const CallDesc call = ScaleCall(8);
    const ProblemKey problem =
        MakeProblemKey(call, *runtime_->FindRecipe("ScaleTestOp"), runtime_->Device(0).value());
    const WinnerRow row = WinnerOf(problem, {"scale", {{"threads", threads}, {"vector", 1}}});
    ASSERT_TRUE(runtime_->cache().PutWinner(row).ok());
    log_.clear();
    for (int i = 0; i < 3; ++i) EXPECT_EQ(ExplainScale(8).quality, Quality::kDefault);
    ASSERT_TRUE(Scale(8).ok());
    EXPECT_EQ(driver_->Launches().back().shape.block[0], 128u);
    const std::vector<std::string> lines = Log();
    EXPECT_EQ(std::count_if(lines.begin(), lines.end(),
                            [&](const std::string& line) {
                              return line.find("is ignored") != std::string::npos &&
                                     line.find(row.config_json) != std::string::npos;
                            }),
              1)
        << threads;
  }
}

}  // namespace
}  // namespace tilewright
