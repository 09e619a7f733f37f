// Benchmark results: rows, what they are compared with, and the CSV that keeps them.
#ifndef TILEWRIGHT_TOOLS_BENCH_ROWS_H_
#define TILEWRIGHT_TOOLS_BENCH_ROWS_H_

#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/csv.h"

namespace tilewright {

// One workload at one dtype. `efficiency` is speed of light over the median; `ratio` the best peer
// of the same run over the median (above 1: ours is faster); `bar_us` the catalog's published
// figure. 0: not known.
struct BenchRow {
  std::string op;
  std::string name;  // "square-1k-nn-float16"
  std::string dtype;
  std::string config;   // Config::ToJson()
  std::string quality;  // "winner", "neighbour", "default"
  std::string method;   // of timing
  std::string inputs;   // distribution of the floating inputs: "normal", N(0, 1)
  double median_us = 0;
  double p10_us = 0;
  double p90_us = 0;
  double sol_us = 0;
  double efficiency = 0;
  std::string peer;
  double peer_us = 0;
  double ratio = 0;
  double bar_us = 0;
  std::string device;      // "NVIDIA H200"
  std::string driver;      // "580.159.04, CUDA 13.0"
  std::string date;        // of the run, UTC: "2026-11-30"
  std::string commit;      // of the source, as given
  std::string peer_error;  // why a peer could not be measured; not kept in the CSV
};

std::string BenchCsvHeader();
std::string BenchCsvLine(const BenchRow& row);
absl::StatusOr<std::vector<BenchRow>> ReadBenchCsv(const std::string& path);

// A peer's time for a row; the best of several is kept.
void OfferPeer(BenchRow& row, const std::string& peer, double peer_us);

// The catalog's figures, by op and case: the file's columns are op, case and bar_us among others.
absl::Status AddCatalogBars(const std::string& path, std::span<BenchRow> rows);

// Where `now` is slower than `before` beyond noise: its p10 lies above the older p90, and its
// median by more than 3% and 0.2 us above the older median. One line each. A row of `before` that
// `now` lacks is named too.
std::vector<std::string> Regressions(std::span<const BenchRow> before,
                                     std::span<const BenchRow> now);

// Rows whose efficiency cannot be: above 1.05, or 0 where there is a speed of light.
std::vector<std::string> ModelFailures(std::span<const BenchRow> rows);

// Geometric means by op of bar_us / median_us and of `ratio`, one line an op.
std::vector<std::string> Summary(std::span<const BenchRow> rows);

}  // namespace tilewright

#endif  // TILEWRIGHT_TOOLS_BENCH_ROWS_H_
