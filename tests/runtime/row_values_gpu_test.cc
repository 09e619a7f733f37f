// Values at which reductions and norms go wrong, on a GPU: chosen inputs, results known by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <vector>

#include "tests/runtime/gpu_values_fixture.h"

namespace tilewright {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::IsNan;

constexpr DType kHalf = DType::kFloat16;
constexpr DType kBrain = DType::kBFloat16;

class RowValuesGpuTest : public GpuValuesFixture {
 protected:
  absl::Status Try(std::string_view op, const Tensor& input, const Tensor& output,
                   const std::vector<NamedParam>& params) {
    CallOptions options;
    options.stream = stream_;
    return runtime_->Call(op, {&input, 1}, {&output, 1}, params, options);
  }
};

// Guards: no element is no grid of 0 CTAs and no division of nothing, but the identity.
TEST_F(RowValuesGpuTest, ReductionsOfNothing) {
  for (const Dims& shape : {Dims{0}, Dims{1, 0}}) {
    const Tensor none = Tensor::Contiguous(nullptr, kFloat, shape);
    const auto of = [&](std::string_view op, DType dtype) {
      return Run(op, {none}, Poisoned(dtype, {}));
    };
    EXPECT_THAT(of("SumFwdOp", kFloat), ElementsAre(0));
    EXPECT_THAT(of("MeanFwdOp", kFloat), ElementsAre(IsNan()));
    EXPECT_THAT(of("AllFwdOp", DType::kBool), ElementsAre(1));
    EXPECT_THAT(of("AnyFwdOp", DType::kBool), ElementsAre(0));
    EXPECT_THAT(of("CountNonzeroFwdOp", DType::kInt64), ElementsAre(0));
  }
  const Tensor row = Tensor::Contiguous(nullptr, kFloat, {1, 0});
  EXPECT_THAT(Run("ProdFwdOp", {row}, Poisoned(kFloat, {1}), {{"dim", -1}}), ElementsAre(1));
  const Tensor pair = Tensor::Contiguous(nullptr, kFloat, {2, 0});
  for (const std::string_view op : {"AmaxFwdOp", "AminFwdOp"}) {
    EXPECT_EQ(Try(op, pair, Poisoned(kFloat, {2}), {{"dim", Dims{1}}}).code(),
              absl::StatusCode::kInvalidArgument);
    EXPECT_EQ(Try(op, pair, Poisoned(kFloat, {0}), {{"dim", Dims{0}}}), absl::OkStatus());
  }
  EXPECT_EQ(Try("ArgmaxFwdOp", pair, Poisoned(DType::kInt64, {2}), {{"dim", 1}}).code(),
            absl::StatusCode::kInvalidArgument);
}

// Guards: NaN is the largest and the smallest, and its first position the best; along rows, and
// along columns of 16 equal ones.
TEST_F(RowValuesGpuTest, LargestAndItsPlaceKeepNan) {
  const std::vector<std::vector<double>> rows = {{NAN, 6, 8}, {INFINITY, NAN, 9}};
  for (const DType dtype : {kHalf, kBrain, kFloat}) {
    for (size_t r = 0; r < rows.size(); ++r) {
      const auto place = static_cast<double>(r);
      std::vector<double> columns;
      for (const double value : rows[r]) columns.insert(columns.end(), 16, value);
      const Tensor row = Put(0, dtype, {3}, rows[r]);
      const Tensor column = Put(1, dtype, {3, 16}, columns);
      for (const std::string_view op : {"AmaxFwdOp", "AminFwdOp"}) {
        EXPECT_THAT(Run(op, {row}, Poisoned(dtype, {})), ElementsAre(IsNan()));
        EXPECT_THAT(Run(op, {column}, Poisoned(dtype, {16}), {{"dim", Dims{0}}}), Each(IsNan()));
      }
      for (const std::string_view op : {"ArgmaxFwdOp", "ArgminFwdOp"}) {
        EXPECT_THAT(Run(op, {row}, Poisoned(DType::kInt64, {})), ElementsAre(place));
        EXPECT_THAT(Run(op, {column}, Poisoned(DType::kInt64, {16}), {{"dim", 0}}), Each(place));
      }
    }
  }
}

// Guards: terms beyond float16's range may cancel; a sum of ones passes 256 in bfloat16.
TEST_F(RowValuesGpuTest, SumsAreInFloat) {
  std::vector<double> values(4, 32000);
  values.insert(values.end(), 4, -32000);
  const Tensor large = Put(0, kHalf, {8}, values);
  EXPECT_THAT(Run("SumFwdOp", {large}, Poisoned(kHalf, {})), ElementsAre(0));
  EXPECT_THAT(Run("MeanFwdOp", {large}, Poisoned(kHalf, {})), ElementsAre(0));
  EXPECT_THAT(Run("L1NormFwdOp", {large}, Poisoned(kHalf, {})), ElementsAre(INFINITY));
  for (const Dims& shape : {Dims{1, 512}, Dims{512, 1}, Dims{512, 16}}) {
    const int axis = shape[0] == 1 ? 1 : 0;
    const auto count = static_cast<size_t>(shape[0] * shape[1]);
    const Tensor ones = Put(0, kBrain, shape, std::vector<double>(count, 1.0));
    const Tensor output = Poisoned(kBrain, {shape[1 - axis]});
    EXPECT_THAT(Run("SumFwdOp", {ones}, output, {{"dim", Dims{axis}}}), Each(512));
  }
}

// Guards: groups of 3 channels do not read or write those beside them.
TEST_F(RowValuesGpuTest, GroupsOfThreeChannelsAreNormal) {
  constexpr int64_t kGroups = 16;
  constexpr int64_t kEach = int64_t{3} * 32 * 32;
  std::vector<double> values;
  for (int64_t i = 0; i < kGroups * kEach; ++i) {
    const int64_t group = i / kEach;
    values.push_back(static_cast<double>(i * 37 % 101) + 50.0 * static_cast<double>(group));
  }
  const Dims shape = {1, 48, 32, 32};
  const Tensor x = Put(0, kFloat, shape, values);
  const std::vector<double> y = Run("GroupNormFwdOp", {x, Tensor::Absent(), Tensor::Absent()},
                                    Poisoned(kFloat, shape), {{"num_groups", kGroups}});
  ASSERT_EQ(y.size(), values.size());
  for (int64_t g = 0; g < kGroups; ++g) {
    double sum = 0;
    double squares = 0;
    for (int64_t i = g * kEach; i < (g + 1) * kEach; ++i) {
      const double value = y[static_cast<size_t>(i)];
      sum += value;
      squares += value * value;
    }
    EXPECT_NEAR(sum / kEach, 0, 1e-5) << g;
    EXPECT_NEAR(std::sqrt(squares / kEach), 1, 1e-5) << g;
  }
}

// Guards: rows of 46 bfloat16 are not 16-aligned; nor is a tensor that begins one element on.
TEST_F(RowValuesGpuTest, MisalignedRowsAreRead) {
  constexpr int64_t kRows = 3;
  constexpr int64_t kLength = 46;
  std::vector<double> values(kRows * kLength + 1);
  for (size_t i = 1; i < values.size(); ++i) {
    const size_t row = (i - 1) / kLength;
    values[i] = static_cast<double>(row + ((i - 1) % kLength == 45 ? 2 : 0));
  }
  Tensor x = Put(0, kBrain, {kRows * kLength + 1}, values);
  x.data = static_cast<std::byte*>(x.data) + DTypeSize(kBrain);
  x.desc = TensorDesc::Contiguous(kBrain, {kRows, kLength});
  EXPECT_THAT(Run("SumFwdOp", {x}, Poisoned(kBrain, {kRows}), {{"dim", Dims{1}}}),
              ElementsAre(2, 48, 94));
  EXPECT_THAT(Run("ArgmaxFwdOp", {x}, Poisoned(DType::kInt64, {kRows}), {{"dim", 1}}),
              Each(kLength - 1));
  const Tensor ones = Put(1, kBrain, {kLength}, std::vector<double>(kLength, 1.0));
  const std::vector<double> y =
      Run("LayerNormFwdOp", {x, ones, ones}, Poisoned(kBrain, {kRows, kLength}),
          {{"normalized_shape", Dims{kLength}}});
  // One element stands 2 above the others: by sqrt(45) deviations, they are by 1 / sqrt(45) below.
  for (size_t i = 0; i < y.size(); ++i) {
    const double expected = i % kLength == 45 ? 1 + std::sqrt(45.0) : 1 - 1 / std::sqrt(45.0);
    EXPECT_NEAR(y[i], expected, 0.02) << i;
  }
}

// Guards: positions beyond 2^31 elements.
class FarRowsGpuTest : public RowValuesGpuTest {
 protected:
  static constexpr int64_t kFar = (int64_t{1} << 31) + 4096;  // elements

