// What edits of templates and other compiler builds do to a cache that is full.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "cache/cache.h"
#include "runtime/compiler.h"
#include "tests/runtime/runtime_fixture.h"

namespace tilewright {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

class UpgradeTest : public RuntimeFixture {
 protected:
  void SetUp() override {
    char folder[] = "/tmp/tilewright-upgrade-XXXXXX";
    ASSERT_NE(mkdtemp(folder), nullptr);
    folder_ = folder;
    MakeCurrent();
  }
  void TearDown() override {
    runtime_.reset();
    std::filesystem::remove_all(folder_);
  }
  RuntimeOptions OnFile(TuningPolicy tuning = TuningPolicy::kNever) {
    RuntimeOptions options = Options();
    options.cache_path = folder_ + "/kernels.db";
    options.tuning = tuning;
    options.worker_path = TILEWRIGHT_EMULATED_WORKER;
    return options;
  }
  // ScaleTestOp's template includes a header that includes `inner`.
  void OpenNested(const std::string& inner, RuntimeOptions options) {
    runtime_.reset();
    runtime_ = Runtime::Open(std::move(options)).value();
    CustomOp ops = ScaleAndSumOps();
    ops.templates[0].second.insert(0, "#include \"test/outer.cuh\"\n");
    ops.templates.emplace_back("test/outer.cuh", "#pragma once\n#include \"test/inner.cuh\"\n");
    ops.templates.emplace_back("test/inner.cuh", inner);
    const absl::Status registered = runtime_->Register(std::move(ops));
    ASSERT_TRUE(registered.ok()) << registered;
  }
  int64_t CompilesOfOneCall() {
    const int64_t before = runtime_->Counters().compiles;
    const absl::Status status = Scale(8);
    EXPECT_TRUE(status.ok()) << status;
    return runtime_->Counters().compiles - before;
  }
  // Where the toolchain must be exact, what another build compiled is a miss, and `compiler` builds
  // it anew, once.
  void ExpectBuiltAnewWhereExact(RuntimeOptions options, const std::string& compiler) {
    options.exact_toolchain = true;
    options.strict = true;
    Open(options);
    EXPECT_THAT(std::string(Scale(8).message()), HasSubstr("is not in the cache"));
    options.strict = false;
    Open(options);
    EXPECT_EQ(CompilesOfOneCall(), 1);
    EXPECT_EQ(ExplainScale(8).kernels.at(0).compiler, compiler);
    Open(options);
    EXPECT_EQ(CompilesOfOneCall(), 0);
  }
  std::string folder_;
};

constexpr char kBefore[] = "#pragma once\nconstexpr int kDepth = 1;\n";
constexpr char kAfter[] = "#pragma once\nconstexpr int kDepth = 2;\n";

// Guards: a header two levels down is part of the key: an edit is a miss, its revert a hit.
TEST_F(UpgradeTest, NestedHeaderEditMissesAndRevertHits) {
  OpenNested(kBefore, OnFile());
  EXPECT_EQ(CompilesOfOneCall(), 1);
  OpenNested(kBefore, OnFile());
  EXPECT_EQ(CompilesOfOneCall(), 0);
  OpenNested(kAfter, OnFile());
  EXPECT_EQ(CompilesOfOneCall(), 1);
  OpenNested(kBefore, OnFile());
  EXPECT_EQ(CompilesOfOneCall(), 0);
  OpenNested(kAfter, OnFile());
  EXPECT_EQ(CompilesOfOneCall(), 0);
}

// Guards: a winner measured with the old header is not a winner with the new one: it is lent until
// it was measured again, and then is one again.
TEST_F(UpgradeTest, WinnerOfTheOldHeaderIsMeasuredAgain) {
  OpenNested(kBefore, OnFile(TuningPolicy::kOnFirstUse));
  ASSERT_TRUE(Scale(8).ok());
  ASSERT_EQ(runtime_->Counters().tunes, 1);
  const WinnerRow before = runtime_->cache().AllWinners().at(0);

  OpenNested(kAfter, OnFile());
  EXPECT_EQ(ExplainScale(8).quality, Quality::kNeighbour);
  EXPECT_EQ(ExplainScale(8).config.ToJson(), before.config_json);
  ASSERT_TRUE(Scale(8).ok());
  EXPECT_THAT(Log(), Contains(HasSubstr("its winner of other templates")));

  OpenNested(kAfter, OnFile(TuningPolicy::kOnFirstUse));
  const size_t trials = runtime_->cache().Trials(before.key).size();
  ASSERT_TRUE(Scale(8).ok());
  EXPECT_EQ(runtime_->Counters().tunes, 1);
  EXPECT_EQ(ExplainScale(8).quality, Quality::kWinner);
  const WinnerRow after = runtime_->cache().AllWinners().at(0);
  EXPECT_NE(after.closure_digest, before.closure_digest);
  EXPECT_EQ(runtime_->cache().Trials(before.key).size(), 2 * trials);
}

// Guards: with another build of the compiler, what is cached serves, and which build made it is
// told; where the toolchain must be exact it is a miss, and the new build makes the kernel.
TEST_F(UpgradeTest, AnotherCompilerBuild) {
  Open(OnFile());
  EXPECT_EQ(CompilesOfOneCall(), 1);
  RuntimeOptions options = OnFile();
  options.compiler = std::make_shared<FakeCompiler>("nvrtc 13.1.2");
  Open(options);
  EXPECT_EQ(CompilesOfOneCall(), 0);
  ASSERT_EQ(ExplainScale(8).kernels.size(), 1u);
  EXPECT_EQ(ExplainScale(8).kernels[0].compiler, "nvrtc 13.0.88");

  ExpectBuiltAnewWhereExact(options, "nvrtc 13.1.2");
}

// Guards the same where NVRTC itself was replaced: by TILEWRIGHT_TEST_NVRTC where that names a
// library, else by one that differs from the machine's in the build alone.
TEST_F(UpgradeTest, AnotherNvrtcBuild) {
  RuntimeOptions options = OnFile();
  options.compiler = NvrtcCompiler();
  Open(options);
  EXPECT_EQ(CompilesOfOneCall(), 1);
  const std::string machines = ExplainScale(8).kernels.at(0).compiler;

  const char* given = std::getenv("TILEWRIGHT_TEST_NVRTC");
  options.compiler = NvrtcCompiler(given != nullptr ? given : TILEWRIGHT_OTHER_NVRTC);
  const std::string others = options.compiler->Version().value();
  ASSERT_NE(others, machines);
  Open(options);
  EXPECT_EQ(CompilesOfOneCall(), 0);
  EXPECT_EQ(ExplainScale(8).kernels.at(0).compiler, machines);

  ExpectBuiltAnewWhereExact(options, others);
}

}  // namespace
}  // namespace tilewright
