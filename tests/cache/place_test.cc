// Places where a cache cannot be written, or must not be.
#include "cache/place.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>

#include "cache/cache.h"
#include "cache/schema.h"
#include "cache/sqlite.h"
#include "manifest/digest.h"
#include "manifest/status.h"
#include "tests/cache/cache_fixture.h"

namespace tilewright {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr int kOtherUser = 12345;  // has no passwd entry

bool IsRoot() { return geteuid() == 0; }

// Exit codes tell which step of a child went wrong; 0 is success.
#define CHILD_EXPECT(condition)                                       \
  do {                                                                \
    if (!(condition)) {                                               \
      fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
      return 1;                                                       \
    }                                                                 \
  } while (false)

// What is no regular file is refused by its kind, at once and with nothing beside it: a cache, a
// read-only one, and a seed.
TEST(Place, IrregularFilesAreRefused) {
  TempFolder folder;
  ASSERT_EQ(mkfifo(folder.File("fifo").c_str(), 0600), 0);
  ASSERT_EQ(mkdir(folder.File("folder").c_str(), 0700), 0);
  ASSERT_EQ(symlink("/dev/zero", folder.File("link").c_str()), 0);
  const std::vector<std::string> names = folder.Names();
  const auto beside = [] {  // another program may have left some there
    std::vector<bool> found;
    for (const char* name : {"/dev/null.lock", "/dev/null-journal", "/dev/zero.lock"}) {
      found.push_back(std::filesystem::exists(name));
    }
    return found;
  };
  const std::vector<bool> before = beside();
  for (const auto& [path, kind] :
       std::vector<std::pair<std::string, std::string>>{{folder.File("fifo"), "a fifo"},
                                                        {folder.File("folder"), "a directory"},
                                                        {folder.File("link"), "a device"},
                                                        {"/dev/null", "a device"}}) {
    for (bool read_only : {false, true}) {
      CacheOptions options;
      options.path = path;
      options.read_only = read_only;
      const absl::Status refused = Cache::Open(options).status();
      EXPECT_EQ(refused.code(), absl::StatusCode::kFailedPrecondition) << path;
      EXPECT_THAT(std::string(refused.message()), HasSubstr(kind)) << path;
    }
    LogLines log;
    CacheOptions seeded;
    seeded.seed_paths = {path};
    seeded.log = log.Sink();
    ASSERT_TRUE(Cache::Open(seeded).ok());
    EXPECT_THAT(log.lines, ElementsAre(HasSubstr(kind))) << path;
    auto other = OpenCache("");
    EXPECT_EQ(other->Merge(path).status().code(), absl::StatusCode::kFailedPrecondition) << path;
  }
  EXPECT_EQ(folder.Names(), names);
  EXPECT_EQ(beside(), before);
}

// What is another program's file is refused, and stays where and as it is, with nothing beside it:
// text, noise, another SQLite database, whole or damaged.
TEST(Place, FilesThatAreNoCacheAreRefused) {
  TempFolder folder;
  std::string path = folder.File("notes.txt");
  Shell(path,
        "pragma page_size = 4096; create table notes(text); insert into notes values('mine')");
  const std::string database = ReadFileBytes(path);
  ASSERT_EQ(database.size(), 8192u);
  std::string damaged = database;
  damaged.replace(100, 4096 - 100, std::string(4096 - 100, 'z'));
  std::string named = database;
  named.replace(68, 4, "MINE");
  for (const std::string& content :
       {std::string("x"), std::string("shopping list\n"), std::string(50000, 'g'),
        std::string(4096, '\0'), database, damaged, named, database.substr(0, 5000)}) {
    SCOPED_TRACE(Cat(content.size(), " bytes"));
    WriteFileBytes(path, content);
    LogLines log;
    for (int i = 0; i < 2; ++i) {
      CacheOptions options;
      options.path = path;
      options.log = log.Sink();
      const absl::Status status = Cache::Open(std::move(options)).status();
      EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition) << status;
      EXPECT_THAT(Cat(status.message()), HasSubstr("another program"));
    }
    EXPECT_TRUE(ReadFileBytes(path) == content);
    EXPECT_THAT(folder.Names(), ElementsAre("notes.txt"));
  }
}

