#include "manifest/param_value.h"

#include <cmath>

#include "manifest/status.h"

namespace tilewright {

std::string ParamValue::ToString() const {
  switch (kind_) {
    case Kind::kNull:
      return "null";
    case Kind::kBool:
      return as_bool() ? "true" : "false";
    case Kind::kInt:
      return Cat(int_);
    case Kind::kFloat:
      return std::isnan(float_) ? "nan" : Cat(float_);  // whatever its sign
    case Kind::kIntList:
      return list_.ToString();
    case Kind::kDType:
      return Cat(DTypeName(as_dtype()));
  }
  return "";
}

}  // namespace tilewright
