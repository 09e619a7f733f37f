// Process isolation: hangs, crashes and garbage cost one candidate, never the search.
#include "runtime/worker/worker_client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

namespace tilewright {
namespace {

using testing::HasSubstr;
using namespace std::chrono_literals;

class WorkerClientTest : public testing::Test {
 protected:
  void SetUp() override {
    log_ = testing::TempDir() + "/fake_worker_" + std::to_string(getpid()) + ".log";
    std::filesystem::remove(log_);
  }
  void TearDown() override { std::filesystem::remove(log_); }

  WorkerClientOptions Options(const std::string& mode = "good") {
    WorkerClientOptions options;
    options.program = TILEWRIGHT_SOURCE_DIR "/tests/runtime/fake_worker.sh";
    options.args = {mode, log_};
    options.run_timeout = 400ms;
    options.open_timeout = 2000ms;
    return options;
  }
  static std::vector<std::pair<int, WirePlan>> Plans(std::vector<int> ids) {
    std::vector<std::pair<int, WirePlan>> plans;
    for (int id : ids) plans.emplace_back(id, WirePlan{});
    return plans;
  }
  std::string Log() {
    std::ostringstream text;
    text << std::ifstream(log_).rdbuf();
    return text.str();
  }

  std::string log_;
};

// Guards that each way to fail is recorded as what it is, once the next worker is lost to it too,
// and the others still are admitted.
TEST_F(WorkerClientTest, EveryFailureIsTheCandidatesOwn) {
  WorkerClient client(Options());
  ASSERT_TRUE(client.Open({}, {}).ok()) << client.status();
  EXPECT_EQ(client.method(), "cupti");
  const auto plans = Plans({0, 2, 1, 3, 8, 30, 9, 5, 10});
  const auto results = client.Admit(plans);
  const std::vector<CandidateStatus> expected = {
      CandidateStatus::kOk,     CandidateStatus::kTimeout, CandidateStatus::kOk,
      CandidateStatus::kFailed, CandidateStatus::kOk,      CandidateStatus::kPruned,
      CandidateStatus::kOk,     CandidateStatus::kWrong,   CandidateStatus::kOk};
  ASSERT_EQ(results.size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(results[i].status, expected[i]) << plans[i].first << ": " << results[i].error;
  }
  EXPECT_THAT(results[1].error, HasSubstr("no answer in 400 ms"));
  EXPECT_THAT(results[3].error, HasSubstr("signal 9"));
  EXPECT_THAT(results[5].error, HasSubstr("Segmentation fault, but politely"));
  EXPECT_EQ(results[7].error, "7 of 8 elements differ");
  EXPECT_EQ(client.restarts(), 6);
}

// Guards against blaming a candidate for what befell the worker from outside, such as a signal of
// the system where memory ran out: what happens once is no verdict, and nothing is left out for it.
TEST_F(WorkerClientTest, OneLossIsNoVerdict) {
  WorkerClient client(Options());
  ASSERT_TRUE(client.Open({}, {}).ok()) << client.status();
  for (const Measurement& m : client.Admit(Plans({1, 31, 32, 33}))) {
    EXPECT_EQ(m.status, CandidateStatus::kOk) << m.error;
  }
  EXPECT_EQ(client.restarts(), 2);
  const std::vector<int> ids = {1, 31, 33};
  const auto results = client.Measure(ids, 2);
  ASSERT_EQ(results.size(), 3u);
  for (size_t i = 0; i < ids.size(); ++i) {
    EXPECT_EQ(results[i].status, CandidateStatus::kOk) << results[i].error;
    EXPECT_THAT(results[i].samples_us, testing::ElementsAre(ids[i] + 0.5, ids[i] + 0.5));
  }
  EXPECT_EQ(client.restarts(), 3);
}

// Guards the bound on what is read of a worker, in time and in bytes: one that talks without end,
// in lines or in none, is as one that says nothing.
TEST_F(WorkerClientTest, EndlessTalkIsNoAnswer) {
  WorkerClient client(Options());
  ASSERT_TRUE(client.Open({}, {}).ok()) << client.status();
  const auto start = std::chrono::steady_clock::now();
  const auto results = client.Admit(Plans({34, 35, 36, 42}));
  EXPECT_EQ(results[0].status, CandidateStatus::kTimeout);
  EXPECT_EQ(results[0].error, "no answer in 400 ms");
  EXPECT_THAT(results[1].error, testing::AnyOf("no answer in 400 ms",
                                               HasSubstr("a line of more than 16777216 bytes")));
  EXPECT_EQ(results[2].status, CandidateStatus::kTimeout);
  EXPECT_EQ(results[3].status, CandidateStatus::kOk);
  const std::vector<int> ids = {42};
  EXPECT_EQ(client.Measure(ids, 2)[0].error, "no answer in 400 ms");
  EXPECT_LT(std::chrono::steady_clock::now() - start, 30s);
}

// Guards that answers which are none, and what the machine lacks, are said to be that: no candidate
// is judged by them.
TEST_F(WorkerClientTest, FaultsOfTheWorkerAreNoVerdicts) {
  WorkerClient client(Options());
  ASSERT_TRUE(client.Open({}, {}).ok()) << client.status();
  const auto results = client.Admit(Plans({37, 38, 39, 1, 40, 41}));
  EXPECT_EQ(results[0].status, CandidateStatus::kPruned);
  EXPECT_THAT(results[0].error, HasSubstr("an answer about candidate 1037, asked about 37"));
  EXPECT_EQ(results[1].status, CandidateStatus::kPruned);
  EXPECT_EQ(results[1].error, "cuMemAlloc: out of memory");
  EXPECT_EQ(results[2].status, CandidateStatus::kWrong);
  EXPECT_LT(results[2].error.size(), 2000u);
  EXPECT_THAT(results[2].error, testing::StartsWith("a\\u00000"));
  const auto measure = [&](std::vector<int> ids) { return client.Measure(ids, 2).back(); };
  EXPECT_EQ(measure({1, 40}).status, CandidateStatus::kPruned);
  EXPECT_THAT(measure({1, 40}).error, HasSubstr("a time of -40.5 us"));
  EXPECT_EQ(measure({1, 41}).status, CandidateStatus::kPruned);
  EXPECT_THAT(measure({1, 41}).error, HasSubstr("1 times, asked for 2"));
  EXPECT_THAT(measure({1}).samples_us, testing::ElementsAre(1.5, 1.5));
}

// Guards measuring: the culprit of a crash or a hang is named, the rest measured again by a new
// worker that loads, but does not check again, what was admitted.
TEST_F(WorkerClientTest, MeasuringSurvivesCulprits) {
  WorkerClient client(Options());
  ASSERT_TRUE(client.Open({}, {}).ok());
  for (const Measurement& m : client.Admit(Plans({1, 6, 7, 8}))) {
    EXPECT_EQ(m.status, CandidateStatus::kOk) << m.error;
  }
  const std::vector<int> ids = {1, 6, 7, 8};
  const auto results = client.Measure(ids, 2);
  ASSERT_EQ(results.size(), 4u);
  EXPECT_THAT(results[0].samples_us, testing::ElementsAre(1.5, 1.5));
  EXPECT_EQ(results[1].status, CandidateStatus::kFailed);
  EXPECT_THAT(results[1].error, HasSubstr("exited with 1"));
  EXPECT_EQ(results[2].status, CandidateStatus::kTimeout);
  EXPECT_THAT(results[3].samples_us, testing::ElementsAre(8.5, 8.5));
  EXPECT_THAT(Log(), HasSubstr("measure 1,8\n"));
  EXPECT_THAT(Log(), HasSubstr("admit 8 0\n"));
}

// Guards that what cannot start is a Status that says why, so that the default is served.
TEST_F(WorkerClientTest, UnusableWorkersAreReported) {
  auto missing = Options();
  missing.program = "/nonexistent/tilewright-worker";
  EXPECT_THAT(WorkerClient(missing).Open({}, {}).message(), HasSubstr("/nonexistent/"));
  EXPECT_THAT(WorkerClient(Options("no-device")).Open({}, {}).message(),
              HasSubstr("no usable GPU"));
  EXPECT_THAT(WorkerClient(Options("dies")).Open({}, {}).message(), HasSubstr("exited with 3"));
  EXPECT_THAT(WorkerClient(Options("bad-judge")).Open({}, {}).message(), HasSubstr("judge is ill"));
  auto silent = Options("silent");
  silent.open_timeout = 300ms;
  EXPECT_THAT(WorkerClient(silent).Open({}, {}).message(), HasSubstr("no answer in 300 ms"));
}

// Guards that a machine that loses every worker does not restart for ever.
TEST_F(WorkerClientTest, RestartsAreBounded) {
  auto options = Options();
  options.max_restarts = 4;
  WorkerClient client(options);
  ASSERT_TRUE(client.Open({}, {}).ok());
  const auto results = client.Admit(Plans({3, 3, 3, 3, 1}));
  EXPECT_EQ(results[1].status, CandidateStatus::kFailed);
  EXPECT_EQ(results[2].status, CandidateStatus::kPruned);
  EXPECT_EQ(results[4].status, CandidateStatus::kPruned);
  EXPECT_THAT(client.status().message(), HasSubstr("lost 5 times"));
}

// Guards Ctrl-C: a running candidate is left within a moment, whether the worker is silent or talks
// without end, and nothing is recorded of it.
TEST_F(WorkerClientTest, CancellationIsPrompt) {
  for (const int id : {2, 34, 36}) {
    SCOPED_TRACE(id);
    std::atomic<bool> cancelled = false;
    auto options = Options();
    options.run_timeout = 60s;
    options.cancelled = &cancelled;
    WorkerClient client(options);
    ASSERT_TRUE(client.Open({}, {}).ok());
    std::thread later([&] {
      std::this_thread::sleep_for(100ms);
      cancelled = true;
    });
    const auto start = std::chrono::steady_clock::now();
    const auto results = client.Admit(Plans({id, 1}));
    later.join();
    EXPECT_LT(std::chrono::steady_clock::now() - start, 10s);
    EXPECT_EQ(results[0].status, CandidateStatus::kPruned);
    EXPECT_EQ(results[0].error, "");
    EXPECT_EQ(results[1].status, CandidateStatus::kPruned);
  }
}

// Guards that no process is left behind.
TEST_F(WorkerClientTest, ChildIsKilledWithItsClient) {
  auto child = ChildProcess::Start("/bin/sleep", {"100"});
  ASSERT_TRUE(child.ok()) << child.status();
  const pid_t pid = (*child)->pid();
  EXPECT_EQ(kill(pid, 0), 0);
  child->reset();
  EXPECT_EQ(kill(pid, 0), -1);
}

}  // namespace
}  // namespace tilewright
