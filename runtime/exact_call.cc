#include "runtime/exact_call.h"

#include <algorithm>

#include "manifest/op_spec.h"
#include "manifest/status.h"

namespace tilewright {
namespace {

constexpr uint32_t kMaxGridYz = 65535;
constexpr uint32_t kMaxGridX = 2147483647;
constexpr size_t kTensorMapBytes = 128;

// CUtensorMapDataType by dtype; what has no type of its own moves as integers of its size.
int TensorMapType(DType dtype) {
  switch (dtype) {
    case DType::kInt16:
      return 1;
    case DType::kInt32:
      return 3;
    case DType::kInt64:
    case DType::kComplex64:
      return 5;
    case DType::kFloat16:
      return 6;
    case DType::kFloat32:
      return 7;
    case DType::kFloat64:
      return 8;
    case DType::kBFloat16:
      return 9;
    default:
      return 0;
  }
}

TensorMapShape MapShape(const TensorMapSlot& slot) {
  TensorMapShape shape;
  shape.data_type = TensorMapType(slot.dtype);
  shape.rank = slot.rank;
  shape.dims = slot.dims;
  shape.strides_bytes = slot.strides_bytes;
  shape.box = slot.box;
  shape.swizzle = static_cast<int>(slot.swizzle);
  // CUtensorMapL2promotion: none, 64, 128, 256 bytes.
  shape.l2_promotion = slot.l2_promotion_bytes_log2 == 0 ? 0 : slot.l2_promotion_bytes_log2 - 5;
  return shape;
}

absl::Status CheckLaunch(const Launch& launch, size_t kernels, int operands) {
  const auto operand_ok = [&](int operand) {
    return operand == kWorkspaceOperand || (operand >= 0 && operand < operands);
  };
  if (launch.kernel < 0 || static_cast<size_t>(launch.kernel) >= kernels) {
    return Internal("kernel ", launch.kernel, " of ", kernels);
  }
  if (launch.params.empty() || launch.params.size() > kMaxParamBytes) {
    return Internal(launch.params.size(), " bytes of parameters");
  }
  for (const PointerSlot& slot : launch.pointers) {
    if (slot.offset + sizeof(void*) > launch.params.size() || !operand_ok(slot.operand)) {
      return Internal("pointer slot at ", slot.offset, " of operand ", int{slot.operand});
    }
  }
  for (const TensorMapSlot& slot : launch.tensor_maps) {
    if (slot.offset % 64 != 0 || slot.offset + kTensorMapBytes > launch.params.size() ||
        !operand_ok(slot.operand) || slot.rank < 1 || slot.rank > 5) {
      return Internal("tensor map slot at ", slot.offset, " of operand ", int{slot.operand});
    }
  }
  const auto& grid = launch.grid;
  if (std::min({grid[0], grid[1], grid[2]}) == 0 || grid[0] > kMaxGridX || grid[1] > kMaxGridYz ||
      grid[2] > kMaxGridYz) {
    return Internal("grid (", grid[0], ", ", grid[1], ", ", grid[2], ")");
  }
  return absl::OkStatus();
}

}  // namespace

bool ExactCall::Is(uint64_t other_hash, std::span<const uint64_t> words) const {
  return hash == other_hash && key.size() == words.size() &&
         std::memcmp(key.data(), words.data(), words.size_bytes()) == 0;
}

absl::Status TakeLaunches(const BoundCall& bound, uint64_t serial, ExactCall& exact) {
  constexpr uint64_t kMapsPerCall = 64;
  uint64_t next_map = serial * kMapsPerCall;
  exact.workspace_bytes = bound.workspace_bytes;
  for (const Launch& launch : bound.launches) {
    absl::Status status = CheckLaunch(launch, exact.plan->kernels.size(),
                                      static_cast<int>(exact.call.operands.size()));
    if (!status.ok()) {
      return Internal(exact.call.ToString(), ": variant '", exact.plan->variant->name(),
                      "' bound a launch that cannot be: ", status.message());
    }
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
  return absl::OkStatus();
}

}  // namespace tilewright
