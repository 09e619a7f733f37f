// Manifest::FromYaml: the tree of a document as operators.
#include <algorithm>
#include <set>

#include "manifest/nearest_name.h"
#include "manifest/op_spec.h"
#include "manifest/param_check.h"
#include "manifest/spec_check.h"
#include "manifest/status.h"
#include "manifest/yaml_fields.h"

namespace tilewright {
namespace {

using NamedFields = std::vector<std::pair<std::string, YamlField>>;

bool IsIdentifier(std::string_view text) {
  const auto letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  };
  if (text.empty() || !letter(text[0])) return false;
  return std::all_of(text.begin(), text.end(),
                     [&](char c) { return letter(c) || (c >= '0' && c <= '9'); });
}

absl::Status CheckName(std::string_view name, const YamlField& field) {
  if (IsIdentifier(name)) return absl::OkStatus();
  return field.Error("expected a name of letters, digits and _, got '", name, "'");
}

// "[M, K]" as its dims.
absl::StatusOr<std::vector<std::string>> ReadPattern(const YamlField& field) {
  TW_ASSIGN_OR_RETURN(const std::string text, field.String());
  const auto expected = [&] {
    return field.Error("expected a pattern such as [M, K], got '", text, "'");
  };
  if (text.size() < 2 || text.front() != '[' || text.back() != ']') return expected();
  std::vector<std::string> dims;
  std::string dim;
  for (const char c : text.substr(1)) {
    if (c != ',' && c != ']') {
      if (c != ' ') dim += c;
      continue;
    }
    const bool number = !dim.empty() && dim.find_first_not_of("0123456789") == std::string::npos;
    if (!IsIdentifier(dim) && !(number && dim.size() < 18)) return expected();
    dims.push_back(std::move(dim));
    dim.clear();
  }
  if (dims.size() > kMaxRank) return field.Error("expected at most ", kMaxRank, " dims");
  return dims;
}

// A dtype, a list of them, or same_as(name).
absl::Status ReadDType(const YamlField& field, TensorSpec& spec) {
  constexpr std::string_view kSameAs = "same_as(";
  const std::string& text = field.node().text;
  if (field.node().kind == YamlNode::Kind::kScalar && text.starts_with(kSameAs) &&
      text.ends_with(')')) {
    spec.same_as = text.substr(kSameAs.size(), text.size() - kSameAs.size() - 1);
    return absl::OkStatus();
  }
  TW_ASSIGN_OR_RETURN(spec.dtypes, field.DTypes());
  return absl::OkStatus();
}

absl::StatusOr<TensorSpec> ReadInput(const std::string& name, const YamlField& field) {
  TW_RETURN_IF_ERROR(CheckName(name, field));
  TensorSpec spec;
  spec.name = name;
  TW_ASSIGN_OR_RETURN(const NamedFields fields,
                      field.Map({"dtype", "shape", "optional", "mutated"}));
  for (const auto& [key, child] : fields) {
    if (key == "dtype") TW_RETURN_IF_ERROR(ReadDType(child, spec));
    if (key == "shape") {
      TW_ASSIGN_OR_RETURN(spec.shape_pattern, ReadPattern(child));
    }
    if (key == "optional") {
      TW_ASSIGN_OR_RETURN(spec.optional, child.Bool());
    }
    if (key == "mutated") {
      TW_ASSIGN_OR_RETURN(spec.mutated, child.Bool());
    }
  }
  if (spec.dtypes.empty() && spec.same_as.empty()) return field.Error("dtype is missing");
  return spec;
}

absl::StatusOr<TensorSpec> ReadOutput(const std::string& name, const YamlField& field) {
  TW_RETURN_IF_ERROR(CheckName(name, field));
  TensorSpec spec;
  spec.name = name;
  TW_ASSIGN_OR_RETURN(const NamedFields fields, field.Map({"dtype", "shape"}));
  for (const auto& [key, child] : fields) {
    if (key == "dtype") TW_RETURN_IF_ERROR(ReadDType(child, spec));
    if (key == "shape") {
      TW_ASSIGN_OR_RETURN(spec.shape, child.Expression());
    }
  }
  if (spec.dtypes.empty() && spec.same_as.empty()) return field.Error("dtype is missing");
  if (!spec.shape.has_value()) return field.Error("shape is missing");
  return spec;
}

absl::StatusOr<ParamSpec> ReadParam(const std::string& name, const YamlField& field) {
  TW_RETURN_IF_ERROR(CheckName(name, field));
  ParamSpec spec;
  spec.name = name;
  TW_ASSIGN_OR_RETURN(const NamedFields fields,
                      field.Map({"type", "default", "nullable", "when_null"}));
  bool typed = false;
  for (const auto& [key, child] : fields) {
    if (key == "type") {
      TW_ASSIGN_OR_RETURN(const std::string type, child.String());
      const std::optional<ParamSpec::Type> parsed = ParseParamType(type);
      if (!parsed.has_value()) {
        return child.Error("unknown parameter type '", type, "'", DidYouMeanParamType(type));
      }
      spec.type = *parsed;
      typed = true;
    }
    if (key == "default") {
      TW_ASSIGN_OR_RETURN(spec.default_value, child.Value());
    }
    if (key == "nullable") {
      TW_ASSIGN_OR_RETURN(spec.nullable, child.Bool());
    }
    if (key == "when_null") {
      TW_ASSIGN_OR_RETURN(spec.when_null, child.Expression());
    }
  }
  if (!typed) return field.Error("type is missing");
  if (spec.when_null.has_value() && !spec.nullable) {
    return field.Error("when_null needs nullable: true");
  }
  if (spec.default_value.has_value()) {
    const auto value = NormalizeParam(spec, *spec.default_value, kMaxRank);
    if (!value.ok()) return field.Error("default: ", value.status().message());
  }
  return spec;
}

absl::StatusOr<Workload> ReadWorkload(const YamlField& field) {
  Workload workload;
  workload.line = field.line();
  TW_ASSIGN_OR_RETURN(const NamedFields fields, field.Map({"label", "inputs", "params", "dtypes"}));
  for (const auto& [key, child] : fields) {
    if (key == "label") {
      TW_ASSIGN_OR_RETURN(workload.label, child.String());
    }
    if (key == "dtypes") {
      TW_ASSIGN_OR_RETURN(workload.dtypes, child.DTypes());
    }
    if (key != "inputs" && key != "params") continue;
    TW_ASSIGN_OR_RETURN(const NamedFields values, child.Map());
    for (const auto& [name, value] : values) {
      if (key == "inputs") {
        TW_ASSIGN_OR_RETURN(const Dims shape, value.Shape());
        workload.input_shapes.emplace_back(name, shape);
      } else {
        TW_ASSIGN_OR_RETURN(const ParamValue param, value.Value());
        workload.params.emplace_back(name, param);
      }
    }
  }
  if (workload.label.empty()) return field.Error("label is missing");
  if (workload.dtypes.empty()) return field.Error("dtypes is missing");
  return workload;
}

absl::StatusOr<std::vector<std::pair<std::string, Expr>>> ReadNamedExprs(const YamlField& field) {
  std::vector<std::pair<std::string, Expr>> named;
  TW_ASSIGN_OR_RETURN(const NamedFields fields, field.Map());
  for (const auto& [name, child] : fields) {
    TW_RETURN_IF_ERROR(CheckName(name, child));
    TW_ASSIGN_OR_RETURN(Expr expr, child.Expression());
    named.emplace_back(name, std::move(expr));
  }
  return named;
}

absl::StatusOr<Roofline> ReadRoofline(const YamlField& field) {
  Roofline roofline;
  TW_ASSIGN_OR_RETURN(const NamedFields fields,
                      field.Map({"vars", "flops", "bytes", "formula", "unit"}));
  for (const auto& [key, child] : fields) {
    if (key == "vars") {
      TW_ASSIGN_OR_RETURN(roofline.vars, ReadNamedExprs(child));
    }
    if (key == "flops") {
      TW_ASSIGN_OR_RETURN(roofline.flops, child.Expression());
    }
    if (key == "bytes") {
      TW_ASSIGN_OR_RETURN(roofline.bytes, child.Expression());
    }
    if (key == "formula") {
      TW_ASSIGN_OR_RETURN(roofline.formula, child.String());
    }
    if (key == "unit") {
      TW_ASSIGN_OR_RETURN(const std::string unit, child.String());
      if (unit != "vector" && unit != "tensor") {
        return child.Error("expected vector or tensor, got '", unit, "'",
                           DidYouMean(unit, {{"vector", "tensor"}}));
      }
      roofline.unit = unit == "tensor" ? Roofline::Unit::kTensor : Roofline::Unit::kVector;
    }
  }
  const bool has_both = roofline.flops.has_value() && roofline.bytes.has_value();
  const bool has_either = roofline.flops.has_value() || roofline.bytes.has_value();
  if (has_either != has_both || has_both == !roofline.formula.empty()) {
    return field.Error("expected flops and bytes, or a formula");
  }
  return roofline;
}

absl::StatusOr<Tolerance> ReadTolerance(const YamlField& field) {
  Tolerance tolerance;
  TW_ASSIGN_OR_RETURN(const NamedFields fields, field.Map({"absolute", "relative"}));
  for (const auto& [key, child] : fields) {
    TW_ASSIGN_OR_RETURN(const double value, child.Float());
    if (value < 0) return child.Error("expected at least 0, got ", value);
    (key == "absolute" ? tolerance.absolute : tolerance.relative) = value;
  }
  return tolerance;
}

// Reads one entry into `op_`: one method per field.
class EntryReader {
 public:
  EntryReader(std::string_view file, const std::string& name, const YamlField& field)
      : field_(field) {
    op_.name = name;
    op_.file = file;
    op_.line = field.line();
  }

