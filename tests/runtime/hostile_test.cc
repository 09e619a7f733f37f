// Tuning a space whose candidates misbehave in every way, through a worker process whose driver
// runs them on the host.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <map>
#include <string>

#include "runtime/tuning.h"
#include "tests/runtime/hostile_op.h"
#include "tests/runtime/runtime_fixture.h"

namespace tilewright {
namespace {

using ::testing::HasSubstr;

// Refuses one kind, and says of another that it spills.
class HostileCompiler : public FakeCompiler {
 public:
  absl::StatusOr<CompiledKernel> Compile(const CompileRequest& request) override {
    if (Is(request, HostileKind::kNoCompile)) return absl::InternalError("expected a ';'");
    auto kernel = FakeCompiler::Compile(request);
    if (kernel.ok() && Is(request, HostileKind::kSpills)) kernel->spill_bytes = 64;
    return kernel;
  }

 private:
  static bool Is(const CompileRequest& request, HostileKind kind) {
    return request.source.find("kKind = " + std::to_string(static_cast<int64_t>(kind)) + ";") !=
           std::string::npos;
  }
};

class HostileTest : public RuntimeFixture {
 protected:
  void SetUp() override { OpenHostile(); }
  void OpenHostile() {
    RuntimeOptions options = Options();
    options.compiler = std::make_shared<HostileCompiler>();
    Open(options);
    ASSERT_TRUE(runtime_->Register(HostileOp()).ok());
    MakeCurrent();
    Operand x;
    x.desc = TensorDesc::Contiguous(DType::kFloat32, {8, 64});
    call_ = InferCall(*runtime_->Spec("HostileTestOp"), {&x, 1}, {}).value();
  }
  absl::StatusOr<TuningReport> Tune(
      std::chrono::milliseconds run_timeout = std::chrono::milliseconds(2000)) {
    TuningOptions options;
    options.evaluator.worker.program = TILEWRIGHT_EMULATED_WORKER;
    options.evaluator.worker.run_timeout = run_timeout;
    return TuneProblem(call_, *runtime_->FindRecipe("HostileTestOp"), runtime_->Device(0).value(),
                       runtime_->kernels(), runtime_->cache(), std::move(options));
  }
  CallDesc call_;
};

struct Verdict {
  TrialStatus status;
  std::string error;
};

// Guards: each is recorded for what it is, with a reason; none wins, though each claims the best
// time; the search ends in time, and the process serves the one that is right and fast.
TEST_F(HostileTest, EachIsRecordedAndNoneWins) {
  const std::map<HostileKind, Verdict> expected = {
      {HostileKind::kDefault, {TrialStatus::kOk, ""}},
      {HostileKind::kNoCompile, {TrialStatus::kFailed, "expected a ';'"}},
      {HostileKind::kSpills, {TrialStatus::kFailed, "spills 64 bytes"}},
      {HostileKind::kWrong, {TrialStatus::kWrong, "1 of 512 elements differ"}},
      {HostileKind::kHalfWritten, {TrialStatus::kWrong, "256 of 512 elements differ"}},
      {HostileKind::kOutOfBounds, {TrialStatus::kWrong, "written out of bounds"}},
      {HostileKind::kEndless, {TrialStatus::kTimeout, "no answer in 2000 ms"}},
      {HostileKind::kTooMuchShared, {TrialStatus::kFailed, "Launch"}},
      {HostileKind::kCrashes, {TrialStatus::kFailed, "signal 9"}},
      {HostileKind::kRight, {TrialStatus::kOk, ""}}};
  ASSERT_EQ(expected.size(), static_cast<size_t>(kHostileKinds));
  const auto start = std::chrono::steady_clock::now();
  const auto report = Tune();
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(60));
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_TRUE(report->complete);
  EXPECT_EQ(report->winner.config_json, R"({"variant":"hostile","kind":9})");
  EXPECT_NEAR(report->winner.median_us, 5, 1e-9);
  const std::vector<TrialRow> trials = runtime_->cache().Trials(report->winner.key);
  EXPECT_EQ(trials.size(), expected.size());
  for (const TrialRow& trial : trials) {
    const auto kind = Config::FromJson(trial.config_json)->Get("kind");
    const Verdict& verdict = expected.at(static_cast<HostileKind>(kind));
    EXPECT_EQ(trial.status, verdict.status) << trial.config_json << trial.error;
    EXPECT_THAT(trial.error, HasSubstr(verdict.error)) << trial.config_json;
    if (trial.status == TrialStatus::kOk) {
      EXPECT_GT(trial.samples, 0);
    }
    if (trial.status != TrialStatus::kOk) {
      EXPECT_EQ(trial.samples, 0) << trial.config_json;
    }
  }
  const Explanation explained = runtime_->Explain(call_, runtime_->Device(0).value()).value();
  EXPECT_EQ(explained.quality, Quality::kWinner);
  EXPECT_EQ(explained.config.Get("kind"), static_cast<int64_t>(HostileKind::kRight));
  const Tensor x = X(8, 64);
  const Tensor y = Y(8, 64);
  EXPECT_TRUE(runtime_->Call("HostileTestOp", {&x, 1}, {&y, 1}).ok());
}

// Guards: what was found out once is not tried again; nothing hangs or dies a second time.
TEST_F(HostileTest, VerdictsAreRemembered) {
  ASSERT_TRUE(Tune().ok());
  WinnerRow old = runtime_->cache().AllWinners().at(0);
  old.space_digest = "of another space";  // so that the search is done again
  ASSERT_TRUE(runtime_->cache().PutWinner(old).ok());
  const auto report = Tune();
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->measured, 0);  // nor admitted: no trial is new
  EXPECT_EQ(report->winner.config_json, R"({"variant":"hostile","kind":9})");
}

// The first child of `parent`; 0 for none.
pid_t ChildOf(pid_t parent) {
  const std::string task = std::to_string(parent);
  pid_t child = 0;
  std::ifstream("/proc/" + task + "/task/" + task + "/children") >> child;
  return child;
}

// Guards the GPU against a candidate without end whose tuner is killed: the worker goes with it.
TEST_F(HostileTest, WorkerEndsWithItsTuner) {
  if (!std::ifstream("/proc/self/task/" + std::to_string(getpid()) + "/children")) {
    GTEST_SKIP() << "this kernel lists no children";
  }
  const pid_t tuner = fork();
  if (tuner == 0) {
    OpenHostile();
    _exit(Tune(std::chrono::minutes(5)).ok() ? 0 : 1);
  }
  // Every candidate but the endless one takes less than the wait.
  pid_t worker = 0;
  for (int same = 0; same < 40;) {
    usleep(50000);
    const pid_t now = ChildOf(tuner);
    same = now != 0 && now == worker ? same + 1 : 0;
    worker = now;
    ASSERT_EQ(waitpid(tuner, nullptr, WNOHANG), 0) << "it ended";
  }
  kill(tuner, SIGKILL);
  ASSERT_EQ(waitpid(tuner, nullptr, 0), tuner);
  const auto is_running = [worker] {
    std::ifstream stat("/proc/" + std::to_string(worker) + "/stat");
    std::string pid;
    std::string name;
    std::string state;
    stat >> pid >> name >> state;
    return !state.empty() && state != "Z" && state != "X";
  };
  for (int i = 0; i < 200 && is_running(); ++i) usleep(50000);
  EXPECT_FALSE(is_running());
  kill(worker, SIGKILL);
}

}  // namespace
}  // namespace tilewright
