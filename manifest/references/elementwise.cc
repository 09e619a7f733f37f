#include <cmath>

#include "manifest/edge_cases.h"
#include "manifest/references/elementwise_map.h"
#include "manifest/status.h"

namespace tilewright {
namespace {

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

TILEWRIGHT_EDGE_CASES(AddFwdOp) {
  struct Problem {
    const char* label;
    Dims input, other;
    ParamValue alpha = 1;
  };
  const Problem problems[] = {{"primes", {127, 61}, {127, 61}},
                              {"one", {1}, {1}},
                              {"rank-0", {}, {}},
                              {"two-way-broadcast", {3, 1}, {1, 4}},
                              {"scalar-other", {5, 7}, {}},
                              {"scalar-input", {}, {5, 7}},
                              {"rank-broadcast", {2, 3, 129}, {3, 1}},
                              {"row-broadcast", {513, 46}, {46}},
                              {"interleaved", {2, 1, 5, 1}, {1, 3, 1, 7}},
                              {"rank-8", {2, 1, 2, 1, 2, 1, 2, 1}, {1, 3, 1, 3, 1, 3, 1, 3}},
                              {"alpha-minus-3", {64, 33}, {64, 33}, -3},
                              {"alpha-zero", {64, 33}, {64, 33}, 0},
                              {"many", {1000003}, {1000003}},
                              {"many-rows", {70001, 3}, {3}},
                              {"empty", {0, 3}, {1, 3}},
                              {"empty-broadcast", {1}, {0}},
                              {"past-2-31", {65536, 1}, {1, 32784}},
                              {"alpha-half", {64, 33}, {33}, 0.5}};
  std::vector<Workload> cases;
  for (const Problem& problem : problems) {
    Workload& entry = cases.emplace_back();
    entry.label = problem.label;
    entry.input_shapes = {{"input", problem.input}, {"other", problem.other}};
    entry.params = {{"alpha", problem.alpha}};
    if (problem.alpha.kind() == ParamValue::Kind::kFloat) {
      entry.dtypes = {DType::kFloat16, DType::kBFloat16, DType::kFloat32};
    }
    // More than 2^31 elements of output from little input; of one byte each.
    if (entry.label == "past-2-31") entry.dtypes = {DType::kInt8};
  }
  return cases;
}

}  // namespace tilewright
