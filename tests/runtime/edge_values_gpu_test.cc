// Values at which kernels go wrong, on a GPU: chosen inputs, results known by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "tests/runtime/gpu_values_fixture.h"

namespace tilewright {
namespace {

using ::testing::AnyOf;
using ::testing::Contains;
using ::testing::DoubleNear;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::IsNan;

using EdgeValuesGpuTest = GpuValuesFixture;

constexpr double kInfinity = INFINITY;

TEST_F(EdgeValuesGpuTest, SoftmaxKeepsNanAndSumsInFloat) {
  const Tensor nan = Put(0, kFloat, {1, 3}, {NAN, 6, 8});
  for (double value : Run("SoftmaxFwdOp", {nan}, Poisoned(kFloat, {1, 3}))) {
    EXPECT_TRUE(std::isnan(value));
  }
  // In bfloat16 a sum of ones would stop at 256.
  const DType b = DType::kBFloat16;
  for (const Dims& shape : {Dims{1, 512}, Dims{512, 1}}) {
    const int64_t dim = shape[0] == 1 ? 1 : 0;
    const Tensor equal = Put(0, b, shape, std::vector<double>(512, 3.0));
    EXPECT_THAT(Run("SoftmaxFwdOp", {equal}, Poisoned(b, shape), {{"dim", dim}}),
                Each(0.001953125));
  }
}

TEST_F(EdgeValuesGpuTest, GemmAccumulatesInFloat) {
  const DType h = DType::kFloat16;
  const Tensor b = Put(1, h, {8, 8}, std::vector<double>(64, 1.0));
  for (int64_t m : {1, 8, 64, 130}) {
    std::vector<double> values;
    for (int64_t i = 0; i < m * 8; ++i) values.push_back(i % 8 < 4 ? 32000 : -32000);
    const Tensor a = Put(0, h, {m, 8}, values);
    EXPECT_THAT(Run("GemmFwdOp", {a, b}, Poisoned(h, {m, 8})), Each(0.0)) << m;
  }
}

TEST_F(EdgeValuesGpuTest, GemmWithoutKIsZero) {
  for (int64_t m : {1, 5, 64}) {
    const Tensor a = Tensor::Contiguous(nullptr, DType::kFloat16, {m, 0});
    const Tensor b = Tensor::Contiguous(nullptr, DType::kFloat16, {24, 0});
    EXPECT_THAT(Run("GemmFwdOp", {a, b}, Poisoned(DType::kFloat16, {m, 24})), Each(0.0)) << m;
  }
}

// An operator that runs in place must have run once when its first call returns.
TEST_F(EdgeValuesGpuTest, AddInPlaceRunsOnce) {
  const Tensor x = Put(0, kFloat, {3}, {-1, 2, 0.25});
  const Tensor one = Put(1, kFloat, {}, {1});
  EXPECT_THAT(Run("AddFwdOp", {x, one}, x, {{"alpha", 0.5}}), ElementsAre(-0.5, 2.5, 0.75));
}

TEST_F(EdgeValuesGpuTest, AddBroadcastsReversesAndWraps) {
  const Tensor column = Put(0, kFloat, {3, 1}, {10, 20, 30});
  const Tensor row = Put(1, kFloat, {1, 2}, {1, 2});
  EXPECT_THAT(Run("AddFwdOp", {column, row}, Poisoned(kFloat, {3, 2})),
              ElementsAre(11, 12, 21, 22, 31, 32));
  Tensor reversed = row;
  reversed.data = static_cast<float*>(row.data) + 1;
  reversed.desc.strides = {2, -1};
  EXPECT_THAT(Run("AddFwdOp", {column, reversed}, Poisoned(kFloat, {3, 2})),
              ElementsAre(12, 11, 22, 21, 32, 31));
  const Tensor scalar = Put(0, DType::kInt8, {}, {100});
  const Tensor other = Put(1, DType::kInt8, {}, {27});
  EXPECT_THAT(Run("AddFwdOp", {scalar, other}, Poisoned(DType::kInt8, {}), {{"alpha", 2}}),
              ElementsAre(-102));
}

// Guards: the first call of an operator in place, cold, writes its result once.
TEST_F(EdgeValuesGpuTest, LeakyReluInPlaceRunsOnce) {
  const Tensor x = Put(0, kFloat, {3}, {-1, 2, -4});
  EXPECT_THAT(Run("LeakyReluFwdOp", {x}, x, {{"negative_slope", 0.5}}), ElementsAre(-0.5, 2, -2));
}

// The squares of large halves are beyond float16's range.
TEST_F(EdgeValuesGpuTest, RmsNormSumsInFloat) {
  for (const DType dtype : {DType::kFloat16, DType::kBFloat16}) {
    const Tensor x = Put(0, dtype, {2, 512}, std::vector<double>(1024, 32768.0));
    const Tensor weight = Put(1, dtype, {512}, std::vector<double>(512, -2.0));
    EXPECT_THAT(Run("RMSNormFwdOp", {x, weight}, Poisoned(dtype, {2, 512}),
                    {{"normalized_shape", Dims{512}}}),
                Each(-2.0));
  }
}

// No window of padding alone; the part beyond extent + padding is not in the divisor.
TEST_F(EdgeValuesGpuTest, CeilModePoolingCountsWhatIsThere) {
  const Tensor ones = Put(0, kFloat, {1, 1, 4, 4}, std::vector<double>(16, 1.0));
  EXPECT_THAT(Run("AvgPool2dFwdOp", {ones}, Poisoned(kFloat, {1, 1, 2, 3}),
                  {{"kernel_size", Dims{1, 2}},
                   {"stride", Dims{2}},
                   {"padding", Dims{0, 1}},
                   {"ceil_mode", true}}),
              ElementsAre(0.5, 1, 0.5, 0.5, 1, 0.5));
  std::vector<double> values;
  for (int i = 0; i < 49; ++i) values.push_back(i);
  const Tensor square = Put(0, kFloat, {1, 1, 7, 7}, values);
  EXPECT_THAT(Run("AvgPool2dFwdOp", {square}, Poisoned(kFloat, {1, 1, 3, 3}),
                  {{"kernel_size", Dims{2}}, {"stride", Dims{3}}, {"ceil_mode", true}}),
              ElementsAre(4, 7, 9.5, 25, 28, 30.5, 42.5, 45.5, 48));
}

TEST_F(EdgeValuesGpuTest, MaxPoolKeepsNan) {
  const Tensor nan = Put(0, kFloat, {1, 1, 6}, {NAN, 6, 8, -kInfinity, -kInfinity, -kInfinity});
  const std::vector<double> best =
      Run("MaxPool1dFwdOp", {nan}, Poisoned(kFloat, {1, 1, 2}), {{"kernel_size", Dims{3}}});
  EXPECT_TRUE(std::isnan(best[0]));
  EXPECT_EQ(best[1], -INFINITY);
}

TEST_F(EdgeValuesGpuTest, CumsumNeitherRestartsNorDrifts) {
  const Tensor ones = Put(0, DType::kFloat16, {8}, std::vector<double>(8, 1.0));
  EXPECT_THAT(Run("CumsumFwdOp", {ones}, ones), ElementsAre(1, 2, 3, 4, 5, 6, 7, 8));  // in place
  constexpr int64_t kLength = 72192;
  std::vector<double> values;
  for (int64_t i = 0; i < kLength; ++i) {
    values.push_back(static_cast<float>(0.009 + 1e-5 * static_cast<double>(i % 7)));
  }
  const Tensor x = Put(0, kFloat, {kLength}, values);
  const std::vector<double> sums = Run("CumsumFwdOp", {x}, Poisoned(kFloat, {kLength}));
  double sum = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    sum += values[i];
    ASSERT_NEAR(sums[i], sum, 1e-6 * sum) << i;
  }
}

// A part of a product that leaves float32's range must not turn a zero or an infinity into NaN.
TEST_F(EdgeValuesGpuTest, CumprodKeepsZerosAndInfinities) {
  constexpr int64_t kLength = 4096;
  std::vector<double> values(kLength, 1e30);
  values[3] = 0;
  const Tensor large = Put(0, kFloat, {kLength}, values);
  const std::vector<double> zeros = Run("CumprodFwdOp", {large}, Poisoned(kFloat, {kLength}));
  for (size_t i = 3; i < zeros.size(); ++i) ASSERT_EQ(zeros[i], 0) << i;
  std::fill(values.begin(), values.end(), 1e-30);
  values[3] = INFINITY;
  const Tensor small = Put(0, kFloat, {kLength}, values);
  const std::vector<double> infinite = Run("CumprodFwdOp", {small}, Poisoned(kFloat, {kLength}));
  for (size_t i = 3; i < infinite.size(); ++i) ASSERT_EQ(infinite[i], INFINITY) << i;
}

// Division rounds towards minus infinity and the remainder has the divisor's sign.
TEST_F(EdgeValuesGpuTest, DivisionFloors) {
  for (const DType dtype : {DType::kFloat16, DType::kBFloat16, kFloat}) {
    const Tensor a = Put(0, dtype, {6}, {-7, 7, -7, 7, 6, -0.25});
    const Tensor b = Put(1, dtype, {6}, {2, -2, -2, 2, 3, INFINITY});
    EXPECT_THAT(Run("FloorDivideFwdOp", {a, b}, Poisoned(dtype, {6})),
                ElementsAre(-4, -4, 3, 3, 2, -1));
    EXPECT_THAT(Run("RemainderFwdOp", {a, b}, Poisoned(dtype, {6})),
                ElementsAre(1, -1, -1, 1, 0, INFINITY));
  }
}

TEST_F(EdgeValuesGpuTest, DivisionRoundsAsAsked) {
  const Tensor a = Put(0, kFloat, {4}, {-7, 7, -7, 7});
  const Tensor b = Put(1, kFloat, {4}, {2, -2, -2, 2});
  const Tensor output = Poisoned(kFloat, {4});
  EXPECT_THAT(Run("DivFwdOp", {a, b}, output), ElementsAre(-3.5, -3.5, 3.5, 3.5));
  EXPECT_THAT(Run("DivFwdOp", {a, b}, output, {{"rounding_mode", 0}}), ElementsAre(-3, -3, 3, 3));
  EXPECT_THAT(Run("DivFwdOp", {a, b}, output, {{"rounding_mode", 1}}), ElementsAre(-4, -4, 3, 3));
}

TEST_F(EdgeValuesGpuTest, PowerOfZeroAndOfNegativeNumbers) {
  const Tensor base = Put(0, kFloat, {4}, {-1, 0, -2, 0});
  const Tensor exponent = Put(1, kFloat, {4}, {2, 0, 3, -1});
  EXPECT_THAT(Run("PowFwdOp", {base, exponent}, Poisoned(kFloat, {4})),
              ElementsAre(1, 1, -8, INFINITY));
}

// Zeros, infinities, NaN, negative numbers, whole and odd powers, the largest and the smallest:
// each to the power of each, as C has it.
TEST_F(EdgeValuesGpuTest, PowerOfEveryKindOfNumber) {
  struct Kind {
    DType dtype;
    double least, most, relative;  // normal results
  };
  for (const Kind& kind :
       {Kind{kFloat, 1.2e-38, 3.4e38, 2e-6}, Kind{DType::kBFloat16, 1.2e-38, 3.3e38, 4e-3},
        Kind{DType::kFloat16, 6.2e-5, 65000, 6e-4}}) {
    std::vector<double> values = {0,    1, -1,   2,    -2,   3,   -3,  0.5,       -0.5,      1.5,
                                  -0.0, 7, -7.5, 1025, -100, 300, NAN, kInfinity, -kInfinity};
    for (double extreme : {kind.least, -kind.least, kind.most / 2, -kind.most / 2}) {
      values.push_back(extreme);
    }
    for (double& value : values) {  // as the dtype holds it
      std::byte bytes[4];
      StoreFromDouble(bytes, kind.dtype, 0, value);
      value = LoadAsDouble(bytes, kind.dtype, 0);
    }
    const auto count = static_cast<int64_t>(values.size());
    const Tensor a = Put(0, kind.dtype, {count, 1}, values);
    const Tensor b = Put(1, kind.dtype, {1, count}, values);
    const std::vector<double> powers =
        Run("PowFwdOp", {a, b}, Poisoned(kind.dtype, {count, count}));
    for (size_t i = 0; i < powers.size(); ++i) {
      const double x = values[i / values.size()], y = values[i % values.size()];
      const double expected = std::pow(x, y);
      const double size = std::fabs(expected);
      if (std::isnan(expected)) {
        EXPECT_TRUE(std::isnan(powers[i])) << x << " to the " << y << ": " << powers[i];
      } else if (size == 0 || size == INFINITY) {
        EXPECT_EQ(powers[i], expected) << x << " to the " << y;
        EXPECT_EQ(std::signbit(powers[i]), std::signbit(expected)) << x << " to the " << y;
      } else if (size >= kind.least && size <= kind.most) {
        EXPECT_NEAR(powers[i], expected, kind.relative * size) << x << " to the " << y;
      } else {
        EXPECT_EQ(std::signbit(powers[i]), std::signbit(expected)) << x << " to the " << y;
      }
    }
  }
}

TEST_F(EdgeValuesGpuTest, ClampAndMaximumKeepNan) {
  for (const DType dtype : {DType::kFloat16, DType::kBFloat16, kFloat}) {
    const Tensor x = Put(0, dtype, {4}, {NAN, 2, 0.5, -2});
    const std::vector<NamedParam> bounds = {{"min", -1.0}, {"max", 1.0}};
    EXPECT_THAT(Run("ClampScalarFwdOp", {x}, Poisoned(dtype, {4}), bounds),
                ElementsAre(IsNan(), 1, 0.5, -1));
    const Tensor other = Put(1, dtype, {4}, {6, NAN, -kInfinity, kInfinity});
    EXPECT_THAT(Run("MaximumFwdOp", {x, other}, Poisoned(dtype, {4})),
                ElementsAre(IsNan(), IsNan(), 0.5, INFINITY));
    EXPECT_THAT(Run("MinimumFwdOp", {x, other}, Poisoned(dtype, {4})),
                ElementsAre(IsNan(), IsNan(), -INFINITY, -2));
  }
}

// Bounds that are tensors, one of them absent; a bound of NaN is the result.
TEST_F(EdgeValuesGpuTest, ClampByTensorsKeepsNan) {
  const Tensor x = Put(0, kFloat, {4}, {NAN, 2, 0.5, -2});
  const Tensor low = Put(1, kFloat, {}, {-1});
  EXPECT_THAT(Run("ClampFwdOp", {x, low, Tensor::Absent()}, Poisoned(kFloat, {4})),
              ElementsAre(IsNan(), 2, 0.5, -1));
  const Tensor high = Put(1, kFloat, {}, {1});
  EXPECT_THAT(Run("ClampFwdOp", {x, Tensor::Absent(), high}, Poisoned(kFloat, {4})),
              ElementsAre(IsNan(), 1, 0.5, -2));
  const Tensor lows = Put(1, kFloat, {4}, {0, NAN, 1, 0});
  EXPECT_THAT(Run("ClampFwdOp", {x, lows, Tensor::Absent()}, Poisoned(kFloat, {4})),
              ElementsAre(IsNan(), IsNan(), 1, 0));
}

// Sums are kept in float32: in float16 they would overflow, in bfloat16 stop at 256.
TEST_F(EdgeValuesGpuTest, AveragesAndScansAccumulateInFloat) {
  const std::vector<double> ends = {32000, 32000, 32000, 32000, -32000, -32000, -32000, -32000};
  const Tensor x = Put(0, DType::kFloat16, {1, 1, 8}, ends);
  const std::vector<NamedParam> all = {{"kernel_size", Dims{8}}};
  EXPECT_THAT(Run("AvgPool1dFwdOp", {x}, Poisoned(DType::kFloat16, {1, 1, 1}), all),
              ElementsAre(0));
  EXPECT_EQ(Run("CumsumFwdOp", {x}, Poisoned(DType::kFloat16, {1, 1, 8})).back(), 0);
  const DType b = DType::kBFloat16;
  const Tensor ones = Put(0, b, {1, 1, 16, 32}, std::vector<double>(512, 1.0));
  const std::vector<NamedParam> plane = {{"output_size", Dims{1, 1}}};
  EXPECT_THAT(Run("AdaptiveAvgPool2dFwdOp", {ones}, Poisoned(b, {1, 1, 1, 1}), plane),
              ElementsAre(1));
  EXPECT_EQ(Run("CumsumFwdOp", {ones}, Poisoned(b, {1, 1, 16, 32}), {{"dim", 2}}).back(), 16);
  const Tensor line = Put(0, b, {512}, std::vector<double>(512, 1.0));
  EXPECT_EQ(Run("CumsumFwdOp", {line}, Poisoned(b, {512})).back(), 512);
}

// Rows of 46 elements of 2 bytes are not 16-aligned; nor is a tensor that begins one element on.
TEST_F(EdgeValuesGpuTest, MisalignedRowsAreRead) {
  const DType b = DType::kBFloat16;
  std::vector<double> values;
  for (int i = 0; i <= 3 * 46; ++i) values.push_back(i);
  Tensor shifted = Put(0, b, {3 * 46 + 1}, values);
  shifted.data = static_cast<std::byte*>(shifted.data) + DTypeSize(b);
  shifted.desc = TensorDesc::Contiguous(b, {3, 46});
  const std::vector<double> negative = Run("NegFwdOp", {shifted}, Poisoned(b, {3, 46}));
  for (int i = 0; i < 3 * 46; ++i) EXPECT_EQ(negative[static_cast<size_t>(i)], -(i + 1)) << i;
}

// A row of zeros has a finite scale; halves go to even and nothing passes 448.
TEST_F(EdgeValuesGpuTest, Fp8QuantRoundsAndSaturates) {
  std::vector<double> rows(16, 0.0);
  const double values[] = {448, 300, 272, 304, -465.0 / 2, 1000.0 / 4, 1, -448};
  std::copy(std::begin(values), std::end(values), rows.begin() + 8);
  const Tensor x = Put(0, kFloat, {1, 2, 1, 8}, rows);
  const Tensor scale = Put(1, kFloat, {1, 2, 1}, {-1, -1});
  const Tensor output = Poisoned(DType::kFloat8E4M3, {1, 2, 1, 8});
  const Tensor outputs[] = {scale, output};
  CallOptions options;
  options.stream = stream_;
  ASSERT_TRUE(runtime_->Call("FP8QuantFwdOp", {&x, 1}, outputs, {}, options).ok());
  EXPECT_THAT(Read(scale), ElementsAre(DoubleNear(1e-4 / 448, 1e-12), 1));
  EXPECT_THAT(Read(output),
              ElementsAre(0, 0, 0, 0, 0, 0, 0, 0, 448, 288, 256, 320, -240, 256, 1, -448));
}

// The mask of an element is that of its place, however the tensor lies; a captured graph would read
// new seeds from memory.
TEST_F(EdgeValuesGpuTest, DropoutMaskIsOfTheElement) {
  constexpr int64_t kRows = 37, kColumns = 64;
  const Dims shape = {kRows, kColumns};
  const std::vector<double> ones(static_cast<size_t>(kRows * kColumns), 1.0);
  const Tensor x = Put(0, kFloat, shape, ones);
  const std::vector<NamedParam> seed = {{"p", 0.5}, {"seed", 11}, {"offset", 4}};
  const std::vector<double> dense = Run("DropoutFwdOp", {x}, Poisoned(kFloat, shape), seed);
  EXPECT_THAT(dense, Contains(0.0));
  EXPECT_THAT(dense, Contains(2.0));
  EXPECT_THAT(dense, Each(AnyOf(0.0, 2.0)));
  Tensor turned = x;  // all elements are 1: any layout will do
  turned.desc.strides = {1, kRows};
  EXPECT_EQ(Run("DropoutFwdOp", {turned}, Poisoned(kFloat, shape), seed), dense);
  const Tensor state = Put(1, DType::kInt64, {2}, {10, 3});
  const std::vector<NamedParam> rest = {{"p", 0.5}, {"seed", 1}, {"offset", 1}};
  EXPECT_EQ(Run("DropoutFwdOp", {x, state}, Poisoned(kFloat, shape), rest), dense);
  EXPECT_NE(Run("DropoutFwdOp", {x}, Poisoned(kFloat, shape), rest), dense);
}

}  // namespace
}  // namespace tilewright
