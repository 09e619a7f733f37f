// Shapes and strides, without data.
#ifndef TILEWRIGHT_MANIFEST_TENSOR_DESC_H_
#define TILEWRIGHT_MANIFEST_TENSOR_DESC_H_

#include <array>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>

#include "manifest/dtype.h"

namespace tilewright {

inline constexpr int kMaxRank = 8;

// Up to kMaxRank int64 values, stored inline. A plain value type. Values beyond that are dropped,
// and truncated() tells: every check of a call refuses such dims.
class Dims {
 public:
  constexpr Dims() = default;
  constexpr Dims(std::initializer_list<int64_t> values)
      : Dims(std::span(values.begin(), values.size())) {}
  constexpr explicit Dims(std::span<const int64_t> values) {
    for (int64_t value : values) push_back(value);
  }

  constexpr int rank() const { return rank_; }
  constexpr int64_t operator[](int axis) const { return values_[static_cast<size_t>(axis)]; }
  constexpr int64_t& operator[](int axis) { return values_[static_cast<size_t>(axis)]; }
  constexpr const int64_t* begin() const { return values_.data(); }
  constexpr const int64_t* end() const { return values_.data() + rank_; }
  constexpr std::span<const int64_t> span() const { return {values_.data(), rank_}; }
  constexpr void push_back(int64_t value) {
    if (rank_ == kMaxRank) {
      truncated_ = true;
    } else {
      values_[rank_++] = value;
    }
  }
  constexpr bool truncated() const { return truncated_; }
  // Product of all values; nullopt on overflow or a negative value. The product of () is 1.
  std::optional<int64_t> Product() const;
  std::string ToString() const;  // "(2, 3)"

  friend constexpr bool operator==(const Dims& a, const Dims& b) {
    if (a.rank_ != b.rank_ || a.truncated_ != b.truncated_) return false;
    for (int i = 0; i < a.rank_; ++i) {
      if (a[i] != b[i]) return false;
    }
    return true;
  }

 private:
  std::array<int64_t, kMaxRank> values_{};
  uint8_t rank_ = 0;
  bool truncated_ = false;
};

// What a tensor looks like: dtype, shape, and strides in elements (zero and negative strides are
// views too; zero strides are legal for inputs only).
struct TensorDesc {
  DType dtype = DType::kFloat32;
  Dims shape;
  Dims strides;

  // Row-major, densely packed.
  static TensorDesc Contiguous(DType dtype, const Dims& shape);
  int rank() const { return shape.rank(); }
  int64_t elements() const { return shape.Product().value_or(0); }
  // True where elements are densely packed in row-major order (axes of extent 1 are ignored).
  bool IsContiguous() const;
  // Gives the strides that no element uses (of an axis of extent 1, or where there are no elements)
  // the values that dense packing would, so that equal views have equal strides. Needs an Extent().
  void SettleUnusedStrides();
  // Lowest and one-past-highest byte touched, relative to the data pointer: {0, 0} when empty;
  // nullopt where the extent overflows int64.
  struct ByteRange {
    int64_t begin;
    int64_t end;
  };
  std::optional<ByteRange> Extent() const;
};

}  // namespace tilewright

#endif  // TILEWRIGHT_MANIFEST_TENSOR_DESC_H_
