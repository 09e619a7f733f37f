// Running operators on a GPU against their references.
#ifndef TILEWRIGHT_RUNTIME_CONFORM_CONFORMANCE_H_
#define TILEWRIGHT_RUNTIME_CONFORM_CONFORMANCE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/conform/ledger.h"
#include "runtime/driver/driver.h"
#include "runtime/runtime.h"

namespace tilewright {

struct ConformOptions {
  std::vector<std::string> ops;  // empty: every one that has kernels
  std::string case_filter;       // part of the case's name; empty: all
  int device = 0;
  bool workloads = true;
  bool edges = true;
  bool graphs = true;      // capture and replay with changed inputs
  int candidates = 2;      // random legal configurations of each workload, beside every variant
  int64_t samples = 4096;  // elements checked of a large output
  double budget_s = 0;     // 0: no limit; no new configuration starts beyond it
  uint64_t seed = 0;       // 0: fresh
  std::function<void(const LedgerRow&)> on_row;    // each row as it comes
  std::function<void(std::string_view)> progress;  // one line a case
};

struct ConformReport {
  std::vector<LedgerRow> rows;
  int64_t passed = 0;
  int64_t wrong = 0;
  int64_t errors = 0;
  bool out_of_budget = false;
  std::string stopped;  // why the run ended early: the device was lost; empty if it did not
  bool ok() const { return wrong == 0 && errors == 0 && stopped.empty(); }
};

// Opens a runtime of its own each time: memory-only cache (the user's cache as its seed, so that
// cubins are reused), tuning policy kNever. A configuration is tested by making it the winner of
// its problem in such a runtime, so that it takes the path that any call takes.
using RuntimeFactory = std::function<absl::StatusOr<std::unique_ptr<Runtime>>()>;

// Every workload at every dtype, and every edge case, against the reference: what `served` would
// run, the default, every other variant and sampled candidates; normal, small-integer and special
// inputs drawn fresh; outputs poisoned, guard bytes and inputs checked; captured in a graph and
// replayed twice with new inputs. Whatever fails is a row (wrong, or error with the text), never an
// error of the run; that is FailedPrecondition without a driver, NotFound for an unknown op.
absl::StatusOr<ConformReport> RunConformance(Runtime& served, Driver& driver,
                                             const RuntimeFactory& open,
                                             const ConformOptions& options);

}  // namespace tilewright

#endif  // TILEWRIGHT_RUNTIME_CONFORM_CONFORMANCE_H_
