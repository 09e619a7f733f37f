#include "cache/cache.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <map>
#include <set>
#include <thread>
#include <utility>

#include "absl/synchronization/mutex.h"
#include "cache/layers.h"
#include "cache/place.h"
#include "cache/repair.h"
#include "cache/rows.h"
#include "cache/schema.h"
#include "cache/transfer.h"
#include "manifest/status.h"

namespace tilewright {
namespace {

constexpr int64_t kSecondsPerDay = 86400;
constexpr size_t kMergeBatch = 64;

// What one process has of the cache. A forked child makes its own and leaks its parent's: SQLite
// connections must not be used, nor closed, in a child.
struct ProcessState {
  pid_t pid = 0;
  absl::Mutex mutex;
  std::unique_ptr<Layers> layers ABSL_GUARDED_BY(mutex);
  // Compile locks where there is no lock file.
  std::set<std::string, std::less<>> compiling ABSL_GUARDED_BY(mutex);
};

class FileCompileLock : public CompileLock {
 public:
  explicit FileCompileLock(ByteLock lock) : lock_(std::move(lock)) {}

 private:
  ByteLock lock_;
};

class MemoryCompileLock : public CompileLock {
 public:
  MemoryCompileLock(ProcessState* state, std::string key) : state_(state), key_(std::move(key)) {}
  ~MemoryCompileLock() override {
    if (state_->pid != getpid()) return;
    absl::MutexLock lock(&state_->mutex);
    state_->compiling.erase(key_);
  }

 private:
  ProcessState* state_;
  std::string key_;
};

class CacheImpl : public Cache {
 public:
  explicit CacheImpl(CacheOptions options) : options_(std::move(options)) {}
  ~CacheImpl() override {
    ProcessState* state = state_.load();
    if (state == nullptr || state->pid != getpid()) return;
    { Session flush(*this); }
    delete state;
  }

  absl::Status Start() {
    TW_ASSIGN_OR_RETURN(ProcessState * state, NewState(false));
    state_ = state;
    Session tell(*this);
    return absl::OkStatus();
  }

  std::optional<KernelRow> FindKernel(std::string_view key) override;
  bool HasKernel(std::string_view key) override;
  absl::Status PutKernel(const KernelRow& row) override;
  std::optional<WinnerRow> FindWinner(std::string_view problem_key) override;
  std::vector<WinnerRow> Winners(std::string_view op, std::string_view dtypes,
                                 std::string_view device) override;
  absl::Status PutWinner(const WinnerRow& row) override;
  std::vector<TrialRow> Trials(std::string_view problem_key) override;
  absl::Status PutTrials(const std::vector<TrialRow>& rows) override;
  std::vector<KernelRow> AllKernels() override;
  std::vector<WinnerRow> AllWinners() override;
  absl::StatusOr<std::unique_ptr<CompileLock>> LockCompile(
      std::string_view key, std::chrono::milliseconds timeout) override;
  CacheStats Stats() override;
  CheckReport Check() override;
  absl::StatusOr<int64_t> Gc(int64_t max_bytes) override;
  absl::Status Export(const std::string& path) override;
  absl::StatusOr<MergeReport> Merge(const std::string& path) override;
  absl::StatusOr<CacheDiff> Diff(const std::string& path) override;

 private:
  // The layers of this process, locked. Messages are logged after the lock is released, so that a
  // logger may use the cache.
  class Session {
   public:
    explicit Session(CacheImpl& cache) : cache_(cache), state_(cache.State()) {
      state_->mutex.Lock();
    }
    ~Session() ABSL_NO_THREAD_SAFETY_ANALYSIS {
      std::vector<std::string> messages = state_->layers->TakeMessages();
      state_->mutex.Unlock();
      if (!cache_.options_.log) return;
      for (const std::string& message : messages) cache_.options_.log(message);
    }
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;
    Layers* operator->() const ABSL_NO_THREAD_SAFETY_ANALYSIS { return state_->layers.get(); }

   private:
    CacheImpl& cache_;
    ProcessState* state_;
  };

