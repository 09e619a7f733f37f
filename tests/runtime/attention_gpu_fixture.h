// Calls of attention on a GPU, on tensors of their own memory.
#ifndef TILEWRIGHT_TESTS_RUNTIME_ATTENTION_GPU_FIXTURE_H_
#define TILEWRIGHT_TESTS_RUNTIME_ATTENTION_GPU_FIXTURE_H_

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "kernel_templates/recipe.h"
#include "manifest/op_spec.h"
#include "tests/runtime/gpu_values_fixture.h"

namespace tilewright {

inline constexpr DType kHalf = DType::kFloat16;
inline constexpr DType kBrain = DType::kBFloat16;
inline constexpr DType kNarrow = DType::kFloat8E4M3;
inline constexpr DType kIndex = DType::kInt32;

class AttentionGpuFixture : public GpuValuesFixture {
 protected:
  void TearDown() override {
    for (std::byte* tensor : tensors_) {
      EXPECT_TRUE(driver_->Free(tensor).ok());
    }
    GpuValuesFixture::TearDown();
  }

  // A tensor of its own memory that holds the values from the `shift`-th byte on.
  Tensor Place(DType dtype, const Dims& shape, const std::vector<double>& values, int shift = 0) {
    std::vector<std::byte> bytes(static_cast<size_t>(DTypeSize(dtype)) * values.size());
    for (size_t i = 0; i < values.size(); ++i) {
      StoreFromDouble(bytes.data(), dtype, static_cast<int64_t>(i), values[i]);
    }
    auto* data = static_cast<std::byte*>(driver_->Alloc(bytes.size() + 256).value());
    tensors_.push_back(data);
    Fill(data + shift, bytes);
    return Tensor::Contiguous(data + shift, dtype, shape);
  }
  void Fill(void* data, const std::vector<std::byte>& bytes) {
    ASSERT_TRUE(driver_->CopyToDevice(data, bytes.data(), bytes.size(), stream_).ok());
    ASSERT_TRUE(driver_->SynchronizeStream(stream_).ok());
  }
  void Change(const Tensor& tensor, const std::vector<double>& values) {
    std::vector<std::byte> bytes(static_cast<size_t>(DTypeSize(tensor.desc.dtype)) * values.size());
    for (size_t i = 0; i < values.size(); ++i) {
      StoreFromDouble(bytes.data(), tensor.desc.dtype, static_cast<int64_t>(i), values[i]);
    }
    Fill(tensor.data, bytes);
  }
  // An output of NaNs.
  Tensor Blank(DType dtype, const Dims& shape) {
    int64_t count = 1;
    for (const int64_t extent : shape) count *= extent;
    return Place(dtype, shape, std::vector<double>(static_cast<size_t>(count), NAN));
  }
  std::vector<double> Call(std::string_view op, const std::vector<Tensor>& inputs,
                           const std::vector<Tensor>& outputs,
                           const std::vector<NamedParam>& params) {
    CallOptions options;
    options.stream = stream_;
    const absl::Status status = runtime_->Call(op, inputs, outputs, params, options);
    EXPECT_TRUE(status.ok()) << status;
    return Read(outputs[0]);
  }
  // The variant that serves such a call.
  std::string Variant(std::string_view op, const std::vector<Tensor>& inputs, const Tensor& output,
                      const std::vector<NamedParam>& params) {
    std::vector<Operand> operands;
    for (const Tensor& input : inputs) {
      const auto address = reinterpret_cast<uintptr_t>(input.data);
      operands.push_back({input.desc, static_cast<uint32_t>((address | 256) & -(address | 256))});
    }
    const Operand out = {output.desc};
    const auto call = MakeCall(*Manifest::FindBuiltin(op), operands, {&out, 1}, params);
    if (!call.ok()) return call.status().ToString();
    const auto recipe = MakeBuiltinRecipe(op);
    const auto variant = SelectVariant(*recipe, *call, runtime_->Device(0).value());
    return variant.ok() ? std::string((*variant)->name()) : variant.status().ToString();
  }

  std::vector<std::byte*> tensors_;
};

}  // namespace tilewright

#endif  // TILEWRIGHT_TESTS_RUNTIME_ATTENTION_GPU_FIXTURE_H_