  void TearDown() override {
    for (void* buffer : large_) EXPECT_TRUE(driver_->Free(buffer).ok());
    RowValuesGpuTest::TearDown();
  }
  // Zeros of float16; null where the device has not the memory.
  std::byte* Zeros(int64_t elements) {
    const auto bytes = static_cast<size_t>(elements * DTypeSize(kHalf));
    absl::StatusOr<void*> buffer = driver_->Alloc(bytes);
    if (!buffer.ok()) return nullptr;
    large_.push_back(*buffer);
    EXPECT_TRUE(driver_->Fill8(*buffer, 0, bytes, stream_).ok());
    return static_cast<std::byte*>(*buffer);
  }
  void Plant(std::byte* data, int64_t first, const std::vector<double>& values) {
    std::vector<std::byte> bytes(2 * values.size());
    for (size_t i = 0; i < values.size(); ++i) {
      StoreFromDouble(bytes.data(), kHalf, static_cast<int64_t>(i), values[i]);
    }
    EXPECT_TRUE(driver_->CopyToDevice(data + 2 * first, bytes.data(), bytes.size(), stream_).ok());
    EXPECT_TRUE(driver_->SynchronizeStream(stream_).ok());
  }

  std::vector<void*> large_;
};

TEST_F(FarRowsGpuTest, SumAndPlaceOfTheLargest) {
  std::byte* data = Zeros(kFar);
  if (data == nullptr) GTEST_SKIP() << "needs " << 2 * kFar << " bytes";
  Plant(data, kFar - 1, {3});
  const Tensor flat = Tensor::Contiguous(data, kHalf, {kFar});
  EXPECT_THAT(Run("ArgmaxFwdOp", {flat}, Poisoned(DType::kInt64, {})), ElementsAre(kFar - 1));
  EXPECT_THAT(Run("SumFwdOp", {flat}, Poisoned(kHalf, {})), ElementsAre(3));
  EXPECT_THAT(Run("CountNonzeroFwdOp", {flat}, Poisoned(DType::kInt64, {})), ElementsAre(1));
  // The last of many rows; and a column that is longer than 2^31 elements apart.
  constexpr int64_t kLength = 4096;
  constexpr int64_t kRows = kFar / kLength;
  const Tensor rows = Tensor::Contiguous(data, kHalf, {kRows, kLength});
  const std::vector<double> sums =
      Run("SumFwdOp", {rows}, Tensor::Contiguous(Zeros(kRows), kHalf, {kRows}), {{"dim", Dims{1}}});
  EXPECT_EQ(sums.back(), 3);
  EXPECT_EQ(std::accumulate(sums.begin(), sums.end(), 0.0), 3);
  const std::vector<double> places =
      Run("ArgmaxFwdOp", {rows}, Poisoned(DType::kInt64, {kLength}), {{"dim", 0}});
  EXPECT_EQ(places.back(), kRows - 1);
  EXPECT_EQ(std::accumulate(places.begin(), places.end(), 0.0), kRows - 1);
}

TEST_F(FarRowsGpuTest, NormOfTheLastRow) {
  constexpr int64_t kLength = 4096;
  constexpr int64_t kRows = kFar / kLength;
  std::byte* x = Zeros(kFar);
  std::byte* y = x == nullptr ? nullptr : Zeros(kFar);
  if (y == nullptr) GTEST_SKIP() << "needs " << 4 * kFar << " bytes";
  std::vector<double> last(kLength);
  for (size_t i = 0; i < last.size(); ++i) last[i] = i % 2 == 0 ? 8 : -8;
  Plant(x, kFar - kLength, last);
  const Tensor ones = Put(0, kHalf, {kLength}, std::vector<double>(kLength, 1.0));
  const Tensor zeros = Put(1, kHalf, {kLength}, std::vector<double>(kLength, 0.0));
  const Tensor input = Tensor::Contiguous(x, kHalf, {kRows, kLength});
  const Tensor output = Tensor::Contiguous(y, kHalf, {kRows, kLength});
  const Tensor inputs[] = {input, ones, zeros};
  const NamedParam params[] = {{"normalized_shape", Dims{kLength}}};
  CallOptions options;
  options.stream = stream_;
  ASSERT_EQ(runtime_->Call("LayerNormFwdOp", inputs, {&output, 1}, params, options),
            absl::OkStatus());
  const std::vector<double> end =
      Read(Tensor::Contiguous(y + 2 * (kFar - kLength), kHalf, {kLength}));
  for (size_t i = 0; i < end.size(); ++i) ASSERT_EQ(end[i], i % 2 == 0 ? 1 : -1) << i;
  EXPECT_THAT(Read(Tensor::Contiguous(y + 2 * (kFar - 2 * kLength), kHalf, {kLength})), Each(0));
}

}  // namespace
}  // namespace tilewright
