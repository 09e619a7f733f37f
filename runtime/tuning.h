// Tuning one problem: its candidates, the search, and what of it is kept in the cache.
#ifndef TILEWRIGHT_RUNTIME_TUNING_H_
#define TILEWRIGHT_RUNTIME_TUNING_H_

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "autotune/tuner.h"
#include "cache/cache.h"
#include "kernel_templates/recipe.h"
#include "manifest/call_desc.h"
#include "manifest/device_profile.h"
#include "runtime/kernel_store.h"
#include "runtime/worker_evaluator.h"

namespace tilewright {

// Every legal point of every variant that serves the call, with its modelled time.
std::vector<Candidate> TuningCandidates(const Recipe& recipe, const CallDesc& call,
                                        const DeviceProfile& device);

// The worker executable: `explicit_path`, else beside this library or the running program, or in
// ../bin or ../libexec/tilewright from there. NotFound lists where it was sought.
absl::StatusOr<std::string> FindWorker(const std::string& explicit_path);

struct TuningOptions {
  TuneOptions search;  // sol_us, first and on_trial are set here
  WorkerEvaluatorOptions evaluator;
  // Measures everything anew, whatever the cache knows.
  bool afresh = false;
  // How long to wait for another process that tunes this problem into the same cache.
  std::chrono::milliseconds turn_timeout{std::chrono::minutes(10)};
  // After that: true to leave the problem to the other one, false to search all the same.
  bool must_have_turn = false;
  // Held from then on, so that threads of one process do not measure at once. May be null.
  std::mutex* measuring = nullptr;
  // Told once, where the other process is waited for.
  std::function<void(std::string_view)> notice;
  // For tests: replaces the worker.
  std::function<std::unique_ptr<Evaluator>()> make_evaluator;
};

struct TuningReport {
  WinnerRow winner;
  std::vector<Trial> trials;
  int64_t legal = 0;
  int measured = 0;   // trials that are new
  double gpu_us = 0;  // that their samples took
  // False: the trials are kept, the winner is not. The search was cancelled, or `cut_short` says
  // what this machine lacks to do all of it.
  bool complete = true;
  std::string cut_short;
  bool was_tuned = false;  // the cache had a winner of this very space and these templates
  std::string method;      // how times were taken; empty where nothing was measured
  std::string note;        // why not by CUPTI
};

// Tunes `call` on `device` and persists trials as they come, and then the winner. Trials made with
// templates and a space as they are now are not measured again; a winner of other templates is
// measured first, not trusted. Errors:
//   FailedPrecondition  no variant serves the call; the worker cannot start (serve the default)
//   ResourceExhausted   nothing was measured for want of memory, file handles or scratch space
//   NotFound            no worker executable; or no candidate is usable, with the reasons
//   Cancelled           cancelled before anything was measured
//   DeadlineExceeded    another process tunes the problem, and `must_have_turn`
absl::StatusOr<TuningReport> TuneProblem(const CallDesc& call, const Recipe& recipe,
                                         const DeviceProfile& device, KernelStore& kernels,
                                         Cache& cache, TuningOptions options);

}  // namespace tilewright

#endif  // TILEWRIGHT_RUNTIME_TUNING_H_
