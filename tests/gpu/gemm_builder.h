// The matrix-product kernels of a device profile, compiled into a cache file: needs no GPU.
#ifndef TILEWRIGHT_TESTS_GPU_GEMM_BUILDER_H_
#define TILEWRIGHT_TESTS_GPU_GEMM_BUILDER_H_

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "cache/cache.h"
#include "kernel_templates/gemm/problem.h"
#include "kernel_templates/gemm/variants.h"
#include "manifest/device_profile.h"
#include "manifest/op_spec.h"
#include "runtime/kernel_store.h"

namespace tilewright {

// d[i] = activation(a[i] * b[i] + bias), as an operator of the tests' own: every option of the
// templates in one call.
struct GemmCase {
  DType dtype = DType::kBFloat16;
  DType out_dtype = DType::kBFloat16;
  int64_t batches = 1, m = 0, n = 0, k = 0;
  bool trans_a = false, trans_b = true, trans_d = false;  // stored with the last two axes exchanged
  int64_t pad = 0;                          // rows' starts are a multiple apart; 0: dense
  bool shared_a = false, shared_b = false;  // a batch stride of 0
  bool bias = false;
  GemmEpilogue::Activation activation = GemmEpilogue::Activation::kNone;

  CallDesc Call() const;
  std::string ToString() const;
};

// The problem of a GemmCase's call, for the variants.
GemmProblem ReadGemmCase(const CallDesc& call);

// Configurations of each of some cases.
using GemmPlan = std::vector<std::pair<GemmCase, std::vector<Config>>>;

// Not thread-safe.
class GemmBuilder {
 public:
  // Keeps kernels in the cache file `path`.
  static absl::StatusOr<std::unique_ptr<GemmBuilder>> Open(std::string path, DeviceProfile device);

  const DeviceProfile& device() const { return device_; }
  const std::vector<const Variant*>& variants() const { return variants_; }
  const Variant* Find(const Config& config) const;
  bool Takes(const Variant& variant, const CallDesc& call, const Config& config) const;
  KernelStore& kernels() { return *kernels_; }
  const std::string& op_name() const;

  // The default of every variant that serves.
  std::vector<Config> Defaults(const CallDesc& call) const;

  // Every legal point of every variant's space, of one of `parts` parts of forty shapes that
  // between them cover each tail.
  GemmPlan EveryLegalCandidate(int part, int parts) const;

  // Compiles on every core what the configurations need. `progress`: so many of so many are done;
  // one caller at a time.
  absl::Status Build(const std::vector<std::pair<CallDesc, Config>>& points,
                     const std::function<void(size_t, size_t)>& progress = {});

 private:
  GemmBuilder() = default;

  DeviceProfile device_;
  std::unique_ptr<Cache> cache_;
  std::unique_ptr<KernelStore> kernels_;
  std::vector<std::unique_ptr<Variant>> owned_;
  std::vector<const Variant*> variants_;
};

// Every m, n and k of {1, 7, 8, 15, 16, 17, 24, 40, 63, 65, 127, 129, 513, 1000}, in turn of either
// 16-bit type.
std::vector<GemmCase> EveryExtent(bool trans_a, bool trans_b, int64_t pad);

// The calls and configurations of a plan.
std::vector<std::pair<CallDesc, Config>> PointsOf(const GemmPlan& plan);

}  // namespace tilewright

#endif  // TILEWRIGHT_TESTS_GPU_GEMM_BUILDER_H_
