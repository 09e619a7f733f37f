// What tuning a problem keeps in the cache, and what it takes from there.
#include "runtime/tuning.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <mutex>
#include <set>
#include <sstream>

#include "manifest/op_spec.h"
#include "tests/autotune/simulated_evaluator.h"

namespace tilewright {
namespace {

using testing::HasSubstr;

// Answers no compile: nothing here may need one.
class NoCompiler : public Compiler {
 public:
  absl::StatusOr<CompiledKernel> Compile(const CompileRequest&) override {
    return absl::FailedPreconditionError("no compiler here");
  }
  absl::StatusOr<std::string> Version() override {
    return absl::FailedPreconditionError("no compiler here");
  }
};

class TuningTest : public testing::Test {
 protected:
  void SetUp() override {
    auto cache = Cache::Open({});
    ASSERT_TRUE(cache.ok()) << cache.status();
    cache_ = *std::move(cache);
    device_ = BuiltinDeviceProfile("h200").value();
    for (const OpSpec& op : Manifest::BuiltinOps()) {
      if (op.name == "RMSNormFwdOp") op_ = &op;
    }
    ASSERT_NE(op_, nullptr);
    recipe_ = MakeBuiltinRecipe("RMSNormFwdOp");
    ASSERT_NE(recipe_, nullptr);
    auto call = WorkloadCall(*op_, op_->workloads.front(), op_->workloads.front().dtypes.front());
    ASSERT_TRUE(call.ok()) << call.status();
    call_ = *std::move(call);
    UseTemplates(TemplateSet::Builtin());
  }
  void UseTemplates(TemplateSet templates) {
    kernels_ = std::make_unique<KernelStore>(std::move(templates), cache_.get(),
                                             std::make_shared<NoCompiler>());
  }
  // A made-up machine, on which the text of a config decides.
  static double TrueUs(const Config& config) {
    return 10 + static_cast<double>(std::hash<std::string>()(config.ToJson()) % 1000) / 10;
  }
  // One of several processes on a cache file, whose clock is its own; the first dies in its search.
  // Writes what it runs.
  int RunRank(const std::string& path, int rank, int results) {
    CacheOptions on_file;
    on_file.path = path;
    auto cache = Cache::Open(on_file);
    if (!cache.ok()) return 1;
    cache_ = *std::move(cache);
    UseTemplates(TemplateSet::Builtin());
    TuningOptions options;
    options.make_evaluator = [rank, results] {
      auto evaluator = std::make_unique<SimulatedEvaluator>(
          [](const Config& c) { return 10 + (TrueUs(c) - 10) / 1e5; },
          static_cast<uint64_t>(rank) + 77, /*noise=*/0.05);
      evaluator->after_measure = [rank, results] {
        if (rank > 0) return;
        if (write(results, "\n", 1) != 1) _exit(4);  // it is searching: the others may come
        usleep(100000);
        raise(SIGKILL);
      };
      return evaluator;
    };
    options.search.final_repeats = 5;
    options.search.final_us = 1e4;
    const auto report = TuneProblem(call_, *recipe_, device_, *kernels_, *cache_, options);
    if (!report.ok()) return 2;
    const std::string line =
        (report->was_tuned ? "took " : "searched ") + report->winner.config_json + "\n";
    return write(results, line.data(), line.size()) == static_cast<ssize_t>(line.size()) ? 0 : 3;
  }
  absl::StatusOr<TuningReport> TuneIt(TuningOptions options = {}) {
    options.make_evaluator = [this] {
      auto evaluator = std::make_unique<SimulatedEvaluator>(TrueUs, ++seed_);
      evaluator->after_measure = [this] { ++measures_; };
      return evaluator;
    };
    return TuneProblem(call_, *recipe_, device_, *kernels_, *cache_, options);
  }

