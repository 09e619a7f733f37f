// Cache over Layers: one lock, and what a fork needs.
#ifndef TILEWRIGHT_CACHE_CACHE_IMPL_H_
#define TILEWRIGHT_CACHE_CACHE_IMPL_H_

#include <sys/types.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "cache/cache.h"
#include "cache/layers.h"

namespace tilewright {

// What one process has of the cache. A forked child makes its own and leaks its parent's: SQLite
// connections must not be used, nor closed, in a child.
struct ProcessState {
  pid_t pid = 0;
  // std::mutex, which the thread sanitizer sees through.
  std::mutex mutex;
  std::unique_ptr<Layers> layers;  // guarded by mutex
  // Compile locks where there is no lock file; guarded by mutex.
  std::set<std::string, std::less<>> compiling;
};

class CacheImpl : public Cache {
 public:
  explicit CacheImpl(CacheOptions options) : options_(std::move(options)) {}
  ~CacheImpl() override;
  // Opens the layers; to be called once, before anything else.
  absl::Status Start();

  std::optional<KernelRow> FindKernel(std::string_view key) override;
  bool HasKernel(std::string_view key) override;
  absl::Status PutKernel(const KernelRow& row) override;
  std::optional<WinnerRow> FindWinner(std::string_view problem_key) override;
  std::optional<WinnerRow> FindWinner(std::string_view problem_key, std::string_view closure_digest,
                                      std::string_view space_digest) override;
  std::vector<WinnerRow> Winners(std::string_view op, std::string_view dtypes,
                                 std::string_view device) override;
  absl::Status PutWinner(const WinnerRow& row) override;
  std::vector<TrialRow> Trials(std::string_view problem_key) override;
  absl::Status PutTrials(const std::vector<TrialRow>& rows) override;
  std::vector<KernelRow> AllKernels() override;
  std::vector<WinnerRow> AllWinners() override;
  absl::StatusOr<std::unique_ptr<CompileLock>> LockCompile(
      std::string_view key, std::chrono::milliseconds timeout) override;
  absl::Status Persisted() override;
  absl::Status PersistedWithin(std::chrono::milliseconds patience) override;
  CacheStats Stats() override;
  CheckReport Check() override;
  absl::StatusOr<int64_t> Gc(int64_t max_bytes) override;
  absl::StatusOr<ExportReport> Export(const std::string& path) override;
  absl::StatusOr<MergeReport> Merge(const std::string& path) override;
  absl::StatusOr<CacheDiff> Diff(const std::string& path) override;

 private:
  // The layers of this process, locked. Messages are logged after the lock is released, so that a
  // logger may use the cache.
  class Session {
   public:
    explicit Session(CacheImpl& cache) : cache_(cache), state_(cache.State()) {
      state_->mutex.lock();
    }
    ~Session() {
      std::vector<std::string> messages = state_->layers->TakeMessages();
      state_->mutex.unlock();
      if (!cache_.options_.log) return;
      for (const std::string& message : messages) cache_.options_.log(message);
    }
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;
    Layers* operator->() const { return state_->layers.get(); }

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

}  // namespace tilewright

#endif  // TILEWRIGHT_CACHE_CACHE_IMPL_H_
