// A child process that is spoken to by lines.
#ifndef TILEWRIGHT_RUNTIME_WORKER_CHILD_PROCESS_H_
#define TILEWRIGHT_RUNTIME_WORKER_CHILD_PROCESS_H_

#include <sys/types.h>

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace tilewright {

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
  // read.
  absl::Status WriteLine(std::string_view line, std::chrono::milliseconds timeout);
  // The next line of its output. DeadlineExceeded after `timeout`; Unavailable, saying how the
  // child ended, at the end of its output.
  absl::StatusOr<std::string> ReadLine(std::chrono::milliseconds timeout);

  // Ends it at once (SIGKILL) and waits for it.
  void Kill();
  pid_t pid() const { return pid_; }

 private:
  ChildProcess(pid_t pid, int to, int from) : pid_(pid), to_(to), from_(from) {}
  std::string HowItEnded();

  pid_t pid_;
  int to_;
  int from_;
  bool reaped_ = false;
  int exit_status_ = 0;
  std::string buffered_;
};

}  // namespace tilewright

#endif  // TILEWRIGHT_RUNTIME_WORKER_CHILD_PROCESS_H_
