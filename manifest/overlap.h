// Which operands of a call may share memory.
#ifndef TILEWRIGHT_MANIFEST_OVERLAP_H_
#define TILEWRIGHT_MANIFEST_OVERLAP_H_

#include <cstdint>
#include <span>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "manifest/call_desc.h"

namespace tilewright {

// True if two different indices of the view share an element. Exact for views of ordinary layouts;
// where the search would be too long the answer is true.
bool OverlapsItself(const TensorDesc& desc);

// True if the two views share a byte; the same bound on the search.
bool ViewsOverlap(const TensorDesc& a, const void* a_data, const TensorDesc& b, const void* b_data);

// The pairs of a call's operands that must not share memory: every written operand (outputs,
// mutated inputs) against every other. Built once per distinct call; checking pointers allocates
// nothing. Immutable after construction; holds copies, so it outlives the call.
class OverlapRules {
 public:
  OverlapRules() = default;
  explicit OverlapRules(const CallDesc& call);

  // `data` holds one pointer per operand, in CallDesc order. The usual case costs a comparison of
  // ranges per pair; only interleaved views take the exact test.
  bool Allowed(const CallDesc& call, std::span<const void* const> data) const {
    for (const Pair& pair : pairs_) {
      if (!Disjoint(pair, data) && !PairAllowed(pair, call, data)) return false;
    }
    return true;
  }
  // InvalidArgument naming the first pair that overlaps; OK where Allowed() is true.
  absl::Status Check(const CallDesc& call, std::span<const void* const> data) const;

 private:
  // Byte ranges are relative to the data pointers.
  struct Pair {
    uint8_t written = 0;
    uint8_t other = 0;
    bool exact_alias_ok = false;  // the same pointer and layout is in place, and allowed
    int64_t written_begin = 0, written_end = 0;
    int64_t other_begin = 0, other_end = 0;
  };

  static bool Disjoint(const Pair& pair, std::span<const void* const> data) {
    const auto written = reinterpret_cast<intptr_t>(data[pair.written]);
    const auto other = reinterpret_cast<intptr_t>(data[pair.other]);
    return written + pair.written_end <= other + pair.other_begin ||
           other + pair.other_end <= written + pair.written_begin;
  }
  static bool PairAllowed(const Pair& pair, const CallDesc& call,
                          std::span<const void* const> data);

  absl::InlinedVector<Pair, 8> pairs_;
};

// The two steps at once, for callers that check a call only once.
absl::Status CheckOverlap(const CallDesc& call, std::span<const void* const> data);

}  // namespace tilewright

#endif  // TILEWRIGHT_MANIFEST_OVERLAP_H_
