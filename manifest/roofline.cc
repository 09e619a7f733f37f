// Modelled work and speed of light.
#include <algorithm>
#include <cmath>
#include <utility>

#include "manifest/call_scope.h"
#include "manifest/device_profile.h"
#include "manifest/op_spec.h"
#include "manifest/status.h"

namespace tilewright {
namespace {

// A roofline sees the whole call: bound dims, `let` and its own vars.
absl::Status DefineNames(const CallDesc& call, CallScope& scope) {
  const OpSpec& op = *call.op;
  for (size_t i = 0; i < op.inputs.size(); ++i) {
    const std::vector<std::string>& pattern = op.inputs[i].shape_pattern;
    if (!call.operands[i].present) continue;
    for (size_t axis = 0; axis < pattern.size(); ++axis) {
      scope.Define(pattern[axis], call.operands[i].desc.shape[static_cast<int>(axis)]);
    }
  }
  TW_RETURN_IF_ERROR(scope.DefineAll(op.let, "let"));
  return scope.DefineAll(op.roofline.vars, "roofline var");
}

absl::StatusOr<double> Quantity(const CallDesc& call, const CallScope& scope,
                                const std::optional<Expr>& expr, std::string_view what) {
  if (!expr.has_value()) {
    return InvalidArgument(call.op->name, ": roofline.", what, " is not declared");
  }
  const auto fail = [&](std::string_view why) {
    return InvalidArgument(call.op->name, ": roofline.", what, " = ", expr->text(), ": ", why);
  };
  const absl::StatusOr<ExprValue> value = expr->Evaluate(scope);
  if (!value.ok()) return fail(Cat(value.status().message()));
  if (const auto* integer = std::get_if<int64_t>(&*value)) return static_cast<double>(*integer);
  if (const auto* real = std::get_if<double>(&*value)) return *real;
  return fail(Cat("expected a number, got ", ExprValueText(*value)));
}

absl::StatusOr<Work> Evaluated(const CallDesc& call) {
  const OpSpec& op = *call.op;
  const std::string& formula = op.roofline.formula;
  if (!formula.empty()) {
    const RooflineFormula compute =
        op.roofline.compute != nullptr ? op.roofline.compute : BuiltinRoofline(formula);
    if (compute != nullptr) return compute(call);
    return InvalidArgument(op.name, ": roofline.formula: no C++ formula '", formula, "'");
  }
  CallScope scope(call);
  TW_RETURN_IF_ERROR(DefineNames(call, scope));
  Work work;
  TW_ASSIGN_OR_RETURN(work.flops, Quantity(call, scope, op.roofline.flops, "flops"));
  TW_ASSIGN_OR_RETURN(work.bytes, Quantity(call, scope, op.roofline.bytes, "bytes"));
  return work;
}

// Tensor cores take 16-bit operands, and 8-bit ones twice as fast; float32 products stay exact on
// the vector units.
double PeakTflops(const CallDesc& call, const DeviceProfile& device) {
  const DType dtype = call.operands.empty() ? DType::kFloat32 : call.input(0).desc.dtype;
  const bool narrow = IsFloating(dtype) && DTypeSize(dtype) <= 2;
  if (!narrow || call.op->roofline.unit != Roofline::Unit::kTensor) return device.fp32_tflops;
  return device.tensor_tflops_16bit * (DTypeSize(dtype) == 1 ? 2 : 1);
}

}  // namespace

absl::StatusOr<Work> EvaluateRoofline(const CallDesc& call) {
  TW_ASSIGN_OR_RETURN(const Work work, Evaluated(call));
  for (const auto& [value, field] : {std::pair(work.flops, "flops"), {work.bytes, "bytes"}}) {
    if (value < 0) {
      return InvalidArgument(call.op->name, ": roofline.", field, ": expected at least 0, got ",
                             value);
    }
  }
  return work;
}

absl::Status CheckWork(const Work& work) {
  const auto good = [](double value) { return std::isfinite(value) && value > 0; };
  if (good(work.flops) && good(work.bytes)) return absl::OkStatus();
  return InvalidArgument("expected finite flops and bytes above 0, got ", work.flops, " and ",
                         work.bytes);
}

absl::StatusOr<double> SpeedOfLightUs(const CallDesc& call, const DeviceProfile& device) {
  const double tflops = PeakTflops(call, device);
  if (device.bandwidth_gbps <= 0 || tflops <= 0) {
    return FailedPrecondition("device profile ", device.Key(),
                              " is not calibrated; run `tilewright calibrate` on it");
  }
  TW_ASSIGN_OR_RETURN(const Work work, EvaluateRoofline(call));
  return std::max(work.bytes / (device.bandwidth_gbps * 1e3), work.flops / (tflops * 1e6));
}

}  // namespace tilewright
