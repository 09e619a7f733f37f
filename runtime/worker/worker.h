// The worker's side: runs candidates on the device, on the tuner's request.
#ifndef TILEWRIGHT_RUNTIME_WORKER_WORKER_H_
#define TILEWRIGHT_RUNTIME_WORKER_WORKER_H_

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "runtime/driver/driver.h"
#include "runtime/measure/kernel_timer.h"
#include "runtime/worker/candidate.h"
#include "runtime/worker/operand_buffers.h"
#include "runtime/worker/wire.h"

namespace tilewright {

// Serves one tuning problem after another in a process of its own, which a candidate may take down
// with it. `driver` and `send` outlive it. Not thread-safe.
class Worker {
 public:
  using Send = std::function<void(const std::string& line)>;
  // `timer_options` is for tests.
  Worker(Driver& driver, Send send, TimerOptions timer_options = {});
  ~Worker();

  // Answers one request line.
  void Handle(std::string_view line);

 private:
  Reply Answer(const Request& request);
  Reply Dispatch(const Request& request);
  absl::Status Open(const OpenRequest& request);
  void Close();
  Reply Admit(const AdmitRequest& request);
  // The fault of a candidate; empty for none.
  absl::StatusOr<std::string> Check(const LoadedCandidate& candidate, bool judge);
  absl::Status RunOnce(const LoadedCandidate& candidate, int set);
  absl::Status ReserveWorkspace(int64_t bytes);
  Reply Measure(const MeasureRequest& request);
  void Announce(int id);

  Driver& driver_;
  const Send send_;
  const TimerOptions timer_options_;
  int device_ = 0;
  CudaContext context_ = nullptr;
  CudaStream stream_ = nullptr;
  int operand_count_ = 0;
  bool judged_ = false;
  std::unique_ptr<SupportLauncher> support_;
  std::unique_ptr<OperandBuffers> buffers_;
  std::unique_ptr<KernelTimer> timer_;
  DeviceMemory workspace_;
  std::map<int, std::unique_ptr<LoadedCandidate>> candidates_;
  int running_ = -1;
};

// Reads requests from standard input until it ends and answers on standard output. Returns the
// process's exit code.
int ServeWorker(Driver& driver, const TimerOptions& timer_options = {});
// The same on this machine's driver.
int WorkerMain();

}  // namespace tilewright

#endif  // TILEWRIGHT_RUNTIME_WORKER_WORKER_H_
