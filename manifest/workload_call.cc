#include "manifest/workload_call.h"

#include <algorithm>
#include <optional>

#include "absl/container/inlined_vector.h"
#include "manifest/nearest_name.h"
#include "manifest/spec_check.h"
#include "manifest/status.h"
#include "manifest/text.h"

namespace tilewright {
namespace {

std::optional<DType> GivenDType(std::span<const NamedDType> given, std::string_view input) {
  for (const auto& [name, dtype] : given) {
    if (name == input) return dtype;
  }
  return std::nullopt;
}

// The dtype of input `index` where the leading input has `leading`: the one given, else by same_as
// (another input, or a dtype parameter that the workload gives), else its only dtype, else by the
// first combination that has `leading` there.
absl::StatusOr<DType> WorkloadDType(const OpSpec& op, const Workload& workload, size_t index,
                                    DType leading, std::span<const NamedDType> given) {
  const TensorSpec& spec = op.inputs[index];
  if (const std::optional<DType> dtype = GivenDType(given, spec.name)) return *dtype;
  if (index == op.LeadingInput()) return leading;
  for (size_t i = 0; i < index; ++i) {
    if (op.inputs[i].name == spec.same_as) return WorkloadDType(op, workload, i, leading, given);
  }
  for (const auto& [name, value] : workload.params) {
    if (name == spec.same_as && value.kind() == ParamValue::Kind::kDType) return value.as_dtype();
  }
  if (spec.dtypes.size() == 1) return spec.dtypes[0];
  for (const std::vector<DType>& combo : op.dtype_combos) {
    if (combo[op.LeadingInput()] == leading) return combo[index];
  }
  return InvalidArgument(op.name, ": input '", spec.name,
                         "': its dtype does not follow from that of the leading input");
}

// `names` are inputs, each given once.
absl::Status CheckInputNames(const OpSpec& op, std::span<const std::string_view> names) {
  for (size_t i = 0; i < names.size(); ++i) {
    const bool known = std::any_of(op.inputs.begin(), op.inputs.end(),
                                   [&](const TensorSpec& spec) { return spec.name == names[i]; });
    if (!known) {
      return InvalidArgument(op.name, ": no input '", Brief(names[i]), "'; it has ",
                             op.inputs.empty() ? "none" : TensorNames(op.inputs),
                             DidYouMean(names[i], NamesOf(op.inputs)));
    }
    const auto before = names.first(i);
    if (std::find(before.begin(), before.end(), names[i]) != before.end()) {
      return InvalidArgument(op.name, ": input '", names[i], "' is given twice");
    }
  }
  return absl::OkStatus();
}

absl::Status CheckNames(const OpSpec& op, const Workload& workload, DType leading,
                        std::span<const NamedDType> given) {
  std::vector<std::string_view> shaped;
  for (const auto& [name, shape] : workload.input_shapes) shaped.push_back(name);
  TW_RETURN_IF_ERROR(CheckInputNames(op, shaped));
  std::vector<std::string_view> typed;
  for (const auto& [name, dtype] : given) typed.push_back(name);
  TW_RETURN_IF_ERROR(CheckInputNames(op, typed));
  for (const auto& [name, dtype] : given) {
    if (std::find(shaped.begin(), shaped.end(), name) == shaped.end()) {
      return InvalidArgument(op.name, ": input '", name, "': expected a shape with its dtype ",
                             DTypeName(dtype), ", got none");
    }
    if (name == op.inputs[op.LeadingInput()].name && dtype != leading) {
      return InvalidArgument(op.name, ": input '", name, "': expected dtype ", DTypeName(leading),
                             ", that of the call, got ", DTypeName(dtype));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<CallDesc> WorkloadCall(const OpSpec& op, const Workload& workload, DType dtype,
                                      std::span<const NamedDType> given) {
  absl::InlinedVector<Operand, 8> inputs;
  TW_RETURN_IF_ERROR(CheckNames(op, workload, dtype, given));
  for (size_t i = 0; i < op.inputs.size(); ++i) {
    const TensorSpec& spec = op.inputs[i];
    Operand operand;
    operand.present = false;
    for (const auto& [name, shape] : workload.input_shapes) {
      if (name != spec.name) continue;
      operand.present = true;
      operand.desc = TensorDesc::Contiguous(dtype, shape);
    }
    TW_ASSIGN_OR_RETURN(operand.desc.dtype, WorkloadDType(op, workload, i, dtype, given));
    inputs.push_back(operand);
  }
  std::vector<NamedParam> params;
  for (const auto& [name, value] : workload.params) params.push_back({name, value});
  absl::StatusOr<CallDesc> call = InferCall(op, inputs, params, dtype);
  if (call.ok() || workload.label.empty()) return call;
  return InvalidArgument("workload '", workload.label, "' at ", DTypeName(dtype), ": ",
                         call.status().message());
}

absl::StatusOr<CallDesc> WorkloadCall(const OpSpec& op, const Workload& workload, DType dtype) {
  return WorkloadCall(op, workload, dtype, {});
}

}  // namespace tilewright
