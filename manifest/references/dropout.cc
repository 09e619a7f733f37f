#include <array>
#include <cmath>

#include "manifest/edge_cases.h"
#include "manifest/references/element_access.h"

namespace tilewright {
namespace {

// Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011): word
// index % 4 of block index / 4 of the stream of `key`.
uint32_t PhiloxWord(uint64_t key, uint64_t index) {
  const uint64_t counter = index / 4;
  std::array<uint32_t, 4> x = {static_cast<uint32_t>(counter), static_cast<uint32_t>(counter >> 32),
                               0, 0};
  auto key_low = static_cast<uint32_t>(key);
  auto key_high = static_cast<uint32_t>(key >> 32);
  for (int round = 0; round < 10; ++round) {
    const uint64_t a = uint64_t{0xd2511f53} * x[0];
    const uint64_t b = uint64_t{0xcd9e8d57} * x[2];
    x = {static_cast<uint32_t>(b >> 32) ^ x[1] ^ key_low, static_cast<uint32_t>(b),
         static_cast<uint32_t>(a >> 32) ^ x[3] ^ key_high, static_cast<uint32_t>(a)};
    key_low += 0x9e3779b9;
    key_high += 0xbb67ae85;
  }
  return x[index % 4];
}

}  // namespace

// Params: p, seed, offset, training; input 1 holds what is added to seed and offset.
TILEWRIGHT_REFERENCE(DropoutFwdOp)
(const ReferenceCall& call, int /*output*/, std::span<const int64_t> elements,
 std::span<RefScalar> values) {
  const CallDesc& desc = *call.call;
  const double p = desc.params[0].as_float();
  auto seed = static_cast<uint64_t>(desc.params[1].as_int());
  auto offset = static_cast<uint64_t>(desc.params[2].as_int());
  const Operand& state = desc.input(1);
  if (state.present) {
    const int64_t step = state.desc.strides[0];
    seed += static_cast<uint64_t>(LoadAsInt(call.inputs[1].data, state.desc.dtype, 0));
    offset += static_cast<uint64_t>(LoadAsInt(call.inputs[1].data, state.desc.dtype, step));
  }
  const TensorDesc& input = desc.input(0).desc;
  for (size_t k = 0; k < elements.size(); ++k) {
    const double x = LoadAsDouble(call.inputs[0].data, input.dtype, OffsetAt(input, elements[k]));
    if (!desc.params[3].as_bool() || p == 0) {
      values[k].f = x;
      continue;
    }
    const uint32_t word = PhiloxWord(seed, offset + static_cast<uint64_t>(elements[k]));
    values[k].f = x * (word < std::floor(p * 0x1p32) ? 0 : p < 1 ? 1 / (1 - p) : 0);
  }
  return absl::OkStatus();
}

TILEWRIGHT_EDGE_CASES(DropoutFwdOp) {
  struct Problem {
    const char* label;
    Dims shape;
    bool state;
    double p;
    bool training = true;
    int64_t seed = 42, offset = 0;
  };
  const Problem problems[] = {{"primes", {127, 61}, false, 0.25},
                              {"state", {64, 46}, true, 0.5},
                              {"one", {1}, false, 0.5},
                              {"rank-0", {}, true, 0.5},
                              {"p-zero", {64, 33}, false, 0.0},
                              {"p-one", {64, 33}, false, 1.0},
                              {"p-tiny", {200003}, false, 1e-4},
                              {"p-near-one", {200003}, false, 0.9999},
                              {"inference", {64, 33}, true, 0.5, false},
                              {"offset", {1023}, false, 0.5, true, -7, 1000003},
                              {"offset-past-2-32", {3, 4097}, true, 0.75, true, 7, 0x7ffffffff},
                              {"offset-wraps", {127, 64}, false, 0.5, true, 1, -2},
                              {"many-rows", {70001, 3}, false, 0.5},
                              {"rank-5", {2, 3, 5, 7, 11}, false, 0.5},
                              {"empty", {0, 3}, false, 0.5}};
  std::vector<Workload> cases;
  for (const Problem& problem : problems) {
    Workload& entry = cases.emplace_back();
    entry.label = problem.label;
    entry.input_shapes = {{"input", problem.shape}};
    if (problem.state) entry.input_shapes.emplace_back("state", Dims{2});
    entry.params = {{"p", problem.p},
                    {"seed", problem.seed},
                    {"offset", problem.offset},
                    {"training", problem.training}};
  }
  return cases;
}

}  // namespace tilewright
