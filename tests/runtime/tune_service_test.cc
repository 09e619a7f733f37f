// Tuning on first use and in the background, through the public API over fakes.
#include "runtime/tune_service.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
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
  Explanation Explain() {
    const OpSpec* spec = runtime_->Spec("ScaleTestOp");
    const Operand operand{TensorDesc::Contiguous(DType::kFloat32, {8, 64})};
    const auto call = InferCall(*spec, {&operand, 1}, {});
    return runtime_->Explain(*call, runtime_->Device(0).value()).value();
  }
  // The search stores its winner first and serves it a moment later.
  bool WaitUntilServed() {
    for (int i = 0; i < 1500; ++i) {
      if (Explain().quality == Quality::kWinner) return true;
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
  EXPECT_EQ(Explain().quality, Quality::kWinner);
  ASSERT_TRUE(Scale(8).ok());
  EXPECT_EQ(runtime_->Counters().tunes, 1);
}

// Guards the promise that a machine that cannot tune serves the default, saying why once.
TEST_F(TuneServiceTest, WithoutAWorkerTheDefaultIsServed) {
  Open(TuningWith(TuningPolicy::kOnFirstUse, "/nonexistent/worker"));
  MakeCurrent();
  ASSERT_TRUE(Scale(8).ok());
  EXPECT_EQ(runtime_->Counters().tunes, 0);
  EXPECT_EQ(Explain().quality, Quality::kDefault);
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
