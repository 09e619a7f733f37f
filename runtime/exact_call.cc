#include "runtime/exact_call.h"

#include <algorithm>

#include "manifest/op_spec.h"
#include "manifest/status.h"
#include "runtime/launch_rules.h"

namespace tilewright {
bool ExactCall::Is(uint64_t other_hash, std::span<const uint64_t> words) const {
  return hash == other_hash && key.size() == words.size() &&
         std::memcmp(key.data(), words.data(), words.size_bytes()) == 0;
}

void TakeLaunches(const BoundCall& bound, uint64_t serial, ExactCall& exact) {
  constexpr uint64_t kMapsPerCall = 64;
  uint64_t next_map = serial * kMapsPerCall;
  exact.workspace_bytes = bound.workspace_bytes;
  for (const Launch& launch : bound.launches) {
    ReadyLaunch& ready = exact.launches.emplace_back();
    ready.shape = {launch.grid, launch.block, launch.cluster, launch.dynamic_smem_bytes,
                   launch.programmatic_dependent_launch};
    ready.kernel = exact.plan->kernels[static_cast<size_t>(launch.kernel)]->kernel;
    ready.params.assign(launch.params.begin(), launch.params.end());
    ready.pointers.assign(launch.pointers.begin(), launch.pointers.end());
    for (const TensorMapSlot& slot : launch.tensor_maps) {
      ready.tensor_maps.push_back(
          {slot.offset, slot.operand, slot.byte_offset, next_map++, MapShape(slot)});
    }
  }
}

}  // namespace tilewright
