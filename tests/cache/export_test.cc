// Exports over what others left at a path.
#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>

#include "cache/cache.h"
#include "manifest/status.h"
#include "tests/cache/cache_fixture.h"
#include "tests/cache/cut_off_repair.h"

namespace tilewright {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr int kExported = 100;  // the number of the one winner that is exported

void MakeSource(const std::string& path) {
  auto cache = OpenCache(path);
  ASSERT_TRUE(cache->PutWinner(TestWinner(kExported)).ok());
}

// Guards: where anything stands beside the name that would be laid over the exported file or rolled
// back into it, nothing is exported, whether its database is there or not.
TEST(Export, SparesWhatHasCompanions) {
  TempFolder folder;
  MakeSource(folder.File("source.db"));
  auto cache = OpenCache(folder.File("source.db"));
  for (const std::string suffix : {"-wal", "-shm", "-journal", ".swap-3"}) {
    for (const bool is_there : {false, true}) {
      SCOPED_TRACE(Cat(suffix, is_there));
      const std::string path = folder.File(Cat("t", suffix.substr(1), is_there));
      if (is_there) MakeFile(path);
      const std::string before = is_there ? ReadFileBytes(path) : "";
      WriteFileBytes(path + suffix, suffix == "-shm" ? "" : "www");
      const absl::Status exported = cache->Export(path).status();
      EXPECT_EQ(exported.code(), absl::StatusCode::kFailedPrecondition);
      EXPECT_THAT(Cat(exported.message()), HasSubstr(Cat(path, suffix, " is beside it")));
      EXPECT_EQ(std::filesystem::exists(path), is_there);
      if (is_there) {
        EXPECT_TRUE(ReadFileBytes(path) == before);
      }
      EXPECT_TRUE(std::filesystem::exists(path + suffix));
    }
  }
}

// Guards: beside a cache whose repair was killed at any step nothing is exported until it is opened
// again, and then the export is all that is there.
TEST(Export, OverACutOffRepair) {
  TempFolder sources;
  MakeSource(sources.File("source.db"));
  auto cache = OpenCache(sources.File("source.db"));
  int met = 0;
  for (int kill_at = 1;; ++kill_at) {
    SCOPED_TRACE(Cat("killed before step ", kill_at));
    TempFolder folder;
    const std::string path = folder.File("k.db");
    MakeDamagedWithWal(path);
    if (!RepairAndDie(path, kill_at)) break;
    if (!std::filesystem::exists(path + ".swap-1")) continue;
    ++met;
    EXPECT_EQ(cache->Export(path).status().code(), absl::StatusCode::kFailedPrecondition);
    EXPECT_EQ(ReadAll(*OpenCache(path)).winners, kWinners);
    ASSERT_TRUE(cache->Export(path).ok());
    LogLines log;
    auto exported = OpenCache(path, &log);
    EXPECT_TRUE(exported->FindWinner(TestWinner(kExported).key).has_value());
    EXPECT_EQ(exported->Stats().winners, 1);
    EXPECT_EQ(exported->Stats().kernels, 0);
    EXPECT_THAT(exported->Check().problems, ElementsAre());
    EXPECT_THAT(log.lines, ElementsAre());
  }
  EXPECT_GE(met, 3);
}

// Guards: a file whose repair was killed at any step is merged with every row of it and of its WAL.
TEST(Export, MergeFromACutOffRepair) {
  for (int kill_at = 1;; ++kill_at) {
    SCOPED_TRACE(Cat("killed before step ", kill_at));
    TempFolder folder;
    const std::string path = folder.File("k.db");
    MakeDamagedWithWal(path);
    const bool killed = RepairAndDie(path, kill_at);
    auto into = OpenCache(folder.File("into.db"));
    const auto report = into->Merge(path);
    ASSERT_TRUE(report.ok()) << report.status();
    EXPECT_EQ(report->kernels_added, kKernels);
    EXPECT_EQ(report->winners_added, kWinners);
    if (!killed) break;
  }
}

}  // namespace
}  // namespace tilewright
