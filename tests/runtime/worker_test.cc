// The worker's judgement over a fake driver whose kernels run on the host.
#include "runtime/worker/worker.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include "manifest/status.h"
#include "runtime/worker/support_kernels.h"
#include "tests/runtime/driver_calls.h"
#include "tests/runtime/emulated_kernels.h"
#include "tests/runtime/fake_driver.h"

namespace tilewright {
namespace {

using testing::HasSubstr;

constexpr int64_t kElements = 1000;

struct DoubleParams {
  const float* in = nullptr;
  float* out = nullptr;
};

// The op under tuning doubles a vector. A candidate's symbol says what it does.
class WorkerTest : public testing::Test {
 protected:
  void SetUp() override {
    cubin_ = testing::TempDir() + "/worker_test-" + std::to_string(getpid()) + ".cubin";
    std::ofstream(cubin_) << "image";
    driver_.OnLaunch([this](const FakeLaunch& launch, void** params) { Emulate(launch, params); });
    TimerOptions options;
    options.warmup = 1;
    options.recorder = []() -> absl::StatusOr<std::unique_ptr<KernelRecorder>> {
      return absl::FailedPreconditionError("no CUPTI");
    };
    worker_ = std::make_unique<Worker>(
        driver_, [this](const std::string& line) { lines_.push_back(line); }, options);
  }

  void TearDown() override { std::filesystem::remove(cubin_); }

  void Emulate(const FakeLaunch& launch, void** params) {
    if (launch.kernel == "fill") {
      EmulateFill(*static_cast<FillParams*>(params[0]));
    } else if (launch.kernel == "compare" || launch.kernel == "compare_bytes") {
      EmulateCompare(*static_cast<CompareParams*>(params[0]), launch.kernel == "compare");
    } else {
      Double(*static_cast<DoubleParams*>(params[0]), launch.kernel);
    }
  }
  static void Double(const DoubleParams& p, const std::string& how) {
    for (int64_t i = 0; i < kElements; ++i) p.out[i] = 2 * p.in[i];
    if (how == "off") p.out[500] += 1;
    if (how == "lazy") std::memset(&p.out[kElements - 1], 0xff, 4);  // as if never written
    if (how == "past_end") p.out[kElements] = 0;
    if (how == "before_start") p.out[-1] = 0;
  }

  static Request OpenRequestFor(const std::string& cubin) {
    Request request;
    WireOperand in;
    in.desc = TensorDesc::Contiguous(DType::kFloat32, Dims{kElements});
    WireOperand out = in;
    out.output = true;
    out.alignment = 16;
    out.relative = 1e-5;
    request.open.operands = {in, out};
    request.open.seed = 5;
    request.open.support = {
        {FillSpec(DType::kFloat32, false).Instantiation(), cubin, "fill", 0},
        {CompareSpec(DType::kFloat32).Instantiation(), cubin, "compare", 0},
        {CompareSpec(DType::kUint8).Instantiation(), cubin, "compare_bytes", 0}};
    return request;
  }
  Request AdmitFor(int id, const std::string& symbol, bool judge = false) {
    Request request;
    request.kind = Request::Kind::kAdmit;
    request.admit.id = id;
    request.admit.judge = judge;
    request.admit.plan.kernels = {{"", cubin_, symbol, 0}};
    Launch launch;
    launch.SetParams(DoubleParams{});
    launch.pointers = {{0, 0, 0}, {8, 1, 0}};
    request.admit.plan.bound.launches = {launch};
    return request;
  }
  Reply Ask(const Request& request) {
    worker_->Handle(ToLine(request));
    return ParseReply(lines_.back()).value();
  }
  void OpenAndJudge() {
    ASSERT_EQ(Ask(OpenRequestFor(cubin_)).error, "");
    ASSERT_EQ(Ask(AdmitFor(-2, "right", /*judge=*/true)).error, "");
  }

