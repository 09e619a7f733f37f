// Reading operands by row-major position, for the references.
#ifndef TILEWRIGHT_MANIFEST_REFERENCES_ELEMENT_ACCESS_H_
#define TILEWRIGHT_MANIFEST_REFERENCES_ELEMENT_ACCESS_H_

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "manifest/reference.h"
#include "manifest/tensor_desc.h"

namespace tilewright {

// The coordinates of the element at row-major position `linear`.
inline Dims CoordinatesOf(const Dims& shape, int64_t linear) {
  Dims coordinates = shape;
  for (int axis = shape.rank() - 1; axis >= 0; --axis) {
    coordinates[axis] = linear % shape[axis];
    linear /= shape[axis];
  }
  return coordinates;
}

// Its distance from element (0, ..., 0), in elements.
inline int64_t OffsetOf(const TensorDesc& desc, const Dims& coordinates) {
  int64_t offset = 0;
  for (int axis = 0; axis < desc.rank(); ++axis) offset += coordinates[axis] * desc.strides[axis];
  return offset;
}
inline int64_t OffsetAt(const TensorDesc& desc, int64_t linear) {
  return OffsetOf(desc, CoordinatesOf(desc.shape, linear));
}

// Reads `count` elements, `stride` apart, as doubles.
inline std::vector<double> LoadLine(const void* data, DType dtype, int64_t offset, int64_t stride,
                                    int64_t count) {
  std::vector<double> values(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) {
    values[static_cast<size_t>(i)] = LoadAsDouble(data, dtype, offset + i * stride);
  }
  return values;
}

// Indices of `keys`, ordered so that equal keys follow each other.
inline std::vector<size_t> GroupedOrder(std::span<const int64_t> keys) {
  std::vector<size_t> order(keys.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return keys[a] < keys[b]; });
  return order;
}

}  // namespace tilewright

#endif  // TILEWRIGHT_MANIFEST_REFERENCES_ELEMENT_ACCESS_H_
