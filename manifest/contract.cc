// MakeCall and InferCall: an operator's contract, checked in the order in which the
// facts depend on each other: inputs, params, dtypes, patterns, rules, outputs.
#include <algorithm>
#include <charconv>

#include "manifest/call_scope.h"
#include "manifest/op_spec.h"
#include "manifest/overlap.h"
#include "manifest/param_check.h"
#include "manifest/spec_check.h"
#include "manifest/status.h"

namespace tilewright {
namespace {

std::string DTypeList(const std::vector<DType>& dtypes) {
  std::string text;
  for (size_t i = 0; i < dtypes.size(); ++i) {
    text += Cat(i == 0 ? "" : i + 1 == dtypes.size() ? " or " : ", ", DTypeName(dtypes[i]));
  }
  return text;
}

std::string PatternText(const std::vector<std::string>& pattern) {
  std::string text;
  for (const std::string& dim : pattern) text += Cat(text.empty() ? "[" : ", ", dim);
  return text + "]";
}

// One check of one call. `call_` grows as facts are established.
class CallBuilder {
 public:
  explicit CallBuilder(const OpSpec& op) : op_(op), scope_(call_) { call_.op = &op; }
  CallBuilder(const CallBuilder&) = delete;
  CallBuilder& operator=(const CallBuilder&) = delete;

  absl::Status TakeInputs(std::span<const Operand> inputs, std::span<const NamedParam> params) {
    TW_RETURN_IF_ERROR(CheckInputCount(inputs));
    for (size_t i = 0; i < op_.inputs.size(); ++i) {
      Operand absent;
      absent.present = false;
      call_.operands.push_back(i < inputs.size() ? inputs[i] : absent);
      TW_RETURN_IF_ERROR(CheckInput(op_.inputs[i], call_.operands.back()));
      if (call_.operands.back().present) call_.operands.back().desc.SettleUnusedStrides();
    }
    TW_RETURN_IF_ERROR(BindParams(params, call_));
    for (size_t i = 0; i < op_.inputs.size(); ++i) {
      if (!call_.operands[i].present) continue;
      TW_RETURN_IF_ERROR(CheckDType(op_.inputs[i], "input", call_.operands[i].desc.dtype));
    }
    for (size_t i = 0; i < op_.inputs.size(); ++i) {
      TW_RETURN_IF_ERROR(BindPattern(op_.inputs[i], call_.operands[i]));
    }
    const absl::Status defined = scope_.DefineAll(op_.let, "let");
    // Of what a definition cannot be evaluated for, a rule tells in the operator's own words.
    return defined.ok() ? defined : FirstBrokenRule(defined);
  }

  // Checks outputs that the caller gave against what the manifest says they are.
  absl::Status TakeOutputs(std::span<const Operand> outputs) {
    if (outputs.size() != op_.outputs.size()) {
      return InvalidArgument(op_.name, ": expected ", op_.outputs.size(), " outputs (",
                             TensorNames(op_.outputs), "), got ", outputs.size());
    }
    for (size_t i = 0; i < outputs.size(); ++i) {
      const TensorSpec& spec = op_.outputs[i];
      const TensorDesc& desc = outputs[i].desc;
      if (!outputs[i].present) {
        return InvalidArgument(op_.name, ": output '", spec.name, "': expected a tensor, got none");
      }
      TW_RETURN_IF_ERROR(CheckView(spec, "output", outputs[i]));
      TW_RETURN_IF_ERROR(CheckDType(spec, "output", desc.dtype));
      TW_ASSIGN_OR_RETURN(const Dims expected, OutputShape(spec));
      if (!(desc.shape == expected)) {
        return InvalidArgument(op_.name, ": output '", spec.name, "': expected shape ",
                               expected.ToString(), ", got ", desc.shape.ToString());
      }
      if (OverlapsItself(desc)) {
        return InvalidArgument(op_.name, ": output '", spec.name,
                               "': expected elements at distinct places, got shape ",
                               desc.shape.ToString(), " with strides ", desc.strides.ToString());
      }
      call_.operands.push_back(outputs[i]);
      call_.operands.back().desc.SettleUnusedStrides();
    }
    return absl::OkStatus();
  }

