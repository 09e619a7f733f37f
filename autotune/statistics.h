// Order statistics of timing samples.
#ifndef TILEWRIGHT_AUTOTUNE_STATISTICS_H_
#define TILEWRIGHT_AUTOTUNE_STATISTICS_H_

#include <span>

namespace tilewright {

// The `fraction` quantile (0..1) with linear interpolation between samples; 0 for no samples.
double Quantile(std::span<const double> samples, double fraction);

// Standard error of their median, as a fraction of it; of samples that are nearly normal. 0 for
// none.
double MedianError(std::span<const double> samples);

struct SampleSummary {
  double median = 0;
  double p10 = 0;
  double p90 = 0;
};
SampleSummary Summarize(std::span<const double> samples);

}  // namespace tilewright

#endif  // TILEWRIGHT_AUTOTUNE_STATISTICS_H_
