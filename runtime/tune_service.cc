#include "runtime/tune_service.h"

#include <unistd.h>

#include <chrono>
#include <utility>

#include "manifest/status.h"
#include "manifest/threads.h"
#include "runtime/keys.h"

namespace tilewright {
namespace {

// A call waits for its tuning, or competes with it for the GPU: less thorough than `tilewright
// tune`, which leaves out nothing.
constexpr int kMaxCandidates = 24;
// For another process that tunes the problem, and which may have stopped.
constexpr std::chrono::seconds kTurn(60);

}  // namespace

TuneService::TuneService(TuneServiceOptions options, KernelStore* kernels, Cache* cache)
    : options_(std::move(options)),
      kernels_(kernels),
      cache_(cache),
      owner_(getpid()),
      shared_(std::make_unique<Shared>()) {}

TuneService::~TuneService() {
  if (WasForked()) {
    (void)shared_.release();
    return;
  }
  stopping_ = true;
  {
    const std::lock_guard<std::mutex> lock(shared_->mutex);
    shared_->queue.clear();
    shared_->wake.notify_all();
  }
  if (shared_->thread.joinable()) shared_->thread.join();
}

bool TuneService::WasForked() const { return getpid() != owner_; }

absl::Status TuneService::Unusable() {
  const std::lock_guard<std::mutex> lock(shared_->mutex);
  return shared_->unusable;
}

absl::Status TuneService::TuneNow(const OpEntry& op, const CallDesc& call,
                                  const VisibleDevice& device) {
  if (WasForked()) return DeviceTable::ForkedError();
  TW_RETURN_IF_ERROR(Unusable());
  absl::Status status = TuneOne(op, call, device);
  if (!status.ok()) {
    options_.log(LogLevel::kWarning, Cat(call.ToString(), ": not tuned: ", status.message()));
  }
  return status;
}

void TuneService::TuneLater(const OpEntry& op, const CallDesc& call, const VisibleDevice& device) {
  if (WasForked()) return;
  const ProblemKey problem = MakeProblemKey(call, *op.recipe, device.profile);
  Shared& shared = *shared_;
  const std::lock_guard<std::mutex> lock(shared.mutex);
  if (stopping_ || !shared.unusable.ok() || !shared.seen.insert(problem.digest).second) return;
  shared.queue.push_back({&op, call, &device});
  if (!shared.thread.joinable() && !StartThread(shared.thread, [this] { Run(); })) {
    shared.queue.clear();
    shared.seen.erase(problem.digest);  // the next call asks again
    return;
  }
  shared.wake.notify_all();
}

void TuneService::Run() {
  Shared& shared = *shared_;
  for (;;) {
    std::unique_lock<std::mutex> lock(shared.mutex);
    shared.wake.wait(lock, [&] { return stopping_ || !shared.queue.empty(); });
    if (stopping_) return;
    const Job job = std::move(shared.queue.front());
    shared.queue.pop_front();
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
  TuningOptions options;
  options.search.max_candidates = kMaxCandidates;
  options.search.cancelled = &stopping_;
  options.evaluator.worker.program = options_.worker_path;
  options.evaluator.device = device.ordinal;
  options.evaluator.cupti_dirs = options_.cupti_dirs;
  options.turn_timeout = kTurn;
  options.must_have_turn = true;
  options.measuring = &shared_->tuning;
  options.notice = [&](std::string_view text) {
    options_.log(LogLevel::kWarning, Cat(call.ToString(), ": ", text));
  };
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
  NoteFailure(report.status());
  return report.status();
}

// Without a worker or a compiler no problem can be tuned, so that no other is tried. What the
// worker says of a problem is that problem's, until it says the same of the next one.
void TuneService::NoteFailure(const absl::Status& status) {
  const bool is_precondition = absl::IsFailedPrecondition(status);
  const bool is_lacking =
      !FindWorker(options_.worker_path).ok() ||
      (is_precondition && absl::IsFailedPrecondition(kernels_->compiler().Version().status()));
  const std::lock_guard<std::mutex> lock(shared_->mutex);
  const std::string failure = is_precondition ? std::string(status.message()) : "";
  if (is_lacking || (!failure.empty() && failure == shared_->last_failure)) {
    shared_->unusable = status;
    shared_->queue.clear();
  }
  shared_->last_failure = failure;
}

}  // namespace tilewright