  absl::StatusOr<OpSpec> Read() {
    TW_RETURN_IF_ERROR(CheckName(op_.name, field_));
    TW_ASSIGN_OR_RETURN(
        const NamedFields fields,
        field_.Map({"family", "reference", "formula", "source", "status", "signature",
                    "dtype_combos", "let", "shape_rules", "static_dims", "refused", "in_place",
                    "workloads", "roofline", "tolerance"}));
    if (field_.node().kind == YamlNode::Kind::kNull) return field_.Error("expected a map");
    for (const auto& [key, child] : fields) TW_RETURN_IF_ERROR(ReadField(key, child));
    if (const auto problem = CheckSpec(op_)) {
      return YamlField(op_.file, Cat(op_.name, ".", problem->field), NodeAt(problem->line))
          .Error(problem->message);
    }
    return std::move(op_);
  }

 private:
  // The nearest node whose line is known.
  const YamlNode& NodeAt(int line) {
    place_.line = line > 0 ? line : op_.line;
    return place_;
  }

  absl::Status ReadField(const std::string& key, const YamlField& field) {
    if (key == "family") return Assign(op_.family, field.String());
    if (key == "reference") return Assign(op_.reference, field.String());
    if (key == "formula") return Assign(op_.formula, field.String());
    if (key == "source") return Assign(op_.source, field.String());
    if (key == "status") return ReadStatus(field);
    if (key == "signature") return ReadSignature(field);
    if (key == "dtype_combos") return ReadCombos(field);
    if (key == "let") return Assign(op_.let, ReadNamedExprs(field));
    if (key == "shape_rules") return ReadRules(field);
    if (key == "static_dims") return Assign(op_.static_dims, field.Strings());
    if (key == "refused") return Assign(op_.refused, field.Strings());
    if (key == "in_place") return ReadInPlace(field);
    if (key == "workloads") return ReadWorkloads(field);
    if (key == "roofline") return Assign(op_.roofline, ReadRoofline(field));
    return ReadTolerances(field);
  }

