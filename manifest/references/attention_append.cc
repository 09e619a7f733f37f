// Attention of new tokens over a paged cache that they are appended to.
#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <string>

#include "manifest/op_spec.h"
#include "manifest/references/attention.h"
#include "manifest/references/element_access.h"
#include "manifest/status.h"

namespace tilewright {
namespace {

// Inputs in the manifest's order.
enum Input { kQ, kKNew, kVNew, kKPages, kVPages, kKScale, kVScale, kStarts, kCached, kTable };

double Rounded(DType dtype, double value) {
  uint64_t storage = 0;
  StoreFromDouble(&storage, dtype, 0, value);
  return LoadAsDouble(&storage, dtype, 0);
}

// A call seen by sequences, their tokens, and slots of the cache.
class AppendingCall {
 public:
  explicit AppendingCall(const ReferenceCall& call) : call_(call), desc_(*call.call) {
    page_size_ = ParamOf(desc_, "page_size").as_int();
    if (ParamOf(desc_, "fuse_rope").as_bool()) {
      const ParamValue rotary = ParamOf(desc_, "rotary_dim");
      rotary_dim_ = rotary.is_null() ? Desc(kQ).shape[2] : rotary.as_int();
    }
  }

  const TensorDesc& Desc(int input) const { return desc_.input(input).desc; }
  const void* Data(int input) const { return call_.inputs[static_cast<size_t>(input)].data; }
  int64_t Int(int input, int64_t i, int64_t j = 0) const {
    const TensorDesc& desc = Desc(input);
    const int64_t rest = desc.rank() > 1 ? j * desc.strides[1] : 0;
    return LoadAsInt(Data(input), desc.dtype, i * desc.strides[0] + rest);
  }
  bool scaled() const { return DTypeSize(Desc(kKPages).dtype) == 1; }
  double Scale(int input) const {
    return scaled() ? LoadAsDouble(Data(input), Desc(input).dtype, 0) : 1.0;
  }

  struct Token {
    int64_t sequence;
    int64_t position;  // in the cache
    int64_t total;     // tokens of the sequence after the call
  };
  Token At(int64_t row) const {
    int64_t b = Desc(kCached).shape[0] - 1;
    while (b > 0 && Int(kStarts, b) > row) --b;
    const int64_t start = Int(kStarts, b), cached = Int(kCached, b);
    return {b, cached + row - start, cached + Int(kStarts, b + 1) - start};
  }
  int64_t Slot(int64_t sequence, int64_t token) const {
    return Int(kTable, sequence, token / page_size_) * page_size_ + token % page_size_;
  }

  // A head of a new token's q or k, rotated and rounded; or of v as it is.
  std::vector<double> NewLine(int input, int64_t row, int64_t head) const {
    const TensorDesc& desc = Desc(input);
    std::vector<double> line =
        LoadLine(Data(input), desc.dtype, row * desc.strides[0] + head * desc.strides[1],
                 desc.strides[2], desc.shape[2]);
    if (input == kVNew || rotary_dim_ == 0) return line;
    const double position = static_cast<double>(At(row).position);
    const double base = ParamOf(desc_, "rope_base").as_float();
    const auto half = static_cast<size_t>(rotary_dim_ / 2);
    for (size_t e = 0; e < half; ++e) {
      const double angle = position * std::pow(base, -2.0 * static_cast<double>(e) /
                                                         static_cast<double>(rotary_dim_));
      const double x = line[e], y = line[e + half];
      line[e] = Rounded(desc.dtype, x * std::cos(angle) - y * std::sin(angle));
      line[e + half] = Rounded(desc.dtype, y * std::cos(angle) + x * std::sin(angle));
    }
    return line;
  }
  // The same as the cache keeps it, before its scale.
  std::vector<double> CachedLine(int input, int64_t row, int64_t head) const {
    const int pages = input == kKNew ? kKPages : kVPages;
    const double scale = Scale(input == kKNew ? kKScale : kVScale);
    std::vector<double> line = NewLine(input, row, head);
    for (double& value : line) value = Rounded(Desc(pages).dtype, value / scale);
    return line;
  }

