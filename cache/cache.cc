#include "cache/cache.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <thread>
#include <utility>

#include "cache/bounds.h"
#include "cache/cache_impl.h"
#include "cache/place.h"
#include "cache/winner_versions.h"
#include "manifest/status.h"

namespace tilewright {
namespace {

constexpr int64_t kSecondsPerDay = 86400;

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
    std::lock_guard<std::mutex> lock(state_->mutex);
    state_->compiling.erase(key_);
  }

 private:
  ProcessState* state_;
  std::string key_;
};

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

// By problem and version; of one version the first layer's.
using VersionedWinners = std::map<std::pair<std::string, std::string>, WinnerRow>;

void Add(WinnerRow row, VersionedWinners& rows) {
  row.key = ProblemOf(row);
  std::pair<std::string, std::string> name(row.key, VersionOf(row));
  rows.try_emplace(std::move(name), std::move(row));
}

std::vector<WinnerRow> ToList(VersionedWinners rows) {
  std::vector<WinnerRow> list;
  for (auto& [name, row] : rows) list.push_back(std::move(row));
  return list;
}

}  // namespace

CacheImpl::~CacheImpl() {
  ProcessState* state = state_.load();
  // A forked child that never used the cache has its parent's state, which is not its to close.
  if (state != nullptr && state->pid == getpid()) delete state;
}

absl::Status CacheImpl::Start() {
  TW_ASSIGN_OR_RETURN(ProcessState * state, NewState(false));
  state_ = state;
  Session tell(*this);
  return absl::OkStatus();
}

absl::StatusOr<ProcessState*> CacheImpl::NewState(bool forked) const {
  auto state = std::make_unique<ProcessState>();
  state->pid = getpid();
  std::lock_guard<std::mutex> lock(state->mutex);
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

std::optional<WinnerRow> CacheImpl::FindWinner(std::string_view problem_key,
                                               std::string_view closure_digest,
                                               std::string_view space_digest) {
  const std::string version = VersionOf(closure_digest, space_digest);
  Session layers(*this);
  std::optional<WinnerRow> found;
  layers->Read([&](Store& store) -> absl::StatusOr<bool> {
    for (const std::string& key : {std::string(problem_key), VersionedKey(problem_key, version)}) {
      TW_ASSIGN_OR_RETURN(found, store.FindWinner(key));
      if (found.has_value() && VersionOf(*found) == version) break;
      found.reset();
    }
    return found.has_value();
  });
  if (found.has_value()) found->key = problem_key;
  return found;
}

std::vector<WinnerRow> CacheImpl::Winners(std::string_view op, std::string_view dtypes,
                                          std::string_view device) {
  Session layers(*this);
  VersionedWinners rows;
  layers->Read([&](Store& store) -> absl::StatusOr<bool> {
    TW_ASSIGN_OR_RETURN(std::vector<WinnerRow> found, store.Winners(op, dtypes, device));
    for (WinnerRow& row : found) Add(std::move(row), rows);
    return false;
  });
  return ToList(std::move(rows));
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
  VersionedWinners rows;
  layers->Read([&](Store& store) -> absl::StatusOr<bool> {
    TW_RETURN_IF_ERROR(store.VisitWinners([&](WinnerRow row) {
      Add(std::move(row), rows);
      return absl::OkStatus();
    }));
    return false;
  });
  return ToList(std::move(rows));
}

absl::StatusOr<std::unique_ptr<CompileLock>> CacheImpl::LockCompile(
    std::string_view key, std::chrono::milliseconds timeout) {
  auto deadline = std::chrono::steady_clock::now() + timeout;
  bool shared = !options_.path.empty() && !options_.read_only && FileMayBeWritten(options_.path);
  auto lock = shared ? ByteLock::Open(LockPath(options_.path))
                     : absl::StatusOr<ByteLock>(absl::UnavailableError("memory only"));
  if (!lock.ok()) return LockInMemory(key, deadline);
  for (Backoff backoff;; backoff.Pause()) {
    auto taken = lock->TryLock(CompileLockOffset(key));
    if (!taken.ok()) return LockInMemory(key, deadline);
    // Looked at after the lock was taken: its last owner may have just stored the kernel. The row
    // is read whole, since a damaged one is to be compiled again.
    if (HasKernel(key) && FindKernel(key)) return nullptr;
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
      std::lock_guard<std::mutex> lock(state->mutex);
      taken = state->compiling.emplace(key).second;
    }
    std::unique_ptr<CompileLock> held;
    if (taken) held = std::make_unique<MemoryCompileLock>(state, std::string(key));
    if (HasKernel(key) && FindKernel(key)) return nullptr;
    if (taken) return held;
    if (std::chrono::steady_clock::now() >= deadline) break;
  }
  return absl::DeadlineExceededError(
      Cat("kernel cache: another thread still compiles kernel ", key));
}

absl::StatusOr<std::unique_ptr<Cache>> Cache::Open(CacheOptions options) {
  if (!options.path.empty()) {
    TW_RETURN_IF_ERROR(RefuseIrregular(options.path));
    // One name for the file, whatever the current folder becomes and wherever links lead: SQLite
    // names the WAL by it, and so does everything here.
    std::error_code error;
    auto canonical = std::filesystem::absolute(options.path, error);
    if (!error) canonical = std::filesystem::weakly_canonical(canonical, error);
    if (!error) options.path = canonical.string();
  }
  auto cache = std::make_unique<CacheImpl>(std::move(options));
  TW_RETURN_IF_ERROR(cache->Start());
  return cache;
}

}  // namespace tilewright
