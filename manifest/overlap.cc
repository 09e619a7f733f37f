#include "manifest/overlap.h"

#include <algorithm>
#include <array>
#include <cstdlib>

#include "manifest/op_spec.h"
#include "manifest/status.h"

namespace tilewright {
namespace {

// x * step with low <= x <= high.
struct Term {
  int64_t step = 0;
  int64_t low = 0;
  int64_t high = 0;
};

constexpr int kMaxSteps = 20000;

__extension__ typedef __int128 Wide;  // sums of products of 64-bit extents and strides

Wide FloorDiv(Wide a, Wide b) { return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0); }

// Is there a choice of every x with sum x * step == target? Searches the largest steps first; what
// the smaller ones can still reach bounds each choice.
class LinearSearch {
 public:
  void Add(int64_t step, int64_t low, int64_t high) {
    if (low == 0 && high == 0) return;
    if (step < 0) {
      step = -step;
      std::swap(low, high);
      low = -low;
      high = -high;
    }
    for (size_t i = 0; i < count_; ++i) {
      if (terms_[i].step != step) continue;
      terms_[i].low += low;
      terms_[i].high += high;
      return;
    }
    terms_[count_++] = {step, low, high};
  }

  bool Reaches(int64_t target) {
    std::sort(terms_.begin(), terms_.begin() + static_cast<std::ptrdiff_t>(count_),
              [](const Term& a, const Term& b) { return a.step > b.step; });
    low_[count_] = high_[count_] = 0;
    for (size_t i = count_; i-- > 0;) {
      low_[i] = low_[i + 1] + Wide{terms_[i].low} * terms_[i].step;
      high_[i] = high_[i + 1] + Wide{terms_[i].high} * terms_[i].step;
    }
    steps_ = 0;
    return Search(0, target);
  }

 private:
  bool Search(size_t i, Wide target) {
    if (i == count_) return target == 0;
    if (++steps_ > kMaxSteps) return true;
    const Term& term = terms_[i];
    if (term.step == 0) return target == 0;
    // low_[i + 1] <= target - x * step <= high_[i + 1]
    const Wide first = std::max<Wide>(term.low, -FloorDiv(high_[i + 1] - target, term.step));
    const Wide last = std::min<Wide>(term.high, FloorDiv(target - low_[i + 1], term.step));
    for (Wide x = first; x <= last; ++x) {
      if (Search(i + 1, target - x * term.step)) return true;
    }
    return false;
  }

  std::array<Term, 2 * kMaxRank + 2> terms_{};
  std::array<Wide, 2 * kMaxRank + 3> low_{};
  std::array<Wide, 2 * kMaxRank + 3> high_{};
  size_t count_ = 0;
  int steps_ = 0;
};

bool InPlace(const OpSpec& op, int written, int other) {
  const int output = written - op.input_count();
  if (output < 0 || other >= op.input_count()) return false;
  for (const auto& [out, in] : op.in_place) {
    if (out == op.outputs[static_cast<size_t>(output)].name &&
        in == op.inputs[static_cast<size_t>(other)].name) {
      return true;
    }
  }
  return false;
}

std::string_view OperandName(const OpSpec& op, int index) {
  return index < op.input_count()
             ? std::string_view(op.inputs[static_cast<size_t>(index)].name)
             : std::string_view(op.outputs[static_cast<size_t>(index - op.input_count())].name);
}

}  // namespace

bool OverlapsItself(const TensorDesc& desc) {
  if (desc.shape.Product() == 0) return false;
  // A collision is a difference of indices that moves nothing. Each search fixes the first axis
  // whose index differs, and takes the difference there as positive.
  for (int axis = 0; axis < desc.rank(); ++axis) {
    if (desc.shape[axis] <= 1) continue;
    if (desc.strides[axis] == 0) return true;
    LinearSearch search;
    search.Add(desc.strides[axis], 1, desc.shape[axis] - 1);
    for (int later = axis + 1; later < desc.rank(); ++later) {
      search.Add(desc.strides[later], 1 - desc.shape[later], desc.shape[later] - 1);
    }
    if (search.Reaches(0)) return true;
  }
  return false;
}

