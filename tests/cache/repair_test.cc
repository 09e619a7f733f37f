// Repairs that are killed on the way, and what they leave.
#include "cache/repair.h"

#include <gmock/gmock.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>

#include "cache/cache.h"
#include "cache/cubin_digest.h"
#include "manifest/status.h"
#include "tests/cache/cache_fixture.h"
#include "tests/cache/cut_off_repair.h"

namespace tilewright {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

void ExpectAllKept(const std::string& path) {
  for (int i = 0; i < 2; ++i) {
    LogLines log;
    auto cache = OpenCache(path, &log);
    ASSERT_NE(cache, nullptr);
    const Served served = ReadAll(*cache);
    EXPECT_EQ(served.kernels, kKernels);
    EXPECT_EQ(served.winners, kWinners);
    EXPECT_THAT(cache->Check().problems, ElementsAre());
    if (i > 0) {
      EXPECT_THAT(log.lines, ElementsAre());
    }
  }
}

// Guards: whenever a repair is killed, the next one has every row of the file and its WAL, and
// nothing of the first is left.
TEST(Repair, KilledAtAnyStepKeepsEveryRow) {
  int kill_at = 1;
  for (;; ++kill_at) {
    SCOPED_TRACE(Cat("killed before step ", kill_at));
    TempFolder folder;
    const std::string path = folder.File("k.db");
    MakeDamagedWithWal(path);
    const bool killed = RepairAndDie(path, kill_at);
    ExpectAllKept(path);
    // Of one that was killed when all was done, a companion that is of no use stays too.
    unlink((path + ".corrupt-1-shm").c_str());
    EXPECT_THAT(folder.Names(),
                ElementsAre("k.db", "k.db.corrupt-1", "k.db.corrupt-1-wal", "k.db.lock"));
    if (!killed) break;
    // The second one is killed too, wherever it is.
    for (int again = 1; kill_at >= 5 && again <= 6; ++again) {
      SCOPED_TRACE(Cat("and before step ", again));
      TempFolder other;
      const std::string twice = other.File("k.db");
      MakeDamagedWithWal(twice);
      RepairAndDie(twice, kill_at);
      (void)RepairAndDie(twice, again);
      ExpectAllKept(twice);
    }
  }
  EXPECT_GE(kill_at, 6);
}

// Guards: the empty WAL that a program makes which does not know that a repair was killed does not
// take the place of the saved one; one with rows leaves the saved one as it is.
TEST(Repair, KilledAndOpenedByAnother) {
  int met = 0;
  for (int kill_at = 4; kill_at <= 8; ++kill_at) {
    for (const bool has_rows : {false, true}) {
      SCOPED_TRACE(Cat("killed before step ", kill_at, has_rows ? ", rows" : ""));
      TempFolder folder;
      const std::string path = folder.File("k.db");
      MakeDamagedWithWal(path);
      const std::string wal = ReadFileBytes(path + "-wal");
      ASSERT_TRUE(RepairAndDie(path, kill_at));
      if (!std::filesystem::exists(path + ".swap-1") || std::filesystem::exists(path + "-wal")) {
        continue;
      }
      ++met;
      WriteFileBytes(path + "-wal", has_rows ? std::string(500, 'r') : "");
      if (!has_rows) {
        ExpectAllKept(path);
        continue;
      }
      EXPECT_EQ(ReadAll(*OpenCache(path)).kernels, kKernels);
      EXPECT_TRUE(ReadFileBytes(path + ".corrupt-1-wal") == wal);
    }
  }
  EXPECT_GE(met, 2);
}

// Guards: what an earlier repair saved is not written over by a later one.
TEST(Repair, SavedFilesStay) {
  TempFolder folder;
  const std::string path = folder.File("k.db");
  MakeDamagedWithWal(path);
  ExpectAllKept(path);
  const std::string file = ReadFileBytes(path + ".corrupt-1");
  const std::string wal = ReadFileBytes(path + ".corrupt-1-wal");
  ASSERT_GT(wal.size(), 4096u);
  WriteFileBytes(path, ReadFileBytes(path).replace(0, 100, 100, '\x5a'));
  ExpectAllKept(path);
  EXPECT_TRUE(ReadFileBytes(path + ".corrupt-1") == file);
  EXPECT_TRUE(ReadFileBytes(path + ".corrupt-1-wal") == wal);
  EXPECT_THAT(folder.Names(), Contains("k.db.corrupt-2"));
}

// Guards: a header that names a schema format of the future, which SQLite calls an error and not
// damage, is healed as any other.
TEST(Repair, UnknownSchemaFormatIsDamage) {
  TempFolder folder;
  const std::string path = folder.File("k.db");
  MakeFile(path);
  WriteFileBytes(path, ReadFileBytes(path).replace(47, 1, 1, '\x44'));
  LogLines log;
  auto cache = OpenCache(path, &log);
  const Served served = ReadAll(*cache);
  EXPECT_EQ(served.kernels + served.winners + served.trials, kKernels + kWinners + kTrials);
  EXPECT_EQ(log.Count("was damaged"), 1u);
  cache.reset();
  EXPECT_THAT(OpenCache(path)->Check().problems, ElementsAre());
}

// Flips one bit of the first entry with `key` on the leaf pages of an index.
void FlipInIndex(const std::string& path, const std::string& index, const std::string& key,
                 size_t at) {
  std::string bytes = ReadFileBytes(path);
  for (const size_t page : LeavesOf(path, index)) {
    const size_t found = bytes.substr(page * kPage, kPage).find(key);
    if (found == std::string::npos) continue;
    bytes[page * kPage + found + at] ^= 1;
    WriteFileBytes(path, bytes);
    return;
  }
  FAIL() << "no " << key << " in " << index;
}

// Guards: one bit in an index costs no row, whatever reads the file first, and no row that never
// existed is said to be lost.
TEST(Repair, BitInAnIndexCostsNothing) {
  for (const auto& [index, key] : std::vector<std::pair<std::string, std::string>>{
           {"sqlite_autoindex_kernels_1", "kernel-14"},
           {"sqlite_autoindex_kernel_bytes_1", "kernel-14"},
           {"sqlite_autoindex_winners_1", "problem-14"},
           {"sqlite_autoindex_trials_1", "problem-14"}}) {
    for (const std::string first : {"check", "export", "merge", "into", "diff", "read", "put"}) {
      SCOPED_TRACE(Cat(index, " ", first));
      TempFolder folder;
      const std::string path = folder.File("k.db");
      MakeFile(path);
      FlipInIndex(path, index, key, 2);
      LogLines log;
      auto cache = OpenCache(first == "merge" ? folder.File("other.db") : path, &log);
      if (first == "check") {
        EXPECT_FALSE(cache->Check().problems.empty());
      } else if (first == "export") {
        const auto report = cache->Export(folder.File("out.db"));
        ASSERT_TRUE(report.ok()) << report.status();
        EXPECT_EQ(report->kernels, kKernels);
        EXPECT_EQ(report->winners, kWinners);
        EXPECT_EQ(report->trials, kTrials);
      } else if (first == "merge") {
        const auto report = cache->Merge(path);
        ASSERT_TRUE(report.ok()) << report.status();
        EXPECT_EQ(report->kernels_added, kKernels);
        EXPECT_EQ(report->winners_added, kWinners);
        EXPECT_EQ(report->trials_added, kTrials);
      } else if (first == "into") {
        MakeFile(folder.File("whole.db"));
        const auto report = cache->Merge(folder.File("whole.db"));
        ASSERT_TRUE(report.ok()) << report.status();
        EXPECT_TRUE(report->written.ok()) << report->written;
        EXPECT_EQ(report->kernels_added + report->winners_added + report->trials_added, 0);
      } else if (first == "put") {
        Fill(*cache);
        (void)cache->Check();
      } else if (first == "diff") {
        MakeFile(folder.File("whole.db"));
        const auto diff = cache->Diff(folder.File("whole.db"));
        ASSERT_TRUE(diff.ok()) << diff.status();
        EXPECT_EQ(diff->alike, kKernels + kWinners + kTrials);
      } else {
        (void)ReadAll(*cache);
        (void)cache->Check();
      }
      EXPECT_THAT(cache->Stats().lost, ElementsAre()) << testing::PrintToString(log.lines);
      ExpectAll(*cache);
    }
  }
}

// Guards: what an export left that was killed is removed by a later one; what a process that is
// alive, or lately was, writes to is not.
TEST(Repair, LeftPartialsAreRemoved) {
  TempFolder folder;
  MakeFile(folder.File("k.db"));
  const pid_t dead = fork();
  if (dead == 0) _exit(0);
  while (kill(dead, 0) == 0) (void)waitpid(dead, nullptr, 0);
  const auto age = [](const std::string& path, int64_t seconds) {
    std::filesystem::last_write_time(
        path, std::filesystem::file_time_type::clock::now() - std::chrono::seconds(seconds));
  };
  const std::string old = folder.File(Cat("x.db.partial-", dead));
  const std::string live = folder.File(Cat("x.db.partial-", getppid()));
  for (const std::string& path : {old, old + "-journal", live, folder.File("x.db.partial-me")}) {
    WriteFileBytes(path, "x");
    age(path, 1000);
  }
  ASSERT_TRUE(OpenCache(folder.File("k.db"))->Export(folder.File("x.db")).ok());
  EXPECT_THAT(folder.Names(), Not(Contains(HasSubstr(Cat("partial-", dead)))));
  EXPECT_THAT(folder.Names(), Contains(HasSubstr("partial-me")));
  EXPECT_THAT(folder.Names(), Contains(HasSubstr(Cat("partial-", getppid()))));
}

// Guards: a row whose checksums agree, but whose digest is not its cubin's, is neither served nor
// passed on; one whose digest is its cubin's is.
TEST(Repair, DigestOfAnotherCubinIsAFlaw) {
  KernelRow good = TestKernel(1);
  good.cubin =
      ReadFileBytes(Cat(TILEWRIGHT_SOURCE_DIR, "/tests/runtime/cubins/inspect_sm90a.cubin"));
  const absl::StatusOr<std::string> digest = CubinDigest(good.cubin);
  ASSERT_TRUE(digest.ok()) << digest.status();
  good.cubin_digest = *digest;
  KernelRow bad = good;
  bad.key = "kernel-2";
  bad.cubin_digest = "of other code";
  const std::string flaw = "kernels row kernel-2: a digest that is not its cubin's";
  TempFolder folder;
  const auto made = [&](const std::string& name) {
    auto cache = OpenCache(folder.File(name));
    EXPECT_TRUE(cache->PutKernel(good).ok() && cache->PutKernel(bad).ok());
    return cache;
  };
  auto looked_up = made("a.db");
  EXPECT_TRUE(looked_up->FindKernel("kernel-1").has_value());
  EXPECT_FALSE(looked_up->FindKernel("kernel-2").has_value());
  EXPECT_THAT(made("b.db")->Check().problems, ElementsAre(flaw));
  EXPECT_THAT(made("c.db")->Export(folder.File("out.db"))->dropped, ElementsAre(flaw));
  made("d.db").reset();
  const auto merged = OpenCache("")->Merge(folder.File("d.db"));
  ASSERT_TRUE(merged.ok()) << merged.status();
  EXPECT_THAT(merged->rejected, ElementsAre(flaw));
  EXPECT_EQ(merged->kernels_added, 1);
}

// Guards: a file without bytes is said to be that.
TEST(Repair, EmptyForeignFilesAreNamed) {
  TempFolder folder;
  WriteFileBytes(folder.File("empty.db"), "");
  auto cache = OpenCache("");
  EXPECT_THAT(Cat(cache->Merge(folder.File("empty.db")).status().message()),
              HasSubstr("the file is empty"));
  EXPECT_THAT(Cat(cache->Diff(folder.File("empty.db")).status().message()),
              HasSubstr("the file is empty"));
}

// Guards: a check of a file that a full disk does not let be rebuilt does not say that it was.
TEST(Repair, CheckOnAFullDiskSaysSo) {
  TempFolder elsewhere;
  const std::string source = elsewhere.File("k.db");
  MakeFile(source);
  std::string bytes = ReadFileBytes(source);
  bytes.replace(LeavesOf(source, "winners_by_op")[0] * kPage, kPage, kPage, '\x5a');
  TempFolder folder;
  if (mount("tmpfs", folder.path().c_str(), "tmpfs", 0, "size=2m,mode=0700") != 0) {
    GTEST_SKIP() << "cannot mount a tmpfs here";
  }
  WriteFileBytes(folder.File("k.db"), bytes);
  {
    auto cache = OpenCache(folder.File("k.db"));
    WriteFileBytes(folder.File("filler"), std::string(2 << 20, 'f'));
    const CheckReport report = cache->Check();
    EXPECT_FALSE(report.rebuilt);
    EXPECT_THAT(report.problems, Contains(HasSubstr("could not be rebuilt")));
    EXPECT_EQ(ReadAll(*cache).winners, kWinners);
    unlink(folder.File("filler").c_str());
  }
  EXPECT_TRUE(OpenCache(folder.File("k.db"))->Check().rebuilt);
  umount(folder.path().c_str());
}

// Guards: who may not write the file reads it, and leaves nothing beside it that would keep its
// owner out; with the owner there or not, and with the WAL of one that died.
TEST(Repair, StrangersLeaveNothing) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root to become another user";
  constexpr int kOtherUser = 12345;
  for (const std::string state : {"closed", "open", "wal", "folder"}) {
    SCOPED_TRACE(state);
    TempFolder folder;
    const std::string path = folder.File("k.db");
    MakeFile(path);
    ASSERT_EQ(chmod(path.c_str(), 0644), 0);
    ASSERT_EQ(chmod(folder.path().c_str(), 01777), 0);
    std::unique_ptr<Cache> owner = OpenCache(path);
    ASSERT_TRUE(owner->PutKernel(TestKernel(100)).ok());
    if (state != "open") {
      const std::string file = ReadFileBytes(path);
      const std::string wal = ReadFileBytes(path + "-wal");
      owner.reset();
      if (state != "closed") {
        WriteFileBytes(path, file);
        WriteFileBytes(path + "-wal", wal);
        ASSERT_EQ(chmod((path + "-wal").c_str(), 0644), 0);
      }
      unlink((path + ".lock").c_str());
      if (state == "folder") {
        ASSERT_EQ(chmod(folder.path().c_str(), 0755), 0);
      }
    }
    const std::vector<std::string> names = folder.Names();
    EXPECT_EQ(InChild(
                  [&] {
                    auto cache = OpenCache(path);
                    const Served served = ReadAll(*cache);
                    if (served.winners != kWinners || served.trials != kTrials) return 1;
                    if (served.kernels != kKernels || !cache->HasKernel("kernel-100")) return 2;
                    if (!cache->PutKernel(TestKernel(101)).ok()) return 3;
                    if (!cache->HasKernel("kernel-101")) return 4;
                    auto lock = cache->LockCompile("another", std::chrono::milliseconds(100));
                    if (!lock.ok() || *lock == nullptr) return 5;
                    const CacheStats stats = cache->Stats();
                    return stats.kernels == kKernels + 2 ? 0 : 6;
                  },
                  kOtherUser),
              0);
    EXPECT_EQ(folder.Names(), names);
    owner.reset();
    auto again = OpenCache(path);
    ASSERT_NE(again, nullptr);
    EXPECT_EQ(ReadAll(*again).kernels, kKernels);
    EXPECT_TRUE(again->HasKernel("kernel-100"));
  }
}

}  // namespace
}  // namespace tilewright
