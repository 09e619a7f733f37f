#include "kernel_templates/attention/problem.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <numbers>

#include "manifest/op_spec.h"
#include "manifest/status.h"

namespace tilewright {
namespace {

constexpr int64_t kMaxExtent = int64_t{1} << 29;  // of sequences; positions must not overflow
constexpr int kUnbounded = 1 << 30;               // a window

// Axes of an operand by what they are; -1: it has no such axis.
struct Axes {
  int batch, row, head, dim;
};
constexpr Axes kBshd = {0, 1, 2, 3};
constexpr Axes kThd = {-1, 0, 1, 2};
constexpr Axes kBhd = {0, -1, 1, 2};

RowStrides StridesOf(const CallDesc& call, int operand, const Axes& axes) {
  const Dims& strides = call.operands[static_cast<size_t>(operand)].desc.strides;
  const auto at = [&](int axis) { return axis < 0 ? 0 : strides[axis]; };
  return {at(axes.batch), at(axes.row), at(axes.head), at(axes.dim)};
}

int64_t Extent(const CallDesc& call, int operand, int axis) {
  return call.operands[static_cast<size_t>(operand)].desc.shape[axis];
}

DType DTypeOf(const CallDesc& call, int operand) {
  return call.operands[static_cast<size_t>(operand)].desc.dtype;
}

const ParamValue& Param(const CallDesc& call, std::string_view name) {
  return call.params[static_cast<size_t>(call.op->ParamIndex(name).value())];
}

double FloatOr(const ParamValue& value, double otherwise) {
  return value.is_null() ? otherwise : value.as_float();
}

bool InPieces(const CallDesc& call, int operand, const RowStrides& strides) {
  const Operand& o = call.operands[static_cast<size_t>(operand)];
  const auto piece = static_cast<uint32_t>(8 * DTypeSize(o.desc.dtype));
  return o.alignment >= piece && strides.dim == 1 && strides.row % 8 == 0 &&
         strides.head % 8 == 0 && strides.batch % 8 == 0;
}

// A reader's work: fills a problem in the order of its calls.
class Builder {
 public:
  explicit Builder(const CallDesc& call) : call_(call) {}

