// Attention over ragged batches: sequences that follow each other.
#include <algorithm>
#include <array>
#include <string>

#include "manifest/op_spec.h"
#include "manifest/references/attention.h"
#include "manifest/references/element_access.h"

namespace tilewright {
namespace {

constexpr std::array<int, 3> kQkv = {0, 1, 2};

int64_t StartOf(const ReferenceCall& call, int input, int64_t sequence) {
  const TensorDesc& desc = call.call->input(input).desc;
  return LoadAsInt(call.inputs[static_cast<size_t>(input)].data, desc.dtype,
                   sequence * desc.strides[0]);
}

double ScaleOf(const ReferenceCall& call, int input, int64_t sequence, int64_t kv_head) {
  const TensorDesc& desc = call.call->input(input).desc;
  return LoadAsDouble(call.inputs[static_cast<size_t>(input)].data, desc.dtype,
                      sequence * desc.strides[0] + kv_head * desc.strides[1]);
}

// The sequence that has row `token`.
int64_t SequenceOf(const ReferenceCall& call, int starts, int64_t token) {
  const int64_t sequences = call.call->input(starts).desc.shape[0] - 1;
  for (int64_t b = sequences - 1; b > 0; --b) {
    if (StartOf(call, starts, b) <= token) return b;
  }
  return 0;
}

// q (T_q, H, D), k and v (T_kv, H_kv, D), starts at inputs 3 and 4; scales from input 5 on for
// float8 ones.
AttentionRow RaggedRow(const ReferenceCall& call, int64_t index) {
  const CallDesc& desc = *call.call;
  const TensorDesc& q = desc.input(0).desc;
  const TensorDesc& k = desc.input(1).desc;
  const TensorDesc& v = desc.input(2).desc;
  const int64_t token = index / q.shape[1], head = index % q.shape[1];
  const int64_t kv_head = head / (q.shape[1] / k.shape[1]);
  const int64_t b = SequenceOf(call, 3, token);
  const int64_t q_start = StartOf(call, 3, b), q_len = StartOf(call, 3, b + 1) - q_start;
  const int64_t kv_start = StartOf(call, 4, b), kv_len = StartOf(call, 4, b + 1) - kv_start;
  AttentionRow row;
  row.q = LoadLine(call.inputs[0].data, q.dtype, token * q.strides[0] + head * q.strides[1],
                   q.strides[2], q.shape[2]);
  double scale = ScoreScale(desc, q.shape[2]);
  if (DTypeSize(q.dtype) == 1) {
    scale *= ScaleOf(call, 5, b, kv_head) * ScaleOf(call, 6, b, kv_head);
    row.value_scale = ScaleOf(call, 7, b, kv_head);
  }
  for (double& value : row.q) value *= scale;
  const KeySpan span = VisibleSpan(
      token - q_start + kv_len - q_len, kv_len, ParamOf(desc, "is_causal").as_bool(),
      ParamOf(desc, "window_size_left").as_int(), ParamOf(desc, "window_size_right").as_int());
  for (int64_t j = span.first; j <= span.last; ++j) {
    row.keys.push_back((kv_start + j) * k.strides[0] + kv_head * k.strides[1]);
    row.values.push_back((kv_start + j) * v.strides[0] + kv_head * v.strides[1]);
  }
  return row;
}

absl::Status RaggedForward(const ReferenceCall& call, std::span<const int64_t> elements,
                           std::span<RefScalar> values) {
  const CallDesc& desc = *call.call;
  AttentionCase attention;
  attention.k = call.inputs[1].data;
  attention.v = call.inputs[2].data;
  attention.dtype = desc.input(1).desc.dtype;
  attention.k_stride = desc.input(1).desc.strides[2];
  attention.v_stride = desc.input(2).desc.strides[2];
  attention.softcap = Softcap(desc);
  attention.float8_weights = DTypeSize(attention.dtype) == 1;
  attention.row = [&call](int64_t index) { return RaggedRow(call, index); };
  return AttentionOutput(attention, desc.output(0).desc.shape[2], elements, values);
}

void PutRaggedStarts(const InputRequest& request, int64_t max_q, int64_t max_kv) {
  const CallDesc& call = *request.call;
  const int64_t count = call.input(3).desc.shape[0] - 1;
  PutStarts(request, 3, DrawLengths(request, count, call.input(0).desc.shape[0], max_q, 1));
  PutStarts(request, 4, DrawLengths(request, count, call.input(1).desc.shape[0], max_kv, 2));
}

struct Shape {
  const char* label;
  int64_t b, t_q, t_kv, h, h_kv, d, d_v, max_q, max_kv;
};

constexpr Shape kShapes[] = {{"primes", 3, 71, 97, 6, 3, 40, 40, 50, 90},
                             {"one-token", 1, 1, 1, 2, 1, 64, 64, 1, 1},
                             {"more-queries", 4, 400, 130, 4, 2, 128, 128, 400, 130},
                             {"more-keys", 4, 130, 700, 4, 2, 128, 128, 130, 700},
                             {"many-short", 40, 300, 420, 4, 4, 64, 64, 31, 300},
                             {"tiles", 3, 384, 384, 8, 2, 128, 128, 384, 384},
                             {"dim-256", 2, 200, 260, 2, 1, 256, 256, 200, 260},
                             {"dim-192-128", 2, 200, 260, 2, 2, 192, 128, 200, 260},
                             {"no-keys", 3, 60, 0, 2, 2, 64, 64, 60, 0},
                             {"no-queries", 3, 0, 50, 2, 2, 64, 64, 0, 50},
                             {"no-sequences", 0, 0, 0, 2, 2, 64, 64, 0, 0}};

struct Window {
  const char* label;
  bool is_causal;
  int64_t left, right;
};
constexpr Window kWindows[] = {{"causal", true, -1, -1},
                               {"full", false, -1, -1},
                               {"left", true, 17, -1},
                               {"both", false, 40, 20},
                               {"right", false, -1, 33}};

std::vector<Workload> RaggedEdges(std::string_view kv_starts) {
  std::vector<Workload> cases;
  for (const Shape& s : kShapes) {
    for (const Window& window : kWindows) {
      Workload& entry = cases.emplace_back();
      entry.label = std::string(s.label) + "-" + window.label;
      entry.input_shapes = {{"q", Dims{s.t_q, s.h, s.d}},
                            {"k", Dims{s.t_kv, s.h_kv, s.d}},
                            {"v", Dims{s.t_kv, s.h_kv, s.d_v}},
                            {"cu_seqlens_q", Dims{s.b + 1}},
                            {std::string(kv_starts), Dims{s.b + 1}}};
      entry.params = {{"is_causal", window.is_causal},
                      {"window_size_left", window.left},
                      {"window_size_right", window.right},
                      {"max_seqlen_q", s.max_q}};
    }
  }
  return cases;
}

}  // namespace

TILEWRIGHT_REFERENCE(GroupedQueryAttentionSlidingWindowVarlenFwdOp)
(const ReferenceCall& call, int /*output*/, std::span<const int64_t> elements,
 std::span<RefScalar> values) {
  return RaggedForward(call, elements, values);
}

TILEWRIGHT_REFERENCE(GroupedQueryAttentionPrefillFwdOp)
(const ReferenceCall& call, int /*output*/, std::span<const int64_t> elements,
 std::span<RefScalar> values) {
  return RaggedForward(call, elements, values);
}

TILEWRIGHT_INPUTS(GroupedQueryAttentionSlidingWindowVarlenFwdOp)(const InputRequest& request) {
  SettleQueries(request, kQkv);
  PutRaggedStarts(request, ParamOf(*request.call, "max_seqlen_q").as_int(),
                  request.call->input(1).desc.shape[0]);
  return absl::OkStatus();
}

TILEWRIGHT_INPUTS(GroupedQueryAttentionPrefillFwdOp)(const InputRequest& request) {
  const CallDesc& call = *request.call;
  SettleQueries(request, kQkv);
  PutRaggedStarts(request, ParamOf(call, "max_seqlen_q").as_int(),
                  ParamOf(call, "max_seqlen_kv").as_int());
  const Dims& scales = call.input(5).desc.shape;
  for (int input = 5; input < 8; ++input) {
    for (int64_t i = 0; i < scales[0] * scales[1]; ++i) {
      const double draw = static_cast<double>(
          DrawAt(request, static_cast<uint64_t>(input), static_cast<uint64_t>(i)) % 1000);
      PutFloat(request, input, {i / scales[1], i % scales[1]}, 0.25 + draw / 1000);
    }
  }
  return absl::OkStatus();
}

TILEWRIGHT_EDGE_CASES(GroupedQueryAttentionSlidingWindowVarlenFwdOp) {
  return RaggedEdges("cu_seqlens_k");
}

TILEWRIGHT_EDGE_CASES(GroupedQueryAttentionPrefillFwdOp) {
  std::vector<Workload> cases;
  for (const Workload& ragged : RaggedEdges("cu_seqlens_kv")) {
    const int64_t sequences = ragged.input_shapes[3].second[0] - 1;
    const int64_t kv_heads = ragged.input_shapes[1].second[1];
    for (const DType dtype : {DType::kFloat16, DType::kBFloat16, DType::kFloat8E4M3}) {
      Workload entry = ragged;
      for (const char* scale : {"q_scale", "k_scale", "v_scale"}) {
        entry.input_shapes.emplace_back(scale, Dims{sequences, kv_heads});
      }
      const int64_t keys = ragged.input_shapes[1].second[0];
      entry.params.emplace_back("max_seqlen_kv", keys);
      entry.params.emplace_back("dtype", dtype == DType::kFloat8E4M3 ? DType::kBFloat16 : dtype);
      if (cases.size() % 4 == 1) entry.params.emplace_back("softcap", 3.0);
      if (cases.size() % 4 == 2) entry.params.emplace_back("sm_scale", 0.3);
      if (cases.size() % 16 == 3) entry.params.emplace_back("sm_scale", -0.2);
      entry.dtypes = {dtype};
      cases.push_back(std::move(entry));
    }
  }
  return cases;
}

}  // namespace tilewright
