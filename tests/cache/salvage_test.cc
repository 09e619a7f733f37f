// Damaged files that cannot be repaired where they are, and the names of what a repair loses.
#include "cache/salvage.h"

#include <gmock/gmock.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "cache/cache.h"
#include "cache/page_scan.h"
#include "manifest/status.h"
#include "tests/cache/cache_fixture.h"

namespace tilewright {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

constexpr char kGarbledRow[] = "winners row problem#17: a checksum that is not its own";

void Spoil(const std::string& path, size_t page) {
  WriteFileBytes(path, ReadFileBytes(path).replace(page * kPage, kPage, kPage, '\x5a'));
}

std::vector<std::string> KeysOn(const std::string& path, size_t page) {
  const std::string bytes = ReadFileBytes(path).substr(page * kPage, kPage);
  std::vector<std::string> names;
  for (int i = 0; i < kWinners; ++i) {
    if (bytes.find(TestWinner(i).problem_json) != std::string::npos) {
      names.push_back(Cat("winner problem-", i));
    }
  }
  return names;
}

// Guards: what a repair could not keep is named, though nothing of it can be read any more.
TEST(Salvage, LostRowsAreNamed) {
  TempFolder folder;
  const std::string path = folder.File("k.db");
  MakeFile(path);
  const std::vector<size_t> leaves = LeavesOf(path, "winners");
  ASSERT_GE(leaves.size(), 2u);
  std::vector<std::string> expected = KeysOn(path, leaves[1]);
  ASSERT_GE(expected.size(), 1u);
  std::sort(expected.begin(), expected.end());
  Spoil(path, leaves[1]);
  LogLines log;
  auto cache = OpenCache(path, &log);
  EXPECT_EQ(ReadAll(*cache).winners, kWinners - static_cast<int>(expected.size()));
  EXPECT_EQ(cache->Stats().lost, expected);
  ASSERT_THAT(log.lines, SizeIs(1));
  EXPECT_THAT(log.lines[0], HasSubstr(Cat("lost: ", expected[0])));
  EXPECT_THAT(cache->Stats().damage, HasSubstr(expected[0]));
}

// Guards: a damaged file that may only be read serves and exports its intact rows, with one line,
// and no byte of it is changed.
TEST(Salvage, ReadOnlyFileServesItsIntactRows) {
  for (const bool header : {false, true}) {
    TempFolder folder;
    const std::string path = folder.File("k.db");
    MakeFile(path);
    unlink((path + ".lock").c_str());
    const std::vector<size_t> leaves = LeavesOf(path, "winners");
    const int lost = header ? 0 : static_cast<int>(KeysOn(path, leaves[0]).size());
    Spoil(path, header ? 0 : leaves[0]);
    const std::string bytes = ReadFileBytes(path);
    LogLines log;
    CacheOptions options;
    options.path = path;
    options.read_only = true;
    options.log = log.Sink();
    auto cache = OpenCache(options);
    const Served served = ReadAll(*cache);
    EXPECT_EQ(served.kernels, kKernels);
    EXPECT_EQ(served.winners, kWinners - lost);
    EXPECT_EQ(served.trials, kTrials);
    EXPECT_EQ(cache->Stats().mode, "read-only");
    EXPECT_EQ(cache->Stats().lost.size(), static_cast<size_t>(lost));
    ASSERT_THAT(log.lines, SizeIs(1));
    EXPECT_THAT(log.lines[0], HasSubstr("rows were read from its intact pages"));
    const auto exported = cache->Export(folder.File("out.db"));
    ASSERT_TRUE(exported.ok()) << exported.status();
    EXPECT_EQ(exported->winners, kWinners - lost);
    EXPECT_TRUE(cache->PutKernel(TestKernel(100)).ok());
    EXPECT_TRUE(cache->HasKernel("kernel-100"));
    cache.reset();
    EXPECT_TRUE(ReadFileBytes(path) == bytes);
  }
}

// Guards: the same where the folder cannot be written, by a user who may write nothing.
TEST(Salvage, ReadOnlyFolderServesItsIntactRows) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root to become another user";
  TempFolder folder;
  const std::string path = folder.File("k.db");
  MakeFile(path);
  Spoil(path, 0);
  unlink((path + ".lock").c_str());
  ASSERT_EQ(chmod(path.c_str(), 0644), 0);
  ASSERT_EQ(chmod(folder.path().c_str(), 0755), 0);
  EXPECT_EQ(InChild(
                [&] {
                  auto cache = OpenCache(path);
                  const Served served = ReadAll(*cache);
                  return served.kernels + served.winners + served.trials;
                },
                54321),
            kKernels + kWinners + kTrials);
}

