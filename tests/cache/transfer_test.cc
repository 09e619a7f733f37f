// Export, merge, diff, garbage collection and the byte limit.
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "cache/cache.h"
#include "cache/place.h"
#include "cache/prefer.h"
#include "manifest/status.h"
#include "tests/cache/cache_fixture.h"
#include "tests/cache/test_cubin.h"

namespace tilewright {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

void ExpectNoDifference(const CacheDiff& diff) {
  EXPECT_THAT(diff.only_left, SizeIs(0));
  EXPECT_THAT(diff.only_right, SizeIs(0));
  EXPECT_THAT(diff.differing, SizeIs(0));
}

// An export is one file without a WAL that holds what lookups see: own rows, seeds, memory.
TEST(Transfer, ExportHoldsAllLayers) {
  TempFolder folder;
  {
    auto seed = OpenCache(folder.File("seed.db"));
    ASSERT_TRUE(seed->PutKernel(TestKernel(1)).ok());
    WinnerRow hidden = TestWinner(1);
    hidden.median_us = 1;
    ASSERT_TRUE(seed->PutWinner(hidden).ok());
  }
  CacheOptions options;
  options.path = folder.File("k.db");
  options.seed_paths = {folder.File("seed.db")};
  auto cache = OpenCache(options);
  ASSERT_TRUE(cache->PutKernel(TestKernel(2)).ok());
  ASSERT_TRUE(cache->PutWinner(TestWinner(1)).ok());
  ASSERT_TRUE(cache->PutTrials({TestTrial(1)}).ok());
  ASSERT_TRUE(cache->Export(folder.File("out.db")).ok());
  EXPECT_EQ(cache->Export(folder.File("k.db")).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(Shell(folder.File("out.db"), "pragma journal_mode"), "delete\n");
  EXPECT_EQ(Shell(folder.File("out.db"), "pragma integrity_check"), "ok\n");
  EXPECT_EQ(Shell(folder.File("out.db"), "select key from kernels order by key"),
            "kernel-1\nkernel-2\n");
  EXPECT_EQ(Shell(folder.File("out.db"), "select us from winners"), "9.125\n");  // the own file's
  auto diff = cache->Diff(folder.File("out.db"));
  ASSERT_TRUE(diff.ok()) << diff.status();
  ExpectNoDifference(*diff);
  for (const std::string& name : folder.Names()) EXPECT_EQ(name.find("partial"), name.npos);
}

// Comparing with, and importing, a cache that nobody uses leaves nothing beside it, and no byte of
// it changed; one that is in use stays usable.
TEST(Transfer, OtherFilesAreLeftAsTheyWere) {
  TempFolder folder;
  MakeFile(folder.File("other.db"));
  ASSERT_EQ(Shell(folder.File("other.db"), "pragma journal_mode"), "wal\n");
  const std::string bytes = ReadFileBytes(folder.File("other.db"));
  const std::vector<std::string> names = folder.Names();
  auto cache = OpenCache("");
  ASSERT_TRUE(cache->Diff(folder.File("other.db")).ok());
  ASSERT_TRUE(cache->Merge(folder.File("other.db")).ok());
  EXPECT_EQ(folder.Names(), names);
  EXPECT_TRUE(ReadFileBytes(folder.File("other.db")) == bytes);

  auto user = OpenCache(folder.File("other.db"));
  ASSERT_TRUE(user->PutKernel(TestKernel(100)).ok());
  auto diff = cache->Diff(folder.File("other.db"));
  ASSERT_TRUE(diff.ok()) << diff.status();
  EXPECT_THAT(diff->only_right, ElementsAre(HasSubstr("kernels kernel-100: GemmFwdOp ")));
  ASSERT_TRUE(user->PutKernel(TestKernel(101)).ok());
  user.reset();
  EXPECT_TRUE(OpenCache(folder.File("other.db"))->HasKernel("kernel-101"));
}

// The next export replaces the last one, and a place that cannot be written is an error.
TEST(Transfer, ExportReplacesAndReports) {
  TempFolder folder;
  auto cache = OpenCache(folder.File("k.db"));
  ASSERT_TRUE(cache->PutKernel(TestKernel(1)).ok());
  ASSERT_TRUE(cache->Export(folder.File("out.db")).ok());
  ASSERT_TRUE(cache->PutKernel(TestKernel(2)).ok());
  ASSERT_TRUE(cache->Export(folder.File("out.db")).ok());
  EXPECT_EQ(Shell(folder.File("out.db"), "select count(*) from kernels"), "2\n");
  EXPECT_FALSE(cache->Export(folder.File("none/out.db")).ok());
}

// An export counts its rows, and names those that were damaged and are not in it.
TEST(Transfer, ExportReportsDamage) {
  TempFolder folder;
  MakeFile(folder.File("k.db"));
  Shell(folder.File("k.db"), "update winners set us = 1 where key = 'problem-3'");
  auto cache = OpenCache(folder.File("k.db"));
  const auto report = cache->Export(folder.File("out.db"));
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_THAT(report->dropped, ElementsAre(HasSubstr("winners row problem-3: a checksum")));
  EXPECT_EQ(report->kernels, kKernels);
  EXPECT_EQ(report->winners, kWinners - 1);
  EXPECT_EQ(report->trials, kTrials);
  EXPECT_EQ(OpenCache(folder.File("out.db"))->Stats().winners, kWinners - 1);
  EXPECT_THAT(cache->Export(folder.File("out.db"))->dropped, ElementsAre());
}

// An export replaces an earlier one, and nothing else: what is of another program or no regular
// file stays as it is.
TEST(Transfer, ExportReplacesOnlyCaches) {
  TempFolder folder;
  auto cache = OpenCache(folder.File("k.db"));
  ASSERT_TRUE(cache->PutKernel(TestKernel(1)).ok());
  WriteFileBytes(folder.File("notes.txt"), "milk, eggs\n");
  Shell(folder.File("notes.db"), "create table notes(text); insert into notes values('mine')");
  ASSERT_TRUE(cache->Export(folder.File("earlier.db")).ok());
  ASSERT_EQ(symlink(folder.File("earlier.db").c_str(), folder.File("link").c_str()), 0);
  ASSERT_EQ(symlink(folder.File("none").c_str(), folder.File("dangling").c_str()), 0);
  ASSERT_EQ(mkfifo(folder.File("fifo").c_str(), 0600), 0);
  ASSERT_EQ(mkdir(folder.File("folder").c_str(), 0700), 0);
  auto user = OpenCache(folder.File("used.db"));
  ASSERT_TRUE(user->PutKernel(TestKernel(2)).ok());
  const std::string text = ReadFileBytes(folder.File("notes.txt"));
  const std::string database = ReadFileBytes(folder.File("notes.db"));
  const std::vector<std::string> names = folder.Names();
  for (const auto& [target, kind] : std::vector<std::pair<std::string, std::string>>{
           {folder.File("notes.txt"), "another program"},
           {folder.File("notes.db"), "another program"},
           {folder.File("link"), "symbolic link"},
           {folder.File("dangling"), "symbolic link"},
           {folder.File("fifo"), "a fifo"},
           {folder.File("folder"), "a directory"},
           {folder.File("used.db"), "in use"},
           {"/dev/null", "a device"}}) {
    const absl::Status refused = cache->Export(target).status();
    EXPECT_EQ(refused.code(), absl::StatusCode::kFailedPrecondition) << target;
    EXPECT_THAT(std::string(refused.message()), HasSubstr(kind)) << target;
  }
  EXPECT_EQ(ReadFileBytes(folder.File("notes.txt")), text);
  EXPECT_TRUE(ReadFileBytes(folder.File("notes.db")) == database);
  EXPECT_EQ(folder.Names(), names);
  struct stat info {};
  ASSERT_EQ(lstat("/dev/null", &info), 0);
  EXPECT_TRUE(S_ISCHR(info.st_mode));
  ASSERT_EQ(lstat(folder.File("link").c_str(), &info), 0);
  EXPECT_TRUE(S_ISLNK(info.st_mode));
  WriteFileBytes(folder.File("empty"), "");
  EXPECT_TRUE(cache->Export(folder.File("empty")).ok());
}

// Shards with overlapping, conflicting rows: every merge order gives the same rows, to the byte of
// every column.
TEST(Transfer, MergeOrderDoesNotMatter) {
  TempFolder folder;
  for (int shard = 0; shard < 4; ++shard) {
    auto cache = OpenCache(folder.File(Cat("s", shard, ".db")));
    for (int i = shard; i < shard + 6; ++i) {
      KernelRow kernel = TestKernel(i);
      kernel.compile_ms = 10 + (shard * 7 + i) % 3;
      kernel.compiler = i == 4 && shard == 2 ? "nvrtc 13.10.1" : "nvrtc 13.9.2";
      kernel.created_unix += shard;
      kernel.last_used_unix += int64_t{10} * shard;
      if (i == 5) kernel.cubin.back() = static_cast<char>(shard);
      ASSERT_TRUE(cache->PutKernel(kernel).ok());
      WinnerRow winner = TestWinner(i);
      winner.median_us = 5 + (shard * 5 + i) % 3;
      winner.config_json = Cat("{\"tile_m\":", shard, "}");
      winner.tuned_unix += shard;
      if (i >= 5) winner.closure_digest = Cat("of other templates ", shard % 2);
      ASSERT_TRUE(cache->PutWinner(winner).ok());
      TrialRow trial = TestTrial(i);
      trial.samples = 10 + (shard * 3 + i) % 2;
      trial.median_us = 4 + shard % 2;
      trial.status = (shard + i) % 3 == 0 ? TrialStatus::kTimeout : TrialStatus::kOk;
      ASSERT_TRUE(cache->PutTrials({trial}).ok());
    }
  }
  const char* dump =
      "select * from kernels order by key; select key, sum from kernel_bytes order by key; "
      "select * from winners order by key; select * from trials order by problem_key, config";
  std::string expected;
  std::vector<int> order = {0, 1, 2, 3};
  int merges = 0;
  do {
    std::string path = folder.File(Cat("m", merges++, ".db"));
    {
      auto cache = OpenCache(path);
      for (int shard : order) {
        auto report = cache->Merge(folder.File(Cat("s", shard, ".db")));
        ASSERT_TRUE(report.ok()) << report.status();
        EXPECT_THAT(report->rejected, SizeIs(0));
      }
      // Idempotent.
      EXPECT_EQ(cache->Merge(folder.File("s1.db"))->winners_replaced, 0);
      EXPECT_THAT(cache->Check().problems, SizeIs(0));
    }
    std::string rows = Shell(path, dump);
    if (expected.empty()) expected = rows;
    EXPECT_EQ(rows, expected);
  } while (std::next_permutation(order.begin(), order.end()));
  EXPECT_EQ(merges, 24);
  EXPECT_EQ(Shell(folder.File("m0.db"), "select count(*) from kernels"), "9\n");
  EXPECT_EQ(Shell(folder.File("m0.db"), "select compiler from kernels where key = 'kernel-4'"),
            "nvrtc 13.10.1\n");
  EXPECT_EQ(Shell(folder.File("m0.db"),
                  "select min(us), max(us) from winners where key in "
                  "('problem-2', 'problem-3', 'problem-4')"),
            "5.0|5.0\n");
  EXPECT_EQ(Shell(folder.File("m0.db"),
                  "select count(*), count(distinct closure) from winners where key glob "
                  "'problem-5*'"),
            "2|2\n");
}

// What was merged is counted; the slower winner does not replace the faster.
TEST(Transfer, MergeCounts) {
  TempFolder folder;
  {
    auto from = OpenCache(folder.File("from.db"));
    ASSERT_TRUE(from->PutKernel(TestKernel(1)).ok());
    ASSERT_TRUE(from->PutKernel(TestKernel(2)).ok());
    for (int i = 0; i < 3; ++i) ASSERT_TRUE(from->PutWinner(TestWinner(i)).ok());
    ASSERT_TRUE(from->PutTrials({TestTrial(0), TestTrial(1)}).ok());
  }
  auto cache = OpenCache(folder.File("k.db"));
  WinnerRow faster = TestWinner(0);
  faster.median_us = 1;
  WinnerRow slower = TestWinner(1);
  slower.median_us = 1000;
  ASSERT_TRUE(cache->PutWinner(faster).ok());
  ASSERT_TRUE(cache->PutWinner(slower).ok());
  ASSERT_TRUE(cache->PutKernel(TestKernel(1)).ok());
  auto report = cache->Merge(folder.File("from.db"));
  ASSERT_TRUE(report.ok());
  EXPECT_EQ(report->kernels_added, 1);
  EXPECT_EQ(report->winners_added, 1);
  EXPECT_EQ(report->winners_replaced, 1);
  EXPECT_EQ(report->trials_added, 2);
  ExpectSame(faster, cache->FindWinner("problem-0").value());
  ExpectSame(TestWinner(1), cache->FindWinner("problem-1").value());
  EXPECT_EQ(cache->Merge(folder.File("none.db")).status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(cache->Merge(folder.File("k.db"))->kernels_added, 0);  // itself
}

// A bundle is data: bad rows are named and left out, good ones come in, triggers and views with
// our names are not run, other files are refused.
TEST(Transfer, HostileBundle) {
  TempFolder folder;
  MakeFile(folder.File("from.db"));
  Shell(folder.File("from.db"),
        "update kernels set symbol = 'evil' where key = 'kernel-3'; "
        "update winners set us = 0.001 where key = 'problem-3';");
  auto cache = OpenCache(folder.File("k.db"));
  auto report = cache->Merge(folder.File("from.db"));
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->kernels_added, kKernels - 1);
  EXPECT_EQ(report->winners_added, kWinners - 1);
  ASSERT_THAT(report->rejected, SizeIs(2));
  EXPECT_THAT(report->rejected[0], HasSubstr("kernel-3"));
  EXPECT_FALSE(cache->HasKernel("kernel-3"));

  // A view in place of a table: the endless query behind it must not run.
  std::string bomb = folder.File("bomb.db");
  MakeFile(bomb);
  Shell(bomb,
        "drop table trials; create view trials as with recursive n(x) as (select 1 union all "
        "select x + 1 from n) select * from n");
  report = cache->Merge(bomb);
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->trials_added, 0);

  Shell(folder.File("photos.db"), "create table photos(name text)");
  EXPECT_EQ(cache->Merge(folder.File("photos.db")).status().code(),
            absl::StatusCode::kFailedPrecondition);
  WriteFileBytes(folder.File("noise.db"), TestKernel(1, 50000).cubin.substr(kElfHeaderBytes));
  EXPECT_EQ(cache->Merge(folder.File("noise.db")).status().code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(cache->Diff(folder.File("noise.db")).status().code(), absl::StatusCode::kDataLoss);
}

// A damaged bundle gives what can be read of it.
TEST(Transfer, DamagedBundleIsSalvaged) {
  TempFolder folder;
  MakeFile(folder.File("from.db"));
  std::string bytes = ReadFileBytes(folder.File("from.db"));
  WriteFileBytes(folder.File("from.db"), bytes.replace(0, 4096, 4096, 'x'));
  auto cache = OpenCache(folder.File("k.db"));
  auto report = cache->Merge(folder.File("from.db"));
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->kernels_added, kKernels);
  EXPECT_EQ(report->winners_added, kWinners);
  EXPECT_EQ(report->trials_added, kTrials);
}

// Differences are named; times and last use do not count.
TEST(Transfer, DiffNamesRows) {
  TempFolder folder;
  auto left = OpenCache(folder.File("left.db"));
  {
    auto right = OpenCache(folder.File("right.db"));
    ASSERT_TRUE(right->PutKernel(TestKernel(1)).ok());
    ASSERT_TRUE(right->PutWinner(TestWinner(1)).ok());
    ASSERT_TRUE(right->PutTrials({TestTrial(1)}).ok());
  }
  KernelRow same = TestKernel(1);
  same.created_unix = same.last_used_unix = 5;
  same.compile_ms = 99;
  WinnerRow other = TestWinner(1);
  other.median_us = 7.5;
  ASSERT_TRUE(left->PutKernel(same).ok());
  ASSERT_TRUE(left->PutKernel(TestKernel(2)).ok());
  ASSERT_TRUE(left->PutWinner(other).ok());
  auto diff = left->Diff(folder.File("right.db"));
  ASSERT_TRUE(diff.ok());
  EXPECT_THAT(diff->only_left, ElementsAre(HasSubstr("kernels kernel-2: GemmFwdOp ")));
  EXPECT_THAT(diff->only_right, ElementsAre(HasSubstr("trials problem-0")));
  EXPECT_EQ(diff->alike, 1);
  ASSERT_THAT(diff->differing, SizeIs(1));
  EXPECT_THAT(diff->differing[0], HasSubstr("winners problem-1@"));
  EXPECT_THAT(diff->differing[0], HasSubstr("7.5 us | "));
}

// Losers of tuning go first, then kernels of no winner, then winners', by last use; winners' rows
// and trials stay, and the file gets smaller.
TEST(Transfer, GcOrder) {
  TempFolder folder;
  auto cache = OpenCache(folder.File("k.db"));
  // kernel-0, 2, 4, .. are GemmFwdOp's, which has winners; kernel-0 and kernel-2 win. kernel-1, 3,
  // .. are RmsNormFwdOp's, never tuned.
  for (int i = 0; i < 12; ++i) {
    KernelRow row = TestKernel(i, 40000);
    row.last_used_unix = 1700000000 + (i == 1 ? 1000 : i);
    ASSERT_TRUE(cache->PutKernel(row).ok());
  }
  WinnerRow winner = TestWinner(0);
  winner.kernel_keys = "kernel-0,kernel-2";
  ASSERT_TRUE(cache->PutWinner(winner).ok());
  std::vector<std::string> order = {"kernel-4",  "kernel-6", "kernel-8", "kernel-10",
                                    "kernel-3",  "kernel-5", "kernel-7", "kernel-9",
                                    "kernel-11", "kernel-1", "kernel-0", "kernel-2"};
  for (int64_t limit = 500000; limit > 150000; limit -= 30000) {
    int64_t before = cache->Stats().kernels;
    auto deleted = cache->Gc(limit);
    ASSERT_TRUE(deleted.ok());
    EXPECT_EQ(*deleted, before - cache->Stats().kernels);
    EXPECT_LE(FileBytes(folder.File("k.db")), limit);
    size_t gone = 12 - static_cast<size_t>(cache->Stats().kernels);
    for (size_t i = 0; i < order.size(); ++i) {
      EXPECT_EQ(cache->HasKernel(order[i]), i >= gone) << order[i] << " at " << limit;
    }
  }
  EXPECT_LE(cache->Stats().kernels, 4);
  EXPECT_TRUE(cache->FindWinner("problem-0").has_value());
  ASSERT_TRUE(cache->Gc(0).ok());
  EXPECT_EQ(cache->Stats().kernels, 0);
  EXPECT_EQ(cache->Gc(-1).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(cache->Check().problems, SizeIs(0));
}

// The byte limit holds on every put, in the file and in memory, and the newest kernel stays.
TEST(Transfer, ByteLimitHolds) {
  TempFolder folder;
  for (const std::string& path : {folder.File("k.db"), std::string()}) {
    CacheOptions options;
    options.path = path;
    options.max_bytes = 500000;
    auto cache = OpenCache(options);
    for (int i = 0; i < 60; ++i) {
      ASSERT_TRUE(cache->PutKernel(TestKernel(i, 30000)).ok());
      ASSERT_TRUE(cache->HasKernel(Cat("kernel-", i)));
    }
    EXPECT_LE(cache->Stats().cubin_bytes, 500000);
    EXPECT_GE(cache->Stats().kernels, 8);
    EXPECT_FALSE(cache->HasKernel("kernel-0"));
    cache.reset();
    EXPECT_LE(FileBytes(folder.File("k.db")), 500000);
  }
}

// Versions compare as numbers.
TEST(Transfer, VersionsCompareAsNumbers) {
  EXPECT_LT(CompareVersions("nvrtc 13.0.88", "nvrtc 13.10.1"), 0);
  EXPECT_GT(CompareVersions("nvrtc 13.0.100", "nvrtc 13.0.88"), 0);
  EXPECT_EQ(CompareVersions("nvrtc 13.0.88", "nvrtc 13.0.88"), 0);
  EXPECT_LT(CompareVersions("", "nvrtc 1"), 0);
  EXPECT_LT(CompareVersions("nvrtc 13", "nvrtc 13.1"), 0);
}

}  // namespace
}  // namespace tilewright