  // Adds contiguous outputs of the inferred dtypes and shapes.
  absl::Status InferOutputs(std::optional<DType> leading) {
    for (const TensorSpec& spec : op_.outputs) {
      const bool leads = leading.has_value() && call_.operands.empty();
      TW_ASSIGN_OR_RETURN(const DType dtype, leads ? *leading : OutputDType(spec));
      TW_RETURN_IF_ERROR(CheckDType(spec, "output", dtype));
      TW_ASSIGN_OR_RETURN(const Dims shape, OutputShape(spec));
      Operand output;
      output.desc = TensorDesc::Contiguous(dtype, shape);
      const absl::Status view = CheckView(spec, "output", output);
      if (!view.ok()) return FirstBrokenRule(view);
      call_.operands.push_back(output);
    }
    return absl::OkStatus();
  }

  absl::StatusOr<CallDesc> Finish() {
    TW_RETURN_IF_ERROR(CheckCombos());
    TW_RETURN_IF_ERROR(CheckRules());
    return std::move(call_);
  }

 private:
  absl::Status CheckInputCount(std::span<const Operand> inputs) const {
    size_t required = op_.inputs.size();
    while (required > 0 && op_.inputs[required - 1].optional) --required;
    if (inputs.size() >= required && inputs.size() <= op_.inputs.size()) return absl::OkStatus();
    return InvalidArgument(op_.name, ": expected ", op_.inputs.size(), " inputs (",
                           TensorNames(op_.inputs), "), got ", inputs.size());
  }

  absl::Status CheckInput(const TensorSpec& spec, const Operand& input) const {
    if (input.present) {
      TW_RETURN_IF_ERROR(CheckView(spec, "input", input));
      if (spec.mutated && OverlapsItself(input.desc)) {
        return InvalidArgument(op_.name, ": input '", spec.name,
                               "' is written: expected elements at distinct places, got strides ",
                               input.desc.strides.ToString());
      }
      return absl::OkStatus();
    }
    if (spec.optional) return absl::OkStatus();
    return InvalidArgument(op_.name, ": input '", spec.name, "': expected a tensor, got none");
  }

  // The facts of a view that hold for every operator.
  absl::Status CheckView(const TensorSpec& spec, std::string_view role,
                         const Operand& operand) const {
    const TensorDesc& desc = operand.desc;
    const auto where = [&] { return Cat(op_.name, ": ", role, " '", spec.name, "': "); };
    if (desc.shape.truncated() || desc.strides.truncated()) {
      return InvalidArgument(where(), "expected at most ", kMaxRank, " dimensions, got ",
                             desc.shape.ToString(), " with strides ", desc.strides.ToString());
    }
    if (desc.strides.rank() != desc.rank()) {
      return InvalidArgument(where(), "expected ", desc.rank(), " strides for shape ",
                             desc.shape.ToString(), ", got ", desc.strides.ToString());
    }
    for (const int64_t extent : desc.shape) {
      if (extent >= 0) continue;
      return InvalidArgument(where(), "expected extents of at least 0, got ",
                             desc.shape.ToString());
    }
    if (!desc.Extent().has_value()) {
      return InvalidArgument(where(), "expected a view of less than 2^63 bytes, got ",
                             DTypeName(desc.dtype), desc.shape.ToString(), " with strides ",
                             desc.strides.ToString());
    }
    if (operand.alignment < static_cast<uint32_t>(DTypeSize(desc.dtype))) {
      return InvalidArgument(where(), "expected a pointer aligned to ", DTypeSize(desc.dtype),
                             " bytes (", DTypeName(desc.dtype), "), got ", operand.alignment);
    }
    return absl::OkStatus();
  }

