// Attention over whole batches: dense and windowed.
#include <array>
#include <string>

#include "manifest/op_spec.h"
#include "manifest/references/attention.h"
#include "manifest/references/element_access.h"

namespace tilewright {
namespace {

constexpr std::array<int, 3> kQkv = {0, 1, 2};

// q (B, S, H, D), k and v (B, N, H_kv, D).
AttentionCase DenseCase(const ReferenceCall& call, bool is_causal, int64_t left, int64_t right) {
  AttentionCase attention;
  const CallDesc& desc = *call.call;
  attention.k = call.inputs[1].data;
  attention.v = call.inputs[2].data;
  attention.dtype = desc.input(1).desc.dtype;
  attention.k_stride = desc.input(1).desc.strides[3];
  attention.v_stride = desc.input(2).desc.strides[3];
  attention.row = [&call, is_causal, left, right](int64_t index) {
    const TensorDesc& q = call.call->input(0).desc;
    const TensorDesc& k = call.call->input(1).desc;
    const TensorDesc& v = call.call->input(2).desc;
    const Dims at = CoordinatesOf(Dims{q.shape[0], q.shape[1], q.shape[2]}, index);
    const int64_t kv_head = at[2] / (q.shape[2] / k.shape[2]);
    AttentionRow row;
    row.q = LoadLine(call.inputs[0].data, q.dtype,
                     at[0] * q.strides[0] + at[1] * q.strides[1] + at[2] * q.strides[2],
                     q.strides[3], q.shape[3]);
    const double scale = ScoreScale(*call.call, q.shape[3]);
    for (double& value : row.q) value *= scale;
    const int64_t position = at[1] + k.shape[1] - q.shape[1];
    const KeySpan span = VisibleSpan(position, k.shape[1], is_causal, left, right);
    for (int64_t j = span.first; j <= span.last; ++j) {
      row.keys.push_back(at[0] * k.strides[0] + j * k.strides[1] + kv_head * k.strides[2]);
      row.values.push_back(at[0] * v.strides[0] + j * v.strides[1] + kv_head * v.strides[2]);
    }
    return row;
  };
  return attention;
}

absl::Status DenseForward(const ReferenceCall& call, int output, std::span<const int64_t> elements,
                          std::span<RefScalar> values) {
  const bool is_causal = ParamOf(*call.call, "is_causal").as_bool();
  const AttentionCase attention = DenseCase(call, is_causal, -1, -1);
  const Dims& o = call.call->output(0).desc.shape;
  if (output == 0) return AttentionOutput(attention, o[3], elements, values);
  const auto row_of = [&](int64_t element) {  // of (B, H, S)
    const int64_t batch = element / (o[1] * o[2]);
    const int64_t head = element / o[1] % o[2];
    return (batch * o[1] + element % o[1]) * o[2] + head;
  };
  return AttentionLogSum(attention, row_of, elements, values);
}

struct Shape {
  const char* label;
  int64_t b, s, h, h_kv, d, d_v;
};

Workload DenseWorkload(const Shape& shape, std::string label) {
  Workload entry;
  entry.label = std::move(label);
  entry.input_shapes = {{"q", Dims{shape.b, shape.s, shape.h, shape.d}},
                        {"k", Dims{shape.b, shape.s, shape.h_kv, shape.d}},
                        {"v", Dims{shape.b, shape.s, shape.h_kv, shape.d_v}}};
  return entry;
}

// Lengths around tiles, every kind of head dimension, and the ratios of heads where `grouped`.
std::vector<Shape> DenseShapes(bool grouped) {
  std::vector<Shape> shapes = {
      {"primes", 2, 37, 6, 3, 40, 40},        {"one-token", 3, 1, 4, 2, 64, 64},
      {"two-tiles", 1, 129, 4, 4, 128, 128},  {"tile-minus-one", 2, 127, 4, 2, 128, 128},
      {"tile", 1, 128, 4, 1, 128, 128},       {"length-255", 1, 255, 2, 1, 64, 64},
      {"length-300", 1, 300, 4, 2, 128, 128}, {"length-777", 1, 777, 8, 2, 128, 128},
      {"dim-8", 1, 70, 2, 2, 8, 8},           {"dim-72", 2, 100, 2, 1, 72, 72},
      {"dim-80", 1, 190, 2, 2, 80, 80},       {"dim-96", 1, 200, 4, 2, 96, 96},
      {"dim-192", 1, 200, 2, 1, 192, 192},    {"dim-192-128", 1, 333, 4, 4, 192, 128},
      {"dim-224", 1, 150, 2, 2, 224, 224},    {"dim-256", 1, 260, 2, 1, 256, 256},
      {"dim-64-128", 1, 130, 2, 2, 64, 128},  {"batch-empty", 0, 8, 2, 2, 64, 64},
      {"sequence-empty", 2, 0, 2, 2, 64, 64}, {"heads-empty", 2, 8, 0, 1, 64, 64}};
  if (grouped) {
    shapes.insert(shapes.end(), {{"heads-28-4", 1, 65, 28, 4, 128, 128},
                                 {"heads-24-4", 1, 66, 24, 4, 64, 64},
                                 {"heads-64-4", 1, 130, 64, 4, 128, 128},
                                 {"heads-5-1", 3, 140, 5, 1, 64, 64}});
  } else {
    for (Shape& shape : shapes) shape.h_kv = shape.h;
  }
  return shapes;
}

std::vector<Workload> DenseEdges(bool grouped) {
  std::vector<Workload> cases;
  for (const Shape& shape : DenseShapes(grouped)) {
    if (!grouped && shape.h == 0) continue;  // no ratio of heads to be empty beside
    for (const bool is_causal : {true, false}) {
      cases.push_back(DenseWorkload(shape, std::string(shape.label) + (is_causal ? "" : "-full")));
      cases.back().params = {{"is_causal", is_causal}};
    }
  }
  for (int64_t s = 2; s <= 300; s += 21) {
    cases.push_back(DenseWorkload({"", 1, s, 2, 2, 64, 64}, "tokens-" + std::to_string(s)));
    cases.back().params = {{"is_causal", s % 2 == 0}};
  }
  return cases;
}

}  // namespace

// torch.nn.functional.scaled_dot_product_attention.
TILEWRIGHT_REFERENCE(MultiHeadAttentionFwdOp)
(const ReferenceCall& call, int output, std::span<const int64_t> elements,
 std::span<RefScalar> values) {
  return DenseForward(call, output, elements, values);
}

TILEWRIGHT_REFERENCE(GroupedQueryAttentionFwdOp)
(const ReferenceCall& call, int output, std::span<const int64_t> elements,
 std::span<RefScalar> values) {
  return DenseForward(call, output, elements, values);
}

TILEWRIGHT_REFERENCE(GroupedQueryAttentionSlidingWindowFwdOp)
(const ReferenceCall& call, int /*output*/, std::span<const int64_t> elements,
 std::span<RefScalar> values) {
  const CallDesc& desc = *call.call;
  const AttentionCase attention = DenseCase(call, ParamOf(desc, "is_causal").as_bool(),
                                            ParamOf(desc, "window_size_left").as_int(),
                                            ParamOf(desc, "window_size_right").as_int());
  return AttentionOutput(attention, desc.output(0).desc.shape[3], elements, values);
}

TILEWRIGHT_INPUTS(MultiHeadAttentionFwdOp)(const InputRequest& request) {
  SettleQueries(request, kQkv);
  return absl::OkStatus();
}
TILEWRIGHT_INPUTS(GroupedQueryAttentionFwdOp)(const InputRequest& request) {
  SettleQueries(request, kQkv);
  return absl::OkStatus();
}
TILEWRIGHT_INPUTS(GroupedQueryAttentionSlidingWindowFwdOp)(const InputRequest& request) {
  SettleQueries(request, kQkv);
  return absl::OkStatus();
}

TILEWRIGHT_EDGE_CASES(MultiHeadAttentionFwdOp) { return DenseEdges(false); }
TILEWRIGHT_EDGE_CASES(GroupedQueryAttentionFwdOp) { return DenseEdges(true); }

TILEWRIGHT_EDGE_CASES(GroupedQueryAttentionSlidingWindowFwdOp) {
  struct Window {
    bool is_causal;
    int64_t left, right;
  };
  constexpr Window kWindows[] = {{true, 7, -1},    {false, 64, 64},     {false, -1, 64},
                                 {false, 100, -1}, {true, 0, 5},        {false, 0, 0},
                                 {true, -1, -1},   {false, 1000, 1000}, {false, 3, 200}};
  constexpr Shape kShapes[] = {
      {"primes", 2, 37, 6, 3, 40, 40},      {"one-token", 2, 1, 2, 2, 64, 64},
      {"length-512", 2, 512, 8, 2, 64, 64}, {"length-301", 1, 301, 4, 2, 128, 128},
      {"dim-256", 1, 270, 2, 1, 256, 256},  {"sequence-empty", 1, 0, 2, 2, 64, 64}};
  std::vector<Workload> cases;
  for (const Shape& shape : kShapes) {
    for (const auto& [is_causal, left, right] : kWindows) {
      cases.push_back(DenseWorkload(shape, std::string(shape.label) +
                                               (is_causal ? "-causal-" : "-") +
                                               std::to_string(left) + "-" + std::to_string(right)));
      cases.back().params = {
          {"is_causal", is_causal}, {"window_size_left", left}, {"window_size_right", right}};
    }
  }
  return cases;
}

}  // namespace tilewright
