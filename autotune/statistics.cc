#include "autotune/statistics.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace tilewright {
namespace {

double QuantileOfSorted(const std::vector<double>& sorted, double fraction) {
  if (sorted.empty()) return 0;
  const double place = std::clamp(fraction, 0.0, 1.0) * static_cast<double>(sorted.size() - 1);
  const auto low = static_cast<size_t>(place);
  const size_t high = std::min(low + 1, sorted.size() - 1);
  return sorted[low] + (place - static_cast<double>(low)) * (sorted[high] - sorted[low]);
}

}  // namespace

double Quantile(std::span<const double> samples, double fraction) {
  std::vector<double> sorted(samples.begin(), samples.end());
  std::sort(sorted.begin(), sorted.end());
  return QuantileOfSorted(sorted, fraction);
}

double MedianError(std::span<const double> samples) {
  const double median = Quantile(samples, 0.5);
  if (!(median > 0)) return 0;
  const double sigma = (Quantile(samples, 0.75) - Quantile(samples, 0.25)) / 1.35;
  return 1.25 * sigma / std::sqrt(static_cast<double>(samples.size())) / median;
}

SampleSummary Summarize(std::span<const double> samples) {
  std::vector<double> sorted(samples.begin(), samples.end());
  std::sort(sorted.begin(), sorted.end());
  return {QuantileOfSorted(sorted, 0.5), QuantileOfSorted(sorted, 0.1),
          QuantileOfSorted(sorted, 0.9)};
}

}  // namespace tilewright
