// Systems without open file description locks, and without any: calls are refused by a filter that
// a child of the test puts on itself.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/file.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>

#include "cache/cache.h"
#include "cache/place.h"
#include "cache/repair.h"
#include "tests/cache/cache_fixture.h"
#include "tests/syscall_filter.h"

namespace tilewright {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// From now on fcntl() knows no F_OFD_SETLK in this process, nor, where told so, is there flock().
bool TakeLocksAway(bool flock_too) {
  constexpr uint32_t kNumber = offsetof(seccomp_data, nr);
  constexpr uint32_t kCommand = offsetof(seccomp_data, args) + sizeof(uint64_t);
  const uint32_t second = flock_too ? SYS_flock : SYS_fcntl;
  std::array<sock_filter, 8> filter = {{
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, kNumber),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_fcntl, 2, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, second, 4, 0),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, kCommand),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, F_OFD_SETLK, 1, 0),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EINVAL),
  }};
  return FilterSystemCalls(filter);
}

// A whole file whose header says a schema format that there is none of: repaired when it is opened.
void MakeDamaged(const std::string& path) {
  MakeFile(path);
  std::string bytes = ReadFileBytes(path);
  bytes[47] = 9;
  WriteFileBytes(path, bytes);
}

// In a child without these locks: what was read of the file, failing the child's test where the
// cache does not open or a row is not the one that was stored.
int ReadWithoutLocks(const std::string& path, bool flock_too, LogLines& log) {
  if (!TakeLocksAway(flock_too)) return 1;
  auto cache = OpenCache(path, &log);
  if (cache == nullptr) return 2;
  const Served served = ReadAll(*cache);
  return served.kernels == kKernels && served.winners == kWinners && served.trials == kTrials ? 0
                                                                                              : 3;
}

// Guards: where the system has no locks on a byte, a repair is exclusive all the same: it waits for
// one that is under way, and is done once nobody holds the file.
TEST(Lock, RepairIsExclusiveWithoutByteLocks) {
  TempFolder folder;
  const std::string path = folder.File("k.db");
  MakeDamaged(path);
  const std::string damaged = ReadFileBytes(path);
  const int fd = open(LockPath(path).c_str(), O_RDWR | O_CLOEXEC);
  ASSERT_GE(fd, 0);
  ASSERT_EQ(flock(fd, LOCK_EX | LOCK_NB), 0);
  EXPECT_EQ(InChild([&] {
              if (!TakeLocksAway(false)) return 1;
              CacheOptions options;
              options.path = path;
              options.busy_timeout = std::chrono::milliseconds(50);
              auto cache = OpenCache(options);
              return cache != nullptr && cache->Stats().mode == "memory" ? 0 : 2;
            }),
            0);
  EXPECT_EQ(ReadFileBytes(path), damaged);
  close(fd);
  EXPECT_EQ(InChild([&] {
              LogLines log;
              const int read = ReadWithoutLocks(path, false, log);
              return read != 0 ? read : log.Count("rows were kept") == 1 ? 0 : 4;
            }),
            0);
  EXPECT_EQ(CountSetAside(path), 1);
  EXPECT_EQ(ReadFileBytes(path + ".corrupt-1"), damaged);
  LogLines log;
  EXPECT_EQ(ReadAll(*OpenCache(path, &log)).kernels, kKernels);
  EXPECT_THAT(log.lines, ElementsAre());
}

// Guards: where there are no locks at all a damaged file is read, and not repaired, since two
// repairs could undo each other; a whole one is used.
TEST(Lock, NothingIsRepairedWithoutLocks) {
  TempFolder folder;
  const std::string path = folder.File("k.db");
  MakeDamaged(path);
  const std::string damaged = ReadFileBytes(path);
  EXPECT_EQ(InChild([&] {
              LogLines log;
              const int read = ReadWithoutLocks(path, true, log);
              if (read != 0) return read;
              auto cache = OpenCache(path, &log);
              if (!cache->PutWinner(TestWinner(kWinners)).ok()) return 4;
              const absl::Status stored = cache->Persisted();
              if (stored.message().find("cannot be locked") == absl::string_view::npos) return 5;
              return log.Count("cannot be repaired here") == 2 ? 0 : 6;
            }),
            0);
  EXPECT_EQ(ReadFileBytes(path), damaged);
  EXPECT_EQ(CountSetAside(path), 0);

  const std::string whole = folder.File("whole.db");
  EXPECT_EQ(InChild([&] {
              if (!TakeLocksAway(true)) return 1;
              return OpenCache(whole)->PutWinner(TestWinner(1)).ok() ? 0 : 2;
            }),
            0);
  EXPECT_TRUE(OpenCache(whole)->FindWinner(TestWinner(1).key).has_value());
}

// Guards: a file that is found damaged while it is used is not repaired without locks either.
TEST(Lock, DamageFoundLaterIsNotRepairedWithoutLocks) {
  TempFolder folder;
  const std::string path = folder.File("k.db");
  MakeFile(path);
  ASSERT_EQ(Shell(path, "drop view best"), "");
  EXPECT_EQ(InChild([&] {
              if (!TakeLocksAway(true)) return 1;
              const CheckReport report = OpenCache(path)->Check();
              return !report.rebuilt && report.problems.size() >= 2 ? 0 : 2;
            }),
            0);
  EXPECT_EQ(CountSetAside(path), 0);
  const CheckReport report = OpenCache(path)->Check();
  EXPECT_TRUE(report.rebuilt);
  EXPECT_THAT(report.problems, ElementsAre(HasSubstr("best")));
}

// Guards: what a repair had built that was killed goes with the next opening.
TEST(Lock, LeftNewFilesGoWhenTheCacheIsOpened) {
  TempFolder folder;
  const std::string path = folder.File("k.db");
  MakeFile(path);
  WriteFileBytes(path + ".new", "half built");
  WriteFileBytes(path + ".new-journal", "");
  EXPECT_EQ(ReadAll(*OpenCache(path)).kernels, kKernels);
  EXPECT_THAT(folder.Names(), ElementsAre("k.db", "k.db.lock"));
}

}  // namespace
}  // namespace tilewright
