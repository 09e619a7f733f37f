// References of sums, products, extremes, norms and moments.
#include <algorithm>
#include <cmath>

#include "manifest/references/reduced_rows.h"

namespace tilewright {
namespace {

using Row = std::vector<double>;

RefScalar SumOfRow(const Row& row) {
  RefScalar sum;
  for (const double value : row) {
    sum.f += value;
    sum.magnitude += std::fabs(value);
  }
  return sum;
}

// NaN wins; of nothing, what std::numeric_limits has least.
template <class Better, class Map>
RefScalar ExtremeOfRow(const Row& row, Better better, Map map) {
  double best = row.empty() ? 0 : map(row[0]);
  for (const double value : row) {
    const double mapped = map(value);
    if (std::isnan(mapped) || better(mapped, best)) best = mapped;
    if (std::isnan(best)) break;
  }
  return {best};
}

double Same(double value) { return value; }
double Magnitude(double value) { return std::fabs(value); }

RefScalar Inexact(double value) { return {.f = value, .inexact = true}; }

double LogSumExpOfRow(const Row& row) {
  double largest = -HUGE_VAL;
  for (const double value : row) {
    if (std::isnan(value)) return value;
    largest = std::max(largest, value);
  }
  if (std::isinf(largest)) largest = 0;
  double sum = 0;
  for (const double value : row) sum += std::exp(value - largest);
  return largest + std::log(sum);
}

}  // namespace

TILEWRIGHT_REFERENCE(SumFwdOp)
(const ReferenceCall& call, int /*output*/, std::span<const int64_t> elements,
 std::span<RefScalar> values) {
  return ReduceRows(call, ReducedAxes(*call.call, 0), elements, values, SumOfRow);
}

TILEWRIGHT_REFERENCE(MeanFwdOp)
(const ReferenceCall& call, int /*output*/, std::span<const int64_t> elements,
 std::span<RefScalar> values) {
  return ReduceRows(call, ReducedAxes(*call.call, 0), elements, values, MeanOfRow);
}

TILEWRIGHT_REFERENCE(AmaxFwdOp)
(const ReferenceCall& call, int /*output*/, std::span<const int64_t> elements,
 std::span<RefScalar> values) {
  return ReduceRows(call, ReducedAxes(*call.call, 0), elements, values,
                    [](const Row& row) { return ExtremeOfRow(row, std::greater<>(), Same); });
}

TILEWRIGHT_REFERENCE(AminFwdOp)
(const ReferenceCall& call, int /*output*/, std::span<const int64_t> elements,
 std::span<RefScalar> values) {
  return ReduceRows(call, ReducedAxes(*call.call, 0), elements, values,
                    [](const Row& row) { return ExtremeOfRow(row, std::less<>(), Same); });
}

TILEWRIGHT_REFERENCE(ProdFwdOp)
(const ReferenceCall& call, int /*output*/, std::span<const int64_t> elements,
 std::span<RefScalar> values) {
  return ReduceRows(call, ReducedAxes(*call.call, 0), elements, values, [](const Row& row) {
    RefScalar product{1};
    for (const double value : row) product.f *= value;
    return product;
  });
}

TILEWRIGHT_REFERENCE(LogSumExpFwdOp)
(const ReferenceCall& call, int /*output*/, std::span<const int64_t> elements,
 std::span<RefScalar> values) {
  return ReduceRows(call, ReducedAxes(*call.call, 0), elements, values,
                    [](const Row& row) { return Inexact(LogSumExpOfRow(row)); });
}

TILEWRIGHT_REFERENCE(L1NormFwdOp)
(const ReferenceCall& call, int /*output*/, std::span<const int64_t> elements,
 std::span<RefScalar> values) {
  return ReduceRows(call, ReducedAxes(*call.call, 1), elements, values, [](const Row& row) {
    const double sum = SumOfRow(row).magnitude;
    return RefScalar{.f = sum, .magnitude = sum};
  });
}

TILEWRIGHT_REFERENCE(L2NormFwdOp)
(const ReferenceCall& call, int /*output*/, std::span<const int64_t> elements,
 std::span<RefScalar> values) {
  return ReduceRows(call, ReducedAxes(*call.call, 1), elements, values, [](const Row& row) {
    double squares = 0;
    for (const double value : row) squares += value * value;
    return RefScalar{std::sqrt(squares)};
  });
}

TILEWRIGHT_REFERENCE(InfNormFwdOp)
(const ReferenceCall& call, int /*output*/, std::span<const int64_t> elements,
 std::span<RefScalar> values) {
  return ReduceRows(call, ReducedAxes(*call.call, 1), elements, values,
                    [](const Row& row) { return ExtremeOfRow(row, std::greater<>(), Magnitude); });
}

TILEWRIGHT_REFERENCE(VarFwdOp)
(const ReferenceCall& call, int /*output*/, std::span<const int64_t> elements,
 std::span<RefScalar> values) {
  const int64_t correction = call.call->params[1].as_int();
  return ReduceRows(call, ReducedAxes(*call.call, 0), elements, values,
                    [=](const Row& row) { return Inexact(VarianceOfRow(row, correction)); });
}

TILEWRIGHT_REFERENCE(StdFwdOp)
(const ReferenceCall& call, int /*output*/, std::span<const int64_t> elements,
 std::span<RefScalar> values) {
  const int64_t correction = call.call->params[1].as_int();
  return ReduceRows(call, ReducedAxes(*call.call, 0), elements, values, [=](const Row& row) {
    return Inexact(std::sqrt(VarianceOfRow(row, correction)));
  });
}

// Outputs: the variance, the mean. Beside an infinity the mean is NaN as well, as torch's running
// mean is.
TILEWRIGHT_REFERENCE(VarMeanFwdOp)
(const ReferenceCall& call, int output, std::span<const int64_t> elements,
 std::span<RefScalar> values) {
  const int64_t correction = call.call->params[1].as_int();
  return ReduceRows(call, ReducedAxes(*call.call, 0), elements, values, [=](const Row& row) {
    if (output == 0) return Inexact(VarianceOfRow(row, correction));
    RefScalar mean = MeanOfRow(row);
    if (std::isinf(mean.f) && row.size() > 1) mean.f = std::nan("");
    return mean;
  });
}

TILEWRIGHT_EDGE_CASES(SumFwdOp) { return ReductionEdgeCases({}); }
TILEWRIGHT_EDGE_CASES(MeanFwdOp) { return ReductionEdgeCases({}); }
TILEWRIGHT_EDGE_CASES(AmaxFwdOp) { return ReductionEdgeCases({.empty_row = false}); }
TILEWRIGHT_EDGE_CASES(AminFwdOp) { return ReductionEdgeCases({.empty_row = false}); }
TILEWRIGHT_EDGE_CASES(ProdFwdOp) { return ReductionEdgeCases({.list = false, .null = false}); }
TILEWRIGHT_EDGE_CASES(LogSumExpFwdOp) { return ReductionEdgeCases({.null = false}); }
TILEWRIGHT_EDGE_CASES(L1NormFwdOp) { return ReductionEdgeCases({}); }
TILEWRIGHT_EDGE_CASES(L2NormFwdOp) { return ReductionEdgeCases({}); }
TILEWRIGHT_EDGE_CASES(InfNormFwdOp) { return ReductionEdgeCases({.empty_row = false}); }
TILEWRIGHT_EDGE_CASES(VarFwdOp) {
  std::vector<Workload> cases = ReductionEdgeCases({});
  for (const int64_t correction : {0, 2, 67}) {
    Workload edge = cases[0];
    edge.label = "correction-" + std::to_string(correction);
    edge.params.emplace_back("correction", correction);
    cases.push_back(edge);
  }
  return cases;
}
TILEWRIGHT_EDGE_CASES(StdFwdOp) { return EdgeCases_VarFwdOp(); }
TILEWRIGHT_EDGE_CASES(VarMeanFwdOp) { return EdgeCases_VarFwdOp(); }

}  // namespace tilewright
