// One case on one device: its buffers, its inputs with the values they should give, its checks.
#ifndef TILEWRIGHT_RUNTIME_CONFORM_CASE_RUNNER_H_
#define TILEWRIGHT_RUNTIME_CONFORM_CASE_RUNNER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/conform/cases.h"
#include "runtime/conform/compare.h"
#include "runtime/conform/guarded_tensor.h"
#include "runtime/driver/driver.h"
#include "runtime/inputs.h"
#include "runtime/runtime.h"

namespace tilewright {

// Inputs and what the reference makes of them.
struct DataSet {
  InputMode mode = InputMode::kNormal;
  std::vector<HostBuffer> inputs;
  // Per output and then per mutated input, at the sampled elements.
  std::vector<std::vector<RefScalar>> expected;
};

// Device buffers are allocated once and serve every configuration of the case. The device's context
// is current wherever it is used. A Status is the driver's or the runtime's failure; what computes
// but is wrong is in the Agreement. Not thread-safe.
class CaseRunner {
 public:
  struct Options {
    int device = 0;
    int64_t samples = 4096;
    uint64_t seed = 0;
  };
  // `entry` and `driver` outlive the runner.
  static absl::StatusOr<CaseRunner> Create(Driver& driver, CudaStream stream,
                                           const ConformCase& entry, ReferenceFunction reference,
                                           const Options& options);

  // Draws fresh inputs.
  absl::StatusOr<DataSet> Draw(InputMode mode);

  // Calls through `runtime` on poisoned outputs and compares; with `own_workspace`, in a guarded
  // workspace of the caller's.
  absl::Status CheckCall(Runtime& runtime, const DataSet& data, bool own_workspace,
                         Agreement& agreement);
  // Prepares, captures a call in a graph and replays it twice, each time with new inputs.
  absl::Status CheckGraph(Runtime& runtime, Agreement& agreement);

  // The call with the alignment of the buffers that it runs on.
  const CallDesc& call() const { return entry_->call; }
  bool has_elements() const;

 private:
  CaseRunner() = default;

  absl::Status Launch(Runtime& runtime, const CallOptions& options);
  absl::Status Load(const DataSet& data, uint8_t poison);
  absl::Status Compare(const DataSet& data, uint8_t poison, Agreement& agreement);
  absl::Status CompareOutput(size_t output, const DataSet& data, uint8_t poison,
                             Agreement& agreement);
  absl::Status CompareMutated(size_t result, const DataSet& data, Agreement& agreement);
  absl::Status CompareInputs(const DataSet& data, Agreement& agreement);
  absl::Status Replay(CudaGraph graph, Agreement& agreement);

  Driver* driver_ = nullptr;
  CudaStream stream_ = nullptr;
  const ConformCase* entry_ = nullptr;
  ReferenceFunction reference_;
  uint64_t seed_ = 0;
  std::vector<GuardedTensor> buffers_;  // inputs, then outputs; absent inputs have none
  std::vector<Tensor> inputs_;
  std::vector<Tensor> outputs_;
  std::vector<size_t> buffer_of_input_;         // index into buffers_; kNone where absent
  std::vector<size_t> mutated_;                 // of the inputs that are written, in buffers_
  std::vector<std::vector<int64_t>> elements_;  // per output, then per mutated input, sampled
};

}  // namespace tilewright

#endif  // TILEWRIGHT_RUNTIME_CONFORM_CASE_RUNNER_H_