// A link that leads to nothing, or to itself, is refused with the reason, and nothing is put beside
// it; one that leads to a file is that file.
TEST(Place, LinkToNothingIsRefused) {
  TempFolder folder;
  ASSERT_EQ(symlink("nowhere.db", folder.File("dangling.db").c_str()), 0);
  ASSERT_EQ(symlink("loop.db", folder.File("loop.db").c_str()), 0);
  for (const char* name : {"dangling.db", "loop.db"}) {
    CacheOptions options;
    options.path = folder.File(name);
    for (const bool read_only : {false, true}) {
      options.read_only = read_only;
      const absl::Status status = Cache::Open(options).status();
      EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition) << status;
      EXPECT_THAT(Cat(status.message()), HasSubstr("a symbolic link that leads to none"));
    }
  }
  EXPECT_THAT(folder.Names(), ElementsAre("dangling.db", "loop.db"));
  ASSERT_TRUE(OpenCache(folder.File("real.db"))->PutKernel(TestKernel(1)).ok());
  ASSERT_EQ(symlink("real.db", folder.File("link.db").c_str()), 0);
  EXPECT_TRUE(OpenCache(folder.File("link.db"))->HasKernel("kernel-1"));
  EXPECT_THAT(folder.Names(),
              ElementsAre("dangling.db", "link.db", "loop.db", "real.db", "real.db.lock"));
}

// A damaged cache that was copied here alone, without a lock file, is known by its rows.
TEST(Place, DamagedCacheIsKnownByItsRows) {
  TempFolder folder;
  MakeFile(folder.File("k.db"));
  std::string file = ReadFileBytes(folder.File("k.db"));
  WriteFileBytes(folder.File("copy.db"), file.replace(0, 4096, std::string(4096, 'z')));
  LogLines log;
  auto cache = OpenCache(folder.File("copy.db"), &log);
  EXPECT_EQ(ReadAll(*cache).kernels, kKernels);
  EXPECT_EQ(log.Count("was damaged"), 1u);
}

// An exported file serves from a folder that cannot be written, as a seed and as the cache itself,
// to a user who can write nothing; without a word until a result has to be kept, in memory.
TEST(Place, ReadOnlyFolderServes) {
  if (!IsRoot()) GTEST_SKIP() << "needs root to become another user";
  TempFolder folder;
  MakeFile(folder.File("k.db"));
  ASSERT_EQ(mkdir(folder.File("ro").c_str(), 0755), 0);
  ASSERT_TRUE(OpenCache(folder.File("k.db"))->Export(folder.File("ro/seed.db")).ok());
  ASSERT_EQ(chmod(folder.File("ro").c_str(), 0555), 0);
  ASSERT_EQ(chmod(folder.path().c_str(), 0755), 0);
  std::string seed = folder.File("ro/seed.db");
  auto body = [&]() -> int {
    LogLines log;
    CacheOptions options;
    options.path = seed;
    options.log = log.Sink();
    auto cache = OpenCache(options);
    CHILD_EXPECT(cache->Stats().mode == "read-only");
    CHILD_EXPECT(ReadAll(*cache).kernels == kKernels);
    CHILD_EXPECT(log.lines.empty());
    CHILD_EXPECT(cache->PutKernel(TestKernel(100)).ok());
    CHILD_EXPECT(cache->PutKernel(TestKernel(101)).ok());
    CHILD_EXPECT(cache->FindKernel("kernel-100").has_value());
    CHILD_EXPECT(log.lines.size() == 1);
    // The same as a seed beneath memory, and read_only by request: no warning.
    LogLines quiet;
    CacheOptions seeded;
    seeded.seed_paths = {seed};
    seeded.log = quiet.Sink();
    CHILD_EXPECT(ReadAll(*OpenCache(seeded)).winners == kWinners);
    options.read_only = true;
    options.log = quiet.Sink();
    CHILD_EXPECT(ReadAll(*OpenCache(options)).trials == kTrials);
    CHILD_EXPECT(quiet.lines.empty());
    CHILD_EXPECT(cache->LockCompile("kernel-7777", std::chrono::milliseconds(50)).ok());
    return 0;
  };
  EXPECT_EQ(InChild(body, kOtherUser), 0);
  struct stat info {};
  EXPECT_NE(stat((seed + "-wal").c_str(), &info), 0);  // nothing was left there
  EXPECT_NE(stat((seed + ".lock").c_str(), &info), 0);
}

