// tilewright ops
#include <CLI/CLI.hpp>
#include <algorithm>
#include <iomanip>
#include <iostream>
#include <nlohmann/json.hpp>

#include "manifest/op_spec.h"
#include "tools/cli.h"
#include "tools/json_text.h"

namespace tilewright {
namespace {

using Json = nlohmann::ordered_json;

const char* StatusName(OpStatus status) {
  return status == OpStatus::kImplemented ? "implemented" : "spec-only";
}

const char* TypeName(ParamSpec::Type type) {
  switch (type) {
    case ParamSpec::Type::kBool:
      return "bool";
    case ParamSpec::Type::kInt:
      return "int";
    case ParamSpec::Type::kFloat:
      return "float";
    case ParamSpec::Type::kIntOrFloat:
      return "int_or_float";
    case ParamSpec::Type::kIntList:
      return "int_list";
    case ParamSpec::Type::kAxes:
      return "axes";
    case ParamSpec::Type::kAxis:
      return "axis";
    case ParamSpec::Type::kDType:
      return "dtype";
  }
  return "unknown";
}

std::string DTypes(const TensorSpec& tensor) {
  if (!tensor.same_as.empty()) return "same_as(" + tensor.same_as + ")";
  std::string text;
  for (DType dtype : tensor.dtypes) {
    if (!text.empty()) text += "|";
    text += DTypeName(dtype);
  }
  return text;
}

// "[M, K]" as an input binds it, "(M, N)" as an output has it; empty for any rank.
std::string Shape(const TensorSpec& tensor) {
  if (tensor.shape.has_value()) return tensor.shape->text();
  if (tensor.shape_pattern.empty()) return "";
  std::string text;
  for (const std::string& dim : tensor.shape_pattern) {
    text += (text.empty() ? "[" : ", ") + dim;
  }
  return text + "]";
}

Json TensorJson(const TensorSpec& tensor) {
  Json json{{"name", tensor.name}, {"dtype", DTypes(tensor)}};
  if (const std::string shape = Shape(tensor); !shape.empty()) json["shape"] = shape;
  if (tensor.optional) json["optional"] = true;
  if (tensor.mutated) json["mutated"] = true;
  return json;
}

Json WorkloadJson(const Workload& workload) {
  Json json{{"label", workload.label}, {"inputs", Json::object()}, {"params", Json::object()}};
  for (const auto& [input, shape] : workload.input_shapes) {
    json["inputs"][input] = std::vector<int64_t>(shape.begin(), shape.end());
  }
  for (const auto& [param, value] : workload.params) json["params"][param] = value.ToString();
  for (const DType dtype : workload.dtypes) json["dtypes"].push_back(DTypeName(dtype));
  return json;
}

Json OpJson(const OpSpec& op) {
  Json json{{"name", op.name},
            {"family", op.family},
            {"status", StatusName(op.status)},
            {"reference", op.reference}};
  for (const TensorSpec& input : op.inputs) json["inputs"].push_back(TensorJson(input));
  for (const TensorSpec& output : op.outputs) json["outputs"].push_back(TensorJson(output));
  json["params"] = Json::array();
  for (const ParamSpec& param : op.params) {
    Json entry{{"name", param.name}, {"type", TypeName(param.type)}};
    if (param.default_value.has_value()) entry["default"] = param.default_value->ToString();
    json["params"].push_back(std::move(entry));
  }
  json["workloads"] = Json::array();
  for (const Workload& workload : op.workloads) json["workloads"].push_back(WorkloadJson(workload));
  return json;
}

// "a: float16|bfloat16 [A0, A1]"
std::string TensorText(const TensorSpec& tensor) {
  const std::string shape = Shape(tensor);
  return tensor.name + (tensor.optional ? "?: " : ": ") + DTypes(tensor) +
         (shape.empty() ? "" : " " + shape);
}

// "GemmFwdOp(a: float16|bfloat16 [A0, A1], b: same_as(a) [B0, B1]; trans_a=false, trans_b=true)
// -> d: same_as(a) (M, N)"
std::string Signature(const OpSpec& op) {
  std::string text = op.name + "(";
  for (size_t i = 0; i < op.inputs.size(); ++i) {
    if (i > 0) text += ", ";
    text += TensorText(op.inputs[i]);
  }
  for (size_t i = 0; i < op.params.size(); ++i) {
    const ParamSpec& param = op.params[i];
    text += (i > 0 ? ", " : op.inputs.empty() ? "" : "; ") + param.name;
    text += param.default_value ? "=" + param.default_value->ToString()
                                : std::string(": ") + TypeName(param.type);
  }
  text += ") ->";
  for (size_t i = 0; i < op.outputs.size(); ++i) {
    text += (i == 0 ? " " : ", ") + TensorText(op.outputs[i]);
  }
  return text;
}

int RunOps(bool json) {
  if (json) {
    Json list = Json::array();
    for (const OpSpec& op : Manifest::BuiltinOps()) list.push_back(OpJson(op));
    PrintJson(list);
    return kDone;
  }
  size_t widest = 0;
  for (const OpSpec& op : Manifest::BuiltinOps()) widest = std::max(widest, op.family.size());
  for (const OpSpec& op : Manifest::BuiltinOps()) {
    std::cout << std::left << std::setw(static_cast<int>(widest) + 2) << op.family << std::setw(13)
              << StatusName(op.status) << Signature(op) << "\n";
  }
  return kDone;
}

}  // namespace

void AddOpsCommand(CLI::App& app, CliContext& context) {
  auto json = std::make_shared<bool>(false);
  CLI::App* command = AddCommand(app, context, "ops", "List the operators and their signatures",
                                 [json] { return RunOps(*json); });
  command->add_flag("--json", *json, "Print JSON");
}

}  // namespace tilewright
