// Candidates from compile to verdict, with a fake compiler and a fake worker.
#include "runtime/worker_evaluator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <new>
#include <thread>

#include "manifest/op_spec.h"
#include "runtime/scratch_folder.h"
#include "runtime/tuning.h"
#include "tests/runtime/fake_compiler.h"

namespace tilewright {
namespace {

using testing::HasSubstr;

// Compiles as FakeCompiler does, with a log and spills of choice for sources that hold `marker`.
class GatedCompiler : public FakeCompiler {
 public:
  absl::StatusOr<CompiledKernel> Compile(const CompileRequest& request) override {
    if (throws) throw std::bad_alloc();
    auto kernel = FakeCompiler::Compile(request);
    if (!kernel.ok()) return kernel;
    kernel->registers = 77;
    if (!marker.empty() && request.source.find(marker) != std::string::npos) {
      kernel->log = log;
      kernel->spill_bytes = spill_bytes;
    }
    return kernel;
  }
  std::string marker;
  std::string log;
  int64_t spill_bytes = 0;
  std::atomic<bool> throws = false;
};

class WorkerEvaluatorTest : public testing::Test {
 protected:
  void SetUp() override {
    cache_ = Cache::Open({}).value();
    kernels_ = std::make_unique<KernelStore>(TemplateSet::Builtin(), cache_.get(), compiler_);
    device_ = BuiltinDeviceProfile("h200").value();
    for (const OpSpec& op : Manifest::BuiltinOps()) {
      if (op.name == "RMSNormFwdOp") op_ = &op;
    }
    recipe_ = MakeBuiltinRecipe("RMSNormFwdOp");
    call_ =
        WorkloadCall(*op_, op_->workloads.front(), op_->workloads.front().dtypes.front()).value();
    for (const Candidate& candidate : TuningCandidates(*recipe_, call_, device_)) {
      configs_.push_back(candidate.config);
    }
    ASSERT_GE(configs_.size(), 4u);
  }
  WorkerEvaluatorOptions Options(const std::string& mode = "good") {
    WorkerEvaluatorOptions options;
    options.worker.program = TILEWRIGHT_SOURCE_DIR "/tests/runtime/fake_worker.sh";
    options.worker.args = {mode, ""};
    options.worker.run_timeout = std::chrono::milliseconds(500);
    options.jobs = 4;
    return options;
  }
  WorkerEvaluator Evaluator(WorkerEvaluatorOptions options) {
    return WorkerEvaluator(call_, *recipe_, device_, *kernels_, std::move(options));
  }