  absl::StatusOr<ProcessState*> NewState(bool forked) const;
  ProcessState* State();
  absl::StatusOr<std::unique_ptr<CompileLock>> LockInMemory(
      std::string_view key, std::chrono::steady_clock::time_point deadline);
  absl::Status MergeBatch(std::vector<KernelRow>& batch, MergeReport& report);

  const CacheOptions options_;
  std::atomic<ProcessState*> state_ = nullptr;
};

absl::StatusOr<ProcessState*> CacheImpl::NewState(bool forked) const {
  auto state = std::make_unique<ProcessState>();
  state->pid = getpid();
  absl::MutexLock lock(&state->mutex);
  TW_ASSIGN_OR_RETURN(state->layers, Layers::Open(options_, forked));
  return state.release();
}

ProcessState* CacheImpl::State() {
  ProcessState* state = state_.load();
  if (state->pid == getpid()) return state;
  ProcessState* mine = NewState(true).value();  // a snapshot cannot fail to open
  if (state_.compare_exchange_strong(state, mine)) return mine;
  delete mine;  // another thread of this child was faster
  return state;
}

// Bounded pauses between looks at a lock that another holds.
class Backoff {
 public:
  void Pause() {
    std::this_thread::sleep_for(pause_);
    pause_ = std::min(pause_ * 2, std::chrono::milliseconds(20));
  }