  template <class T>
  static absl::Status Assign(T& out, absl::StatusOr<T> value) {
    if (!value.ok()) return value.status();
    out = *std::move(value);
    return absl::OkStatus();
  }

  absl::Status ReadStatus(const YamlField& field) {
    TW_ASSIGN_OR_RETURN(const std::string status, field.String());
    if (status != "implemented" && status != "spec-only") {
      return field.Error("expected implemented or spec-only, got '", status, "'",
                         DidYouMean(status, {{"implemented", "spec-only"}}));
    }
    op_.status = status == "implemented" ? OpStatus::kImplemented : OpStatus::kSpecOnly;
    return absl::OkStatus();
  }

  absl::Status ReadSignature(const YamlField& field) {
    TW_ASSIGN_OR_RETURN(const NamedFields parts, field.Map({"inputs", "outputs", "params"}));
    for (const auto& [part, list] : parts) {
      TW_ASSIGN_OR_RETURN(const NamedFields children, list.Map());
      for (const auto& [name, child] : children) {
        if (part == "inputs") {
          TW_ASSIGN_OR_RETURN(TensorSpec spec, ReadInput(name, child));
          op_.inputs.push_back(std::move(spec));
        } else if (part == "outputs") {
          TW_ASSIGN_OR_RETURN(TensorSpec spec, ReadOutput(name, child));
          op_.outputs.push_back(std::move(spec));
        } else {
          TW_ASSIGN_OR_RETURN(ParamSpec spec, ReadParam(name, child));
          op_.params.push_back(std::move(spec));
        }
      }
    }
    return absl::OkStatus();
  }

