#include "runtime/launch_rules.h"

#include <algorithm>

#include "manifest/op_spec.h"
#include "manifest/status.h"

namespace tilewright {
namespace {

constexpr uint32_t kMaxGridYz = 65535;
constexpr uint32_t kMaxGridX = 2147483647;
constexpr int64_t kMaxWorkspaceBytes = int64_t{1} << 40;  // more than any device has

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

// An output with elements is written by some launch. Mutated inputs may be left as they are: a
// cache to which nothing is appended.
bool HasOutput(const CallDesc& call) {
  return std::any_of(
      call.operands.begin() + static_cast<int>(call.op->inputs.size()), call.operands.end(),
      [](const Operand& output) { return output.present && output.desc.elements() > 0; });
}

absl::Status CheckWorkspaceSlots(const Launch& launch, int64_t workspace_bytes) {
  const auto check = [workspace_bytes](const auto& slots) -> absl::Status {
    for (const auto& slot : slots) {
      if (slot.operand != kWorkspaceOperand) continue;
      // A part of no bytes may stand at the end.
      if (workspace_bytes == 0 || slot.byte_offset < 0 || slot.byte_offset > workspace_bytes) {
        return Internal("slot at ", slot.offset, " points to byte ", slot.byte_offset,
                        " of a workspace of ", workspace_bytes);
      }
    }
    return absl::OkStatus();
  };
  TW_RETURN_IF_ERROR(check(launch.pointers));
  return check(launch.tensor_maps);
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
      return Internal("pointer slot at ", slot.offset, " of operand ", int{slot.operand},
                      " is out of range");
    }
  }
  for (const TensorMapSlot& slot : launch.tensor_maps) {
    if (slot.offset % 64 != 0 || slot.offset + kTensorMapBytes > launch.params.size() ||
        !operand_ok(slot.operand) || slot.rank < 1 || slot.rank > 5) {
      return Internal("tensor map slot at ", slot.offset, " of operand ", int{slot.operand},
                      " is out of range");
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

bool HasWork(const CallDesc& call) {
  for (size_t i = 0; i < call.operands.size(); ++i) {
    const bool written = i >= call.op->inputs.size() || call.op->inputs[i].mutated;
    const Operand& operand = call.operands[i];
    if (written && operand.present && operand.desc.elements() > 0) return true;
  }
  return false;
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

absl::Status CheckLaunches(const BoundCall& bound, size_t kernels, int operands) {
  if (bound.workspace_bytes < 0 || bound.workspace_bytes > kMaxWorkspaceBytes) {
    return Internal("expected a workspace of 0 to ", kMaxWorkspaceBytes, " bytes, got ",
                    bound.workspace_bytes);
  }
  for (const Launch& launch : bound.launches) {
    TW_RETURN_IF_ERROR(CheckLaunch(launch, kernels, operands));
    TW_RETURN_IF_ERROR(CheckWorkspaceSlots(launch, bound.workspace_bytes));
  }
  return absl::OkStatus();
}

absl::StatusOr<BoundCall> BindCall(const Variant& variant, const CallDesc& call,
                                   const Config& config, const DeviceProfile& device,
                                   size_t kernels) {
  absl::StatusOr<BoundCall> bound = variant.Bind(call, config, device);
  if (!bound.ok()) {
    return absl::Status(bound.status().code(), Cat(call.ToString(), ": variant '", variant.name(),
                                                   "': ", bound.status().message()));
  }
  absl::Status status = CheckLaunches(*bound, kernels, static_cast<int>(call.operands.size()));
  if (status.ok() && bound->launches.empty() && HasOutput(call)) {
    status = Internal("no launch, although an output has elements");
  }
  if (status.ok()) return bound;
  return Internal(call.ToString(), ": variant '", variant.name(),
                  "' bound a launch that cannot be: ", status.message());
}

}  // namespace tilewright
