#include "runtime/tune_service.h"

#include <utility>

#include "manifest/status.h"
#include "manifest/threads.h"
#include "runtime/keys.h"

namespace tilewright {
namespace {

// A call waits for its tuning, or competes with it for the GPU: less thorough than `tilewright
// tune`, which leaves out nothing.
constexpr int kMaxCandidates = 24;

}  // namespace

TuneService::TuneService(TuneServiceOptions options, KernelStore* kernels, Cache* cache)
    : options_(std::move(options)), kernels_(kernels), cache_(cache) {}

TuneService::~TuneService() {
  stopping_ = true;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    queue_.clear();
    wake_.notify_all();
  }
  if (thread_.joinable()) thread_.join();
}

absl::Status TuneService::Unusable() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return unusable_;
}

absl::Status TuneService::TuneNow(const OpEntry& op, const CallDesc& call,
                                  const VisibleDevice& device) {
  return TuneOne(op, call, device);
}

void TuneService::TuneLater(const OpEntry& op, const CallDesc& call, const VisibleDevice& device) {
  const ProblemKey problem = MakeProblemKey(call, *op.recipe, device.profile);
  const std::lock_guard<std::mutex> lock(mutex_);
  if (stopping_ || !unusable_.ok() || !seen_.insert(problem.digest).second) return;
  queue_.push_back({&op, call, &device});
  if (!thread_.joinable() && !StartThread(thread_, [this] { Run(); })) {
    queue_.clear();
    seen_.erase(problem.digest);  // the next call asks again
    return;
  }
  wake_.notify_all();
}

void TuneService::Run() {
  for (;;) {
    std::unique_lock<std::mutex> lock(mutex_);
    wake_.wait(lock, [this] { return stopping_ || !queue_.empty(); });
    if (stopping_) return;
    const Job job = std::move(queue_.front());
    queue_.pop_front();
    lock.unlock();
    absl::Status status = TuneOne(*job.op, job.call, *job.device);
    if (stopping_) return;
    if (status.ok() && options_.refresh) {
      status = options_.refresh(*job.op, job.call, job.device->ordinal);
    }
    if (!status.ok()) {
      options_.log(LogLevel::kWarning, Cat(job.call.ToString(), ": not tuned: ", status.message()));
    }
  }
}

absl::Status TuneService::TuneOne(const OpEntry& op, const CallDesc& call,
                                  const VisibleDevice& device) {
  const std::lock_guard<std::mutex> tuning(tuning_);
  TW_RETURN_IF_ERROR(Unusable());
  TuningOptions options;
  options.search.max_candidates = kMaxCandidates;
  options.search.cancelled = &stopping_;
  options.evaluator.worker.program = options_.worker_path;
  options.evaluator.device = device.ordinal;
  options.evaluator.cupti_dirs = options_.cupti_dirs;
  absl::StatusOr<TuningReport> report =
      options_.tune_problem
          ? options_.tune_problem(op, call, device, std::move(options))
          : TuneProblem(call, *op.recipe, device.profile, *kernels_, *cache_, std::move(options));
  if (report.ok()) {
    if (!report->complete) {
      return absl::CancelledError(Cat("the search was cut short",
                                      report->cut_short.empty() ? "" : ": ", report->cut_short));
    }
    options_.log(LogLevel::kInfo, Cat(call.ToString(), ": tuned: ", report->winner.config_json,
                                      ", ", report->winner.median_us, " us by ", report->method,
                                      " of ", report->trials.size(), " candidates"));
    return absl::OkStatus();
  }
  // The machine cannot tune: no use in trying with every problem.
  if (report.status().code() == absl::StatusCode::kFailedPrecondition ||
      !FindWorker(options_.worker_path).ok()) {
    const std::lock_guard<std::mutex> lock(mutex_);
    unusable_ = report.status();
    queue_.clear();
  }
  return report.status();
}

}  // namespace tilewright
