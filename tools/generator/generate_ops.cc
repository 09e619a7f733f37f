// Manifest entries as C++ functions that fill an OpSpec.
#include <array>
#include <charconv>
#include <cmath>

#include "manifest/spec_check.h"
#include "manifest/status.h"
#include "tools/generator/generate.h"

namespace tilewright::generator {
namespace {

constexpr std::array<std::string_view, kDTypeCount> kDTypeIdentifiers = {
    "kBool",       "kUint8",   "kInt8",     "kInt16",   "kInt32",   "kInt64",     "kFloat8E4M3",
    "kFloat8E5M2", "kFloat16", "kBFloat16", "kFloat32", "kFloat64", "kComplex64", "kComplex128"};

constexpr std::array<std::string_view, 8> kParamTypeIdentifiers = {
    "kBool", "kInt", "kFloat", "kIntOrFloat", "kIntList", "kAxes", "kAxis", "kDType"};

std::string DTypeText(DType dtype) {
  return Cat("DType::", kDTypeIdentifiers[static_cast<size_t>(dtype)]);
}

std::string Quoted(std::string_view text) { return CppString(text); }
std::string ExprText(const Expr& expr) { return Cat("Expr::Deferred(", Quoted(expr.text()), ")"); }
std::string ExprText(const std::optional<Expr>& expr) { return expr ? ExprText(*expr) : "{}"; }
std::string BoolText(bool value) { return value ? "true" : "false"; }

// The shortest text that reads back as the same double.
std::string RealText(double value) {
  if (std::isinf(value)) {
    return Cat(value < 0 ? "-" : "", "std::numeric_limits<double>::infinity()");
  }
  std::array<char, 32> buffer{};
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr;
  const std::string text(buffer.data(), end);
  return text.find_first_of(".e") == std::string::npos ? text + ".0" : text;
}

template <class List, class Text>
std::string Braced(const List& list, const Text& text) {
  std::string out = "{";
  for (const auto& item : list) out += Cat(out.size() == 1 ? "" : ", ", text(item));
  return out + "}";
}

std::string DimsText(const Dims& dims) {
  return "Dims" + Braced(dims, [](int64_t value) { return Cat(value); });
}

std::string TensorText(const TensorSpec& spec) {
  return Cat("{", Quoted(spec.name), ", ", Braced(spec.dtypes, DTypeText), ", ",
             Quoted(spec.same_as), ", ", BoolText(spec.optional), ", ", BoolText(spec.mutated),
             ", ", Braced(spec.shape_pattern, Quoted), ", ", ExprText(spec.shape), "}");
}

std::string ParamText(const ParamSpec& spec) {
  return Cat("{", Quoted(spec.name),
             ", ParamSpec::Type::", kParamTypeIdentifiers[static_cast<size_t>(spec.type)], ", ",
             BoolText(spec.nullable), ", ",
             spec.default_value ? ParamValueText(*spec.default_value) : "{}", ", ",
             ExprText(spec.when_null), "}");
}

std::string WorkloadText(const Workload& workload) {
  const auto shape = [](const auto& input) {
    return Cat("{", Quoted(input.first), ", ", DimsText(input.second), "}");
  };
  const auto param = [](const auto& given) {
    return Cat("{", Quoted(given.first), ", ", ParamValueText(given.second), "}");
  };
  return Cat("{", Quoted(workload.label), ", ", Braced(workload.input_shapes, shape), ", ",
             Braced(workload.params, param), ", ", Braced(workload.dtypes, DTypeText), ", ",
             workload.line, "}");
}

std::string NamedExprText(const std::pair<std::string, Expr>& named) {
  return Cat("{", Quoted(named.first), ", ", ExprText(named.second), "}");
}

// Statements that fill the scalar fields.
std::string ScalarFields(const OpSpec& op) {
  const bool implemented = op.status == OpStatus::kImplemented;
  const bool tensor = op.roofline.unit == Roofline::Unit::kTensor;
  std::string out;
  const auto set = [&out](std::string_view field, std::string_view value) {
    out += Cat("  op.", field, " = ", value, ";\n");
  };
  set("name", Quoted(op.name));
  set("family", Quoted(op.family));
  set("reference", Quoted(op.reference));
  set("formula", Quoted(op.formula));
  set("source", Quoted(op.source));
  set("status", implemented ? "OpStatus::kImplemented" : "OpStatus::kSpecOnly");
  set("file", Quoted(op.file));
  set("line", Cat(op.line));
  set("roofline.unit", tensor ? "Roofline::Unit::kTensor" : "Roofline::Unit::kVector");
  set("roofline.flops", ExprText(op.roofline.flops));
  set("roofline.bytes", ExprText(op.roofline.bytes));
  set("roofline.formula", Quoted(op.roofline.formula));
  return out;
}

// Statements that fill the lists.
std::string ListFields(const OpSpec& op) {
  std::string out;
  const auto add = [&out](std::string_view field, const auto& list, const auto& text) {
    for (const auto& item : list) out += Cat("  op.", field, ".push_back(", text(item), ");\n");
  };
  const auto expr = [](const Expr& item) { return ExprText(item); };
  const auto combo = [](const std::vector<DType>& item) { return Braced(item, DTypeText); };
  const auto pair = [](const auto& item) {
    return Cat("{", Quoted(item.first), ", ", Quoted(item.second), "}");
  };
  const auto tolerance = [](const auto& item) {
    return Cat("{", DTypeText(item.first), ", Tolerance{", RealText(item.second.absolute), ", ",
               RealText(item.second.relative), "}}");
  };
  add("inputs", op.inputs, TensorText);
  add("outputs", op.outputs, TensorText);
  add("params", op.params, ParamText);
  add("dtype_combos", op.dtype_combos, combo);
  add("let", op.let, NamedExprText);
  add("shape_rules", op.shape_rules, expr);
  add("static_dims", op.static_dims, Quoted);
  add("refused", op.refused, Quoted);
  add("in_place", op.in_place, pair);
  add("workloads", op.workloads, WorkloadText);
  add("roofline.vars", op.roofline.vars, NamedExprText);
  add("tolerance", op.tolerance, tolerance);
  return out;
}

}  // namespace

std::string ParamValueText(const ParamValue& value) {
  switch (value.kind()) {
    case ParamValue::Kind::kNull:
      return "ParamValue()";
    case ParamValue::Kind::kBool:
      return Cat("ParamValue(", BoolText(value.as_bool()), ")");
    case ParamValue::Kind::kInt:
      return Cat("ParamValue(int64_t{", value.as_int(), "})");
    case ParamValue::Kind::kFloat:
      return Cat("ParamValue(", RealText(value.as_float()), ")");
    case ParamValue::Kind::kIntList:
      return Cat("ParamValue(", DimsText(value.as_list()), ")");
    case ParamValue::Kind::kDType:
      return Cat("ParamValue(", DTypeText(value.as_dtype()), ")");
  }
  return "";
}

absl::StatusOr<std::vector<OpSpec>> LoadOps(const std::vector<Input>& inputs) {
  std::vector<OpSpec> ops;
  for (const Input& input : inputs) {
    TW_ASSIGN_OR_RETURN(const Manifest manifest, Manifest::FromYaml(input.text, input.path));
    ops.insert(ops.end(), manifest.ops().begin(), manifest.ops().end());
  }
  TW_RETURN_IF_ERROR(CheckDistinctNames(ops));
  return ops;
}

absl::StatusOr<std::string> GenerateOps(const std::vector<Input>& inputs) {
  TW_ASSIGN_OR_RETURN(const std::vector<OpSpec> ops, LoadOps(inputs));
  std::string out =
      Cat(kNotice,
          "#include <limits>\n\n#include \"manifest/builtin_table.h\"\n\nnamespace tilewright {\n",
          "namespace {\n\n");
  for (const OpSpec& op : ops) {
    out += Cat("void Fill", op.name, "(OpSpec& op) {\n", ScalarFields(op), ListFields(op), "}\n\n");
  }
  out += Cat("constexpr std::array<BuiltinOp, ", ops.size(), "> kOps = {{\n");
  for (const OpSpec& op : ops) {
    out += Cat("    {", Quoted(op.name), ", Fill", op.name, "},\n");
  }
  return out +
         "}};\n\n}  // namespace\n\n"
         "std::span<const BuiltinOp> BuiltinTable() { return kOps; }\n\n}  // namespace "
         "tilewright\n";
}

}  // namespace tilewright::generator
