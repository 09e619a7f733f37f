// Tuning on first use and in the background, through the public API over fakes.
#include "runtime/tune_service.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include "tests/runtime/runtime_fixture.h"

namespace tilewright {
namespace {

using testing::Contains;
using testing::HasSubstr;

class TuneServiceTest : public RuntimeFixture {
 protected:
  RuntimeOptions TuningWith(TuningPolicy policy, const std::string& worker) {
    RuntimeOptions options = Options();
    options.tuning = policy;
    options.worker_path = worker;
    return options;
  }
  // A worker that admits and times candidates without a GPU.
  static std::string FakeWorker() { return TILEWRIGHT_SOURCE_DIR "/tests/runtime/fake_worker.sh"; }
  // The search stores its winner first and serves it a moment later.
  bool WaitUntilServed() {
    for (int i = 0; i < 1500; ++i) {
      if (ExplainScale(8).quality == Quality::kWinner) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    return false;
  }
};

// Guards `on_first_use`: the first call is served by the winner, the second does not tune.
TEST_F(TuneServiceTest, FirstUseTunes) {
  Open(TuningWith(TuningPolicy::kOnFirstUse, FakeWorker()));
  MakeCurrent();
  ASSERT_TRUE(Scale(8).ok());
  EXPECT_EQ(runtime_->Counters().tunes, 1);
  EXPECT_EQ(runtime_->cache().AllWinners().size(), 1u);
  EXPECT_EQ(ExplainScale(8).quality, Quality::kWinner);
  ASSERT_TRUE(Scale(8).ok());
  EXPECT_EQ(runtime_->Counters().tunes, 1);
}

// Guards what is explained after a problem was tuned for real: candidates compiled, checked and
// timed by a worker whose driver runs them on the host. The fastest that is right is the winner,
// from the explanation to the launch, in a second process of the same cache too.
TEST_F(TuneServiceTest, ExplanationTellsOfTheWinner) {
  char folder[] = "/tmp/tilewright-tune-XXXXXX";
  ASSERT_NE(mkdtemp(folder), nullptr);
  RuntimeOptions options = TuningWith(TuningPolicy::kOnFirstUse, TILEWRIGHT_EMULATED_WORKER);
  options.cache_path = std::string(folder) + "/kernels.db";
  Open(options);
  MakeCurrent();
  EXPECT_EQ(ExplainScale(8).quality, Quality::kDefault);
  ASSERT_TRUE(Scale(8).ok());
  EXPECT_EQ(driver_->Launches().back().shape.block[0], 256u);

  options.tuning = TuningPolicy::kNever;
  options.worker_path = "/nonexistent/worker";
  Open(options);
  const Explanation explained = ExplainScale(8);
  EXPECT_EQ(explained.quality, Quality::kWinner);
  EXPECT_EQ(explained.config.Get("threads"), 256);
  EXPECT_EQ(explained.config.Get("vector"), 4);
  EXPECT_EQ(explained.neighbour_json, "");
  ASSERT_EQ(explained.kernels.size(), 1u);
  EXPECT_TRUE(explained.kernels[0].in_cache);
  const std::vector<WinnerRow> winners = runtime_->cache().AllWinners();
  ASSERT_EQ(winners.size(), 1u);
  EXPECT_EQ(winners[0].key, explained.problem_key);
  EXPECT_NEAR(winners[0].median_us, 3.8, 1e-9);
  int wrong = 0;
  for (const TrialRow& trial : runtime_->cache().Trials(winners[0].key)) {
    if (trial.status == TrialStatus::kOk) continue;
    EXPECT_EQ(trial.status, TrialStatus::kWrong);
    EXPECT_EQ(trial.config_json, R"({"variant":"scale","threads":64,"vector":4})");
    EXPECT_THAT(trial.error, HasSubstr("1 of 512 elements differ"));
    ++wrong;
  }
  EXPECT_EQ(wrong, 1);
  ASSERT_TRUE(Scale(8).ok());
  EXPECT_EQ(driver_->Launches().back().shape.block[0], 256u);
  runtime_.reset();
  std::filesystem::remove_all(folder);
}

// Guards the promise that a machine that cannot tune serves the default, saying why once.
TEST_F(TuneServiceTest, WithoutAWorkerTheDefaultIsServed) {
  Open(TuningWith(TuningPolicy::kOnFirstUse, "/nonexistent/worker"));
  MakeCurrent();
  ASSERT_TRUE(Scale(8).ok());
  EXPECT_EQ(runtime_->Counters().tunes, 0);
  EXPECT_EQ(ExplainScale(8).quality, Quality::kDefault);
  EXPECT_THAT(Log(), Contains(HasSubstr("/nonexistent/worker")));
}

// Guards `background`: the call is served at once by the default, later calls by the winner.
TEST_F(TuneServiceTest, BackgroundTunesBehindTheCalls) {
  Open(TuningWith(TuningPolicy::kBackground, FakeWorker()));
  MakeCurrent();
  ASSERT_TRUE(Scale(8).ok());
  ASSERT_TRUE(WaitUntilServed());
  EXPECT_EQ(runtime_->cache().AllWinners().size(), 1u);
  ASSERT_TRUE(Scale(8).ok());
}

// Guards programs that fork after use: the child, in which the thread that tunes is not, drops the
// runtime and ends.
TEST_F(TuneServiceTest, ForkedChildDropsTheRuntime) {
  Open(TuningWith(TuningPolicy::kBackground, FakeWorker()));
  MakeCurrent();
  ASSERT_TRUE(Scale(8).ok());
  ASSERT_TRUE(WaitUntilServed());  // the thread waits for the next problem
  const pid_t child = fork();
  if (child == 0) {
    (void)alarm(20);
    runtime_.reset();
    _exit(0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status);
  EXPECT_TRUE(Scale(8).ok());
}

// Guards the problems that come after one that could not be opened: they are tuned. A worker that
// never opens any is given up, which is said once.
TEST_F(TuneServiceTest, OneProblemsFailureIsItsOwn) {
  const std::string folder = testing::TempDir() + "/tune_service-" + std::to_string(getpid());
  std::filesystem::create_directories(folder);
  const std::string worker = folder + "/worker";
  const auto write_worker = [&](const std::string& first) {
    std::ofstream(worker) << "#!/bin/sh\n" << first << "exec sh " << FakeWorker() << "\n";
    std::filesystem::permissions(worker, std::filesystem::perms::owner_all);
  };
  const std::string refuse =
      "read -r line; echo '{\"reply\":\"failed\",\"id\":-1,"
      "\"error\":\"too large\"}'; exit 0\n";
  write_worker("[ -e " + folder + "/seen ] || { touch " + folder + "/seen; " + refuse + " }\n");
  Open(TuningWith(TuningPolicy::kOnFirstUse, worker));
  MakeCurrent();
  ASSERT_TRUE(Scale(8).ok());
  EXPECT_EQ(runtime_->Counters().tunes, 0);
  EXPECT_THAT(Log(), Contains(HasSubstr("too large")));
  ASSERT_TRUE(Scale(1 << 8).ok());
  EXPECT_EQ(runtime_->Counters().tunes, 1);

  write_worker(refuse);
  Open(TuningWith(TuningPolicy::kOnFirstUse, worker));
  const size_t before = Log().size();
  for (const int64_t rows : {8, 1 << 6, 1 << 8, 1 << 10}) ASSERT_TRUE(Scale(rows).ok());
  const std::vector<std::string> log = Log();
  EXPECT_EQ(std::count_if(log.begin() + static_cast<int64_t>(before), log.end(),
                          [](const std::string& line) {
                            return line.find(": not tuned: ") != std::string::npos;
                          }),
            2);
  std::filesystem::remove_all(folder);
}

// Guards shutting down in the middle of a search.
TEST_F(TuneServiceTest, ClosingCancelsTheSearch) {
  Open(TuningWith(TuningPolicy::kBackground, "/bin/cat"));  // answers with the question
  MakeCurrent();
  ASSERT_TRUE(Scale(8).ok());
  const auto start = std::chrono::steady_clock::now();
  runtime_.reset();
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));
}

}  // namespace
}  // namespace tilewright
