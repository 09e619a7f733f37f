// An attention call as the templates see it: parameters, traits and how its operands can be read.
#ifndef TILEWRIGHT_KERNEL_TEMPLATES_ATTENTION_PROBLEM_H_
#define TILEWRIGHT_KERNEL_TEMPLATES_ATTENTION_PROBLEM_H_

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernel_templates/attention/params.cuh"
#include "kernel_templates/launch.h"
#include "kernel_templates/recipe.h"
#include "manifest/call_desc.h"

namespace tilewright {

inline constexpr int64_t kMaxAttentionExtent = int64_t{1} << 29;  // tokens; positions add up
inline constexpr int kUnboundedWindow = 1 << 30;
// A cap from here on is none: it would take less than 2^-12 off a score of 2^8 (s^3 / (3 cap^2)),
// while the kernels' tanh is exact to about 1e-7 times the cap.
inline constexpr double kLargestSoftcap = 1 << 15;

// Which keys a query sees. The values enter problem keys.
enum class AttentionMask : uint8_t { kFull = 0, kCausal = 1, kWindow = 2 };

// Indices of a call's operands.
struct AttentionOperands {
  static constexpr int kNone = -2;  // kWorkspaceOperand is -1
  int q = kNone, k = kNone, v = kNone, o = kNone, lse = kNone;
  int q_starts = kNone, kv_starts = kNone, kv_lengths = kNone, table = kNone;
  int q_scale = kNone, k_scale = kNone, v_scale = kNone;
  int k_new = kNone, v_new = kNone;                  // tokens to append to a paged cache
  int64_t q_offset = 0, k_offset = 0, v_offset = 0;  // in bytes, where they are in the workspace
};

struct AttentionProblem {
  AttentionOperands operands;
  // All but pointers, `pack` and what follows from it, and chunks. Strides of what a call has not
  // are 0.
  AttentionParams params{};
  DType query_dtype = DType::kBFloat16;
  DType key_dtype = DType::kBFloat16;
  DType output_dtype = DType::kBFloat16;
  AttentionMask mask = AttentionMask::kFull;
  bool ragged = false;
  bool paged = false;
  bool kv_lengths = false;
  bool kv_length_grows = false;
  bool softcap = false;
  bool vector = true;   // rows of q, k and v can be read in pieces of eight elements
  bool decode = false;  // an operator for few queries
  double scale = 1;
  int64_t total_q = 0;  // rows of ragged queries and keys
  int64_t total_kv = 0;
  // Rotation of what is appended; rotary_dim is 0 for none.
  int64_t rotary_dim = 0;
  double rope_base = 0;

  bool empty() const {
    return params.batches == 0 || params.q_len == 0 || params.heads == 0 ||
           (ragged && total_q == 0);
  }
  bool float8() const;  // queries or keys
  // Whether scores keep their order when scaled, in float32.
  bool positive_scale() const { return params.scale_log2 > 0; }
  int64_t group() const { return params.kv_heads > 0 ? params.heads / params.kv_heads : 1; }
  DType compute_dtype() const;  // of products: 16 bits
  int64_t padded_dim() const { return (int64_t{params.head_dim} + 15) / 16 * 16; }
  int64_t padded_value_dim() const { return (int64_t{params.value_dim} + 15) / 16 * 16; }
  // Whether there may be queries that see no key, as far as the call tells: lengths that only the
  // device knows may be any.
  bool may_be_blind() const;
  // Queries x keys that are multiplied, at most, for the cost models.
  double Pairs() const;
  double KeyBytes() const;  // of all keys and values read once

  // The fields of a problem key; see AttentionFields().
  ProblemFields Describe() const;
  // Extents that the kernels' 32-bit arithmetic cannot hold.
  absl::Status CheckExtents() const;
};

// A product of counts; the largest int64 where that does not hold it.
int64_t SaturatedProduct(std::initializer_list<int64_t> factors);

// Reads a problem off a call.
using AttentionReader = AttentionProblem (*)(const CallDesc& call);
AttentionProblem ReadDense(const CallDesc& call);         // q, k, v -> o, lse; is_causal
AttentionProblem ReadWindow(const CallDesc& call);        // q, k, v -> o; is_causal, left, right
AttentionProblem ReadWindowVarlen(const CallDesc& call);  // + cu_seqlens
AttentionProblem ReadPrefill(const CallDesc& call);
AttentionProblem ReadPagedPrefill(const CallDesc& call);
AttentionProblem ReadDecode(const CallDesc& call);         // q (B, S, H, D)
AttentionProblem ReadGroupedDecode(const CallDesc& call);  // q (B, H, D)
AttentionProblem ReadPagedDecode(const CallDesc& call);
AttentionProblem ReadGroupedPagedDecode(const CallDesc& call);

std::span<const ProblemField> AttentionFields();

// "tilewright::bf16", the element type's name in the templates.
std::string_view AttentionElement(DType dtype);

// The traits that Sequence<Config> reads, as constants of a kernel.
void AddSequenceTraits(const AttentionProblem& problem,
                       std::vector<std::pair<std::string, std::string>>& constants);

// `params` with rows of `pack` heads each, and the pointer slots of its operands. `offset` is where
// AttentionParams starts in the kernel's parameter struct.
AttentionParams WithPack(const AttentionProblem& problem, int64_t pack);
void AddPointers(const AttentionProblem& problem, size_t offset, Launch& launch);

}  // namespace tilewright

#endif  // TILEWRIGHT_KERNEL_TEMPLATES_ATTENTION_PROBLEM_H_
