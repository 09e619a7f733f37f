// Files that somebody changed by hand: triggers that get in the way, columns and tables of others.
#include <gmock/gmock.h>
#include <unistd.h>

#include "cache/cache.h"
#include "manifest/status.h"
#include "tests/cache/cache_fixture.h"

namespace tilewright {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

constexpr int kRows = kKernels + kWinners + kTrials;

// Guards: a damaged row that a trigger keeps is not said to be deleted, nor served; those that
// nothing keeps are deleted all the same.
TEST(Altered, TriggerKeepsADamagedRow) {
  for (const std::string effect : {"ignore", "abort, 'mine'", "rollback, 'mine'", "fail, 'mine'"}) {
    for (const auto& [table, key] :
         {std::pair("kernels", "kernel-7"), std::pair("kernel_bytes", "kernel-7"),
          std::pair("winners", "problem-3")}) {
      SCOPED_TRACE(Cat(table, " ", effect));
      TempFolder folder;
      const std::string path = folder.File("k.db");
      MakeFile(path);
      ASSERT_EQ(Shell(path, Cat("update kernels set symbol = 'x' where key = 'kernel-7'; ",
                                "update winners set us = 1 where key = 'problem-3'; ",
                                "update trials set us = 1 where rowid = 5; ",
                                "create trigger keep before delete on ", table, " when old.key = '",
                                key, "' begin select raise(", effect, "); end")),
                "");
      // Then the kernel's row goes, and its bytes are a row of none.
      const bool parts = effect == "ignore" && std::string(table) == "kernel_bytes";
      auto cache = OpenCache(path);
      for (int i = 0; i < 2; ++i) {
        const CheckReport report = cache->Check();
        EXPECT_EQ(report.deleted, i > 0 ? 0 : parts ? 3 : 2);
        EXPECT_FALSE(report.not_deleted.ok());
        EXPECT_THAT(report.problems, Contains(HasSubstr("a table or trigger of others, keep")));
        EXPECT_THAT(report.problems, Contains(HasSubstr(key)));
        EXPECT_THAT(report.problems, SizeIs(i > 0 ? 2 : parts ? 5 : 4));
        EXPECT_FALSE(report.rebuilt);
      }
      EXPECT_FALSE(cache->FindKernel("kernel-7").has_value());
      EXPECT_FALSE(cache->FindWinner("problem-3").has_value());
    }
  }
}

// Guards: a garbage collection that the file refuses deletes nothing, says why, and does not count
// what is still there.
TEST(Altered, TriggerRefusesACollection) {
  for (const std::string effect : {"ignore", "abort, 'mine'"}) {
    TempFolder folder;
    const std::string path = folder.File("k.db");
    MakeFile(path);
    Shell(path, Cat("create trigger keep before delete on kernels when old.key = 'kernel-38' ",
                    "begin select raise(", effect, "); end"));
    auto cache = OpenCache(path);
    const auto deleted = cache->Gc(0);
    EXPECT_EQ(deleted.status().code(), absl::StatusCode::kFailedPrecondition) << deleted.status();
    EXPECT_THAT(Cat(deleted.status().message()), HasSubstr(path));
    EXPECT_THAT(Cat(deleted.status().message()),
                HasSubstr(effect == "ignore" ? "a trigger ignores it" : "mine"));
    ExpectAll(*cache);
  }
}

// Guards: where the file refuses to note that a kernel was used, results are stored all the same.
TEST(Altered, TriggerRefusesTheTimeOfUse) {
  for (const std::string effect : {"ignore", "abort, 'mine'", "rollback, 'mine'"}) {
    TempFolder folder;
    const std::string path = folder.File("k.db");
    OpenCache(path)->PutKernel(TestKernel(1)).IgnoreError();
    Shell(path, Cat("create trigger keep before insert on kernels when new.key = 'kernel-1' begin ",
                    "select raise(", effect, "); end"));
    CacheOptions options;
    options.path = path;
    options.env.now_unix = [] { return int64_t{1800000000}; };
    auto cache = OpenCache(options);
    EXPECT_TRUE(cache->FindKernel("kernel-1").has_value());
    EXPECT_EQ(cache->PutKernel(TestKernel(2)), absl::OkStatus());
    EXPECT_EQ(cache->Persisted(), absl::OkStatus());
    cache.reset();
    EXPECT_EQ(Shell(path, "select key from kernels order by key"), "kernel-1\nkernel-2\n");
  }
}

// Guards: a column, table or index that somebody added costs no row: everything is served, stored,
// exported and merged, and a check names the change and nothing else.
TEST(Altered, AdditionsCostNothing) {
  for (const auto& [change, told] : std::vector<std::pair<std::string, std::string>>{
           {"alter table kernels add column note text", "table kernels"},
           {"alter table kernels add column note text; vacuum", "table kernels"},
           {"alter table winners add column a int not null default 3; "
            "alter table winners add column b text",
            "table winners"},
           {"alter table trials add column note text; update trials set note = 'x'; vacuum",
            "table trials"},
           {"alter table kernel_bytes add column note text; vacuum", "table kernel_bytes"},
           {"create table notes(text); insert into notes values('mine')", "others, notes"}}) {
    SCOPED_TRACE(change);
    TempFolder folder;
    const std::string path = folder.File("k.db");
    MakeFile(path);
    ASSERT_EQ(Shell(path, change), "");
    LogLines log;
    auto cache = OpenCache(path, &log);
    for (int i = 0; i < 2; ++i) {
      const CheckReport report = cache->Check();
      EXPECT_THAT(report.problems, ElementsAre(HasSubstr(told)));
      EXPECT_EQ(report.rows_checked, kRows);
      EXPECT_EQ(report.deleted, 0);
    }
    ExpectAll(*cache);
    EXPECT_TRUE(cache->PutKernel(TestKernel(7)).ok());
    EXPECT_TRUE(cache->PutWinner(TestWinner(3)).ok());
    EXPECT_TRUE(cache->PutTrials({TestTrial(5)}).ok());
    ExpectAll(*cache);
    EXPECT_THAT(log.lines, ElementsAre());
    const auto exported = cache->Export(folder.File("out.db"));
    ASSERT_TRUE(exported.ok()) << exported.status();
    EXPECT_THAT(exported->dropped, ElementsAre());
    EXPECT_THAT(OpenCache(folder.File("out.db"))->Check().problems, ElementsAre());
    cache.reset();
    // Read only, its pages are read: a foreign file's tables must be ours.
    const auto merged = OpenCache("")->Merge(path);
    ASSERT_TRUE(merged.ok()) << merged.status();
    EXPECT_THAT(merged->rejected, ElementsAre(HasSubstr("the file is damaged")));
    EXPECT_EQ(merged->kernels_added + merged->winners_added + merged->trials_added, kRows);
  }
}

// Guards: a column that somebody took away or renamed is a table that is not ours: the file is set
// aside, and what can be known by its checksum is kept.
TEST(Altered, MissingColumnsAreRebuilt) {
  for (const auto& [change, kept] :
       {std::pair("alter table winners rename column us to microseconds", kRows),
        std::pair("drop view tuning_history; drop view failures; "
                  "alter table trials drop column error",
                  kRows - kTrials)}) {
    TempFolder folder;
    const std::string path = folder.File("k.db");
    MakeFile(path);
    ASSERT_EQ(Shell(path, change), "");
    LogLines log;
    auto cache = OpenCache(path, &log);
    const Served served = ReadAll(*cache);
    EXPECT_EQ(served.kernels + served.winners + served.trials, kept) << change;
    EXPECT_EQ(log.Count("was damaged"), 1u) << change;
    EXPECT_THAT(cache->Check().problems, ElementsAre());
    EXPECT_THAT(folder.Names(), Contains("k.db.corrupt-1"));
  }
}

// Guards: bytes whose kernel is gone are found and taken out.
TEST(Altered, OrphanedBytesAreTakenOut) {
  TempFolder folder;
  MakeFile(folder.File("k.db"));
  Shell(folder.File("k.db"), "delete from kernels where key = 'kernel-7'");
  auto cache = OpenCache(folder.File("k.db"));
  const CheckReport report = cache->Check();
  EXPECT_THAT(report.problems, ElementsAre("kernel_bytes row kernel-7: bytes of no kernel"));
  EXPECT_EQ(report.deleted, 1);
  EXPECT_THAT(cache->Check().problems, ElementsAre());
}

// Guards: what somebody dropped or renamed is healed by a check, without the database's own words.
TEST(Altered, CheckHealsWhatIsMissing) {
  for (const std::string change :
       {"drop view best", "drop index winners_by_op", "alter table trials rename to tests",
        "alter table kernel_bytes rename column bytes to cubin", "drop table trials"}) {
    SCOPED_TRACE(change);
    TempFolder folder;
    const std::string path = folder.File("k.db");
    MakeFile(path);
    Shell(path, change);
    auto cache = OpenCache(path);
    const CheckReport report = cache->Check();
    EXPECT_TRUE(report.rebuilt);
    EXPECT_FALSE(report.problems.empty());
    EXPECT_THAT(report.problems, Not(Contains(HasSubstr("SELECT"))));
    EXPECT_THAT(cache->Check().problems, ElementsAre());
    EXPECT_NE(Shell(path, "select count(*) from best"), "");
    const Served served = ReadAll(*cache);
    EXPECT_EQ(served.kernels, kKernels);
    EXPECT_EQ(served.winners, kWinners);
    if (change != "drop table trials") {
      EXPECT_EQ(served.trials, kTrials);
    }
  }
}

// Guards: an index added by hand that two rows contradict costs none of them: what it refuses is
// said, and what is counted is there.
TEST(Altered, UniqueIndexDeletesNothing) {
  TempFolder folder;
  const std::string path = folder.File("k.db");
  MakeFile(folder.File("other.db"));
  ASSERT_TRUE(OpenCache(path)->PutWinner(TestWinner(3)).ok());
  ASSERT_EQ(Shell(path, "create unique index uu on winners(dtypes)"), "");
  LogLines log;
  auto cache = OpenCache(path, &log);
  EXPECT_FALSE(cache->PutWinner(TestWinner(4)).ok());
  EXPECT_FALSE(cache->Persisted().ok());
  EXPECT_EQ(log.Count("UNIQUE"), 1u) << testing::PrintToString(log.lines);
  EXPECT_THAT(cache->Check().problems, ElementsAre(HasSubstr("of others, uu")));
  const auto merged = cache->Merge(folder.File("other.db"));
  ASSERT_TRUE(merged.ok()) << merged.status();
  EXPECT_FALSE(merged->written.ok());
  EXPECT_EQ(merged->winners_added, 0);
  cache.reset();
  EXPECT_EQ(Shell(path, "select key from winners"), "problem-3\n");
}

// Guards: a trigger that undoes or changes what was put is said.
TEST(Altered, TriggerThatUndoesAPutIsSaid) {
  for (const std::string body : {"delete from winners where key = new.key",
                                 "update winners set us = 1 where key = new.key"}) {
    TempFolder folder;
    const std::string path = folder.File("k.db");
    OpenCache(path).reset();
    ASSERT_EQ(Shell(path, Cat("create trigger t after insert on winners begin ", body, "; end")),
              "");
    LogLines log;
    auto cache = OpenCache(path, &log);
    EXPECT_FALSE(cache->PutWinner(TestWinner(4)).ok()) << body;
    EXPECT_FALSE(cache->Persisted().ok()) << body;
    EXPECT_EQ(log.Count("a trigger changes it"), 1u) << testing::PrintToString(log.lines);
    EXPECT_FALSE(cache->FindWinner("problem-4").has_value()) << body;
  }
}

}  // namespace
}  // namespace tilewright