 private:
  std::chrono::milliseconds pause_{1};
};

std::optional<KernelRow> CacheImpl::FindKernel(std::string_view key) {
  Session layers(*this);
  std::optional<KernelRow> found;
  layers->Read([&](Store& store) -> absl::StatusOr<bool> {
    TW_ASSIGN_OR_RETURN(found, store.FindKernel(key));
    if (!found) return false;
    // The time of last use is kept to the day: a hit must not write.
    bool stale = layers->NowUnix() - found->last_used_unix >= kSecondsPerDay;
    if (stale && &store == layers->file() && store.writable()) layers->Touch(key);
    return true;
  });
  return found;
}

bool CacheImpl::HasKernel(std::string_view key) {
  Session layers(*this);
  bool has = false;
  layers->Read([&](Store& store) -> absl::StatusOr<bool> {
    TW_ASSIGN_OR_RETURN(has, store.HasKernel(key));
    return has;
  });
  return has;
}

absl::Status CacheImpl::PutKernel(const KernelRow& row) {
  TW_RETURN_IF_ERROR(CheckBounds(row));
  Session layers(*this);
  KernelRow stored = row;
  if (stored.created_unix == 0) stored.created_unix = layers->NowUnix();
  if (stored.last_used_unix == 0) stored.last_used_unix = stored.created_unix;
  TW_RETURN_IF_ERROR(layers->Write(
      [&](Store& store) { return store.PutKernel(stored, Conflict::kReplace).status(); }));
  layers->EnforceLimit(row.key);
  return absl::OkStatus();
}

std::optional<WinnerRow> CacheImpl::FindWinner(std::string_view problem_key) {
  Session layers(*this);
  std::optional<WinnerRow> found;
  layers->Read([&](Store& store) -> absl::StatusOr<bool> {
    TW_ASSIGN_OR_RETURN(found, store.FindWinner(problem_key));
    return found.has_value();
  });
  return found;
}

std::vector<WinnerRow> CacheImpl::Winners(std::string_view op, std::string_view dtypes,
                                          std::string_view device) {
  Session layers(*this);
  std::map<std::string, WinnerRow> rows;
  layers->Read([&](Store& store) -> absl::StatusOr<bool> {
    TW_ASSIGN_OR_RETURN(std::vector<WinnerRow> found, store.Winners(op, dtypes, device));
    for (WinnerRow& row : found) rows.try_emplace(row.key, std::move(row));
    return false;
  });
  std::vector<WinnerRow> winners;
  for (auto& [key, row] : rows) winners.push_back(std::move(row));
  return winners;
}

absl::Status CacheImpl::PutWinner(const WinnerRow& row) {
  TW_RETURN_IF_ERROR(CheckBounds(row));
  Session layers(*this);
  WinnerRow stored = row;
  if (stored.tuned_unix == 0) stored.tuned_unix = layers->NowUnix();
  return layers->Write(
      [&](Store& store) { return store.PutWinner(stored, Conflict::kReplace).status(); });
}

std::vector<TrialRow> CacheImpl::Trials(std::string_view problem_key) {
  Session layers(*this);
  std::map<std::pair<std::string, std::string>, TrialRow> rows;
  layers->Read([&](Store& store) -> absl::StatusOr<bool> {
    TW_ASSIGN_OR_RETURN(std::vector<TrialRow> found, store.Trials(problem_key));
    for (TrialRow& row : found) {
      rows.try_emplace({row.config_json, row.closure_digest}, std::move(row));
    }
    return false;
  });
  std::vector<TrialRow> trials;
  for (auto& [key, row] : rows) trials.push_back(std::move(row));
  return trials;
}

absl::Status CacheImpl::PutTrials(const std::vector<TrialRow>& rows) {
  for (const TrialRow& row : rows) TW_RETURN_IF_ERROR(CheckBounds(row));
  if (rows.empty()) return absl::OkStatus();
  Session layers(*this);
  return layers->Write([&](Store& store) -> absl::Status {
    for (const TrialRow& row : rows) {
      TrialRow stored = row;
      if (stored.measured_unix == 0) stored.measured_unix = layers->NowUnix();
      TW_RETURN_IF_ERROR(store.PutTrial(stored, Conflict::kReplace).status());
    }
    return absl::OkStatus();
  });
}

std::vector<KernelRow> CacheImpl::AllKernels() {
  Session layers(*this);
  std::map<std::string, KernelRow> rows;
  layers->Read([&](Store& store) -> absl::StatusOr<bool> {
    TW_RETURN_IF_ERROR(store.VisitKernels(false, [&](KernelRow row, std::string_view) {
      rows.try_emplace(row.key, std::move(row));
      return absl::OkStatus();
    }));
    return false;
  });
  std::vector<KernelRow> kernels;
  for (auto& [key, row] : rows) kernels.push_back(std::move(row));
  return kernels;
}

std::vector<WinnerRow> CacheImpl::AllWinners() {
  Session layers(*this);
  std::map<std::string, WinnerRow> rows;
  layers->Read([&](Store& store) -> absl::StatusOr<bool> {
    TW_RETURN_IF_ERROR(store.VisitWinners([&](WinnerRow row) {
      rows.try_emplace(row.key, std::move(row));
      return absl::OkStatus();
    }));
    return false;
  });
  std::vector<WinnerRow> winners;
  for (auto& [key, row] : rows) winners.push_back(std::move(row));
  return winners;
}

absl::StatusOr<std::unique_ptr<CompileLock>> CacheImpl::LockCompile(
    std::string_view key, std::chrono::milliseconds timeout) {
  auto deadline = std::chrono::steady_clock::now() + timeout;
  bool shared = !options_.path.empty() && !options_.read_only && State() != nullptr;
  auto lock = shared ? ByteLock::Open(LockPath(options_.path))
                     : absl::StatusOr<ByteLock>(absl::UnavailableError("memory only"));
  if (!lock.ok()) return LockInMemory(key, deadline);
  for (Backoff backoff;; backoff.Pause()) {
    auto taken = lock->TryLock(CompileLockOffset(key));
    if (!taken.ok()) return LockInMemory(key, deadline);
    // Looked at after the lock was taken: its last owner may have just stored the kernel.
    if (HasKernel(key)) return nullptr;
    if (*taken) return std::make_unique<FileCompileLock>(std::move(lock).value());
    if (std::chrono::steady_clock::now() >= deadline) break;
  }
  return absl::DeadlineExceededError(
      Cat("kernel cache: another process still compiles kernel ", key));
}

absl::StatusOr<std::unique_ptr<CompileLock>> CacheImpl::LockInMemory(
    std::string_view key, std::chrono::steady_clock::time_point deadline) {
  ProcessState* state = State();
  for (Backoff backoff;; backoff.Pause()) {
    bool taken = false;
    {
      absl::MutexLock lock(&state->mutex);
      taken = state->compiling.emplace(key).second;
    }
    std::unique_ptr<CompileLock> held;
    if (taken) held = std::make_unique<MemoryCompileLock>(state, std::string(key));
    if (HasKernel(key)) return nullptr;
    if (taken) return held;
    if (std::chrono::steady_clock::now() >= deadline) break;
  }
  return absl::DeadlineExceededError(
      Cat("kernel cache: another thread still compiles kernel ", key));
}

CacheStats CacheImpl::Stats() {
  Session layers(*this);
  CacheStats stats;
  layers->Read([](Store&) -> absl::StatusOr<bool> { return true; });  // reopens if need be
  stats.path = options_.path;
  stats.mode = layers->mode();
  stats.schema_version = SchemaVersion();
  for (Store* store : {layers->file(), layers->memory()}) {
    if (store == nullptr) continue;
    Connection& db = store->db();
    stats.kernels += db.QueryInt("SELECT count(*) FROM kernels").value_or(0);
    stats.winners += db.QueryInt("SELECT count(*) FROM winners").value_or(0);
    stats.trials += db.QueryInt("SELECT count(*) FROM trials").value_or(0);
    stats.cubin_bytes +=
        db.QueryInt("SELECT coalesce(sum(length(bytes)), 0) FROM kernel_bytes").value_or(0);
  }
  if (!options_.path.empty()) {
    stats.file_bytes = FileBytes(options_.path) + FileBytes(options_.path + "-wal");
  }
  stats.quarantined = layers->quarantined();
  return stats;
}

CheckReport CacheImpl::Check() {
  Session layers(*this);
  CheckReport report;
  std::string broken;
  layers->Read([&](Store& store) -> absl::StatusOr<bool> {
    auto count = [&](auto&&...) {
      ++report.rows_checked;
      return absl::OkStatus();
    };
    for (absl::Status status :
         {store.VisitKernels(true, count), store.VisitWinners(count), store.VisitTrials(count)}) {
      if (!status.ok()) report.problems.emplace_back(status.message());
    }
    for (const std::string& row : store.PeekDamage()) {
      report.problems.push_back(row + ": the checksum does not match");
    }
    auto verdict = store.db().QueryText("PRAGMA integrity_check(1)");
    std::string text = verdict.ok() ? *verdict : std::string(verdict.status().message());
    if (text != "ok") {
      report.problems.push_back(Cat("file: ", text));
      if (&store == layers->file()) broken = text;
    }
    return false;
  });
  if (!broken.empty() && layers->FileIsWritable()) layers->RepairFile(broken);
  return report;
}

absl::StatusOr<int64_t> CacheImpl::Gc(int64_t max_bytes) {
  if (max_bytes < 0) {
    return InvalidArgument("kernel cache: gc: expected max_bytes of at least 0, got ", max_bytes);
  }
  Session layers(*this);
  return layers->Shrink(max_bytes, "");
}

absl::Status CacheImpl::Export(const std::string& path) {
  if (IdOf(path) != FileId{} && IdOf(path) == IdOf(options_.path)) {
    return InvalidArgument("kernel cache: export: expected another path than the cache's own, got ",
                           path);
  }
  Session layers(*this);
  std::string partial = Cat(path, ".partial-", getpid());
  unlink(partial.c_str());
  TW_RETURN_IF_ERROR(CreateFile(partial));
  absl::Status status = [&]() -> absl::Status {
    TW_ASSIGN_OR_RETURN(std::unique_ptr<Store> out,
                        Store::Open(partial, Connection::Mode::kReadWrite, options_.busy_timeout));
    return out->Write([&] {
      absl::Status copied;
      layers->Read([&](Store& store) -> absl::StatusOr<bool> {
        absl::Status status = CopyRows(store, *out, Conflict::kKeep);
        if (!status.ok() && !absl::IsDataLoss(status)) copied = status;
        return status.ok() ? absl::StatusOr<bool>(false) : status;
      });
      return copied;
    });
  }();
  // Made to be shipped: readable by all.
  if (status.ok() && (chmod(partial.c_str(), 0644) != 0 || rename(partial.c_str(), path.c_str()))) {
    status = ResourceExhausted("kernel cache: export: cannot write ", path, ": ", strerror(errno));
  }
  if (!status.ok()) unlink(partial.c_str());
  return status;
}

absl::Status CacheImpl::MergeBatch(std::vector<KernelRow>& batch, MergeReport& report) {
  Session layers(*this);
  int64_t added = 0;
  TW_RETURN_IF_ERROR(layers->Write([&](Store& store) -> absl::Status {
    added = 0;
    for (const KernelRow& row : batch) {
      TW_ASSIGN_OR_RETURN(Outcome outcome, store.PutKernel(row, Conflict::kBetter));
      if (outcome == Outcome::kAdded) ++added;
    }
    return absl::OkStatus();
  }));
  report.kernels_added += added;
  batch.clear();
  return absl::OkStatus();
}

// Another cache file; where it is damaged, what can be salvaged of it.
absl::StatusOr<std::unique_ptr<Store>> OpenForeign(const std::string& path) {
  if (IdOf(path) == FileId{}) return NotFound("kernel cache: no file at ", path);
  auto store = OpenReadOnlyStore(path, std::chrono::seconds(5));
  if (store.ok()) {
    auto verdict = (*store)->db().QueryText("PRAGMA quick_check(1)");
    if (verdict.ok() && *verdict == "ok") return store;
  } else if (!absl::IsDataLoss(store.status())) {
    return store.status();
  }
  TW_ASSIGN_OR_RETURN(std::unique_ptr<Store> salvaged, Store::OpenMemory());
  TW_RETURN_IF_ERROR(Salvage(path, path + "-wal", *salvaged).status());
  return salvaged;
}

absl::StatusOr<MergeReport> CacheImpl::Merge(const std::string& path) {
  MergeReport report;
  if (!options_.path.empty() && IdOf(path) == IdOf(options_.path) && IdOf(path) != FileId{}) {
    return report;
  }
  TW_ASSIGN_OR_RETURN(std::unique_ptr<Store> from, OpenForeign(path));
  std::vector<KernelRow> batch;
  TW_ASSIGN_OR_RETURN(ForeignRows rows, ReadForeign(*from, [&](KernelRow row) {
                        batch.push_back(std::move(row));
                        return batch.size() < kMergeBatch ? absl::OkStatus()
                                                          : MergeBatch(batch, report);
                      }));
  TW_RETURN_IF_ERROR(MergeBatch(batch, report));
  report.rejected = std::move(rows.rejected);
  MergeReport counted;
  Session layers(*this);
  TW_RETURN_IF_ERROR(layers->Write([&](Store& store) -> absl::Status {
    counted = report;
    for (const WinnerRow& row : rows.winners) {
      TW_ASSIGN_OR_RETURN(Outcome outcome, store.PutWinner(row, Conflict::kBetter));
      counted.winners_added += outcome == Outcome::kAdded ? 1 : 0;
      counted.winners_replaced += outcome == Outcome::kReplaced ? 1 : 0;
    }
    for (const TrialRow& row : rows.trials) {
      TW_ASSIGN_OR_RETURN(Outcome outcome, store.PutTrial(row, Conflict::kBetter));
      counted.trials_added += outcome == Outcome::kAdded ? 1 : 0;
    }
    return absl::OkStatus();
  }));
  layers->EnforceLimit("");
  return counted;
}

absl::StatusOr<CacheDiff> CacheImpl::Diff(const std::string& path) {
  TW_ASSIGN_OR_RETURN(std::unique_ptr<Store> other, OpenForeign(path));
  Summaries right;
  TW_RETURN_IF_ERROR(Summarize(*other, right));
  Summaries left;
  Session layers(*this);
  layers->Read([&](Store& store) -> absl::StatusOr<bool> {
    TW_RETURN_IF_ERROR(Summarize(store, left));
    return false;
  });
  return Compare(left, right);
}

}  // namespace

absl::StatusOr<std::unique_ptr<Cache>> Cache::Open(CacheOptions options) {
  auto cache = std::make_unique<CacheImpl>(std::move(options));
  TW_RETURN_IF_ERROR(cache->Start());
  return cache;
}

}  // namespace tilewright
