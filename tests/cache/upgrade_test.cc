// Files of older schemas: what was released opens, whole, in every way that a cache is opened.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <filesystem>

#include "cache/schema.h"
#include "manifest/digest.h"
#include "manifest/status.h"
#include "tests/cache/cache_fixture.h"

namespace tilewright {
namespace {

using testing::ElementsAre;

constexpr int kOldKernels = 6;  // in the file below, TestKernel(i, 400)
constexpr int kOldWinners = 4;

// A file that an early commit wrote, which knew version 1 only.
void PutOldFile(const std::string& path) {
  WriteFileBytes(path, ReadFileBytes(TILEWRIGHT_SOURCE_DIR "/tests/cache/files/schema_1.cache"));
  ASSERT_EQ(chmod(path.c_str(), 0600), 0);
  ASSERT_EQ(Shell(path, "pragma user_version"), "1\n");
}

void ExpectOldRows(Cache& cache) {
  for (int i = 0; i < kOldKernels; ++i) {
    auto row = cache.FindKernel(Cat("kernel-", i));
    ASSERT_TRUE(row.has_value()) << i;
    ExpectSame(TestKernel(i, 400), *row);
  }
  int trials = 0;
  for (int i = 0; i < kOldWinners; ++i) {
    auto row = cache.FindWinner(Cat("problem-", i));
    ASSERT_TRUE(row.has_value()) << i;
    ExpectSame(TestWinner(i), *row);
    trials += static_cast<int>(cache.Trials(Cat("problem-", i)).size());
  }
  EXPECT_GT(trials, 0);
  EXPECT_THAT(cache.Check().problems, ElementsAre());
}

// A file of the version before is brought up to date with all its rows, takes new ones, and has
// what is new.
TEST(Upgrade, FileOfAnEarlierCommitOpensWhole) {
  TempFolder folder;
  const std::string path = folder.File("k.db");
  PutOldFile(path);
  LogLines log;
  {
    auto cache = OpenCache(path, &log);
    ExpectOldRows(*cache);
    ASSERT_TRUE(cache->PutKernel(TestKernel(100)).ok());
  }
  auto again = OpenCache(path, &log);
  ExpectOldRows(*again);
  EXPECT_TRUE(again->HasKernel("kernel-100"));
  EXPECT_EQ(again->AllKernels().size(), kOldKernels + 1u);
  EXPECT_EQ(Shell(path, "pragma user_version"), Cat(SchemaVersion(), "\n"));
  EXPECT_EQ(Shell(path, "select sum(kernels) from compile_times"), Cat(kOldKernels + 1, "\n"));
  EXPECT_EQ(Shell(path, "pragma integrity_check"), "ok\n");
  EXPECT_THAT(log.lines, ElementsAre());
}

// What cannot be brought up to date, or is not ours to change, serves as it is: a seed, a read-only
// file, a bundle to import.
TEST(Upgrade, OlderFilesAreReadAsTheyAre) {
  TempFolder folder;
  const std::string path = folder.File("seed.db");
  PutOldFile(path);
  const std::string before = ReadFileBytes(path);
  LogLines log;
  CacheOptions seeded;
  seeded.seed_paths = {path};
  seeded.log = log.Sink();
  ExpectOldRows(*OpenCache(seeded));

  auto importer = OpenCache(folder.File("new.db"), &log);
  const auto merged = importer->Merge(path);
  ASSERT_TRUE(merged.ok()) << merged.status();
  ExpectOldRows(*importer);
  const auto diff = importer->Diff(path);
  ASSERT_TRUE(diff.ok()) << diff.status();
  EXPECT_THAT(diff->only_left, ElementsAre());
  EXPECT_THAT(diff->only_right, ElementsAre());
  EXPECT_THAT(diff->differing, ElementsAre());
  EXPECT_THAT(log.lines, ElementsAre());
  EXPECT_EQ(ReadFileBytes(path), before);
}

// Eight processes at once find an older file: one brings it up to date, all are served.
TEST(Upgrade, ProcessesMigrateOnce) {
  TempFolder folder;
  const std::string path = folder.File("k.db");
  PutOldFile(path);
  constexpr int kProcesses = 8;
  std::array<int, 2> start;
  ASSERT_EQ(pipe(start.data()), 0);
  std::vector<pid_t> children;
  for (int i = 0; i < kProcesses; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      close(start[1]);
      char go = 0;
      (void)!read(start[0], &go, 1);  // returns when the parent closes its end
      LogLines log;
      auto cache = OpenCache(path, &log);
      int found = 0;
      for (int k = 0; k < kOldKernels; ++k) found += cache->HasKernel(Cat("kernel-", k));
      const bool stored = cache->PutKernel(TestKernel(100 + i)).ok();
      _exit(found == kOldKernels && stored && log.lines.empty() ? 0 : 1);
    }
    children.push_back(child);
  }
  close(start[1]);
  close(start[0]);
  for (const pid_t child : children) {
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  }
  EXPECT_EQ(OpenCache(path)->AllKernels().size(), kOldKernels + kProcesses + 0u);
  EXPECT_EQ(Shell(path, "pragma user_version"), Cat(SchemaVersion(), "\n"));
  EXPECT_EQ(Shell(path, "pragma integrity_check"), "ok\n");
}

// A damaged file of an older schema is rebuilt as one of this schema, with every row that can be
// read.
TEST(Upgrade, DamagedOlderFileIsRebuilt) {
  TempFolder folder;
  const std::string path = folder.File("k.db");
  PutOldFile(path);
  WriteFileBytes(path, ReadFileBytes(path).replace(0, 4096, std::string(4096, 'z')));
  LogLines log;
  auto cache = OpenCache(path, &log);
  ExpectOldRows(*cache);
  EXPECT_EQ(log.lines.size(), 1u);
  EXPECT_EQ(Shell(path, "pragma user_version"), Cat(SchemaVersion(), "\n"));
}

// A released schema never changes: files of it are out there. A change is a new step.
TEST(Upgrade, ReleasedSchemaIsFrozen) {
  ASSERT_EQ(SchemaVersion(), 2);
  EXPECT_EQ(Digest().Add(SchemaSteps()[0]).Hex(), "acbf014ee1b03f871542b308b5cd4c9b");
  EXPECT_EQ(Digest().Add(SchemaSteps()[1]).Hex(), "3fc81e74e3c792c4980761f8b0d063e7");
}

// An older schema is migrated step by step with its rows; a step that fails changes nothing.
TEST(Upgrade, OlderSchemaIsMigrated) {
  TempFolder folder;
  std::string path = folder.File("k.db");
  WriteFileBytes(path, "");
  auto version = [&](Connection& db) { return db.QueryInt("PRAGMA user_version").value(); };
  std::vector<std::string_view> steps = {"CREATE TABLE a(x INT) STRICT; INSERT INTO a VALUES(7);",
                                         "ALTER TABLE a ADD COLUMN y INT NOT NULL DEFAULT 5;"};
  auto open = [&] {
    return Connection::Open(path, Connection::Mode::kReadWrite, std::chrono::seconds(1)).value();
  };
  {
    Connection db = open();
    ASSERT_TRUE(Migrate(db, std::span(steps).first(1)).ok());
    EXPECT_EQ(version(db), 1);
  }
  {
    Connection db = open();
    ASSERT_TRUE(Migrate(db, steps).ok());
    EXPECT_EQ(version(db), 2);
    EXPECT_EQ(db.QueryInt("SELECT x * 10 + y FROM a").value(), 75);
    EXPECT_TRUE(Migrate(db, steps).ok());
    steps.push_back("INSERT INTO a VALUES(8, 8); SELECT nonsense FROM nowhere;");
    EXPECT_FALSE(Migrate(db, steps).ok());
    EXPECT_EQ(version(db), 2);
    EXPECT_EQ(db.QueryInt("SELECT count(*) FROM a").value(), 1);
    EXPECT_EQ(Migrate(db, std::span(steps).first(1)).code(), absl::StatusCode::kFailedPrecondition);
  }
}

}  // namespace
}  // namespace tilewright
