// Guards the release engineer's path on a machine without a GPU: warm, coverage, inspect, explain,
// and the cache's export, import, merge and diff.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <thread>
#include <utility>

#include "cache/place.h"
#include "tests/tools/cli_process.h"

namespace tilewright {
namespace {

using nlohmann::json;
using testing::HasSubstr;

class WarmTest : public testing::Test {
 protected:
  WarmTest() {
    shapes_ = sandbox_.Write(
        "shapes.jsonl",
        R"({"op":"AddFwdOp","inputs":{"input":[64,128],"other":[128]},"dtype":"float32"})"
        "\n"
        R"({"op":"SoftmaxFwdOp","inputs":{"x":[32,1000]},"dtype":"bfloat16","params":{"dim":-1}})"
        "\n");
  }
  CliResult Run(std::vector<std::string> arguments, const std::string& cache = "kernels.db") {
    arguments.insert(arguments.begin(), {"--cache", sandbox_.Path(cache)});
    return sandbox_.Run(arguments);
  }
  CliResult Warm(const std::string& cache = "kernels.db") {
    return Run({"warm", "--arch", "sm_90a", "--shapes", shapes_, "--json"}, cache);
  }

  CliSandbox sandbox_;
  std::string shapes_;
};

// Coverage names what is missing before, and nothing after; warming again compiles nothing.
TEST_F(WarmTest, WarmFillsWhatCoverageFindsMissing) {
  ASSERT_EQ(Run({"warm", "--arch", "sm_90a", "--shapes", shapes_, "--op", "AddFwdOp"}).code, 0);
  const CliResult before = Run({"coverage", "--arch", "sm_90a", "--shapes", shapes_});
  EXPECT_EQ(before.code, 1);
  EXPECT_THAT(before.out, HasSubstr("MISSING"));
  EXPECT_THAT(before.out, HasSubstr("shapes.jsonl:2"));

  const CliResult first = Warm();
  ASSERT_EQ(first.code, 0) << first.out << first.err;
  const json warmed = json::parse(first.out);
  EXPECT_GT(warmed["compiled"].get<int>(), 0);
  EXPECT_GT(warmed["cached"].get<int>(), 0);
  EXPECT_EQ(warmed["compiled"].get<int>() + warmed["cached"].get<int>(), warmed["kernels"]);
  EXPECT_EQ(json::parse(Warm().out)["compiled"], 0);

  const CliResult after = Run({"coverage", "--arch", "sm_90a", "--shapes", shapes_, "--json"});
  EXPECT_EQ(after.code, 0) << after.out;
  const json kernels = json::parse(after.out);
  ASSERT_EQ(kernels.size(), warmed["kernels"].get<size_t>());
  for (const json& kernel : kernels) EXPECT_TRUE(kernel["cached"]);
}

TEST_F(WarmTest, InspectAndExplainShowWhatIsThere) {
  ASSERT_EQ(Warm().code, 0);
  const CliResult inspect = Run({"inspect", "--op", "AddFwdOp", "--json"});
  ASSERT_EQ(inspect.code, 0) << inspect.err;
  const json rows = json::parse(inspect.out);
  ASSERT_FALSE(rows["kernels"].empty());
  for (const json& kernel : rows["kernels"]) {
    EXPECT_EQ(kernel["op"], "AddFwdOp");
    EXPECT_EQ(kernel["arch"], "sm_90a");
    EXPECT_GT(kernel["registers"].get<int>(), 0);
  }
  EXPECT_TRUE(rows["winners"].empty());

  const CliResult explain = Run({"explain", "AddFwdOp", "input=64x128", "other=128", "--dtype",
                                 "float32", "--arch", "sm_90a", "--json"});
  ASSERT_EQ(explain.code, 0) << explain.err;
  const json explained = json::parse(explain.out);
  EXPECT_EQ(explained["quality"], "default");
  ASSERT_FALSE(explained["kernels"].empty());
  for (const json& kernel : explained["kernels"]) EXPECT_TRUE(kernel["in_cache"]);
}

TEST_F(WarmTest, CachesTravel) {
  ASSERT_EQ(Warm().code, 0);
  const std::string exported = sandbox_.Path("export.db");
  ASSERT_EQ(Run({"cache", "export", exported}).code, 0);
  EXPECT_EQ(Run({"cache", "diff", exported}).code, 0);

  ASSERT_EQ(
      Run({"warm", "--arch", "sm_80", "--shapes", shapes_, "--op", "AddFwdOp"}, "other.db").code,
      0);
  const CliResult different = Run({"cache", "diff", exported}, "other.db");
  EXPECT_EQ(different.code, 1);
  EXPECT_THAT(different.out, HasSubstr("< "));
  EXPECT_THAT(different.out, HasSubstr("> "));

  const json imported = json::parse(Run({"cache", "import", exported, "--json"}, "other.db").out);
  EXPECT_GT(imported[0]["kernels_added"].get<int>(), 0);
  ASSERT_EQ(sandbox_
                .Run({"cache", "merge", sandbox_.Path("other.db"), exported, "--output",
                      sandbox_.Path("merged.db")})
                .code,
            0);
  EXPECT_EQ(Run({"cache", "diff", sandbox_.Path("other.db")}, "merged.db").code, 0);

  EXPECT_EQ(Run({"cache", "check"}, "merged.db").code, 0);
  const json stats = json::parse(Run({"cache", "stats", "--json"}, "merged.db").out);
  EXPECT_GT(stats["kernels"].get<int>(), 0);
  const json gc = json::parse(Run({"cache", "gc", "--max-bytes", "0", "--json"}, "merged.db").out);
  EXPECT_EQ(gc["kernels_deleted"], stats["kernels"]);
}

// Guards: a cache that another process repairs for longer than a call waits is waited for, before
// and after the compiles, and so keeps what was compiled.
TEST_F(WarmTest, LongRepairsAreWaitedFor) {
  ASSERT_EQ(Run({"warm", "--arch", "sm_90a", "--shapes", shapes_, "--op", "AddFwdOp"}).code, 0);
  auto lock = ByteLock::Open(LockPath(sandbox_.Path("kernels.db")));
  ASSERT_TRUE(lock.ok() && lock->TryLock(kOpenLockOffset).value());
  std::thread later([lock = *std::move(lock)]() mutable {
    std::this_thread::sleep_for(std::chrono::seconds(11));
    lock = ByteLock();
  });
  const CliResult warm = Warm();
  later.join();
  EXPECT_EQ(warm.code, 0) << warm.err;
  EXPECT_THAT(warm.err, HasSubstr("waiting up to 300 s"));
  EXPECT_GT(json::parse(warm.out)["cached"].get<int>(), 0) << "of what the file has";
  EXPECT_EQ(Run({"coverage", "--arch", "sm_90a", "--shapes", shapes_}).code, 0);
}

}  // namespace
}  // namespace tilewright