bool ViewsOverlap(const TensorDesc& a, const void* a_data, const TensorDesc& b,
                  const void* b_data) {
  if (a.shape.Product() == 0 || b.shape.Product() == 0) return false;
  const int64_t a_size = DTypeSize(a.dtype);
  const int64_t b_size = DTypeSize(b.dtype);
  LinearSearch search;
  // The stride of an axis of one element may be anything.
  for (int axis = 0; axis < a.rank(); ++axis) {
    if (a.shape[axis] == 1) continue;
    search.Add(a.strides[axis] * a_size, 0, a.shape[axis] - 1);
  }
  for (int axis = 0; axis < b.rank(); ++axis) {
    if (b.shape[axis] == 1) continue;
    search.Add(b.strides[axis] * b_size, 1 - b.shape[axis], 0);
  }
  // Two elements share a byte where the distance of their first bytes is below their size.
  search.Add(1, 1 - b_size, a_size - 1);
  return search.Reaches(reinterpret_cast<intptr_t>(b_data) - reinterpret_cast<intptr_t>(a_data));
}

OverlapRules::OverlapRules(const CallDesc& call) {
  const OpSpec& op = *call.op;
  const auto written = [&op](int i) {
    return i >= op.input_count() || op.inputs[static_cast<size_t>(i)].mutated;
  };
  const int count = static_cast<int>(call.operands.size());
  for (int i = 0; i < count; ++i) {
    for (int j = 0; j < count; ++j) {
      // A pair of written operands is listed once.
      if (i == j || !written(i) || (written(j) && j < i)) continue;
      const Operand& a = call.input(i);
      const Operand& b = call.input(j);
      if (!a.present || !b.present) continue;
      const auto a_range =
          a.desc.Extent().value_or(TensorDesc::ByteRange{INT64_MIN / 4, INT64_MAX / 4});
      const auto b_range =
          b.desc.Extent().value_or(TensorDesc::ByteRange{INT64_MIN / 4, INT64_MAX / 4});
      if (a_range.begin == a_range.end || b_range.begin == b_range.end) continue;
      const bool same_layout = a.desc.dtype == b.desc.dtype && a.desc.shape == b.desc.shape &&
                               a.desc.strides == b.desc.strides;
      pairs_.push_back({static_cast<uint8_t>(i), static_cast<uint8_t>(j),
                        same_layout && InPlace(op, i, j), a_range.begin, a_range.end, b_range.begin,
                        b_range.end});
    }
  }
}

bool OverlapRules::PairAllowed(const Pair& pair, const CallDesc& call,
                               std::span<const void* const> data) {
  const void* written = data[pair.written];
  const void* other = data[pair.other];
  if (pair.exact_alias_ok && written == other) return true;
  return !ViewsOverlap(call.input(pair.written).desc, written, call.input(pair.other).desc, other);
}

absl::Status OverlapRules::Check(const CallDesc& call, std::span<const void* const> data) const {
  const OpSpec& op = *call.op;
  for (const Pair& pair : pairs_) {
    if (Disjoint(pair, data) || PairAllowed(pair, call, data)) continue;
    return InvalidArgument(
        op.name, ": '", OperandName(op, pair.written), "' must not share memory with '",
        OperandName(op, pair.other), "'",
        InPlace(op, pair.written, pair.other) ? " unless pointer and layout are the same" : "",
        "; got ", data[pair.written], " and ", data[pair.other]);
  }
  return absl::OkStatus();
}

absl::Status CheckOverlap(const CallDesc& call, std::span<const void* const> data) {
  return OverlapRules(call).Check(call, data);
}

}  // namespace tilewright
