// A candidate in the worker: its kernels loaded, its launches ready.
#ifndef TILEWRIGHT_RUNTIME_WORKER_CANDIDATE_H_
#define TILEWRIGHT_RUNTIME_WORKER_CANDIDATE_H_

#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/driver/driver.h"
#include "runtime/worker/wire.h"

namespace tilewright {

// A file that the tuner wrote for the worker. ResourceExhausted, with the reason, where it cannot
// be read: no candidate is to blame.
absl::StatusOr<std::string> ReadScratchFile(const std::string& path);

// A cubin in the driver. Needs a current context; unloads at the end of its life.
class WorkerKernel {
 public:
  static absl::StatusOr<std::shared_ptr<const WorkerKernel>> Load(Driver& driver, int device,
                                                                  const WireKernel& wire);
  ~WorkerKernel();
  CudaKernel handle() const { return kernel_; }

 private:
  explicit WorkerKernel(Driver& driver) : driver_(driver) {}

  Driver& driver_;
  CudaLibrary library_ = nullptr;
  CudaKernel kernel_ = nullptr;
};

// Launches a bound call on given pointers. Not thread-safe.
class LoadedCandidate {
 public:
  // InvalidArgument where a slot, kernel or operand is out of range.
  static absl::StatusOr<std::unique_ptr<LoadedCandidate>> Load(Driver& driver, int device,
                                                               const WirePlan& plan,
                                                               int operand_count);

  int64_t workspace_bytes() const { return bound_.workspace_bytes; }
  // Enqueues every launch. `pointers` holds one per operand (element (0, ..., 0)).
  absl::Status Run(std::span<void* const> pointers, void* workspace, CudaStream stream) const;

 private:
  explicit LoadedCandidate(Driver& driver) : driver_(driver) {}
  absl::Status RunOne(const Launch& launch, std::span<void* const> pointers, void* workspace,
                      CudaStream stream) const;

  Driver& driver_;
  std::vector<std::shared_ptr<const WorkerKernel>> kernels_;
  BoundCall bound_;
};

}  // namespace tilewright

#endif  // TILEWRIGHT_RUNTIME_WORKER_CANDIDATE_H_
