// References of normalisations, as rows of values with a mean and a variance of their own.
#ifndef TILEWRIGHT_MANIFEST_REFERENCES_NORMALIZED_ROWS_H_
#define TILEWRIGHT_MANIFEST_REFERENCES_NORMALIZED_ROWS_H_

#include <cmath>
#include <functional>
#include <span>
#include <vector>

#include "manifest/references/element_access.h"

namespace tilewright {

// Mean and variance (of no correction) of some values, the mean of their squares, and that of their
// magnitudes.
struct RowStatistics {
  double mean = 0;
  double variance = 0;
  double squares = 0;
  double magnitude = 0;
};
RowStatistics StatisticsOf(std::span<const double> values);

// Input `input` at a row-major position.
inline double ElementOf(const ReferenceCall& call, int input, int64_t position) {
  const TensorDesc& desc = call.call->input(input).desc;
  return LoadAsDouble(call.inputs[static_cast<size_t>(input)].data, desc.dtype,
                      OffsetAt(desc, position));
}

// Where the rows of a tensor [outer, channels, inner] are runs of `row_channels` channels.
struct ChannelRows {
  int64_t channels = 1;
  int64_t inner = 1;
  int64_t row_channels = 1;
  bool across_batch = false;  // a row is one channel of every sample

  explicit ChannelRows(const Dims& shape, int64_t row_channels_of);
  int64_t ChannelOf(int64_t position) const { return position / inner % channels; }
  int64_t RowOf(int64_t position) const;
  // The positions of a row's elements, given the tensor's shape.
  std::vector<int64_t> PositionsOf(const Dims& shape, int64_t row) const;
};

// (value - mean) / sqrt(variance + eps) * scale + shift, with the magnitude of its terms.
RefScalar Normalized(double value, const RowStatistics& row, double eps, double scale,
                     double shift);

}  // namespace tilewright

#endif  // TILEWRIGHT_MANIFEST_REFERENCES_NORMALIZED_ROWS_H_