  FakeDriver driver_;
  std::string cubin_;
  std::vector<std::string> lines_;
  std::unique_ptr<Worker> worker_;
};

// Guards the verdicts: right, off, unwritten and out of bounds on both sides.
TEST_F(WorkerTest, JudgesCandidates) {
  OpenAndJudge();
  EXPECT_EQ(Ask(AdmitFor(1, "right")).status, CandidateStatus::kOk);
  const Reply off = Ask(AdmitFor(2, "off"));
  EXPECT_EQ(off.status, CandidateStatus::kWrong);
  EXPECT_THAT(off.error, HasSubstr("1 of 1000 elements differ"));
  EXPECT_THAT(off.error, HasSubstr("first at offset 500"));
  EXPECT_EQ(Ask(AdmitFor(3, "lazy")).status, CandidateStatus::kWrong);
  EXPECT_THAT(Ask(AdmitFor(4, "past_end")).error, HasSubstr("4 bytes written out of bounds, past"));
  EXPECT_THAT(Ask(AdmitFor(5, "before_start")).error, HasSubstr("out of bounds, before"));
  EXPECT_EQ(Ask(AdmitFor(6, "right")).status, CandidateStatus::kOk);
  EXPECT_EQ(lines_[lines_.size() - 2], R"({"event":"start","id":6})");
}

// Guards the alignment of the call: no more than it promised, or a candidate that needs more would
// pass here and fail in the field.
TEST_F(WorkerTest, PointersAreAlignedAsInTheCall) {
  std::vector<uintptr_t> outs;
  driver_.OnLaunch([&](const FakeLaunch& launch, void** params) {
    if (launch.kernel == "right") {
      outs.push_back(reinterpret_cast<uintptr_t>(static_cast<DoubleParams*>(params[0])->out));
    }
    Emulate(launch, params);
  });
  OpenAndJudge();
  ASSERT_FALSE(outs.empty());
  for (uintptr_t out : outs) EXPECT_EQ(out % 32, 16u);
}

// Guards measuring: samples for each, only for the admitted.
TEST_F(WorkerTest, MeasuresTheAdmitted) {
  OpenAndJudge();
  ASSERT_EQ(Ask(AdmitFor(1, "right")).error, "");
  ASSERT_EQ(Ask(AdmitFor(2, "off")).status, CandidateStatus::kWrong);
  Request measure;
  measure.kind = Request::Kind::kMeasure;
  measure.measure = {{1}, 3};
  const Reply reply = Ask(measure);
  EXPECT_EQ(reply.error, "");
  ASSERT_EQ(reply.samples_us.size(), 1u);
  EXPECT_EQ(reply.samples_us[0].size(), 3u);
  EXPECT_THAT(reply.note, HasSubstr("no CUPTI"));
  measure.measure.ids = {1, 2};
  EXPECT_THAT(Ask(measure).error, HasSubstr("candidate 2 was not admitted"));
}

// Guards what a lost CUDA context is reported as.
TEST_F(WorkerTest, StickyErrorsAreFatal) {
  OpenAndJudge();
  driver_.FailAlways("SynchronizeStream", kCudaIllegalAddress);
  const Reply reply = Ask(AdmitFor(1, "right"));
  EXPECT_EQ(reply.status, CandidateStatus::kFailed);
  EXPECT_TRUE(reply.fatal);
}

// Guards what is put down to a candidate: its launches, its registers, a workspace that no such
// device has. Memory that others hold, and hardware that breaks, say nothing of it.
TEST_F(WorkerTest, FaultsOfTheMachineAreNoVerdicts) {
  const auto admit = [&](const std::string& method, int code, int64_t workspace_bytes = 0) {
    OpenAndJudge();
    driver_.FailAlways(method, code);
    Request request = AdmitFor(1, "right");
    request.admit.plan.bound.workspace_bytes = workspace_bytes;
    const Reply reply = Ask(request);
    driver_.ClearFailures();
    EXPECT_EQ(reply.id, 1);
    return reply;
  };
  constexpr int kLaunchOutOfResources = 701;
  EXPECT_EQ(admit("Launch", kCudaInvalidValue).status, CandidateStatus::kFailed);
  EXPECT_EQ(admit("Launch", kLaunchOutOfResources).status, CandidateStatus::kFailed);
  for (const int code : {kCudaOutOfMemory, 214, 304, 806}) {  // ECC, operating system, MPS
    EXPECT_EQ(admit("Launch", code).status, CandidateStatus::kPruned) << code;
  }
  EXPECT_TRUE(admit("Launch", 214).fatal);
  EXPECT_EQ(admit("Alloc", kCudaOutOfMemory, int64_t{1} << 30).status, CandidateStatus::kPruned);
  const Reply too_large = admit("Alloc", kCudaOutOfMemory, int64_t{1} << 39);
  EXPECT_EQ(too_large.status, CandidateStatus::kFailed);
  EXPECT_THAT(too_large.error, HasSubstr("a workspace of 549755813888 bytes on a device of"));
  OpenAndJudge();
  std::filesystem::remove(cubin_);
  const Reply unread = Ask(AdmitFor(1, "right"));
  EXPECT_EQ(unread.status, CandidateStatus::kPruned);
  EXPECT_THAT(unread.error, HasSubstr("No such file"));
}

// Guards order and memory: nothing runs without a judge, a full device is an error with numbers,
// and a launch that breaks the contract never reaches the driver.
TEST_F(WorkerTest, RefusesWhatCannotWork) {
  EXPECT_THAT(Ask(AdmitFor(1, "right")).error, HasSubstr("before open"));
  ASSERT_EQ(Ask(OpenRequestFor(cubin_)).error, "");
  EXPECT_THAT(Ask(AdmitFor(1, "right")).error, HasSubstr("before the judge"));
  ASSERT_EQ(Ask(AdmitFor(-2, "right", /*judge=*/true)).error, "");
  Request bad = AdmitFor(1, "right");
  bad.admit.plan.bound.launches[0].pointers[0].operand = 2;
  EXPECT_THAT(Ask(bad).error, HasSubstr("out of range"));
  Request beyond = AdmitFor(1, "right");
  beyond.admit.plan.bound.launches[0].pointers[0].operand = kWorkspaceOperand;
  beyond.admit.plan.bound.launches[0].pointers[0].byte_offset = 8;
  EXPECT_THAT(Ask(beyond).error, HasSubstr("points to byte 8 of a workspace of 0"));
  Request huge = OpenRequestFor(cubin_);
  for (WireOperand& operand : huge.open.operands) {
    operand.desc = TensorDesc::Contiguous(DType::kFloat32, Dims{int64_t{1} << 37});
  }
  EXPECT_THAT(Ask(huge).error, HasSubstr("bytes of device memory"));
  worker_->Handle("not json");
  EXPECT_THAT(lines_.back(), HasSubstr("worker protocol"));
}

// Guards: whichever call of the driver fails once, the worker answers every request, the next
// problem works, and nothing is leaked.
TEST_F(WorkerTest, EveryCallMayFailOnce) {
  // Where these fail there is nothing to tell: they end something, or have another way.
  TimerOptions timer;
  timer.warmup = 1;
  timer.flush_l2 = false;  // the host has none to flush
  timer.recorder = []() -> absl::StatusOr<std::unique_ptr<KernelRecorder>> {
    return absl::FailedPreconditionError("no CUPTI");
  };
  worker_ = std::make_unique<Worker>(
      driver_, [this](const std::string& line) { lines_.push_back(line); }, timer);
  const std::set<std::string> quiet = {"PopContext",   "UnloadLibrary",   "ReleasePrimaryContext",
                                       "Free",         "DestroyStream",   "DestroyEvent",
                                       "DestroyGraph", "DestroyGraphExec"};
  const auto problem = [this] {
    int failed = 0;
    Request measure;
    measure.kind = Request::Kind::kMeasure;
    measure.measure = {{1}, 3};
    for (const Request& request :
         {OpenRequestFor(cubin_), AdmitFor(-2, "right", true), AdmitFor(1, "right"), measure}) {
      const Reply reply = Ask(request);
      // A way of timing that does not work gives way to another, which the note says.
      // No candidate is to blame for memory that others hold.
      if (failed == 0) {
        EXPECT_NE(reply.status, CandidateStatus::kFailed) << reply.error;
      }
      failed += !reply.error.empty() || reply.note.find("fake error") != std::string::npos;
    }
    return failed;
  };
  ASSERT_EQ(problem(), 0);
  std::map<std::string, int> before = driver_.CallsByMethod();
  ASSERT_EQ(problem(), 0);
  std::map<std::string, int> counts = driver_.CallsByMethod();
  EXPECT_EQ(NamesOf(counts), kWorkerCalls);
  int injected = 0;
  for (const auto& [method, count] : counts) {
    for (int nth = 1; nth <= count - before[method]; ++nth) {
      SCOPED_TRACE(Cat(method, " ", nth));
      driver_.FailCall(method, nth, kCudaOutOfMemory);
      const int failed = problem();
      driver_.ClearFailures();
      if (!quiet.contains(method)) {
        EXPECT_GE(failed, 1);
      }
      EXPECT_EQ(problem(), 0);
      ++injected;
    }
  }
  RecordProperty("injected", injected);
  EXPECT_GE(injected, 100);
}

// Guards that every problem's memory and modules go with it.
TEST_F(WorkerTest, ReleasesEverything) {
  OpenAndJudge();
  ASSERT_EQ(Ask(AdmitFor(1, "right")).error, "");
  OpenAndJudge();
  worker_.reset();
  EXPECT_EQ(driver_.LiveAllocations(), 0);
  EXPECT_EQ(driver_.LoadedLibraries(), 0);
  EXPECT_EQ(driver_.ContextDepth(), 0);
}

}  // namespace
}  // namespace tilewright
