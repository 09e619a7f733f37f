#include "autotune/paired_times.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "autotune/statistics.h"

namespace tilewright {
namespace {

constexpr double kTrimmed = 0.1;  // of each end

}  // namespace

PairedTime Compare(std::span<const double> samples_us, std::span<const double> reference_us) {
  std::vector<double> logs;
  for (size_t r = 0; r < std::min(samples_us.size(), reference_us.size()); ++r) {
    logs.push_back(std::log(samples_us[r] / reference_us[r]));
  }
  if (logs.empty()) return {};
  std::sort(logs.begin(), logs.end());
  const size_t count = logs.size();
  const auto cut = static_cast<size_t>(kTrimmed * static_cast<double>(count));
  const double kept = static_cast<double>(count - 2 * cut);
  double sum = 0;
  for (size_t i = cut; i < count - cut; ++i) sum += logs[i];
  const double mean = sum / kept;
  // The variance of the mean is that of samples whose ends are drawn in.
  double winsorized_mean = 0;
  double squares = 0;
  for (double& value : logs) {
    value = std::clamp(value, logs[cut], logs[count - 1 - cut]);
    winsorized_mean += value / static_cast<double>(count);
  }
  for (double value : logs) squares += (value - winsorized_mean) * (value - winsorized_mean);
  const double n = static_cast<double>(count);
  return {mean, count < 2 ? 0 : std::sqrt(squares * n / (n - 1)) / kept};
}

double ClockError(std::span<const double> samples_us, double step_us) {
  const double sigma = (Quantile(samples_us, 0.75) - Quantile(samples_us, 0.25)) / 1.35;
  const double turns = std::numbers::pi * sigma / step_us;
  return step_us / 2 * std::exp(-2 * turns * turns);
}

}  // namespace tilewright