  Builder& Operands(const AttentionOperands& operands) {
    p_.operands = operands;
    return *this;
  }
  Builder& Layout(const Axes& q, const Axes& kv, const Axes& o) {
    const AttentionOperands& at = p_.operands;
    AttentionParams& a = p_.params;
    a.q_strides = StridesOf(call_, at.q, q);
    a.k_strides = StridesOf(call_, at.k, kv);
    a.v_strides = StridesOf(call_, at.v, kv);
    a.o_strides = StridesOf(call_, at.o, o);
    a.heads = Int(Extent(call_, at.q, q.head));
    a.kv_heads = Int(Extent(call_, at.k, kv.head));
    a.head_dim = Int(Extent(call_, at.q, q.dim));
    a.value_dim = Int(Extent(call_, at.v, kv.dim));
    a.batches = q.batch < 0 ? 0 : Int(Extent(call_, at.q, q.batch));
    a.q_len = q.batch < 0 ? 0 : q.row < 0 ? 1 : Int(Extent(call_, at.q, q.row));
    a.kv_len = kv.batch < 0 ? 0 : Int(Extent(call_, at.k, kv.row));
    a.window_left = a.window_right = kUnbounded;
    p_.query_dtype = DTypeOf(call_, at.q);
    p_.key_dtype = DTypeOf(call_, at.k);
    p_.output_dtype = DTypeOf(call_, at.o);
    p_.vector = InPieces(call_, at.q, a.q_strides) && InPieces(call_, at.k, a.k_strides) &&
                InPieces(call_, at.v, a.v_strides);
    Scale({}, {});
    return *this;
  }
  Builder& Lse() {
    const Dims& strides = call_.operands[static_cast<size_t>(p_.operands.lse)].desc.strides;
    p_.params.lse_batch = strides[0];
    p_.params.lse_head = strides[1];
    p_.params.lse_row = strides[2];
    return *this;
  }
  Builder& Ragged(int64_t max_q) {
    p_.ragged = true;
    const AttentionOperands& at = p_.operands;
    p_.params.q_len = Int(max_q);
    p_.params.batches = Int(Extent(call_, at.q_starts, 0) - 1);
    p_.params.q_starts_stride = StrideOf(at.q_starts, 0);
    p_.total_q = Extent(call_, at.q, 0);
    p_.total_kv = Extent(call_, at.k, 0);
    if (at.kv_starts >= 0) p_.params.kv_starts_stride = StrideOf(at.kv_starts, 0);
    return *this;
  }
  Builder& MaxKeys(int64_t max_kv) {
    p_.params.kv_len = Int(max_kv);
    return *this;
  }
  Builder& Paged(int64_t page_size, bool grows) {
    const AttentionOperands& at = p_.operands;
    p_.paged = p_.kv_lengths = true;
    p_.kv_length_grows = grows;
    AttentionParams& a = p_.params;
    a.page =
        MakeFastDivmod<false>(static_cast<unsigned long long>(std::max<int64_t>(page_size, 1)));
    a.kv_lengths_stride = StrideOf(at.kv_lengths, 0);
    a.table_batch = StrideOf(at.table, 0);
    a.table_page = StrideOf(at.table, 1);
    p_.total_kv = Extent(call_, at.k, 0);
    const int64_t pages = Extent(call_, at.table, 1);
    a.kv_len = pages > kMaxExtent / page_size ? Int(kMaxExtent + 1) : Int(pages * page_size);
    return *this;
  }
  Builder& Window(bool is_causal, int64_t left, int64_t right) {
    if (is_causal) right = 0;
    p_.params.window_left = left < 0 ? kUnbounded : Int(std::min<int64_t>(left, kUnbounded));
    p_.params.window_right = right < 0 ? kUnbounded : Int(std::min<int64_t>(right, kUnbounded));
    p_.mask = left < 0 && right < 0    ? AttentionMask::kFull
              : left < 0 && right == 0 ? AttentionMask::kCausal
                                       : AttentionMask::kWindow;
    return *this;
  }
  Builder& Scale(const ParamValue& sm_scale, const ParamValue& softcap) {
    AttentionParams& a = p_.params;
    p_.scale = FloatOr(sm_scale, 1.0 / std::sqrt(static_cast<double>(std::max(a.head_dim, 1))));
    p_.softcap = !softcap.is_null();
    const double cap = FloatOr(softcap, 1.0);
    a.scale_log2 = static_cast<float>(p_.scale * std::numbers::log2e);
    a.softcap_in = static_cast<float>(p_.scale / cap);
    a.softcap_log2 = static_cast<float>(cap * std::numbers::log2e);
    return *this;
  }
  // Scales of shape (B, H_kv), or (1,).
  Builder& Float8Scales() {
    const AttentionOperands& at = p_.operands;
    AttentionParams& a = p_.params;
    if (at.q_scale >= 0) Scales(at.q_scale, a.q_scale_batch, a.q_scale_head);
    Scales(at.k_scale, a.k_scale_batch, a.k_scale_head);
    Scales(at.v_scale, a.v_scale_batch, a.v_scale_head);
    return *this;
  }
  Builder& Decode() {
    p_.decode = true;
    return *this;
  }
  Builder& Rotate(int64_t rotary_dim, double base) {
    p_.rotary_dim = rotary_dim;
    p_.rope_base = base;
    return *this;
  }
  AttentionProblem Done() const { return p_; }

 private:
  static int Int(int64_t value) { return static_cast<int>(std::min<int64_t>(value, 0x7fffffff)); }
  int64_t StrideOf(int operand, int axis) const {
    return call_.operands[static_cast<size_t>(operand)].desc.strides[axis];
  }
  void Scales(int operand, long long& batch, long long& head) {
    if (call_.operands[static_cast<size_t>(operand)].desc.rank() != 2) return;
    batch = StrideOf(operand, 0);
    head = StrideOf(operand, 1);
  }

  const CallDesc& call_;
  AttentionProblem p_;
};

}  // namespace

bool AttentionProblem::float8() const {
  return DTypeSize(query_dtype) == 1 || DTypeSize(key_dtype) == 1;
}

DType AttentionProblem::compute_dtype() const {
  return DTypeSize(query_dtype) == 2 ? query_dtype : DType::kFloat16;
}

double AttentionProblem::Pairs() const {
  const double q = params.q_len, n = params.kv_len;
  double keys = n;
  if (mask == AttentionMask::kCausal) keys = std::max(n - q / 2, n / 2);
  if (mask == AttentionMask::kWindow) {
    keys = std::min(n, static_cast<double>(params.window_left) + params.window_right + 1.0);
  }
  const double rows = ragged ? static_cast<double>(total_q) : q * params.batches;
  return rows * keys * params.heads;
}

double AttentionProblem::KeyBytes() const {
  const double rows = ragged && !paged ? static_cast<double>(total_kv)
                                       : static_cast<double>(params.kv_len) * params.batches;
  return rows * params.kv_heads * (params.head_dim + params.value_dim) *
         static_cast<double>(DTypeSize(key_dtype));
}

ProblemFields AttentionProblem::Describe() const {
  const auto bucket = [](int64_t value) {
    return value <= 1 ? value : static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(value)));
  };
  // Whether windows bound the left side matters to a kernel, and how wide they are to its cost.
  const int64_t left = params.window_left == kUnbounded ? -1 : bucket(params.window_left);
  const int64_t right = params.window_right == kUnbounded ? -1 : bucket(params.window_right);
  return {bucket(params.batches),
          params.heads,
          params.kv_heads,
          bucket(params.q_len),
          bucket(params.kv_len),
          params.head_dim,
          params.value_dim,
          left,
          right,
          paged ? static_cast<int64_t>(params.page.divisor) : 0,
          rotary_dim,
          (vector ? 1 : 0) | (softcap ? 2 : 0) | (scale > 0 ? 0 : 4)};
}

