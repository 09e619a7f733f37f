// From a call to a launch.
#ifndef TILEWRIGHT_RUNTIME_DISPATCHER_H_
#define TILEWRIGHT_RUNTIME_DISPATCHER_H_

#include <array>
#include <atomic>
#include <functional>
#include <memory>
#include <set>
#include <span>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/device_table.h"
#include "runtime/exact_key.h"
#include "runtime/exact_table.h"
#include "runtime/kernel_loader.h"
#include "runtime/launcher.h"
#include "runtime/op_table.h"
#include "runtime/plan_table.h"
#include "runtime/planner.h"
#include "runtime/runtime.h"
#include "runtime/single_flight.h"
#include "runtime/thread_slots.h"

namespace tilewright {

// A call as it was made.
class CallArguments {
 public:
  CallArguments(const OpEntry* op, std::span<const Tensor> inputs, std::span<const Tensor> outputs,
                std::span<const NamedParam> params)
      : op(op),
        inputs_(inputs.data()),
        outputs_(outputs.data()),
        params_(params.data()),
        input_count_(inputs.size()),
        output_count_(outputs.size()),
        param_count_(params.size()) {}

  const OpEntry* const op;
  std::span<const Tensor> inputs() const { return {inputs_, input_count_}; }
  std::span<const Tensor> outputs() const { return {outputs_, output_count_}; }
  std::span<const NamedParam> params() const { return {params_, param_count_}; }

 private:
  // Pointer and size of one span lie apart: a copy of both at once would wait for the two stores
  // that passed them.
  const Tensor* inputs_;
  const Tensor* outputs_;
  const NamedParam* params_;
  size_t input_count_;
  size_t output_count_;
  size_t param_count_;
};

// Finds the winner of a problem by measuring, and persists it. Called on a miss, never under
// capture.
using TuneFunction =
    std::function<absl::Status(const OpEntry&, const CallDesc&, const VisibleDevice&)>;

struct DispatcherOptions {
  TuningPolicy tuning = TuningPolicy::kNever;
  CaptureMiss capture_miss = CaptureMiss::kFail;
  bool check_pointers = false;
  int64_t max_exact_calls = 8192;
  int64_t max_loaded_kernels = 4096;
  Logger log;
  TuneFunction tune;  // for kOnFirstUse; null: nothing is tuned
  // For kBackground: queues the problem. Whoever tunes it calls Dispatcher::Refresh() afterwards.
  std::function<void(const OpEntry&, const CallDesc&, const VisibleDevice&)> tune_later;
};

// Purpose: the exact path (recall, launch) and the miss path (validate, key, look up, resolve,
// bind, launch, remember). Thread-safe. The exact path takes no lock and writes nothing shared; a
// miss is single-flight per problem and holds no lock over compile, tune or launch.
class Dispatcher {
 public:
  Dispatcher(DispatcherOptions options, Driver* driver, DeviceTable* devices, Planner* planner,
             KernelLoader* loader);
  ~Dispatcher();

  absl::Status Call(int op_index, const CallArguments& arguments, const CallOptions& options);
  absl::Status Prepare(const CallArguments& arguments);
  absl::StatusOr<int64_t> WorkspaceBytes(const CallArguments& arguments);

  // Resolves the problem of `call` again, for example after it was tuned, and has later calls run
  // the new plan. Captured graphs keep the old one.
  absl::Status Refresh(const OpEntry& op, const CallDesc& call, int device);

  void AddCounts(RuntimeCounters& counters) const;

 private:
  using ExactPtr = std::unique_ptr<ExactCall>;
  absl::Status Miss(const CallArguments& arguments, const CallOptions& options, const ExactKey* key,
                    ThreadSlot& slot);
  // Validated, resolved and bound; `launch` is null where nothing is to be launched.
  absl::StatusOr<ExactPtr> Ready(const CallArguments& arguments, const CallOptions* launch,
                                 ThreadSlot& slot);
  absl::StatusOr<ExactPtr> Validate(const CallArguments& arguments, bool launching);
  absl::StatusOr<std::shared_ptr<const Plan>> FindOrResolve(const OpEntry& op,
                                                            const ExactCall& exact,
                                                            const CallOptions* launch,
                                                            ThreadSlot& slot);
  absl::StatusOr<std::shared_ptr<const Plan>> Resolve(const OpEntry& op, const CallDesc& call,
                                                      const VisibleDevice& device,
                                                      const ProblemFields& fields);
  absl::StatusOr<std::shared_ptr<const Plan>> ResolveInCapture(const OpEntry& op,
                                                               const CallDesc& call,
                                                               const VisibleDevice& device,
                                                               const ProblemFields& fields);
  // Planner::Assemble(); where device memory is out while kernels are loaded, once more after plans
  // were given up.
  absl::StatusOr<std::shared_ptr<const Plan>> Assemble(const OpEntry& op, const CallDesc& call,
                                                       const VisibleDevice& device,
                                                       const ProblemKey& problem,
                                                       const std::vector<Choice>& choices,
                                                       Effort effort);
  absl::Status Bind(ExactCall& exact);
  void Remember(const ExactKey& key, ExactPtr exact);
  void Publish(const std::string& plan_key, const std::shared_ptr<const Plan>& plan);
  void KeepWithinKernelLimit(const Plan& newest);
  // Gives up plans until at most `keep` kernels are loaded or a bounded number of plans has gone:
  // the least recently used first, those of `busy` and those called since the last sweep last.
  // Returns how many kernels went.
  int64_t GiveUpPlans(std::set<const Plan*> busy, int64_t keep);
  void Say(const Plan& plan) const;

  const DispatcherOptions options_;
  Driver* const driver_;
  DeviceTable* const devices_;
  Planner* const planner_;
  KernelLoader* const loader_;
  ThreadSlots threads_;
  ExactTable exact_;
  PlanTable plans_;
  Launcher launcher_;
  SingleFlight<std::shared_ptr<const Plan>> flights_;  // by plan key
  std::atomic<int64_t> tunes_{0};
  std::atomic<int64_t> evicted_{0};
};

}  // namespace tilewright

#endif  // TILEWRIGHT_RUNTIME_DISPATCHER_H_
