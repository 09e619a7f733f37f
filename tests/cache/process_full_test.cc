// The rounds of process_test.cc in the numbers that are promised.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>

#include "cache/cache.h"
#include "cache/sqlite.h"
#include "manifest/status.h"
#include "tests/cache/cache_fixture.h"
#include "tests/cache/process_rounds.h"

namespace tilewright {
namespace {

TEST(ProcessesFull, StartTogether30Rounds) { RunStartTogether(30); }
TEST(ProcessesFull, KillOwner200Rounds) { RunKillOwner(200); }

// Another program holds the file for a minute: a cold call waits a bounded time, once, and is
// right; afterwards all is in the file.
TEST(ProcessesFull, FileLockedForAMinute) {
  using std::chrono::milliseconds;
  TempFolder folder;
  const std::string path = folder.File("k.db");
  MakeFile(path);
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  const pid_t holder = fork();
  if (holder == 0) {
    auto other = Connection::Open(path, Connection::Mode::kReadWrite, milliseconds(5000));
    if (!other.ok() || !other->Exec("BEGIN EXCLUSIVE").ok()) _exit(1);
    (void)!write(ready[1], "x", 1);
    sleep(60);
    _exit(other->Exec("ROLLBACK").ok() ? 0 : 2);
  }
  char held = 0;
  ASSERT_EQ(read(ready[0], &held, 1), 1);
  const auto start = std::chrono::steady_clock::now();
  const auto elapsed = [&] { return std::chrono::steady_clock::now() - start; };
  LogLines log;
  auto cache = OpenCache(path, &log);
  for (int i = 100; elapsed() < std::chrono::seconds(50); ++i) {
    const auto before = elapsed();
    EXPECT_TRUE(cache->FindKernel("kernel-1").has_value());
    ASSERT_TRUE(cache->PutKernel(TestKernel(i)).ok());
    EXPECT_TRUE(cache->HasKernel(Cat("kernel-", i)));
    EXPECT_LT(elapsed() - before, std::chrono::seconds(8)) << i;  // busy_timeout is 5 s
    usleep(500000);
  }
  EXPECT_EQ(log.lines.size(), 1u);
  int status = 0;
  ASSERT_EQ(waitpid(holder, &status, 0), holder);
  EXPECT_EQ(status, 0);
  cache.reset();
  auto again = OpenCache(path);
  EXPECT_EQ(ReadAll(*again).kernels, kKernels);
  EXPECT_GT(again->AllKernels().size(), static_cast<size_t>(kKernels + 20));
  EXPECT_TRUE(again->HasKernel("kernel-100"));
  EXPECT_TRUE(again->Check().problems.empty());
  close(ready[0]);
  close(ready[1]);
}

}  // namespace
}  // namespace tilewright
