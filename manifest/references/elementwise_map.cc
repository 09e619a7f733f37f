#include "manifest/references/elementwise_map.h"

namespace tilewright {

int64_t BroadcastOffset(const TensorDesc& desc, const Dims& coordinates) {
  const int skipped = coordinates.rank() - desc.rank();
  int64_t offset = 0;
  for (int axis = 0; axis < desc.rank(); ++axis) {
    if (desc.shape[axis] != 1) offset += coordinates[skipped + axis] * desc.strides[axis];
  }
  return offset;
}

InputElements ElementsAt(const ReferenceCall& call, const Dims& coordinates) {
  InputElements result{*call.call};
  for (size_t i = 0; i < call.inputs.size(); ++i) {
    const Operand& operand = call.call->operands[i];
    if (!operand.present) continue;
    const int64_t offset = BroadcastOffset(operand.desc, coordinates);
    if (IsFloating(operand.desc.dtype)) {
      result.x[i].f = LoadAsDouble(call.inputs[i].data, operand.desc.dtype, offset);
    } else {
      result.x[i].i = LoadAsInt(call.inputs[i].data, operand.desc.dtype, offset);
    }
  }
  return result;
}

int64_t WrapTo(DType dtype, int64_t value) {
  int64_t stored = 0;
  StoreFromInt(&stored, dtype, 0, value);
  return LoadAsInt(&stored, dtype, 0);
}

std::vector<Workload> UnaryEdges(std::vector<std::pair<std::string, ParamValue>> params) {
  const std::pair<const char*, Dims> shapes[] = {{"primes", {127, 61}},
                                                 {"one", {1}},
                                                 {"rank-0", {}},
                                                 {"many", {200003}},
                                                 {"many-rows", {70001, 3}},
                                                 {"rank-5", {2, 3, 5, 7, 11}},
                                                 {"row-of-46", {9, 46}},
                                                 {"plus-one", {3, 4097}},
                                                 {"minus-one", {1023}},
                                                 {"empty", {0, 3}}};
  std::vector<Workload> cases;
  for (const auto& [label, shape] : shapes) {
    Workload& entry = cases.emplace_back();
    entry.label = label;
    entry.input_shapes = {{"input", shape}};
    entry.params = params;
  }
  return cases;
}

std::vector<Workload> BinaryEdges(const char* first, const char* second,
                                  std::vector<std::pair<std::string, ParamValue>> params) {
  struct Problem {
    const char* label;
    Dims first, second;
  };
  const Problem problems[] = {{"primes", {127, 61}, {127, 61}},
                              {"one", {1}, {1}},
                              {"rank-0", {}, {}},
                              {"two-way-broadcast", {3, 1}, {1, 4}},
                              {"scalar-second", {5, 7}, {}},
                              {"scalar-first", {}, {5, 7}},
                              {"row-broadcast", {513, 46}, {46}},
                              {"interleaved", {2, 1, 5, 1}, {1, 3, 1, 7}},
                              {"many", {200003}, {200003}},
                              {"many-rows", {70001, 3}, {3}},
                              {"empty", {0, 3}, {1, 3}}};
  std::vector<Workload> cases;
  for (const Problem& problem : problems) {
    Workload& entry = cases.emplace_back();
    entry.label = problem.label;
    entry.input_shapes = {{first, problem.first}, {second, problem.second}};
    entry.params = params;
  }
  return cases;
}

std::vector<Workload> TernaryEdges(const char* first, const char* second, const char* third) {
  struct Problem {
    const char* label;
    Dims first, second, third;
  };
  const Problem problems[] = {{"primes", {127, 61}, {127, 61}, {127, 61}},
                              {"rank-0", {}, {}, {}},
                              {"three-way-broadcast", {3, 1, 1}, {4, 1}, {5}},
                              {"scalar-third", {5, 7}, {5, 7}, {}},
                              {"scalar-first", {}, {5, 7}, {7}},
                              {"row-broadcast", {513, 46}, {46}, {513, 1}},
                              {"many", {200003}, {200003}, {200003}},
                              {"many-rows", {70001, 3}, {3}, {1}},
                              {"plus-one", {3, 4097}, {3, 4097}, {4097}},
                              {"empty", {0, 3}, {1, 3}, {3}}};
  std::vector<Workload> cases;
  for (const Problem& problem : problems) {
    Workload& entry = cases.emplace_back();
    entry.label = problem.label;
    entry.input_shapes = {{first, problem.first}, {second, problem.second}, {third, problem.third}};
  }
  return cases;
}

}  // namespace tilewright
