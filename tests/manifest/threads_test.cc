#include "manifest/threads.h"

#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstddef>

#include "tests/syscall_filter.h"

namespace tilewright {
namespace {

// From now on this process makes no thread.
bool RefuseThreads() {
  constexpr uint32_t kNumber = offsetof(seccomp_data, nr);
  std::array<sock_filter, 5> filter = {{
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, kNumber),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 1, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone3, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EAGAIN),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  }};
  return FilterSystemCalls(filter);
}

// Shares 100 pieces of work between up to eight threads; how many were done, and by how many.
std::pair<int, int> Share() {
  std::atomic<int> next = 0;
  std::atomic<int> done = 0;
  std::atomic<int> crew = 0;
  RunOnThreads(8, [&] {
    ++crew;
    for (int i = next++; i < 100; i = next++) ++done;
  });
  return {done, crew};
}

// Guards: the caller's is one of the threads, and all of them run the body.
TEST(Threads, AllShareTheWork) { EXPECT_EQ(Share(), std::pair(100, 8)); }

// Guards: where the system makes no thread the caller's does all of the work, and nothing is
// thrown.
TEST(Threads, WhereNoneCanBeMade) {
  const pid_t child = fork();
  if (child == 0) {
    if (!RefuseThreads()) _exit(1);
    std::thread thread;
    if (StartThread(thread, [] {}) || thread.joinable()) _exit(2);
    _exit(Share() == std::pair(100, 1) ? 0 : 3);
  }
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status)) << status;
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

}  // namespace
}  // namespace tilewright
