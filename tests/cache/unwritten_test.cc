// What could not be stored, or not be read, is counted and said: by merges, and by Persisted().
#include <gmock/gmock.h>
#include <sys/mount.h>

#include "cache/cache.h"
#include "manifest/status.h"
#include "tests/cache/cache_fixture.h"

namespace tilewright {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// A trigger stands for whatever makes the file refuse rows: as a full disk, it comes midway.
constexpr char kRefuseLater[] =
    "create trigger full before insert on kernels when (select count(*) from kernels) >= 10 "
    "begin select raise(abort, 'no room'); end";

// Guards: a merge counts what is in the file, and says why the rest is not.
TEST(Unwritten, MergeCountsWhatIsStored) {
  TempFolder folder;
  MakeFile(folder.File("from.db"));
  OpenCache(folder.File("k.db")).reset();
  Shell(folder.File("k.db"), kRefuseLater);
  {
    auto cache = OpenCache(folder.File("k.db"));
    const auto report = cache->Merge(folder.File("from.db"));
    ASSERT_TRUE(report.ok()) << report.status();
    EXPECT_THAT(Cat(report->written.message()), HasSubstr("could not be written"));
    EXPECT_THAT(Cat(report->written.message()), HasSubstr("no room"));
    EXPECT_EQ(report->kernels_added, 0);
    EXPECT_EQ(report->winners_added, 0);
    EXPECT_EQ(report->trials_added, 0);
  }
  EXPECT_EQ(Shell(folder.File("k.db"), "select count(*) from kernels"), "0\n");
  EXPECT_EQ(Shell(folder.File("k.db"), "select count(*) from winners"), "0\n");
}

// The same on a filesystem that is full: nothing is said to be there that a reopened cache lacks.
TEST(Unwritten, FullFilesystem) {
  TempFolder folder;
  TempFolder from;
  MakeFile(from.File("from.db"));
  if (mount("tmpfs", folder.path().c_str(), "tmpfs", 0, "size=200k,mode=0700") != 0) {
    GTEST_SKIP() << "cannot mount a tmpfs here";
  }
  {
    auto cache = OpenCache(folder.File("k.db"));
    const auto report = cache->Merge(from.File("from.db"));
    ASSERT_TRUE(report.ok()) << report.status();
    EXPECT_FALSE(report->written.ok());
    const int64_t kernels = report->kernels_added;
    const int64_t winners = report->winners_added;
    ASSERT_TRUE(cache->PutKernel(TestKernel(99, 1 << 18)).ok());
    EXPECT_THAT(Cat(cache->Persisted().message()), HasSubstr("could not be written"));
    cache.reset();
    const CacheStats stats = OpenCache(folder.File("k.db"))->Stats();
    EXPECT_EQ(stats.kernels, kernels);
    EXPECT_EQ(stats.winners, winners);
  }
  umount(folder.path().c_str());
}

// Guards: a put that the file refuses is said, once, and Persisted() tells; one that went through
// is not.
TEST(Unwritten, RefusedPutIsSaid) {
  TempFolder folder;
  OpenCache(folder.File("k.db")).reset();
  Shell(folder.File("k.db"), kRefuseLater);
  LogLines log;
  auto cache = OpenCache(folder.File("k.db"), &log);
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(cache->PutKernel(TestKernel(i)).ok());
  EXPECT_EQ(cache->Persisted(), absl::OkStatus());
  EXPECT_FALSE(cache->PutKernel(TestKernel(10)).ok());
  EXPECT_FALSE(cache->PutKernel(TestKernel(11)).ok());
  EXPECT_EQ(log.Count("could not be stored"), 1u);
  EXPECT_THAT(Cat(cache->Persisted().message()), HasSubstr("no room"));
  EXPECT_EQ(OpenCache("")->Persisted(), absl::OkStatus());
}

// Guards: a row that a trigger of the file ignores without an error is not taken for stored.
TEST(Unwritten, IgnoredPutIsSaid) {
  for (const std::string table : {"kernels", "kernel_bytes", "winners", "trials"}) {
    TempFolder folder;
    OpenCache(folder.File("k.db")).reset();
    Shell(folder.File("k.db"),
          "create trigger silent before insert on " + table + " begin select raise(ignore); end");
    LogLines log;
    auto cache = OpenCache(folder.File("k.db"), &log);
    EXPECT_EQ(cache->PutKernel(TestKernel(0)).ok(), !table.starts_with("kernel")) << table;
    EXPECT_EQ(cache->PutWinner(TestWinner(0)).ok(), table != "winners") << table;
    EXPECT_EQ(cache->PutTrials({TestTrial(0)}).ok(), table != "trials") << table;
    EXPECT_EQ(log.Count("in " + table + ", got none"), 1u) << table;
    EXPECT_THAT(Cat(cache->Persisted().message()), HasSubstr("a trigger ignores it")) << table;
    EXPECT_EQ(cache->FindKernel(TestKernel(0).key).has_value(), !table.starts_with("kernel"));
  }
}

// Guards: rows of a damaged file that are gone are reported with those that are there.
TEST(Unwritten, MergeOfADamagedFileSaysSo) {
  TempFolder folder;
  MakeFile(folder.File("from.db"));
  Shell(folder.File("from.db"), "pragma wal_checkpoint(truncate)");
  std::string bytes = ReadFileBytes(folder.File("from.db"));
  for (size_t page = 8; page < 20; ++page) bytes.replace(page * 4096, 4096, 4096, '\x5a');
  WriteFileBytes(folder.File("from.db"), bytes);
  auto cache = OpenCache("");
  const auto report = cache->Merge(folder.File("from.db"));
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_THAT(report->rejected, Contains(HasSubstr("the file is damaged (")));
  EXPECT_LT(report->kernels_added + report->winners_added + report->trials_added,
            kKernels + kWinners + kTrials);
}

// Guards: a cubin beyond all bounds is one damaged row, and the others are served, checked,
// exported, compared and merged.
TEST(Unwritten, OversizedBlobIsOneDamagedRow) {
  TempFolder folder;
  MakeFile(folder.File("k.db"));
  Shell(folder.File("k.db"),
        "update kernel_bytes set bytes = zeroblob(70000000) where key = 'kernel-7'");
  auto into = OpenCache("");
  const auto report = into->Merge(folder.File("k.db"));
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->kernels_added, kKernels - 1);
  EXPECT_EQ(report->winners_added, kWinners);
  EXPECT_THAT(report->rejected, ElementsAre(HasSubstr("kernel-7")));
  const auto diff = into->Diff(folder.File("k.db"));
  ASSERT_TRUE(diff.ok()) << diff.status();
  EXPECT_THAT(diff->differing, ElementsAre(HasSubstr("kernel-7")));
  auto cache = OpenCache(folder.File("k.db"));
  EXPECT_THAT(cache->Check().problems, ElementsAre(HasSubstr("kernel-7")));
  ASSERT_TRUE(cache->Export(folder.File("out.db")).ok());
  EXPECT_EQ(OpenCache(folder.File("out.db"))->Stats().kernels, kKernels - 1);
}

