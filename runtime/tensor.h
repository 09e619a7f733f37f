// A tensor in device memory, as callers describe it.
#ifndef TILEWRIGHT_RUNTIME_TENSOR_H_
#define TILEWRIGHT_RUNTIME_TENSOR_H_

#include "manifest/tensor_desc.h"

namespace tilewright {

// Does not own `data`, which points at element (0, ..., 0). `data` may be null only where the
// tensor has no elements, or where it stands for an optional input that is not given.
struct Tensor {
  void* data = nullptr;
  int device = 0;  // ordinal of the device that owns `data`
  TensorDesc desc;

  static Tensor Contiguous(void* data, DType dtype, const Dims& shape, int device = 0) {
    return {data, device, TensorDesc::Contiguous(dtype, shape)};
  }
  static Tensor Strided(void* data, DType dtype, const Dims& shape, const Dims& strides,
                        int device = 0) {
    return {data, device, TensorDesc{dtype, shape, strides}};
  }
  // An optional input that is not given.
  static Tensor Absent() { return {nullptr, -1, {}}; }
  bool is_absent() const { return device == -1; }
};

}  // namespace tilewright

#endif  // TILEWRIGHT_RUNTIME_TENSOR_H_
