// Every entry point of the driver made to fail once at every call of a scenario that uses all of
// the runtime: cold and warm calls, workspace, tensor maps, capture, eviction, opening and closing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <regex>
#include <set>

#include "manifest/status.h"
#include "tests/runtime/driver_calls.h"
#include "tests/runtime/runtime_fixture.h"

namespace tilewright {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

struct Step {
  std::string name;
  absl::Status status;
};

// Where these fail there is nothing to tell: what they end, or ask for a message, is over, and a
// tensor map that could not be encoded ahead is encoded at the launch.
const std::set<std::string>& Quiet() {
  static const std::set<std::string> quiet = {
      "PopContext", "UnloadLibrary",       "DriverVersion",  "ReleasePrimaryContext",
      "Pointer",    "ExchangeCaptureMode", "EncodeTensorMap"};
  return quiet;
}

class DriverFaultTest : public RuntimeFixture {
 protected:
  void SetUp() override { Afresh(); }

  // Of two devices, so that the driver is asked whose a stream is.
  void Afresh() { driver_ = std::make_shared<FakeDriver>(std::vector<FakeDevice>(2)); }

  // A runtime that keeps at most four kernels, so that the scenario evicts.
  absl::Status OpenSmall() {
    RuntimeOptions options = Options();
    options.max_loaded_kernels = 4;
    options.check_pointers = true;
    auto opened = Runtime::Open(std::move(options));
    if (!opened.ok()) return opened.status();
    runtime_ = *std::move(opened);
    return runtime_->Register(ScaleAndSumOps());
  }
  absl::Status Half(CudaStream stream) {
    const Tensor x = Tensor::Contiguous(base_, DType::kFloat16, {8, 64});
    CallOptions options;
    options.stream = stream;
    return runtime_->Call("ScaleTestOp", {&x, 1}, {&x, 1}, {}, options);
  }
  absl::Status PrepareBrain() {
    const Tensor x = Tensor::Contiguous(nullptr, DType::kBFloat16, {8, 64});
    return runtime_->Prepare("ScaleTestOp", {&x, 1}, {&x, 1});
  }