// Guards: a damaged seed serves its intact rows too, damaged before it is opened or after.
TEST(Salvage, DamagedSeedServesItsIntactRows) {
  for (const bool header : {false, true}) {
    TempFolder folder;
    const std::string path = folder.File("seed.db");
    MakeFile(path);
    Spoil(path, header ? 0 : LeavesOf(path, "winners")[0]);
    const std::string bytes = ReadFileBytes(path);
    LogLines log;
    CacheOptions options;
    options.seed_paths = {path};
    options.log = log.Sink();
    auto cache = OpenCache(options);
    const Served served = ReadAll(*cache);
    EXPECT_EQ(served.kernels, kKernels);
    EXPECT_EQ(served.winners < kWinners, !header);
    EXPECT_EQ(served.trials, kTrials);
    EXPECT_EQ(log.Count("the file is damaged"), 1u);
    EXPECT_TRUE(ReadFileBytes(path) == bytes);
  }
}

// Guards: where a full disk takes no rebuilt file, the damaged one is left as it is and its intact
// rows are served; it is rebuilt once there is room.
TEST(Salvage, FullDiskServesTheIntactRows) {
  TempFolder elsewhere;
  MakeFile(elsewhere.File("k.db"));
  const std::string bytes = ReadFileBytes(elsewhere.File("k.db")).replace(0, 4, 4, 'z');
  TempFolder folder;
  if (mount("tmpfs", folder.path().c_str(), "tmpfs", 0, "size=2m,mode=0700") != 0) {
    GTEST_SKIP() << "cannot mount a tmpfs here";
  }
  const std::string path = folder.File("k.db");
  WriteFileBytes(path, bytes);
  WriteFileBytes(folder.File("filler"), std::string(2 << 20, 'f'));
  {
    LogLines log;
    auto cache = OpenCache(path, &log);
    ExpectAll(*cache);
    EXPECT_EQ(log.Count("rows were read from its intact pages"), 1u);
    EXPECT_TRUE(cache->PutKernel(TestKernel(100)).ok());
    EXPECT_FALSE(cache->Persisted().ok());
  }
  EXPECT_TRUE(ReadFileBytes(path) == bytes);
  EXPECT_THAT(folder.Names(), ElementsAre("filler", "k.db", "k.db.lock"));
  unlink(folder.File("filler").c_str());
  {
    LogLines log;
    auto cache = OpenCache(path, &log);
    EXPECT_EQ(ReadAll(*cache).kernels, kKernels);
    EXPECT_EQ(log.Count("was damaged"), 1u) << testing::PrintToString(log.lines);
  }
  umount(folder.path().c_str());
}

// Guards: a file that cannot be checked because another program holds it is not taken for damaged.
TEST(Salvage, LockedFileIsNotDamaged) {
  TempFolder folder;
  CacheOptions options;
  options.path = folder.File("k.db");
  options.busy_timeout = std::chrono::milliseconds(20);
  options.env.filesystem_type = [](const std::string&) { return 0x6969; };  // no WAL: readers wait
  auto cache = OpenCache(options);
  Fill(*cache);
  auto other = Connection::Open(options.path, Connection::Mode::kReadWrite, options.busy_timeout);
  ASSERT_TRUE(other.ok() && other->Exec("BEGIN EXCLUSIVE").ok());
  const CheckReport report = cache->Check();
  EXPECT_FALSE(report.problems.empty());
  EXPECT_FALSE(report.rebuilt);
  EXPECT_EQ(OpenCache("")->Merge(options.path).status().code(), absl::StatusCode::kUnavailable);
  ASSERT_TRUE(other->Exec("ROLLBACK").ok());
  EXPECT_THAT(cache->Check().problems, ElementsAre());
  EXPECT_EQ(ReadAll(*cache).kernels, kKernels);
  EXPECT_THAT(folder.Names(), ElementsAre("k.db", "k.db.lock"));
}

// Guards: a file whose cells all lead into one chain of pages, which never ends, or to one another,
// is read in the time that its size takes.
TEST(Salvage, HostileChainsEnd) {
  TempFolder folder;
  const std::string path = folder.File("k.db");
  const auto put = [](std::string& page, size_t at, std::string_view bytes) {
    page.replace(at, bytes.size(), bytes);
  };
  for (const bool chained : {false, true}) {
    // Page 1 is a header; page 2 a leaf of cells at one place; page 3 a chain that leads to itself.
    std::string header(kPage, '\0');
    put(header, 0, std::string_view("SQLite format 3\0\x10\0", 18));
    std::string leaf(kPage, '\0');
    constexpr size_t kCells = 1900;
    constexpr size_t kCellAt = 3840;
    put(leaf, 0, std::string_view("\x0d\0\0\x07\x6c", 5));
    for (size_t i = 0; i < kCells; ++i) put(leaf, 8 + 2 * i, std::string_view("\x0f\x00", 2));
    // 60,000,000 bytes, of which 489 would stand here; or 200, of three texts.
    put(leaf, kCellAt,
        chained ? std::string_view("\x9c\xce\xb8\x00\x01", 5)
                : std::string_view("\x81\x48\x01\x04\x0d\x0d\x0d", 7));
    std::string chain(kPage, 'c');
    put(chain, 0, std::string_view("\0\0\0\3", 4));
    std::string file = header;
    for (int i = 0; i < 50; ++i) file += leaf + chain;
    put(file, 2 * kPage, chain);
    WriteFileBytes(path, file);
    int64_t records = 0;
    const auto start = std::chrono::steady_clock::now();
    EXPECT_EQ(ScanRecords(RawFile(path), nullptr, [&](Record) { ++records; }), 50);
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(3));
    EXPECT_LT(records, 50 * 100);
    EXPECT_EQ(records > 0, !chained);
  }
}

