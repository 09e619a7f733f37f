// References of positions of extremes, and of counts of what is not 0.
#include <algorithm>
#include <cmath>
#include <functional>

#include "manifest/references/reduced_rows.h"

namespace tilewright {
namespace {

using Row = std::vector<double>;

// The first NaN, else the first of the best.
template <class Better>
RefScalar FirstBest(const Row& row, Better better) {
  size_t best = 0;
  for (size_t i = 0; i < row.size(); ++i) {
    if (std::isnan(row[i])) return {0, static_cast<int64_t>(i)};
    if (better(row[i], row[best])) best = i;
  }
  return {0, static_cast<int64_t>(best)};
}

int64_t CountOf(const Row& nonzero) { return std::count(nonzero.begin(), nonzero.end(), 1.0); }

template <class Function>
absl::Status ReduceNonzeros(const ReferenceCall& call, EmptyAxes empty,
                            std::span<const int64_t> elements, std::span<RefScalar> values,
                            Function function) {
  const Dims axes = ReducedAxes(*call.call, 0, empty);
  for (size_t k = 0; k < elements.size(); ++k) {
    values[k] = {0, function(NonzeroRow(call, axes, elements[k]))};
  }
  return absl::OkStatus();
}

}  // namespace

TILEWRIGHT_REFERENCE(ArgmaxFwdOp)
(const ReferenceCall& call, int /*output*/, std::span<const int64_t> elements,
 std::span<RefScalar> values) {
  return ReduceRows(call, ReducedAxes(*call.call, 0), elements, values,
                    [](const Row& row) { return FirstBest(row, std::greater<>()); });
}

TILEWRIGHT_REFERENCE(ArgminFwdOp)
(const ReferenceCall& call, int /*output*/, std::span<const int64_t> elements,
 std::span<RefScalar> values) {
  return ReduceRows(call, ReducedAxes(*call.call, 0), elements, values,
                    [](const Row& row) { return FirstBest(row, std::less<>()); });
}

TILEWRIGHT_REFERENCE(AllFwdOp)
(const ReferenceCall& call, int /*output*/, std::span<const int64_t> elements,
 std::span<RefScalar> values) {
  return ReduceNonzeros(call, EmptyAxes::kNone, elements, values, [](const Row& nonzero) {
    return int64_t{CountOf(nonzero) == static_cast<int64_t>(nonzero.size())};
  });
}

TILEWRIGHT_REFERENCE(AnyFwdOp)
(const ReferenceCall& call, int /*output*/, std::span<const int64_t> elements,
 std::span<RefScalar> values) {
  return ReduceNonzeros(call, EmptyAxes::kNone, elements, values,
                        [](const Row& nonzero) { return int64_t{CountOf(nonzero) > 0}; });
}

TILEWRIGHT_REFERENCE(CountNonzeroFwdOp)
(const ReferenceCall& call, int /*output*/, std::span<const int64_t> elements,
 std::span<RefScalar> values) {
  return ReduceNonzeros(call, EmptyAxes::kAll, elements, values, CountOf);
}

TILEWRIGHT_EDGE_CASES(ArgmaxFwdOp) {
  return ReductionEdgeCases({.list = false, .empty_row = false});
}
TILEWRIGHT_EDGE_CASES(ArgminFwdOp) {
  return ReductionEdgeCases({.list = false, .empty_row = false});
}
TILEWRIGHT_EDGE_CASES(AllFwdOp) { return ReductionEdgeCases({}); }
TILEWRIGHT_EDGE_CASES(AnyFwdOp) { return ReductionEdgeCases({}); }
TILEWRIGHT_EDGE_CASES(CountNonzeroFwdOp) { return ReductionEdgeCases({.keepdim = false}); }

}  // namespace tilewright
