// A process beside the test's own, told what to do and when.
#ifndef TILEWRIGHT_TESTS_CACHE_CHILD_PROCESS_H_
#define TILEWRIGHT_TESTS_CACHE_CHILD_PROCESS_H_

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <functional>
#include <utility>

namespace tilewright {

// A process of its own; killed with the test.
class Child {
 public:
  // `body` reads from its first descriptor and tells by the second; as `uid` where that is not -1.
  // To be made before this process opens a database: SQLite's locks do not survive a fork.
  explicit Child(const std::function<int(int, int)>& body, int uid = -1) {
    int down[2];
    int up[2];
    EXPECT_EQ(pipe(down), 0);
    EXPECT_EQ(pipe(up), 0);
    pid_ = fork();
    if (pid_ == 0) {
      close(down[1]);
      close(up[0]);
      if (uid >= 0 &&
          (setgid(static_cast<gid_t>(uid)) != 0 || setuid(static_cast<uid_t>(uid)) != 0)) {
        _exit(100);
      }
      _exit(body(down[0], up[1]));
    }
    close(down[0]);
    close(up[1]);
    to_ = down[1];
    from_ = up[0];
  }
  ~Child() {
    if (to_ >= 0) close(to_);
    close(from_);
    if (pid_ > 0) kill(pid_, SIGKILL);
    if (pid_ > 0) waitpid(pid_, nullptr, 0);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  void Put(char c) const { EXPECT_EQ(write(to_, &c, 1), 1); }
  char Get() const {
    char c = 0;
    EXPECT_EQ(read(from_, &c, 1), 1);
    return c;
  }
  // Its exit status once it has seen the end of what it reads.
  int Finish() {
    close(std::exchange(to_, -1));
    int status = -1;
    waitpid(std::exchange(pid_, -1), &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 200;
  }

 private:
  pid_t pid_ = -1;
  int to_ = -1;
  int from_ = -1;
};

}  // namespace tilewright

#endif  // TILEWRIGHT_TESTS_CACHE_CHILD_PROCESS_H_
