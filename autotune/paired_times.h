// What several candidates take relative to each other.
#ifndef TILEWRIGHT_AUTOTUNE_PAIRED_TIMES_H_
#define TILEWRIGHT_AUTOTUNE_PAIRED_TIMES_H_

#include <span>
#include <vector>

namespace tilewright {

// How much longer than another one: log of the ratio of times, and its standard error.
struct PairedTime {
  double log_ratio = 0;
  double error = 0;
};

// Of samples taken in turns: sample r of both is of the same round, so that what slows down a round
// cancels. A mean without the highest and the lowest tenth (Tukey & McLaughlin, "Less vulnerable
// confidence and significance procedures for location"): nearly as sharp as a mean, and unlike a
// median not bound to the steps of the clock. Zeros where there is no common round.
PairedTime Compare(std::span<const double> samples_us, std::span<const double> reference_us);

// By how much a clock of steps of `step_us` may misplace the mean of such samples, in microseconds:
// half a step where they are all alike, next to nothing where they scatter over several.
double ClockError(std::span<const double> samples_us, double step_us);

}  // namespace tilewright

#endif  // TILEWRIGHT_AUTOTUNE_PAIRED_TIMES_H_