  // Runs the scenario to its end whatever fails, and closes the runtime.
  std::vector<Step> Run() {
    std::vector<Step> steps;
    const auto step = [&](const char* name, absl::Status status) {
      steps.push_back({name, std::move(status)});
    };
    driver_->OwnMemory(buffer_.data(), buffer_.size(), 0);
    const CudaStream stream = driver_->NewStream(0);
    CallOptions on_stream;
    on_stream.stream = stream;
    step("open", OpenSmall());
    step("cold call", Scale(8, 64, stream));
    step("exact hit", Scale(8, 64, stream));
    step("cold call with workspace", Sum(on_stream));
    step("hit with workspace", Sum(on_stream));
    step("hit on the default stream", Scale(8));
    step("prepare", PrepareBrain());
    // What was given up for want of memory comes back.
    step("warm call", Scale(8, 64, stream));
    step("warm call with workspace", Sum(on_stream));
    step("device profile", runtime_->Device(0).status());
    // A capture that fails to begin or end is the embedder's, as are these calls.
    if (driver_->BeginCapture(stream, CaptureMode::kGlobal).ok()) {
      step("captured call", Scale(8, 64, stream));
      step("captured call with workspace", Sum(on_stream));
      if (auto graph = driver_->EndCapture(stream); graph.ok()) {
        driver_->DestroyGraph(*graph).IgnoreError();
      }
    }
    step("call that evicts", Half(stream));
    step("evicted call", Scale(8, 64, stream));
    runtime_.reset();
    return steps;
  }
};

// The embedder's own entry points, which the scenario calls itself.
bool IsEmbedders(const std::string& method) {
  return method == "BeginCapture" || method == "EndCapture" || method == "DestroyGraph";
}

// Guards: whichever call of the driver fails, one call of ours says so with the driver's code,
// every other one works, and nothing is leaked. The context stack is as it was.
TEST_F(DriverFaultTest, EveryCallMayFailOnce) {
  MakeCurrent();
  for (const Step& step : Run()) ASSERT_TRUE(step.status.ok()) << step.name << step.status;
  const std::map<std::string, int> calls = driver_->CallsByMethod();
  EXPECT_EQ(NamesOf(calls), kRuntimeCalls);
  int injected = 0;
  for (const auto& [method, count] : calls) {
    if (IsEmbedders(method)) continue;
    for (int nth = 1; nth <= count; ++nth) {
      for (const int code : {kCudaOutOfMemory, 999, kCudaIllegalAddress}) {
        SCOPED_TRACE(Cat(method, " ", nth, " of ", count, ", code ", code));
        Afresh();
        MakeCurrent();
        const int own = method == "PushContext" ? 1 : 0;  // MakeCurrent()'s
        if (nth <= own) continue;
        driver_->FailCall(method, nth - own, code);
        int failed = 0;
        for (const Step& step : Run()) {
          if (step.status.ok()) continue;
          ++failed;
          EXPECT_EQ(DriverErrorCode(step.status), code) << step.name << ": " << step.status;
          EXPECT_EQ(IsSticky(step.status), code == kCudaIllegalAddress) << step.status;
        }
        ++injected;
        EXPECT_LE(failed, 1);
        // Out of memory while a kernel is loaded may be cured by unloading others.
        if (!Quiet().contains(method) && code != kCudaOutOfMemory) {
          EXPECT_EQ(failed, 1);
        }
        if (method != "PopContext") {
          EXPECT_EQ(driver_->ContextDepth(), 1);
        }
        if (method != "FreeAsync") {
          EXPECT_EQ(driver_->LiveAllocations(), 0);
        }
        if (method != "UnloadLibrary") {
          EXPECT_EQ(driver_->LoadedLibraries(), 0);
        }
      }
    }
  }
  RecordProperty("injected", injected);
  EXPECT_GE(injected, 200);
}

// Guards that no entry point is forgotten: each one of the seam is failed by some test.
TEST(DriverEntryPoints, AllAreFailedBySomeTest) {
  std::ifstream file(TILEWRIGHT_SOURCE_DIR "/runtime/driver/driver.h");
  std::set<std::string> declared;
  const std::regex method(R"(^  virtual [^~(]*\b([A-Z]\w*)\()");
  std::smatch match;
  for (std::string line; std::getline(file, line);) {
    if (std::regex_search(line, match, method)) declared.insert(match[1]);
  }
  std::set<std::string> failed;
  for (const auto* calls : {&kRuntimeCalls, &kWorkerCalls, &kOtherCalls, &kNoCalls}) {
    failed.insert(calls->begin(), calls->end());
  }
  EXPECT_EQ(declared, failed);
}

// Guards: what is called because something failed may fail as well; the first failure is told.
TEST_F(DriverFaultTest, FailuresOfCleaningUp) {
  Open();
  MakeCurrent();
  const CudaStream stream = driver_->NewStream(0);
  ASSERT_TRUE(Scale(8, 64, stream).ok());
  ASSERT_TRUE(driver_->BeginCapture(stream, CaptureMode::kGlobal).ok());
  driver_->FailCall("GiveUserObject", 1, kCudaOutOfMemory);
  driver_->FailCall("ReleaseUserObject", 1, 999);
  EXPECT_EQ(DriverErrorCode(Scale(8, 64, stream)), kCudaOutOfMemory);
  EXPECT_EQ(driver_->Calls("ReleaseUserObject"), 1);
  driver_->ClearFailures();
  EXPECT_TRUE(Scale(8, 64, stream).ok());
  driver_->DestroyGraph(driver_->EndCapture(stream).value()).IgnoreError();

  driver_->FailCall("LoadLibrary", 1, kCudaUnsupportedPtxVersion);
  driver_->FailCall("DriverVersion", 1, 999);
  const absl::Status refused = Sum();
  EXPECT_EQ(refused.code(), absl::StatusCode::kFailedPrecondition) << refused;
  EXPECT_EQ(driver_->Calls("DriverVersion"), 1);
  EXPECT_TRUE(Sum().ok());
}

// Guards: out of memory while a kernel is loaded gives up kernels of others and tries once more.
TEST_F(DriverFaultTest, OutOfMemoryDuringLoadEvictsAndRetriesOnce) {
  for (const char* method : {"LoadLibrary", "KernelFunction"}) {
    SCOPED_TRACE(method);
    driver_ = std::make_shared<FakeDriver>();
    log_.clear();
    Open();
    MakeCurrent();
    ASSERT_TRUE(Scale(8).ok());
    driver_->FailCall(method, 1, kCudaOutOfMemory);
    const int before = driver_->Calls(method);
    EXPECT_TRUE(Half(nullptr).ok());
    EXPECT_EQ(driver_->Calls(method), before + 2);
    EXPECT_EQ(runtime_->Counters().evicted_kernels, 1);
    EXPECT_EQ(driver_->LoadedLibraries(), 1);
    EXPECT_THAT(Log(), Contains(HasSubstr("device memory is out")));
    EXPECT_TRUE(Scale(8).ok());
    EXPECT_EQ(driver_->LoadedLibraries(), 2);

    // Once only: memory that stays out is told, and what is left serves.
    driver_->FailAlways(method, kCudaOutOfMemory);
    const int again = driver_->Calls(method);
    const absl::Status status = Sum();
    EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
    EXPECT_EQ(driver_->Calls(method), again + 2);
    driver_->ClearFailures();
    EXPECT_TRUE(Sum().ok());
    EXPECT_TRUE(Scale(8).ok());
    runtime_.reset();
    EXPECT_EQ(driver_->LoadedLibraries(), 0);
  }
}

// Guards: with nothing to give up, the load is not tried again.
TEST_F(DriverFaultTest, OutOfMemoryWithNothingToEvictIsTold) {
  Open();
  MakeCurrent();
  driver_->FailCall("LoadLibrary", 1, kCudaOutOfMemory);
  EXPECT_EQ(Scale(8).code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(driver_->Calls("LoadLibrary"), 1);
  EXPECT_TRUE(Scale(8).ok());
}

// Guards: a lost context is told as such by every later call, with what to do; nothing is retried.
TEST_F(DriverFaultTest, StickyErrorsSayThatTheRuntimeMustBeReopened) {
  Open();
  MakeCurrent();
  ASSERT_TRUE(Scale(8).ok());
  for (const char* method : {"Launch", "LoadLibrary"}) {
    driver_->FailAlways(method, kCudaIllegalAddress);
  }
  for (const absl::Status& lost : {Scale(8), Half(nullptr), Scale(8)}) {
    EXPECT_TRUE(IsSticky(lost)) << lost;
    EXPECT_THAT(std::string(lost.message()), HasSubstr("the runtime must be reopened"));
    EXPECT_THAT(std::string(lost.message()), HasSubstr("the process must be restarted"));
  }
}

}  // namespace
}  // namespace tilewright
