// Which of two rows of one key is kept: total orders, so that merging is the same in any order.
#ifndef TILEWRIGHT_CACHE_PREFER_H_
#define TILEWRIGHT_CACHE_PREFER_H_

#include <string_view>

#include "cache/cache.h"

namespace tilewright {

// True where `a` is better than `b`. Winners: lower median, then lower config text. Trials: `ok`
// first, more samples, lower median. Kernels: newer compiler, then shorter compile. All: then the
// lower logical checksum, then the earlier time.
bool IsBetter(const KernelRow& a, std::string_view a_bytes_sum, const KernelRow& b,
              std::string_view b_bytes_sum);
bool IsBetter(const WinnerRow& a, const WinnerRow& b);
bool IsBetter(const TrialRow& a, const TrialRow& b);

// "nvrtc 13.0.88" against "nvrtc 13.10.1": digit runs compare as numbers. <0, 0, >0.
int CompareVersions(std::string_view a, std::string_view b);

}  // namespace tilewright

#endif  // TILEWRIGHT_CACHE_PREFER_H_