  // The dtype that `same_as` refers to: a tensor's, or a dtype parameter's value. nullopt where the
  // tensor is absent.
  std::optional<DType> Referred(std::string_view name) const {
    for (size_t i = 0; i < call_.operands.size(); ++i) {
      const TensorSpec& spec =
          i < op_.inputs.size() ? op_.inputs[i] : op_.outputs[i - op_.inputs.size()];
      if (spec.name != name) continue;
      if (!call_.operands[i].present) return std::nullopt;
      return call_.operands[i].desc.dtype;
    }
    const std::optional<int> param = op_.ParamIndex(name);
    if (param.has_value() && static_cast<size_t>(*param) < call_.params.size()) {
      const ParamValue& value = call_.params[static_cast<size_t>(*param)];
      if (value.kind() == ParamValue::Kind::kDType) return value.as_dtype();
    }
    return std::nullopt;
  }

  absl::Status CheckDType(const TensorSpec& spec, std::string_view role, DType dtype) const {
    if (spec.same_as.empty()) {
      for (const DType allowed : spec.dtypes) {
        if (allowed == dtype) return absl::OkStatus();
      }
      return InvalidArgument(op_.name, ": ", role, " '", spec.name, "': expected dtype ",
                             DTypeList(spec.dtypes), ", got ", DTypeName(dtype));
    }
    const std::optional<DType> expected = Referred(spec.same_as);
    if (!expected.has_value() || *expected == dtype) return absl::OkStatus();
    return InvalidArgument(op_.name, ": ", role, " '", spec.name, "': expected dtype ",
                           DTypeName(*expected), " (that of '", spec.same_as, "'), got ",
                           DTypeName(dtype));
  }

  absl::Status BindPattern(const TensorSpec& spec, const Operand& input) {
    if (spec.shape_pattern.empty() || !input.present) return absl::OkStatus();
    const Dims& shape = input.desc.shape;
    if (shape.rank() != static_cast<int>(spec.shape_pattern.size())) {
      return InvalidArgument(op_.name, ": input '", spec.name, "': expected shape ",
                             PatternText(spec.shape_pattern), ", got ", shape.ToString());
    }
    for (int axis = 0; axis < shape.rank(); ++axis) {
      const std::string& dim = spec.shape_pattern[static_cast<size_t>(axis)];
      int64_t expected = 0;
      const auto parsed = std::from_chars(dim.data(), dim.data() + dim.size(), expected);
      if (parsed.ec != std::errc{}) {
        const absl::StatusOr<ExprValue> bound = scope_.Lookup(dim);
        if (!bound.ok()) {
          scope_.Define(dim, shape[axis]);
          continue;
        }
        expected = std::get<int64_t>(*bound);
      }
      if (shape[axis] != expected) {
        return InvalidArgument(op_.name, ": input '", spec.name, "': expected shape ",
                               PatternText(spec.shape_pattern), " with ", dim, " = ", expected,
                               ", got ", shape.ToString());
      }
    }
    return absl::OkStatus();
  }

  absl::StatusOr<Dims> OutputShape(const TensorSpec& spec) const {
    const auto fail = [&](std::string_view what) {
      return InvalidArgument(op_.name, ": output '", spec.name, "': shape ", spec.shape->text(),
                             ": ", what);
    };
    if (!spec.shape.has_value()) {
      return InvalidArgument(op_.name, ": output '", spec.name, "' declares no shape");
    }
    const absl::StatusOr<ExprValue> value = spec.shape->Evaluate(scope_);
    if (!value.ok()) return fail(Cat(value.status().message()));
    const auto* tuple = std::get_if<std::vector<int64_t>>(&*value);
    if (tuple == nullptr || tuple->size() > kMaxRank) {
      return fail(Cat("expected a tuple of at most ", kMaxRank, ", got ", ExprValueText(*value)));
    }
    return Dims(std::span(*tuple));
  }

