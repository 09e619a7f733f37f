// An add operator computed on the host, behind the Runtime interface, for the tests of conformance
// and the ledger.
#ifndef TILEWRIGHT_TESTS_RUNTIME_CONFORM_FAKES_H_
#define TILEWRIGHT_TESTS_RUNTIME_CONFORM_FAKES_H_

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "cache/cache.h"
#include "kernel_templates/recipe.h"
#include "runtime/kernel_store.h"
#include "runtime/runtime.h"
#include "tests/runtime/fake_driver.h"

namespace tilewright {

// AddFwdOp as a spec made by hand: float16 and int32, one workload of (64, 300).
std::unique_ptr<OpSpec> MakeAddSpec();

// Two variants, "fast" and "portable", with tiles 1, 2 and 4; kernels of "test/add.cuh".
// A call runs `kernels` kernels of one template and configuration: Add, Add1, Add2, ...
std::unique_ptr<Recipe> MakeAddRecipe(int kernels = 1);

// Replays what a FakeHostRuntime was asked under capture.
class ReplayingDriver : public FakeDriver {
 public:
  std::function<void()> captured;
  int replays = 0;
  absl::Status LaunchGraph(CudaGraphExec exec, CudaStream stream) override {
    ++replays;
    if (captured) captured();
    return FakeDriver::LaunchGraph(exec, stream);
  }
};

// What goes wrong on purpose.
enum class Fault : uint8_t {
  kNone,
  kWrongLast,      // the last element is off by one
  kSkipsLast,      // the last element is not written
  kWritesPast,     // one element past the end is written
  kChangesInput,   // the first input is overwritten
  kIgnoresWinner,  // runs the default whatever the cache says
  kCallFails,
  kReplaysStale,  // a graph replays the sums of its capture
};

// Computes on the "device" memory of a FakeDriver, which is host memory.
class FakeHostRuntime : public Runtime {
 public:
  FakeHostRuntime(ReplayingDriver* driver, const OpSpec* op, const Recipe* recipe, Fault fault);

  using Runtime::Call;
  absl::Status Call(OpHandle op, std::span<const Tensor> inputs, std::span<const Tensor> outputs,
                    std::span<const NamedParam> params, const CallOptions& options) override;
  absl::StatusOr<OpHandle> Find(std::string_view) const override { return OpHandle(); }
  std::vector<const OpSpec*> Ops() const override { return {op_}; }
  const OpSpec* Spec(std::string_view op) const override { return op == op_->name ? op_ : nullptr; }
  const Recipe* FindRecipe(std::string_view) const override { return recipe_; }
  absl::Status Prepare(std::string_view, std::span<const Tensor>, std::span<const Tensor>,
                       std::span<const NamedParam>) override {
    return absl::OkStatus();
  }
  absl::StatusOr<int64_t> WorkspaceBytes(std::string_view, std::span<const Tensor>,
                                         std::span<const Tensor>,
                                         std::span<const NamedParam>) override {
    return 512;
  }
  absl::StatusOr<Explanation> Explain(const CallDesc& call, const DeviceProfile& device) override;
  absl::Status Register(CustomOp) override { return absl::UnimplementedError("fake"); }
  RuntimeCounters Counters() const override { return {}; }
  Cache& cache() override { return *cache_; }
  KernelStore& kernels() override { return kernels_; }
  Driver& driver() override { return *driver_; }
  ReferenceFunction FindReference(std::string_view op) const override {
    return BuiltinReference(op);
  }
  absl::StatusOr<DeviceProfile> Device(int) override { return BuiltinDeviceProfile("h200"); }

 private:
  ReplayingDriver* const driver_;
  const OpSpec* const op_;
  const Recipe* const recipe_;
  const Fault fault_;
  std::unique_ptr<Cache> cache_;
  KernelStore kernels_;
};

}  // namespace tilewright

#endif  // TILEWRIGHT_TESTS_RUNTIME_CONFORM_FAKES_H_
