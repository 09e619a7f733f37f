// Calls on real devices: which context they run in, and that the caller's is left alone.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "runtime/driver/driver.h"
#include "runtime/runtime.h"

namespace tilewright {
namespace {

constexpr int64_t kCount = 4099;  // a prime: no vector width divides it

class DevicesGpuTest : public ::testing::Test {
 protected:
  void SetUp() override {
    driver_ = SystemDriver();
    if (absl::Status status = driver_->Init(); !status.ok()) GTEST_SKIP() << status;
    RuntimeOptions options;
    options.driver = driver_;
    options.logger = [](LogLevel, std::string_view) {};
    auto runtime = Runtime::Open(options);
    ASSERT_TRUE(runtime.ok()) << runtime.status();
    runtime_ = *std::move(runtime);
  }

  // Adds two arrays on `device`, through `stream`, with device memory taken in its primary context.
  // Expects every sum.
  void AddOn(int device, bool own_stream) {
    const auto context = driver_->RetainPrimaryContext(device);
    ASSERT_TRUE(context.ok()) << context.status();
    std::vector<float> host(kCount);
    for (int64_t i = 0; i < kCount; ++i) host[i] = static_cast<float>(i);
    void* x = nullptr;
    void* y = nullptr;
    CudaStream stream = nullptr;
    {
      ScopedContext current(*driver_, *context);
      x = driver_->Alloc(kCount * sizeof(float)).value();
      y = driver_->Alloc(kCount * sizeof(float)).value();
      if (own_stream) stream = driver_->CreateStream().value();
      ASSERT_TRUE(driver_->CopyToDevice(x, host.data(), kCount * sizeof(float), stream).ok());
      ASSERT_TRUE(driver_->Fill8(y, 0xFF, kCount * sizeof(float), stream).ok());
      ASSERT_TRUE(driver_->SynchronizeContext().ok());
    }
    const CudaContext before = driver_->CurrentContext().value();
    const Tensor in[] = {Tensor::Contiguous(x, DType::kFloat32, {kCount}, device),
                         Tensor::Contiguous(x, DType::kFloat32, {kCount}, device)};
    const Tensor out = Tensor::Contiguous(y, DType::kFloat32, {kCount}, device);
    CallOptions options;
    options.stream = stream;
    for (int i = 0; i < 3; ++i) {  // a miss, then hits
      const absl::Status status = runtime_->Call("AddFwdOp", in, {&out, 1}, {}, options);
      ASSERT_TRUE(status.ok()) << status;
      EXPECT_EQ(driver_->CurrentContext().value(), before);
    }
    ScopedContext current(*driver_, *context);
    std::vector<float> sums(kCount);
    ASSERT_TRUE(driver_->CopyToHost(sums.data(), y, kCount * sizeof(float), stream).ok());
    ASSERT_TRUE(driver_->SynchronizeContext().ok());
    for (int64_t i = 0; i < kCount; ++i) ASSERT_EQ(sums[i], 2 * host[i]) << i;
    EXPECT_TRUE(driver_->Free(x).ok());
    EXPECT_TRUE(driver_->Free(y).ok());
    if (own_stream) {
      EXPECT_TRUE(driver_->DestroyStream(stream).ok());
    }
    EXPECT_TRUE(driver_->ReleasePrimaryContext(device).ok());
  }

  std::shared_ptr<Driver> driver_;
  std::unique_ptr<Runtime> runtime_;
};

// A thread whose first CUDA action is a call has no current context; the call brings its own.
TEST_F(DevicesGpuTest, FreshThreadWithoutAContext) {
  AddOn(0, true);
  std::thread fresh([&] {
    ASSERT_EQ(driver_->CurrentContext().value(), nullptr);
    AddOn(0, true);
    AddOn(0, false);
    EXPECT_EQ(driver_->CurrentContext().value(), nullptr);
  });
  fresh.join();
}

// Each device runs its own calls, whatever is current; hits go to the device of the tensors.
TEST_F(DevicesGpuTest, EveryDeviceWhateverIsCurrent) {
  const int count = driver_->DeviceCount().value();
  for (int current = 0; current < count; ++current) {
    const CudaContext context = driver_->RetainPrimaryContext(current).value();
    {
      ScopedContext scope(*driver_, context);
      for (int device = 0; device < count; ++device) AddOn(device, true);
      AddOn(current, false);  // the default stream is that of the current context
      EXPECT_EQ(driver_->CurrentDevice().value(), current);
    }
    EXPECT_TRUE(driver_->ReleasePrimaryContext(current).ok());
  }
}

// Memory of another device, and a stream of another device, are refused before a launch.
TEST_F(DevicesGpuTest, MemoryAndStreamsOfAnotherDevice) {
  if (driver_->DeviceCount().value() < 2) GTEST_SKIP() << "needs two GPUs";
  const CudaContext first = driver_->RetainPrimaryContext(0).value();
  const CudaContext second = driver_->RetainPrimaryContext(1).value();
  void* here = nullptr;
  void* there = nullptr;
  CudaStream stream_there = nullptr;
  {
    ScopedContext scope(*driver_, second);
    there = driver_->Alloc(1024).value();
    stream_there = driver_->CreateStream().value();
  }
  ScopedContext scope(*driver_, first);
  here = driver_->Alloc(1024).value();
  const Tensor in[] = {Tensor::Contiguous(here, DType::kFloat32, {16}),
                       Tensor::Contiguous(here, DType::kFloat32, {16})};
  const Tensor wrong = Tensor::Contiguous(there, DType::kFloat32, {16});
  EXPECT_THAT(std::string(runtime_->Call("AddFwdOp", in, {&wrong, 1}).message()),
              ::testing::HasSubstr("expected memory of device 0, got memory of device 1"));
  const Tensor out = Tensor::Contiguous(here, DType::kFloat32, {16});
  // Also where the call is known, and nothing of the other device was ever used here.
  ASSERT_TRUE(runtime_->Call("AddFwdOp", in, {&out, 1}).ok());
  CallOptions options;
  options.stream = stream_there;
  EXPECT_THAT(std::string(runtime_->Call("AddFwdOp", in, {&out, 1}, {}, options).message()),
              ::testing::HasSubstr("stream: expected one of device 0"));
  {
    ScopedContext elsewhere(*driver_, second);
    EXPECT_THAT(std::string(runtime_->Call("AddFwdOp", in, {&out, 1}).message()),
                ::testing::HasSubstr("stream: expected one of device 0"));
  }
  EXPECT_TRUE(driver_->SynchronizeContext().ok());
  EXPECT_TRUE(driver_->Free(here).ok());
  EXPECT_TRUE(driver_->ReleasePrimaryContext(0).ok());
  EXPECT_TRUE(driver_->ReleasePrimaryContext(1).ok());
}

}  // namespace
}  // namespace tilewright
