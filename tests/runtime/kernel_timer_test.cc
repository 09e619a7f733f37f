// Timing policy over a fake driver: order, cold L2, fallbacks.
#include "runtime/measure/kernel_timer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "manifest/status.h"
#include "tests/runtime/fake_driver.h"

namespace tilewright {
namespace {

// Answers with one interval of a scripted length a launch.
class FakeRecorder : public KernelRecorder {
 public:
  explicit FakeRecorder(std::vector<KernelInterval>* pending) : pending_(pending) {}
  absl::StatusOr<std::vector<KernelInterval>> Collect() override {
    return std::exchange(*pending_, {});
  }

 private:
  std::vector<KernelInterval>* const pending_;
};

class KernelTimerTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(driver_.PushContext(driver_.PrimaryContext(0)).ok());
    stream_ = driver_.NewStream(0);
    // Each work starts well after its flush, the only kernel that is launched here.
    driver_.OnLaunch([this](const FakeLaunch&, void**) {
      pending_.push_back({now_, now_ + 5});
      now_ += 1000;
    });
  }
  std::unique_ptr<KernelTimer> Timer(bool cupti, bool clean_l2 = false) {
    TimerOptions options;
    options.clean_l2 = clean_l2;
    options.warmup = 2;
    options.recorder = [this, cupti]() -> absl::StatusOr<std::unique_ptr<KernelRecorder>> {
      if (!cupti) return absl::FailedPreconditionError("no CUPTI here");
      return std::make_unique<FakeRecorder>(&pending_);
    };
    auto timer = KernelTimer::Create(driver_, 0, stream_, options);
    EXPECT_TRUE(timer.ok()) << timer.status();
    return *std::move(timer);
  }
  // A work of two kernels of `us` in all, gap included.
  TimedWork Work(char name, double us) {
    return {nullptr, [this, name, us](int) {
              log_ += name;
              const auto ns = static_cast<uint64_t>(us * 1000);
              pending_.push_back({now_, now_ + ns / 4});
              pending_.push_back({now_ + ns / 2, now_ + ns});
              now_ += 10 * ns;
              return absl::OkStatus();
            }};
  }

  FakeDriver driver_;
  CudaStream stream_ = nullptr;
  std::vector<KernelInterval> pending_;
  uint64_t now_ = 1000;
  std::string log_;
};

// Guards interleaving, the warm-up and what a sample is: from first start to last end.
TEST_F(KernelTimerTest, SamplesAreInterleavedAndSpanTheKernels) {
  const auto timer = Timer(/*cupti=*/true);
  const std::vector<TimedWork> works = {Work('a', 10), Work('b', 20)};
  std::vector<size_t> started;
  const auto samples = timer->Time(works, 3, [&](size_t i) { started.push_back(i); });
  ASSERT_TRUE(samples.ok()) << samples.status();
  EXPECT_EQ(log_, "aabbababab");
  EXPECT_THAT(started, testing::ElementsAre(0, 1, 0, 1, 0, 1, 0, 1));
  EXPECT_THAT((*samples)[0], testing::Each(testing::DoubleNear(10, 1e-6)));
  EXPECT_THAT((*samples)[1], testing::Each(testing::DoubleNear(20, 1e-6)));
  EXPECT_EQ(timer->method(), TimingMethod::kCupti);
  EXPECT_EQ(timer->fallback_reason(), "");
}

// Guards the cold L2: one flush before every sample, which is no part of it.
TEST_F(KernelTimerTest, FlushesBeforeEverySample) {
  for (const bool clean : {false, true}) {
    const auto timer = Timer(/*cupti=*/true, clean);
    const char* const flush = clean ? "Launch" : "Fill32";
    const int before = driver_.Calls(flush);
    const auto samples = timer->Time(std::vector<TimedWork>{Work('a', 10)}, 4);
    ASSERT_TRUE(samples.ok()) << samples.status();
    EXPECT_EQ(driver_.Calls(flush) - before, 4);
    EXPECT_THAT((*samples)[0], testing::Each(testing::DoubleNear(10, 1e-6))) << flush;
  }
}

