#include "manifest/yaml_fields.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "manifest/nearest_name.h"

namespace tilewright {
namespace {

using Kind = YamlNode::Kind;

template <class T>
bool ParseWhole(std::string_view text, T& out) {
  if (text.starts_with('+')) text.remove_prefix(1);
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), out);
  return parsed.ec == std::errc{} && parsed.ptr == text.data() + text.size() && !text.empty();
}

bool IsPlain(const YamlNode& node) { return node.kind == Kind::kScalar && !node.quoted; }

}  // namespace

absl::Status YamlField::Expected(std::string_view what) const {
  if (node_->kind == Kind::kScalar) return Error("expected ", what, ", got '", node_->text, "'");
  return Error("expected ", what, ", got ", YamlKindName(*node_));
}

absl::StatusOr<std::vector<std::pair<std::string, YamlField>>> YamlField::Map() const {
  std::vector<std::pair<std::string, YamlField>> children;
  if (node_->kind == Kind::kNull) return children;
  if (node_->kind != Kind::kMap) return Expected("a map");
  for (const auto& [key, child] : node_->fields) {
    children.emplace_back(key, YamlField(file_, Cat(path_, ".", key), child));
  }
  return children;
}

absl::StatusOr<std::vector<std::pair<std::string, YamlField>>> YamlField::Map(
    std::initializer_list<std::string_view> known) const {
  auto children = Map();
  if (!children.ok()) return children;
  for (const auto& [key, child] : *children) {
    if (std::find(known.begin(), known.end(), key) != known.end()) continue;
    std::string names;
    for (const std::string_view name : known) names += Cat(names.empty() ? "" : ", ", name);
    const std::vector<std::string_view> fields(known);
    return child.Error("unknown field; there are ", names, DidYouMean(key, fields));
  }
  return children;
}

absl::StatusOr<std::vector<YamlField>> YamlField::List() const {
  std::vector<YamlField> children;
  if (node_->kind == Kind::kNull) return children;
  if (node_->kind != Kind::kList) return Expected("a list");
  for (size_t i = 0; i < node_->items.size(); ++i) {
    children.emplace_back(file_, Cat(path_, "[", i, "]"), node_->items[i]);
  }
  return children;
}

absl::StatusOr<std::string> YamlField::String() const {
  if (node_->kind != Kind::kScalar || node_->text.empty()) return Expected("a text");
  return node_->text;
}

absl::StatusOr<bool> YamlField::Bool() const {
  if (!IsPlain(*node_) || (node_->text != "true" && node_->text != "false")) {
    return Expected("true or false");
  }
  return node_->text == "true";
}

absl::StatusOr<int64_t> YamlField::Int() const {
  int64_t value = 0;
  if (!IsPlain(*node_) || !ParseWhole(node_->text, value)) return Expected("an int");
  return value;
}

absl::StatusOr<double> YamlField::Float() const {
  double value = 0;
  if (!IsPlain(*node_) || !ParseWhole(node_->text, value) || !std::isfinite(value)) {
    return Expected("a number");
  }
  return value;
}

absl::StatusOr<DType> YamlField::DTypeName() const {
  const std::optional<DType> dtype =
      node_->kind == Kind::kScalar ? ParseDType(node_->text) : std::nullopt;
  if (dtype.has_value()) return *dtype;
  if (node_->kind != Kind::kScalar) return Expected("a dtype");
  return Error("expected a dtype, got '", node_->text, "'", DidYouMeanDType(node_->text));
}

absl::StatusOr<std::vector<DType>> YamlField::DTypes() const {
  std::vector<DType> dtypes;
  if (node_->kind == Kind::kScalar) {
    TW_ASSIGN_OR_RETURN(const DType dtype, DTypeName());
    return std::vector<DType>{dtype};
  }
  TW_ASSIGN_OR_RETURN(const std::vector<YamlField> items, List());
  for (const YamlField& item : items) {
    TW_ASSIGN_OR_RETURN(const DType dtype, item.DTypeName());
    if (std::find(dtypes.begin(), dtypes.end(), dtype) != dtypes.end()) {
      return item.Error("dtype '", item.node().text, "' is given twice");
    }
    dtypes.push_back(dtype);
  }
  if (dtypes.empty()) return Expected("at least one dtype");
  return dtypes;
}

absl::StatusOr<std::vector<std::string>> YamlField::Strings() const {
  std::vector<std::string> strings;
  TW_ASSIGN_OR_RETURN(const std::vector<YamlField> items, List());
  for (const YamlField& item : items) {
    TW_ASSIGN_OR_RETURN(std::string text, item.String());
    strings.push_back(std::move(text));
  }
  return strings;
}

absl::StatusOr<Dims> YamlField::Shape() const {
  if (node_->kind != Kind::kList) return Expected("a list of ints");
  TW_ASSIGN_OR_RETURN(const std::vector<YamlField> items, List());
  if (items.size() > kMaxRank) return Error("expected at most ", kMaxRank, " values");
  Dims dims;
  for (const YamlField& item : items) {
    TW_ASSIGN_OR_RETURN(const int64_t value, item.Int());
    dims.push_back(value);
  }
  return dims;
}

absl::StatusOr<Expr> YamlField::Expression() const {
  TW_ASSIGN_OR_RETURN(const std::string text, String());
  absl::StatusOr<Expr> expr = Expr::Parse(text);
  if (!expr.ok()) return Error(text, ": ", expr.status().message());
  return expr;
}

absl::StatusOr<ParamValue> YamlField::Value() const {
  if (node_->kind == Kind::kNull) return ParamValue();
  if (node_->kind == Kind::kList) {
    TW_ASSIGN_OR_RETURN(const Dims list, Shape());
    return ParamValue(list);
  }
  if (const auto flag = Bool(); flag.ok()) return ParamValue(*flag);
  if (const auto integer = Int(); integer.ok()) return ParamValue(*integer);
  if (const auto real = Float(); real.ok()) return ParamValue(*real);
  if (IsPlain(*node_) && (node_->text == ".inf" || node_->text == "-.inf")) {
    const double infinity = std::numeric_limits<double>::infinity();
    return ParamValue(node_->text[0] == '-' ? -infinity : infinity);
  }
  if (const auto dtype = DTypeName(); dtype.ok()) return ParamValue(*dtype);
  const absl::Status refused = Expected("null, a bool, a number, a list of ints or a dtype");
  if (node_->kind != Kind::kScalar) return refused;
  return InvalidArgument(refused.message(), DidYouMeanDType(node_->text));
}

}  // namespace tilewright
