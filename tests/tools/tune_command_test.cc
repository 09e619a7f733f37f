// `tilewright tune` over a fake driver, a fake compiler and a fake worker.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/runtime/fake_compiler.h"
#include "tests/runtime/fake_driver.h"
#include "tools/cli.h"

namespace tilewright {
namespace {

using testing::HasSubstr;

class TuneCommandTest : public testing::Test {
 protected:
  void SetUp() override {
    char folder[] = "/tmp/tilewright-tune_command-XXXXXX";
    ASSERT_NE(mkdtemp(folder), nullptr);
    folder_ = folder;
    std::ofstream(folder_ + "/shapes.jsonl")
        << R"({"op": "ReluFwdOp", "inputs": {"input": [8, 64]}, "dtype": "bfloat16"})"
        << "\n";
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  // A worker that first does `first`, a line of shell.
  std::string Worker(const std::string& first, const std::string& mode) {
    std::string path = folder_ + "/worker";
    std::ofstream(path) << "#!/bin/sh\n"
                        << first << "\nexec sh " TILEWRIGHT_SOURCE_DIR
                        << "/tests/runtime/fake_worker.sh " << mode << " " << folder_ << "/log\n";
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
    return path;
  }
  // Its exit code; what it printed is in out_.
  int Tune(const std::string& worker, std::vector<std::string> more = {}) {
    CliContext context;
    context.runtime.driver = std::make_shared<FakeDriver>();
    context.runtime.compiler = std::make_shared<FakeCompiler>();
    context.runtime.cache_path = folder_ + "/kernels.db";
    context.runtime.worker_path = worker;
    CLI::App app;
    AddTuneCommand(app, context);
    std::vector<std::string> arguments = {"tune", "--shapes", folder_ + "/shapes.jsonl"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    std::reverse(arguments.begin(), arguments.end());  // as CLI11 wants them
    app.parse(arguments);
    testing::internal::CaptureStdout();
    const int code = context.run();
    out_ = testing::internal::GetCapturedStdout();
    return code;
  }

  std::string folder_;
  std::string out_;
};

// Guards scripts that go by the exit code: 0 is a winner that is kept.
TEST_F(TuneCommandTest, KeepsAWinner) {
  ASSERT_EQ(Tune(Worker("", "''")), kDone) << out_;
  EXPECT_THAT(out_, HasSubstr(" measured of "));
  ASSERT_EQ(Tune(Worker("", "''")), kDone);
  EXPECT_THAT(out_, HasSubstr("was tuned before"));
}

// The same: where the worker is lost midway, and cannot be started again, no winner is kept, the
// code is 1, and the line says why.
TEST_F(TuneCommandTest, CutShortIsAFinding) {
  EXPECT_EQ(Tune(Worker("rm -f \"$0\" " + folder_ + "/log", "ends")), kFindings);
  EXPECT_THAT(out_, HasSubstr("cut short: no winner is kept: cannot start " + folder_ + "/worker"));
  EXPECT_EQ(Tune(Worker("rm -f \"$0\" " + folder_ + "/log", "ends"), {"--json", "--afresh"}),
            kFindings);
  const auto json = nlohmann::json::parse(out_);
  EXPECT_EQ(json.at(0).at("complete"), false);
  EXPECT_THAT(json.at(0).at("cut_short").get<std::string>(), HasSubstr("cannot start"));
}

// Guards array jobs whose variable is not set: an empty shard is no shard, rather than all of them.
TEST_F(TuneCommandTest, EmptyShardIsRefused) {
  testing::internal::CaptureStderr();
  EXPECT_EQ(Tune(Worker("", "''"), {"--shard", ""}), kMisuse);
  EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("--shard: expected i/n"));
}

}  // namespace
}  // namespace tilewright
