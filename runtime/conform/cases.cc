#include "runtime/conform/cases.h"

#include <algorithm>
#include <array>
#include <set>
#include <span>
#include <string_view>

#include "manifest/edge_cases.h"
#include "manifest/input_values.h"
#include "manifest/status.h"

namespace tilewright {
namespace {

enum class Layout : uint8_t {
  kDense,
  kMisaligned,
  kPadded,
  kGapped,
  kTransposed,
  kExpanded,
  kReversed
};
constexpr std::array<std::pair<Layout, std::string_view>, 6> kLayouts = {{
    {Layout::kMisaligned, "+misaligned"},
    {Layout::kPadded, "+padded"},
    {Layout::kGapped, "+gapped"},
    {Layout::kTransposed, "+transposed"},
    {Layout::kExpanded, "+expanded"},
    {Layout::kReversed, "+reversed"},
}};
constexpr int64_t kPadElements = 3;

// Dense strides with the axes in the given order, innermost first; each step also pads.
Dims StridesInOrder(const Dims& shape, bool reversed, int64_t innermost, int64_t pad) {
  Dims strides = shape;
  int64_t stride = innermost;
  for (int i = 0; i < shape.rank(); ++i) {
    const int axis = reversed ? i : shape.rank() - 1 - i;
    strides[axis] = stride;
    stride *= shape[axis] + (i == 0 ? pad : 0);
  }
  return strides;
}

// `fixed`: the operator makes this input's values itself, or writes it.
void ApplyLayout(Layout layout, bool is_input, bool fixed, Operand& operand) {
  TensorDesc& desc = operand.desc;
  const auto element_bytes = static_cast<uint32_t>(DTypeSize(desc.dtype));
  switch (layout) {
    case Layout::kDense:
      break;
    case Layout::kMisaligned:
      operand.alignment = element_bytes;
      break;
    case Layout::kPadded:
      desc.strides = StridesInOrder(desc.shape, false, 1, kPadElements);
      break;
    case Layout::kGapped:
      desc.strides = StridesInOrder(desc.shape, false, 2, 0);
      break;
    case Layout::kTransposed:
      desc.strides = StridesInOrder(desc.shape, true, 1, 0);
      break;
    case Layout::kExpanded:
      // Such values need room to differ.
      if (is_input && !fixed && desc.rank() > 0) desc.strides[0] = 0;
      break;
    case Layout::kReversed:
      for (int axis = 0; axis < desc.rank(); ++axis) desc.strides[axis] = -desc.strides[axis];
      break;
  }
}

absl::StatusOr<ConformCase> MakeCase(const OpSpec& op, const Workload& workload, DType dtype,
                                     std::string name) {
  ConformCase result;
  result.name = std::move(name);
  result.dtype = dtype;
  result.params = workload.params;
  TW_ASSIGN_OR_RETURN(result.call, WorkloadCall(op, workload, dtype));
  return result;
}

void AddLayouts(const OpSpec& op, const ConformCase& dense, std::vector<ConformCase>& cases) {
  const bool chooses = static_cast<bool>(BuiltinInputs(op.name));
  for (const auto& [layout, suffix] : kLayouts) {
    ConformCase variant = dense;
    variant.name += suffix;
    for (int i = 0; i < static_cast<int>(variant.call.operands.size()); ++i) {
      Operand& operand = variant.call.operands[static_cast<size_t>(i)];
      const bool is_input = i < op.input_count();
      const bool written = is_input && op.inputs[static_cast<size_t>(i)].mutated;
      ApplyLayout(layout, is_input, written || (chooses && !IsFloating(operand.desc.dtype)),
                  operand);
    }
    // The contract decides on views as well; what it refuses is no case.
    const std::span<const Operand> all(variant.call.operands.data(), variant.call.operands.size());
    const auto inputs = static_cast<size_t>(op.input_count());
    const auto checked =
        MakeCall(op, all.first(inputs), all.subspan(inputs), variant.NamedParams());
    if (!checked.ok()) continue;
    variant.call = *checked;
    cases.push_back(std::move(variant));
  }
}

}  // namespace

std::vector<NamedParam> ConformCase::NamedParams() const {
  std::vector<NamedParam> named;
  for (const auto& [param, value] : params) named.push_back({param, value});
  return named;
}

absl::StatusOr<std::vector<ConformCase>> ConformCases(const OpSpec& op) {
  std::vector<ConformCase> cases;
  for (const Workload& workload : op.workloads) {
    for (const DType dtype : workload.dtypes) {
      TW_ASSIGN_OR_RETURN(ConformCase entry,
                          MakeCase(op, workload, dtype, "workload/" + workload.label));
      entry.is_workload = true;
      cases.push_back(std::move(entry));
    }
  }
  const std::vector<DType>& allowed = op.LeadingTensor().dtypes;
  const std::vector<Workload> edges = BuiltinEdgeCases(op.name);
  std::set<DType> viewed;
  for (size_t i = 0; i < edges.size(); ++i) {
    const std::vector<DType>& dtypes = edges[i].dtypes.empty() ? allowed : edges[i].dtypes;
    for (const DType dtype : allowed) {
      if (std::find(dtypes.begin(), dtypes.end(), dtype) == dtypes.end()) continue;
      TW_ASSIGN_OR_RETURN(ConformCase entry,
                          MakeCase(op, edges[i], dtype, "edge/" + edges[i].label));
      cases.push_back(std::move(entry));
      if (viewed.insert(dtype).second) AddLayouts(op, ConformCase(cases.back()), cases);
    }
  }
  return cases;
}

}  // namespace tilewright
