// What the references of the attention operators share: rows of scores, their softmax, sums of
// values, in float64.
#ifndef TILEWRIGHT_MANIFEST_REFERENCES_ATTENTION_H_
#define TILEWRIGHT_MANIFEST_REFERENCES_ATTENTION_H_

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "manifest/edge_cases.h"
#include "manifest/input_values.h"
#include "manifest/reference.h"

namespace tilewright {

// Reads elements of one narrow dtype as doubles, fast where there are `many`: rows of thousands of
// keys are summed.
class ElementReader {
 public:
  ElementReader(const void* data, DType dtype, bool many);
  double operator[](int64_t offset) const;

 private:
  const void* data_;
  DType dtype_;
  std::vector<float> values_;  // of every bit pattern; empty where a table is not worth its making
};

// One query of one head. Offsets are in elements of the call's operands.
struct AttentionRow {
  std::vector<double> q;        // scaled by what scores are scaled by
  std::vector<int64_t> keys;    // where each visible key starts
  std::vector<int64_t> values;  // and its value
  double value_scale = 1;
};

// A call's keys and values, and the query rows that its outputs ask for.
struct AttentionCase {
  const void* k = nullptr;
  const void* v = nullptr;
  DType dtype = DType::kBFloat16;  // of k and v
  int64_t k_stride = 1;            // along the head dimension
  int64_t v_stride = 1;
  double softcap = 0;           // 0: none
  bool float8_weights = false;  // weights may be rounded to float8_e4m3
  // Row `index` of the output's leading axes, row-major.
  std::function<AttentionRow(int64_t index)> row;
};

// Elements of o, whose last axis has `value_dim` values.
absl::Status AttentionOutput(const AttentionCase& attention, int64_t value_dim,
                             std::span<const int64_t> elements, std::span<RefScalar> values);
// Natural logarithms of the sums of exponentials; row_of maps an element of lse to a row.
absl::Status AttentionLogSum(const AttentionCase& attention,
                             const std::function<int64_t(int64_t)>& row_of,
                             std::span<const int64_t> elements, std::span<RefScalar> values);

// Keys that a query at `position` sees of `count`: [first, last], none if first > last. Negative
// window bounds are none.
struct KeySpan {
  int64_t first;
  int64_t last;
};
KeySpan VisibleSpan(int64_t position, int64_t count, bool is_causal, int64_t left, int64_t right);

// A parameter of a call by name; null where the op has none of that name.
ParamValue ParamOf(const CallDesc& call, std::string_view name);
double ScoreScale(const CallDesc& call, int64_t head_dim);  // sm_scale, or 1 / sqrt(head_dim)
double Softcap(const CallDesc& call);                       // 0: none

// Input data: makes q, k, v (the first three inputs) finite and of moderate size, and every second
// query large, so that few keys decide its result and a lost one shows.
void SettleQueries(const InputRequest& request, std::span<const int> inputs);
// `count` lengths that sum to `total`, each at most `longest`: equal for timing, else uneven, some
// zero. `salt` tells arrays of one request apart.
std::vector<int64_t> DrawLengths(const InputRequest& request, int64_t count, int64_t total,
                                 int64_t longest, uint64_t salt);
// A number that depends on the request's seed.
uint64_t DrawAt(const InputRequest& request, uint64_t salt, uint64_t index);
// Writes an element of an int32 or floating input, unless the caller does not want that input.
void PutInt(const InputRequest& request, int input, std::initializer_list<int64_t> at,
            int64_t value);
void PutFloat(const InputRequest& request, int input, std::initializer_list<int64_t> at,
              double value);
// Starts (0, ..., total) from lengths into a rank-1 input.
void PutStarts(const InputRequest& request, int input, const std::vector<int64_t>& lengths);

// A page table for `lengths` tokens each, and NaN in every slot that holds none (kCheck). Pages of
// different sequences are disjoint where the pool is large enough.
struct PagedInputs {
  int k, v, table;
  int64_t page_size;
};
void PutPages(const InputRequest& request, const PagedInputs& inputs,
              const std::vector<int64_t>& lengths);

}  // namespace tilewright

#endif  // TILEWRIGHT_MANIFEST_REFERENCES_ATTENTION_H_
