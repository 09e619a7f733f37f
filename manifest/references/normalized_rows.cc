#include "manifest/references/normalized_rows.h"

#include <atomic>
#include <bit>
#include <cstring>
#include <thread>

#include "manifest/threads.h"

namespace tilewright {
namespace {

// Exponent and mantissa moved into a float's, whose bias is 112 larger; infinities and NaNs stay
// so.
float HalfToFloat(uint16_t half) {
  constexpr uint32_t kExponent = 0x7c00;
  const uint32_t magnitude = half & 0x7fffu;
  const float value = std::bit_cast<float>(magnitude << 13) * 0x1p112f;
  const uint32_t special = magnitude >= kExponent ? 0x7f800000u : 0u;
  const uint32_t sign = static_cast<uint32_t>(half & 0x8000u) << 16;
  return std::bit_cast<float>(std::bit_cast<uint32_t>(value) | special | sign);
}
float BFloat16ToFloat(uint16_t bits) {
  return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
}

// values[i] = convert(element `position` + i of `data`).
template <class Stored, class Convert>
void Widen(const void* data, int64_t position, std::span<double> values, Convert convert) {
  const auto* from = static_cast<const std::byte*>(data) + position * int64_t{sizeof(Stored)};
  for (size_t i = 0; i < values.size(); ++i) {
    Stored stored;
    std::memcpy(&stored, from + i * sizeof(Stored), sizeof(Stored));
    values[i] = static_cast<double>(convert(stored));
  }
}

}  // namespace

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

void LoadRun(const ReferenceCall& call, int input, int64_t position, std::span<double> values) {
  const TensorDesc& desc = call.call->input(input).desc;
  const void* const data = call.inputs[static_cast<size_t>(input)].data;
  if (!desc.IsContiguous()) {
    for (size_t i = 0; i < values.size(); ++i) {
      values[i] = ElementOf(call, input, position + static_cast<int64_t>(i));
    }
    return;
  }
  switch (desc.dtype) {
    case DType::kFloat16:
      return Widen<uint16_t>(data, position, values, HalfToFloat);
    case DType::kBFloat16:
      return Widen<uint16_t>(data, position, values, BFloat16ToFloat);
    case DType::kFloat32:
      return Widen<float>(data, position, values, [](float value) { return value; });
    default:
      for (size_t i = 0; i < values.size(); ++i) {
        values[i] = LoadAsDouble(data, desc.dtype, position + static_cast<int64_t>(i));
      }
  }
}

void ForEach(int64_t count, int64_t work, const std::function<void(int64_t)>& body) {
  constexpr int64_t kWorkPerThread = int64_t{1} << 20;
  constexpr int64_t kMostThreads = 16;
  const auto cores = static_cast<int64_t>(std::max(1u, std::thread::hardware_concurrency()));
  const int64_t threads = std::min({cores, kMostThreads, count, work / kWorkPerThread + 1});
  std::atomic<int64_t> next = 0;
  const auto run = [&] {
    for (int64_t i = next++; i < count; i = next++) body(i);
  };
  RunOnThreads(threads, run);
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
