#include <cmath>

#include "manifest/references/element_access.h"
#include "manifest/status.h"

namespace tilewright {
namespace {

// The offset of an operand that broadcasts to `coordinates` of the output.
int64_t BroadcastOffset(const TensorDesc& desc, const Dims& coordinates) {
  const int skipped = coordinates.rank() - desc.rank();
  int64_t offset = 0;
  for (int axis = 0; axis < desc.rank(); ++axis) {
    if (desc.shape[axis] != 1) offset += coordinates[skipped + axis] * desc.strides[axis];
  }
  return offset;
}

// a + alpha * b in an integer dtype, wrapping; a or (alpha and b) for bool.
int64_t AddExact(DType dtype, int64_t a, int64_t alpha, int64_t b) {
  if (dtype == DType::kBool) return a != 0 || (alpha != 0 && b != 0) ? 1 : 0;
  const uint64_t sum =
      static_cast<uint64_t>(a) + static_cast<uint64_t>(alpha) * static_cast<uint64_t>(b);
  int64_t stored = 0;
  StoreFromInt(&stored, dtype, 0, static_cast<int64_t>(sum));
  return LoadAsInt(&stored, dtype, 0);
}

}  // namespace

// torch.add: input + alpha * other, broadcasting; "or" for bool.
TILEWRIGHT_REFERENCE(AddFwdOp)
(const ReferenceCall& call, int /*output*/, std::span<const int64_t> elements,
 std::span<RefScalar> values) {
  const TensorDesc& input = call.call->input(0).desc;
  const TensorDesc& other = call.call->input(1).desc;
  const Dims& shape = call.call->output(0).desc.shape;
  const ParamValue& alpha = call.call->params[0];
  const bool floating = IsFloating(input.dtype);
  if (!floating && alpha.kind() == ParamValue::Kind::kFloat) {
    return InvalidArgument("AddFwdOp: alpha: expected an integer for ", DTypeName(input.dtype),
                           ", got ", alpha.as_float());
  }
  for (size_t i = 0; i < elements.size(); ++i) {
    const Dims at = CoordinatesOf(shape, elements[i]);
    const int64_t a = BroadcastOffset(input, at);
    const int64_t b = BroadcastOffset(other, at);
    if (floating) {
      values[i].f = LoadAsDouble(call.inputs[0].data, input.dtype, a) +
                    alpha.as_float() * LoadAsDouble(call.inputs[1].data, other.dtype, b);
      continue;
    }
    const int64_t left = LoadAsInt(call.inputs[0].data, input.dtype, a);
    const int64_t right = LoadAsInt(call.inputs[1].data, other.dtype, b);
    values[i].i = AddExact(input.dtype, left, alpha.as_int(), right);
  }
  return absl::OkStatus();
}

// silu(x[:, :N]) * x[:, N:].
TILEWRIGHT_REFERENCE(SiluAndMulFwdOp)
(const ReferenceCall& call, int /*output*/, std::span<const int64_t> elements,
 std::span<RefScalar> values) {
  const TensorDesc& x = call.call->input(0).desc;
  const int64_t n = call.call->output(0).desc.shape[1];
  for (size_t i = 0; i < elements.size(); ++i) {
    const int64_t row = elements[i] / n;
    const int64_t column = elements[i] % n;
    const double gate =
        LoadAsDouble(call.inputs[0].data, x.dtype, row * x.strides[0] + column * x.strides[1]);
    const double up = LoadAsDouble(call.inputs[0].data, x.dtype,
                                   row * x.strides[0] + (n + column) * x.strides[1]);
    values[i].f = gate / (1 + std::exp(-gate)) * up;
  }
  return absl::OkStatus();
}

}  // namespace tilewright
