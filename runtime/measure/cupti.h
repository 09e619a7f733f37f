// Kernel times as the device records them, through CUPTI activity records.
#ifndef TILEWRIGHT_RUNTIME_MEASURE_CUPTI_H_
#define TILEWRIGHT_RUNTIME_MEASURE_CUPTI_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace tilewright {

struct KernelInterval {
  uint64_t start_ns = 0;
  uint64_t end_ns = 0;
};

// Collects the interval of every kernel that runs in this process while it lives. CUPTI keeps one
// subscriber a process, so at most one exists at a time. Not thread-safe; to be created before the
// kernels it should see are launched.
class KernelRecorder {
 public:
  virtual ~KernelRecorder() = default;
  // Kernels completed since the last call, by start. The caller has synchronised before.
  virtual absl::StatusOr<std::vector<KernelInterval>> Collect() = 0;
};

// libcupti.so is sought in `search_dirs`, the loader's path, the CUDA toolkit and pip wheels.
// FailedPrecondition where there is none, it refuses, or another recorder lives.
absl::StatusOr<std::unique_ptr<KernelRecorder>> CuptiRecorder(
    const std::vector<std::string>& search_dirs = {});

}  // namespace tilewright

#endif  // TILEWRIGHT_RUNTIME_MEASURE_CUPTI_H_
