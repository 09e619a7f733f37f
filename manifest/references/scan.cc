#include <cmath>

#include "manifest/edge_cases.h"
#include "manifest/references/axis_cases.h"
#include "manifest/references/element_access.h"

namespace tilewright {
namespace {

// Prefixes along one axis: sums or products.
absl::Status Scan(const ReferenceCall& call, bool product, std::span<const int64_t> elements,
                  std::span<RefScalar> values) {
  const TensorDesc& x = call.call->input(0).desc;
  const int axis = static_cast<int>(call.call->params[0].as_int());
  const int64_t extent = x.rank() == 0 ? 1 : x.shape[axis];
  const int64_t stride = x.rank() == 0 ? 0 : x.strides[axis];
  std::vector<int64_t> positions;
  std::vector<int64_t> lines;  // where each element's line starts
  for (const int64_t element : elements) {
    const Dims at = CoordinatesOf(x.shape, element);
    positions.push_back(x.rank() == 0 ? 0 : at[axis]);
    lines.push_back(OffsetOf(x, at) - positions.back() * stride);
  }
  std::vector<RefScalar> prefixes;
  int64_t line = 0;
  for (const size_t i : GroupedOrder(lines)) {
    if (prefixes.empty() || lines[i] != line) {
      line = lines[i];
      prefixes.clear();
      RefScalar prefix;
      prefix.f = product ? 1 : 0;
      for (const double value : LoadLine(call.inputs[0].data, x.dtype, line, stride, extent)) {
        prefix.f = product ? prefix.f * value : prefix.f + value;
        prefix.magnitude += product ? 0 : std::fabs(value);
        prefixes.push_back(prefix);
      }
    }
    values[i] = prefixes[static_cast<size_t>(positions[i])];
  }
  return absl::OkStatus();
}

std::vector<Workload> ScanCases() {
  const AxisCase own[] = {{"rank-0", {}, 0},
                          {"rank-1", {1000}, 0},
                          {"eight", {8}, -1},
                          {"middle", {3, 129, 7}, 1},
                          {"middle-dense", {3, 130, 64}, 1},
                          {"large-others", {2, 1280, 1280}, 0},
                          {"one-column", {72192, 1, 3}, 0},
                          {"long-aligned", {2, 65536}, 1},
                          {"million", {1, 1 << 20}, 1}};
  return AxisCases(own);
}

}  // namespace

// torch.cumsum.
TILEWRIGHT_REFERENCE(CumsumFwdOp)
(const ReferenceCall& call, int /*output*/, std::span<const int64_t> elements,
 std::span<RefScalar> values) {
  return Scan(call, false, elements, values);
}

TILEWRIGHT_EDGE_CASES(CumsumFwdOp) { return ScanCases(); }

// torch.cumprod.
TILEWRIGHT_REFERENCE(CumprodFwdOp)
(const ReferenceCall& call, int /*output*/, std::span<const int64_t> elements,
 std::span<RefScalar> values) {
  return Scan(call, true, elements, values);
}

TILEWRIGHT_EDGE_CASES(CumprodFwdOp) { return ScanCases(); }

}  // namespace tilewright
