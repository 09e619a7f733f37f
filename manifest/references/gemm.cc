#include <cmath>
#include <string>
#include <unordered_map>

#include "manifest/edge_cases.h"
#include "manifest/references/element_access.h"

namespace tilewright {
namespace {

// A matrix operand, or a batch of them, seen as lines along K; line i of batch j is j * lines + i.
struct LineView {
  const void* data;
  DType dtype;
  int64_t line_stride;
  int64_t k_stride;
  int64_t k;
  int64_t lines;
  int64_t batch_stride;

  std::vector<double> Load(int64_t line) const {
    const int64_t offset = line / lines * batch_stride + line % lines * line_stride;
    return LoadLine(data, dtype, offset, k_stride, k);
  }
};

// `k_axis` is one of the last two axes.
LineView ViewAlongK(const ReferenceCall& call, int input, int k_axis) {
  const TensorDesc& desc = call.call->input(input).desc;
  const int line_axis = 2 * desc.rank() - 3 - k_axis;
  return {call.inputs[static_cast<size_t>(input)].data,
          desc.dtype,
          desc.strides[line_axis],
          desc.strides[k_axis],
          desc.shape[k_axis],
          desc.shape[line_axis],
          desc.rank() == 3 ? desc.strides[0] : 0};
}

// Columns of b as doubles; forgets all of them when they pass a bound on memory.
class ColumnCache {
 public:
  explicit ColumnCache(const LineView& view)
      : view_(view), max_columns_(static_cast<size_t>((1 << 24) / (view.k + 1) + 1)) {}
  const std::vector<double>& Get(int64_t column) {
    const auto found = columns_.find(column);
    if (found != columns_.end()) return found->second;
    if (columns_.size() >= max_columns_) columns_.clear();
    return columns_.emplace(column, view_.Load(column)).first->second;
  }

