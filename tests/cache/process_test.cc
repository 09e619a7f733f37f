// Processes and threads on one cache file.
#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "cache/cache.h"
#include "cache/sqlite.h"
#include "manifest/status.h"
#include "tests/cache/cache_fixture.h"
#include "tests/cache/process_rounds.h"

namespace tilewright {
namespace {

using std::chrono::milliseconds;
using ::testing::ElementsAre;

TEST(Processes, StartTogether) { RunStartTogether(3); }
TEST(Processes, KillOwner) { RunKillOwner(5); }

// A lock that another program holds on the file: a store waits a bounded time once, later ones do
// not, everything is served, and the file has it all in the end.
TEST(Processes, LockedFileIsWaitedForOnce) {
  TempFolder folder;
  std::string path = folder.File("k.db");
  MakeFile(path);
  LogLines log;
  CacheOptions options;
  options.path = path;
  options.busy_timeout = milliseconds(300);
  options.log = log.Sink();
  auto cache = OpenCache(options);
  {
    Connection other =
        Connection::Open(path, Connection::Mode::kReadWrite, milliseconds(0)).value();
    ASSERT_TRUE(other.Exec("BEGIN EXCLUSIVE").ok());
    auto start = std::chrono::steady_clock::now();
    for (int i = 100; i < 110; ++i) ASSERT_TRUE(cache->PutKernel(TestKernel(i)).ok());
    EXPECT_LT(std::chrono::steady_clock::now() - start, milliseconds(5000));
    for (int i = 100; i < 110; ++i) EXPECT_TRUE(cache->HasKernel(Cat("kernel-", i)));
    EXPECT_EQ(ReadAll(*cache).kernels, kKernels);
    EXPECT_EQ(log.lines.size(), 1u);
  }
  cache.reset();
  auto again = OpenCache(path);
  for (int i = 100; i < 110; ++i) EXPECT_TRUE(again->HasKernel(Cat("kernel-", i))) << i;
}

// The same with a lock that keeps readers out, too, met when opening.
TEST(Processes, LockedFileAtOpen) {
  TempFolder folder;
  std::string path = folder.File("k.db");
  MakeFile(path);
  ASSERT_EQ(Shell(path, "pragma journal_mode = delete"), "delete\n");
  Connection other = Connection::Open(path, Connection::Mode::kReadWrite, milliseconds(0)).value();
  ASSERT_TRUE(other.Exec("BEGIN EXCLUSIVE").ok());
  LogLines log;
  CacheOptions options;
  options.path = path;
  options.busy_timeout = milliseconds(200);
  options.log = log.Sink();
  auto start = std::chrono::steady_clock::now();
  auto cache = OpenCache(options);
  ASSERT_TRUE(cache->PutKernel(TestKernel(100)).ok());
  EXPECT_TRUE(cache->FindKernel("kernel-100").has_value());
  EXPECT_FALSE(cache->FindKernel("kernel-1").has_value());
  EXPECT_LT(std::chrono::steady_clock::now() - start, milliseconds(5000));
  EXPECT_EQ(cache->Stats().mode, "memory");
  EXPECT_EQ(log.lines.size(), 1u);
}

// A forked child reads a snapshot, stores in memory, and leaves its parent's file and locks alone.
TEST(Processes, ForkAfterUse) {
  TempFolder folder;
  std::string path = folder.File("k.db");
  MakeFile(path);
  LogLines log;
  auto cache = OpenCache(path, &log);
  ASSERT_TRUE(cache->HasKernel("kernel-1"));
  auto lock = cache->LockCompile("kernel-200", milliseconds(100));
  ASSERT_TRUE(lock.ok());
  int code = InChild([&]() -> int {
    if (ReadAll(*cache).kernels != kKernels) return 1;
    if (!cache->PutKernel(TestKernel(300)).ok()) return 2;
    if (!cache->FindKernel("kernel-300").has_value()) return 3;
    if (log.Count("forked") != 1) return 4;
    lock->reset();  // the parent's: must stay held
    cache.reset();
    return 0;
  });
  EXPECT_EQ(code, 0);
  EXPECT_EQ(cache->LockCompile("kernel-200", milliseconds(20)).status().code(),
            absl::StatusCode::kDeadlineExceeded);
  ASSERT_TRUE(cache->PutKernel(TestKernel(400)).ok());
  EXPECT_FALSE(cache->HasKernel("kernel-300"));
  EXPECT_THAT(cache->Check().problems, ElementsAre());
  EXPECT_THAT(log.lines, ElementsAre());
  cache.reset();
  EXPECT_TRUE(OpenCache(path)->HasKernel("kernel-400"));
}

// 16 threads with a cold key each, then all with one: one compile a key.
TEST(Processes, ThreadsShareACache) {
  TempFolder folder;
  auto cache = OpenCache(folder.File("k.db"));
  std::atomic<int> compiles = 0;
  auto resolve = [&](int key) {
    auto lock = cache->LockCompile(Cat("kernel-", key), milliseconds(60000));
    ASSERT_TRUE(lock.ok());
    if (*lock != nullptr) {
      ++compiles;
      ASSERT_TRUE(cache->PutKernel(TestKernel(key)).ok());
    }
    auto row = cache->FindKernel(Cat("kernel-", key));
    ASSERT_TRUE(row.has_value());
    EXPECT_TRUE(row->cubin == TestKernel(key).cubin);
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < 16; ++i) {
    threads.emplace_back([&, i] {
      resolve(i + 1);
      resolve(0);
      (void)cache->AllKernels();
      (void)cache->Stats();
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(compiles, 17);
  EXPECT_EQ(cache->Stats().kernels, 17);
}

// Two caches of one process exclude each other, too.
TEST(Processes, TwoCachesOfOneProcess) {
  TempFolder folder;
  auto one = OpenCache(folder.File("k.db"));
  auto two = OpenCache(folder.File("k.db"));
  auto lock = one->LockCompile("kernel-1", milliseconds(100));
  ASSERT_TRUE(lock.ok() && *lock != nullptr);
  EXPECT_EQ(two->LockCompile("kernel-1", milliseconds(20)).status().code(),
            absl::StatusCode::kDeadlineExceeded);
  ASSERT_TRUE(one->PutKernel(TestKernel(1)).ok());
  auto waited = two->LockCompile("kernel-1", milliseconds(1000));
  ASSERT_TRUE(waited.ok());
  EXPECT_EQ(*waited, nullptr);
  EXPECT_TRUE(two->FindKernel("kernel-1").has_value());
}

}  // namespace
}  // namespace tilewright