absl::Status AttentionProblem::CheckExtents() const {
  if (params.q_len > kMaxExtent || params.kv_len > kMaxExtent || total_q > kMaxExtent ||
      total_kv > 2 * kMaxExtent) {
    return FailedPrecondition("sequences of more than ", kMaxExtent, " tokens");
  }
  if (static_cast<int64_t>(params.q_len) * std::max<int64_t>(group(), 1) > 2 * kMaxExtent) {
    return FailedPrecondition("more than ", 2 * kMaxExtent, " query rows a key head");
  }
  return absl::OkStatus();
}

std::span<const ProblemField> AttentionFields() {
  using Kind = ProblemField::Kind;
  static const std::array<ProblemField, 12> fields = {
      ProblemField{"batch", Kind::kBucket},        ProblemField{"heads", Kind::kExact},
      ProblemField{"kv_heads", Kind::kExact},      ProblemField{"q_len", Kind::kBucket},
      ProblemField{"kv_len", Kind::kBucket},       ProblemField{"head_dim", Kind::kExact},
      ProblemField{"value_dim", Kind::kExact},     ProblemField{"window_left", Kind::kBucket},
      ProblemField{"window_right", Kind::kBucket}, ProblemField{"page_size", Kind::kExact},
      ProblemField{"rotary_dim", Kind::kExact},    ProblemField{"access", Kind::kClass}};
  return fields;
}

AttentionProblem ReadDense(const CallDesc& call) {
  return Builder(call)
      .Operands({.q = 0, .k = 1, .v = 2, .o = 3, .lse = 4})
      .Layout(kBshd, kBshd, kBshd)
      .Lse()
      .Window(Param(call, "is_causal").as_bool(), -1, -1)
      .Done();
}

AttentionProblem ReadWindow(const CallDesc& call) {
  return Builder(call)
      .Operands({.q = 0, .k = 1, .v = 2, .o = 3})
      .Layout(kBshd, kBshd, kBshd)
      .Window(Param(call, "is_causal").as_bool(), Param(call, "window_size_left").as_int(),
              Param(call, "window_size_right").as_int())
      .Done();
}

AttentionProblem ReadWindowVarlen(const CallDesc& call) {
  return Builder(call)
      .Operands({.q = 0, .k = 1, .v = 2, .o = 5, .q_starts = 3, .kv_starts = 4})
      .Layout(kThd, kThd, kThd)
      .Ragged(Param(call, "max_seqlen_q").as_int())
      .MaxKeys(Extent(call, 1, 0))
      .Window(Param(call, "is_causal").as_bool(), Param(call, "window_size_left").as_int(),
              Param(call, "window_size_right").as_int())
      .Done();
}

AttentionProblem ReadPrefill(const CallDesc& call) {
  return Builder(call)
      .Operands({.q = 0,
                 .k = 1,
                 .v = 2,
                 .o = 8,
                 .q_starts = 3,
                 .kv_starts = 4,
                 .q_scale = 5,
                 .k_scale = 6,
                 .v_scale = 7})
      .Layout(kThd, kThd, kThd)
      .Ragged(Param(call, "max_seqlen_q").as_int())
      .MaxKeys(Param(call, "max_seqlen_kv").as_int())
      .Window(Param(call, "is_causal").as_bool(), Param(call, "window_size_left").as_int(),
              Param(call, "window_size_right").as_int())
      .Scale(Param(call, "sm_scale"), Param(call, "softcap"))
      .Float8Scales()
      .Done();
}

