#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <random>

#include "manifest/edge_cases.h"
#include "manifest/input_values.h"
#include "manifest/references/element_access.h"

namespace tilewright {
namespace {

// Radians per position of each pair.
using Frequencies = std::vector<double>;

double Param(const ReferenceCall& call, size_t index) {
  return call.call->params[index].as_float();
}

Frequencies PlainFrequencies(double base, int64_t pairs) {
  Frequencies result(static_cast<size_t>(pairs));
  for (size_t k = 0; k < result.size(); ++k) {
    result[k] = 1 / std::pow(base, static_cast<double>(k) / static_cast<double>(pairs));
  }
  return result;
}

// Long waves are stretched by a factor, short ones kept, those between interpolated.
double Llama31Scaled(double frequency, const ReferenceCall& call) {
  const double factor = Param(call, 1), low = Param(call, 2), high = Param(call, 3);
  const double waves = Param(call, 4) * frequency / (2 * M_PI);  // within the original length
  if (waves > high) return frequency;
  if (waves < low) return frequency / factor;
  const double smooth = (waves - low) / (high - low);
  return (1 - smooth) * frequency / factor + smooth * frequency;
}

Frequencies YarnFrequencies(const ReferenceCall& call, int64_t pairs) {
  const double base = Param(call, 0);
  const auto count = static_cast<double>(pairs);
  const auto correction = [&](double rotations) {
    return count * std::log(Param(call, 2) / (rotations * 2 * M_PI)) / (2 * std::log(base));
  };
  const double low = std::max(std::floor(correction(Param(call, 3))), 0.0);
  double high = std::min(std::ceil(correction(Param(call, 4))), count - 1);
  if (low == high) ++high;
  Frequencies kept = PlainFrequencies(base, pairs);
  const Frequencies slowed = PlainFrequencies(Param(call, 1) * base, pairs);
  for (size_t k = 0; k < kept.size(); ++k) {
    const double mask = 1 - std::clamp((static_cast<double>(k) - low) / (high - low), 0.0, 1.0);
    kept[k] = slowed[k] * (1 - mask) + kept[k] * mask;
  }
  return kept;
}

// One operator: which columns pair, how many rotate, where a token is and how fast pairs turn.
struct Form {
  bool halves = true;
  int64_t rotated = 0;
  double amplitude = 1;
  Frequencies frequencies;
  std::function<double(const Dims&)> position;  // of the element at these coordinates
};

// x of (position, column) or (batch, position, head, column).
Form FormOf(const ReferenceCall& call, Frequencies frequencies) {
  const int axis = call.call->input(0).desc.rank() == 2 ? 0 : 1;
  Form form;
  form.rotated = 2 * static_cast<int64_t>(frequencies.size());
  form.frequencies = std::move(frequencies);
  form.position = [axis](const Dims& at) { return static_cast<double>(at[axis]); };
  return form;
}

int64_t PairsOf(const ReferenceCall& call) {
  const Dims& shape = call.call->input(0).desc.shape;
  return shape[shape.rank() - 1] / 2;
}

absl::Status Rotate(const ReferenceCall& call, std::span<const int64_t> elements,
                    std::span<RefScalar> values, const Form& form) {
  const TensorDesc& x = call.call->input(0).desc;
  const int last = x.rank() - 1;
  const int64_t pairs = form.rotated / 2;
  for (size_t i = 0; i < elements.size(); ++i) {
    Dims at = CoordinatesOf(x.shape, elements[i]);
    const int64_t column = at[last];
    const double own = LoadAsDouble(call.inputs[0].data, x.dtype, OffsetOf(x, at));
    if (column >= form.rotated) {
      values[i].f = own;
      continue;
    }
    const bool first = form.halves ? column < pairs : column % 2 == 0;
    const int64_t pair = form.halves ? column % pairs : column / 2;
    at[last] = form.halves ? (column + pairs) % form.rotated : column ^ 1;
    const double other = LoadAsDouble(call.inputs[0].data, x.dtype, OffsetOf(x, at));
    const double angle = form.position(at) * form.frequencies[static_cast<size_t>(pair)];
    const double cosine = form.amplitude * std::cos(angle);
    const double sine = form.amplitude * std::sin(angle);
    values[i].f = own * cosine + (first ? -other : other) * sine;
    // Cosine and sine are off by an absolute error, also where they cross zero.
    values[i].magnitude = std::fabs(form.amplitude) * (std::fabs(own) + std::fabs(other));
  }
  return absl::OkStatus();
}

std::vector<Workload> RopeEdges(std::vector<std::pair<std::string, ParamValue>> params = {}) {
  const std::pair<const char*, Dims> shapes[] = {{"primes", {2, 61, 3, 14}},
                                                 {"one-pair", {1, 2}},
                                                 {"one-token", {1, 128}},
                                                 {"row-of-46", {9, 46}},
                                                 {"d64", {127, 64}},
                                                 {"d128-heads", {2, 33, 5, 128}},
                                                 {"d512", {1, 7, 2, 512}},
                                                 {"d96", {1, 17, 3, 96}},
                                                 {"many-tokens", {70001, 4}},
                                                 {"many-heads", {1, 3, 4097, 8}},
                                                 {"far-positions", {200003, 2}},
                                                 {"empty", {0, 64}}};
  std::vector<Workload> cases;
  for (const auto& [label, shape] : shapes) {
    Workload& entry = cases.emplace_back();
    entry.label = label;
    entry.input_shapes = {{"x", shape}};
    entry.params = params;
  }
  return cases;
}

}  // namespace

TILEWRIGHT_REFERENCE(RopeNeoxFwdOp)
(const ReferenceCall& call, int /*output*/, std::span<const int64_t> elements,
 std::span<RefScalar> values) {
  return Rotate(call, elements, values,
                FormOf(call, PlainFrequencies(Param(call, 0), PairsOf(call))));
}
TILEWRIGHT_EDGE_CASES(RopeNeoxFwdOp) { return RopeEdges(); }

TILEWRIGHT_REFERENCE(RopeNonNeoxFwdOp)
(const ReferenceCall& call, int /*output*/, std::span<const int64_t> elements,
 std::span<RefScalar> values) {
  Form form = FormOf(call, PlainFrequencies(Param(call, 0), PairsOf(call)));
  form.halves = false;
  return Rotate(call, elements, values, form);
}
TILEWRIGHT_EDGE_CASES(RopeNonNeoxFwdOp) { return RopeEdges({{"base", 500000.0}}); }

TILEWRIGHT_REFERENCE(RopeLlama31FwdOp)
(const ReferenceCall& call, int /*output*/, std::span<const int64_t> elements,
 std::span<RefScalar> values) {
  Frequencies frequencies = PlainFrequencies(Param(call, 0), PairsOf(call));
  for (double& frequency : frequencies) frequency = Llama31Scaled(frequency, call);
  return Rotate(call, elements, values, FormOf(call, std::move(frequencies)));
}
TILEWRIGHT_EDGE_CASES(RopeLlama31FwdOp) { return RopeEdges(); }

TILEWRIGHT_REFERENCE(RopeYarnFwdOp)
(const ReferenceCall& call, int /*output*/, std::span<const int64_t> elements,
 std::span<RefScalar> values) {
  Form form = FormOf(call, YarnFrequencies(call, PairsOf(call)));
  form.amplitude = Param(call, 5);
  return Rotate(call, elements, values, form);
}
TILEWRIGHT_EDGE_CASES(RopeYarnFwdOp) { return RopeEdges({{"attn_factor", 1.25}}); }

// Input 1: factors that multiply the wavelengths.
TILEWRIGHT_REFERENCE(RopeLongRopeFwdOp)
(const ReferenceCall& call, int /*output*/, std::span<const int64_t> elements,
 std::span<RefScalar> values) {
  Form form = FormOf(call, PlainFrequencies(Param(call, 0), PairsOf(call)));
  const Operand& factors = call.call->input(1);
  for (size_t k = 0; factors.present && k < form.frequencies.size(); ++k) {
    form.frequencies[k] /= LoadAsDouble(call.inputs[1].data, factors.desc.dtype,
                                        static_cast<int64_t>(k) * factors.desc.strides[0]);
  }
  const double longer = Param(call, 1) / Param(call, 2);
  if (longer > 1) form.amplitude = std::sqrt(1 + std::log(longer) / std::log(Param(call, 2)));
  return Rotate(call, elements, values, form);
}
TILEWRIGHT_EDGE_CASES(RopeLongRopeFwdOp) {
  std::vector<Workload> cases = RopeEdges({{"max_position_embeddings", 131072}});
  for (Workload& entry : cases) {
    const Dims& shape = entry.input_shapes[0].second;
    const Dims factors = {shape[shape.rank() - 1] / 2};
    if (entry.label != "d64") entry.input_shapes.emplace_back("rescale_factors", factors);
  }
  return cases;
}
// Factors from 1 to 64.
TILEWRIGHT_INPUTS(RopeLongRopeFwdOp)(const InputRequest& request) {
  const TensorDesc& factors = request.call->input(1).desc;
  if (!request.call->input(1).present || request.data[1] == nullptr) return absl::OkStatus();
  std::mt19937_64 random(request.seed);
  for (int64_t k = 0; k < factors.shape[0]; ++k) {
    const double factor = std::exp2(static_cast<double>(random() % 6145) / 1024);
    StoreFromDouble(request.data[1], factors.dtype, k * factors.strides[0], factor);
  }
  return absl::OkStatus();
}

// Params: max_position, base, rotary_dim.
TILEWRIGHT_REFERENCE(RopeNeoxPositionIdsFwdOp)
(const ReferenceCall& call, int /*output*/, std::span<const int64_t> elements,
 std::span<RefScalar> values) {
  const ParamValue& rotary_dim = call.call->params[2];
  const int64_t pairs = rotary_dim.is_null() ? PairsOf(call) : rotary_dim.as_int() / 2;
  Form form = FormOf(call, PlainFrequencies(Param(call, 1), pairs));
  const TensorDesc& ids = call.call->input(1).desc;
  form.position = [&](const Dims& at) {
    return static_cast<double>(LoadAsInt(call.inputs[1].data, ids.dtype, at[0] * ids.strides[0]));
  };
  return Rotate(call, elements, values, form);
}
TILEWRIGHT_EDGE_CASES(RopeNeoxPositionIdsFwdOp) {
  struct Problem {
    const char* label;
    int64_t tokens, heads, width;
    ParamValue rotary_dim = {};
    int64_t max_position = 8192;
  };
  const Problem problems[] = {
      {"primes", 61, 3, 14},          {"one", 1, 1, 2},
      {"partial", 33, 5, 128, 64},    {"partial-odd", 17, 3, 46, 10},
      {"partial-small", 9, 2, 64, 2}, {"d128", 129, 8, 128},
      {"d96", 17, 3, 96, 48},         {"far", 257, 4, 64, {}, int64_t{1} << 31},
      {"many-tokens", 70001, 1, 8},   {"empty", 0, 4, 64}};
  std::vector<Workload> cases;
  for (const Problem& problem : problems) {
    Workload& entry = cases.emplace_back();
    entry.label = problem.label;
    entry.input_shapes = {{"x", {problem.tokens, problem.heads, problem.width}},
                          {"position_ids", {problem.tokens}}};
    entry.params = {{"max_position", problem.max_position}, {"rotary_dim", problem.rotary_dim}};
  }
  return cases;
}
// Positions below max_position, the last one among them.
TILEWRIGHT_INPUTS(RopeNeoxPositionIdsFwdOp)(const InputRequest& request) {
  const TensorDesc& ids = request.call->input(1).desc;
  if (request.data[1] == nullptr) return absl::OkStatus();
  const int64_t largest = ids.dtype == DType::kInt32 ? std::numeric_limits<int32_t>::max()
                                                     : std::numeric_limits<int64_t>::max();
  const int64_t limit = std::min(request.call->params[0].as_int(), largest);
  std::mt19937_64 random(request.seed);
  for (int64_t i = 0; i < ids.shape[0]; ++i) {
    const auto draw = static_cast<int64_t>(random() % static_cast<uint64_t>(limit));
    StoreFromInt(request.data[1], ids.dtype, i * ids.strides[0], i == 0 ? limit - 1 : draw);
  }
  return absl::OkStatus();
}

}  // namespace tilewright
