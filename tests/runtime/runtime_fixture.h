// A runtime over the fake driver and the fake compiler, with the two test operators.
#ifndef TILEWRIGHT_TESTS_RUNTIME_RUNTIME_FIXTURE_H_
#define TILEWRIGHT_TESTS_RUNTIME_RUNTIME_FIXTURE_H_

#include <gtest/gtest.h>

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "runtime/runtime.h"
#include "tests/runtime/fake_compiler.h"
#include "tests/runtime/fake_driver.h"
#include "tests/runtime/sum_op.h"

namespace tilewright {

class RuntimeFixture : public ::testing::Test {
 protected:
  RuntimeFixture() : driver_(std::make_shared<FakeDriver>(std::vector<FakeDevice>(2))) {
    buffer_.resize(1 << 20);
    const auto address = reinterpret_cast<uintptr_t>(buffer_.data());
    base_ = buffer_.data() + (256 - address % 256);
  }

  RuntimeOptions Options() {
    RuntimeOptions options;
    options.driver = driver_;
    options.compiler = compiler_;
    options.logger = [this](LogLevel, std::string_view text) {
      std::lock_guard<std::mutex> lock(log_mutex_);
      log_.emplace_back(text);
    };
    return options;
  }
  void Open(RuntimeOptions options) {
    runtime_.reset();
    auto opened = Runtime::Open(std::move(options));
    ASSERT_TRUE(opened.ok()) << opened.status();
    runtime_ = *std::move(opened);
    const absl::Status registered = runtime_->Register(ScaleAndSumOps());
    ASSERT_TRUE(registered.ok()) << registered;
  }
  void Open() { Open(Options()); }

  // The calling thread uses device 0 as an embedder does.
  void MakeCurrent(int device = 0) {
    ASSERT_TRUE(driver_->PushContext(driver_->PrimaryContext(device)).ok());
  }

  Tensor X(int64_t rows, int64_t inner, int device = 0) {
    return Tensor::Contiguous(base_, DType::kFloat32, {rows, inner}, device);
  }
  Tensor Y(int64_t rows, int64_t inner, int device = 0) {
    return Tensor::Contiguous(base_ + (1 << 19), DType::kFloat32, {rows, inner}, device);
  }
  absl::Status Scale(int64_t rows, int64_t inner = 64, CudaStream stream = nullptr,
                     int device = 0) {
    const Tensor x = X(rows, inner, device);
    const Tensor y = Y(rows, inner, device);
    CallOptions options;
    options.stream = stream;
    return runtime_->Call("ScaleTestOp", {&x, 1}, {&y, 1}, {}, options);
  }
  absl::Status Sum(const CallOptions& options = {}, int64_t rows = 8, int64_t inner = 64) {
    const Tensor x = X(rows, inner);
    const Tensor y = Tensor::Contiguous(base_ + (1 << 19), DType::kFloat32, {1});
    return runtime_->Call("SumTestOp", {&x, 1}, {&y, 1}, {}, options);
  }
  // The same call as Scale() makes, described.
  CallDesc ScaleCall(int64_t rows, int64_t inner = 64) {
    Operand x;
    x.desc = TensorDesc::Contiguous(DType::kFloat32, {rows, inner});
    return InferCall(*runtime_->Spec("ScaleTestOp"), {&x, 1}, {}).value();
  }
  Explanation ExplainScale(int64_t rows) {
    return runtime_->Explain(ScaleCall(rows), runtime_->Device(0).value()).value();
  }
  std::vector<std::string> Log() {
    std::lock_guard<std::mutex> lock(log_mutex_);
    return log_;
  }

  std::shared_ptr<FakeDriver> driver_;
  std::shared_ptr<FakeCompiler> compiler_ = std::make_shared<FakeCompiler>();
  std::vector<std::byte> buffer_;
  std::byte* base_ = nullptr;
  std::mutex log_mutex_;
  std::vector<std::string> log_;
  std::unique_ptr<Runtime> runtime_;
};

}  // namespace tilewright

#endif  // TILEWRIGHT_TESTS_RUNTIME_RUNTIME_FIXTURE_H_