// Guards: a file that may only be read and is none of ours serves nothing, and says so.
TEST(Salvage, FileWithoutRowsServesNothing) {
  TempFolder folder;
  WriteFileBytes(folder.File("k.db"), std::string(50000, 'g'));
  LogLines log;
  CacheOptions options;
  options.path = folder.File("k.db");
  options.read_only = true;
  options.log = log.Sink();
  auto cache = OpenCache(options);
  EXPECT_EQ(ReadAll(*cache).kernels, 0);
  EXPECT_EQ(cache->Stats().mode, "memory");
  EXPECT_EQ(log.lines.size(), 1u);
}

// Guards: statistics do not show none where a damaged page keeps rows from being counted.
TEST(Salvage, StatisticsHealToo) {
  for (const char* name :
       {"sqlite_autoindex_winners_1", "sqlite_autoindex_trials_1", "kernel_bytes"}) {
    TempFolder folder;
    const std::string path = folder.File("k.db");
    MakeFile(path);
    Spoil(path, LeavesOf(path, name).back());
    LogLines log;
    const CacheStats stats = OpenCache(path, &log)->Stats();
    EXPECT_EQ(stats.winners, kWinners) << name;
    EXPECT_EQ(stats.trials, kTrials) << name;
    EXPECT_GE(stats.kernels, kKernels / 2) << name;
    EXPECT_EQ(stats.kernels + static_cast<int64_t>(stats.lost.size()), kKernels) << name;
    EXPECT_EQ(log.Count("was damaged"), 1u) << name << testing::PrintToString(log.lines);
  }
}

// Guards: damage that nobody reads is found and healed by Check(), every row on a readable page
// kept: a page of trials, of an index, of the page that is not in use.
TEST(Salvage, CheckHealsWhatNobodyReads) {
  for (const char* name : {"trials", "winners_by_op", "sqlite_autoindex_trials_1",
                           "sqlite_autoindex_winners_1", "sqlite_autoindex_kernel_bytes_1"}) {
    TempFolder folder;
    const std::string path = folder.File("k.db");
    MakeFile(path);
    const std::vector<size_t> leaves = LeavesOf(path, name);
    ASSERT_GE(leaves.size(), 1u) << name;
    Spoil(path, leaves.back());
    LogLines log;
    auto cache = OpenCache(path, &log);
    EXPECT_FALSE(cache->Check().problems.empty()) << name;
    EXPECT_EQ(log.Count("was damaged"), 1u) << name;
    EXPECT_THAT(cache->Check().problems, ElementsAre()) << name;
    const Served served = ReadAll(*cache);
    EXPECT_EQ(served.kernels, kKernels) << name;
    EXPECT_EQ(served.winners, kWinners) << name;
    EXPECT_EQ(served.trials + static_cast<int>(cache->Stats().lost.size()), kTrials) << name;
    EXPECT_EQ(cache->Stats().lost.empty(), std::string(name) != "trials") << name;
  }
}

// Guards: a lost row whose damage hits its key is known by the key that its index has; nothing is
// lost where the index has the damaged one.
TEST(Salvage, GarbledKeysAreKnownByTheirIndex) {
  for (const bool in_index : {false, true}) {
    TempFolder folder;
    const std::string path = folder.File("k.db");
    MakeFile(path);
    std::string bytes = ReadFileBytes(path);
    const std::string table = in_index ? "sqlite_autoindex_winners_1" : "winners";
    size_t at = std::string::npos;
    for (const size_t leaf : LeavesOf(path, table)) {
      const size_t found = bytes.find("problem-17", leaf * kPage);
      if (found < (leaf + 1) * kPage) at = found;
    }
    ASSERT_NE(at, std::string::npos);
    WriteFileBytes(path, bytes.replace(at, 10, "problem#17"));
    auto cache = OpenCache(path);
    EXPECT_FALSE(cache->Check().problems.empty());
    const std::string lost = "winner problem-17 (its row says winner problem#17)";
    EXPECT_EQ(cache->Stats().lost, in_index ? std::vector<std::string>()
                                            : std::vector<std::string>({kGarbledRow, lost}));
    EXPECT_EQ(cache->FindWinner("problem-17").has_value(), in_index);
    EXPECT_THAT(cache->Check().problems, ElementsAre());
  }
}

}  // namespace
}  // namespace tilewright