  absl::Status ReadCombos(const YamlField& field) {
    TW_ASSIGN_OR_RETURN(const std::vector<YamlField> combos, field.List());
    for (const YamlField& combo : combos) {
      TW_ASSIGN_OR_RETURN(const std::vector<YamlField> items, combo.List());
      std::vector<DType> dtypes;
      for (const YamlField& item : items) {
        TW_ASSIGN_OR_RETURN(const DType dtype, item.DTypeName());
        dtypes.push_back(dtype);
      }
      op_.dtype_combos.push_back(std::move(dtypes));
    }
    return absl::OkStatus();
  }

  absl::Status ReadRules(const YamlField& field) {
    TW_ASSIGN_OR_RETURN(const std::vector<YamlField> rules, field.List());
    for (const YamlField& rule : rules) {
      TW_ASSIGN_OR_RETURN(Expr expr, rule.Expression());
      op_.shape_rules.push_back(std::move(expr));
    }
    return absl::OkStatus();
  }

  absl::Status ReadInPlace(const YamlField& field) {
    TW_ASSIGN_OR_RETURN(const std::vector<YamlField> pairs, field.List());
    for (const YamlField& pair : pairs) {
      TW_ASSIGN_OR_RETURN(const std::vector<std::string> names, pair.Strings());
      if (names.size() != 2) return pair.Error("expected [output, input]");
      op_.in_place.emplace_back(names[0], names[1]);
    }
    return absl::OkStatus();
  }

  absl::Status ReadWorkloads(const YamlField& field) {
    TW_ASSIGN_OR_RETURN(const std::vector<YamlField> workloads, field.List());
    for (const YamlField& child : workloads) {
      TW_ASSIGN_OR_RETURN(Workload workload, ReadWorkload(child));
      op_.workloads.push_back(std::move(workload));
    }
    return absl::OkStatus();
  }

  absl::Status ReadTolerances(const YamlField& field) {
    TW_ASSIGN_OR_RETURN(const NamedFields fields, field.Map());
    for (const auto& [name, child] : fields) {
      const std::optional<DType> dtype = ParseDType(name);
      if (!dtype.has_value()) {
        return child.Error("expected a dtype, got '", name, "'", DidYouMeanDType(name));
      }
      TW_ASSIGN_OR_RETURN(const Tolerance tolerance, ReadTolerance(child));
      op_.tolerance.emplace_back(*dtype, tolerance);
    }
    return absl::OkStatus();
  }

  const YamlField& field_;
  YamlNode place_;
  OpSpec op_;
};

}  // namespace

absl::StatusOr<Manifest> Manifest::FromYaml(std::string_view text, std::string_view file) {
  TW_ASSIGN_OR_RETURN(const YamlNode root, ParseYaml(text, file));
  if (root.kind != YamlNode::Kind::kMap) {
    return InvalidArgument(file, ":", std::max(root.line, 1), ": expected a map of operators, got ",
                           YamlKindName(root));
  }
  Manifest manifest;
  std::string errors;
  for (const auto& [name, node] : root.fields) {
    const YamlField field(file, name, node);
    absl::StatusOr<OpSpec> op = EntryReader(file, name, field).Read();
    if (op.ok()) {
      manifest.ops_.push_back(*std::move(op));
    } else {
      errors += Cat(errors.empty() ? "" : "\n", op.status().message());
    }
  }
  if (!errors.empty()) return InvalidArgument(errors);
  return manifest;
}

}  // namespace tilewright
