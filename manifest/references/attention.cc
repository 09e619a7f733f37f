#include "manifest/references/attention.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "manifest/op_spec.h"
#include "manifest/references/element_access.h"

namespace tilewright {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr size_t kFew = 64;  // elements for which a table of values is not worth its making

// Softmax weights of a row's visible keys, and what their exact sum is.
struct Weights {
  std::vector<double> p;
  double log_sum = -kInf;
  double magnitude = 0;  // of a score: the sum of its products' magnitudes, weighted
};

class RowSolver {
 public:
  // For `elements` of the result.
  RowSolver(const AttentionCase& attention, size_t elements)
      : attention_(attention),
        keys_(attention.k, attention.dtype, elements > kFew),
        values_(attention.v, attention.dtype, elements > kFew) {}

  Weights Solve(const AttentionRow& row) const {
    Weights weights;
    std::vector<double> sizes;
    double highest = -kInf;
    for (const int64_t key : row.keys) {
      double score = 0, size = 0;
      for (size_t d = 0; d < row.q.size(); ++d) {
        const double term = row.q[d] * keys_[key + static_cast<int64_t>(d) * attention_.k_stride];
        score += term;
        size += std::fabs(term);
      }
      if (attention_.softcap > 0) {
        score = attention_.softcap * std::tanh(score / attention_.softcap);
      }
      weights.p.push_back(score);
      sizes.push_back(size);
      highest = std::max(highest, score);
    }
    double sum = 0;
    for (double& p : weights.p) sum += p = std::exp(p - highest);
    for (size_t i = 0; i < sizes.size(); ++i) {
      weights.p[i] /= sum;
      weights.magnitude += weights.p[i] * sizes[i];
    }
    if (!sizes.empty()) weights.log_sum = highest + std::log(sum);
    return weights;
  }

  RefScalar Output(const AttentionRow& row, const Weights& weights, int64_t column) const {
    RefScalar value;
    value.inexact = true;
    for (size_t i = 0; i < weights.p.size(); ++i) {
      const double term =
          weights.p[i] * row.value_scale * values_[row.values[i] + column * attention_.v_stride];
      value.f += term;
      value.magnitude += std::fabs(term);
    }
    if (attention_.float8_weights) value.slack = Float8Slack(row, weights, column, value.f);
    return value;
  }

 private:
  // What rounding weights to float8_e4m3 and cutting float8 products to 14 bits may change. Errors
  // of a row's weights that are alike scale its result, independent ones add up as their squares.
  double Float8Slack(const AttentionRow& row, const Weights& weights, int64_t column,
                     double result) const {
    constexpr double kRounding = 0x1p-4;        // of a normal weight, at most
    constexpr double kDeviation = 0x1.ap-6;     // its standard deviation
    constexpr double kScoreRounding = 0x1p-13;  // of the sum of a score's terms' magnitudes
    constexpr double kSubnormal = 0x1p-19;      // deviation, as a fraction of the largest weight
    constexpr double kDeviations = 6;
    double weighted = 0, plain = 0, largest = 0;
    for (size_t i = 0; i < weights.p.size(); ++i) {
      const double value = row.value_scale * values_[row.values[i] + column * attention_.v_stride];
      weighted += weights.p[i] * value * weights.p[i] * value;
      plain += value * value;
      largest = std::max(largest, weights.p[i]);
    }
    const double score = kScoreRounding * weights.magnitude;
    return (kRounding + score) * std::fabs(result) +
           kDeviations * ((kDeviation + score) * std::sqrt(weighted) +
                          kSubnormal * largest * std::sqrt(plain));
  }

