#include "kernel_templates/gemm/variants.h"

namespace tilewright {

Config FastestPredicted(const Variant& variant, const CallDesc& call, const DeviceProfile& device,
                        const std::vector<Config>& candidates,
                        const std::function<double(const Config&)>& predict_us) {
  const Config* best = &candidates.front();
  double best_us = 0;
  bool found = false;
  for (const Config& candidate : candidates) {
    if (!variant.Legal(call, candidate, device).ok()) continue;
    const double us = predict_us(candidate);
    if (found && us >= best_us) continue;
    best = &candidate;
    best_us = us;
    found = true;
  }
  return *best;
}

double BandwidthBytesPerUs(const DeviceProfile& device) {
  return (device.bandwidth_gbps > 0 ? device.bandwidth_gbps : 4200) * 1e3;
}

double TensorFlopsPerUs(const DeviceProfile& device) {
  return (device.tensor_tflops_16bit > 0 ? device.tensor_tflops_16bit : 800) * 1e6;
}

}  // namespace tilewright
