#include "runtime/exact_call.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "manifest/op_spec.h"
#include "manifest/status.h"
#include "runtime/launch_rules.h"

namespace tilewright {
namespace {

// Two addresses that differ in every bit from 4 to 47.
constexpr uint64_t kOneAddress = 0x0000555555555550;
constexpr uint64_t kOtherAddress = 0x0000aaaaaaaaaaa0;

using EncodedMap = std::array<std::byte, kTensorMapBytes>;

// True where a tensor map's first word is the address as it is, and no other depends on it: then a
// launch writes the address as it writes any pointer. The encoding is the driver's own, so this is
// tried out for each map; `to` then holds it, and is left alone otherwise.
bool EncodeForPatching(Driver& driver, TensorMapShape shape, std::byte* to) {
  alignas(64) EncodedMap one, other;
  shape.address = kOneAddress;
  if (!driver.EncodeTensorMap(shape, one.data()).ok()) return false;
  shape.address = kOtherAddress;
  if (!driver.EncodeTensorMap(shape, other.data()).ok()) return false;
  if (std::memcmp(one.data(), &kOneAddress, sizeof(uint64_t)) != 0) return false;
  std::memcpy(one.data(), &kOtherAddress, sizeof(uint64_t));
  if (one != other) return false;
  std::memcpy(to, one.data(), one.size());
  return true;
}

}  // namespace

void TakeLaunches(const BoundCall& bound, Driver& driver, ExactCall& exact) {
  exact.workspace_bytes = bound.workspace_bytes;
  for (const Launch& launch : bound.launches) {
    ReadyLaunch& ready = exact.launches.emplace_back();
    ready.shape = {launch.grid, launch.block, launch.cluster, launch.dynamic_smem_bytes,
                   launch.programmatic_dependent_launch};
    ready.kernel = exact.plan->kernels[static_cast<size_t>(launch.kernel)]->kernel;
    const size_t blocks = (launch.params.size() + kParamBlockBytes - 1) / kParamBlockBytes;
    ready.params.resize(blocks * kParamBlockBytes);
    std::copy(launch.params.begin(), launch.params.end(), ready.params.begin());
    ready.pointers.assign(launch.pointers.begin(), launch.pointers.end());
    for (const TensorMapSlot& slot : launch.tensor_maps) {
      const TensorMapShape shape = MapShape(slot);
      if (EncodeForPatching(driver, shape, ready.params.data() + slot.offset)) {
        ready.pointers.push_back({slot.offset, slot.operand, slot.byte_offset});
      } else {
        ready.tensor_maps.push_back({slot.offset, slot.operand, slot.byte_offset, shape});
      }
    }
  }
}

}  // namespace tilewright
