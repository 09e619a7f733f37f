// Judges configurations of matrix products on the GPU, bit for bit.
#ifndef TILEWRIGHT_TESTS_GPU_GEMM_CHECKER_H_
#define TILEWRIGHT_TESTS_GPU_GEMM_CHECKER_H_

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tests/gpu/direct_call.h"
#include "tests/gpu/gemm_builder.h"
#include "tests/gpu/gemm_kernels.h"

namespace tilewright {

// One GPU, compiled kernels and buffers. Not thread-safe.
class GemmChecker {
 public:
  static absl::StatusOr<std::unique_ptr<GemmChecker>> Open();
  ~GemmChecker();

  const DeviceProfile& device() const { return site_.device->profile; }
  GemmBuilder& builder() { return *builder_; }

  // Fills the inputs and computes what is expected of a case; the checks that follow are of it.
  absl::Status Prepare(const GemmCase& gemm, uint32_t seed = 1);
  // Fills the inputs with normally distributed values, for timing; nothing is expected.
  absl::Status PrepareNormal(const GemmCase& gemm, uint32_t seed = 1);
  // Leaves the inputs to the calls made so far; the next Prepare() takes other memory.
  void SetInputsAside();
  // Frees what was set aside.
  absl::Status FreeInputsAside();
  // The prepared case's launches with this configuration.
  absl::StatusOr<std::unique_ptr<DirectCall>> Direct(const Config& config);
  void* Data(int operand) const;

  // Launches and compares later, at Settle(): the output with the zones around it and its padding.
  absl::Status Check(const Config& config);
  // What was wrong since the last time, a line each.
  absl::StatusOr<std::vector<std::string>> Settle();

  // Launches a kernel that only reads `bytes`, for timing.
  absl::Status LaunchRead(const void* data, int64_t bytes, bool evict_first);

  // A graph of one launch of the prepared case; it compares nothing.
  absl::StatusOr<CudaGraphExec> Capture(const Config& config, CudaStream stream);
  // Compares the output of the prepared case as it is now.
  absl::Status Compare(const std::string& what);

  Driver& driver() { return *driver_; }
  CudaStream stream() const { return stream_; }
  int64_t checks() const { return checks_; }

 private:
  GemmChecker() = default;
  absl::Status Init();
  absl::Status Allocate(const GemmCase& gemm);
  absl::Status FillInputs(uint32_t seed, int normal);
  absl::Status Take(int buffer, int64_t bytes);
  template <class Params>
  absl::Status RunOwn(const std::string& entry, DType element, DType output, const Params& params,
                      int64_t count);
  GemmView View(int operand, std::byte* data) const;

  std::shared_ptr<Driver> driver_;
  std::unique_ptr<GemmBuilder> builder_;
  std::unique_ptr<DeviceTable> devices_;
  std::unique_ptr<ScopedContext> current_;
  std::unique_ptr<KernelLoader> loader_;
  DirectSite site_;
  CudaStream stream_ = nullptr;

  static constexpr int kBuffers = 6;  // a, b, d, bias, expected, workspace
  std::byte* buffers_[kBuffers] = {};
  int64_t bytes_[kBuffers] = {};
  std::vector<std::byte*> aside_;
  unsigned* wrong_ = nullptr;
  std::map<std::string, std::shared_ptr<const LoadedKernel>> own_;  // by instantiation
  std::vector<std::string> pending_;
  GemmCase gemm_;
  CallDesc call_;
  int64_t out_bytes_ = 0;  // of d with its guard zones
  int64_t checks_ = 0;
};

}  // namespace tilewright

#endif  // TILEWRIGHT_TESTS_GPU_GEMM_CHECKER_H_
