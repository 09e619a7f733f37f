#include "tests/runtime/emulated_kernels.h"

#include <algorithm>
#include <cmath>

namespace tilewright {

void EmulateFill(const FillParams& params) {
  for (int64_t i = 0; i < params.count; ++i) {
    static_cast<float*>(params.data)[i] = static_cast<float>(
        std::sin(static_cast<double>(params.seed % 1000) + static_cast<double>(i)));
  }
}

void EmulateCompare(const CompareParams& params, bool floats) {
  for (int64_t i = 0; i < params.count; ++i) {
    const auto at = [&](const void* data) {
      return floats ? static_cast<double>(static_cast<const float*>(data)[i])
                    : static_cast<double>(static_cast<const uint8_t*>(data)[i]);
    };
    const double got = at(params.got);
    const double expected = at(params.expected);
    const double allowed = params.absolute + params.relative * std::abs(expected);
    if (std::abs(got - expected) <= allowed || (std::isnan(got) && std::isnan(expected))) continue;
    params.result->first = std::min(params.result->first, static_cast<uint64_t>(i));
    ++params.result->mismatches;
  }
}

}  // namespace tilewright
