// A runtime on a GPU with a few buffers, for calls on chosen values.
#ifndef TILEWRIGHT_TESTS_RUNTIME_GPU_VALUES_FIXTURE_H_
#define TILEWRIGHT_TESTS_RUNTIME_GPU_VALUES_FIXTURE_H_

#include <gtest/gtest.h>

#include <string_view>
#include <vector>

#include "manifest/reference.h"
#include "tests/runtime/gpu_fixture.h"

namespace tilewright {

inline constexpr DType kFloat = DType::kFloat32;
inline constexpr int64_t kBufferBytes = 1 << 20;

class GpuValuesFixture : public GpuFixture {
 protected:
  void SetUp() override {
    GpuFixture::SetUp();
    if (!Ready()) return;
    for (std::byte*& buffer : buffers_) {
      buffer = static_cast<std::byte*>(driver_->Alloc(kBufferBytes).value());
    }
  }
  void TearDown() override {
    for (std::byte* buffer : buffers_) {
      if (buffer != nullptr) {
        EXPECT_TRUE(driver_->Free(buffer).ok());
      }
    }
    GpuFixture::TearDown();
  }

  // A tensor in buffer `index` that holds the values, dense from the buffer's first element on.
  Tensor Put(int index, DType dtype, const Dims& shape, const std::vector<double>& values) {
    std::vector<std::byte> bytes(static_cast<size_t>(DTypeSize(dtype)) * values.size());
    for (size_t i = 0; i < values.size(); ++i) {
      StoreFromDouble(bytes.data(), dtype, static_cast<int64_t>(i), values[i]);
    }
    std::byte* data = buffers_[static_cast<size_t>(index)];
    EXPECT_TRUE(driver_->CopyToDevice(data, bytes.data(), bytes.size(), stream_).ok());
    EXPECT_TRUE(driver_->SynchronizeStream(stream_).ok());
    return Tensor::Contiguous(data, dtype, shape);
  }
  Tensor Poisoned(DType dtype, const Dims& shape) {
    EXPECT_TRUE(driver_->Fill8(buffers_[2], 0xff, kBufferBytes, stream_).ok());
    return Tensor::Contiguous(buffers_[2], dtype, shape);
  }
  // Calls, and returns what the dense output then holds.
  std::vector<double> Run(std::string_view op, const std::vector<Tensor>& inputs,
                          const Tensor& output, const std::vector<NamedParam>& params = {}) {
    CallOptions options;
    options.stream = stream_;
    const absl::Status status = runtime_->Call(op, inputs, {&output, 1}, params, options);
    EXPECT_TRUE(status.ok()) << status;
    return Read(output);
  }
  // What a dense tensor holds.
  std::vector<double> Read(const Tensor& output) {
    const auto count = static_cast<size_t>(output.desc.elements());
    std::vector<std::byte> bytes(count * static_cast<size_t>(DTypeSize(output.desc.dtype)));
    EXPECT_TRUE(driver_->CopyToHost(bytes.data(), output.data, bytes.size(), stream_).ok());
    EXPECT_TRUE(driver_->SynchronizeStream(stream_).ok());
    std::vector<double> values;
    for (size_t i = 0; i < count; ++i) {
      values.push_back(LoadAsDouble(bytes.data(), output.desc.dtype, static_cast<int64_t>(i)));
    }
    return values;
  }

  std::byte* buffers_[3] = {nullptr, nullptr, nullptr};
};

}  // namespace tilewright

#endif  // TILEWRIGHT_TESTS_RUNTIME_GPU_VALUES_FIXTURE_H_
