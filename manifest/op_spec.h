// An operator's declaration: the parsed form of one manifest entry.
#ifndef TILEWRIGHT_MANIFEST_OP_SPEC_H_
#define TILEWRIGHT_MANIFEST_OP_SPEC_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "manifest/call_desc.h"
#include "manifest/expr.h"

namespace tilewright {

// One declared input or output.
struct TensorSpec {
  std::string name;
  std::vector<DType> dtypes;  // allowed dtypes; empty when same_as is set
  std::string same_as;        // name of the tensor, or dtype parameter, whose dtype this one has
  bool optional = false;      // inputs only
  bool mutated = false;       // inputs only: the operator writes it
  // Inputs: a pattern that binds dim names, "[M, K]"; empty for arbitrary rank.
  std::vector<std::string> shape_pattern;
  // Outputs: an expression for the shape, so that it can be inferred from inputs and params.
  std::optional<Expr> shape;
};

struct ParamSpec {
  std::string name;
  // bool, int, float, int_or_float, int_list, axes (an int, a list or null, normalised to a list
  // of non-negative axes), axis (an int, normalised to non-negative; null allowed if nullable),
  // dtype
  enum class Type : uint8_t { kBool, kInt, kFloat, kIntOrFloat, kIntList, kAxes, kAxis, kDType };
  Type type = Type::kInt;
  bool nullable = false;
  std::optional<ParamValue> default_value;  // none: the parameter is required
  std::optional<Expr> when_null;            // what null stands for; the call then never has null
};

// A named real-model problem. Each dtype in `dtypes` gives one CallDesc.
struct Workload {
  std::string label;
  std::vector<std::pair<std::string, Dims>> input_shapes;  // absent optional inputs are left out
  std::vector<std::pair<std::string, ParamValue>> params;
  std::vector<DType> dtypes;  // of the leading tensor; the others follow same_as/dtype_combos
  int line = 0;
};

// Modelled work of a call: operations and bytes, counting every pass that the algorithm forces.
struct Work {
  double flops = 0;
  double bytes = 0;
};
// Work that no expression states well. Pure and thread-safe.
using RooflineFormula = std::function<absl::StatusOr<Work>(const CallDesc&)>;

struct Roofline {
  // What does the arithmetic at best: matrix products may use tensor cores.
  enum class Unit : uint8_t { kVector, kTensor };
  Unit unit = Unit::kVector;
  // Named intermediate values, evaluated in order, then the two results.
  std::vector<std::pair<std::string, Expr>> vars;
  std::optional<Expr> flops;
  std::optional<Expr> bytes;
  std::string formula;      // name of a C++ formula instead, empty if none
  RooflineFormula compute;  // that formula, of an embedder's operator; empty: a built-in one
};

struct Tolerance {
  double absolute = 0;
  double relative = 0;
};

enum class OpStatus : uint8_t { kSpecOnly, kImplemented };

struct OpSpec {
  std::string name;
  std::string family;
  std::string reference;  // public API whose semantics it mirrors, or "none"
  std::string formula;    // in words; required where reference is "none"
  std::string source;     // where the definition comes from
  OpStatus status = OpStatus::kSpecOnly;
  std::vector<TensorSpec> inputs;
  std::vector<TensorSpec> outputs;
  std::vector<ParamSpec> params;
  std::vector<std::vector<DType>> dtype_combos;   // each lists inputs then outputs; empty: all
  std::vector<std::pair<std::string, Expr>> let;  // named values the rules may use
  std::vector<Expr> shape_rules;
  std::vector<std::string> static_dims;
  std::vector<std::string> refused;  // documented refusals, in words
  // Outputs that may share memory with an input exactly (same pointer, same layout), by name:
  // {output, input}. Any other overlap of an output with an operand is refused.
  std::vector<std::pair<std::string, std::string>> in_place;
  std::vector<Workload> workloads;
  Roofline roofline;
  std::vector<std::pair<DType, Tolerance>> tolerance;  // overrides of DefaultTolerance
  std::string file;
  int line = 0;

  int input_count() const { return static_cast<int>(inputs.size()); }
  int output_count() const { return static_cast<int>(outputs.size()); }
  std::optional<int> ParamIndex(std::string_view name) const;
  // The input whose dtype a workload names: the first that may be of several, else the first.
  size_t LeadingInput() const;
  // The tensor whose dtype a workload names: the leading input; the first output of an operator
  // that has no inputs.
  const TensorSpec& LeadingTensor() const;
};

// Default tolerance of an output dtype (zero for integers and bool).
Tolerance DefaultTolerance(DType dtype);
Tolerance ToleranceOf(const OpSpec& op, DType dtype);

// Checks a call against the op's contract and returns it normalised: operand counts, dtypes and
// combinations, ranks, dim bindings, shape rules, strides (rank matches; outputs do not overlap
// themselves), params (unknown, missing, wrong kind, normalisation). Outputs are given and checked
// against the inferred shape. InvalidArgument names op, argument, expected and got.
absl::StatusOr<CallDesc> MakeCall(const OpSpec& op, std::span<const Operand> inputs,
                                  std::span<const Operand> outputs,
                                  std::span<const NamedParam> params);

// The same for contiguous operands whose outputs are inferred: used by workloads, shape files, the
// CLI and wrappers that allocate. Inputs absent from `inputs` have present == false. `leading` is
// the dtype of the first output where there are no inputs that it follows from.
absl::StatusOr<CallDesc> InferCall(const OpSpec& op, std::span<const Operand> inputs,
                                   std::span<const NamedParam> params,
                                   std::optional<DType> leading = std::nullopt);

// The call of `workload` at `dtype`.
absl::StatusOr<CallDesc> WorkloadCall(const OpSpec& op, const Workload& workload, DType dtype);

// InvalidArgument where the formula is unknown or an expression cannot be evaluated.
absl::StatusOr<Work> EvaluateRoofline(const CallDesc& call);
// What every workload's work must be: finite and positive.
absl::Status CheckWork(const Work& work);

// The built-in formula of a name; empty if there is none. Formulas are defined beside the
// references in manifest/references/ as
//   TILEWRIGHT_ROOFLINE(PagedAttention)(const CallDesc& call) { ... }
// and found by the build-time generator through that marker.
RooflineFormula BuiltinRoofline(std::string_view formula);

#define TILEWRIGHT_ROOFLINE(formula) absl::StatusOr<Work> Roofline_##formula

// Speed of light in microseconds: max(bytes / bandwidth, flops / peak of the dtype's unit).
// FailedPrecondition where the profile is not calibrated.
struct DeviceProfile;
absl::StatusOr<double> SpeedOfLightUs(const CallDesc& call, const DeviceProfile& device);

// A set of operators. Built-in ones come from generated tables; an embedder's own from YAML.
// Immutable after construction; safe to share between threads.
class Manifest {
 public:
  // Parses one YAML document of operators. Errors read "file:line: op.field: what".
  static absl::StatusOr<Manifest> FromYaml(std::string_view text, std::string_view file);
  // The generated tables; parses no YAML. Each operator is built when it is first asked for, and
  // lives as long as the process. Both give the same objects.
  static const std::vector<OpSpec>& BuiltinOps();
  static const OpSpec* FindBuiltin(std::string_view name);  // null if there is none
  static const std::vector<std::string_view>& BuiltinNames();

  const std::vector<OpSpec>& ops() const { return ops_; }

 private:
  std::vector<OpSpec> ops_;
};

}  // namespace tilewright

#endif  // TILEWRIGHT_MANIFEST_OP_SPEC_H_
