// A child process that is spoken to by lines.
#ifndef TILEWRIGHT_RUNTIME_WORKER_CHILD_PROCESS_H_
#define TILEWRIGHT_RUNTIME_WORKER_CHILD_PROCESS_H_

#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace tilewright {

// When to wait no longer for a process that does not read or write.
struct Patience {
  std::chrono::steady_clock::time_point deadline;
  const std::atomic<bool>* cancelled = nullptr;

  bool IsCancelled() const { return cancelled != nullptr && cancelled->load(); }
};

// Exec'ed, never a fork that runs on; its standard error is the parent's. Killed and reaped at the
// end of its life. Not thread-safe.
class ChildProcess {
 public:
  // NotFound where there is no such program; Internal where it cannot be started.
  static absl::StatusOr<std::unique_ptr<ChildProcess>> Start(const std::string& program,
                                                             const std::vector<std::string>& args);
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  // Unavailable where the child is gone or closed its input; DeadlineExceeded where it does not
  // read; Cancelled.
  absl::Status WriteLine(std::string_view line, const Patience& patience);
  // The next line of its output, however the child writes. DeadlineExceeded; Cancelled;
  // Unavailable, saying how the child ended, at the end of its output; ResourceExhausted for a line
  // of more than kMostLineBytes, after which no other can be read.
  static constexpr size_t kMostLineBytes = size_t{16} << 20;
  absl::StatusOr<std::string> ReadLine(const Patience& patience);

  // Ends it at once (SIGKILL) and waits for it; for a few seconds, where the system does not let it
  // end (it waits for a device).
  void Kill();
  pid_t pid() const { return pid_; }

 private:
  ChildProcess(pid_t pid, int to, int from) : pid_(pid), to_(to), from_(from) {}
  std::string HowItEnded();
  bool Reap();  // true where it has ended

  pid_t pid_;
  int to_;
  int from_;
  bool reaped_ = false;
  int exit_status_ = 0;
  std::string buffered_;
  size_t searched_ = 0;  // bytes of it that are known to hold no end of a line
};

}  // namespace tilewright

#endif  // TILEWRIGHT_RUNTIME_WORKER_CHILD_PROCESS_H_