 private:
  const ReferenceCall& call_;
  const CallDesc& desc_;
  int64_t page_size_ = 1;
  int64_t rotary_dim_ = 0;
};

// The row that is appended to each written slot.
std::vector<int64_t> WrittenSlots(const AppendingCall& call) {
  std::vector<int64_t> row_of(static_cast<size_t>(call.Desc(kKPages).shape[0]), -1);
  for (int64_t row = 0; row < call.Desc(kQ).shape[0]; ++row) {
    const AppendingCall::Token token = call.At(row);
    row_of[static_cast<size_t>(call.Slot(token.sequence, token.position))] = row;
  }
  return row_of;
}

// Elements of k_pages or v_pages after the call.
absl::Status CacheAfter(const AppendingCall& call, int pages, int added,
                        std::span<const int64_t> elements, std::span<RefScalar> values) {
  const std::vector<int64_t> row_of = WrittenSlots(call);
  const TensorDesc& desc = call.Desc(pages);
  for (size_t i = 0; i < elements.size(); ++i) {
    const Dims at = CoordinatesOf(desc.shape, elements[i]);
    const int64_t row = row_of[static_cast<size_t>(at[0])];
    values[i].f = row < 0 ? LoadAsDouble(call.Data(pages), desc.dtype, OffsetOf(desc, at))
                          : call.CachedLine(added, row, at[1])[static_cast<size_t>(at[2])];
    values[i].inexact = row >= 0;
  }
  return absl::OkStatus();
}

// A dense copy of the keys and values that one query head of a sequence sees, for the row solver:
// old ones from the cache, new ones as the call leaves them there.
class SeenKeys {
 public:
  explicit SeenKeys(const AppendingCall& call) : call_(call) {}

  void Gather(int64_t sequence, int64_t kv_head, int64_t total, std::vector<uint8_t>& k,
              std::vector<uint8_t>& v) const {
    const TensorDesc& desc = call_.Desc(kKPages);
    const int64_t dim = desc.shape[2];
    const int64_t start = call_.Int(kStarts, sequence), cached = call_.Int(kCached, sequence);
    const auto bytes = static_cast<size_t>(total * dim * DTypeSize(desc.dtype));
    k.assign(bytes, 0);
    v.assign(bytes, 0);
    for (int64_t t = 0; t < total; ++t) {
      const bool added = t >= cached;
      Put(kKPages, kKNew, sequence, kv_head, t, added ? start + t - cached : -1, k);
      Put(kVPages, kVNew, sequence, kv_head, t, added ? start + t - cached : -1, v);
    }
  }

 private:
  void Put(int pages, int added, int64_t sequence, int64_t kv_head, int64_t token, int64_t row,
           std::vector<uint8_t>& to) const {
    const TensorDesc& desc = call_.Desc(pages);
    const int64_t dim = desc.shape[2];
    const int64_t offset =
        call_.Slot(sequence, token) * desc.strides[0] + kv_head * desc.strides[1];
    const std::vector<double> line =
        row >= 0 ? call_.CachedLine(added, row, kv_head)
                 : LoadLine(call_.Data(pages), desc.dtype, offset, desc.strides[2], dim);
    for (int64_t d = 0; d < dim; ++d) {
      StoreFromDouble(to.data(), desc.dtype, token * dim + d, line[static_cast<size_t>(d)]);
    }
  }

