#include "manifest/spec_check.h"

#include <algorithm>
#include <map>
#include <set>

#include "manifest/call_scope.h"
#include "manifest/nearest_name.h"
#include "manifest/param_check.h"
#include "manifest/status.h"

namespace tilewright {
namespace {

using Problem = std::optional<SpecProblem>;

class SpecChecker {
 public:
  explicit SpecChecker(const OpSpec& op) : op_(op) {}

  Problem Run() {
    for (const auto check : {&SpecChecker::CheckTexts, &SpecChecker::CheckSignature,
                             &SpecChecker::CheckReferrals, &SpecChecker::CheckCombos,
                             &SpecChecker::CheckExpressions, &SpecChecker::CheckWorkloads}) {
      if (Problem problem = (this->*check)()) return problem;
    }
    return std::nullopt;
  }

 private:
  template <class... Parts>
  static Problem At(std::string field, const Parts&... parts) {
    return SpecProblem{std::move(field), Cat(parts...), 0};
  }

  Problem CheckTexts() {
    if (op_.family.empty()) return At("family", "is missing");
    if (op_.source.empty()) return At("source", "is missing");
    if (op_.reference.empty()) return At("reference", "is missing; none needs a formula");
    if (op_.reference == "none" && op_.formula.empty()) {
      return At("formula", "is missing where reference is none");
    }
    return std::nullopt;
  }

  // Tensors, params, dims, `let` and roofline vars share one name space.
  Problem CheckSignature() {
    if (op_.outputs.empty()) return At("signature.outputs", "expected at least one");
    if (op_.inputs.empty() && op_.outputs[0].dtypes.empty()) {
      return At(Cat("signature.outputs.", op_.outputs[0].name, ".dtype"),
                "expected a list of dtypes where there are no inputs");
    }
    names_.insert("elem_bytes");
    for (const TensorSpec& input : op_.inputs) {
      if (!AddName(input.name)) return Twice("signature.inputs", input.name);
    }
    for (const TensorSpec& output : op_.outputs) {
      if (!AddName(output.name)) return Twice("signature.outputs", output.name);
    }
    tensors_ = names_;
    tensors_.erase("elem_bytes");
    for (const ParamSpec& param : op_.params) {
      if (!AddName(param.name)) return Twice("signature.params", param.name);
    }
    for (const TensorSpec& input : op_.inputs) {
      for (const std::string& dim : input.shape_pattern) {
        if (names_.contains(dim) && !dims_.contains(dim)) {
          return Twice(Cat("signature.inputs.", input.name, ".shape"), dim);
        }
        dims_.insert(dim);
      }
    }
    names_.insert(dims_.begin(), dims_.end());
    return std::nullopt;
  }

  bool AddName(const std::string& name) { return names_.insert(name).second; }
  static Problem Twice(std::string field, std::string_view name) {
    return At(std::move(field), "the name '", name, "' is taken");
  }

  Problem CheckReferrals() {
    for (size_t i = 0; i < op_.inputs.size(); ++i) {
      const std::string& same_as = op_.inputs[i].same_as;
      if (!same_as.empty() && !IsDTypeSource(same_as, i, 0)) {
        return At(Cat("signature.inputs.", op_.inputs[i].name, ".dtype"), "same_as(", same_as,
                  ") names no earlier input or dtype parameter");
      }
    }
    for (size_t i = 0; i < op_.outputs.size(); ++i) {
      const std::string& same_as = op_.outputs[i].same_as;
      if (!same_as.empty() && !IsDTypeSource(same_as, op_.inputs.size(), i)) {
        return At(Cat("signature.outputs.", op_.outputs[i].name, ".dtype"), "same_as(", same_as,
                  ") names no input, earlier output or dtype parameter");
      }
    }
    for (const auto& [output, input] : op_.in_place) {
      if (!Contains(op_.outputs, output)) return At("in_place", "no output '", output, "'");
      if (!Contains(op_.inputs, input)) return At("in_place", "no input '", input, "'");
    }
    for (const std::string& dim : op_.static_dims) {
      if (!dims_.contains(dim)) return At("static_dims", "no input's shape has a dim '", dim, "'");
    }
    return std::nullopt;
  }

