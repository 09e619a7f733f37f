// Who may not write the file reads it while its owner writes, or after the owner died.
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cache/cache.h"
#include "cache/sqlite.h"
#include "manifest/status.h"
#include "tests/cache/cache_fixture.h"
#include "tests/cache/child_process.h"

namespace tilewright {
namespace {

using std::chrono::milliseconds;

constexpr int kOtherUser = 12345;

// Opens the cache, and looks at all of it again each time it is told to; what is not as it should
// be is its exit status.
int LookAgain(const std::string& path, const std::string& how, int from, int to) {
  LogLines log;
  auto cache = OpenCache(path, &log);
  if (cache == nullptr || ReadAll(*cache).trials != kTrials) return 1;
  char c = 'r';
  if (write(to, &c, 1) != 1 || read(from, &c, 1) != 1) return 2;
  if (how == "check") {
    const CheckReport report = cache->Check();
    for (const std::string& problem : report.problems) fprintf(stderr, "%s\n", problem.c_str());
    if (!report.problems.empty()) return 3;
  } else if (how == "export") {
    const auto report = cache->Export(Cat("/tmp/tilewright-reader-", getpid(), ".db"));
    unlink(Cat("/tmp/tilewright-reader-", getpid(), ".db").c_str());
    if (!report.ok() || !report->dropped.empty() || report->winners != kWinners) return 4;
  }
  const Served served = ReadAll(*cache);
  if (served.winners != kWinners || served.trials != kTrials) return 5;
  for (const std::string& line : log.lines) fprintf(stderr, "%s\n", line.c_str());
  return cache->Stats().damage.empty() && log.Count("damaged") == 0 ? 0 : 6;
}

// Guards: a healthy file that its owner writes while another user reads it is not called damaged.
TEST(Reader, FileThatIsWrittenIsNotDamaged) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root to become another user";
  for (const std::string how : {"check", "export", "read"}) {
    SCOPED_TRACE(how);
    TempFolder folder;
    const std::string path = folder.File("k.db");
    MakeFile(path);
    ASSERT_EQ(chmod(path.c_str(), 0644), 0);
    ASSERT_EQ(chmod(folder.path().c_str(), 0755), 0);
    Child reader([&](int from, int to) { return LookAgain(path, how, from, to); }, kOtherUser);
    ASSERT_EQ(reader.Get(), 'r');
    {
      auto owner = OpenCache(path);
      const auto deleted = owner->Gc(0);  // the file shrinks
      EXPECT_TRUE(deleted.ok() && *deleted == kKernels) << deleted.status();
    }
    reader.Put('g');
    EXPECT_EQ(reader.Finish(), 0);
  }
}

// A file in the state that a process leaves which was killed in a transaction without a WAL: some
// pages written, and the journal to undo it.
void MakeHalfDone(const std::string& path) {
  TempFolder folder;
  const std::string source = folder.File("k.db");
  MakeFile(source);
  auto db = Connection::Open(source, Connection::Mode::kReadWrite, milliseconds(0));
  ASSERT_TRUE(db.ok());
  ASSERT_TRUE(db->Exec("PRAGMA journal_mode = DELETE").ok());
  ASSERT_TRUE(db->Exec("PRAGMA cache_size = 1").ok());
  ASSERT_TRUE(
      db->Exec("BEGIN; DELETE FROM winners; DELETE FROM trials; DELETE FROM kernel_bytes").ok());
  WriteFileBytes(path, ReadFileBytes(source));
  WriteFileBytes(path + "-journal", ReadFileBytes(source + "-journal"));
  ASSERT_EQ(chmod(path.c_str(), 0644), 0);
  ASSERT_EQ(chmod((path + "-journal").c_str(), 0644), 0);
}

// Guards: half of a transaction of a process that died is not told as what the cache holds to one
// who may not undo it: it is said; its owner undoes it and has everything.
TEST(Reader, HalfATransactionIsNoFact) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root to become another user";
  TempFolder folder;
  const std::string path = folder.File("k.db");
  MakeHalfDone(path);
  ASSERT_EQ(chmod(folder.path().c_str(), 0755), 0);
  const std::vector<std::string> names = folder.Names();
  EXPECT_EQ(InChild(
                [&] {
                  LogLines log;
                  auto cache = OpenCache(path, &log);
                  if (cache->Stats().mode != "memory" || cache->Stats().winners != 0) return 1;
                  if (log.Count("died in the middle of a transaction") != 1) return 2;
                  return OpenCache("")->Merge(path).ok() ? 3 : 0;
                },
                kOtherUser),
            0);
  EXPECT_EQ(folder.Names(), names);
  EXPECT_FALSE(OpenCache("")->Merge(path).ok());
  ExpectAll(*OpenCache(path));
}

}  // namespace
}  // namespace tilewright
