// The value of one operator parameter.
#ifndef TILEWRIGHT_MANIFEST_PARAM_VALUE_H_
#define TILEWRIGHT_MANIFEST_PARAM_VALUE_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "manifest/dtype.h"
#include "manifest/tensor_desc.h"

namespace tilewright {

// A small tagged value without heap storage: copying one allocates nothing. Lists hold up to
// kMaxRank integers.
class ParamValue {
 public:
  enum class Kind : uint8_t { kNull, kBool, kInt, kFloat, kIntList, kDType };

  constexpr ParamValue() = default;
  constexpr ParamValue(bool value) : kind_(Kind::kBool), int_(value) {}
  constexpr ParamValue(int value) : kind_(Kind::kInt), int_(value) {}
  constexpr ParamValue(int64_t value) : kind_(Kind::kInt), int_(value) {}
  constexpr ParamValue(double value) : kind_(Kind::kFloat), float_(value) {}
  constexpr ParamValue(const Dims& value) : kind_(Kind::kIntList), list_(value) {}
  constexpr ParamValue(DType value) : kind_(Kind::kDType), int_(static_cast<int>(value)) {}

  constexpr Kind kind() const { return kind_; }
  constexpr bool is_null() const { return kind_ == Kind::kNull; }
  constexpr bool as_bool() const { return int_ != 0; }
  constexpr int64_t as_int() const { return int_; }
  // Integers widen to double.
  constexpr double as_float() const {
    return kind_ == Kind::kFloat ? float_ : static_cast<double>(int_);
  }
  constexpr const Dims& as_list() const { return list_; }
  constexpr DType as_dtype() const { return static_cast<DType>(int_); }

  friend constexpr bool operator==(const ParamValue& a, const ParamValue& b) {
    return a.kind_ == b.kind_ && a.int_ == b.int_ && a.float_ == b.float_ && a.list_ == b.list_;
  }
  std::string ToString() const;

 private:
  Kind kind_ = Kind::kNull;
  int64_t int_ = 0;
  double float_ = 0;
  Dims list_;
};

// A parameter given by name; order does not matter, absent ones take the manifest's default.
struct NamedParam {
  std::string_view name;
  ParamValue value;
};

}  // namespace tilewright

#endif  // TILEWRIGHT_MANIFEST_PARAM_VALUE_H_