  std::shared_ptr<GatedCompiler> compiler_ = std::make_shared<GatedCompiler>();
  std::unique_ptr<Cache> cache_;
  std::unique_ptr<KernelStore> kernels_;
  DeviceProfile device_;
  const OpSpec* op_ = nullptr;
  std::unique_ptr<Recipe> recipe_;
  CallDesc call_;
  std::vector<Config> configs_;
};

// Guards the path of a good candidate: compiled, admitted, measured, its facts reported.
TEST_F(WorkerEvaluatorTest, AdmitsAndMeasures) {
  WorkerEvaluator evaluator = Evaluator(Options());
  const auto admitted = evaluator.Admit(std::span(configs_).first(2));
  ASSERT_EQ(admitted.size(), 2u);
  for (const Measurement& m : admitted) {
    EXPECT_EQ(m.status, CandidateStatus::kOk) << m.error;
    EXPECT_EQ(m.registers, 77);
  }
  const auto measured = evaluator.Measure(std::span(configs_).first(2), 2);
  EXPECT_THAT(measured[0].samples_us, testing::ElementsAre(0.5, 0.5));
  EXPECT_THAT(measured[1].samples_us, testing::ElementsAre(1.5, 1.5));
  EXPECT_TRUE(evaluator.status().ok());
  EXPECT_EQ(evaluator.method(), "cupti");
}

// Guards that a hung candidate (the fake's third) is a timeout and costs no other.
TEST_F(WorkerEvaluatorTest, HungCandidateIsATimeout) {
  WorkerEvaluator evaluator = Evaluator(Options());
  const auto admitted = evaluator.Admit(std::span(configs_).first(4));
  EXPECT_EQ(admitted[2].status, CandidateStatus::kTimeout);
  EXPECT_EQ(admitted[3].status, CandidateStatus::kFailed);  // the fake's fourth dies
  const auto measured = evaluator.Measure(std::span(configs_).first(2), 2);
  EXPECT_THAT(measured[1].samples_us, testing::ElementsAre(1.5, 1.5));
}

// Guards the compile gates: what spills or serialises wgmma is unfit, and recorded with its
// figures. Where the default itself spills, spills are no verdict: else nothing could be tuned.
TEST_F(WorkerEvaluatorTest, GatesRejectWhatSpills) {
  const Variant* usual = SelectVariant(*recipe_, call_, device_).value();
  const std::string default_source =
      usual->Kernels(call_, usual->Default(call_, device_))[0].Source();
  const auto source = [&](const Config& config) {
    return FindVariant(*recipe_, config.variant)->Kernels(call_, config)[0].Source();
  };
  const auto other = std::find_if(configs_.begin(), configs_.end(), [&](const Config& config) {
    return source(config) != default_source;
  });
  ASSERT_NE(other, configs_.end());
  std::swap(configs_[0], *other);
  compiler_->marker = source(configs_[0]);
  compiler_->spill_bytes = 40;
  {
    WorkerEvaluator evaluator = Evaluator(Options());
    const auto marked = evaluator.Admit(std::span(configs_).first(1));
    EXPECT_EQ(marked[0].status, CandidateStatus::kFailed);
    EXPECT_EQ(marked[0].error, "spills 40 bytes of registers");
    EXPECT_EQ(marked[0].spill_bytes, 40);
    EXPECT_EQ(marked[0].registers, 77);
  }
  cache_ = Cache::Open({}).value();
  kernels_ = std::make_unique<KernelStore>(TemplateSet::Builtin(), cache_.get(), compiler_);
  const std::string marker = std::exchange(compiler_->marker, "#include");  // every kernel
  {
    WorkerEvaluator evaluator = Evaluator(Options());
    const auto marked = evaluator.Admit(std::span(configs_).first(1));
    EXPECT_EQ(marked[0].status, CandidateStatus::kOk) << marked[0].error;
    EXPECT_EQ(marked[0].spill_bytes, 40);
  }
  compiler_->marker = marker;
  cache_ = Cache::Open({}).value();
  kernels_ = std::make_unique<KernelStore>(TemplateSet::Builtin(), cache_.get(), compiler_);
  compiler_->log =
      "ptxas info    : (C7510) Potential Performance Loss: wgmma.mma_async instructions are "
      "serialized due to the presence of Extern calls in the function 'k'";
  WorkerEvaluator evaluator = Evaluator(Options());
  const auto refused = evaluator.Admit(std::span(configs_).first(1));
  EXPECT_EQ(refused[0].status, CandidateStatus::kFailed);
  EXPECT_THAT(refused[0].error, HasSubstr("wgmma serialized"));
  EXPECT_EQ(refused[0].registers, 77);
}

// Guards that a template that does not compile fails its candidates with the log, no worker needed.
TEST_F(WorkerEvaluatorTest, CompileErrorFailsTheCandidate) {
  compiler_->FailWith(absl::InternalError("line 3: expected a ';'"));
  WorkerEvaluator evaluator = Evaluator(Options("no-device"));
  const auto results = evaluator.Admit(std::span(configs_).first(2));
  EXPECT_EQ(results[1].status, CandidateStatus::kFailed);
  EXPECT_THAT(results[1].error, HasSubstr("expected a ';'"));
  EXPECT_TRUE(evaluator.status().ok());
}

// Guards that a machine without a usable GPU is a Status of the tuning, not a verdict on kernels.
TEST_F(WorkerEvaluatorTest, UnusableMachineIsAStatus) {
  TuningOptions options;
  options.evaluator = Options("no-device");
  const auto report = TuneProblem(call_, *recipe_, device_, *kernels_, *cache_, options);
  EXPECT_EQ(report.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(report.status().message()), HasSubstr("no usable GPU"));
  EXPECT_TRUE(cache_->Trials(MakeProblemKey(call_, *recipe_, device_).digest).empty());
}

// Guards that a machine without a compiler is a Status, told after one step, and that nothing is
// kept of candidates that could not be compiled: a later search is to try them.
TEST_F(WorkerEvaluatorTest, NoCompilerIsAStatus) {
  compiler_->FailWith(absl::FailedPreconditionError("no NVRTC on this machine; sought: nowhere"));
  TuningOptions options;
  options.evaluator = Options();
  const auto report = TuneProblem(call_, *recipe_, device_, *kernels_, *cache_, options);
  EXPECT_EQ(report.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(std::string(report.status().message()),
            "RMSNormFwdOp: no NVRTC on this machine; sought: nowhere");
  EXPECT_TRUE(cache_->Trials(MakeProblemKey(call_, *recipe_, device_).digest).empty());
}

// Guards against verdicts for want of room: where the scratch folder is full, or taken away,
// nothing is kept of the candidates that could not be written or read, no winner is chosen among
// the others, and the reason is told; with room again the search goes on.
TEST_F(WorkerEvaluatorTest, FullScratchFolderIsNoVerdict) {
  char folder[] = "/tmp/tilewright-full-XXXXXX";
  ASSERT_NE(mkdtemp(folder), nullptr);
  const std::string problem = MakeProblemKey(call_, *recipe_, device_).digest;
  const auto tune = [&] {
    TuningOptions options;
    options.evaluator = Options("");
    options.search.stop_at_sol_fraction = 1e9;
    return TuneProblem(call_, *recipe_, device_, *kernels_, *cache_, options);
  };
  for (const char* size : {"size=4k", "size=32k", "size=64k"}) {
    SCOPED_TRACE(size);
    if (mount("tmpfs", folder, "tmpfs", 0, size) != 0) GTEST_SKIP() << "cannot mount a tmpfs here";
    setenv("TMPDIR", folder, 1);
    const auto report = tune();
    unsetenv("TMPDIR");
    umount(folder);
    if (report.ok()) {
      EXPECT_FALSE(report->complete);
      EXPECT_THAT(report->cut_short, HasSubstr("No space left on device"));
    } else {
      EXPECT_EQ(report.status().code(), absl::StatusCode::kResourceExhausted) << report.status();
      EXPECT_THAT(std::string(report.status().message()), HasSubstr("No space left on device"));
    }
    EXPECT_FALSE(cache_->FindWinner(problem).has_value());
    for (const TrialRow& trial : cache_->Trials(problem)) {
      EXPECT_EQ(trial.status, TrialStatus::kOk) << trial.error;
    }
  }
  std::filesystem::remove_all(folder);
  const auto report = tune();
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_TRUE(report->complete);
  EXPECT_EQ(report->cut_short, "");
  EXPECT_TRUE(cache_->FindWinner(problem).has_value());
}

// Guards against taking a compiler without memory for a template that does not compile: nothing is
// kept of the candidates, nor of the kernels, and the next search compiles them.
TEST_F(WorkerEvaluatorTest, CompilerWithoutMemoryIsNoVerdict) {
  TuningOptions options;
  options.evaluator = Options("");
  options.search.stop_at_sol_fraction = 1e9;
  compiler_->FailWith(absl::ResourceExhaustedError("NVRTC_ERROR_OUT_OF_MEMORY"));
  const auto starved = TuneProblem(call_, *recipe_, device_, *kernels_, *cache_, options);
  EXPECT_EQ(starved.status().code(), absl::StatusCode::kResourceExhausted) << starved.status();
  EXPECT_THAT(std::string(starved.status().message()), HasSubstr("NVRTC_ERROR_OUT_OF_MEMORY"));
  EXPECT_TRUE(cache_->Trials(MakeProblemKey(call_, *recipe_, device_).digest).empty());
  compiler_->FailWith(absl::OkStatus());
  compiler_->throws = true;
  EXPECT_THAT(
      std::string(
          TuneProblem(call_, *recipe_, device_, *kernels_, *cache_, options).status().message()),
      HasSubstr("std::bad_alloc"));
  compiler_->throws = false;
  const auto report = TuneProblem(call_, *recipe_, device_, *kernels_, *cache_, options);
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_TRUE(report->complete) << report->cut_short;
}

// Guards the end of a search while another process, which may have stopped, compiles a kernel of
// it.
TEST_F(WorkerEvaluatorTest, WaitForAnothersCompileIsCancelled) {
  const std::string path = testing::TempDir() + "/compile_wait-" + std::to_string(getpid()) + ".db";
  CacheOptions on_file;
  on_file.path = path;
  cache_ = Cache::Open(on_file).value();
  const auto other = Cache::Open(on_file).value();
  kernels_ = std::make_unique<KernelStore>(TemplateSet::Builtin(), cache_.get(), compiler_);
  const Variant* variant = FindVariant(*recipe_, configs_[0].variant);
  const KernelSpec spec = variant->Kernels(call_, configs_[0])[0];
  const KernelKey key = kernels_->Key(spec, device_.arch).value();
  const auto held = other->LockCompile(key.digest, std::chrono::seconds(1));
  ASSERT_TRUE(held.ok() && *held != nullptr);
  std::atomic<bool> cancelled = false;
  std::thread later([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    cancelled = true;
  });
  WorkerEvaluatorOptions options = Options("");
  options.worker.cancelled = &cancelled;
  const auto start = std::chrono::steady_clock::now();
  WorkerEvaluator evaluator = Evaluator(options);
  const auto results = evaluator.Admit(std::span(configs_).first(1));
  later.join();
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(30));
  EXPECT_EQ(results[0].status, CandidateStatus::kPruned);
  kernels_.reset();
  cache_.reset();
  for (const char* end : {"", "-wal", "-shm", ".lock"}) std::filesystem::remove(path + end);
}

// Guards the folder of scratch files: those of tuners that were killed go, another's that lives
// stays, and a place that cannot be told to the worker is named.
TEST_F(WorkerEvaluatorTest, ScratchFoldersOfTheDeadAreDeleted) {
  namespace fs = std::filesystem;
  char base[] = "/tmp/tilewright-scratch-XXXXXX";
  ASSERT_NE(mkdtemp(base), nullptr);
  setenv("TMPDIR", base, 1);
  const auto make_old = [](const fs::path& path) {
    fs::last_write_time(path, fs::file_time_type::clock::now() - std::chrono::hours(1));
  };
  auto alive = ScratchFolder::Make();
  ASSERT_TRUE(alive.ok()) << alive.status();
  make_old(alive->path());
  const fs::path dead = fs::path(base) / "tilewright-tune-abcdef";
  const fs::path fresh = fs::path(base) / "tilewright-tune-ghijkl";
  for (const fs::path& folder : {dead, fresh}) {
    fs::create_directory(folder);
    std::ofstream(folder / "input0") << "data";
  }
  make_old(dead);
  std::string mine;
  {
    const auto next = ScratchFolder::Make();
    ASSERT_TRUE(next.ok()) << next.status();
    mine = next->path();
    EXPECT_TRUE(fs::is_directory(mine));
  }
  EXPECT_FALSE(fs::exists(mine));
  EXPECT_FALSE(fs::exists(dead));
  EXPECT_TRUE(fs::exists(fresh));
  EXPECT_TRUE(fs::exists(alive->path()));
  const std::string odd = std::string(base) + "/\xff";
  fs::create_directory(odd);
  setenv("TMPDIR", odd.c_str(), 1);
  EXPECT_THAT(std::string(ScratchFolder::Make().status().message()), HasSubstr("no plain text"));
  unsetenv("TMPDIR");
  fs::remove_all(base);
}

// Guards the whole of it: a search through a worker that hangs and dies still finds a winner.
TEST_F(WorkerEvaluatorTest, SearchSurvivesBadCandidates) {
  TuningOptions options;
  options.evaluator = Options();
  options.search.stop_at_sol_fraction = 1e9;  // the fake's times are below the speed of light
  const auto report = TuneProblem(call_, *recipe_, device_, *kernels_, *cache_, options);
  ASSERT_TRUE(report.ok()) << report.status();
  int hung = 0;
  int failed = 0;
  for (const Trial& trial : report->trials) {
    hung += trial.status == CandidateStatus::kTimeout;
    failed += trial.status == CandidateStatus::kFailed;
  }
  EXPECT_GE(hung, 1);
  EXPECT_GE(failed, 1);
  EXPECT_EQ(report->cut_short, "");
  EXPECT_NEAR(report->winner.median_us, 0.5, 1e-9);  // the fake's time is id + 0.5
  EXPECT_TRUE(cache_->FindWinner(MakeProblemKey(call_, *recipe_, device_).digest).has_value());
}

}  // namespace
}  // namespace tilewright
