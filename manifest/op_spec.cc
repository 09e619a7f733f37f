#include "manifest/op_spec.h"

namespace tilewright {

std::optional<int> OpSpec::ParamIndex(std::string_view param) const {
  for (size_t i = 0; i < params.size(); ++i) {
    if (params[i].name == param) return static_cast<int>(i);
  }
  return std::nullopt;
}

size_t OpSpec::LeadingInput() const {
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].dtypes.size() > 1) return i;
  }
  return 0;
}

const TensorSpec& OpSpec::LeadingTensor() const {
  return inputs.empty() ? outputs.front() : inputs[LeadingInput()];
}

// What a correct kernel that computes in float32 and rounds its result once, or sums in another
// order, can differ by from the exact result: a few units in the last place of the output.
Tolerance DefaultTolerance(DType dtype) {
  switch (dtype) {
    case DType::kFloat8E4M3:
      return {0.125, 0.125};
    case DType::kFloat8E5M2:
      return {0.25, 0.25};
    case DType::kFloat16:
      return {1e-3, 1e-3};
    case DType::kBFloat16:
      return {1.6e-2, 1.6e-2};
    case DType::kFloat32:
    case DType::kComplex64:
      return {1e-5, 1.3e-6};
    case DType::kFloat64:
      return {1e-7, 1e-7};
    default:
      return {0, 0};
  }
}

Tolerance ToleranceOf(const OpSpec& op, DType dtype) {
  for (const auto& [overridden, tolerance] : op.tolerance) {
    if (overridden == dtype) return tolerance;
  }
  return DefaultTolerance(dtype);
}

}  // namespace tilewright