// A file without write permission in a folder of one's own serves, too.
TEST(Place, ReadOnlyFileServes) {
  if (!IsRoot()) GTEST_SKIP() << "needs root to become another user";
  TempFolder folder;
  MakeFile(folder.File("k.db"));
  ASSERT_EQ(chmod(folder.path().c_str(), 0755), 0);
  for (const char* name : {"", "/k.db", "/k.db.lock"}) {
    ASSERT_EQ(chown((folder.path() + name).c_str(), kOtherUser, kOtherUser), 0);
  }
  ASSERT_EQ(chmod(folder.File("k.db").c_str(), 0400), 0);
  auto body = [&]() -> int {
    LogLines log;
    auto cache = OpenCache(folder.File("k.db"), &log);
    CHILD_EXPECT(cache->Stats().mode == "read-only");
    CHILD_EXPECT(ReadAll(*cache).kernels == kKernels);
    CHILD_EXPECT(cache->PutKernel(TestKernel(100)).ok());
    CHILD_EXPECT(cache->FindKernel("kernel-100").has_value());
    CHILD_EXPECT(log.lines.size() == 1);
    return 0;
  };
  EXPECT_EQ(InChild(body, kOtherUser), 0);
}

// No folder and no right to make one: memory, with one warning.
TEST(Place, FolderThatCannotBeMade) {
  if (!IsRoot()) GTEST_SKIP() << "needs root to become another user";
  TempFolder folder;
  ASSERT_EQ(chmod(folder.path().c_str(), 0755), 0);
  auto body = [&]() -> int {
    LogLines log;
    auto cache = OpenCache(folder.File("sub/k.db"), &log);
    CHILD_EXPECT(cache != nullptr && cache->Stats().mode == "memory");
    CHILD_EXPECT(cache->PutKernel(TestKernel(1)).ok());
    CHILD_EXPECT(cache->FindKernel("kernel-1").has_value());
    CHILD_EXPECT(log.lines.size() == 1);
    return 0;
  };
  EXPECT_EQ(InChild(body, kOtherUser), 0);
}

// A writable cache where others could plant a cubin is refused, with the reason.
TEST(Place, UnsafeFoldersAreRefused) {
  TempFolder folder;
  auto open = [&](const std::string& path) {
    CacheOptions options;
    options.path = path;
    return Cache::Open(options).status();
  };
  ASSERT_EQ(mkdir(folder.File("all").c_str(), 0700), 0);
  ASSERT_EQ(chmod(folder.File("all").c_str(), 0777), 0);
  absl::Status refused = open(folder.File("all/k.db"));
  EXPECT_EQ(refused.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(refused.message()), HasSubstr("writable by everybody"));
  ASSERT_EQ(chmod(folder.File("all").c_str(), 01777), 0);
  EXPECT_TRUE(open(folder.File("all/k.db")).ok());  // sticky: as /tmp
  if (!IsRoot()) return;
  ASSERT_EQ(mkdir(folder.File("other").c_str(), 0700), 0);
  ASSERT_EQ(chown(folder.File("other").c_str(), kOtherUser, kOtherUser), 0);
  refused = open(folder.File("other/k.db"));
  EXPECT_EQ(refused.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(refused.message()), HasSubstr("belongs to user 12345"));
  // Planted in a sticky folder by another user: the database, or what SQLite keeps beside it.
  for (const char* suffix : {"", "-wal", "-shm", "-journal", ".lock"}) {
    const std::string path = folder.File("all/planted") + (*suffix == '\0' ? "0.db" : "1.db");
    const std::string planted = path + suffix;
    WriteFileBytes(planted, "");
    ASSERT_EQ(chown(planted.c_str(), kOtherUser, kOtherUser), 0);
    refused = open(path);
    EXPECT_EQ(refused.code(), absl::StatusCode::kFailedPrecondition) << suffix;
    EXPECT_THAT(std::string(refused.message()),
                HasSubstr("the file " + planted + " belongs to user 12345"));
    ASSERT_EQ(unlink(planted.c_str()), 0);
  }
  // A link counts as its maker's, wherever it leads.
  const std::string link = folder.File("all/linked.db-wal");
  WriteFileBytes(folder.File("mine"), "");
  ASSERT_EQ(symlink(folder.File("mine").c_str(), link.c_str()), 0);
  ASSERT_EQ(lchown(link.c_str(), kOtherUser, kOtherUser), 0);
  refused = open(folder.File("all/linked.db"));
  EXPECT_EQ(refused.code(), absl::StatusCode::kFailedPrecondition);
}

