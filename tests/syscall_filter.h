// System calls that fail, for tests of what a system lacks or refuses.
#ifndef TILEWRIGHT_TESTS_SYSCALL_FILTER_H_
#define TILEWRIGHT_TESTS_SYSCALL_FILTER_H_

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>

#include <span>

namespace tilewright {

// From now on this process's system calls go through `filter`, for good: for children of a test.
// False where the system has no such filters.
inline bool FilterSystemCalls(std::span<sock_filter> filter) {
  const sock_fprog program = {static_cast<unsigned short>(filter.size()), filter.data()};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

}  // namespace tilewright

#endif  // TILEWRIGHT_TESTS_SYSCALL_FILTER_H_
