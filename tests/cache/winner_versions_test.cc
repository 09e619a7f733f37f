// Winners of one problem that were measured with different templates stand side by side.
#include "cache/winner_versions.h"

#include <gmock/gmock.h>

#include <set>

#include "cache/cache.h"
#include "manifest/status.h"
#include "tests/cache/cache_fixture.h"

namespace tilewright {
namespace {

using ::testing::ElementsAre;

// The winner of problem-1 as templates of this `closure` were measured at this time.
WinnerRow WinnerBy(const std::string& closure, int64_t tuned, double us) {
  WinnerRow row = TestWinner(1);
  row.closure_digest = closure;
  row.tuned_unix = tuned;
  row.median_us = us;
  return row;
}

std::optional<WinnerRow> Find(Cache& cache, const std::string& closure) {
  return cache.FindWinner("problem-1", closure, "5bace");
}

void MakeCache(const std::string& path, const WinnerRow& row) {
  ASSERT_TRUE(OpenCache(path)->PutWinner(row).ok());
}

// Guards: a merge of winners of other templates, faster or not, takes none of these templates away,
// in whichever order; of the same ones the faster stays.
TEST(WinnerVersions, MergesTakeNothingAway) {
  for (const bool old_first : {false, true}) {
    TempFolder folder;
    MakeCache(folder.File("new.db"), WinnerBy("new", 2000, 10));
    MakeCache(folder.File("old.db"), WinnerBy("old", 1000, 5));
    MakeCache(folder.File("slow.db"), WinnerBy("new", 3000, 12));
    auto cache = OpenCache(folder.File("k.db"));
    for (const char* name : {old_first ? "old.db" : "new.db", old_first ? "new.db" : "old.db"}) {
      const auto report = cache->Merge(folder.File(name));
      ASSERT_TRUE(report.ok()) << report.status();
      EXPECT_EQ(report->winners_added, 1) << name;
      EXPECT_EQ(report->winners_replaced, 0) << name;
    }
    EXPECT_EQ(cache->Merge(folder.File("slow.db"))->winners_replaced, 0);
    EXPECT_EQ(Find(*cache, "new")->median_us, 10);
    EXPECT_EQ(Find(*cache, "old")->median_us, 5);
    EXPECT_EQ(Find(*cache, "old")->key, "problem-1");
    EXPECT_FALSE(Find(*cache, "other").has_value());
    EXPECT_EQ(cache->FindWinner("problem-1")->median_us, 10) << "the latest";
    ASSERT_EQ(cache->AllWinners().size(), 2u);
    for (const WinnerRow& row : cache->AllWinners()) EXPECT_EQ(row.key, "problem-1");
    EXPECT_THAT(cache->Check().problems, ElementsAre());
  }
}

// Guards: a winner of other templates in the file hides none of a seed, nor in one seed none of
// another.
TEST(WinnerVersions, SeedsAreNotHidden) {
  TempFolder folder;
  MakeCache(folder.File("k.db"), WinnerBy("old", 5000, 5));
  MakeCache(folder.File("seed1.db"), WinnerBy("older", 4000, 4));
  MakeCache(folder.File("seed2.db"), WinnerBy("new", 3000, 10));
  CacheOptions options;
  options.path = folder.File("k.db");
  options.seed_paths = {folder.File("seed1.db"), folder.File("seed2.db")};
  auto cache = OpenCache(options);
  EXPECT_EQ(Find(*cache, "new")->median_us, 10);
  EXPECT_EQ(Find(*cache, "older")->median_us, 4);
  const WinnerRow row = TestWinner(1);
  EXPECT_EQ(cache->Winners(row.op, row.dtypes, row.device).size(), 3u);
  ASSERT_TRUE(cache->Export(folder.File("all.db")).ok());
  auto all = OpenCache(folder.File("all.db"));
  EXPECT_EQ(Find(*all, "new")->median_us, 10);
  EXPECT_EQ(all->FindWinner("problem-1")->closure_digest, "old") << "the latest";
  const auto diff = cache->Diff(folder.File("all.db"));
  ASSERT_TRUE(diff.ok());
  EXPECT_THAT(diff->differing, ElementsAre());
  EXPECT_THAT(diff->only_left, ElementsAre());
  EXPECT_THAT(diff->only_right, ElementsAre());
}

// Guards: two builds that share a cache and tune by turns each keep their own.
TEST(WinnerVersions, BuildsTuneByTurns) {
  TempFolder folder;
  auto cache = OpenCache(folder.File("k.db"));
  for (int turn = 0; turn < 6; ++turn) {
    const std::string closure = turn % 2 == 0 ? "new" : "old";
    ASSERT_TRUE(cache->PutWinner(WinnerBy(closure, 1000 + turn, 20 - turn)).ok());
    EXPECT_EQ(cache->FindWinner("problem-1")->closure_digest, closure);
    const auto other = Find(*cache, turn % 2 == 0 ? "old" : "new");
    EXPECT_EQ(other.has_value() ? other->median_us : 0, turn == 0 ? 0 : 21 - turn);
    EXPECT_EQ(Find(*cache, closure)->median_us, 20 - turn);
  }
  EXPECT_EQ(cache->AllWinners().size(), 2u);
  cache.reset();
  EXPECT_EQ(Shell(folder.File("k.db"), "select closure, us from winners where key = 'problem-1'"),
            "old|15.0\n");
}

// Guards: of a problem that was tuned again after every edit the latest are kept.
TEST(WinnerVersions, TheLatestAreKept) {
  TempFolder folder;
  auto cache = OpenCache(folder.File("k.db"));
  for (int i = 0; i < 12; ++i) {
    ASSERT_TRUE(cache->PutWinner(WinnerBy(Cat("edit-", i), 1000 + i, 10)).ok());
  }
  std::set<std::string> kept;
  for (const WinnerRow& row : cache->AllWinners()) kept.insert(row.closure_digest);
  EXPECT_THAT(kept, ElementsAre("edit-10", "edit-11", "edit-4", "edit-5", "edit-6", "edit-7",
                                "edit-8", "edit-9"));
}

// Guards: a key of somebody's own with an "@" in it is a problem's, and a repair keeps every
// version.
TEST(WinnerVersions, KeysAndRepairs) {
  TempFolder folder;
  const std::string path = folder.File("k.db");
  {
    auto cache = OpenCache(path);
    WinnerRow odd = TestWinner(2);
    odd.key = "who@where";
    ASSERT_TRUE(cache->PutWinner(odd).ok());
    ASSERT_TRUE(cache->PutWinner(WinnerBy("old", 1000, 5)).ok());
    ASSERT_TRUE(cache->PutWinner(WinnerBy("new", 2000, 10)).ok());
    EXPECT_EQ(cache->FindWinner("who@where")->key, "who@where");
  }
  Shell(path, "drop view best");
  auto cache = OpenCache(path);
  EXPECT_TRUE(cache->Check().rebuilt);
  EXPECT_EQ(cache->Stats().lost.size(), 0u);
  EXPECT_EQ(Find(*cache, "new")->median_us, 10);
  EXPECT_EQ(Find(*cache, "old")->median_us, 5);
  EXPECT_TRUE(cache->FindWinner("who@where").has_value());
}

}  // namespace
}  // namespace tilewright
