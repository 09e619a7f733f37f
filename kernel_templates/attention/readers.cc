// Reads attention problems off the calls of each operator.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "kernel_templates/attention/problem.h"
#include "manifest/op_spec.h"

namespace tilewright {
namespace {

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
    a.window_left = a.window_right = kUnboundedWindow;
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
    a.kv_len = pages > kMaxAttentionExtent / page_size ? Int(kMaxAttentionExtent + 1)
                                                       : Int(pages * page_size);
    return *this;
  }
  Builder& Window(bool is_causal, int64_t left, int64_t right) {
    if (is_causal) right = 0;
    p_.params.window_left =
        left < 0 ? kUnboundedWindow : Int(std::min<int64_t>(left, kUnboundedWindow));
    p_.params.window_right =
        right < 0 ? kUnboundedWindow : Int(std::min<int64_t>(right, kUnboundedWindow));
    p_.mask = left < 0 && right < 0    ? AttentionMask::kFull
              : left < 0 && right == 0 ? AttentionMask::kCausal
                                       : AttentionMask::kWindow;
    return *this;
  }
  Builder& Scale(const ParamValue& sm_scale, const ParamValue& softcap) {
    AttentionParams& a = p_.params;
    p_.scale = FloatOr(sm_scale, 1.0 / std::sqrt(static_cast<double>(std::max(a.head_dim, 1))));
    // A null one, and one that is too large to matter, leave the parameters at 1.
    p_.softcap = FloatOr(softcap, kLargestSoftcap) < kLargestSoftcap;
    const double cap = p_.softcap ? softcap.as_float() : 1.0;
    // Infinity times a product of 0 would be NaN.
    constexpr double kLargest = std::numeric_limits<float>::max();
    a.scale_log2 = static_cast<float>(p_.scale * std::numbers::log2e);
    a.softcap_in = static_cast<float>(std::clamp(p_.scale / cap, -kLargest, kLargest));
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

}  // namespace tilewright
