// Repairs of a file that other processes go on writing.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include <thread>

#include "cache/cache.h"
#include "cache/repair.h"
#include "cache/store.h"
#include "manifest/status.h"
#include "tests/cache/cache_fixture.h"
#include "tests/cache/child_process.h"

namespace tilewright {
namespace {

using std::chrono::milliseconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr int64_t kNfs = 0x6969;
constexpr int kFirstNew = 1000;  // winners from here on are written while a repair runs
constexpr milliseconds kPatience(20000);

CacheOptions OptionsOf(const std::string& path, bool network) {
  CacheOptions options;
  options.path = path;
  options.busy_timeout = kPatience;
  if (network) options.env.filesystem_type = [](const std::string&) { return kNfs; };
  return options;
}

// Puts one winner more for each byte that it reads, all through one cache.
int PutWinners(const std::string& path, bool network, int from, int to) {
  auto cache = OpenCache(OptionsOf(path, network));
  if (cache == nullptr || !cache->PutWinner(TestWinner(kFirstNew)).ok()) return 1;
  const char ready = 'r';
  if (write(to, &ready, 1) != 1) return 2;
  char go = 0;
  for (int i = 1; read(from, &go, 1) == 1; ++i) {
    if (!cache->PutWinner(TestWinner(kFirstNew + i)).ok()) return 3;
  }
  return cache->Persisted().ok() ? 0 : 4;
}

// How a file is damaged: where SQLite can lock it all the same, or not.
void Damage(const std::string& path, const std::string& how) {
  std::string bytes = ReadFileBytes(path);
  if (how == "header") {
    bytes.replace(0, 16, 16, '\x5a');
  } else {
    const std::string leaf =
        Shell(path, "select min(pageno) from dbstat where name = 'sqlite_autoindex_trials_1'");
    bytes.replace((std::stoul(leaf) - 1) * 4096 + 5, 5, 5, '\xff');
  }
  const int fd = open(path.c_str(), O_WRONLY | O_CLOEXEC);
  ASSERT_GE(fd, 0);
  EXPECT_EQ(pwrite(fd, bytes.data(), bytes.size(), 0), static_cast<ssize_t>(bytes.size()));
  close(fd);
}

// Guards: what other processes commit while a repair runs, at any of its steps, is in the cache
// afterwards, on a WAL and without one, and where the damage lets nobody lock the file.
TEST(LiveRepair, NoCommitIsLost) {
  for (const bool network : {false, true}) {
    for (const std::string how : {"index", "header"}) {
      SCOPED_TRACE(Cat(network ? "journal " : "wal ", how));
      TempFolder folder;
      const std::string path = folder.File("k.db");
      {
        auto cache = OpenCache(OptionsOf(path, network));
        Fill(*cache);
      }
      Child writer([&](int from, int to) { return PutWinners(path, network, from, to); });
      ASSERT_EQ(writer.Get(), 'r');
      Damage(path, how);
      int steps = 0;
      {
        auto lock = ByteLock::Open(LockPath(path));
        ASSERT_TRUE(lock.ok() && lock->LockWithin(kOpenLockOffset, kPatience).ok());
        const auto report = Repair(path, kPatience, [&] {
          ++steps;
          writer.Put('p');
          std::this_thread::sleep_for(milliseconds(30));
        });
        ASSERT_TRUE(report.ok()) << report.status();
        EXPECT_TRUE(report->late_rows.ok()) << report->late_rows;
      }
      EXPECT_GE(steps, 6);
      ASSERT_EQ(writer.Finish(), 0);
      LogLines log;
      CacheOptions options = OptionsOf(path, network);
      options.log = log.Sink();
      auto cache = OpenCache(options);
      EXPECT_EQ(ReadAll(*cache).kernels, kKernels);
      for (int i = 0; i <= steps; ++i) {
        const auto found = cache->FindWinner(TestWinner(kFirstNew + i).key);
        EXPECT_TRUE(found.has_value()) << "put before step " << i;
      }
      EXPECT_THAT(cache->Check().problems, ElementsAre());
      EXPECT_THAT(log.lines, ElementsAre());
    }
  }
}

// Holds a write transaction in which a winner was put, until it is told to commit.
int HoldTransaction(const std::string& path, int from, int to) {
  auto store = Store::Open(path, Connection::Mode::kReadWrite, kPatience);
  if (!store.ok()) return 1;
  const absl::Status written = (*store)->Write([&] {
    absl::Status put = (*store)->PutWinner(TestWinner(kFirstNew), Conflict::kReplace).status();
    char c = 'r';
    EXPECT_EQ(write(to, &c, 1), 1);
    (void)!read(from, &c, 1);
    return put;
  });
  return written.ok() ? 0 : 2;
}

// Guards: a repair waits for a transaction that is under way, and keeps what it wrote.
TEST(LiveRepair, WaitsForATransaction) {
  TempFolder folder;
  const std::string path = folder.File("k.db");
  MakeFile(path);
  Damage(path, "index");
  Child writer([&](int from, int to) { return HoldTransaction(path, from, to); });
  ASSERT_EQ(writer.Get(), 'r');
  auto cache = OpenCache(OptionsOf(path, false));
  std::thread later([&] {
    std::this_thread::sleep_for(milliseconds(300));
    writer.Put('c');
  });
  const CheckReport report = cache->Check();
  later.join();
  EXPECT_EQ(writer.Finish(), 0);
  EXPECT_TRUE(report.rebuilt);
  EXPECT_TRUE(cache->FindWinner(TestWinner(kFirstNew).key).has_value());
  EXPECT_EQ(ReadAll(*cache).winners, kWinners);
}

// Guards: where somebody writes for longer than a call waits, the repair is put off: it says so,
// what is intact is served, nothing is changed, and it is done later.
TEST(LiveRepair, IsPutOffWhereOneWritesForLong) {
  TempFolder folder;
  const std::string path = folder.File("k.db");
  MakeFile(path);
  CacheOptions options = OptionsOf(path, false);
  options.busy_timeout = milliseconds(50);
  Damage(path, "index");
  Child writer([&](int from, int to) { return HoldTransaction(path, from, to); });
  ASSERT_EQ(writer.Get(), 'r');
  auto cache = OpenCache(options);
  const FileId before = IdOf(path);
  const CheckReport report = cache->Check();
  EXPECT_FALSE(report.rebuilt);
  EXPECT_THAT(report.problems, testing::Contains(HasSubstr("could not be rebuilt")));
  EXPECT_EQ(IdOf(path), before);
  EXPECT_EQ(CountSetAside(path), 0);
  EXPECT_EQ(ReadAll(*cache).kernels, kKernels);
  writer.Put('c');
  EXPECT_EQ(writer.Finish(), 0);
  cache.reset();
  auto again = OpenCache(path);
  EXPECT_TRUE(again->Check().rebuilt);
  EXPECT_TRUE(again->FindWinner(TestWinner(kFirstNew).key).has_value());
}

// Damages and repairs the file when it is told to, and dwells at a step in the middle until it is
// told to go on.
int RepairSlowly(const std::string& path, const std::string& how, int from, int to) {
  char c = 0;
  if (read(from, &c, 1) != 1) return 1;
  Damage(path, how);
  auto lock = ByteLock::Open(LockPath(path));
  if (!lock.ok() || !lock->LockWithin(kOpenLockOffset, kPatience).ok()) return 2;
  int step = 0;
  const auto report = Repair(path, kPatience, [&] {
    if (++step != 2) return;
    EXPECT_EQ(write(to, "r", 1), 1);
    EXPECT_EQ(read(from, &c, 1), 1);
  });
  return report.ok() ? 0 : 3;
}

// Guards: a repair by another process that takes longer than a call waits loses no result of one
// that has the file open, nor of one that opens it meanwhile, which has the file's rows afterwards.
TEST(LiveRepair, ResultsWaitForALongRepair) {
  for (const bool is_open : {true, false}) {
    for (const std::string how : {"index", "header"}) {
      SCOPED_TRACE(Cat(is_open ? "open " : "opened later ", how));
      TempFolder folder;
      const std::string path = folder.File("k.db");
      MakeFile(path);
      Child repairer([&](int from, int to) { return RepairSlowly(path, how, from, to); });
      LogLines log;
      CacheOptions options = OptionsOf(path, false);
      options.busy_timeout = milliseconds(50);
      options.log = log.Sink();
      std::unique_ptr<Cache> cache = is_open ? OpenCache(options) : nullptr;
      repairer.Put('g');
      ASSERT_EQ(repairer.Get(), 'r');
      if (!is_open) cache = OpenCache(options);
      EXPECT_TRUE(cache->PutWinner(TestWinner(kFirstNew)).ok());
      // Where the damage lets the repair not lock the file, who has it open goes on.
      const bool is_kept_out = !is_open || how == "index";
      EXPECT_EQ(cache->Persisted().ok(), !is_kept_out);
      std::thread later([&] {
        std::this_thread::sleep_for(milliseconds(500));
        repairer.Put('c');
      });
      EXPECT_EQ(cache->PersistedWithin(kPatience), absl::OkStatus());
      later.join();
      EXPECT_EQ(repairer.Finish(), 0);
      EXPECT_EQ(log.Count("has it locked, as to repair it; waiting up to 20 s"),
                is_kept_out ? 1u : 0u);
      EXPECT_EQ(cache->Stats().mode, "wal");
      EXPECT_EQ(ReadAll(*cache).kernels, kKernels);
      auto other = OpenCache(path);
      EXPECT_TRUE(other->FindWinner(TestWinner(kFirstNew).key).has_value());
      EXPECT_EQ(ReadAll(*other).winners, kWinners);
    }
  }
}

// Guards: nobody is waited for where nobody has the file locked: what cannot be stored is said.
TEST(LiveRepair, NothingToWaitFor) {
  TempFolder folder;
  const std::string path = folder.File("k.db");
  MakeFile(path);
  LogLines log;
  auto cache = OpenCache(path, &log);
  EXPECT_EQ(cache->PersistedWithin(kPatience), absl::OkStatus());
  Shell(path, "create trigger t before insert on winners begin select raise(abort, 'no'); end");
  EXPECT_FALSE(cache->PutWinner(TestWinner(kFirstNew)).ok());
  EXPECT_FALSE(cache->PersistedWithin(kPatience).ok());
  EXPECT_EQ(log.Count("waiting"), 0u);
}

// Guards: a write whose file is replaced under it goes to the file that is there.
TEST(LiveRepair, WritesFollowTheFile) {
  TempFolder folder;
  const std::string path = folder.File("k.db");
  MakeFile(path);
  MakeFile(folder.File("new.db"));
  auto store = Store::Open(path, Connection::Mode::kReadWrite, kPatience);
  ASSERT_TRUE(store.ok());
  const auto put = [&] {
    return (*store)->PutWinner(TestWinner(kFirstNew), Conflict::kReplace).status();
  };
  const auto put_and_replace = [&] {
    absl::Status done = put();
    EXPECT_EQ(rename(folder.File("new.db").c_str(), path.c_str()), 0);
    return done;
  };
  EXPECT_TRUE((*store)->Write(put).ok());
  EXPECT_TRUE(absl::IsAborted((*store)->Write(put_and_replace)));
  EXPECT_TRUE(absl::IsAborted((*store)->Write(put)));
}

}  // namespace
}  // namespace tilewright
