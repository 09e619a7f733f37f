#include "manifest/call_scope.h"

#include <array>
#include <cmath>

#include "manifest/status.h"

namespace tilewright {
namespace {

std::vector<int64_t> ToTuple(const Dims& dims) { return {dims.begin(), dims.end()}; }

ExprValue ToExprValue(const ParamValue& value) {
  switch (value.kind()) {
    case ParamValue::Kind::kNull:
      return std::monostate();
    case ParamValue::Kind::kBool:
      return value.as_bool();
    case ParamValue::Kind::kInt:
      return value.as_int();
    case ParamValue::Kind::kFloat:
      return value.as_float();
    case ParamValue::Kind::kIntList:
      return ToTuple(value.as_list());
    case ParamValue::Kind::kDType:
      return int64_t{DTypeSize(value.as_dtype())};
  }
  return std::monostate();
}

// The place of a tensor among the operands; -1 if there is no such tensor.
int OperandIndex(const OpSpec& op, std::string_view name) {
  for (int i = 0; i < op.input_count(); ++i) {
    if (op.inputs[static_cast<size_t>(i)].name == name) return i;
  }
  for (int i = 0; i < op.output_count(); ++i) {
    if (op.outputs[static_cast<size_t>(i)].name == name) return op.input_count() + i;
  }
  return -1;
}

}  // namespace

std::span<const std::string_view> TensorAttributes() {
  static constexpr std::array<std::string_view, 6> kAttributes = {
      "shape", "rank", "elem_bytes", "present", "is_floating", "epsilon"};
  return kAttributes;
}

double MachineEpsilon(DType dtype) {
  switch (dtype) {
    case DType::kFloat8E4M3:
      return std::ldexp(1, -3);
    case DType::kFloat8E5M2:
      return std::ldexp(1, -2);
    case DType::kFloat16:
      return std::ldexp(1, -10);
    case DType::kBFloat16:
      return std::ldexp(1, -7);
    case DType::kFloat32:
      return std::ldexp(1, -23);
    case DType::kFloat64:
      return std::ldexp(1, -52);
    default:
      return 0;
  }
}

absl::Status CallScope::DefineAll(std::span<const std::pair<std::string, Expr>> values,
                                  std::string_view what) {
  for (const auto& [name, expr] : values) {
    absl::StatusOr<ExprValue> value = expr.Evaluate(*this);
    if (!value.ok()) {
      return InvalidArgument(call_.op->name, ": ", what, " '", name, "' = ", expr.text(), ": ",
                             value.status().message(), "; got ", call_.ToString());
    }
    Define(name, *std::move(value));
  }
  return absl::OkStatus();
}

absl::StatusOr<ExprValue> CallScope::Lookup(std::string_view name) const {
  for (const auto& [local, value] : locals_) {
    if (local == name) return value;
  }
  const size_t dot = name.find('.');
  if (dot != std::string_view::npos) return Attribute(name.substr(0, dot), name.substr(dot + 1));
  const OpSpec& op = *call_.op;
  for (size_t i = 0; i < op.params.size() && i < call_.params.size(); ++i) {
    if (op.params[i].name == name) return ToExprValue(call_.params[i]);
  }
  if (name == "elem_bytes" && !call_.operands.empty()) {
    return int64_t{DTypeSize(call_.operands[0].desc.dtype)};
  }
  return NotFound("no name '", name, "'");
}

absl::StatusOr<ExprValue> CallScope::Attribute(std::string_view tensor,
                                               std::string_view attribute) const {
  const int index = OperandIndex(*call_.op, tensor);
  if (index < 0 || static_cast<size_t>(index) >= call_.operands.size()) {
    return NotFound("no tensor '", tensor, "' here");
  }
  const Operand& operand = call_.input(index);
  if (attribute == "present") return operand.present;
  if (!operand.present) return NotFound("'", tensor, "' is absent; test ", tensor, ".present");
  const TensorDesc& desc = operand.desc;
  if (attribute == "shape") return ToTuple(desc.shape);
  if (attribute == "rank") return int64_t{desc.rank()};
  if (attribute == "elem_bytes") return int64_t{DTypeSize(desc.dtype)};
  if (attribute == "is_floating") return IsFloating(desc.dtype);
  if (attribute == "epsilon") return MachineEpsilon(desc.dtype);
  return NotFound("no attribute '", attribute, "' of tensor '", tensor, "'");
}

}  // namespace tilewright
