// Guards the short forms that functions of 16 bits take: every one of their numbers, against double
// precision.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "tests/runtime/gpu_values_fixture.h"

namespace tilewright {
namespace {

struct Function {
  const char* op;
  double (*exact)(double);
};

class SixteenBitGpuTest : public GpuValuesFixture {
 protected:
  static std::vector<double> AllNumbers(DType dtype) {
    std::vector<double> numbers;
    for (uint32_t bits = 0; bits < 65536; ++bits) {
      const auto half = static_cast<uint16_t>(bits);
      numbers.push_back(LoadAsDouble(&half, dtype, 0));
    }
    return numbers;
  }
  // What the dtype holds in place of `value`, and the number next to it away from 0.
  static double Rounded(double value, DType dtype) {
    uint16_t half = 0;
    StoreFromDouble(&half, dtype, 0, value);
    return LoadAsDouble(&half, dtype, 0);
  }
  static double LastPlace(double rounded, DType dtype) {
    uint16_t half = 0;
    StoreFromDouble(&half, dtype, 0, std::fabs(rounded));
    ++half;
    const double next = LoadAsDouble(&half, dtype, 0);
    return std::isfinite(next) ? next - std::fabs(rounded) : 0;
  }

  void CheckAll(const Function& function, DType dtype) {
    const std::vector<double> numbers = AllNumbers(dtype);
    const Dims shape = {65536};
    const std::vector<double> results =
        Run(function.op, {Put(0, dtype, shape, numbers)}, Poisoned(dtype, shape));
    ASSERT_EQ(results.size(), numbers.size());
    int off = 0;
    for (size_t i = 0; i < numbers.size(); ++i) {
      const double want = Rounded(function.exact(numbers[i]), dtype);
      if (std::isnan(want) || std::isinf(want) || want == 0) {
        const bool same =
            std::isnan(want) ? std::isnan(results[i])
                             : results[i] == want && std::signbit(results[i]) == std::signbit(want);
        EXPECT_TRUE(same) << numbers[i] << ": expected " << want << ", got " << results[i];
        continue;
      }
      if (results[i] != want) ++off;
      EXPECT_LE(std::fabs(results[i] - want), LastPlace(want, dtype)) << numbers[i];
    }
    // The forms are within a tenth of a last place, so few results round to the other neighbour.
    EXPECT_LE(off, 65536 / 20);
  }
};

TEST_F(SixteenBitGpuTest, EveryNumberIsWithinALastPlace) {
  const Function functions[] = {{"LogFwdOp", std::log},
                                {"Log1pFwdOp", std::log1p},
                                {"SinFwdOp", std::sin},
                                {"CosFwdOp", std::cos},
                                {"ErfFwdOp", std::erf}};
  for (const Function& function : functions) {
    for (const DType dtype : {DType::kFloat16, DType::kBFloat16}) {
      SCOPED_TRACE(testing::Message() << function.op << " " << DTypeName(dtype));
      CheckAll(function, dtype);
    }
  }
}

}  // namespace
}  // namespace tilewright