// Guards: so is a text beyond all bounds, in any table.
TEST(Unwritten, OversizedTextIsOneDamagedRow) {
  const std::string text = " = printf('%.*c', 70000000, 'x')";
  for (const auto& [change, key] : std::vector<std::pair<std::string, std::string>>{
           {"update kernels set instantiation" + text + " where key = 'kernel-7'", "kernel-7"},
           {"update winners set device" + text + " where key = 'problem-3'", "problem-3"},
           {"update trials set error" + text + " where rowid = 5", "trials row"}}) {
    TempFolder folder;
    MakeFile(folder.File("k.db"));
    Shell(folder.File("k.db"), change);
    auto into = OpenCache("");
    const auto report = into->Merge(folder.File("k.db"));
    ASSERT_TRUE(report.ok()) << report.status();
    EXPECT_EQ(report->kernels_added + report->winners_added + report->trials_added,
              kKernels + kWinners + kTrials - 1);
    EXPECT_THAT(report->rejected, ElementsAre(HasSubstr(key)));
    const auto diff = into->Diff(folder.File("k.db"));
    ASSERT_TRUE(diff.ok()) << diff.status();
    EXPECT_THAT(diff->differing, ElementsAre(HasSubstr(key)));
    auto cache = OpenCache(folder.File("k.db"));
    ASSERT_TRUE(cache->Export(folder.File("out.db")).ok());
    const CacheStats stats = OpenCache(folder.File("out.db"))->Stats();
    EXPECT_EQ(stats.kernels + stats.winners + stats.trials, kKernels + kWinners + kTrials - 1);
    EXPECT_TRUE(OpenCache(folder.File("k.db"))->Check().problems.empty()) << "it was deleted";
  }
}

// Guards: a lookup of a row with such a text is a miss, and the next store takes its place.
TEST(Unwritten, OversizedTextIsReplaced) {
  TempFolder folder;
  MakeFile(folder.File("k.db"));
  const auto widen = [&](const std::string& table, const std::string& column) {
    Shell(folder.File("k.db"),
          "update " + table + " set " + column + " = printf('%.*c', 70000000, 'x') where key = '" +
              (table == "kernels" ? TestKernel(7).key : TestWinner(3).key) + "'");
  };
  widen("kernels", "log");
  widen("winners", "version");
  auto cache = OpenCache(folder.File("k.db"));
  EXPECT_FALSE(cache->FindKernel(TestKernel(7).key).has_value());
  EXPECT_FALSE(cache->FindWinner(TestWinner(3).key).has_value());
  EXPECT_TRUE(cache->PutKernel(TestKernel(7)).ok());
  EXPECT_TRUE(cache->PutWinner(TestWinner(3)).ok());
  const Served served = ReadAll(*cache);
  EXPECT_EQ(served.kernels, kKernels);
  EXPECT_EQ(served.winners, kWinners);
  EXPECT_EQ(cache->Persisted(), absl::OkStatus());
}

// Guards: a comparison reads the bytes, not only their stored checksums.
TEST(Unwritten, DiffReadsTheBytes) {
  TempFolder folder;
  MakeFile(folder.File("left.db"));
  MakeFile(folder.File("right.db"));
  Shell(folder.File("right.db"),
        "update kernel_bytes set bytes = zeroblob(length(bytes)) where key = 'kernel-3'");
  const auto diff = OpenCache(folder.File("left.db"))->Diff(folder.File("right.db"));
  ASSERT_TRUE(diff.ok()) << diff.status();
  EXPECT_THAT(diff->only_left, ElementsAre(HasSubstr("kernels kernel-3")));
  EXPECT_THAT(diff->differing,
              ElementsAre(AllOf(HasSubstr("kernels row kernel-3: "), HasSubstr("; damaged in "))));
}

}  // namespace
}  // namespace tilewright
