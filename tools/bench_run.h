// Measures workloads on a GPU, ours and the peers in the same run.
#ifndef TILEWRIGHT_TOOLS_BENCH_RUN_H_
#define TILEWRIGHT_TOOLS_BENCH_RUN_H_

#include <atomic>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/bench_rows.h"
#include "tools/gpu_session.h"
#include "tools/shape_file.h"

namespace tilewright {

struct BenchCase {
  std::string name;  // "square-1k-nn-float16"
  CallDesc call;
};
// Every workload of the op at every dtype it names.
absl::StatusOr<std::vector<BenchCase>> BenchCases(const OpSpec& op);

struct BenchOptions {
  int repeats = 50;
  bool clean_l2 = false;  // as in TimerOptions; the rows say so in their method
  bool cublaslt = true;
  std::string cublaslt_library;  // empty: searched
};

// Ours as the cache serves it, and for matrix products the best of all of cuBLASLt's algorithms, in
// interleaved samples with a cold L2 and random inputs that rotate. A peer that cannot run is told
// of in the row, and costs only its own time.
absl::StatusOr<BenchRow> MeasureCase(GpuSession& gpu, const BenchCase& bench_case,
                                     const BenchOptions& options);

struct BenchMeasured {
  std::vector<BenchRow> rows;
  std::vector<BenchCase> cases;  // of the rows
  std::vector<std::string> findings;
};

// Measures one case after another. A case that fails is a finding and no row; once `interrupted` is
// set no case starts, and a finding says how far the run came.
BenchMeasured MeasureCases(
    std::span<const BenchCase> cases, const std::atomic<bool>& interrupted,
    const std::function<absl::StatusOr<BenchRow>(const BenchCase&)>& measure);

// Runs `python script` (bench/peers/torch_peers.py) on the cases and offers its times to the rows.
absl::Status MeasureTorchPeers(const std::string& python, const std::string& script,
                               const BenchOptions& options, std::span<const BenchCase> cases,
                               std::span<BenchRow> rows);

}  // namespace tilewright

#endif  // TILEWRIGHT_TOOLS_BENCH_RUN_H_