// A disk that is full: nothing fails, what was stored before serves, what is new is in memory, one
// warning; once there is room it is in the file.
TEST(Place, FullDiskGoesToMemory) {
  TempFolder folder;
  std::string path = folder.File("k.db");
  MakeFile(path);
  auto body = [&]() -> int {
    LogLines log;
    auto cache = OpenCache(path, &log);
    signal(SIGXFSZ, SIG_IGN);
    rlimit limit{};
    getrlimit(RLIMIT_FSIZE, &limit);
    limit.rlim_cur = 16384;
    setrlimit(RLIMIT_FSIZE, &limit);
    for (int i = 100; i < 120; ++i) CHILD_EXPECT(cache->PutKernel(TestKernel(i)).ok());
    CHILD_EXPECT(cache->PutWinner(TestWinner(100)).ok());
    CHILD_EXPECT(log.lines.size() == 1);
    for (int i = 100; i < 120; ++i) {
      CHILD_EXPECT(cache->FindKernel(Cat("kernel-", i)).has_value());
    }
    CHILD_EXPECT(ReadAll(*cache).kernels == kKernels);
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_FSIZE, &limit);
    return 0;  // the cache's end moves the rest
  };
  EXPECT_EQ(InChild(body), 0);
  auto cache = OpenCache(path);
  EXPECT_EQ(ReadAll(*cache).kernels, kKernels);
  for (int i = 100; i < 120; ++i) EXPECT_TRUE(cache->HasKernel(Cat("kernel-", i))) << i;
  EXPECT_TRUE(cache->FindWinner("problem-100").has_value());
  EXPECT_THAT(cache->Check().problems, ElementsAre());
}

// The same on a real full filesystem.
TEST(Place, FullFilesystemGoesToMemory) {
  TempFolder folder;
  if (mount("tmpfs", folder.path().c_str(), "tmpfs", 0, "size=400k,mode=0700") != 0) {
    GTEST_SKIP() << "cannot mount a tmpfs here";
  }
  {
    LogLines log;
    auto cache = OpenCache(folder.File("k.db"), &log);
    for (int i = 0; i < 100; ++i) EXPECT_TRUE(cache->PutKernel(TestKernel(i)).ok()) << i;
    for (int i = 0; i < 100; ++i) {
      auto row = cache->FindKernel(Cat("kernel-", i));
      EXPECT_TRUE(row.has_value()) << i;
      if (row.has_value()) ExpectSame(TestKernel(i), *row);
    }
    EXPECT_EQ(log.lines.size(), 1u) << testing::PrintToString(log.lines);
  }
  {
    auto cache = OpenCache(folder.File("k.db"));
    EXPECT_GT(cache->Stats().kernels, 5);
    EXPECT_THAT(cache->Check().problems, ElementsAre());
  }
  umount(folder.path().c_str());
}

