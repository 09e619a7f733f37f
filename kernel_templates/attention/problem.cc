#include "kernel_templates/attention/problem.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <limits>

#include "manifest/status.h"

namespace tilewright {
bool AttentionProblem::float8() const {
  return DTypeSize(query_dtype) == 1 || DTypeSize(key_dtype) == 1;
}

DType AttentionProblem::compute_dtype() const {
  return DTypeSize(query_dtype) == 2 ? query_dtype : DType::kFloat16;
}

bool AttentionProblem::may_be_blind() const {
  if (kv_lengths && !kv_length_grows) return true;
  if (kv_length_grows) return false;  // by the queries: the first sees itself
  if (ragged && params.batches > 1) return true;
  const int64_t queries = ragged ? total_q : params.q_len;
  const int64_t keys = ragged ? total_kv : params.kv_len;
  return keys == 0 || (mask != AttentionMask::kFull && queries > keys);
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
  const int64_t left = params.window_left == kUnboundedWindow ? -1 : bucket(params.window_left);
  const int64_t right = params.window_right == kUnboundedWindow ? -1 : bucket(params.window_right);
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
          (vector ? 1 : 0) | (softcap ? 2 : 0) | (positive_scale() ? 0 : 4)};
}

absl::Status AttentionProblem::CheckExtents() const {
  if (params.q_len > kMaxAttentionExtent || params.kv_len > kMaxAttentionExtent ||
      total_q > kMaxAttentionExtent || total_kv > 2 * kMaxAttentionExtent) {
    return FailedPrecondition("sequences of more than ", kMaxAttentionExtent, " tokens");
  }
  // Counts that an int does not hold were clamped.
  if (std::max({params.batches, params.heads, params.kv_heads}) ==
      std::numeric_limits<int>::max()) {
    return FailedPrecondition("2^31 - 1 sequences or heads, or more");
  }
  if (static_cast<int64_t>(params.q_len) * std::max<int64_t>(group(), 1) >
      2 * kMaxAttentionExtent) {
    return FailedPrecondition("more than ", 2 * kMaxAttentionExtent, " query rows a key head");
  }
  // The appending kernel counts a token's elements.
  if (operands.k_new != AttentionOperands::kNone &&
      int64_t{std::max(params.heads, params.kv_heads)} * params.head_dim >
          std::numeric_limits<int>::max()) {
    return FailedPrecondition("2^31 elements a token, or more");
  }
  return absl::OkStatus();
}

int64_t SaturatedProduct(std::initializer_list<int64_t> factors) {
  int64_t product = 1;
  for (const int64_t factor : factors) {
    if (__builtin_mul_overflow(product, factor, &product)) {
      return std::numeric_limits<int64_t>::max();
    }
  }
  return product;
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
