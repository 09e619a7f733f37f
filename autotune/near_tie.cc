#include "autotune/near_tie.h"

#include <algorithm>

namespace tilewright {

NearTie FindNearTieLimit(std::vector<double> medians, double noise) {
  if (medians.empty()) return {};
  std::sort(medians.begin(), medians.end());
  const double best = medians.front();
  std::vector<double> points = {1 + noise / 2};
  for (double median : medians) {
    const double ratio = median / best;
    if (ratio > points.front() && ratio < 1 + 1.5 * noise) points.push_back(ratio);
  }
  points.push_back(1 + 1.5 * noise);
  double widest = 0;
  double second = 0;
  double limit = points.front();
  for (size_t i = 1; i < points.size(); ++i) {
    const double gap = points[i] - points[i - 1];
    if (gap > widest) {
      second = widest;
      widest = gap;
      limit = (points[i] + points[i - 1]) / 2;
    } else {
      second = std::max(second, gap);
    }
  }
  return {best * limit, widest - second};
}

}  // namespace tilewright