// On a network filesystem there is no WAL, and a file that had one is converted.
TEST(Place, NetworkFilesystemGetsNoWal) {
  TempFolder folder;
  std::string path = folder.File("k.db");
  MakeFile(path);
  for (int64_t type : {0x6969L, 0x65735546L, 0xff534d42L}) {
    CacheOptions options;
    options.path = path;
    options.env.filesystem_type = [&](const std::string& asked) {
      EXPECT_EQ(asked, folder.path());
      return type;
    };
    auto cache = OpenCache(options);
    EXPECT_EQ(cache->Stats().mode, "delete");
    ASSERT_TRUE(cache->PutKernel(TestKernel(100)).ok());
    EXPECT_EQ(ReadAll(*cache).kernels, kKernels);
    EXPECT_THAT(folder.Names(), ElementsAre("k.db", "k.db.lock"));
  }
  EXPECT_EQ(OpenCache(path)->Stats().mode, "wal");
}

// A newer schema is refused in words, and the file is left alone; so is another program's file.
TEST(Place, ForeignFilesAreRefused) {
  TempFolder folder;
  std::string path = folder.File("k.db");
  MakeFile(path);
  ASSERT_EQ(Shell(path, "create view of_the_future as select 1; pragma user_version = 99"), "");
  std::string bytes = ReadFileBytes(path);
  CacheOptions options;
  options.path = path;
  absl::Status refused = Cache::Open(options).status();
  EXPECT_EQ(refused.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(refused.message()), HasSubstr("schema version 99"));
  EXPECT_TRUE(ReadFileBytes(path) == bytes);
  Shell(folder.File("other.db"), "create table photos(name text)");
  options.path = folder.File("other.db");
  refused = Cache::Open(options).status();
  EXPECT_EQ(refused.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(refused.message()), HasSubstr("another program"));
  EXPECT_EQ(Shell(folder.File("other.db"), "select count(*) from photos"), "0\n");
}

// Guards: an export takes no name of what belongs to a database, nor the place of one that somebody
// has open, though nothing was written to it yet; once it is closed it does.
TEST(Place, ExportSparesCompanionsAndOpenCaches) {
  TempFolder folder;
  MakeFile(folder.File("k.db"));
  MakeFile(folder.File("other.db"));
  const std::string other = ReadFileBytes(folder.File("other.db"));
  auto cache = OpenCache(folder.File("k.db"));
  for (const std::string suffix :
       {"-wal", "-shm", "-journal", ".lock", ".new", ".swap-1", ".corrupt-2", ".corrupt-2-wal"}) {
    for (const std::string name : {"k.db", "other.db"}) {
      EXPECT_THAT(Cat(cache->Export(folder.File(name + suffix)).status().message()),
                  HasSubstr("a companion of"))
          << name << suffix;
    }
  }
  auto open = OpenCache(folder.File("other.db"));
  EXPECT_THAT(Cat(cache->Export(folder.File("other.db")).status().message()),
              HasSubstr("is in use"));
  EXPECT_EQ(ReadAll(*open).kernels, kKernels);
  open.reset();
  const auto report = cache->Export(folder.File("other.db"));
  EXPECT_TRUE(report.ok()) << report.status();
}

// Guards: a name that SQLite knows is a file like any other, also once the process is elsewhere.
TEST(Place, NamesOfSqliteAreFiles) {
  TempFolder folder;
  EXPECT_EQ(InChild([&] {
              CHILD_EXPECT(chdir(folder.path().c_str()) == 0);
              auto cache = OpenCache(":memory:");
              CHILD_EXPECT(cache != nullptr && chdir("/") == 0);
              CHILD_EXPECT(cache->PutKernel(TestKernel(0)).ok() && cache->Persisted().ok());
              return 0;
            }),
            0);
  EXPECT_TRUE(OpenCache(folder.File(":memory:"))->HasKernel(TestKernel(0).key));
}

}  // namespace
}  // namespace tilewright
