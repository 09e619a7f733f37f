// Round trips, layers, limits and views of the cache on a healthy disk.
#include "cache/cache.h"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include <chrono>
#include <limits>
#include <thread>

#include "tests/cache/cache_fixture.h"

namespace tilewright {
namespace {

using std::chrono::milliseconds;
using ::testing::ElementsAre;

// What is stored comes back field by field, in the same and in the next process's cache object.
TEST(Cache, RowsComeBackWhole) {
  TempFolder folder;
  KernelRow kernel = TestKernel(1);
  kernel.compile_log = "ptxas info: a line\nand another \xc3\xa9";
  for (int opened = 0; opened < 2; ++opened) {
    auto cache = OpenCache(folder.File("k.db"));
    if (opened == 0) {
      ASSERT_TRUE(cache->PutKernel(kernel).ok());
      ASSERT_TRUE(cache->PutWinner(TestWinner(0)).ok());
      ASSERT_TRUE(cache->PutTrials({TestTrial(0), TestTrial(3)}).ok());
    }
    auto found = cache->FindKernel("kernel-1");
    ASSERT_TRUE(found.has_value());
    ExpectSame(kernel, *found);
    EXPECT_EQ(found->cubin_bytes, 6001);
    EXPECT_TRUE(cache->HasKernel("kernel-1"));
    EXPECT_FALSE(cache->HasKernel("kernel-2"));
    EXPECT_FALSE(cache->FindKernel("kernel-2").has_value());
    ExpectSame(TestWinner(0), cache->FindWinner("problem-0").value());
    EXPECT_FALSE(cache->FindWinner("problem-1").has_value());
    auto trials = cache->Trials("problem-0");
    ASSERT_EQ(trials.size(), 2u);
    EXPECT_EQ(trials[0].status, TrialStatus::kOk);
    EXPECT_EQ(trials[1].status, TrialStatus::kWrong);
    EXPECT_EQ(trials[1].error, "output 17 is 2, expected 1");
    EXPECT_EQ(trials[0].p90_us, 9.75);
    CacheStats stats = cache->Stats();
    EXPECT_EQ(stats.kernels, 1);
    EXPECT_EQ(stats.winners, 1);
    EXPECT_EQ(stats.trials, 2);
    EXPECT_EQ(stats.cubin_bytes, 6001);
    EXPECT_EQ(stats.mode, "wal");
    EXPECT_EQ(stats.quarantined, 0);
    EXPECT_TRUE(cache->Check().problems.empty());
    EXPECT_EQ(cache->Check().rows_checked, 4);
  }
  // No litter: the database and its lock file.
  EXPECT_THAT(folder.Names(), ElementsAre("k.db", "k.db.lock"));
}

// Nobody else can read a cache that was made here.
TEST(Cache, FilesArePrivate) {
  TempFolder folder;
  auto cache = OpenCache(folder.File("a/b/k.db"));
  ASSERT_TRUE(cache->PutKernel(TestKernel(1)).ok());
  struct stat info {};
  for (const char* name : {"a/b/k.db", "a/b/k.db-wal", "a/b/k.db-shm", "a/b/k.db.lock"}) {
    ASSERT_EQ(stat(folder.File(name).c_str(), &info), 0) << name;
    EXPECT_EQ(info.st_mode & 0777, 0600u) << name;
  }
  cache.reset();
  // So is what a repair makes.
  WriteFileBytes(folder.File("a/b/k.db"),
                 ReadFileBytes(folder.File("a/b/k.db")).replace(0, 9, 9, 'z'));
  ASSERT_TRUE(OpenCache(folder.File("a/b/k.db"))->HasKernel("kernel-1"));
  for (const char* name : {"a/b/k.db", "a/b/k.db.corrupt-1"}) {
    ASSERT_EQ(stat(folder.File(name).c_str(), &info), 0) << name;
    EXPECT_EQ(info.st_mode & 0777, 0600u) << name;
  }
  for (const char* name : {"a", "a/b"}) {
    ASSERT_EQ(stat(folder.File(name).c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 0777, 0700u) << name;
  }
}

// A path with spaces, quotes, accents, URI characters and 200 characters is a path like any other.
TEST(Cache, OddPathsWork) {
  TempFolder folder;
  std::string odd = folder.File("a b'\"%3f?x=1&mode=ro#é-" + std::string(170, 'y') + ".db");
  for (int opened = 0; opened < 2; ++opened) {
    auto cache = OpenCache(odd);
    if (opened == 0) {
      ASSERT_TRUE(cache->PutKernel(TestKernel(1)).ok());
    }
    ASSERT_TRUE(cache->FindKernel("kernel-1").has_value());
    EXPECT_EQ(cache->Stats().mode, "wal");
  }
}

// An empty path keeps everything in memory and touches no disk.
TEST(Cache, MemoryOnlyWorks) {
  auto cache = OpenCache(CacheOptions{});
  ASSERT_TRUE(cache->PutKernel(TestKernel(1)).ok());
  ASSERT_TRUE(cache->PutWinner(TestWinner(1)).ok());
  ExpectSame(TestKernel(1), cache->FindKernel("kernel-1").value());
  EXPECT_EQ(cache->Stats().mode, "memory");
  EXPECT_EQ(cache->Stats().kernels, 1);
  auto lock = cache->LockCompile("other", milliseconds(100));
  ASSERT_TRUE(lock.ok());
  EXPECT_NE(*lock, nullptr);
  EXPECT_EQ(cache->LockCompile("other", milliseconds(30)).status().code(),
            absl::StatusCode::kDeadlineExceeded);
  lock->reset();
  EXPECT_TRUE(cache->LockCompile("other", milliseconds(30)).ok());
}

// Rows out of bounds are refused by name, and nothing of them is kept.
TEST(Cache, BoundsAreChecked) {
  TempFolder folder;
  auto cache = OpenCache(folder.File("k.db"));
  KernelRow kernel = TestKernel(1);
  kernel.key = "";
  EXPECT_EQ(cache->PutKernel(kernel).code(), absl::StatusCode::kInvalidArgument);
  kernel = TestKernel(1);
  kernel.cubin.clear();
  EXPECT_EQ(cache->PutKernel(kernel).code(), absl::StatusCode::kInvalidArgument);
  kernel = TestKernel(1);
  kernel.registers = -1;
  EXPECT_EQ(cache->PutKernel(kernel).code(), absl::StatusCode::kInvalidArgument);
  WinnerRow winner = TestWinner(1);
  winner.median_us = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(cache->PutWinner(winner).code(), absl::StatusCode::kInvalidArgument);
  winner = TestWinner(1);
  winner.config_json = "{tile_m:";
  EXPECT_EQ(cache->PutWinner(winner).code(), absl::StatusCode::kInvalidArgument);
  TrialRow trial = TestTrial(1);
  trial.config_json = "";
  EXPECT_EQ(cache->PutTrials({TestTrial(2), trial}).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(cache->Stats().kernels + cache->Stats().winners + cache->Stats().trials, 0);
}

// Text is data: quotes and SQL in any field are stored as they are.
TEST(Cache, TextIsData) {
  TempFolder folder;
  auto cache = OpenCache(folder.File("k.db"));
  KernelRow row = TestKernel(1);
  row.key = row.op = row.instantiation = "x'); DROP TABLE kernels; --\"%_";
  ASSERT_TRUE(cache->PutKernel(row).ok());
  ExpectSame(row, cache->FindKernel(row.key).value());
  EXPECT_EQ(cache->Stats().kernels, 1);
}

// A cubin whose ELF header names another architecture than its row is refused.
TEST(Cache, CubinOfAnotherArchitectureIsRefused) {
  auto cache = OpenCache(CacheOptions{});
  KernelRow row = TestKernel(1);
  row.cubin.assign(64, '\0');
  row.cubin.replace(0, 4,
                    "\x7f"
                    "ELF");
  row.cubin[8] = 8;        // ABI version
  row.cubin[18] = '\xbe';  // EM_CUDA
  row.cubin[49] = 0x50;    // sm_80
  EXPECT_EQ(cache->PutKernel(row).code(), absl::StatusCode::kInvalidArgument);
  row.cubin[49] = 0x5a;  // sm_90
  EXPECT_TRUE(cache->PutKernel(row).ok());
  row.cubin[58] = 64;  // one section header of 64 bytes, which is not there
  row.cubin[60] = 1;
  row.cubin[40] = 64;
  EXPECT_EQ(cache->PutKernel(row).code(), absl::StatusCode::kInvalidArgument);
  row.cubin.append(64, '\0');
  EXPECT_TRUE(cache->PutKernel(row).ok());
  row.cubin[68] = 1;    // with bytes
  row.cubin[97] = 'x';  // more than there are
  EXPECT_EQ(cache->PutKernel(row).code(), absl::StatusCode::kInvalidArgument);
  row.cubin.resize(20);
  EXPECT_EQ(cache->PutKernel(row).code(), absl::StatusCode::kInvalidArgument);
}

// Winners() serves one op, dtypes and device, in key order, across layers.
TEST(Cache, WinnersOfAnOpAcrossLayers) {
  TempFolder folder;
  {
    auto seed = OpenCache(folder.File("seed.db"));
    ASSERT_TRUE(seed->PutWinner(TestWinner(0)).ok());
    ASSERT_TRUE(seed->PutWinner(TestWinner(1)).ok());
    ASSERT_TRUE(seed->PutKernel(TestKernel(5)).ok());
  }
  CacheOptions options;
  options.path = folder.File("k.db");
  options.seed_paths = {folder.File("seed.db")};
  auto cache = OpenCache(options);
  WinnerRow own = TestWinner(1);
  own.median_us = 100;
  ASSERT_TRUE(cache->PutWinner(own).ok());
  WinnerRow other = TestWinner(2);
  other.device = "another";
  ASSERT_TRUE(cache->PutWinner(other).ok());
  auto winners = cache->Winners("GemmFwdOp", "bfloat16,bfloat16->bfloat16", "NVIDIA H200/132");
  ASSERT_EQ(winners.size(), 2u);
  ExpectSame(TestWinner(0), winners[0]);
  ExpectSame(own, winners[1]);  // the own file hides the seed
  EXPECT_EQ(cache->AllWinners().size(), 3u);
  EXPECT_TRUE(cache->FindKernel("kernel-5").has_value());
  EXPECT_EQ(cache->AllKernels().size(), 1u);
  EXPECT_TRUE(cache->AllKernels()[0].cubin.empty());
  EXPECT_EQ(cache->AllKernels()[0].cubin_bytes, 6005);
  EXPECT_EQ(cache->Stats().kernels, 0);  // the seed's rows are not its own
}

// A missing seed is told once, and the cache works.
TEST(Cache, MissingSeedIsTold) {
  TempFolder folder;
  LogLines log;
  CacheOptions options;
  options.path = folder.File("k.db");
  options.seed_paths = {folder.File("none.db")};
  options.log = log.Sink();
  auto cache = OpenCache(options);
  EXPECT_FALSE(cache->FindKernel("kernel-1").has_value());
  EXPECT_EQ(log.Count("none.db is not used"), 1u);
  EXPECT_EQ(log.lines.size(), 1u);
}

// A hit does not write; use is noted once a day, with the next write or at the end.
TEST(Cache, LastUseIsBatched) {
  TempFolder folder;
  CacheOptions options;
  options.path = folder.File("k.db");
  int64_t now = 1700000000;
  options.env.now_unix = [&] { return now; };
  auto cache = OpenCache(options);
  KernelRow row = TestKernel(0);
  row.created_unix = row.last_used_unix = 0;
  ASSERT_TRUE(cache->PutKernel(row).ok());
  std::string wal = ReadFileBytes(folder.File("k.db-wal"));
  now += 3600;
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(cache->FindKernel("kernel-0").has_value());
  now += 86400;
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(cache->FindKernel("kernel-0").has_value());
  EXPECT_EQ(ReadFileBytes(folder.File("k.db-wal")), wal);
  cache.reset();
  EXPECT_EQ(Shell(folder.File("k.db"), "select used - created from kernels"), "90000\n");
  cache = OpenCache(options);
  EXPECT_EQ(cache->FindKernel("kernel-0")->last_used_unix, 1700090000);  // the checksum holds
}

// The views read well with the plain sqlite3 program.
TEST(Cache, ViewsReadByHand) {
  TempFolder folder;
  std::string path = folder.File("k.db");
  {
    auto cache = OpenCache(path);
    ASSERT_TRUE(cache->PutKernel(TestKernel(0, 2048)).ok());
    ASSERT_TRUE(cache->PutKernel(TestKernel(1, 1024)).ok());
    ASSERT_TRUE(cache->PutWinner(TestWinner(0)).ok());
    ASSERT_TRUE(cache->PutTrials({TestTrial(0), TestTrial(3)}).ok());
  }
  EXPECT_EQ(Shell(path, "select * from best"),
            "GemmFwdOp|bfloat16,bfloat16->bfloat16|M=128 N=7168 K=2048|variant=wgmma "
            "tile_m=64|8.13|6.5|0.8|12|NVIDIA H200/132|2023-11-14|0.1.0\n");
  EXPECT_EQ(Shell(path, "select eff, lost_us, us, sol_us, problem from slowest_vs_sol"),
            "0.8|1.63|8.13|6.5|M=128 N=7168 K=2048\n");
  EXPECT_EQ(Shell(path,
                  "select op, problem, config, status, us, vs_best, n, error from "
                  "tuning_history"),
            "GemmFwdOp|M=128 N=7168 K=2048|variant=wgmma tile_m=16|ok|9.5|1.17|25|\n"
            "GemmFwdOp|M=128 N=7168 K=2048|variant=wgmma tile_m=64|wrong|12.5||25|output 17 is 2, "
            "expected 1\n");
  EXPECT_EQ(Shell(path, "select * from cache_size"),
            "GemmFwdOp|1|2.0|0.03|2023-11-14\nRmsNormFwdOp|1|1.0|0.03|2023-11-14\n");
  EXPECT_EQ(Shell(path, "select op, status, candidates, problems, error from failures"),
            "GemmFwdOp|wrong|1|1|output 17 is 2, expected 1\n");
  EXPECT_EQ(Shell(path, "select op, kernels, total_s, spilling from compile_times"),
            "GemmFwdOp|1|0.03|0\nRmsNormFwdOp|1|0.03|0\n");
  EXPECT_EQ(Shell(path,
                  "select json_extract(problem, '$.N'), json_extract(config, '$.tile_m') "
                  "from winners"),
            "7168|64\n");
  EXPECT_EQ(Shell(path, "pragma integrity_check"), "ok\n");
}

// Opening a warm cache and finding one kernel takes a few milliseconds at most, whatever its size.
TEST(Cache, OpeningDoesNotScan) {
  TempFolder folder;
  {
    auto cache = OpenCache(folder.File("k.db"));
    for (int i = 0; i < 1000; ++i) ASSERT_TRUE(cache->PutKernel(TestKernel(i)).ok());
  }
  auto best = std::chrono::microseconds::max();
  for (int i = 0; i < 5; ++i) {
    auto start = std::chrono::steady_clock::now();
    auto cache = OpenCache(folder.File("k.db"));
    ASSERT_TRUE(cache->FindKernel("kernel-77").has_value());
    best = std::min(best, std::chrono::duration_cast<std::chrono::microseconds>(
                              std::chrono::steady_clock::now() - start));
  }
  RecordProperty("open_and_find_us", std::to_string(best.count()));
  EXPECT_LT(best, milliseconds(20));  // typical: about 1 ms; a scan of 8 MB takes more than this
}

// One compiles, the others wait and then find the kernel; threads exclude each other.
TEST(Cache, CompileLockExcludesThreads) {
  TempFolder folder;
  auto cache = OpenCache(folder.File("k.db"));
  auto lock = cache->LockCompile("kernel-1", milliseconds(1000));
  ASSERT_TRUE(lock.ok() && *lock != nullptr);
  EXPECT_EQ(cache->LockCompile("kernel-1", milliseconds(30)).status().code(),
            absl::StatusCode::kDeadlineExceeded);
  auto other = cache->LockCompile("kernel-2", milliseconds(30));
  EXPECT_TRUE(other.ok() && *other != nullptr);
  std::thread waiter([&] {
    auto waited = cache->LockCompile("kernel-1", milliseconds(10000));
    EXPECT_TRUE(waited.ok());
    EXPECT_EQ(*waited, nullptr);  // the kernel appeared
  });
  std::this_thread::sleep_for(milliseconds(30));
  EXPECT_TRUE(cache->PutKernel(TestKernel(1)).ok());
  lock->reset();
  waiter.join();
}

// A logger may call the cache.
TEST(Cache, LoggerMayUseTheCache) {
  TempFolder folder;
  MakeFile(folder.File("k.db"));
  WriteFileBytes(folder.File("k.db"), std::string(8192, 'x'));
  Cache* used = nullptr;
  int calls = 0;
  CacheOptions options;
  options.path = folder.File("k.db");
  options.log = [&](std::string_view) {
    ++calls;
    if (used != nullptr) (void)used->Stats();
  };
  auto cache = OpenCache(options);
  used = cache.get();
  WriteFileBytes(folder.File("k.db"), std::string(8192, 'y'));
  (void)cache->FindKernel("kernel-1");
  EXPECT_GE(calls, 1);
}

}  // namespace
}  // namespace tilewright
