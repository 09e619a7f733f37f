#include "manifest/tensor_desc.h"

#include "manifest/status.h"

namespace tilewright {

std::optional<int64_t> Dims::Product() const {
  int64_t product = 1;
  bool zero = false;
  for (int64_t value : span()) {
    if (value < 0) return std::nullopt;
    if (value == 0) zero = true;
  }
  if (zero) return 0;
  for (int64_t value : span()) {
    if (__builtin_mul_overflow(product, value, &product)) return std::nullopt;
  }
  return product;
}

std::string Dims::ToString() const {
  std::string text = "(";
  for (int i = 0; i < rank_; ++i) text += Cat(i == 0 ? "" : ", ", (*this)[i]);
  if (truncated_) text += ", ...";
  if (rank_ == 1) text += ",";
  return text + ")";
}

TensorDesc TensorDesc::Contiguous(DType dtype, const Dims& shape) {
  TensorDesc desc{dtype, shape, shape};
  int64_t stride = 1;
  for (int axis = shape.rank() - 1; axis >= 0; --axis) {
    desc.strides[axis] = stride;
    // An overflowing or empty shape keeps the last stride: Extent() and Product() report it.
    int64_t next = 0;
    if (shape[axis] > 0 && !__builtin_mul_overflow(stride, shape[axis], &next)) stride = next;
  }
  return desc;
}

bool TensorDesc::IsContiguous() const {
  if (strides.rank() != shape.rank()) return false;
  if (shape.Product() == 0) return true;
  int64_t expected = 1;
  for (int axis = rank() - 1; axis >= 0; --axis) {
    if (shape[axis] == 1) continue;
    if (strides[axis] != expected) return false;
    expected *= shape[axis];
  }
  return true;
}

std::optional<TensorDesc::ByteRange> TensorDesc::Extent() const {
  const std::optional<int64_t> count = shape.Product();
  if (!count.has_value() || strides.rank() != shape.rank()) return std::nullopt;
  if (*count == 0) return ByteRange{0, 0};
  int64_t low = 0;
  int64_t high = 0;
  for (int axis = 0; axis < rank(); ++axis) {
    int64_t reach = 0;
    if (__builtin_mul_overflow(shape[axis] - 1, strides[axis], &reach)) return std::nullopt;
    int64_t& side = reach < 0 ? low : high;
    if (__builtin_add_overflow(side, reach, &side)) return std::nullopt;
  }
  const int64_t size = DTypeSize(dtype);
  ByteRange range{0, 0};
  if (__builtin_mul_overflow(low, size, &range.begin)) return std::nullopt;
  if (__builtin_add_overflow(high, int64_t{1}, &high)) return std::nullopt;
  if (__builtin_mul_overflow(high, size, &range.end)) return std::nullopt;
  int64_t bytes = 0;
  if (__builtin_sub_overflow(range.end, range.begin, &bytes)) return std::nullopt;
  return range;
}

void TensorDesc::SettleUnusedStrides() {
  if (shape.Product() == 0) {
    strides = Contiguous(dtype, shape).strides;
    return;
  }
  int64_t packed = 1;
  for (int axis = rank() - 1; axis >= 0; --axis) {
    if (shape[axis] == 1) strides[axis] = packed;
    int64_t next = 0;
    if (!__builtin_mul_overflow(strides[axis], shape[axis], &next)) packed = next;
  }
}

}  // namespace tilewright
