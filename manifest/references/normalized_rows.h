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
  // A row is that many runs of this many elements that follow each other, given the tensor's shape.
  int64_t RunsOf(const Dims& shape) const { return across_batch ? shape[0] : 1; }
  int64_t RunLength() const { return across_batch ? inner : inner * row_channels; }
  // The position of the first element of a run of a row.
  int64_t RunBegin(int64_t row, int64_t run) const {
    return across_batch ? (run * channels + row) * inner : row * RunLength();
  }
};

// Reads the elements of input `input` at `values.size()` row-major positions from `position` on.
void LoadRun(const ReferenceCall& call, int input, int64_t position, std::span<double> values);

// Runs body(i) for each i of [0, count), on several threads where there is `work` (elements to
// read) enough for them.
void ForEach(int64_t count, int64_t work, const std::function<void(int64_t)>& body);

// (value - mean) / sqrt(variance + eps) * scale + shift, with the magnitude of its terms.
RefScalar Normalized(double value, const RowStatistics& row, double eps, double scale,
                     double shift);

}  // namespace tilewright

#endif  // TILEWRIGHT_MANIFEST_REFERENCES_NORMALIZED_ROWS_H_
