// Which of several measured times are as good as the best.
#ifndef TILEWRIGHT_AUTOTUNE_NEAR_TIE_H_
#define TILEWRIGHT_AUTOTUNE_NEAR_TIE_H_

#include <vector>

namespace tilewright {

// Where near-ties end. A fixed limit would let machines disagree whenever a candidate sits on it;
// so the limit goes into the widest gap between candidates, from half the noise to one and a half.
struct NearTie {
  double limit_us = 0;
  double margin = 0;  // how much wider the gap is than the next one, as a fraction
};
NearTie FindNearTieLimit(std::vector<double> medians, double noise);

}  // namespace tilewright

#endif  // TILEWRIGHT_AUTOTUNE_NEAR_TIE_H_
