#include "runtime/worker/child_process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "manifest/status.h"

extern char** environ;

namespace tilewright {
namespace {

using Clock = std::chrono::steady_clock;

// A pipe of which the child inherits what the spawn duplicates, and nothing else does.
struct Pipe {
  int read = -1;
  int write = -1;
  ~Pipe() {
    if (read >= 0) close(read);
    if (write >= 0) close(write);
  }
};

// The child's input is a socket rather than a pipe, so that writing to a child that is gone is an
// error (MSG_NOSIGNAL) and not a signal to the process that embeds us.
absl::Status OpenSocket(Pipe& pipe) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    return Internal("socketpair: ", std::strerror(errno));
  }
  pipe.read = ends[0];
  pipe.write = ends[1];
  return absl::OkStatus();
}

constexpr int kMostReapMs = 5000;
constexpr std::chrono::milliseconds kSlice(200);  // between two looks at whether it is cancelled

// Waits until `fd` is ready. DeadlineExceeded, Cancelled.
absl::Status WaitFor(int fd, short events, const Patience& patience) {
  for (;;) {
    if (patience.IsCancelled()) return absl::CancelledError("cancelled");
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        patience.deadline - Clock::now() + std::chrono::microseconds(999));
    pollfd poll_fd{fd, events, 0};
    const int ready =
        poll(&poll_fd, 1, static_cast<int>(std::clamp(left, 0 * kSlice, kSlice).count()));
    if (ready > 0) return absl::OkStatus();
    if (ready < 0 && errno != EINTR) return Internal("poll: ", std::strerror(errno));
    if (left.count() <= 0) return absl::DeadlineExceededError("the time is over");
  }
}

// The child starts with no signal blocked or ignored, in a process group of its own, so that the
// terminal's Ctrl-C reaches the parent alone, which then ends the child in an orderly way.
absl::StatusOr<pid_t> Spawn(const std::string& program, const std::vector<std::string>& args,
                            int in, int out) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, in, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none;
  sigemptyset(&none);
  sigset_t all;
  sigfillset(&all);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setflags(&attributes,
                           POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
  std::vector<char*> argv = {const_cast<char*>(program.c_str())};
  for (const std::string& arg : args) argv.push_back(const_cast<char*>(arg.c_str()));
  argv.push_back(nullptr);
  pid_t pid = -1;
  const int error = posix_spawn(&pid, program.c_str(), &actions, &attributes, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  if (error == ENOENT || error == EACCES) {
    return NotFound("cannot start ", program, ": ", std::strerror(error));
  }
  if (error != 0) return Internal("cannot start ", program, ": ", std::strerror(error));
  return pid;
}

}  // namespace

absl::StatusOr<std::unique_ptr<ChildProcess>> ChildProcess::Start(
    const std::string& program, const std::vector<std::string>& args) {
  Pipe to_child;
  Pipe from_child;
  TW_RETURN_IF_ERROR(OpenSocket(to_child));
  TW_RETURN_IF_ERROR(OpenSocket(from_child));
  TW_ASSIGN_OR_RETURN(const pid_t pid, Spawn(program, args, to_child.read, from_child.write));
  fcntl(to_child.write, F_SETFL, O_NONBLOCK);
  std::unique_ptr<ChildProcess> child(new ChildProcess(pid, to_child.write, from_child.read));
  to_child.write = -1;
  from_child.read = -1;
  return child;
}

ChildProcess::~ChildProcess() {
  Kill();
  close(to_);
  close(from_);
}

void ChildProcess::Kill() {
  if (reaped_) return;
  kill(-pid_, SIGKILL);  // its whole process group
  kill(pid_, SIGKILL);
  for (int i = 0; i < kMostReapMs && !Reap(); ++i) usleep(1000);
}

bool ChildProcess::Reap() {
  if (reaped_) return true;
  const pid_t ended = waitpid(pid_, &exit_status_, WNOHANG);
  // Where a program ignores SIGCHLD the system reaps its children itself.
  reaped_ = ended == pid_ || (ended < 0 && errno != EINTR);
  return reaped_;
}

std::string ChildProcess::HowItEnded() {
  // It closed its output: it is ending, or is of no use any more.
  for (int i = 0; i < 200 && !Reap(); ++i) usleep(1000);
  if (!reaped_) {
    Kill();
    return "closed its output";
  }
  if (WIFSIGNALED(exit_status_)) {
    return Cat("was ended by signal ", WTERMSIG(exit_status_), " (",
               strsignal(WTERMSIG(exit_status_)), ")");
  }
  return Cat("exited with ", WEXITSTATUS(exit_status_));
}

absl::Status ChildProcess::WriteLine(std::string_view line, const Patience& patience) {
  const std::string text = Cat(line, "\n");
  for (size_t sent = 0; sent < text.size();) {
    const ssize_t n = send(to_, text.data() + sent, text.size() - sent, MSG_NOSIGNAL);
    if (n > 0) {
      sent += static_cast<size_t>(n);
    } else if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
      TW_RETURN_IF_ERROR(WaitFor(to_, POLLOUT, patience));
    } else if (n < 0 && errno != EINTR) {
      return absl::UnavailableError(Cat("the process ", HowItEnded()));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> ChildProcess::ReadLine(const Patience& patience) {
  for (bool late = false;;) {
    if (patience.IsCancelled()) return absl::CancelledError("cancelled");
    if (const size_t end = buffered_.find('\n', searched_); end != std::string::npos) {
      std::string line = buffered_.substr(0, end);
      buffered_.erase(0, end + 1);
      searched_ = 0;
      return line;
    }
    searched_ = buffered_.size();
    if (searched_ > kMostLineBytes) {
      return ResourceExhausted("a line of more than ", kMostLineBytes, " bytes");
    }
    // One that writes without end is always ready: what came in time is read once.
    if (late) return absl::DeadlineExceededError("the time is over");
    late = Clock::now() >= patience.deadline;
    TW_RETURN_IF_ERROR(WaitFor(from_, POLLIN, patience));
    char chunk[65536];
    const ssize_t n = read(from_, chunk, sizeof(chunk));
    if (n > 0) {
      buffered_.append(chunk, static_cast<size_t>(n));
    } else if (n == 0 || errno != EINTR) {
      return absl::UnavailableError(Cat("the process ", HowItEnded()));
    }
  }
}

}  // namespace tilewright
