// Tuning from within a running service: at once, or behind the calls' backs.
#ifndef TILEWRIGHT_RUNTIME_TUNE_SERVICE_H_
#define TILEWRIGHT_RUNTIME_TUNE_SERVICE_H_

#include <sys/types.h>

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "cache/cache.h"
#include "manifest/call_desc.h"
#include "runtime/device_table.h"
#include "runtime/kernel_store.h"
#include "runtime/op_table.h"
#include "runtime/runtime.h"
#include "runtime/tuning.h"

namespace tilewright {

struct TuneServiceOptions {
  std::string worker_path;  // empty: FindWorker()
  std::vector<std::string> cupti_dirs;
  Logger log;
  // Called on the service's thread after a problem that was queued has a winner.
  std::function<absl::Status(const OpEntry&, const CallDesc&, int device)> refresh;
  // For tests: what tunes one problem.
  std::function<absl::StatusOr<TuningReport>(const OpEntry&, const CallDesc&, const VisibleDevice&,
                                             TuningOptions)>
      tune_problem;
};

// Thread-safe. Its thread starts with the first queued problem, and ends, cancelling the search
// that runs, with the service. Where the machine cannot tune, says so once and tries no more: the
// defaults are served. In a process that was forked it does nothing, and can be destroyed.
// `kernels` and `cache` outlive it.
class TuneService {
 public:
  TuneService(TuneServiceOptions options, KernelStore* kernels, Cache* cache);
  ~TuneService();

  // Tunes and waits. One problem at a time: samples taken at once would disturb each other. Says in
  // the log why it could not.
  absl::Status TuneNow(const OpEntry& op, const CallDesc& call, const VisibleDevice& device);
  // Queues the problem unless it was queued before. `op` and `device` outlive the service.
  void TuneLater(const OpEntry& op, const CallDesc& call, const VisibleDevice& device);

 private:
  struct Job {
    const OpEntry* op;
    CallDesc call;
    const VisibleDevice* device;
  };
  void Run();
  // What a thread may hold or wait for while the process forks, and is then no good in the child.
  struct Shared {
    std::mutex tuning;  // held while a problem is measured
    std::mutex mutex;
    std::condition_variable wake;
    std::deque<Job> queue;       // guarded by mutex
    std::set<std::string> seen;  // problem keys, guarded by mutex
    absl::Status unusable;       // guarded by mutex
    std::string last_failure;    // to open any problem, guarded by mutex
    std::thread thread;          // started under mutex
  };

  bool WasForked() const;
  absl::Status TuneOne(const OpEntry& op, const CallDesc& call, const VisibleDevice& device);
  absl::Status Unusable();
  void NoteFailure(const absl::Status& status);

  const TuneServiceOptions options_;
  KernelStore* const kernels_;
  Cache* const cache_;
  const pid_t owner_;
  std::atomic<bool> stopping_{false};
  std::unique_ptr<Shared> shared_;
};

}  // namespace tilewright

#endif  // TILEWRIGHT_RUNTIME_TUNE_SERVICE_H_
