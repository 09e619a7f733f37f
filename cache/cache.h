// The kernel cache: one SQLite file of cubins, winners and trials. See cache/README.md for the
// on-disk format.
#ifndef TILEWRIGHT_CACHE_CACHE_H_
#define TILEWRIGHT_CACHE_CACHE_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace tilewright {

// One cubin. `key` is the KernelKey's digest.
struct KernelRow {
  std::string key;
  std::string op;  // the op it was first built for
  std::string template_file;
  std::string instantiation;
  std::string lowered_name;  // symbol of the kernel in the cubin
  std::string arch;          // "sm_90a"
  std::string compiler;      // "nvrtc 13.0.88"
  std::string flags;
  std::string closure_digest;
  std::string cubin_digest;  // code, constants and kernel info
  int registers = 0;
  int64_t static_smem_bytes = 0;
  int64_t spill_bytes = 0;
  double compile_ms = 0;
  std::string compile_log;   // empty where NVRTC said nothing
  int64_t created_unix = 0;  // filled by the cache when 0
  int64_t last_used_unix = 0;
  std::string cubin;
  int64_t cubin_bytes = 0;  // filled by the cache, also where `cubin` was not read
};

// The best configuration of one problem among those of one space, as measured with one state of its
// templates. `key` is the ProblemKey's digest.
struct WinnerRow {
  std::string key;
  std::string op;
  std::string dtypes;        // "bfloat16,bfloat16->bfloat16"
  std::string problem_json;  // the problem fields by name
  std::string device;        // DeviceProfile::Key()
  std::string config_json;
  std::string kernel_keys;  // comma-separated, in launch order
  double median_us = 0;
  double sol_us = 0;      // 0: not calibrated
  double efficiency = 0;  // sol_us / median_us
  int trials = 0;
  std::string closure_digest;  // of every template the space can use, as measured
  std::string space_digest;
  std::string version;  // library version that measured
  int64_t tuned_unix = 0;
};

enum class TrialStatus : uint8_t { kOk, kWrong, kFailed, kPruned, kTimeout };
std::string_view TrialStatusName(TrialStatus status);
std::optional<TrialStatus> ParseTrialStatus(std::string_view name);

// One candidate that was measured (or rejected) for one problem.
struct TrialRow {
  std::string problem_key;
  std::string op;
  std::string device;
  std::string config_json;
  std::string closure_digest;
  TrialStatus status = TrialStatus::kOk;
  int samples = 0;
  double median_us = 0;
  double p10_us = 0;
  double p90_us = 0;
  int registers = 0;
  int64_t spill_bytes = 0;
  std::string error;  // why it is not ok
  int64_t measured_unix = 0;
};

// Where a failed or degraded cache reports; each message once. May be called from any thread.
using CacheLog = std::function<void(std::string_view message)>;

// Seams for tests; what is empty is the real thing.
struct CacheEnv {
  std::function<int64_t()> now_unix;
  // statfs(2) f_type of a folder; decides whether the file may use a WAL.
  std::function<int64_t(const std::string& folder)> filesystem_type;
};

struct CacheOptions {
  std::string path;                     // the writable file; empty: memory only
  std::vector<std::string> seed_paths;  // read-only caches beneath it, first match wins
  int64_t max_bytes = 0;                // 0: no limit
  bool read_only = false;
  std::chrono::milliseconds busy_timeout{5000};  // the longest that a call waits for a lock
  CacheLog log;
  CacheEnv env;
};

struct CacheStats {
  int64_t kernels = 0;
  int64_t winners = 0;
  int64_t trials = 0;
  int64_t cubin_bytes = 0;
  int64_t file_bytes = 0;
  int64_t quarantined = 0;  // damaged files and rows that this object set aside
  // What this object found of a damaged file, in words, or empty; and the rows that were damaged or
  // lost with it, the first thousand.
  std::string damage;
  std::vector<std::string> lost;
  int64_t rows_lost = 0;       // how many were lost with it
  bool knows_all_lost = true;  // false: there may have been more
  int64_t damaged_files = 0;   // damaged files kept as "<path>.corrupt-<n>", by any process
  int schema_version = 0;
  std::string path;
  std::string mode;  // "wal", "delete" (network filesystem), "read-only", "memory"
};

// What Check() found: each problem in words, naming table and key; and what became of it.
struct CheckReport {
  int64_t rows_checked = 0;  // the intact ones; of a file that was rebuilt, those that were kept
  int64_t rows_found = 0;    // beside them those that are damaged, or lost with a damaged file
  bool found_all = true;     // false: there may have been more
  std::vector<std::string> problems;
  int64_t deleted = 0;       // damaged rows that are gone from the file
  absl::Status not_deleted;  // why others are still there, not served
  bool rebuilt = false;      // the file, from its intact rows
};

struct MergeReport {
  int64_t kernels_added = 0;
  int64_t winners_added = 0;
  int64_t winners_replaced = 0;
  int64_t trials_added = 0;
  // Rows that failed their checksum or bounds; a damaged file, with what it is known to have lost.
  std::vector<std::string> rejected;
  absl::Status written;  // why the rest could not be stored; what is counted was
};

