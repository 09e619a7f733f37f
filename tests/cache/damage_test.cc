// Damaged files and rows: never served, never fatal, told once, healed, intact rows kept.
#include <gmock/gmock.h>
#include <unistd.h>

#include <functional>

#include "cache/cache.h"
#include "manifest/status.h"
#include "tests/cache/cache_fixture.h"
#include "tests/cache/test_cubin.h"

namespace tilewright {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// First run: right results and at most `lines` log lines. It stores what is missing, as a service
// would. Second run: everything there, nothing logged, nothing found by Check().
Served ExpectHeals(const std::string& path, size_t lines) {
  Served first;
  {
    LogLines log;
    auto cache = OpenCache(path, &log);
    if (cache == nullptr) return first;
    first = ReadAll(*cache);
    EXPECT_LE(log.lines.size(), lines) << testing::PrintToString(log.lines);
    EXPECT_GE(log.lines.size(), 1u);
    EXPECT_GE(cache->Stats().quarantined, 1);
    Fill(*cache);
  }
  LogLines log;
  auto cache = OpenCache(path, &log);
  if (cache == nullptr) return first;
  ExpectAll(*cache);
  EXPECT_THAT(log.lines, ElementsAre());
  EXPECT_THAT(cache->Check().problems, ElementsAre());
  return first;
}

// One flipped bit, a cut to half and a cut to nothing, in every row kind: that row alone is lost.
class DamagedRow : public testing::TestWithParam<std::pair<const char*, const char*>> {};

TEST_P(DamagedRow, IsDroppedAloneAndHeals) {
  TempFolder folder;
  std::string path = folder.File("k.db");
  MakeFile(path);
  ASSERT_EQ(Shell(path, GetParam().second), "");
  Served first = ExpectHeals(path, 1);
  EXPECT_EQ(first.kernels + first.winners + first.trials, kKernels + kWinners + kTrials - 1);
  EXPECT_THAT(folder.Names(), ElementsAre("k.db", "k.db.lock"));  // no file was set aside
}

INSTANTIATE_TEST_SUITE_P(
    Rows, DamagedRow,
    testing::Values(
        std::pair("CubinBit",
                  "update kernel_bytes set bytes = cast(substr(bytes, 1, 99) || x'5a' || "
                  "substr(bytes, 101) as blob) where key = 'kernel-7'"),
        std::pair("CubinHalf",
                  "update kernel_bytes set bytes = substr(bytes, 1, 3000) where key = 'kernel-7'"),
        std::pair("CubinEmpty", "update kernel_bytes set bytes = x'' where key = 'kernel-7'"),
        std::pair("CubinGone", "delete from kernel_bytes where key = 'kernel-7'"),
        std::pair("CubinOfOther",
                  "update kernel_bytes set (sum, bytes) = (select sum, bytes from kernel_bytes "
                  "where key = 'kernel-8') where key = 'kernel-7'"),
        std::pair("KernelText", "update kernels set symbol = '_ZN9' where key = 'kernel-7'"),
        std::pair("KernelBit",
                  "update kernels set symbol = 'a' || substr(symbol, 2) "
                  "where key = 'kernel-7'"),
        std::pair("KernelHalf",
                  "update kernels set instantiation = substr(instantiation, 1, 14) "
                  "where key = 'kernel-7'"),
        std::pair("KernelEmpty", "update kernels set digest = '' where key = 'kernel-7'"),
        std::pair("KernelNumber", "update kernels set smem = smem + 1 where key = 'kernel-7'"),
        std::pair("KernelArch", "update kernels set arch = 'sm_80' where key = 'kernel-7'"),
        std::pair("KernelSum", "update kernels set sum = '' where key = 'kernel-7'"),
        std::pair("WinnerTime", "update winners set us = us / 2 where key = 'problem-3'"),
        std::pair("WinnerBit",
                  "update winners set problem = replace(problem, '512', '513') "
                  "where key = 'problem-3'"),
        std::pair("WinnerHalf",
                  "update winners set dtypes = substr(dtypes, 1, 13) "
                  "where key = 'problem-3'"),
        std::pair("WinnerEmpty", "update winners set kernels = '' where key = 'problem-3'"),
        std::pair("WinnerConfig", "update winners set config = '{}' where key = 'problem-3'"),
        std::pair("TrialStatus",
                  "update trials set status = 'ok' where status = 'wrong' and "
                  "problem_key = 'problem-3'"),
        std::pair("TrialBit", "update trials set device = 'OVIDIA H200/132' where rowid = 5"),
        std::pair("TrialHalf", "update trials set error = substr(error, 1, 12) where rowid = 8"),
        std::pair("TrialEmpty", "update trials set closure = '' where rowid = 5"),
        std::pair("TrialTime", "update trials set us = 0.1 where config like '%tile_m\\\":64}'")),
    [](const auto& info) { return info.param.first; });

struct FileDamage {
  const char* name;
  std::function<void(const std::string& path)> apply;
  int kernels_at_least;
};

void Overwrite(const std::string& path, size_t page, const std::string& bytes) {
  std::string file = ReadFileBytes(path);
  ASSERT_GE(file.size(), (page + 1) * 4096);
  WriteFileBytes(path, file.replace(page * 4096, bytes.size(), bytes));
}

// As many kernels again, so that the first ones are whole in the first half of the file: a kernel
// is lost with either of its two rows.
void Grow(const std::string& path) {
  auto cache = OpenCache(path);
  for (int i = 0; i < kKernels; ++i) ASSERT_TRUE(cache->PutKernel(TestKernel(1000 + i)).ok());
}

class DamagedFile : public testing::TestWithParam<FileDamage> {};

TEST_P(DamagedFile, IsSetAsideAndRebuilt) {
  TempFolder folder;
  std::string path = folder.File("k.db");
  MakeFile(path);
  GetParam().apply(path);
  // A repair, and rows that are damaged by themselves, are each one line.
  Served first = ExpectHeals(path, 3);
  EXPECT_GE(first.kernels, GetParam().kernels_at_least);
}

INSTANTIATE_TEST_SUITE_P(
    Files, DamagedFile,
    testing::Values(
        FileDamage{"Garbage", [](auto& path) { WriteFileBytes(path, std::string(50000, 'g')); }, 0},
        FileDamage{"HeaderPage", [](auto& path) { Overwrite(path, 0, std::string(4096, 'z')); },
                   kKernels},
        FileDamage{"HeaderMagic", [](auto& path) { Overwrite(path, 0, "sqlite"); }, kKernels},
        FileDamage{"Halved",
                   [](auto& path) {
                     Grow(path);
                     std::string file = ReadFileBytes(path);
                     WriteFileBytes(path, file.substr(0, file.size() / 2));
                   },
                   kKernels / 4},
        FileDamage{"HalvedWithinAPage",
                   [](auto& path) {
                     Grow(path);
                     std::string file = ReadFileBytes(path);
                     WriteFileBytes(path, file.substr(0, file.size() / 2 + 1234));
                   },
                   kKernels / 4}),
    [](const auto& info) { return info.param.name; });

// A file cut in half beside a WAL that still holds committed rows: those rows are kept.
TEST(DamagedWal, HalvedFileBesideAWal) {
  TempFolder folder;
  std::string path = folder.File("k.db");
  MakeFile(path);
  Grow(path);
  {
    auto cache = OpenCache(path);
    for (int i = kKernels; i < kKernels + 5; ++i) {
      ASSERT_TRUE(cache->PutKernel(TestKernel(i)).ok());
    }
    // Copied while open, as a crash leaves it.
    std::string file = ReadFileBytes(path);
    WriteFileBytes(folder.File("c.db"), file.substr(0, file.size() / 2));
    WriteFileBytes(folder.File("c.db-wal"), ReadFileBytes(path + "-wal"));
  }
  LogLines log;
  auto cache = OpenCache(folder.File("c.db"), &log);
  Served served = ReadAll(*cache);
  EXPECT_GE(served.kernels, kKernels / 4);
  for (int i = kKernels; i < kKernels + 5; ++i) {
    auto row = cache->FindKernel(Cat("kernel-", i));
    ASSERT_TRUE(row.has_value()) << i;
    ExpectSame(TestKernel(i), *row);
  }
  EXPECT_EQ(log.Count("was damaged"), 1u);
}

// A file cut to nothing beside a WAL with committed rows: the WAL's rows are kept.
TEST(DamagedWal, EmptyFileBesideAWal) {
  TempFolder folder;
  std::string path = folder.File("k.db");
  {
    auto cache = OpenCache(path);
    Fill(*cache);
    WriteFileBytes(folder.File("c.db-wal"), ReadFileBytes(path + "-wal"));
    WriteFileBytes(folder.File("c.db"), "");
  }
  LogLines log;
  auto cache = OpenCache(folder.File("c.db"), &log);
  EXPECT_GT(ReadAll(*cache).kernels, 0);
  EXPECT_EQ(log.lines.size(), 1u);
}

// A WAL of an earlier time beside the file, whole or cut in half: what is served was stored at some
// time, what was lost is built anew, and the file is sound then.
TEST(DamagedWal, StaleWal) {
  for (const bool halved : {false, true}) {
    SCOPED_TRACE(halved ? "halved" : "whole");
    TempFolder folder;
    const std::string path = folder.File("k.db");
    MakeFile(path);
    const auto put_winners = [](Cache& cache, int age) {
      for (int i = 0; i < kWinners; ++i) {
        WinnerRow row = TestWinner(i);
        row.median_us += age;
        row.tuned_unix -= age;
        ASSERT_TRUE(cache.PutWinner(row).ok());
      }
    };
    std::string stale;
    {
      auto cache = OpenCache(path);
      put_winners(*cache, 500);
      stale = ReadFileBytes(path + "-wal");
      ASSERT_GT(stale.size(), 4096u);
    }
    put_winners(*OpenCache(path), 0);
    Grow(path);
    const std::string file = ReadFileBytes(path);
    WriteFileBytes(path, halved ? file.substr(0, file.size() / 2) : file);
    WriteFileBytes(path + "-wal", stale);
    {
      LogLines log;
      auto cache = OpenCache(path, &log);
      int kernels = 0;
      for (int i = 0; i < kKernels; ++i) {
        const auto row = cache->FindKernel(Cat("kernel-", i));
        if (!row) continue;
        ExpectSame(TestKernel(i), *row);
        ++kernels;
      }
      EXPECT_GE(kernels, kKernels / 4);
      for (int i = 0; i < kWinners; ++i) {
        const auto row = cache->FindWinner(Cat("problem-", i));
        if (!row) continue;
        const int64_t age = TestWinner(i).tuned_unix - row->tuned_unix;
        EXPECT_TRUE(age == 0 || age == 500) << age;
        EXPECT_EQ(row->median_us, TestWinner(i).median_us + static_cast<double>(age));
      }
      (void)cache->Check();
      EXPECT_LE(log.lines.size(), 1u) << testing::PrintToString(log.lines);
      Fill(*cache);
    }
    LogLines log;
    auto cache = OpenCache(path, &log);
    ExpectAll(*cache);
    EXPECT_THAT(cache->Check().problems, ElementsAre());
    EXPECT_THAT(log.lines, ElementsAre());
  }
}

// A WAL of another file, or of noise, beside a sound file is no reason to lose a row.
TEST(DamagedWal, NoiseIsIgnored) {
  TempFolder folder;
  std::string path = folder.File("k.db");
  MakeFile(path);
  WriteFileBytes(path + "-wal", TestKernel(9, 100000).cubin.substr(kElfHeaderBytes));
  auto cache = OpenCache(path);
  EXPECT_EQ(ReadAll(*cache).kernels, kKernels);
  EXPECT_THAT(cache->Check().problems, ElementsAre());
}

// A file cut to nothing, or to less than a header, is a new cache.
TEST(DamagedFiles, EmptyFileIsANewCache) {
  TempFolder folder;
  std::string path = folder.File("k.db");
  for (const char* content : {"", "x"}) {
    MakeFile(path);
    WriteFileBytes(path, content);
    LogLines log;
    auto cache = OpenCache(path, &log);
    EXPECT_EQ(ReadAll(*cache).kernels, 0);
    Fill(*cache);
    EXPECT_EQ(ReadAll(*cache).kernels, kKernels);
    EXPECT_THAT(log.lines, ElementsAre());
  }
}

// Damage that appears under an open cache is repaired there and then; another cache object on the
// same file moves over to the new file, and what it stores is there.
TEST(DamagedFiles, RepairUnderOpenCaches) {
  TempFolder folder;
  std::string path = folder.File("k.db");
  MakeFile(path);
  LogLines log;
  auto other = OpenCache(path);
  ASSERT_TRUE(other->HasKernel("kernel-1"));
  // In place, as a failing disk does: the inode stays.
  FILE* raw = fopen(path.c_str(), "r+");
  std::string noise(4096, '\xa5');
  ASSERT_EQ(fwrite(noise.data(), 1, noise.size(), raw), noise.size());
  fclose(raw);
  {
    auto cache = OpenCache(path, &log);
    EXPECT_EQ(ReadAll(*cache).kernels, kKernels);
    EXPECT_EQ(log.Count("was damaged"), 1u);
    ASSERT_TRUE(other->PutKernel(TestKernel(100)).ok());
    EXPECT_TRUE(cache->FindKernel("kernel-100").has_value());
  }
  other.reset();
  auto cache = OpenCache(path);
  EXPECT_TRUE(cache->FindKernel("kernel-100").has_value());
  EXPECT_EQ(ReadAll(*cache).kernels, kKernels);
  EXPECT_THAT(cache->Check().problems, ElementsAre());
}

// A file that was deleted under an open cache comes back.
TEST(DamagedFiles, DeletedFileComesBack) {
  TempFolder folder;
  std::string path = folder.File("k.db");
  auto cache = OpenCache(path);
  ASSERT_TRUE(cache->PutKernel(TestKernel(1)).ok());
  for (const char* name : {"", "-wal", "-shm"}) unlink((path + name).c_str());
  EXPECT_FALSE(cache->FindKernel("kernel-1").has_value());
  ASSERT_TRUE(cache->PutKernel(TestKernel(2)).ok());
  cache.reset();
  EXPECT_TRUE(OpenCache(path)->HasKernel("kernel-2"));
}

// A damaged seed is told and ignored, and never written.
TEST(DamagedFiles, DamagedSeedIsIgnored) {
  TempFolder folder;
  MakeFile(folder.File("seed.db"));
  ASSERT_EQ(Shell(folder.File("seed.db"), "update kernels set regs = 1 where key = 'kernel-3'"),
            "");
  std::string bytes = ReadFileBytes(folder.File("seed.db"));
  LogLines log;
  CacheOptions options;
  options.path = folder.File("k.db");
  options.seed_paths = {folder.File("seed.db")};
  options.log = log.Sink();
  auto cache = OpenCache(options);
  EXPECT_FALSE(cache->FindKernel("kernel-3").has_value());
  EXPECT_FALSE(cache->FindKernel("kernel-3").has_value());
  EXPECT_TRUE(cache->FindKernel("kernel-4").has_value());
  EXPECT_EQ(log.Count("kernel-3"), 1u);
  ASSERT_TRUE(cache->PutKernel(TestKernel(3)).ok());
  EXPECT_TRUE(cache->FindKernel("kernel-3").has_value());
  cache.reset();
  EXPECT_TRUE(ReadFileBytes(folder.File("seed.db")) == bytes);
}

// Check() names table and key.
TEST(DamagedFiles, CheckNamesTheRow) {
  TempFolder folder;
  MakeFile(folder.File("k.db"));
  Shell(folder.File("k.db"), "update winners set us = 1 where key = 'problem-3'");
  auto cache = OpenCache(folder.File("k.db"));
  CheckReport report = cache->Check();
  ASSERT_EQ(report.problems.size(), 1u);
  EXPECT_THAT(report.problems[0], HasSubstr("winners row problem-3"));
  EXPECT_EQ(report.rows_checked, kKernels + kWinners + kTrials - 1);
  EXPECT_EQ(report.rows_found, kKernels + kWinners + kTrials);
  EXPECT_TRUE(report.found_all);
  EXPECT_THAT(cache->Check().problems, ElementsAre());
}

}  // namespace
}  // namespace tilewright
