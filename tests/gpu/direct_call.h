// One configuration of a call, launched without the dispatcher: for measuring and for checkers.
#ifndef TILEWRIGHT_TESTS_GPU_DIRECT_CALL_H_
#define TILEWRIGHT_TESTS_GPU_DIRECT_CALL_H_

#include <memory>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "kernel_templates/recipe.h"
#include "runtime/device_table.h"
#include "runtime/driver/driver.h"
#include "runtime/exact_call.h"
#include "runtime/kernel_loader.h"
#include "runtime/kernel_store.h"
#include "runtime/launch_rules.h"

namespace tilewright {

// Where the kernels of a DirectCall come from and are loaded to. Outlives it.
struct DirectSite {
  Driver* driver = nullptr;
  KernelStore* kernels = nullptr;
  KernelLoader* loader = nullptr;
  const VisibleDevice* device = nullptr;
};

// The launches of a call with its pointers and tensor maps filled in. The device's context is
// current wherever it is used. Immutable, thread-safe.
class DirectCall {
 public:
  // `pointers`: one an operand; `workspace` holds as many bytes as Bind() asks for.
  static absl::StatusOr<std::unique_ptr<DirectCall>> Make(
      const DirectSite& site, const Variant& variant, const Config& config, const CallDesc& call,
      std::span<void* const> pointers, void* workspace);

  absl::Status Launch(CudaStream stream) const;

  // Final parameter bytes; `ready.params` and its slots are as bound.
  struct alignas(64) Params {
    std::byte bytes[kMaxParamBytes];
  };
  struct Filled {
    ReadyLaunch ready;
    std::unique_ptr<Params> params;
  };
  std::span<const Filled> launches() const { return launches_; }

 private:
  DirectCall() = default;

  Driver* driver_ = nullptr;
  std::shared_ptr<Plan> plan_;
  std::vector<Filled> launches_;
};

}  // namespace tilewright

#endif  // TILEWRIGHT_TESTS_GPU_DIRECT_CALL_H_