  const AppendingCall& call_;
};

absl::Status OutputAfter(const ReferenceCall& reference, const AppendingCall& call,
                         std::span<const int64_t> elements, std::span<RefScalar> values) {
  const CallDesc& desc = *reference.call;
  const Dims& o = desc.output(0).desc.shape;
  const int64_t heads = o[1], dim = o[2];
  const int64_t kv_heads = call.Desc(kKPages).shape[1];
  const SeenKeys seen(call);
  for (const size_t first : GroupedOrder(elements)) {
    // One query at a time: its keys are gathered into arrays of their own.
    if (first != 0 && elements[first] / dim == elements[first - 1] / dim) continue;
    std::vector<int64_t> mine;
    std::vector<size_t> places;
    for (size_t i = first; i < elements.size() && elements[i] / dim == elements[first] / dim; ++i) {
      mine.push_back(elements[i]);
      places.push_back(i);
    }
    const int64_t row = elements[first] / dim / heads, head = elements[first] / dim % heads;
    const AppendingCall::Token token = call.At(row);
    const int64_t kv_head = head / (heads / kv_heads);
    const bool is_causal = ParamOf(desc, "is_causal").as_bool();
    std::vector<uint8_t> k, v;
    const int64_t visible = is_causal ? token.position + 1 : token.total;
    seen.Gather(token.sequence, kv_head, visible, k, v);
    AttentionCase attention;
    attention.k = k.data();
    attention.v = v.data();
    attention.dtype = call.Desc(kKPages).dtype;
    attention.softcap = Softcap(desc);
    attention.row = [&](int64_t) {
      AttentionRow result;
      result.q = call.NewLine(kQ, row, head);
      for (double& value : result.q) value *= ScoreScale(desc, dim) * call.Scale(kKScale);
      result.value_scale = call.Scale(kVScale);
      for (int64_t t = 0; t < visible; ++t) result.keys.push_back(t * dim);
      result.values = result.keys;
      return result;
    };
    std::vector<RefScalar> solved(mine.size());
    TW_RETURN_IF_ERROR(AttentionOutput(attention, dim, mine, solved));
    for (size_t i = 0; i < places.size(); ++i) values[places[i]] = solved[i];
  }
  return absl::OkStatus();
}

}  // namespace

TILEWRIGHT_REFERENCE(GroupedQueryAttentionPrefillPagedWithKVCacheFwdOp)
(const ReferenceCall& call, int output, std::span<const int64_t> elements,
 std::span<RefScalar> values) {
  const AppendingCall appending(call);
  if (output == 1) return CacheAfter(appending, kKPages, kKNew, elements, values);
  if (output == 2) return CacheAfter(appending, kVPages, kVNew, elements, values);
  return OutputAfter(call, appending, elements, values);
}

TILEWRIGHT_INPUTS(GroupedQueryAttentionPrefillPagedWithKVCacheFwdOp)(const InputRequest& request) {
  const CallDesc& call = *request.call;
  constexpr std::array<int, 5> kFloats = {kQ, kKNew, kVNew, kKPages, kVPages};
  SettleQueries(request, kFloats);
  PutFloat(request, kKScale, {0}, request.use == InputUse::kTime ? 1.0 : 0.75);
  PutFloat(request, kVScale, {0}, request.use == InputUse::kTime ? 1.0 : 1.25);
  const int64_t page_size = ParamOf(call, "page_size").as_int();
  const int64_t batches = call.input(kCached).desc.shape[0];
  const int64_t capacity = call.input(kTable).desc.shape[1] * page_size;
  const int64_t longest = ParamOf(call, "max_seqlen_q").as_int();
  const std::vector<int64_t> added =
      DrawLengths(request, batches, call.input(kQ).desc.shape[0], longest, 1);
  PutStarts(request, kStarts, added);
  std::vector<int64_t> total;
  for (int64_t b = 0; b < batches; ++b) {
    const int64_t own = added[static_cast<size_t>(b)];
    int64_t cached = capacity - longest;
    if (request.use == InputUse::kCheck) {
      const uint64_t draw = DrawAt(request, 5, static_cast<uint64_t>(b));
      cached = draw % 4 == 0
                   ? 0
                   : static_cast<int64_t>((draw >> 8) % static_cast<uint64_t>(capacity - own + 1));
    }
    PutInt(request, kCached, {b}, cached);
    total.push_back(cached + own);
  }
  if (call.input(kKPages).desc.shape[0] > 0) {
    PutPages(request, {kKPages, kVPages, kTable, page_size}, total);
  }
  return absl::OkStatus();
}

TILEWRIGHT_EDGE_CASES(GroupedQueryAttentionPrefillPagedWithKVCacheFwdOp) {
  struct Shape {
    const char* label;
    int64_t b, t_q, h, h_kv, d, pages, page_size, max_q;
    bool rope;
    int64_t rotary;
  };
  constexpr Shape kShapes[] = {{"primes", 3, 53, 6, 3, 40, 9, 13, 40, false, 0},
                               {"one-token", 2, 2, 4, 2, 64, 3, 16, 1, false, 0},
                               {"page-64", 3, 200, 8, 2, 128, 6, 64, 130, false, 0},
                               {"page-192", 2, 150, 4, 1, 64, 3, 192, 150, false, 0},
                               {"rope-full", 2, 70, 4, 2, 64, 9, 16, 50, true, 0},
                               {"rope-part", 2, 90, 4, 2, 128, 5, 64, 90, true, 32},
                               {"dim-256", 2, 80, 4, 1, 256, 4, 48, 80, true, 64},
                               {"no-tokens", 2, 0, 4, 2, 64, 2, 16, 0, false, 0}};
  std::vector<Workload> cases;
  for (const Shape& s : kShapes) {
    for (const bool is_causal : {true, false}) {
      const Dims added = {s.t_q, s.h_kv, s.d};
      const Dims pages = {(s.b * s.pages + 2) * s.page_size, s.h_kv, s.d};
      Workload entry;
      entry.label = std::string(s.label) + (is_causal ? "" : "-full");
      entry.input_shapes = {{"q", Dims{s.t_q, s.h, s.d}},
                            {"k_new", added},
                            {"v_new", added},
                            {"k_pages", pages},
                            {"v_pages", pages},
                            {"k_scale", Dims{1}},
                            {"v_scale", Dims{1}},
                            {"cu_seqlens_q", Dims{s.b + 1}},
                            {"cache_seqlens", Dims{s.b}},
                            {"block_table", Dims{s.b, s.pages}}};
      entry.params = {{"page_size", s.page_size},
                      {"max_seqlen_q", s.max_q},
                      {"is_causal", is_causal},
                      {"fuse_rope", s.rope}};
      if (s.rotary > 0) entry.params.emplace_back("rotary_dim", s.rotary);
      if (!is_causal) entry.params.emplace_back("softcap", 3.0);
      cases.push_back(entry);
      if (s.rope) continue;
      entry.label += "-float8";
      entry.params.emplace_back("cache_dtype", DType::kFloat8E4M3);
      cases.push_back(std::move(entry));
    }
  }
  return cases;
}

}  // namespace tilewright
