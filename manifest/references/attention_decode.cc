// Attention of few queries a sequence over a cache: contiguous and paged.
#include <algorithm>
#include <array>
#include <string>

#include "manifest/op_spec.h"
#include "manifest/references/attention.h"
#include "manifest/references/element_access.h"

namespace tilewright {
namespace {

constexpr std::array<int, 3> kQkv = {0, 1, 2};

// The query of row `index` of q's leading axes: (B, S, H), or (B, H).
struct Query {
  int64_t batch, query, queries, head, kv_head;
};
Query QueryAt(const CallDesc& call, int64_t index) {
  const Dims& q = call.input(0).desc.shape;
  const Dims& k = call.input(1).desc.shape;
  const bool grouped = q.rank() == 3;
  const int64_t heads = q[q.rank() - 2];
  const int64_t kv_heads = k[k.rank() - 2];
  const int64_t queries = grouped ? 1 : q[1];
  const int64_t head = index % heads;
  const int64_t rest = index / heads;
  return {rest / queries, rest % queries, queries, head, head / (heads / kv_heads)};
}

AttentionRow StartRow(const ReferenceCall& call, int64_t index) {
  const TensorDesc& q = call.call->input(0).desc;
  Dims leading;
  for (int axis = 0; axis < q.rank() - 1; ++axis) leading.push_back(q.shape[axis]);
  const Dims at = CoordinatesOf(leading, index);
  int64_t offset = 0;
  for (int axis = 0; axis < q.rank() - 1; ++axis) offset += at[axis] * q.strides[axis];
  AttentionRow row;
  const int64_t dim = q.shape[q.rank() - 1];
  row.q = LoadLine(call.inputs[0].data, q.dtype, offset, q.strides[q.rank() - 1], dim);
  const double scale = ScoreScale(*call.call, dim);
  for (double& value : row.q) value *= scale;
  return row;
}

absl::Status Solve(const ReferenceCall& call, std::function<AttentionRow(int64_t)> row,
                   std::span<const int64_t> elements, std::span<RefScalar> values) {
  const CallDesc& desc = *call.call;
  const TensorDesc& k = desc.input(1).desc;
  const TensorDesc& v = desc.input(2).desc;
  AttentionCase attention;
  attention.k = call.inputs[1].data;
  attention.v = call.inputs[2].data;
  attention.dtype = k.dtype;
  attention.k_stride = k.strides[k.rank() - 1];
  attention.v_stride = v.strides[v.rank() - 1];
  attention.softcap = Softcap(desc);
  attention.row = std::move(row);
  const Dims& o = desc.output(0).desc.shape;
  return AttentionOutput(attention, o[o.rank() - 1], elements, values);
}

absl::Status Contiguous(const ReferenceCall& call, std::span<const int64_t> elements,
                        std::span<RefScalar> values) {
  const auto row_at = [&call](int64_t index) {
    const Query query = QueryAt(*call.call, index);
    const TensorDesc& k = call.call->input(1).desc;
    const TensorDesc& v = call.call->input(2).desc;
    AttentionRow row = StartRow(call, index);
    for (int64_t j = 0; j < k.shape[1]; ++j) {
      row.keys.push_back(query.batch * k.strides[0] + j * k.strides[1] +
                         query.kv_head * k.strides[2]);
      row.values.push_back(query.batch * v.strides[0] + j * v.strides[1] +
                           query.kv_head * v.strides[2]);
    }
    return row;
  };
  return Solve(call, row_at, elements, values);
}

// Lengths at input 3, the table at input 4.
absl::Status Paged(const ReferenceCall& call, std::span<const int64_t> elements,
                   std::span<RefScalar> values) {
  const auto row_at = [&call](int64_t index) {
    const CallDesc& desc = *call.call;
    const Query query = QueryAt(desc, index);
    const TensorDesc& k = desc.input(1).desc;
    const TensorDesc& v = desc.input(2).desc;
    const TensorDesc& lengths = desc.input(3).desc;
    const TensorDesc& table = desc.input(4).desc;
    const int64_t page_size = ParamOf(desc, "page_size").as_int();
    const int64_t length =
        LoadAsInt(call.inputs[3].data, lengths.dtype, query.batch * lengths.strides[0]);
    AttentionRow row = StartRow(call, index);
    const KeySpan span = VisibleSpan(length - query.queries + query.query, length,
                                     ParamOf(desc, "is_causal").as_bool(), -1, -1);
    for (int64_t j = span.first; j <= span.last; ++j) {
      const int64_t page =
          LoadAsInt(call.inputs[4].data, table.dtype,
                    query.batch * table.strides[0] + j / page_size * table.strides[1]);
      const int64_t slot = page * page_size + j % page_size;
      row.keys.push_back(slot * k.strides[0] + query.kv_head * k.strides[1]);
      row.values.push_back(slot * v.strides[0] + query.kv_head * v.strides[1]);
    }
    return row;
  };
  return Solve(call, row_at, elements, values);
}

absl::Status PagedInputValues(const InputRequest& request) {
  const CallDesc& call = *request.call;
  const int64_t page_size = ParamOf(call, "page_size").as_int();
  const int64_t batches = call.input(3).desc.shape[0];
  const int64_t longest = call.input(4).desc.shape[1] * page_size;
  const bool pool = call.input(1).desc.shape[0] > 0;
  SettleQueries(request, kQkv);
  std::vector<int64_t> lengths;
  for (int64_t b = 0; b < batches; ++b) {
    int64_t length = longest;
    if (request.use == InputUse::kCheck) {
      const uint64_t draw = DrawAt(request, 3, static_cast<uint64_t>(b));
      length = draw % 8 == 0 ? 0
               : draw % 8 == 1
                   ? longest
                   : static_cast<int64_t>((draw >> 8) % static_cast<uint64_t>(longest + 1));
    }
    lengths.push_back(pool ? length : 0);
    PutInt(request, 3, {b}, lengths.back());
  }
  if (pool) PutPages(request, {1, 2, 4, page_size}, lengths);
  return absl::OkStatus();
}

struct Shape {
  const char* label;
  int64_t b, s, h, h_kv, n, d, d_v;
};

// `s` is left out of q where `grouped`.
Workload DecodeWorkload(const Shape& shape, bool grouped) {
  Workload entry;
  entry.label = shape.label;
  entry.input_shapes = {
      {"q", grouped ? Dims{shape.b, shape.h, shape.d} : Dims{shape.b, shape.s, shape.h, shape.d}},
      {"k", Dims{shape.b, shape.n, grouped ? shape.h_kv : shape.h, shape.d}},
      {"v", Dims{shape.b, shape.n, grouped ? shape.h_kv : shape.h, shape.d_v}}};
  return entry;
}

std::vector<Workload> DecodeEdges(bool grouped) {
  std::vector<Shape> shapes = {
      {"primes", 3, 1, 6, 3, 67, 40, 40},          {"one-key", 2, 1, 4, 2, 1, 64, 64},
      {"no-keys", 2, 1, 4, 2, 0, 64, 64},          {"no-batch", 0, 1, 4, 2, 16, 64, 64},
      {"length-100", 2, 1, 8, 2, 100, 128, 128},   {"length-1000", 2, 1, 8, 1, 1000, 128, 128},
      {"length-5003", 1, 1, 4, 2, 5003, 128, 128}, {"dim-8", 2, 1, 2, 1, 90, 8, 8},
      {"dim-96", 2, 1, 4, 2, 190, 96, 96},         {"dim-192-128", 2, 1, 4, 4, 300, 192, 128},
      {"dim-64-256", 2, 1, 4, 2, 300, 64, 256},    {"dim-256", 2, 1, 8, 2, 300, 256, 256},
      {"many-batches", 65536, 1, 2, 1, 3, 16, 16}};
  if (grouped) {
    shapes.insert(shapes.end(), {{"heads-5-1", 2, 1, 5, 1, 200, 64, 64},
                                 {"heads-28-4", 2, 1, 28, 4, 200, 128, 128},
                                 {"heads-64-4", 2, 1, 64, 4, 200, 128, 128},
                                 {"heads-40-1", 2, 1, 40, 1, 333, 64, 64},
                                 {"heads-100-1", 1, 1, 100, 1, 333, 64, 64}});
  } else {
    shapes.insert(shapes.end(), {{"queries-3", 2, 3, 4, 4, 200, 64, 64},
                                 {"queries-17", 2, 17, 2, 2, 129, 128, 128},
                                 {"queries-100", 1, 100, 2, 2, 300, 64, 64}});
  }
  std::vector<Workload> cases;
  for (const Shape& shape : shapes) cases.push_back(DecodeWorkload(shape, grouped));
  for (int64_t n = 2; n <= 300; n += 23) {
    cases.push_back(DecodeWorkload({"", 1, 1, 4, 4, n, 64, 64}, grouped));
    cases.back().label = "keys-" + std::to_string(n);
  }
  return cases;
}

struct PagedShape {
  const char* label;
  int64_t b, s, h, h_kv, pages, page_size, pool, d;  // `pool` in pages
};

std::vector<Workload> PagedEdges(bool grouped) {
  constexpr PagedShape kShapes[] = {{"primes", 3, 1, 6, 3, 5, 7, 19, 40},
                                    {"page-16", 4, 1, 8, 2, 40, 16, 200, 128},
                                    {"page-48", 3, 1, 4, 1, 9, 48, 27, 64},
                                    {"page-64", 6, 1, 8, 2, 20, 64, 130, 128},
                                    {"page-192", 3, 1, 8, 2, 6, 192, 18, 128},
                                    {"page-256", 3, 1, 4, 2, 3, 256, 10, 64},
                                    {"page-1", 2, 1, 4, 2, 70, 1, 150, 64},
                                    {"shared-pool", 8, 1, 4, 2, 10, 64, 12, 64},
                                    {"dim-256", 2, 1, 8, 2, 5, 64, 12, 256},
                                    {"no-pages", 2, 1, 4, 2, 0, 16, 4, 64},
                                    {"no-pool", 2, 1, 4, 2, 4, 16, 0, 64},
                                    {"no-batch", 0, 1, 4, 2, 4, 16, 4, 64},
                                    {"many-batches", 65536, 1, 2, 1, 1, 4, 300, 16},
                                    {"queries-3", 3, 3, 4, 4, 9, 16, 30, 64},
                                    {"queries-40", 2, 40, 2, 2, 9, 32, 20, 128}};
  std::vector<Workload> cases;
  for (const PagedShape& s : kShapes) {
    if (grouped && s.s != 1) continue;
    Workload entry;
    entry.label = s.label;
    const int64_t kv_heads = grouped ? s.h_kv : s.h;
    const Dims slots = {s.pool * s.page_size, kv_heads, s.d};
    entry.input_shapes = {{"q", grouped ? Dims{s.b, s.h, s.d} : Dims{s.b, s.s, s.h, s.d}},
                          {"k", slots},
                          {"v", slots},
                          {"real_seqlen_kv", Dims{s.b}},
                          {"block_table", Dims{s.b, s.pages}}};
    entry.params = {{"page_size", s.page_size}};
    cases.push_back(entry);
    if (grouped) {
      entry.params.emplace_back("softcap", 2.0);
      entry.label += "-softcap";
    } else {
      entry.params.emplace_back("is_causal", true);
      entry.label += "-causal";
    }
    cases.push_back(std::move(entry));
  }
  return cases;
}

}  // namespace

TILEWRIGHT_REFERENCE(MultiHeadAttentionDecodeWithKVCacheFwdOp)
(const ReferenceCall& call, int /*output*/, std::span<const int64_t> elements,
 std::span<RefScalar> values) {
  return Contiguous(call, elements, values);
}
TILEWRIGHT_REFERENCE(GroupedQueryAttentionDecodeWithKVCacheFwdOp)
(const ReferenceCall& call, int /*output*/, std::span<const int64_t> elements,
 std::span<RefScalar> values) {
  return Contiguous(call, elements, values);
}
TILEWRIGHT_REFERENCE(MultiHeadAttentionDecodePagedWithKVCacheFwdOp)
(const ReferenceCall& call, int /*output*/, std::span<const int64_t> elements,
 std::span<RefScalar> values) {
  return Paged(call, elements, values);
}
TILEWRIGHT_REFERENCE(GroupedQueryAttentionDecodePagedWithKVCacheFwdOp)
(const ReferenceCall& call, int /*output*/, std::span<const int64_t> elements,
 std::span<RefScalar> values) {
  return Paged(call, elements, values);
}

TILEWRIGHT_INPUTS(MultiHeadAttentionDecodeWithKVCacheFwdOp)(const InputRequest& request) {
  SettleQueries(request, kQkv);
  return absl::OkStatus();
}
TILEWRIGHT_INPUTS(GroupedQueryAttentionDecodeWithKVCacheFwdOp)(const InputRequest& request) {
  SettleQueries(request, kQkv);
  return absl::OkStatus();
}
TILEWRIGHT_INPUTS(MultiHeadAttentionDecodePagedWithKVCacheFwdOp)(const InputRequest& request) {
  return PagedInputValues(request);
}
TILEWRIGHT_INPUTS(GroupedQueryAttentionDecodePagedWithKVCacheFwdOp)(const InputRequest& request) {
  return PagedInputValues(request);
}

TILEWRIGHT_EDGE_CASES(MultiHeadAttentionDecodeWithKVCacheFwdOp) { return DecodeEdges(false); }
TILEWRIGHT_EDGE_CASES(MultiHeadAttentionDecodePagedWithKVCacheFwdOp) { return PagedEdges(false); }
TILEWRIGHT_EDGE_CASES(GroupedQueryAttentionDecodePagedWithKVCacheFwdOp) { return PagedEdges(true); }

TILEWRIGHT_EDGE_CASES(GroupedQueryAttentionDecodeWithKVCacheFwdOp) {
  std::vector<Workload> cases = DecodeEdges(true);
  const size_t plain = cases.size();
  for (size_t i = 0; i < plain; i += 3) {
    Workload entry = cases[i];
    entry.label += i % 2 == 0 ? "-softcap" : "-scale";
    if (i % 2 == 0) {
      entry.params = {{"softcap", 4.0}};
    } else {
      entry.params = {{"sm_scale", -0.25}};
    }
    cases.push_back(std::move(entry));
  }
  return cases;
}

}  // namespace tilewright
