#include "manifest/float_format.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "manifest/reference.h"

namespace tilewright {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

const FloatFormat kFormats[] = {kFloat16Format, kBFloat16Format, kFloat8E4M3Format,
                                kFloat8E5M2Format};

uint32_t Codes(const FloatFormat& format) { return 2 * format.sign_mask(); }

// Guards: decoding then encoding gives back every bit pattern of every format (NaN stays NaN).
TEST(FloatFormatTest, EveryPatternSurvivesARoundTrip) {
  for (const FloatFormat& format : kFormats) {
    for (uint32_t bits = 0; bits < Codes(format); ++bits) {
      const double value = DecodeFloat(format, bits);
      const uint32_t again = EncodeFloat(format, value);
      if (std::isnan(value)) {
        EXPECT_TRUE(std::isnan(DecodeFloat(format, again)));
      } else if (std::isinf(value)) {
        EXPECT_EQ(again, bits);
      } else {
        ASSERT_EQ(again, bits) << value;
      }
    }
  }
}

// Guards: decoded fp16 equals the compiler's own conversion, bf16 the top half of a float.
TEST(FloatFormatTest, DecodingAgreesWithHardwareTypes) {
  for (uint32_t bits = 0; bits < 65536; ++bits) {
    const auto upper = std::bit_cast<float>(bits << 16);
    const double decoded = DecodeFloat(kBFloat16Format, bits);
    if (std::isnan(upper)) {
      EXPECT_TRUE(std::isnan(decoded));
    } else {
      ASSERT_EQ(decoded, upper);
    }
    const auto half = std::bit_cast<_Float16>(static_cast<uint16_t>(bits));
    const auto expected = static_cast<double>(half);
    if (std::isnan(expected)) {
      EXPECT_TRUE(std::isnan(DecodeFloat(kFloat16Format, bits)));
    } else {
      ASSERT_EQ(DecodeFloat(kFloat16Format, bits), expected);
    }
  }
}

// Guards: between every two neighbouring numbers, the midpoint goes to the even code and a value
// just beside it to the nearer one; subnormals included.
TEST(FloatFormatTest, RoundsToNearestEvenEverywhere) {
  for (const FloatFormat& format : kFormats) {
    const uint32_t last = format.first_special() - 1;
    for (uint32_t code = 0; code < last; ++code) {
      const double low = DecodeFloat(format, code);
      const double high = DecodeFloat(format, code + 1);
      const double middle = (low + high) / 2;
      ASSERT_LT(low, high);
      ASSERT_EQ(EncodeFloat(format, middle), code % 2 == 0 ? code : code + 1) << middle;
      ASSERT_EQ(EncodeFloat(format, std::nextafter(middle, 0.0)), code);
      ASSERT_EQ(EncodeFloat(format, std::nextafter(middle, kInf)), code + 1);
      ASSERT_EQ(EncodeFloat(format, -middle), format.sign_mask() | EncodeFloat(format, middle));
    }
  }
}

// Guards: overflow to infinity at half a step past the largest number, saturation for e4m3.
TEST(FloatFormatTest, Overflow) {
  EXPECT_EQ(EncodeFloat(kFloat16Format, 65519.99), 0x7bff);
  EXPECT_EQ(EncodeFloat(kFloat16Format, 65520.0), 0x7c00);
  EXPECT_EQ(EncodeFloat(kFloat16Format, -1e300), 0xfc00);
  EXPECT_EQ(EncodeFloat(kBFloat16Format, 3.4e38), 0x7f80);
  EXPECT_EQ(EncodeFloat(kFloat8E5M2Format, 61439.0), 0x7b);
  EXPECT_EQ(EncodeFloat(kFloat8E5M2Format, 61440.0), 0x7c);
  const auto e4m3 = [](double value) {
    return DecodeFloat(kFloat8E4M3Format, EncodeFloat(kFloat8E4M3Format, value));
  };
  EXPECT_EQ(e4m3(300), 288);
  EXPECT_EQ(e4m3(272), 256);
  EXPECT_EQ(e4m3(304), 320);
  EXPECT_EQ(e4m3(465), 448);
  EXPECT_EQ(e4m3(1000), 448);
  EXPECT_EQ(e4m3(-kInf), -448);
  EXPECT_TRUE(std::isnan(e4m3(kNan)));
  EXPECT_EQ(e4m3(0x1p-9), 0x1p-9);
  EXPECT_EQ(EncodeFloat(kFloat8E4M3Format, 0x1p-10), 0);
  EXPECT_EQ(EncodeFloat(kFloat16Format, -0.0), 0x8000);
}

// Guards: double to fp16 and bf16 rounds once (never through float), as _Float16 does.
TEST(FloatFormatTest, RandomDoublesRoundAsTheCompilerDoes) {
  std::mt19937_64 random(3);
  std::uniform_real_distribution<double> exponent(-30, 18);
  for (int i = 0; i < 200000; ++i) {
    const double value = std::exp2(exponent(random)) * (i % 2 == 0 ? 1 : -1);
    const auto half = std::bit_cast<uint16_t>(static_cast<_Float16>(value));
    ASSERT_EQ(EncodeFloat(kFloat16Format, value), half) << value;
  }
  // Just above the midpoint of 1 and the next bf16; a float would round it onto the midpoint.
  EXPECT_EQ(EncodeFloat(kBFloat16Format, 1.00390625 + 0x1p-40), 0x3f81);
  EXPECT_EQ(EncodeFloat(kBFloat16Format, 1.00390625), 0x3f80);
}

// Guards: loads and stores of every dtype at an offset, integer wrap and bool.
TEST(ReferenceTest, LoadsAndStoresEveryDType) {
  const DType all[] = {DType::kBool,      DType::kUint8,     DType::kInt8,       DType::kInt16,
                       DType::kInt32,     DType::kInt64,     DType::kFloat8E4M3, DType::kFloat8E5M2,
                       DType::kFloat16,   DType::kBFloat16,  DType::kFloat32,    DType::kFloat64,
                       DType::kComplex64, DType::kComplex128};
  for (const DType dtype : all) {
    std::vector<unsigned char> data(96, 0xee);
    StoreFromDouble(data.data(), dtype, 3, 1.0);
    EXPECT_EQ(LoadAsDouble(data.data(), dtype, 3), 1.0) << DTypeName(dtype);
    EXPECT_EQ(LoadAsInt(data.data(), dtype, 3), 1) << DTypeName(dtype);
    const int size = DTypeSize(dtype);
    EXPECT_EQ(data[static_cast<size_t>(3 * size - 1)], 0xee);
    EXPECT_EQ(data[static_cast<size_t>(4 * size)], 0xee);
    StoreFromInt(data.data(), dtype, 1, 0);
    EXPECT_EQ(LoadAsInt(data.data(), dtype, 1), 0);
  }
  std::vector<unsigned char> data(64);
  StoreFromInt(data.data(), DType::kInt8, 0, 130);
  EXPECT_EQ(LoadAsInt(data.data(), DType::kInt8, 0), -126);
  StoreFromInt(data.data(), DType::kUint8, 0, -1);
  EXPECT_EQ(LoadAsInt(data.data(), DType::kUint8, 0), 255);
  StoreFromInt(data.data(), DType::kBool, 0, 256);
  EXPECT_EQ(LoadAsInt(data.data(), DType::kBool, 0), 1);
  StoreFromDouble(data.data(), DType::kInt64, 0, 1e30);
  EXPECT_EQ(LoadAsInt(data.data(), DType::kInt64, 0), std::numeric_limits<int64_t>::max());
  StoreFromDouble(data.data(), DType::kInt32, 0, kNan);
  EXPECT_EQ(LoadAsInt(data.data(), DType::kInt32, 0), 0);
  StoreFromDouble(data.data(), DType::kFloat32, 0, 1e300);
  EXPECT_EQ(LoadAsDouble(data.data(), DType::kFloat32, 0), kInf);
}

// Guards: the number before infinity, or before NaN where there is no infinity.
TEST(FloatFormatTest, LargestFiniteNumbers) {
  EXPECT_EQ(LargestFinite(DType::kFloat8E4M3), 448);
  EXPECT_EQ(LargestFinite(DType::kFloat8E5M2), 57344);
  EXPECT_EQ(LargestFinite(DType::kFloat16), 65504);
  EXPECT_EQ(LargestFinite(DType::kBFloat16), 0x1.fep127);
  EXPECT_EQ(LargestFinite(DType::kFloat32), 0x1.fffffep127);
  EXPECT_EQ(LargestFinite(DType::kFloat64), 0x1.fffffffffffffp1023);
}

}  // namespace
}  // namespace tilewright
