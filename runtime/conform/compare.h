// Choosing and judging elements of an output.
#ifndef TILEWRIGHT_RUNTIME_CONFORM_COMPARE_H_
#define TILEWRIGHT_RUNTIME_CONFORM_COMPARE_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "manifest/op_spec.h"
#include "manifest/reference.h"

namespace tilewright {

// Row-major positions to check: all of up to 4 * `limit` elements; of more, about `limit` where
// chosen rows and columns cross (the last axis gives the columns): first, last, both sides of
// multiples of 64, and random ones. Sorted, distinct.
std::vector<int64_t> SampleElements(const Dims& shape, int64_t limit, uint64_t seed);

// How far results were from what they should be.
struct Agreement {
  double error = 0;     // largest, as a fraction of the tolerance; infinite for a NaN and the like
  std::string problem;  // the first element beyond the tolerance; empty if none

  void Merge(const Agreement& other);
};

// Compares `values` with the output at `origin` (element (0, ..., 0)) laid out as `desc`. A sum
// whose terms cancel may further be off by the rounding of their magnitudes in float32. Expected
// values are rounded to the output's dtype first; NaN equals NaN; integers and bool are exact. With
// `exact_integers`, whole numbers below 2^24 must come out exactly, whatever the tolerance: for
// inputs whose sums are exact in float32.
Agreement CompareElements(const TensorDesc& desc, const void* origin,
                          std::span<const int64_t> elements, std::span<const RefScalar> values,
                          const Tolerance& tolerance, bool exact_integers);

// The number of elements of a dense output whose bytes are all `poison`: never written.
int64_t CountPoisoned(const TensorDesc& desc, const void* origin, uint8_t poison);

}  // namespace tilewright

#endif  // TILEWRIGHT_RUNTIME_CONFORM_COMPARE_H_