AttentionProblem ReadPagedPrefill(const CallDesc& call) {
  const ParamValue& rotary = Param(call, "rotary_dim");
  const int64_t rotary_dim = !Param(call, "fuse_rope").as_bool() ? 0
                             : rotary.is_null()                  ? Extent(call, 0, 2)
                                                                 : rotary.as_int();
  return Builder(call)
      .Operands({.q = 0,
                 .k = 3,
                 .v = 4,
                 .o = 10,
                 .q_starts = 7,
                 .kv_lengths = 8,
                 .table = 9,
                 .k_scale = 5,
                 .v_scale = 6,
                 .k_new = 1,
                 .v_new = 2})
      .Layout(kThd, kThd, kThd)
      .Ragged(Param(call, "max_seqlen_q").as_int())
      .Paged(Param(call, "page_size").as_int(), true)
      .Window(Param(call, "is_causal").as_bool(), -1, -1)
      .Scale(Param(call, "sm_scale"), Param(call, "softcap"))
      .Float8Scales()
      .Rotate(rotary_dim, FloatOr(Param(call, "rope_base"), 0))
      .Done();
}

AttentionProblem ReadDecode(const CallDesc& call) {
  return Builder(call)
      .Operands({.q = 0, .k = 1, .v = 2, .o = 3})
      .Layout(kBshd, kBshd, kBshd)
      .Window(false, -1, -1)
      .Decode()
      .Done();
}

AttentionProblem ReadGroupedDecode(const CallDesc& call) {
  return Builder(call)
      .Operands({.q = 0, .k = 1, .v = 2, .o = 3})
      .Layout(kBhd, kBshd, kBhd)
      .Window(false, -1, -1)
      .Scale(Param(call, "sm_scale"), Param(call, "softcap"))
      .Decode()
      .Done();
}

AttentionProblem ReadPagedDecode(const CallDesc& call) {
  return Builder(call)
      .Operands({.q = 0, .k = 1, .v = 2, .o = 5, .kv_lengths = 3, .table = 4})
      .Layout(kBshd, kThd, kBshd)
      .Paged(Param(call, "page_size").as_int(), false)
      .Window(Param(call, "is_causal").as_bool(), -1, -1)
      .Decode()
      .Done();
}

AttentionProblem ReadGroupedPagedDecode(const CallDesc& call) {
  return Builder(call)
      .Operands({.q = 0, .k = 1, .v = 2, .o = 5, .kv_lengths = 3, .table = 4})
      .Layout(kBhd, kThd, kBhd)
      .Paged(Param(call, "page_size").as_int(), false)
      .Window(false, -1, -1)
      .Scale(Param(call, "sm_scale"), Param(call, "softcap"))
      .Decode()
      .Done();
}

std::string_view AttentionElement(DType dtype) {
  switch (dtype) {
    case DType::kFloat16:
      return "tilewright::fp16";
    case DType::kBFloat16:
      return "tilewright::bf16";
    default:
      return "tilewright::fp8_e4m3";
  }
}

void AddSequenceTraits(const AttentionProblem& problem,
                       std::vector<std::pair<std::string, std::string>>& constants) {
  const auto flag = [](bool value) { return std::string(value ? "true" : "false"); };
  constants.insert(constants.end(), {{"bool kRagged", flag(problem.ragged)},
                                     {"bool kPaged", flag(problem.paged)},
                                     {"bool kKvLengths", flag(problem.kv_lengths)},
                                     {"bool kKvLengthGrows", flag(problem.kv_length_grows)}});
}

AttentionParams WithPack(const AttentionProblem& problem, int64_t pack) {
  const auto divisor = [](int64_t value) {
    return MakeFastDivmod<false>(static_cast<unsigned long long>(std::max<int64_t>(value, 1)));
  };
  AttentionParams params = problem.params;
  params.pack = divisor(pack);
  params.group = divisor(problem.group());
  params.by_heads = divisor(params.heads / std::max<int64_t>(pack, 1));
  return params;
}

void AddPointers(const AttentionProblem& problem, size_t offset, Launch& launch) {
  const AttentionOperands& at = problem.operands;
  const auto add = [&](size_t field, int operand, int64_t byte_offset = 0) {
    if (operand == AttentionOperands::kNone) return;
    launch.pointers.push_back(
        {static_cast<uint16_t>(offset + field), static_cast<int8_t>(operand), byte_offset});
  };
  add(offsetof(AttentionParams, q), at.q, at.q_offset);
  add(offsetof(AttentionParams, k), at.k, at.k_offset);
  add(offsetof(AttentionParams, v), at.v, at.v_offset);
  add(offsetof(AttentionParams, o), at.o);
  add(offsetof(AttentionParams, lse), at.lse);
  add(offsetof(AttentionParams, q_starts), at.q_starts);
  add(offsetof(AttentionParams, kv_starts), at.kv_starts);
  add(offsetof(AttentionParams, kv_lengths), at.kv_lengths);
  add(offsetof(AttentionParams, table), at.table);
  add(offsetof(AttentionParams, q_scale), at.q_scale);
  add(offsetof(AttentionParams, k_scale), at.k_scale);
  add(offsetof(AttentionParams, v_scale), at.v_scale);
}

}  // namespace tilewright
