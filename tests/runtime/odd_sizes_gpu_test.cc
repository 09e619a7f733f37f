// Sizes and places at which addresses go wrong, on a GPU, for one operator of each kind.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "tests/runtime/gpu_values_fixture.h"

namespace tilewright {
namespace {

using ::testing::DoubleNear;
using ::testing::Each;

constexpr DType kHalf = DType::kFloat16;

class OddSizesGpuTest : public GpuValuesFixture {
 protected:
  // The same elements as `dense`, moved to begin `elements` after a buffer's aligned begin.
  Tensor Shifted(const Tensor& dense, int64_t elements) {
    const int64_t bytes = dense.desc.elements() * DTypeSize(dense.desc.dtype);
    std::vector<std::byte> host(static_cast<size_t>(bytes));
    EXPECT_TRUE(driver_->CopyToHost(host.data(), dense.data, host.size(), stream_).ok());
    Tensor moved = dense;
    moved.data = static_cast<std::byte*>(dense.data) + elements * DTypeSize(dense.desc.dtype);
    EXPECT_TRUE(driver_->CopyToDevice(moved.data, host.data(), host.size(), stream_).ok());
    EXPECT_TRUE(driver_->SynchronizeStream(stream_).ok());
    return moved;
  }
};

// Guards: rows of 46 elements of 2 bytes, from one element past an aligned address on.
TEST_F(OddSizesGpuTest, RowsOf46OneElementOn) {
  const DType b = DType::kBFloat16;
  std::vector<double> values;
  for (int i = 0; i < 3 * 46; ++i) values.push_back(i % 3);
  const Tensor x = Shifted(Put(0, b, {3, 46}, values), 1);
  const std::vector<double> sum = Run("AddFwdOp", {x, x}, Poisoned(b, {3, 46}));
  for (size_t i = 0; i < sum.size(); ++i) ASSERT_EQ(sum[i], 2 * values[i]) << i;
  const std::vector<double> gated = Run("SiluAndMulFwdOp", {x}, Poisoned(b, {3, 23}));
  for (size_t i = 0; i < gated.size(); ++i) {
    const double gate = values[i / 23 * 46 + i % 23];
    const double expected = gate / (1 + std::exp(-gate)) * values[i / 23 * 46 + 23 + i % 23];
    ASSERT_NEAR(gated[i], expected, 0.01 * std::fabs(expected)) << i;
  }
  const std::vector<double> soft = Run("SoftmaxFwdOp", {x}, Poisoned(b, {3, 46}));
  const double total = 16 + 15 * std::exp(1) + 15 * std::exp(2);  // as row 0 begins with 0
  for (size_t i = 0; i < 46; ++i) {
    ASSERT_NEAR(soft[i], std::exp(values[i]) / total, 0.01 * std::exp(values[i]) / total) << i;
  }
  const Tensor ones = Shifted(Put(1, b, {8, 46}, std::vector<double>(368, 1.0)), 1);
  const std::vector<double> products = Run("GemmFwdOp", {x, ones}, Poisoned(b, {3, 8}));
  for (size_t row = 0; row < 3; ++row) {
    double expected = 0;
    for (size_t k = 0; k < 46; ++k) expected += values[row * 46 + k];
    for (size_t i = 0; i < 8; ++i) ASSERT_EQ(products[row * 8 + i], expected) << row;
  }
  const Tensor weight = Shifted(Put(1, b, {46}, std::vector<double>(46, 1.0)), 1);
  const std::vector<double> normal =
      Run("RMSNormFwdOp", {x, weight}, Poisoned(b, {3, 46}), {{"normalized_shape", Dims{46}}});
  const double mean_square = (15 + 15 * 4) / 46.0;
  for (size_t i = 0; i < 46; ++i) {
    const double expected = values[i] / std::sqrt(mean_square);
    ASSERT_NEAR(normal[i], expected, 0.01 * expected + 1e-6) << i;
  }
}

// Guards: elements past the 2^31st are read and written where they are. All elements of an input
// are the same, so that each result is known.
TEST_F(OddSizesGpuTest, PastTwoToThe31) {
  constexpr int64_t kCount = (int64_t{1} << 31) + 1024;
  constexpr int kByte = 0x3c;
  constexpr double kValue = 1.05859375;  // float16 of the bytes 3c 3c
  std::vector<void*> memory;
  for (int i = 0; i < 2; ++i) {
    const auto allocated = driver_->Alloc(2 * kCount);
    if (!allocated.ok()) break;
    memory.push_back(*allocated);
  }
  const auto run = [&](std::string_view op, const Dims& x, const Dims& out, double expected,
                       std::vector<Dims> more = {}, std::vector<NamedParam> params = {}) {
    ASSERT_TRUE(driver_->Fill8(memory[0], kByte, 2 * kCount, stream_).ok());
    ASSERT_TRUE(driver_->Fill8(memory[1], 0xff, 2 * kCount, stream_).ok());
    ASSERT_TRUE(driver_->Fill8(buffers_[1], kByte, kBufferBytes, stream_).ok());
    std::vector<Tensor> inputs = {Tensor::Contiguous(memory[0], kHalf, x)};
    for (const Dims& shape : more) {
      inputs.push_back(Tensor::Contiguous(buffers_[1], kHalf, shape));
    }
    const Tensor output = Tensor::Contiguous(memory[1], kHalf, out);
    CallOptions options;
    options.stream = stream_;
    const absl::Status status = runtime_->Call(op, inputs, {&output, 1}, params, options);
    ASSERT_TRUE(status.ok()) << status;
    // The first elements and the last.
    for (const int64_t first : {int64_t{0}, output.desc.elements() - 1024}) {
      const Tensor part =
          Tensor::Contiguous(static_cast<std::byte*>(output.data) + 2 * first, kHalf, {1024});
      EXPECT_THAT(Read(part), Each(DoubleNear(expected, 1e-3 * expected))) << op << " " << first;
    }
  };
  if (memory.size() == 2) {
    const Dims rows = {kCount / 512, 512};
    run("AddFwdOp", rows, rows, 2 * kValue, {{512}});
    run("SoftmaxFwdOp", rows, rows, 1.0 / 512);
    run("RMSNormFwdOp", rows, rows, kValue, {{512}}, {{"normalized_shape", Dims{512}}});
    run("SiluAndMulFwdOp", {kCount / 1024, 1024}, {kCount / 1024, 512},
        kValue * kValue / (1 + std::exp(-kValue)));
    run("GemmFwdOp", rows, {kCount / 512, 8}, 512 * kValue * kValue, {{8, 512}});
  }
  for (void* data : memory) EXPECT_TRUE(driver_->Free(data).ok());
  if (memory.size() < 2) GTEST_SKIP() << "needs " << 4 * kCount << " bytes of device memory";
}

}  // namespace
}  // namespace tilewright
