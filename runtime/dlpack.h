// Tensors of other libraries, through DLPack.
#ifndef TILEWRIGHT_RUNTIME_DLPACK_H_
#define TILEWRIGHT_RUNTIME_DLPACK_H_

#if !__has_include(<dlpack/dlpack.h>)
#error "runtime/dlpack.h needs dlpack/dlpack.h (Debian: libdlpack-dev)"
#endif
#include <dlpack/dlpack.h>

#include "absl/status/statusor.h"
#include "manifest/status.h"
#include "runtime/tensor.h"

namespace tilewright {

// The dtype of a DLPack type; InvalidArgument for one that has no counterpart (vector lanes,
// sub-byte types).
inline absl::StatusOr<DType> FromDlpack(const DLDataType& type) {
  const auto is = [&](int code, int bits) {
    return static_cast<int>(type.code) == code && type.bits == bits;
  };
  // Codes that DLPack 1.0 and later define, by value: older headers lack them.
  constexpr int kBoolCode = 6;
  constexpr int kFloat8E4M3FnCode = 10;
  constexpr int kFloat8E5M2Code = 12;
  if (type.lanes == 1) {
    if (is(kBoolCode, 8)) return DType::kBool;
    if (is(kDLUInt, 8)) return DType::kUint8;
    if (is(kDLInt, 8)) return DType::kInt8;
    if (is(kDLInt, 16)) return DType::kInt16;
    if (is(kDLInt, 32)) return DType::kInt32;
    if (is(kDLInt, 64)) return DType::kInt64;
    if (is(kFloat8E4M3FnCode, 8)) return DType::kFloat8E4M3;
    if (is(kFloat8E5M2Code, 8)) return DType::kFloat8E5M2;
    if (is(kDLFloat, 16)) return DType::kFloat16;
    if (is(kDLBfloat, 16)) return DType::kBFloat16;
    if (is(kDLFloat, 32)) return DType::kFloat32;
    if (is(kDLFloat, 64)) return DType::kFloat64;
    if (is(kDLComplex, 64)) return DType::kComplex64;
    if (is(kDLComplex, 128)) return DType::kComplex128;
  }
  return InvalidArgument("DLPack type: expected one of the supported dtypes, got code ",
                         static_cast<int>(type.code), ", ", static_cast<int>(type.bits), " bits, ",
                         type.lanes, " lanes");
}

// A view of a DLPack tensor in CUDA memory (device or managed); the data stays its owner's. Null
// strides mean dense rows. InvalidArgument for other devices, ranks above kMaxRank, a missing
// shape and dtypes without a counterpart.
inline absl::StatusOr<Tensor> FromDlpack(const DLTensor& from) {
  const int device_type = static_cast<int>(from.device.device_type);
  constexpr int kManagedCode = 13;  // kDLCUDAManaged
  if (device_type != kDLCUDA && device_type != kManagedCode) {
    return InvalidArgument("DLPack tensor: expected CUDA memory, got device type ", device_type);
  }
  if (from.ndim < 0 || from.ndim > kMaxRank) {
    return InvalidArgument("DLPack tensor: expected at most ", kMaxRank, " dimensions, got ",
                           from.ndim);
  }
  if (from.ndim > 0 && from.shape == nullptr) {
    return InvalidArgument("DLPack tensor: expected a shape of ", from.ndim,
                           " dimensions, got null");
  }
  if (from.device.device_id < 0) {
    return InvalidArgument("DLPack tensor: expected a device id of at least 0, got ",
                           from.device.device_id);
  }
  TW_ASSIGN_OR_RETURN(const DType dtype, FromDlpack(from.dtype));
  const auto rank = static_cast<size_t>(from.ndim);
  const Dims shape(std::span<const int64_t>(from.shape, rank));
  Tensor tensor;
  tensor.device = from.device.device_id;
  tensor.desc = TensorDesc::Contiguous(dtype, shape);
  if (from.strides != nullptr) {
    tensor.desc.strides = Dims(std::span<const int64_t>(from.strides, rank));
  }
  // A tensor without elements may come with a null pointer and any offset.
  if (from.data != nullptr) tensor.data = static_cast<std::byte*>(from.data) + from.byte_offset;
  return tensor;
}

}  // namespace tilewright

#endif  // TILEWRIGHT_RUNTIME_DLPACK_H_
