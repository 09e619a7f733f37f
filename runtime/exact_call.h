// A call that was validated, resolved and bound: all but its pointers is ready.
#ifndef TILEWRIGHT_RUNTIME_EXACT_CALL_H_
#define TILEWRIGHT_RUNTIME_EXACT_CALL_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "kernel_templates/launch.h"
#include "manifest/call_desc.h"
#include "manifest/overlap.h"
#include "runtime/driver/driver.h"
#include "runtime/plan.h"

namespace tilewright {

// One launch with its parameter bytes; pointers and tensor maps are patched into a copy.
struct ReadyLaunch {
  LaunchShape shape;
  CudaKernel kernel = nullptr;
  std::vector<std::byte> params;
  std::vector<PointerSlot> pointers;
  struct MapSlot {
    uint16_t offset = 0;
    int8_t operand = 0;
    int64_t byte_offset = 0;
    uint64_t id = 0;  // names the layout in every thread's TensorMapCache
    TensorMapShape shape;
  };
  std::vector<MapSlot> tensor_maps;
};

// Immutable once published, but for `referenced`.
struct ExactCall {
  uint64_t hash = 0;
  std::vector<uint64_t> key;  // ExactKey::words()
  CallDesc call;
  OverlapRules overlap;
  const VisibleDevice* device = nullptr;
  std::shared_ptr<const Plan> plan;  // null where nothing is launched
  std::vector<ReadyLaunch> launches;
  int64_t workspace_bytes = 0;
  // Set by hits, cleared by the eviction sweep; written only where it changes.
  mutable std::atomic<bool> referenced{false};

  bool Is(uint64_t other_hash, std::span<const uint64_t> words) const;
};

// Takes what BindCall() gave over into `exact`. `serial` is unique in the process's runtime.
void TakeLaunches(const BoundCall& bound, uint64_t serial, ExactCall& exact);

}  // namespace tilewright

#endif  // TILEWRIGHT_RUNTIME_EXACT_CALL_H_
