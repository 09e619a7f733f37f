// Typed inline functions, one an operator, over Runtime::Call.
#include "manifest/status.h"
#include "tools/generator/generate.h"

namespace tilewright::generator {
namespace {

// "GemmFwdOp" -> "GemmFwd".
std::string FunctionName(const OpSpec& op) {
  constexpr std::string_view kSuffix = "Op";
  return op.name.ends_with(kSuffix) ? op.name.substr(0, op.name.size() - kSuffix.size()) : op.name;
}

// The C++ type of a parameter; ParamValue where several kinds are values.
std::string_view FieldType(const ParamSpec& param) {
  if (param.nullable) return "ParamValue";
  switch (param.type) {
    case ParamSpec::Type::kBool:
      return "bool";
    case ParamSpec::Type::kInt:
    case ParamSpec::Type::kAxis:
      return "int64_t";
    case ParamSpec::Type::kFloat:
      return "double";
    case ParamSpec::Type::kIntList:
      return "Dims";
    case ParamSpec::Type::kDType:
      return "DType";
    case ParamSpec::Type::kIntOrFloat:
    case ParamSpec::Type::kAxes:
      return "ParamValue";
  }
  return "ParamValue";
}

std::string DefaultText(const ParamSpec& param) {
  if (!param.default_value.has_value()) return "";
  const std::string value = ParamValueText(*param.default_value);
  const std::string_view type = FieldType(param);
  if (type == "ParamValue") return Cat(" = ", value);
  // The literal inside "ParamValue(...)".
  const size_t open = value.find('(') + 1;
  return Cat(" = ", value.substr(open, value.size() - open - 1));
}

bool HasRequiredParam(const OpSpec& op) {
  for (const ParamSpec& param : op.params) {
    if (!param.default_value.has_value()) return true;
  }
  return false;
}

std::string ParamsStruct(const OpSpec& op) {
  std::string out = Cat("struct ", FunctionName(op), "Params {\n");
  for (const ParamSpec& param : op.params) {
    out += Cat("  ", FieldType(param), " ", param.name, DefaultText(param), ";\n");
  }
  return out + "};\n";
}

std::string TensorArray(std::string_view array, const std::vector<TensorSpec>& specs) {
  if (specs.empty()) return Cat("  const std::span<const Tensor> ", array, ";\n");
  std::string out = Cat("  const Tensor ", array, "[] = {");
  for (size_t i = 0; i < specs.size(); ++i) out += Cat(i == 0 ? "" : ", ", specs[i].name);
  return out + "};\n";
}

std::string Wrapper(const OpSpec& op) {
  const std::string name = FunctionName(op);
  std::string out = op.params.empty() ? "" : ParamsStruct(op);
  out += Cat("// ", op.name, " (", op.family, ").");
  for (const TensorSpec& input : op.inputs) {
    if (input.optional) out += Cat(" ", input.name, " may be Tensor::Absent().");
  }
  const std::string open = Cat("inline absl::Status ", name, "(");
  const std::string next = ",\n" + std::string(open.size(), ' ');
  out += Cat("\n", open, "Runtime& runtime");
  for (const TensorSpec& spec : op.inputs) out += Cat(next, "const Tensor& ", spec.name);
  for (const TensorSpec& spec : op.outputs) out += Cat(next, "const Tensor& ", spec.name);
  if (!op.params.empty()) {
    out += Cat(next, "const ", name, "Params& params", HasRequiredParam(op) ? "" : " = {}");
  }
  out += Cat(next, "const CallOptions& options = {}) {\n", TensorArray("call_inputs", op.inputs),
             TensorArray("call_outputs", op.outputs));
  std::string named;
  for (const ParamSpec& param : op.params) {
    named += Cat(named.empty() ? "" : ",\n                                    ", "{\"", param.name,
                 "\", params.", param.name, "}");
  }
  if (!named.empty()) out += Cat("  const NamedParam call_params[] = {", named, "};\n");
  return out + Cat("  return runtime.Call(\"", op.name, "\", call_inputs, call_outputs, ",
                   named.empty() ? "{}" : "call_params", ", options);\n}\n\n");
}

}  // namespace

absl::StatusOr<std::string> GenerateWrappers(const std::vector<Input>& inputs) {
  TW_ASSIGN_OR_RETURN(const std::vector<OpSpec> ops, LoadOps(inputs));
  std::string out =
      Cat(kNotice,
          "// Typed calls of the built-in operators; tensors in the manifest's order, "
          "inputs first.\n// Errors are those of Runtime::Call.\n"
          "#ifndef TILEWRIGHT_OPS_H_\n#define TILEWRIGHT_OPS_H_\n\n"
          "#include \"runtime/runtime.h\"\n\nnamespace tilewright {\n\n");
  for (const OpSpec& op : ops) out += Wrapper(op);
  return out + "}  // namespace tilewright\n\n#endif  // TILEWRIGHT_OPS_H_\n";
}

}  // namespace tilewright::generator
