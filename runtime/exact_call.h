// A call that was validated, resolved and bound: all but its pointers is ready.
#ifndef TILEWRIGHT_RUNTIME_EXACT_CALL_H_
#define TILEWRIGHT_RUNTIME_EXACT_CALL_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/statusor.h"
#include "kernel_templates/launch.h"
#include "manifest/call_desc.h"
#include "manifest/overlap.h"
#include "runtime/driver/driver.h"
#include "runtime/plan.h"

namespace tilewright {

// Parameters are copied in blocks of a constant size.
inline constexpr size_t kParamBlockBytes = 64;

// One launch with its parameter bytes, encoded tensor maps among them; addresses are patched into a
// copy.
struct ReadyLaunch {
  LaunchShape shape;
  CudaKernel kernel = nullptr;
  std::vector<std::byte> params;  // zeros after them, up to a whole number of kParamBlockBytes
  absl::InlinedVector<PointerSlot, 4> pointers;  // those at the head of tensor maps too
  struct MapSlot {
    uint16_t offset = 0;
    int8_t operand = 0;
    int64_t byte_offset = 0;
    TensorMapShape shape;
  };
  std::vector<MapSlot> tensor_maps;  // whose address cannot be patched: encoded at every launch
};

// Immutable once published, but for `referenced`. What a hit reads comes first and lies together.
struct ExactCall {
  uint64_t hash = 0;
  // Set by hits, cleared by the eviction sweep; written only where it changes.
  mutable std::atomic<bool> referenced{false};
  int64_t workspace_bytes = 0;
  const VisibleDevice* device = nullptr;
  absl::InlinedVector<uint64_t, 24> key;  // ExactKey::words()
  absl::InlinedVector<ReadyLaunch, 1> launches;
  OverlapRules overlap;
  std::shared_ptr<const Plan> plan;  // null where nothing is launched
  CallDesc call;

  // Word by word: loads wider than the words were stored with would wait for the stores.
  bool Is(uint64_t other_hash, std::span<const uint64_t> words) const {
    if (hash != other_hash || key.size() != words.size()) return false;
    const uint64_t* mine = key.data();
    for (uint64_t word : words) {
      if (*mine++ != word) return false;
    }
    return true;
  }
};

// Takes what BindCall() gave over into `exact`, and encodes its tensor maps. A context is current.
void TakeLaunches(const BoundCall& bound, Driver& driver, ExactCall& exact);

}  // namespace tilewright

#endif  // TILEWRIGHT_RUNTIME_EXACT_CALL_H_
