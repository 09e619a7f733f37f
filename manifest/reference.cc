#include "manifest/reference.h"

#include <cmath>
#include <cstring>
#include <limits>

#include "manifest/float_format.h"

namespace tilewright {
namespace {

template <class T>
T Read(const void* data, int64_t offset) {
  T value;
  std::memcpy(&value, static_cast<const char*>(data) + offset * static_cast<int64_t>(sizeof(T)),
              sizeof(T));
  return value;
}

template <class T>
void Write(void* data, int64_t offset, T value) {
  std::memcpy(static_cast<char*>(data) + offset * static_cast<int64_t>(sizeof(T)), &value,
              sizeof(T));
}

// Toward zero, at the ends of int64 where the value is beyond; NaN is 0.
int64_t TruncateToInt(double value) {
  if (std::isnan(value)) return 0;
  if (value >= 0x1p63) return std::numeric_limits<int64_t>::max();
  if (value <= -0x1p63) return std::numeric_limits<int64_t>::min();
  return static_cast<int64_t>(value);
}

}  // namespace

double LoadAsDouble(const void* data, DType dtype, int64_t offset) {
  switch (dtype) {
    case DType::kFloat8E4M3:
      return DecodeFloat(kFloat8E4M3Format, Read<uint8_t>(data, offset));
    case DType::kFloat8E5M2:
      return DecodeFloat(kFloat8E5M2Format, Read<uint8_t>(data, offset));
    case DType::kFloat16:
      return DecodeFloat(kFloat16Format, Read<uint16_t>(data, offset));
    case DType::kBFloat16:
      return DecodeFloat(kBFloat16Format, Read<uint16_t>(data, offset));
    case DType::kFloat32:
      return Read<float>(data, offset);
    case DType::kFloat64:
      return Read<double>(data, offset);
    case DType::kComplex64:
      return Read<float>(data, 2 * offset);  // the real part
    case DType::kComplex128:
      return Read<double>(data, 2 * offset);
    default:
      return static_cast<double>(LoadAsInt(data, dtype, offset));
  }
}

int64_t LoadAsInt(const void* data, DType dtype, int64_t offset) {
  switch (dtype) {
    case DType::kBool:
      return Read<uint8_t>(data, offset) != 0 ? 1 : 0;
    case DType::kUint8:
      return Read<uint8_t>(data, offset);
    case DType::kInt8:
      return Read<int8_t>(data, offset);
    case DType::kInt16:
      return Read<int16_t>(data, offset);
    case DType::kInt32:
      return Read<int32_t>(data, offset);
    case DType::kInt64:
      return Read<int64_t>(data, offset);
    default:
      return TruncateToInt(LoadAsDouble(data, dtype, offset));
  }
}

void StoreFromDouble(void* data, DType dtype, int64_t offset, double value) {
  switch (dtype) {
    case DType::kFloat8E4M3:
      return Write(data, offset, static_cast<uint8_t>(EncodeFloat(kFloat8E4M3Format, value)));
    case DType::kFloat8E5M2:
      return Write(data, offset, static_cast<uint8_t>(EncodeFloat(kFloat8E5M2Format, value)));
    case DType::kFloat16:
      return Write(data, offset, static_cast<uint16_t>(EncodeFloat(kFloat16Format, value)));
    case DType::kBFloat16:
      return Write(data, offset, static_cast<uint16_t>(EncodeFloat(kBFloat16Format, value)));
    case DType::kFloat32:
      return Write(data, offset, static_cast<float>(value));
    case DType::kFloat64:
      return Write(data, offset, value);
    case DType::kComplex64:
      Write(data, 2 * offset, static_cast<float>(value));
      return Write(data, 2 * offset + 1, 0.0f);
    case DType::kComplex128:
      Write(data, 2 * offset, value);
      return Write(data, 2 * offset + 1, 0.0);
    case DType::kBool:
      return Write(data, offset, static_cast<uint8_t>(value != 0 ? 1 : 0));
    default:
      return StoreFromInt(data, dtype, offset, TruncateToInt(value));
  }
}

void StoreFromInt(void* data, DType dtype, int64_t offset, int64_t value) {
  switch (dtype) {
    case DType::kBool:
      return Write(data, offset, static_cast<uint8_t>(value != 0 ? 1 : 0));
    case DType::kUint8:
    case DType::kInt8:
      return Write(data, offset, static_cast<uint8_t>(value));
    case DType::kInt16:
      return Write(data, offset, static_cast<uint16_t>(value));
    case DType::kInt32:
      return Write(data, offset, static_cast<uint32_t>(value));
    case DType::kInt64:
      return Write(data, offset, value);
    default:
      return StoreFromDouble(data, dtype, offset, static_cast<double>(value));
  }
}

}  // namespace tilewright
