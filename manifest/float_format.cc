#include "manifest/float_format.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace tilewright {
namespace {

// 2^exponent, for exponents of normal doubles.
double PowerOfTwo(int exponent) {
  return std::bit_cast<double>(static_cast<uint64_t>(exponent + 1023) << 52);
}

}  // namespace

double DecodeFloat(const FloatFormat& format, uint32_t bits) {
  const bool negative = (bits & format.sign_mask()) != 0;
  const uint32_t magnitude = bits & (format.sign_mask() - 1);
  const int exponent = static_cast<int>(magnitude >> format.mantissa_bits);
  const uint32_t mantissa = magnitude & ((1u << format.mantissa_bits) - 1);
  double value = 0;
  if (magnitude > format.first_special() || (!format.ieee && magnitude == format.first_special())) {
    value = std::numeric_limits<double>::quiet_NaN();
  } else if (magnitude == format.first_special()) {
    value = std::numeric_limits<double>::infinity();
  } else {
    // The smallest exponent's numbers lack the hidden bit and share the scale of exponent 1.
    const uint32_t significand = exponent == 0 ? mantissa : mantissa | (1u << format.mantissa_bits);
    const int scale = std::max(exponent, 1) - format.bias() - format.mantissa_bits;
    value = significand * PowerOfTwo(scale);
  }
  return negative ? -value : value;
}

uint32_t EncodeFloat(const FloatFormat& format, double value) {
  const uint32_t sign = std::signbit(value) ? format.sign_mask() : 0;
  if (std::isnan(value)) {
    const uint32_t quiet = format.ieee ? 1u << (format.mantissa_bits - 1) : 0;
    return sign | format.first_special() | quiet;
  }
  const double magnitude = std::fabs(value);
  const uint32_t overflow = format.ieee ? format.first_special() : format.first_special() - 1;
  const int lowest = 1 - format.bias();  // exponent of the smallest normal number
  const int highest = (1 << format.exponent_bits) - 1 - format.bias();
  if (magnitude >= PowerOfTwo(highest + 1)) return sign | overflow;
  const int exponent = magnitude < PowerOfTwo(lowest) ? lowest : std::ilogb(magnitude);
  // Scaling by a power of two is exact, so that this is the only rounding.
  const auto steps = static_cast<uint32_t>(
      std::nearbyint(magnitude * PowerOfTwo(format.mantissa_bits - exponent)));
  // A carry out of the mantissa moves to the next exponent by itself.
  const uint32_t code = (static_cast<uint32_t>(exponent - lowest) << format.mantissa_bits) + steps;
  return sign | std::min(code, overflow);
}

double LargestFinite(DType dtype) {
  const auto of = [](const FloatFormat& format) {
    return DecodeFloat(format, format.first_special() - 1);
  };
  switch (dtype) {
    case DType::kFloat8E4M3:
      return of(kFloat8E4M3Format);
    case DType::kFloat8E5M2:
      return of(kFloat8E5M2Format);
    case DType::kFloat16:
      return of(kFloat16Format);
    case DType::kBFloat16:
      return of(kBFloat16Format);
    case DType::kFloat32:
      return std::numeric_limits<float>::max();
    default:
      return std::numeric_limits<double>::max();
  }
}

}  // namespace tilewright