struct ExportReport {
  int64_t kernels = 0;
  int64_t winners = 0;
  int64_t trials = 0;
  std::vector<std::string> dropped;  // damaged rows, or a damaged file, that are not in the export
};

// One line a row: table, key, operator, what it holds or what differs.
struct CacheDiff {
  int64_t alike = 0;
  std::vector<std::string> only_left;
  std::vector<std::string> only_right;
  std::vector<std::string> differing;
};

// The exclusive right, across processes, to compile one kernel. Released when destroyed or when
// its process dies (an OS file lock, not a process id).
class CompileLock {
 public:
  virtual ~CompileLock() = default;
};

// Purpose: persistence of kernels, winners and trials, shared by processes and threads.
// Thread-safe. A broken or unwritable store degrades to memory with one warning: lookups then miss,
// stores are kept in memory (and written once the store can be written again), and no call fails
// because of the store. Put calls return InvalidArgument for a row out of bounds: sizes, negative
// or non-finite numbers, `*_json` that is not JSON, a cubin of another architecture than its row.
// Open() fails with FailedPrecondition only: for a schema newer than this library, a file of
// another program, or a refused location (a folder that others can write).
// In a child of fork() the cache is a read-only snapshot over memory: SQLite's locks do not survive
// a fork. A child that execs opens its own.
class Cache {
 public:
  static absl::StatusOr<std::unique_ptr<Cache>> Open(CacheOptions options);
  virtual ~Cache() = default;

  virtual std::optional<KernelRow> FindKernel(std::string_view key) = 0;
  virtual bool HasKernel(std::string_view key) = 0;  // metadata only, reads no cubin
  virtual absl::Status PutKernel(const KernelRow& row) = 0;

  // The latest that was measured, whatever with.
  virtual std::optional<WinnerRow> FindWinner(std::string_view problem_key) = 0;
  // That which was measured with these templates in this space.
  virtual std::optional<WinnerRow> FindWinner(std::string_view problem_key,
                                              std::string_view closure_digest,
                                              std::string_view space_digest) = 0;
  // All winners of an op with these dtypes on this device, in key order: of a problem one for each
  // (templates, space) that it was measured with.
  virtual std::vector<WinnerRow> Winners(std::string_view op, std::string_view dtypes,
                                         std::string_view device) = 0;
  // Takes the place of the winner that was measured with the same templates and space.
  virtual absl::Status PutWinner(const WinnerRow& row) = 0;

  virtual std::vector<TrialRow> Trials(std::string_view problem_key) = 0;
  virtual absl::Status PutTrials(const std::vector<TrialRow>& rows) = 0;

  // Every row's metadata (no cubin bytes), in key order; for inspect, coverage and export.
  virtual std::vector<KernelRow> AllKernels() = 0;
  virtual std::vector<WinnerRow> AllWinners() = 0;

  // Waits, bounded by `timeout`, until this process may compile `key`, or until the kernel has
  // appeared (then null; also where it was there from the start, so do not ask for a kernel that is
  // there but unfit: compile that without the lock). DeadlineExceeded after `timeout`: compile
  // without the lock. Excludes threads of this process too.
  virtual absl::StatusOr<std::unique_ptr<CompileLock>> LockCompile(
      std::string_view key, std::chrono::milliseconds timeout) = 0;

  // OK where everything that was put is in the file, or there is none; else why it is not, after
  // trying once more.
  virtual absl::Status Persisted() = 0;
  // The same; where another process has the file locked, such as to repair it, which for a large
  // one takes a while, says so and waits for it, `patience` at most. A file that could not be
  // opened for that is then in use.
  virtual absl::Status PersistedWithin(std::chrono::milliseconds patience) = 0;

  virtual CacheStats Stats() = 0;
  // Reads every row. Damaged ones are deleted where the file can be written, so that they are built
  // anew; a damaged file is rebuilt from its intact rows and kept as "<path>.corrupt-<n>".
  virtual CheckReport Check() = 0;
  // Deletes kernels until the file holds at most `max_bytes`: first those that no winner uses, of
  // ops that have winners (losers of tuning), then others that no winner uses, then winners', each
  // by last use. Returns the number of kernels deleted; winners and trials stay.
  virtual absl::StatusOr<int64_t> Gc(int64_t max_bytes) = 0;
  // Writes everything that lookups see, seeds included, as one self-contained file that opens from
  // a read-only folder. Replaces `path` atomically. What was damaged is left out and reported.
  virtual absl::StatusOr<ExportReport> Export(const std::string& path) = 0;
  // Adds every valid row of another cache file. The result does not depend on merge order: of two
  // winners of the same templates and space the one with the lower median stays, then the lower
  // config text; of others both.
  virtual absl::StatusOr<MergeReport> Merge(const std::string& path) = 0;
  // Compares with another cache file, ignoring times and last use.
  virtual absl::StatusOr<CacheDiff> Diff(const std::string& path) = 0;
};

// OK where the file at `path` can be merged or compared with: a cache, or what is left of one.
absl::Status CheckIsCache(const std::string& path);

// Removes the file at `path` with what belongs to it where it holds no intact row: a cache that was
// made for rows which it then could not take. To be called once it is closed.
void RemoveEmptyCache(const std::string& path);

}  // namespace tilewright

#endif  // TILEWRIGHT_CACHE_CACHE_H_