  const AttentionCase& attention_;
  const ElementReader keys_;
  const ElementReader values_;
};

// SplitMix64 (Steele, Lea, Flood 2014).
uint64_t Hash(uint64_t z) {
  z += 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

int64_t PutOffset(const InputRequest& request, int input, std::initializer_list<int64_t> at) {
  const Dims& strides = request.call->input(input).desc.strides;
  int64_t offset = 0;
  int axis = 0;
  for (const int64_t index : at) offset += index * strides[axis++];
  return offset;
}

// Fills a head of a row with NaN: all bits set, in every floating format.
void PutNans(const InputRequest& request, int input, int64_t row, int64_t head) {
  void* const data = request.data[static_cast<size_t>(input)];
  if (data == nullptr) return;
  const TensorDesc& desc = request.call->input(input).desc;
  const int64_t size = DTypeSize(desc.dtype);
  auto* to = static_cast<unsigned char*>(data) + PutOffset(request, input, {row, head}) * size;
  if (desc.strides[2] == 1) {
    std::memset(to, 0xff, static_cast<size_t>(desc.shape[2] * size));
    return;
  }
  for (int64_t d = 0; d < desc.shape[2]; ++d) {
    std::memset(to + d * desc.strides[2] * size, 0xff, static_cast<size_t>(size));
  }
}

}  // namespace

ElementReader::ElementReader(const void* data, DType dtype, bool many)
    : data_(data), dtype_(dtype) {
  if (!many) return;
  const int64_t patterns = int64_t{1} << (8 * DTypeSize(dtype));
  values_.resize(static_cast<size_t>(patterns));
  for (int64_t bits = 0; bits < patterns; ++bits) {
    const auto wide = static_cast<uint16_t>(bits);
    const auto narrow = static_cast<uint8_t>(bits);
    const void* from = DTypeSize(dtype) == 1 ? static_cast<const void*>(&narrow) : &wide;
    values_[static_cast<size_t>(bits)] = static_cast<float>(LoadAsDouble(from, dtype, 0));
  }
}

double ElementReader::operator[](int64_t offset) const {
  if (values_.empty()) return LoadAsDouble(data_, dtype_, offset);
  if (DTypeSize(dtype_) == 1) return values_[static_cast<const uint8_t*>(data_)[offset]];
  return values_[static_cast<const uint16_t*>(data_)[offset]];
}

absl::Status AttentionOutput(const AttentionCase& attention, int64_t value_dim,
                             std::span<const int64_t> elements, std::span<RefScalar> values) {
  const RowSolver solver(attention, elements.size());
  AttentionRow row;
  Weights weights;
  int64_t row_index = -1;
  for (const size_t i : GroupedOrder(elements)) {
    if (elements[i] / value_dim != row_index) {
      row_index = elements[i] / value_dim;
      row = attention.row(row_index);
      weights = solver.Solve(row);
    }
    values[i] = solver.Output(row, weights, elements[i] % value_dim);
  }
  return absl::OkStatus();
}

absl::Status AttentionLogSum(const AttentionCase& attention,
                             const std::function<int64_t(int64_t)>& row_of,
                             std::span<const int64_t> elements, std::span<RefScalar> values) {
  const RowSolver solver(attention, elements.size());
  for (size_t i = 0; i < elements.size(); ++i) {
    const Weights weights = solver.Solve(attention.row(row_of(elements[i])));
    values[i].f = weights.log_sum;
    values[i].magnitude = weights.magnitude;
    values[i].inexact = true;
  }
  return absl::OkStatus();
}

KeySpan VisibleSpan(int64_t position, int64_t count, bool is_causal, int64_t left, int64_t right) {
  KeySpan span{0, count - 1};
  if (left >= 0) span.first = std::max(span.first, position - left);
  if (right >= 0) span.last = std::min(span.last, position + right);
  if (is_causal) span.last = std::min(span.last, position);
  return span;
}

ParamValue ParamOf(const CallDesc& call, std::string_view name) {
  const auto index = call.op->ParamIndex(name);
  return index.has_value() ? call.params[static_cast<size_t>(*index)] : ParamValue();
}

double ScoreScale(const CallDesc& call, int64_t head_dim) {
  const ParamValue scale = ParamOf(call, "sm_scale");
  return scale.is_null() ? 1.0 / std::sqrt(static_cast<double>(head_dim)) : scale.as_float();
}

double Softcap(const CallDesc& call) {
  const ParamValue softcap = ParamOf(call, "softcap");
  return softcap.is_null() ? 0.0 : softcap.as_float();
}

void SettleQueries(const InputRequest& request, std::span<const int> inputs) {
  constexpr int64_t kSmall = int64_t{1} << 23;  // elements; special values are in edge cases only
  constexpr int64_t kLargest = int64_t{1} << 26;
  constexpr double kModerate = 8;
  if (request.use == InputUse::kTime) return;
  for (const int input : inputs) {
    void* const data = request.data[static_cast<size_t>(input)];
    const TensorDesc& desc = request.call->input(input).desc;
    const int64_t count = desc.elements();
    const bool queries = input == inputs[0];
    if (data == nullptr || count == 0 || count > (queries ? kLargest : kSmall)) continue;
    const int64_t columns = desc.shape[desc.rank() - 1];
    const int64_t stride = desc.strides[desc.rank() - 1];
    const ElementReader reader(data, desc.dtype, count > (1 << 16));
    for (int64_t row = 0; row < count / columns; ++row) {
      const bool large = queries && row % 2 == 1;
      if (!large && count > kSmall) continue;
      int64_t offset = OffsetAt(desc, row * columns);
      for (int64_t i = 0; i < columns; ++i, offset += stride) {
        const double old = reader[offset];
        double value = std::isnan(old) ? 0.5 : std::clamp(old, -kModerate, kModerate);
        if (large) value = std::clamp(4 * value, -15.0, 15.0);
        if (value != old) StoreFromDouble(data, desc.dtype, offset, value);
      }
    }
  }
}

uint64_t DrawAt(const InputRequest& request, uint64_t salt, uint64_t index) {
  return Hash(Hash(request.seed + salt) + index);
}

std::vector<int64_t> DrawLengths(const InputRequest& request, int64_t count, int64_t total,
                                 int64_t longest, uint64_t salt) {
  std::vector<int64_t> lengths(static_cast<size_t>(count), 0);
  int64_t rest = total;
  for (int64_t i = 0; i < count; ++i) {
    const int64_t after = count - 1 - i;
    const int64_t least = std::max<int64_t>(0, rest - after * longest);
    const int64_t most = std::min(rest, longest);
    int64_t length = std::clamp(
        total / std::max<int64_t>(count, 1) + (i < total % std::max<int64_t>(count, 1) ? 1 : 0),
        least, most);
    if (request.use == InputUse::kCheck) {
      const uint64_t draw = DrawAt(request, salt, static_cast<uint64_t>(i));
      length =
          draw % 4 == 0
              ? least
              : least + static_cast<int64_t>((draw >> 8) % static_cast<uint64_t>(most - least + 1));
    }
    lengths[static_cast<size_t>(i)] = length;
    rest -= length;
  }
  return lengths;
}

void PutInt(const InputRequest& request, int input, std::initializer_list<int64_t> at,
            int64_t value) {
  void* const data = request.data[static_cast<size_t>(input)];
  if (data == nullptr) return;
  StoreFromInt(data, request.call->input(input).desc.dtype, PutOffset(request, input, at), value);
}

void PutFloat(const InputRequest& request, int input, std::initializer_list<int64_t> at,
              double value) {
  void* const data = request.data[static_cast<size_t>(input)];
  if (data == nullptr) return;
  StoreFromDouble(data, request.call->input(input).desc.dtype, PutOffset(request, input, at),
                  value);
}

void PutStarts(const InputRequest& request, int input, const std::vector<int64_t>& lengths) {
  int64_t start = 0;
  PutInt(request, input, {0}, 0);
  for (size_t i = 0; i < lengths.size(); ++i) {
    start += lengths[i];
    PutInt(request, input, {static_cast<int64_t>(i) + 1}, start);
  }
}

void PutPages(const InputRequest& request, const PagedInputs& inputs,
              const std::vector<int64_t>& lengths) {
  const CallDesc& call = *request.call;
  const TensorDesc& keys = call.input(inputs.k).desc;
  const int64_t pool = keys.shape[0] / inputs.page_size;
  const int64_t columns = call.input(inputs.table).desc.shape[1];
  // A shuffled pool (Fisher and Yates), dealt in order, again from its start when it is used up.
  std::vector<int64_t> pages(static_cast<size_t>(pool));
  for (int64_t i = 0; i < pool; ++i) pages[static_cast<size_t>(i)] = i;
  for (int64_t i = pool - 1; i > 0; --i) {
    const uint64_t draw = DrawAt(request, 77, static_cast<uint64_t>(i));
    std::swap(pages[static_cast<size_t>(i)], pages[draw % static_cast<uint64_t>(i + 1)]);
  }
  std::vector<bool> used(static_cast<size_t>(keys.shape[0]), false);
  int64_t next = 0;
  for (size_t b = 0; b < lengths.size(); ++b) {
    const int64_t needed = (lengths[b] + inputs.page_size - 1) / inputs.page_size;
    for (int64_t i = 0; i < columns; ++i) {
      const int64_t page = i < needed ? pages[static_cast<size_t>(next++ % pool)] : -1;
      PutInt(request, inputs.table, {static_cast<int64_t>(b), i}, page);
      const int64_t slots = std::min(inputs.page_size, lengths[b] - i * inputs.page_size);
      for (int64_t slot = 0; slot < slots; ++slot) {
        used[static_cast<size_t>(page * inputs.page_size + slot)] = true;
      }
    }
  }
  if (request.use == InputUse::kTime) return;
  for (const int input : {inputs.k, inputs.v}) {
    const Dims& shape = call.input(input).desc.shape;
    if (call.input(input).desc.strides[0] == 0) continue;  // all rows are one
    for (int64_t row = 0; row < shape[0]; ++row) {
      if (used[static_cast<size_t>(row)]) continue;
      for (int64_t head = 0; head < shape[1]; ++head) PutNans(request, input, row, head);
    }
  }
}

}  // namespace tilewright
