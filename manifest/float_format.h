// Bit codes of the small floating formats: what a stored number means, and rounding into one.
#ifndef TILEWRIGHT_MANIFEST_FLOAT_FORMAT_H_
#define TILEWRIGHT_MANIFEST_FLOAT_FORMAT_H_

#include <cstdint>

#include "manifest/dtype.h"

namespace tilewright {

// A binary format of at most 16 bits: sign, exponent, mantissa, from high to low.
struct FloatFormat {
  int exponent_bits = 0;
  int mantissa_bits = 0;
  // True: the highest exponent is infinity and NaN (IEEE). False: it holds numbers, except that all
  // ones is NaN, and there is no infinity (OCP e4m3fn).
  bool ieee = true;

  constexpr int bias() const { return (1 << (exponent_bits - 1)) - 1; }
  constexpr uint32_t sign_mask() const { return 1u << (exponent_bits + mantissa_bits); }
  // The code of +infinity, or of NaN where there is no infinity.
  constexpr uint32_t first_special() const {
    return ieee ? ((1u << exponent_bits) - 1) << mantissa_bits : sign_mask() - 1;
  }
};

inline constexpr FloatFormat kFloat16Format{5, 10, true};
inline constexpr FloatFormat kBFloat16Format{8, 7, true};
inline constexpr FloatFormat kFloat8E4M3Format{4, 3, false};
inline constexpr FloatFormat kFloat8E5M2Format{5, 2, true};

// Exact.
double DecodeFloat(const FloatFormat& format, uint32_t bits);
// Rounds once, to nearest even, subnormals included. Beyond the largest number: infinity, or the
// largest number where the format has no infinity (saturating, infinities too). NaN stays NaN.
uint32_t EncodeFloat(const FloatFormat& format, double value);

// The largest finite number of a floating dtype; float64's for any other.
double LargestFinite(DType dtype);

}  // namespace tilewright

#endif  // TILEWRIGHT_MANIFEST_FLOAT_FORMAT_H_
