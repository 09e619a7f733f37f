#include "manifest/references/normalized_rows.h"

namespace tilewright {

RowStatistics StatisticsOf(std::span<const double> values) {
  RowStatistics row;
  const auto count = static_cast<double>(values.size());
  for (const double value : values) {
    row.mean += value;
    row.squares += value * value;
    row.magnitude += std::fabs(value);
  }
  row.mean /= count;
  row.squares /= count;
  row.magnitude /= count;
  for (const double value : values) row.variance += (value - row.mean) * (value - row.mean);
  row.variance /= count;
  return row;
}

ChannelRows::ChannelRows(const Dims& shape, int64_t row_channels_of)
    : channels(shape[1]), row_channels(row_channels_of) {
  for (int axis = 2; axis < shape.rank(); ++axis) inner *= shape[axis];
}

int64_t ChannelRows::RowOf(int64_t position) const {
  if (across_batch) return ChannelOf(position);
  return position / (inner * row_channels);
}

std::vector<int64_t> ChannelRows::PositionsOf(const Dims& shape, int64_t row) const {
  std::vector<int64_t> positions;
  if (!across_batch) {
    const int64_t count = inner * row_channels;
    for (int64_t i = 0; i < count; ++i) positions.push_back(row * count + i);
    return positions;
  }
  for (int64_t sample = 0; sample < shape[0]; ++sample) {
    for (int64_t i = 0; i < inner; ++i) {
      positions.push_back((sample * channels + row) * inner + i);
    }
  }
  return positions;
}

RefScalar Normalized(double value, const RowStatistics& row, double eps, double scale,
                     double shift) {
  const double inverse = 1 / std::sqrt(row.variance + eps);
  RefScalar result;
  result.f = (value - row.mean) * inverse * scale + shift;
  result.magnitude =
      (std::fabs(value) + row.magnitude) * inverse * std::fabs(scale) + std::fabs(shift);
  result.inexact = true;
  return result;
}

}  // namespace tilewright
