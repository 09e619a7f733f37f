#include "manifest/call_desc.h"

#include "manifest/op_spec.h"
#include "manifest/status.h"

namespace tilewright {
namespace {

// "a=bfloat16(128, 7168)", with "{strides}" where the view is not contiguous.
std::string OperandText(const TensorSpec& spec, const Operand& operand) {
  if (!operand.present) return Cat(spec.name, "=absent");
  const TensorDesc& desc = operand.desc;
  std::string text = Cat(spec.name, "=", DTypeName(desc.dtype), desc.shape.ToString());
  if (!desc.IsContiguous()) text += Cat("{strides ", desc.strides.ToString(), "}");
  return text;
}

}  // namespace

const Operand& CallDesc::output(int i) const {
  return operands[op->inputs.size() + static_cast<size_t>(i)];
}

std::string CallDesc::ToString() const {
  std::string text = op->name + "(";
  for (size_t i = 0; i < op->inputs.size() && i < operands.size(); ++i) {
    text += Cat(i == 0 ? "" : ", ", OperandText(op->inputs[i], operands[i]));
  }
  for (size_t i = 0; i < op->params.size() && i < params.size(); ++i) {
    const bool first = i == 0 && op->inputs.empty();
    text += Cat(first ? "" : ", ", op->params[i].name, "=", params[i].ToString());
  }
  text += ")";
  // Without inputs only the outputs tell the dtype.
  for (size_t i = 0; op->inputs.empty() && i < op->outputs.size() && i < operands.size(); ++i) {
    text += Cat(i == 0 ? " -> " : ", ", OperandText(op->outputs[i], operands[i]));
  }
  return text;
}

}  // namespace tilewright
