#include "runtime/call_check.h"

#include <bit>
#include <string_view>
#include <vector>

#include "manifest/status.h"

namespace tilewright {
namespace {

constexpr uint32_t kBestAlignment = 256;

std::string_view NameOf(const std::vector<TensorSpec>& specs, size_t i) {
  return i < specs.size() ? std::string_view(specs[i].name) : std::string_view("(extra)");
}

absl::StatusOr<Operand> CheckTensor(const OpSpec& op, std::string_view name, const Tensor& tensor,
                                    bool pointers_known) {
  Operand operand;
  operand.present = !tensor.is_absent();
  if (!operand.present) return operand;
  if (static_cast<int>(tensor.desc.dtype) >= kDTypeCount) {
    return InvalidArgument(op.name, ": '", name, "': expected a dtype, got the value ",
                           static_cast<int>(tensor.desc.dtype));
  }
  operand.desc = tensor.desc;
  const auto address = reinterpret_cast<uintptr_t>(tensor.data);
  if (address == 0) {
    if (pointers_known && tensor.desc.shape.Product() != 0) {
      return InvalidArgument(op.name, ": '", name, "': expected a pointer to ",
                             tensor.desc.shape.ToString(), " elements, got null");
    }
    return operand;
  }
  const auto size = static_cast<uintptr_t>(DTypeSize(tensor.desc.dtype));
  if (address % size != 0) {
    return InvalidArgument(op.name, ": '", name, "': expected a pointer aligned to ", size,
                           " bytes (", DTypeName(tensor.desc.dtype), "), got ", tensor.data);
  }
  operand.alignment = uint32_t{1} << std::countr_zero(address | kBestAlignment);
  return operand;
}

}  // namespace

absl::StatusOr<CheckedCall> CheckCall(const OpSpec& op, std::span<const Tensor> inputs,
                                      std::span<const Tensor> outputs,
                                      std::span<const NamedParam> params, bool pointers_known) {
  CheckedCall checked;
  checked.device = -1;
  std::string_view first;
  std::vector<Operand> operands[2];
  for (const bool is_output : {false, true}) {
    const std::span<const Tensor> tensors = is_output ? outputs : inputs;
    const std::vector<TensorSpec>& specs = is_output ? op.outputs : op.inputs;
    for (size_t i = 0; i < tensors.size(); ++i) {
      const std::string_view name = NameOf(specs, i);
      TW_ASSIGN_OR_RETURN(Operand operand, CheckTensor(op, name, tensors[i], pointers_known));
      operands[is_output].push_back(operand);
      if (!operand.present) continue;
      if (tensors[i].device < 0) {
        return InvalidArgument(op.name, ": '", name, "': device ", tensors[i].device,
                               " does not exist");
      }
      if (checked.device < 0) {
        checked.device = tensors[i].device;
        first = name;
      } else if (tensors[i].device != checked.device) {
        return InvalidArgument(op.name, ": '", name, "': expected a tensor of device ",
                               checked.device, " as '", first, "', got one of device ",
                               tensors[i].device);
      }
    }
  }
  TW_ASSIGN_OR_RETURN(checked.call, MakeCall(op, operands[0], operands[1], params));
  if (checked.device < 0) checked.device = 0;
  return checked;
}

}  // namespace tilewright