  template <class Spec>
  static bool Contains(const std::vector<Spec>& specs, std::string_view name) {
    return std::any_of(specs.begin(), specs.end(),
                       [&](const Spec& spec) { return spec.name == name; });
  }

  // True if `name` is one of the first inputs or outputs, or a dtype parameter.
  bool IsDTypeSource(std::string_view name, size_t inputs, size_t outputs) const {
    for (size_t i = 0; i < inputs; ++i) {
      if (op_.inputs[i].name == name) return true;
    }
    for (size_t i = 0; i < outputs; ++i) {
      if (op_.outputs[i].name == name) return true;
    }
    const std::optional<int> param = op_.ParamIndex(name);
    return param.has_value() &&
           op_.params[static_cast<size_t>(*param)].type == ParamSpec::Type::kDType;
  }

  Problem CheckCombos() {
    const size_t tensors = op_.inputs.size() + op_.outputs.size();
    for (size_t i = 0; i < op_.dtype_combos.size(); ++i) {
      const std::vector<DType>& combo = op_.dtype_combos[i];
      const std::string field = Cat("dtype_combos[", i, "]");
      if (combo.size() != tensors) {
        return At(field, "expected ", tensors, " dtypes (inputs, then outputs), got ",
                  combo.size());
      }
      for (size_t t = 0; t < tensors; ++t) {
        const TensorSpec& spec =
            t < op_.inputs.size() ? op_.inputs[t] : op_.outputs[t - op_.inputs.size()];
        if (!spec.dtypes.empty() &&
            std::find(spec.dtypes.begin(), spec.dtypes.end(), combo[t]) == spec.dtypes.end()) {
          return At(field, "'", spec.name, "' does not allow ", DTypeName(combo[t]));
        }
      }
    }
    return std::nullopt;
  }

  // What the unknown `name` was meant to be: a name, or an attribute of a tensor.
  std::string Meant(std::string_view name) const {
    const size_t dot = name.find('.');
    if (dot != std::string_view::npos && tensors_.contains(std::string(name.substr(0, dot)))) {
      return DidYouMean(name.substr(dot + 1), TensorAttributes());
    }
    std::vector<std::string_view> known(names_.begin(), names_.end());
    return DidYouMean(name.substr(0, dot), known);
  }

  Problem CheckNames(std::string field, const Expr& expr) const {
    for (const std::string& name : expr.Names()) {
      const size_t dot = name.find('.');
      if (dot == std::string::npos) {
        if (names_.contains(name) && !tensors_.contains(name)) continue;
      } else if (tensors_.contains(name.substr(0, dot))) {
        const auto attributes = TensorAttributes();
        const auto attribute = std::string_view(name).substr(dot + 1);
        if (std::find(attributes.begin(), attributes.end(), attribute) != attributes.end()) {
          continue;
        }
      }
      return At(std::move(field), expr.text(), ": unknown name '", name, "'", Meant(name));
    }
    return std::nullopt;
  }

  Problem DefineAll(const std::string& field,
                    const std::vector<std::pair<std::string, Expr>>& values) {
    for (const auto& [name, expr] : values) {
      if (Problem problem = CheckNames(Cat(field, ".", name), expr)) return problem;
      if (!AddName(name)) return Twice(field, name);
    }
    return std::nullopt;
  }