 private:
  LineView view_;
  size_t max_columns_;
  std::unordered_map<int64_t, std::vector<double>> columns_;
};

// Elements of d, of which `m` x `n` make a batch: a row of a, a column of b.
void MultiplyElements(const LineView& a, const LineView& b, int64_t m, int64_t n,
                      std::span<const int64_t> elements, std::span<RefScalar> values) {
  ColumnCache columns(b);
  std::vector<double> row;
  int64_t row_index = -1;
  for (const size_t i : GroupedOrder(elements)) {
    if (elements[i] / n != row_index) {
      row_index = elements[i] / n;
      row = a.Load(row_index);
    }
    const std::vector<double>& column = columns.Get(row_index / m * n + elements[i] % n);
    double sum = 0;
    double magnitude = 0;
    for (size_t k = 0; k < row.size(); ++k) {
      const double term = row[k] * column[k];
      sum += term;
      magnitude += std::fabs(term);
    }
    values[i].f = sum;
    values[i].magnitude = magnitude;
  }
}

}  // namespace

// torch.matmul of op(a) [M, K] and op(b) [K, N].
TILEWRIGHT_REFERENCE(GemmFwdOp)
(const ReferenceCall& call, int /*output*/, std::span<const int64_t> elements,
 std::span<RefScalar> values) {
  const bool trans_a = call.call->params[0].as_bool();
  const bool trans_b = call.call->params[1].as_bool();
  const Dims& d = call.call->output(0).desc.shape;
  MultiplyElements(ViewAlongK(call, 0, trans_a ? 0 : 1), ViewAlongK(call, 1, trans_b ? 1 : 0), d[0],
                   d[1], elements, values);
  return absl::OkStatus();
}

// torch.bmm of a [B, M, K] and b [B, K, N].
TILEWRIGHT_REFERENCE(BmmFwdOp)
(const ReferenceCall& call, int /*output*/, std::span<const int64_t> elements,
 std::span<RefScalar> values) {
  const Dims& d = call.call->output(0).desc.shape;
  MultiplyElements(ViewAlongK(call, 0, 2), ViewAlongK(call, 1, 1), d[1], d[2], elements, values);
  return absl::OkStatus();
}

TILEWRIGHT_EDGE_CASES(GemmFwdOp) {
  struct Problem {
    const char* label;
    int64_t m, n, k;
  };
  constexpr Problem kProblems[] = {{"primes", 127, 113, 61},
                                   {"one", 1, 1, 1},
                                   {"k-tail", 64, 64, 24},
                                   {"k-tail-odd", 64, 64, 7},
                                   {"n-tail", 513, 1000, 256},
                                   {"tile-plus-one", 129, 257, 65},
                                   {"tile-minus-one", 127, 255, 63},
                                   {"one-tile", 128, 256, 64},
                                   {"row", 1, 4096, 512},
                                   {"column", 4096, 1, 512},
                                   {"many-rows", 1048577, 8, 16},
                                   {"many-columns", 8, 1048577, 16},
                                   {"m-empty", 0, 8, 8},
                                   {"n-empty", 8, 0, 8},
                                   {"k-empty", 8, 8, 0}};
  std::vector<Workload> cases;
  for (const Problem& problem : kProblems) {
    for (const bool trans_b : {true, false}) {
      for (const bool trans_a : {false, true}) {
        const auto& [label, m, n, k] = problem;
        Workload& entry = cases.emplace_back();
        entry.label = std::string(label) + (trans_a ? "-t" : "-n") + (trans_b ? "t" : "n");
        entry.input_shapes = {{"a", trans_a ? Dims{k, m} : Dims{m, k}},
                              {"b", trans_b ? Dims{n, k} : Dims{k, n}}};
        entry.params = {{"trans_a", trans_a}, {"trans_b", trans_b}};
      }
    }
  }
  // Few tokens, each its own kernel or bucket, and between two buckets; an odd number of 8-element
  // pieces along K.
  for (int64_t m = 1; m <= 24; m += m < 17 ? 1 : 7) {
    Workload& entry = cases.emplace_back();
    entry.label = "tokens-" + std::to_string(m);
    entry.input_shapes = {{"a", Dims{m, 328}}, {"b", Dims{200, 328}}};
    entry.params = {{"trans_a", false}, {"trans_b", true}};
  }
  return cases;
}

TILEWRIGHT_EDGE_CASES(BmmFwdOp) {
  struct Problem {
    const char* label;
    int64_t b, m, n, k;
  };
  constexpr Problem kProblems[] = {{"primes", 3, 127, 113, 61},
                                   {"one", 1, 1, 1, 1},
                                   {"k-tail", 5, 64, 64, 24},
                                   {"k-tail-odd", 2, 64, 64, 7},
                                   {"n-tail", 3, 513, 1000, 256},
                                   {"tile-plus-one", 2, 129, 257, 65},
                                   {"tile-minus-one", 3, 127, 255, 63},
                                   {"one-tile", 7, 128, 256, 64},
                                   {"rows", 17, 1, 512, 512},
                                   {"columns", 17, 512, 1, 512},
                                   {"tokens-5", 4, 5, 200, 328},
                                   {"tokens-16", 4, 16, 200, 328},
                                   {"tokens-40", 3, 40, 136, 328},
                                   {"many-batches", 70001, 8, 8, 16},
                                   {"many-batches-of-one", 70001, 1, 1, 1},
                                   {"many-rows", 2, 262145, 8, 16},
                                   {"batch-empty", 0, 8, 8, 8},
                                   {"m-empty", 2, 0, 8, 8},
                                   {"n-empty", 2, 8, 0, 8},
                                   {"k-empty", 2, 8, 8, 0}};
  std::vector<Workload> cases;
  for (const auto& [label, b, m, n, k] : kProblems) {
    Workload& entry = cases.emplace_back();
    entry.label = label;
    entry.input_shapes = {{"a", Dims{b, m, k}}, {"b", Dims{b, k, n}}};
  }
  return cases;
}

}  // namespace tilewright
