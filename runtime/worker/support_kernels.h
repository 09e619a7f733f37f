// The service's own kernels: random data and comparison on the device, so that no GPU time is spent
// on host data. Specs only; they are built and launched as any kernel is.
#ifndef TILEWRIGHT_RUNTIME_WORKER_SUPPORT_KERNELS_H_
#define TILEWRIGHT_RUNTIME_WORKER_SUPPORT_KERNELS_H_

#include <cstdint>
#include <span>
#include <vector>

#include "kernel_templates/launch.h"
#include "kernel_templates/recipe.h"
#include "manifest/dtype.h"

namespace tilewright {

// kernel_templates/support/fill.cuh.
struct FillParams {
  void* data = nullptr;
  int64_t count = 0;
  uint64_t seed = 0;
};
// kernel_templates/support/compare.cuh.
struct CompareResult {
  uint64_t mismatches = 0;
  uint64_t first = ~uint64_t{0};
  float max_absolute = 0;
  float max_relative = 0;
};
struct CompareParams {
  const void* got = nullptr;
  const void* expected = nullptr;
  int64_t count = 0;
  double absolute = 0;
  double relative = 0;
  CompareResult* result = nullptr;
};
inline constexpr uint32_t kSupportThreads = 256;

// complex numbers are handled as pairs.
KernelSpec FillSpec(DType dtype, bool small_integers);
KernelSpec CompareSpec(DType dtype);

// Every support kernel that tuning a call with these operand dtypes needs, without repeats.
std::vector<KernelSpec> SupportKernels(std::span<const DType> dtypes);

// Elements that a support kernel of `dtype` sees in `bytes`.
int64_t SupportElements(DType dtype, int64_t bytes);

}  // namespace tilewright

#endif  // TILEWRIGHT_RUNTIME_WORKER_SUPPORT_KERNELS_H_
