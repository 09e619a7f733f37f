// The tuner's side of the worker: starts it, restarts it when a candidate took it down, and puts
// a hang or a crash that happens again down to the candidate that ran.
#ifndef TILEWRIGHT_RUNTIME_WORKER_WORKER_CLIENT_H_
#define TILEWRIGHT_RUNTIME_WORKER_WORKER_CLIENT_H_

#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "autotune/evaluator.h"
#include "runtime/worker/child_process.h"
#include "runtime/worker/wire.h"

namespace tilewright {

struct WorkerClientOptions {
  std::string program;  // the worker executable
  std::vector<std::string> args;
  std::chrono::milliseconds open_timeout{60000};  // context creation and input generation
  std::chrono::milliseconds run_timeout{10000};   // of what a candidate runs between two signs
  int max_restarts = 32;
  const std::atomic<bool>* cancelled = nullptr;
};

// Not thread-safe.
class WorkerClient {
 public:
  explicit WorkerClient(WorkerClientOptions options) : options_(std::move(options)) {}

  // Starts the worker, opens the problem in it and runs the judge. The error says why tuning is
  // not possible: no executable, no device, too little memory, a judge that fails.
  absl::Status Open(OpenRequest problem, WirePlan judge);

  // Each plan's status. Those not looked at are kPruned: cancelled, or the worker cannot be started
  // any more; with an error where the machine is at fault, or the worker itself, as when it answers
  // what was not asked. A crash or a hang may have come from outside, so it is a candidate's
  // verdict only where the next worker is lost over the same candidate.
  std::vector<Measurement> Admit(std::span<const std::pair<int, WirePlan>> plans);
  // Of admitted ids; kPruned as above.
  std::vector<Measurement> Measure(std::span<const int> ids, int repeats);

  // OK, or why the worker cannot be started any more.
  const absl::Status& status() const { return status_; }
  const std::string& method() const { return method_; }  // "cupti", "graph", "events"
  const std::string& note() const { return note_; }
  int restarts() const { return restarts_; }

 private:
  absl::Status StartWorker();
  bool EnsureWorker();
  bool Cancelled() const;
  // The answer to a request; a hang, a crash and garbage become answers, too, after which there is
  // no worker. `timeout` counts from the request and from each candidate's first signs, as many as
  // the request calls for; what else the worker says prolongs nothing.
  Reply Ask(const Request& request, std::chrono::milliseconds timeout);
  Reply Lost(CandidateStatus status, int id, std::string error);
  // What a reply about `id` says of it; nothing yet where the worker was lost for the first time.
  std::optional<Measurement> VerdictOn(int id, const Reply& reply);
  Reply AdmitOne(int id, const WirePlan& plan, bool check);
  bool Readmit(std::span<const int> ids, std::map<int, Measurement>& rejected);

  const WorkerClientOptions options_;
  OpenRequest problem_;
  WirePlan judge_;
  std::unique_ptr<ChildProcess> child_;
  std::map<int, WirePlan> admitted_;  // by any worker
  std::map<int, bool> loaded_;        // in the present one
  std::map<int, int> losses_;         // of workers in a row, by what ran; -1: nothing
  absl::Status status_;
  std::string method_;
  std::string note_;
  int restarts_ = -1;
};

}  // namespace tilewright

#endif  // TILEWRIGHT_RUNTIME_WORKER_WORKER_CLIENT_H_