  absl::StatusOr<DType> OutputDType(const TensorSpec& spec) const {
    if (!spec.same_as.empty()) {
      if (const std::optional<DType> dtype = Referred(spec.same_as)) return *dtype;
    } else if (spec.dtypes.size() == 1) {
      return spec.dtypes[0];
    }
    // Else the combinations must leave one choice.
    std::optional<DType> found;
    bool unique = true;
    for (const std::vector<DType>& combo : op_.dtype_combos) {
      if (!ComboFits(combo)) continue;
      const DType dtype = combo[call_.operands.size()];
      unique = unique && (!found.has_value() || *found == dtype);
      found = dtype;
    }
    if (found.has_value() && unique) return *found;
    return InvalidArgument(op_.name, ": output '", spec.name,
                           "': its dtype does not follow from the inputs");
  }

  // True if the operands so far match the combination.
  bool ComboFits(const std::vector<DType>& combo) const {
    for (size_t i = 0; i < call_.operands.size(); ++i) {
      if (call_.operands[i].present && call_.operands[i].desc.dtype != combo[i]) return false;
    }
    return true;
  }

  absl::Status CheckCombos() const {
    if (op_.dtype_combos.empty()) return absl::OkStatus();
    for (const std::vector<DType>& combo : op_.dtype_combos) {
      if (ComboFits(combo)) return absl::OkStatus();
    }
    std::string got;
    for (const Operand& operand : call_.operands) {
      got += Cat(got.empty() ? "" : ", ",
                 operand.present ? DTypeName(operand.desc.dtype) : std::string_view("absent"));
    }
    return InvalidArgument(op_.name,
                           ": dtypes: expected a combination that the manifest lists, got ", got);
  }

  absl::Status Broken(const Expr& rule) const {
    return InvalidArgument(op_.name, ": expected ", rule.text(), ", got ", call_.ToString());
  }
  static bool Holds(const ExprValue& value) {
    const bool* holds = std::get_if<bool>(&value);
    return holds != nullptr && *holds;
  }

  absl::Status CheckRules() const {
    for (const Expr& rule : op_.shape_rules) {
      const absl::StatusOr<ExprValue> value = rule.Evaluate(scope_);
      if (!value.ok()) {
        return InvalidArgument(op_.name, ": rule ", rule.text(), ": ", value.status().message(),
                               "; got ", call_.ToString());
      }
      if (!Holds(*value)) return Broken(rule);
    }
    return absl::OkStatus();
  }

  // Of the rules that use nothing but what is defined; `otherwise` where all of those hold.
  absl::Status FirstBrokenRule(absl::Status otherwise) const {
    for (const Expr& rule : op_.shape_rules) {
      const absl::StatusOr<ExprValue> value = rule.Evaluate(scope_);
      if (value.ok() && !Holds(*value)) return Broken(rule);
    }
    return otherwise;
  }

  const OpSpec& op_;
  CallDesc call_;
  CallScope scope_;
};

}  // namespace

absl::StatusOr<CallDesc> MakeCall(const OpSpec& op, std::span<const Operand> inputs,
                                  std::span<const Operand> outputs,
                                  std::span<const NamedParam> params) {
  CallBuilder builder(op);
  TW_RETURN_IF_ERROR(builder.TakeInputs(inputs, params));
  TW_RETURN_IF_ERROR(builder.TakeOutputs(outputs));
  return builder.Finish();
}

absl::StatusOr<CallDesc> InferCall(const OpSpec& op, std::span<const Operand> inputs,
                                   std::span<const NamedParam> params,
                                   std::optional<DType> leading) {
  CallBuilder builder(op);
  TW_RETURN_IF_ERROR(builder.TakeInputs(inputs, params));
  TW_RETURN_IF_ERROR(builder.InferOutputs(leading));
  return builder.Finish();
}

}  // namespace tilewright
