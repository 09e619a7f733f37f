// References of reductions over any axes, as a function of the elements that make up one result.
#ifndef TILEWRIGHT_MANIFEST_REFERENCES_REDUCED_ROWS_H_
#define TILEWRIGHT_MANIFEST_REFERENCES_REDUCED_ROWS_H_

#include <span>
#include <utility>
#include <vector>

#include "manifest/edge_cases.h"
#include "manifest/references/element_access.h"

namespace tilewright {

// What an empty list of axes stands for.
enum class EmptyAxes { kAll, kNone };

// The reduced axes of input 0, from a normalised `axes` or nullable `axis` parameter; none of a
// rank-0 input, which is one element.
Dims ReducedAxes(const CallDesc& call, size_t param, EmptyAxes empty = EmptyAxes::kAll);

// The elements of input 0 that belong to row-major position `element` of the result, in row-major
// order of the reduced axes.
std::vector<double> ReducedRow(const ReferenceCall& call, const Dims& axes, int64_t element);
// The same, as whether each is not 0 (0 or 1); a complex number counts with both parts.
std::vector<double> NonzeroRow(const ReferenceCall& call, const Dims& axes, int64_t element);

// values[k] = function(elements that make up result elements[k]).
template <class Function>
absl::Status ReduceRows(const ReferenceCall& call, const Dims& axes,
                        std::span<const int64_t> elements, std::span<RefScalar> values,
                        Function function) {
  for (size_t k = 0; k < elements.size(); ++k) {
    values[k] = function(ReducedRow(call, axes, elements[k]));
  }
  return absl::OkStatus();
}

// The mean of a row, with the magnitude of its terms.
RefScalar MeanOfRow(const std::vector<double>& row);
// The sum of squared distances from the mean over max(0, N - correction).
double VarianceOfRow(const std::vector<double>& row, int64_t correction);

// Shapes at which reductions break. `axis` and `axes` say what the parameter `dim` may be.
struct ReductionEdges {
  bool list = true;       // dim may be a list
  bool null = true;       // dim may be null
  bool empty_row = true;  // a reduced axis may have no elements
  bool keepdim = true;    // there is such a parameter
};
std::vector<Workload> ReductionEdgeCases(const ReductionEdges& allowed);

}  // namespace tilewright

#endif  // TILEWRIGHT_MANIFEST_REFERENCES_REDUCED_ROWS_H_
