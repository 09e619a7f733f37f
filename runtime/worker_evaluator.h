// Evaluates candidates on this machine's GPU: compiles them here, in parallel, and has a worker
// process run them.
#ifndef TILEWRIGHT_RUNTIME_WORKER_EVALUATOR_H_
#define TILEWRIGHT_RUNTIME_WORKER_EVALUATOR_H_

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "autotune/evaluator.h"
#include "kernel_templates/recipe.h"
#include "manifest/call_desc.h"
#include "manifest/device_profile.h"
#include "runtime/inputs.h"
#include "runtime/kernel_store.h"
#include "runtime/scratch_folder.h"
#include "runtime/worker/worker_client.h"

namespace tilewright {

// Makes the inputs of an operator whose inputs must be valid (offsets, page tables): a buffer per
// input; one without bytes is filled with random data on the device.
using InputGenerator = std::function<absl::StatusOr<std::vector<HostBuffer>>(const CallDesc& call)>;

struct WorkerEvaluatorOptions {
  WorkerClientOptions worker;
  int device = 0;  // ordinal
  int jobs = 0;    // compile threads; 0: as many as cores
  std::vector<std::string> cupti_dirs;
  InputGenerator inputs;  // empty: random data, or what the operator chooses (inputs.h)
};

// The worker starts with the first candidate that compiles. `call`, `recipe` and `kernels` outlive
// it. Not thread-safe.
class WorkerEvaluator : public Evaluator {
 public:
  WorkerEvaluator(const CallDesc& call, const Recipe& recipe, DeviceProfile device,
                  KernelStore& kernels, WorkerEvaluatorOptions options);

  std::vector<Measurement> Admit(std::span<const Config> configs) override;
  std::vector<Measurement> Measure(std::span<const Config> configs, int repeats) override;

  // OK, or why candidates cannot be run on this machine, or why some could not be looked at that
  // may well be sound: nothing is then known of those, and no other is admitted.
  const absl::Status& status() const { return status_; }
  std::string method() const { return client_.method(); }
  std::string note() const { return client_.note(); }

 private:
  // A candidate as the worker takes it, or why it cannot be built.
  struct Built {
    Measurement facts;
    WirePlan plan;
  };
  std::vector<Built> BuildAll(std::span<const Config> configs);
  Built Build(const Config& config);
  void LearnWhetherDefaultSpills();
  // What this machine lacks to look at a candidate; of several the first counts.
  void Lack(absl::Status what);
  void LearnOfLacks(const std::vector<Measurement>& results);
  absl::StatusOr<WirePlan> BuildPlan(const Config& config, Measurement& facts);
  absl::StatusOr<KernelStore::Result> Compile(const KernelSpec& spec);
  absl::StatusOr<WireKernel> BuildKernel(const KernelSpec& spec, Measurement& facts);
  absl::Status WriteOnce(const std::string& path, std::string_view bytes);
  absl::Status OpenWorker();
  absl::StatusOr<OpenRequest> DescribeProblem();
  absl::Status WriteInputs(OpenRequest& request);
  bool Cancelled() const;

  const CallDesc& call_;
  const Recipe& recipe_;
  const DeviceProfile device_;
  KernelStore& kernels_;
  const WorkerEvaluatorOptions options_;
  WorkerClient client_;
  absl::Status status_;
  bool opened_ = false;
  // Candidates that spill are unfit, but where what is served untuned spills, too. Unknown where
  // that could not be built.
  std::optional<bool> spills_allowed_;
  ScratchFolder scratch_;  // the worker's files
  std::mutex mutex_;
  absl::Status no_compiler_;        // why kernels cannot be compiled; guarded by mutex_
  absl::Status lack_;               // guarded by mutex_
  std::set<std::string> written_;   // guarded by mutex_
  std::map<std::string, int> ids_;  // config text -> id in the worker
};

}  // namespace tilewright

#endif  // TILEWRIGHT_RUNTIME_WORKER_EVALUATOR_H_
