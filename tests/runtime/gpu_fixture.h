// A runtime on the first GPU, and a stream; skipped where there is none.
#ifndef TILEWRIGHT_TESTS_RUNTIME_GPU_FIXTURE_H_
#define TILEWRIGHT_TESTS_RUNTIME_GPU_FIXTURE_H_

#include <gtest/gtest.h>

#include <memory>
#include <utility>

#include "runtime/driver/driver.h"
#include "runtime/runtime.h"

namespace tilewright {

// A SetUp() of a derived class calls this one first and returns where Ready() is false.
class GpuFixture : public ::testing::Test {
 protected:
  void SetUp() override {
    driver_ = SystemDriver();
    if (absl::Status status = driver_->Init(); !status.ok()) GTEST_SKIP() << status;
    const auto context = driver_->RetainPrimaryContext(0);
    ASSERT_TRUE(context.ok()) << context.status();
    ASSERT_TRUE(driver_->PushContext(*context).ok());
    stream_ = driver_->CreateStream().value();
    RuntimeOptions options;
    options.driver = driver_;
    auto runtime = Runtime::Open(std::move(options));
    ASSERT_TRUE(runtime.ok()) << runtime.status();
    runtime_ = *std::move(runtime);
  }
  void TearDown() override {
    runtime_.reset();
    if (stream_ != nullptr) {
      EXPECT_TRUE(driver_->DestroyStream(stream_).ok());
    }
  }
  bool Ready() const { return runtime_ != nullptr; }

  std::shared_ptr<Driver> driver_;
  CudaStream stream_ = nullptr;
  std::unique_ptr<Runtime> runtime_;
};

}  // namespace tilewright

#endif  // TILEWRIGHT_TESTS_RUNTIME_GPU_FIXTURE_H_
