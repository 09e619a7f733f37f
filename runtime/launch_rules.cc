#include "runtime/launch_rules.h"

#include <algorithm>

#include "manifest/status.h"

namespace tilewright {
namespace {

constexpr uint32_t kMaxGridYz = 65535;
constexpr uint32_t kMaxGridX = 2147483647;

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

}  // namespace

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

}  // namespace tilewright
