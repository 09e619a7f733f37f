// Element types of tensors.
#ifndef TILEWRIGHT_MANIFEST_DTYPE_H_
#define TILEWRIGHT_MANIFEST_DTYPE_H_

#include <cstdint>
#include <optional>
#include <string_view>

namespace tilewright {

// The numeric values are stable: they enter persisted keys.
enum class DType : uint8_t {
  kBool = 0,
  kUint8 = 1,
  kInt8 = 2,
  kInt16 = 3,
  kInt32 = 4,
  kInt64 = 5,
  kFloat8E4M3 = 6,
  kFloat8E5M2 = 7,
  kFloat16 = 8,
  kBFloat16 = 9,
  kFloat32 = 10,
  kFloat64 = 11,
  kComplex64 = 12,
  kComplex128 = 13,
};
inline constexpr int kDTypeCount = 14;

// Bytes of one element.
int DTypeSize(DType dtype);
// The manifest's spelling: "float16", "float8_e4m3fn", ...
std::string_view DTypeName(DType dtype);
std::optional<DType> ParseDType(std::string_view name);
// "; did you mean 'float16'?", or empty: what ends a message on a name that is no dtype.
std::string DidYouMeanDType(std::string_view name);
bool IsFloating(DType dtype);  // fp8, fp16, bf16, fp32, fp64
bool IsComplex(DType dtype);
bool IsInteger(DType dtype);  // signed and unsigned integers; not bool

}  // namespace tilewright

#endif  // TILEWRIGHT_MANIFEST_DTYPE_H_