  std::unique_ptr<Cache> cache_;
  DeviceProfile device_;
  const OpSpec* op_ = nullptr;
  std::unique_ptr<Recipe> recipe_;
  CallDesc call_;
  std::unique_ptr<KernelStore> kernels_;
  uint64_t seed_ = 0;
  int measures_ = 0;
};

// Guards what `best` and `trials` show: a full winner row and every candidate.
TEST_F(TuningTest, WinnerAndTrialsAreKept) {
  const auto report = TuneIt();
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_TRUE(report->complete);
  EXPECT_GT(report->legal, 1);
  EXPECT_EQ(report->measured, static_cast<int>(report->trials.size()));
  const ProblemKey problem = MakeProblemKey(call_, *recipe_, device_);
  const auto row = cache_->FindWinner(problem.digest);
  ASSERT_TRUE(row.has_value());
  EXPECT_EQ(row->config_json, report->winner.config_json);
  EXPECT_EQ(row->device, device_.Key());
  EXPECT_EQ(row->problem_json, problem.problem_json);
  EXPECT_GT(row->median_us, 0);
  EXPECT_EQ(row->kernel_keys.size() % 33, 32u);
  EXPECT_EQ(row->trials, report->measured);
  EXPECT_GT(row->tuned_unix, 1'700'000'000);
  EXPECT_EQ(cache_->Trials(problem.digest).size(), report->trials.size());
  double best = 1e30;
  for (const Trial& trial : report->trials) best = std::min(best, TrueUs(trial.config));
  EXPECT_LE(TrueUs(Config::FromJson(row->config_json).value()), best * 1.02);
}

// A calibrated rate of products is one kernel's: reaching it must not end the search, as it did for
// large matrix products, of which only the default was measured.
TEST_F(TuningTest, ReachingTheProductRateEndsNoSearch) {
  op_ = Manifest::FindBuiltin("GemmFwdOp");
  ASSERT_NE(op_, nullptr);
  recipe_ = MakeBuiltinRecipe("GemmFwdOp");
  for (const Workload& workload : op_->workloads) {
    if (workload.label != "ds-v3-prefill-attn-proj") continue;
    call_ = WorkloadCall(*op_, workload, workload.dtypes.front()).value();
  }
  ASSERT_EQ(call_.op, op_);
  device_.tensor_tflops_16bit = 2000;  // 120 us: any time here is shorter
  device_.bandwidth_gbps = 1e9;        // and none as short as the traffic
  const auto report = TuneIt();
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_GT(report->measured, 8) << "of " << report->legal;
}

// Guards that a tuned problem costs nothing again, and `afresh` measures it anew.
TEST_F(TuningTest, TunedProblemIsNotMeasuredAgain) {
  ASSERT_TRUE(TuneIt().ok());
  measures_ = 0;
  const auto again = TuneIt();
  ASSERT_TRUE(again.ok());
  EXPECT_TRUE(again->was_tuned);
  EXPECT_EQ(measures_, 0);
  EXPECT_EQ(again->measured, 0);
  TuningOptions options;
  options.afresh = true;
  EXPECT_GT(TuneIt(options)->measured, 0);
}

// Guards against trusting times of other templates: after an edit the old winner is tried first,
// and everything is measured with the new text.
TEST_F(TuningTest, TemplateEditMakesTheWinnerAHint) {
  const auto before = TuneIt();
  ASSERT_TRUE(before.ok());
  TemplateSet edited = TemplateSet::Builtin();
  for (const Variant* variant : recipe_->variants()) {
    if (!variant->Serves(call_, device_).ok()) continue;
    const Config config = variant->Default(call_, device_);
    for (const KernelSpec& spec : variant->Kernels(call_, config)) {
      edited.Add(spec.template_file, *edited.Find(spec.template_file) + "// edited\n");
    }
  }
  UseTemplates(std::move(edited));
  std::vector<std::string> lines;
  TuningOptions options;
  options.search.exhaustive_below = 0;
  options.search.progress = [&](std::string_view line) { lines.emplace_back(line); };
  const auto after = TuneIt(options);
  ASSERT_TRUE(after.ok()) << after.status();
  EXPECT_FALSE(after->was_tuned);
  EXPECT_GT(after->measured, 0);
  EXPECT_NE(after->winner.closure_digest, before->winner.closure_digest);
  ASSERT_FALSE(lines.empty());
  EXPECT_THAT(lines.front(), HasSubstr(before->winner.config_json));
}

// Guards Ctrl-C: trials stay, no half-found winner is published, the next run goes on.
TEST_F(TuningTest, CancelledSearchKeepsTrialsOnly) {
  std::atomic<bool> cancelled = false;
  TuningOptions options;
  options.search.cancelled = &cancelled;
  options.search.progress = [&](std::string_view) { cancelled = true; };
  const auto report = TuneIt(options);
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_FALSE(report->complete);
  const ProblemKey problem = MakeProblemKey(call_, *recipe_, device_);
  EXPECT_FALSE(cache_->FindWinner(problem.digest).has_value());
  const size_t kept = cache_->Trials(problem.digest).size();
  EXPECT_GT(kept, 0u);
  cancelled = false;
  options.search.progress = nullptr;
  ASSERT_TRUE(TuneIt(options)->complete);
  EXPECT_TRUE(cache_->FindWinner(problem.digest).has_value());
}

// Guards that processes which share a cache run one winner: one searches, the others wait and take
// what it found, however their own clocks would have chosen. One that dies in its search is
// replaced.
TEST_F(TuningTest, RanksRunOneWinner) {
  char folder[] = "/tmp/tilewright-ranks-XXXXXX";
  ASSERT_NE(mkdtemp(folder), nullptr);
  const std::string path = std::string(folder) + "/kernels.db";
  constexpr int kRanks = 6;
  int results[2];
  ASSERT_EQ(pipe(results), 0);
  std::vector<pid_t> ranks;
  for (int rank = 0; rank < kRanks; ++rank) {
    const pid_t child = fork();
    if (child == 0) _exit(RunRank(path, rank, results[1]));
    ranks.push_back(child);
    char searching = 0;
    if (rank == 0) {
      ASSERT_EQ(read(results[0], &searching, 1), 1);
    }
  }
  close(results[1]);
  int killed = 0;
  for (const pid_t rank : ranks) {
    int status = 0;
    ASSERT_EQ(waitpid(rank, &status, 0), rank);
    killed += WIFSIGNALED(status);
    EXPECT_TRUE(WIFSIGNALED(status) || WEXITSTATUS(status) == 0) << WEXITSTATUS(status);
  }
  std::string text;
  char chunk[4096];
  for (ssize_t got = 0; (got = read(results[0], chunk, sizeof(chunk))) > 0;) {
    text.append(chunk, static_cast<size_t>(got));
  }
  close(results[0]);
  std::istringstream lines(text);
  std::set<std::string> configs;
  int searched = 0;
  int told = 0;
  for (std::string how, config; lines >> how >> config; ++told) {
    searched += how == "searched";
    configs.insert(config);
  }
  EXPECT_EQ(killed, 1);
  EXPECT_EQ(told, kRanks - 1);
  EXPECT_EQ(searched, 1);
  EXPECT_EQ(configs.size(), 1u) << text;
  std::filesystem::remove_all(folder);
}

// Guards calls from a process on the same cache that has stopped in its search: they are told of
// it, wait for a bounded time, and keep no other problem from being measured meanwhile.
TEST_F(TuningTest, StoppedTunerIsNotWaitedForLong) {
  const std::string path = testing::TempDir() + "/tuning_turn-" + std::to_string(getpid()) + ".db";
  CacheOptions on_file;
  on_file.path = path;
  cache_ = Cache::Open(on_file).value();
  UseTemplates(TemplateSet::Builtin());
  const auto other = Cache::Open(on_file).value();
  const ProblemKey problem = MakeProblemKey(call_, *recipe_, device_);
  auto held = other->LockCompile("tune " + problem.digest, std::chrono::seconds(1));
  ASSERT_TRUE(held.ok() && *held != nullptr);
  std::mutex measuring;
  TuningOptions options;
  options.turn_timeout = std::chrono::milliseconds(2500);
  options.must_have_turn = true;
  options.measuring = &measuring;
  std::vector<std::string> notices;
  options.notice = [&](std::string_view text) {
    notices.emplace_back(text);
    EXPECT_TRUE(measuring.try_lock());
    measuring.unlock();
  };
  EXPECT_EQ(TuneIt(options).status().code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_THAT(notices, testing::ElementsAre(HasSubstr("waits for another process")));
  EXPECT_EQ(measures_, 0);
  held->reset();
  const auto report = TuneIt(options);
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_TRUE(report->complete);
  kernels_.reset();
  cache_.reset();
  for (const char* end : {"", "-wal", "-shm", ".lock"}) std::filesystem::remove(path + end);
}

// Guards the advice that a missing worker comes with.
TEST_F(TuningTest, MissingWorkerIsNamed) {
  TuningOptions options;
  options.evaluator.worker.program = "/nonexistent/worker";
  const auto report = TuneProblem(call_, *recipe_, device_, *kernels_, *cache_, options);
  EXPECT_EQ(report.status().code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(report.status().message()), HasSubstr("/nonexistent/worker"));
}

// Guards the promise to every operator that tuning never makes a call slower than it is untuned: on
// the made-up machine, the default is measured with the last and replaced only by what is faster.
TEST_F(TuningTest, NoOperatorGetsSlower) {
  int replaced = 0;
  for (const OpSpec& op : Manifest::BuiltinOps()) {
    recipe_ = MakeBuiltinRecipe(op.name);
    if (recipe_ == nullptr) continue;
    call_ = WorkloadCall(op, op.workloads.front(), op.workloads.front().dtypes.front()).value();
    const auto report = TuneIt();
    ASSERT_TRUE(report.ok()) << op.name << ": " << report.status();
    const Config untuned = SelectVariant(*recipe_, call_, device_).value()->Default(call_, device_);
    const Config winner = Config::FromJson(report->winner.config_json).value();
    EXPECT_LE(TrueUs(winner), TrueUs(untuned)) << op.name << " " << report->winner.config_json;
    EXPECT_TRUE(std::any_of(report->trials.begin(), report->trials.end(), [&](const Trial& trial) {
      return trial.config == untuned && trial.sample_count >= TuneOptions().final_repeats;
    })) << op.name;
    replaced += winner == untuned ? 0 : 1;
  }
  EXPECT_GE(replaced, 60);
}

// Guards that every candidate is legal and its time modelled.
TEST_F(TuningTest, CandidatesAreLegalAndModelled) {
  const auto candidates = TuningCandidates(*recipe_, call_, device_);
  ASSERT_FALSE(candidates.empty());
  for (const Candidate& candidate : candidates) {
    const Variant* variant = FindVariant(*recipe_, candidate.config.variant);
    ASSERT_NE(variant, nullptr);
    EXPECT_TRUE(variant->Legal(call_, candidate.config, device_).ok());
    EXPECT_GT(candidate.predicted_us, 0);
  }
}

}  // namespace
}  // namespace tilewright