  Problem CheckExpressions() {
    for (const ParamSpec& param : op_.params) {
      if (!param.when_null.has_value()) continue;
      const std::string field = Cat("signature.params.", param.name, ".when_null");
      if (Problem problem = CheckNames(field, *param.when_null)) return problem;
    }
    if (Problem problem = DefineAll("let", op_.let)) return problem;
    for (const TensorSpec& output : op_.outputs) {
      const std::string field = Cat("signature.outputs.", output.name, ".shape");
      if (Problem problem = CheckNames(field, *output.shape)) return problem;
    }
    for (size_t i = 0; i < op_.shape_rules.size(); ++i) {
      if (Problem problem = CheckNames(Cat("shape_rules[", i, "]"), op_.shape_rules[i])) {
        return problem;
      }
    }
    const Roofline& roofline = op_.roofline;
    if (Problem problem = DefineAll("roofline.vars", roofline.vars)) return problem;
    if (!roofline.flops.has_value()) {
      if (roofline.formula.empty()) return At("roofline", "is missing");
      return std::nullopt;
    }
    if (Problem problem = CheckNames("roofline.flops", *roofline.flops)) return problem;
    return CheckNames("roofline.bytes", *roofline.bytes);
  }

  Problem CheckWorkloads() {
    std::set<std::string, std::less<>> seen;
    for (size_t i = 0; i < op_.workloads.size(); ++i) {
      Problem problem = CheckWorkload(op_.workloads[i]);
      for (const DType dtype : op_.workloads[i].dtypes) {
        // One label may stand once per dtype.
        if (!seen.insert(Cat(op_.workloads[i].label, "@", DTypeName(dtype))).second) {
          problem =
              At("", "label '", op_.workloads[i].label, "' is given twice for ", DTypeName(dtype));
        }
      }
      if (!problem.has_value()) continue;
      problem->field = Cat("workloads[", i, "]", problem->field);
      problem->line = op_.workloads[i].line;
      return problem;
    }
    return std::nullopt;
  }

  Problem CheckWorkload(const Workload& workload) const {
    for (const auto& [name, shape] : workload.input_shapes) {
      if (!Contains(op_.inputs, name)) return At(".inputs", "no input '", name, "'");
    }
    for (const auto& [name, value] : workload.params) {
      const std::optional<int> index = op_.ParamIndex(name);
      if (!index.has_value()) return At(".params", "no parameter '", name, "'");
      const auto normal = NormalizeParam(op_.params[static_cast<size_t>(*index)], value, kMaxRank);
      if (!normal.ok()) return At(Cat(".params.", name), normal.status().message());
    }
    const TensorSpec& leading = op_.LeadingTensor();
    const std::vector<DType>& allowed = leading.dtypes;
    for (const DType dtype : workload.dtypes) {
      if (std::find(allowed.begin(), allowed.end(), dtype) == allowed.end()) {
        return At(".dtypes", "'", leading.name, "' does not allow ", DTypeName(dtype));
      }
    }
    return std::nullopt;
  }

  const OpSpec& op_;
  std::set<std::string, std::less<>> names_;
  std::set<std::string, std::less<>> tensors_;
  std::set<std::string, std::less<>> dims_;
};

}  // namespace

std::optional<SpecProblem> CheckSpec(const OpSpec& op) { return SpecChecker(op).Run(); }

absl::Status CheckDistinctNames(std::span<const OpSpec> ops) {
  std::map<std::string_view, const OpSpec*> first;
  std::string errors;
  for (const OpSpec& op : ops) {
    const auto [known, inserted] = first.emplace(op.name, &op);
    if (inserted) continue;
    errors += Cat(errors.empty() ? "" : "\n", op.file, ":", op.line, ": ", op.name,
                  ": an entry of this name is at ", known->second->file, ":", known->second->line);
  }
  return errors.empty() ? absl::OkStatus() : InvalidArgument(errors);
}

std::string TensorNames(const std::vector<TensorSpec>& specs) {
  std::string text;
  for (const TensorSpec& spec : specs) text += Cat(text.empty() ? "" : ", ", spec.name);
  return text;
}

}  // namespace tilewright
