#include "runtime/single_flight.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <new>
#include <stdexcept>
#include <thread>
#include <vector>

#include "tests/runtime/runtime_fixture.h"

namespace tilewright {
namespace {

// Guards the callers that wait for one whom an exception throws out: one computes in its place, and
// all have the value.
TEST(SingleFlightTest, WaitersOutliveAnException) {
  SingleFlight<int> flights;
  std::atomic<bool> is_in_flight{false};
  std::atomic<bool> may_throw{false};
  bool thrown = false;
  std::thread first([&] {
    try {
      (void)flights.Do("key", [&]() -> absl::StatusOr<int> {
        is_in_flight = true;
        while (!may_throw) std::this_thread::yield();
        throw std::bad_alloc();
      });
    } catch (const std::bad_alloc&) {
      thrown = true;
    }
  });
  while (!is_in_flight) std::this_thread::yield();
  std::vector<absl::StatusOr<int>> values(4, 0);
  std::vector<std::thread> others;
  for (absl::StatusOr<int>& value : values) {
    others.emplace_back(
        [&] { value = flights.Do("key", []() -> absl::StatusOr<int> { return 7; }); });
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(20));  // for some to wait
  may_throw = true;
  first.join();
  for (std::thread& other : others) other.join();
  EXPECT_TRUE(thrown);
  for (const absl::StatusOr<int>& value : values) EXPECT_EQ(value.value(), 7);
}

class ThrowingTest : public RuntimeFixture {};

// Guards a problem whose compile threw once, as one does where memory is out for a moment: the next
// call compiles it.
TEST_F(ThrowingTest, CompileThatThrewIsTriedAgain) {
  Open();
  MakeCurrent();
  compiler_->ThrowOnce();
  EXPECT_THROW((void)Scale(8), std::bad_alloc);
  ASSERT_TRUE(Scale(8).ok());
  EXPECT_EQ(compiler_->compiles(), 1);
  EXPECT_EQ(driver_->Launches().size(), 1u);
}

// Guards calls against a logger that throws: they are served, and the runtime closes.
TEST_F(ThrowingTest, LoggerThatThrowsLosesItsMessageOnly) {
  RuntimeOptions options = Options();
  std::atomic<int> messages{0};
  options.logger = [&](LogLevel, std::string_view) {
    ++messages;
    throw std::runtime_error("the log is full");
  };
  options.tuning = TuningPolicy::kBackground;
  options.worker_path = "/nonexistent/worker";
  Open(options);
  MakeCurrent();
  ASSERT_TRUE(Scale(8).ok());
  ASSERT_TRUE(Scale(16).ok());
  EXPECT_GE(messages, 2);
  EXPECT_EQ(driver_->Launches().size(), 2u);
}

}  // namespace
}  // namespace tilewright
