#include "manifest/param_check.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "manifest/call_scope.h"
#include "manifest/nearest_name.h"
#include "manifest/status.h"
#include "manifest/text.h"

namespace tilewright {
namespace {

using Type = ParamSpec::Type;
using Kind = ParamValue::Kind;

constexpr std::array<std::string_view, 8> kTypeNames = {"bool",     "int",  "float", "int_or_float",
                                                        "int_list", "axes", "axis",  "dtype"};

absl::StatusOr<int64_t> NormalizeAxis(int64_t axis, int rank) {
  const int64_t axes = std::max(rank, 1);
  if (axis < -axes || axis >= axes) {
    return InvalidArgument("expected an axis from ", -axes, " to ", axes - 1, ", got ", axis);
  }
  return axis < 0 ? axis + axes : axis;
}

absl::StatusOr<ParamValue> NormalizeAxes(const ParamValue& value, int rank) {
  std::array<int64_t, kMaxRank> axes{};
  size_t count = 0;
  if (value.is_null()) {
    for (; count < static_cast<size_t>(rank); ++count) axes[count] = static_cast<int64_t>(count);
    return ParamValue(Dims(std::span(axes.data(), count)));
  }
  const Dims list = value.kind() == Kind::kInt ? Dims{value.as_int()} : value.as_list();
  for (const int64_t axis : list) {
    TW_ASSIGN_OR_RETURN(axes[count], NormalizeAxis(axis, rank));
    ++count;
  }
  std::sort(axes.begin(), axes.begin() + static_cast<std::ptrdiff_t>(count));
  for (size_t i = 1; i < count; ++i) {
    if (axes[i] == axes[i - 1]) return InvalidArgument("axis ", axes[i], " is given twice");
  }
  return ParamValue(Dims(std::span(axes.data(), count)));
}

bool AcceptsKind(Type type, Kind kind) {
  switch (type) {
    case Type::kBool:
      return kind == Kind::kBool;
    case Type::kInt:
    case Type::kAxis:
      return kind == Kind::kInt;
    case Type::kFloat:
    case Type::kIntOrFloat:
      return kind == Kind::kInt || kind == Kind::kFloat;
    case Type::kIntList:
    case Type::kAxes:
      return kind == Kind::kInt || kind == Kind::kIntList;
    case Type::kDType:
      return kind == Kind::kDType;
  }
  return false;
}

// What a rule says that null stands for.
absl::StatusOr<ParamValue> ResolveNull(const ParamSpec& spec, const CallDesc& call) {
  TW_ASSIGN_OR_RETURN(const ExprValue value, spec.when_null->Evaluate(CallScope(call)));
  if (const auto* flag = std::get_if<bool>(&value)) return ParamValue(*flag);
  if (const auto* integer = std::get_if<int64_t>(&value)) return ParamValue(*integer);
  if (const auto* real = std::get_if<double>(&value)) return ParamValue(*real);
  const auto* tuple = std::get_if<std::vector<int64_t>>(&value);
  if (tuple != nullptr && tuple->size() <= kMaxRank) return ParamValue(Dims(std::span(*tuple)));
  return InvalidArgument("when_null gives ", ExprValueText(value));
}

// Kernels compute in float32, unless an operand is wider: a number that it does not hold would be
// an infinity, and its products NaN. PyTorch refuses it, too.
absl::Status CheckRange(const ParamValue& value, const CallDesc& call) {
  constexpr double kLargest = std::numeric_limits<float>::max();
  if (value.kind() != Kind::kFloat) return absl::OkStatus();
  const double number = value.as_float();
  if (!std::isfinite(number) || std::fabs(number) <= kLargest) return absl::OkStatus();
  for (const Operand& operand : call.operands) {
    const DType dtype = operand.desc.dtype;
    const bool wide = dtype == DType::kFloat64 || dtype == DType::kComplex128;
    if (operand.present && wide) return absl::OkStatus();
  }
  return InvalidArgument("expected a number that float32 holds, got ", value.ToString());
}

absl::StatusOr<ParamValue> BindParam(const ParamSpec& spec, const ParamValue& given,
                                     const CallDesc& call) {
  const int rank = call.operands.empty() ? 0 : call.operands[0].desc.rank();
  ParamValue value = given;
  if (given.is_null() && spec.nullable && spec.when_null.has_value()) {
    TW_ASSIGN_OR_RETURN(value, ResolveNull(spec, call));
  }
  TW_ASSIGN_OR_RETURN(value, NormalizeParam(spec, value, rank));
  TW_RETURN_IF_ERROR(CheckRange(value, call));
  return value;
}

std::string ParamNames(const OpSpec& op) {
  std::string names;
  for (const ParamSpec& param : op.params) names += Cat(names.empty() ? "" : ", ", param.name);
  return names.empty() ? "none" : names;
}

}  // namespace

std::string_view ParamTypeName(Type type) { return kTypeNames[static_cast<size_t>(type)]; }

std::string DidYouMeanParamType(std::string_view name) { return DidYouMean(name, kTypeNames); }

std::string DidYouMeanValue(Type type, std::string_view text) {
  static constexpr std::array<std::string_view, 2> kFlags = {"true", "false"};
  static constexpr std::array<std::string_view, 3> kNonFinite = {"inf", "-inf", "nan"};
  switch (type) {
    case Type::kBool:
      return DidYouMean(text, kFlags);
    case Type::kFloat:
    case Type::kIntOrFloat:
      return DidYouMean(text, kNonFinite);
    case Type::kDType:
      return DidYouMeanDType(text);
    default:
      return "";
  }
}

absl::Status UnknownParam(const OpSpec& op, std::string_view name) {
  return InvalidArgument(op.name, ": unknown parameter '", Brief(name), "'; it has ",
                         ParamNames(op), DidYouMean(name, NamesOf(op.params)));
}

std::optional<Type> ParseParamType(std::string_view name) {
  for (size_t i = 0; i < kTypeNames.size(); ++i) {
    if (kTypeNames[i] == name) return static_cast<Type>(i);
  }
  return std::nullopt;
}

absl::StatusOr<ParamValue> NormalizeParam(const ParamSpec& spec, const ParamValue& value,
                                          int rank) {
  if (value.is_null() && spec.nullable) {
    return spec.type == Type::kAxes ? NormalizeAxes(value, rank) : value;
  }
  if (value.kind() == Kind::kIntList && value.as_list().truncated()) {
    return InvalidArgument("expected at most ", kMaxRank, " values, got ", value.ToString());
  }
  if (!AcceptsKind(spec.type, value.kind())) {
    return InvalidArgument("expected ", ParamTypeName(spec.type), spec.nullable ? " or null" : "",
                           ", got ", value.ToString());
  }
  if (spec.type == Type::kFloat) return ParamValue(value.as_float());
  if (spec.type == Type::kAxes) return NormalizeAxes(value, rank);
  if (spec.type == Type::kIntList && value.kind() == Kind::kInt) {
    return ParamValue(Dims{value.as_int()});
  }
  if (spec.type == Type::kAxis) {
    TW_ASSIGN_OR_RETURN(const int64_t axis, NormalizeAxis(value.as_int(), rank));
    return ParamValue(axis);
  }
  return value;
}

absl::Status BindParams(std::span<const NamedParam> given, CallDesc& call) {
  const OpSpec& op = *call.op;
  for (size_t i = 0; i < given.size(); ++i) {
    if (!op.ParamIndex(given[i].name).has_value()) return UnknownParam(op, given[i].name);
    for (size_t j = 0; j < i; ++j) {
      if (given[j].name == given[i].name) {
        return InvalidArgument(op.name, ": parameter '", given[i].name, "' is given twice");
      }
    }
  }
  for (const ParamSpec& spec : op.params) {
    const ParamValue* value = spec.default_value ? &*spec.default_value : nullptr;
    for (const NamedParam& param : given) {
      if (param.name == spec.name) value = &param.value;
    }
    if (value == nullptr) {
      return InvalidArgument(op.name, ": parameter '", spec.name, "': expected ",
                             ParamTypeName(spec.type), ", got nothing");
    }
    absl::StatusOr<ParamValue> bound = BindParam(spec, *value, call);
    if (!bound.ok()) {
      return InvalidArgument(op.name, ": parameter '", spec.name, "': ", bound.status().message());
    }
    call.params.push_back(*bound);
  }
  return absl::OkStatus();
}

}  // namespace tilewright
