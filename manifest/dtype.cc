#include "manifest/dtype.h"

#include <array>

#include "manifest/nearest_name.h"

namespace tilewright {
namespace {

struct Row {
  std::string_view name;
  int size;
};
constexpr std::array<Row, kDTypeCount> kRows = {{
    {"bool", 1},
    {"uint8", 1},
    {"int8", 1},
    {"int16", 2},
    {"int32", 4},
    {"int64", 8},
    {"float8_e4m3fn", 1},
    {"float8_e5m2", 1},
    {"float16", 2},
    {"bfloat16", 2},
    {"float32", 4},
    {"float64", 8},
    {"complex64", 8},
    {"complex128", 16},
}};

}  // namespace

int DTypeSize(DType dtype) { return kRows[static_cast<size_t>(dtype)].size; }

std::string_view DTypeName(DType dtype) { return kRows[static_cast<size_t>(dtype)].name; }

std::optional<DType> ParseDType(std::string_view name) {
  for (size_t i = 0; i < kRows.size(); ++i) {
    if (kRows[i].name == name) return static_cast<DType>(i);
  }
  return std::nullopt;
}

std::string DidYouMeanDType(std::string_view name) { return DidYouMean(name, NamesOf(kRows)); }

bool IsFloating(DType dtype) { return dtype >= DType::kFloat8E4M3 && dtype <= DType::kFloat64; }

bool IsComplex(DType dtype) { return dtype == DType::kComplex64 || dtype == DType::kComplex128; }

bool IsInteger(DType dtype) { return dtype >= DType::kUint8 && dtype <= DType::kInt64; }

}  // namespace tilewright