// Guards that the method is reported, with the reason, where CUPTI is missing.
TEST_F(KernelTimerTest, FallsBackWithoutCupti) {
  const auto timer = Timer(/*cupti=*/false);
  EXPECT_EQ(timer->method(), TimingMethod::kGraph);
  EXPECT_EQ(timer->fallback_reason(), "no CUPTI here");
  driver_.FailAlways("BeginCapture", 900);
  const auto samples = timer->Time(std::vector<TimedWork>{Work('a', 10)}, 2);
  ASSERT_TRUE(samples.ok()) << samples.status();
  EXPECT_EQ((*samples)[0].size(), 2u);
  EXPECT_EQ(timer->method(), TimingMethod::kEvents);
  EXPECT_THAT(timer->fallback_reason(), testing::HasSubstr("graph replay"));
}

// Guards that a CUPTI that delivers nothing is not taken for a time of zero.
TEST_F(KernelTimerTest, NoRecordIsNoSample) {
  const auto timer = Timer(/*cupti=*/true);
  const TimedWork silent{nullptr, [](int) { return absl::OkStatus(); }};
  driver_.FailAlways("BeginCapture", 900);
  const auto samples = timer->Time(std::vector<TimedWork>{silent}, 1);
  ASSERT_TRUE(samples.ok()) << samples.status();
  EXPECT_EQ(timer->method(), TimingMethod::kEvents);
  EXPECT_THAT(timer->fallback_reason(), testing::HasSubstr("no kernel record"));
}

// Guards that an error of a candidate reaches the caller.
TEST_F(KernelTimerTest, ErrorsOfTheWorkAreReturned) {
  const auto timer = Timer(/*cupti=*/true);
  const TimedWork bad{nullptr, [](int) { return absl::InternalError("cannot launch"); }};
  EXPECT_EQ(timer->Time(std::vector<TimedWork>{bad}, 1).status().message(), "cannot launch");
  driver_.FailCall("SynchronizeStream", 1, kCudaIllegalAddress);
  EXPECT_TRUE(IsSticky(timer->Time(std::vector<TimedWork>{Work('a', 1)}, 1).status()));
}

// Guards: whichever call of the driver fails once, it is told, or another way of timing is taken,
// which the reason says; nothing is left behind, and the next timer works.
TEST_F(KernelTimerTest, EveryCallMayFailOnce) {
  const std::set<std::string> quiet = {"DestroyEvent", "DestroyGraph", "DestroyGraphExec", "Free",
                                       "UnloadLibrary"};
  const auto told = [this](bool cupti, bool clean) {
    TimerOptions options;
    options.l2_bytes = 4096;
    options.clean_l2 = clean;
    options.warmup = 1;
    options.recorder = [this, cupti]() -> absl::StatusOr<std::unique_ptr<KernelRecorder>> {
      if (!cupti) return absl::FailedPreconditionError("no CUPTI here");
      return std::make_unique<FakeRecorder>(&pending_);
    };
    auto timer = KernelTimer::Create(driver_, 0, stream_, options);
    if (!timer.ok()) return true;
    const auto samples = (*timer)->Time(std::vector<TimedWork>{Work('a', 10)}, 2);
    return !samples.ok() || (*timer)->fallback_reason().find("fake error") != std::string::npos;
  };
  int injected = 0;
  int kept_memory = 0;  // for good, where giving it back is what fails
  int kept_libraries = 0;
  for (const auto& [cupti, clean] : {std::pair{true, false}, {true, true}, {false, false}}) {
    std::map<std::string, int> before = driver_.CallsByMethod();
    ASSERT_FALSE(told(cupti, clean));
    for (const auto& [method, count] : driver_.CallsByMethod()) {
      for (int nth = 1; nth <= count - before[method]; ++nth) {
        SCOPED_TRACE(Cat(method, " ", nth));
        driver_.FailCall(method, nth, kCudaOutOfMemory);
        EXPECT_EQ(told(cupti, clean), !quiet.contains(method));
        driver_.ClearFailures();
        kept_memory += method == "Free";
        kept_libraries += method == "UnloadLibrary";
        EXPECT_EQ(driver_.LiveAllocations(), kept_memory);
        EXPECT_EQ(driver_.LoadedLibraries(), kept_libraries);
        EXPECT_FALSE(told(cupti, clean));
        ++injected;
      }
    }
  }
  EXPECT_GT(driver_.Calls("Fill32"), 0);
  EXPECT_GE(injected, 30);
}

// Guards that nothing on the device is left behind.
TEST_F(KernelTimerTest, FreesWhatItTook) {
  { const auto timer = Timer(/*cupti=*/true, /*clean_l2=*/true); }
  EXPECT_EQ(driver_.LiveAllocations(), 0);
  EXPECT_EQ(driver_.LoadedLibraries(), 0);
}

}  // namespace
}  // namespace tilewright
