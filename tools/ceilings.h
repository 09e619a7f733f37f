// A device's measured ceilings: memory bandwidth, 16-bit matrix products, float arithmetic.
#ifndef TILEWRIGHT_TOOLS_CEILINGS_H_
#define TILEWRIGHT_TOOLS_CEILINGS_H_

#include "absl/status/statusor.h"
#include "tools/gpu_session.h"

namespace tilewright {

// The parameter struct of kernel_templates/support/ceilings.cuh.
struct CeilingParams {
  const void* a = nullptr;
  const void* b = nullptr;
  void* out = nullptr;
  int64_t count = 0;
};

// Every figure is the median of the samples; GB of 1e9 bytes.
struct Ceilings {
  double read_gbps = 0;
  double copy_gbps = 0;
  double triad_gbps = 0;
  double matmul_tflops = 0;  // GemmFwdOp, bfloat16, 8192 each way, as the cache would serve it
  double fp32_tflops = 0;
  std::string method;  // of timing
};

absl::StatusOr<Ceilings> MeasureCeilings(GpuSession& gpu);

}  // namespace tilewright

#endif  // TILEWRIGHT_TOOLS_CEILINGS_H_
