// Tuning from within a running service: at once, or behind the calls' backs.
#ifndef TILEWRIGHT_RUNTIME_TUNE_SERVICE_H_
#define TILEWRIGHT_RUNTIME_TUNE_SERVICE_H_

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
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
// that runs, with the service. Where no worker can start, says so once and tries no more: the
// defaults are served. `kernels` and `cache` outlive it.
class TuneService {
 public:
  TuneService(TuneServiceOptions options, KernelStore* kernels, Cache* cache);
  ~TuneService();

  // Tunes and waits. One problem at a time: samples taken at once would disturb each other.
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
  absl::Status TuneOne(const OpEntry& op, const CallDesc& call, const VisibleDevice& device);
  absl::Status Unusable();

  const TuneServiceOptions options_;
  KernelStore* const kernels_;
  Cache* const cache_;
  std::atomic<bool> stopping_{false};
  std::mutex tuning_;  // held while a problem is tuned

  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<Job> queue_;       // guarded by mutex_
  std::set<std::string> seen_;  // problem keys, guarded by mutex_
  absl::Status unusable_;       // guarded by mutex_
  std::thread thread_;          // started under mutex_
};

}  // namespace tilewright

#endif  // TILEWRIGHT_RUNTIME_TUNE_SERVICE_H_
