// Which of a row's versions counts, and who may take a row away: in a repair, and while others
// write.
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <utime.h>

#include <array>
#include <cerrno>
#include <cstddef>

#include "cache/cache.h"
#include "cache/place.h"
#include "cache/salvage.h"
#include "cache/store.h"
#include "manifest/status.h"
#include "tests/cache/cache_fixture.h"
#include "tests/cache/child_process.h"
#include "tests/syscall_filter.h"

namespace tilewright {
namespace {

using std::chrono::milliseconds;
using ::testing::ElementsAre;

std::unique_ptr<Store> OpenStore(const std::string& path) {
  EXPECT_TRUE(CreateFile(path).ok());
  auto store = Store::Open(path, Connection::Mode::kReadWrite, milliseconds(1000));
  EXPECT_TRUE(store.ok()) << store.status();
  return store.ok() ? *std::move(store) : nullptr;
}

WinnerRow WinnerOf(int i, double us, int64_t tuned) {
  WinnerRow row = TestWinner(i);
  row.median_us = us;
  row.tuned_unix = tuned;
  return row;
}

void Put(Store& store, const WinnerRow& row) {
  EXPECT_TRUE(store.Write([&] { return store.PutWinner(row, Conflict::kReplace).status(); }).ok());
}

double SalvagedTime(const std::string& path, int i) {
  auto fresh = Store::OpenMemory().value();
  EXPECT_TRUE(Salvage(RawFile(path), RawFile(path + "-wal"), Inventory(), *fresh).ok());
  const auto found = fresh->FindWinner(TestWinner(i).key);
  return found.ok() && found->has_value() ? (*found)->median_us : -1;
}

// Guards: of a row's versions a repair keeps the one that was stored last, though it was measured
// before the one whose place it took: that of the WAL.
TEST(Order, WalComesBeforeTheFile) {
  TempFolder folder;
  auto store = OpenStore(folder.File("k.db"));
  ASSERT_TRUE(store->db().Exec("PRAGMA journal_mode = WAL").ok());
  for (int i = 0; i < 50; ++i) Put(*store, WinnerOf(i, 10, 2000));
  ASSERT_TRUE(store->db().Exec("PRAGMA wal_checkpoint(TRUNCATE)").ok());
  for (int i = 0; i < 50; ++i) Put(*store, WinnerOf(i, 5, 1000));
  WriteFileBytes(folder.File("copy.db"), ReadFileBytes(folder.File("k.db")));
  WriteFileBytes(folder.File("copy.db-wal"), ReadFileBytes(folder.File("k.db-wal")));
  for (int i = 0; i < 50; ++i) EXPECT_EQ(SalvagedTime(folder.File("copy.db"), i), 5) << i;
}

// Guards: and that of a page in use, not of one that is free and holds what was deleted.
TEST(Order, UsedPagesComeBeforeFreeOnes) {
  TempFolder folder;
  const std::string path = folder.File("k.db");
  {
    auto store = OpenStore(path);
    ASSERT_TRUE(store->db().Exec("PRAGMA secure_delete = OFF").ok());
    for (int i = 0; i < 200; ++i) Put(*store, WinnerOf(i, 10, 2000));
    ASSERT_TRUE(store->db().Exec("DELETE FROM winners").ok());
    Put(*store, WinnerOf(7, 5, 1000));
    ASSERT_GT(store->db().QueryInt("PRAGMA freelist_count").value(), 10);
  }
  int old_versions = 0;
  ScanRecords(
      RawFile(path), nullptr, [&](Record) { ++old_versions; }, PageUse::kFree);
  EXPECT_GT(old_versions, 100);
  EXPECT_EQ(SalvagedTime(path, 7), 5);
}

// Guards: a damaged row that another process puts anew, while all are read, is not deleted.
TEST(Order, HealedRowsStay) {
  TempFolder folder;
  const std::string path = folder.File("k.db");
  MakeFile(path);
  ASSERT_EQ(Shell(path,
                  "update winners set us = us + 1 where key in ('problem-0', 'problem-5'); "
                  "update trials set us = us + 1 where config = (select min(config) from "
                  "trials where problem_key = 'problem-0'); "
                  "update kernels set regs = regs + 1 where key = 'kernel-0'"),
            "");
  auto reader = OpenStore(path);
  ASSERT_TRUE(reader->db().Exec("PRAGMA journal_mode = WAL").ok());
  auto writer = OpenStore(path);
  const auto heal = [&] {
    return writer->Write([&]() -> absl::Status {
      TW_RETURN_IF_ERROR(writer->PutWinner(TestWinner(0), Conflict::kReplace).status());
      for (int i = 0; i < 4; ++i) {
        TW_RETURN_IF_ERROR(writer->PutTrial(TestTrial(i), Conflict::kReplace).status());
      }
      return writer->PutKernel(TestKernel(0), Conflict::kReplace).status();
    });
  };
  int seen = 0;
  EXPECT_TRUE(reader
                  ->VisitKernels(true,
                                 [&](const KernelRow&, std::string_view) {
                                   return ++seen == 5 ? heal() : absl::OkStatus();
                                 })
                  .ok());
  EXPECT_EQ(reader->TakeDamage().size(), 1u);  // it was seen
  EXPECT_EQ(reader->TakeSwept().deleted, 0);
  EXPECT_TRUE(writer->FindKernel(TestKernel(0).key)->has_value());
  // Damaged again, by their rowid.
  ASSERT_TRUE(writer->db().Exec("UPDATE winners SET us = us + 1 WHERE key = 'problem-0'").ok());
  ASSERT_TRUE(
      writer->db().Exec("UPDATE trials SET us = us + 1 WHERE problem_key = 'problem-0'").ok());
  seen = 0;
  EXPECT_TRUE(
      reader
          ->VisitWinners([&](const WinnerRow&) { return ++seen == 12 ? heal() : absl::OkStatus(); })
          .ok());
  EXPECT_EQ(reader->TakeDamage().size(), 2u);
  EXPECT_EQ(reader->TakeSwept().deleted, 1);  // problem-5 was not healed
  EXPECT_TRUE(writer->FindWinner(TestWinner(0).key)->has_value());
  EXPECT_FALSE(writer->FindWinner(TestWinner(5).key)->has_value());
  ASSERT_TRUE(
      writer->db().Exec("UPDATE trials SET us = us + 1 WHERE problem_key = 'problem-0'").ok());
  seen = 0;
  EXPECT_TRUE(
      reader->VisitTrials([&](const TrialRow&) { return ++seen == 12 ? heal() : absl::OkStatus(); })
          .ok());
  EXPECT_EQ(reader->TakeDamage().size(), 4u);
  EXPECT_EQ(reader->TakeSwept().deleted, 0);
  EXPECT_EQ(writer->Trials("problem-0")->size(), 4u);
}

// From now on this process cannot read at this offset of any file.
bool FailReadsAt(uint32_t offset) {
  constexpr uint32_t kNumber = offsetof(seccomp_data, nr);
  constexpr uint32_t kOffset = offsetof(seccomp_data, args) + 3 * sizeof(uint64_t);
  std::array<sock_filter, 6> filter = {{
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, kNumber),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_pread64, 0, 2),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, kOffset),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, offset, 1, 0),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EIO),
  }};
  return FilterSystemCalls(filter);
}

// Guards: a disk that cannot be read for a time, wherever that is, costs no row: the repair is put
// off, and done when it can be read.
TEST(Disk, UnreadablePagesPutARepairOff) {
  TempFolder source;
  MakeFile(source.File("k.db"));
  const std::string whole = ReadFileBytes(source.File("k.db"));
  const std::vector<size_t> leaves = LeavesOf(source.File("k.db"), "sqlite_autoindex_trials_1");
  ASSERT_FALSE(leaves.empty());
  const size_t pages = whole.size() / kPage;
  for (size_t page = 0; page < pages; page += page < 12 ? 1 : 7) {
    SCOPED_TRACE(Cat("page ", page));
    TempFolder folder;
    const std::string path = folder.File("k.db");
    std::string bytes = whole;
    bytes.replace(leaves[0] * kPage + 5, 5, 5, '\xff');
    WriteFileBytes(path, bytes);
    WriteFileBytes(path + ".lock", "");
    EXPECT_EQ(InChild([&] {
                if (!FailReadsAt(static_cast<uint32_t>(page * kPage))) return 1;
                LogLines log;
                auto cache = OpenCache(path, &log);
                if (cache != nullptr) (void)cache->Check();
                return 0;
              }),
              0);
    auto cache = OpenCache(path);
    (void)cache->Check();
    ExpectAll(*cache);
    EXPECT_THAT(cache->Check().problems, ElementsAre());
  }
}

// Guards: a whole file that could not be read is left as it is, under its name.
TEST(Disk, UnreadableFilesAreNotDamaged) {
  for (const size_t page : {size_t{0}, size_t{5}, size_t{20}, size_t{40}}) {
    SCOPED_TRACE(Cat("page ", page));
    TempFolder folder;
    const std::string path = folder.File("k.db");
    MakeFile(path);
    const FileId id = IdOf(path);
    EXPECT_EQ(InChild([&] {
                if (!FailReadsAt(static_cast<uint32_t>(page * kPage))) return 1;
                auto cache = OpenCache(path);
                if (cache != nullptr) (void)cache->Check();
                return 0;
              }),
              0);
    EXPECT_TRUE(IdOf(path) == id);
    EXPECT_EQ(ReadAll(*OpenCache(path)).kernels, kKernels);
    EXPECT_THAT(folder.Names(), ElementsAre("k.db", "k.db.lock"));
  }
}

// Guards: a read that fails is told apart from the end of a file.
TEST(Disk, FailedReadsAreKnown) {
  const RawFile memory("/proc/self/mem");  // nothing is mapped at its start
  EXPECT_EQ(memory.Read(0, 100), "");
  EXPECT_EQ(memory.error(), EIO);
  TempFolder folder;
  WriteFileBytes(folder.File("short"), "short");
  const RawFile file(folder.File("short"));
  EXPECT_EQ(file.Read(0, 100), "");
  EXPECT_EQ(file.error(), 0);
}

// Guards: through a second name of the file, which has a WAL of its own, nothing is written; once
// the names are one again, it is.
TEST(Disk, SecondNamesAreOnlyRead) {
  TempFolder folder;
  MakeFile(folder.File("k.db"));
  const std::string before = ReadFileBytes(folder.File("k.db"));
  ASSERT_EQ(link(folder.File("k.db").c_str(), folder.File("h.db").c_str()), 0);
  {
    LogLines log;
    auto cache = OpenCache(folder.File("h.db"), &log);
    EXPECT_EQ(ReadAll(*cache).kernels, kKernels);
    EXPECT_EQ(cache->Stats().mode, "read-only");
    EXPECT_EQ(log.Count("another name"), 1u);
    EXPECT_TRUE(cache->PutWinner(TestWinner(77)).ok());
    EXPECT_FALSE(cache->Persisted().ok());
    const auto diff = cache->Diff(folder.File("k.db"));
    EXPECT_TRUE(diff.ok() && diff->differing.empty() && diff->only_right.empty());
  }
  EXPECT_TRUE(ReadFileBytes(folder.File("k.db")) == before);
  EXPECT_THAT(folder.Names(), ElementsAre("h.db", "h.db.lock", "k.db", "k.db.lock"));
  ASSERT_EQ(unlink(folder.File("h.db").c_str()), 0);
  auto cache = OpenCache(folder.File("k.db"));
  EXPECT_TRUE(cache->PutWinner(TestWinner(77)).ok() && cache->Persisted().ok());
}

// Guards: one bit of what the header says of application and version costs nothing: what the file
// holds tells, and it is rebuilt.
TEST(Disk, BitInTheHeadersNumbersIsHealed) {
  TempFolder source;
  MakeFile(source.File("k.db"));
  const std::string whole = ReadFileBytes(source.File("k.db"));
  for (const size_t at : {size_t{60}, size_t{63}, size_t{68}, size_t{71}}) {
    for (int bit = 0; bit < 8; bit += at == 63 ? 1 : 3) {
      SCOPED_TRACE(Cat("byte ", at, " bit ", bit));
      TempFolder folder;
      const std::string path = folder.File("k.db");
      std::string bytes = whole;
      bytes[at] = static_cast<char>(bytes[at] ^ (1 << bit));
      WriteFileBytes(path, bytes);
      WriteFileBytes(path + ".lock", "");
      for (int i = 0; i < 2; ++i) {
        LogLines log;
        auto cache = OpenCache(path, &log);
        ASSERT_NE(cache, nullptr);
        ExpectAll(*cache);
        EXPECT_EQ(cache->Stats().mode, "wal");
        EXPECT_EQ(log.lines.size(), i == 0 ? 1u : 0u);
      }
    }
  }
}

// Guards: a seed whose time of change lies in the future, as another machine's clock has it, is not
// taken for one that is being written: what is intact of it is served.
TEST(Disk, FilesFromTheFuture) {
  TempFolder folder;
  const std::string path = folder.File("k.db");
  MakeFile(path);
  ASSERT_EQ(Shell(path, "update winners set us = us + 1 where key = 'problem-0'"), "");
  const utimbuf future = {4000000000, 4000000000};
  ASSERT_EQ(utime(path.c_str(), &future), 0);
  ASSERT_EQ(chmod(path.c_str(), 0444), 0);
  ASSERT_EQ(chmod(folder.path().c_str(), 0555), 0);
  EXPECT_EQ(InChild(
                [&] {
                  LogLines log;
                  CacheOptions options;
                  options.path = "";
                  options.seed_paths = {path};
                  options.log = log.Sink();
                  auto cache = OpenCache(options);
                  const Served served = ReadAll(*cache);
                  if (log.Count("being written") > 0) return 1;
                  if (served.kernels != kKernels || served.trials != kTrials) return 2;
                  return served.winners == kWinners - 1 ? 0 : 3;
                },
                geteuid() == 0 ? 12345 : -1),
            0);
  ASSERT_EQ(chmod(folder.path().c_str(), 0755), 0);
}

// Guards: processes that compare with one closed cache at once leave nothing beside it.
TEST(Disk, ManyComparisonsLeaveNothing) {
  TempFolder folder;
  MakeFile(folder.File("k.db"));
  for (int i = 0; i < 8; ++i) MakeFile(folder.File(Cat("own-", i, ".db")));
  std::vector<std::unique_ptr<Child>> children;
  for (int i = 0; i < 8; ++i) {
    children.push_back(std::make_unique<Child>([&folder, i](int from, int) {
      auto cache = OpenCache(folder.File(Cat("own-", i, ".db")));
      char go = 0;
      if (read(from, &go, 1) != 1) return 2;
      for (int round = 0; round < 15; ++round) {
        const auto diff = cache->Diff(folder.File("k.db"));
        if (!diff.ok() || diff->alike != kKernels + kWinners + kTrials) return 1;
      }
      return 0;
    }));
  }
  for (const auto& child : children) child->Put('g');
  for (const auto& child : children) EXPECT_EQ(child->Finish(), 0);
  for (const std::string& name : folder.Names()) {
    EXPECT_TRUE(name != "k.db-wal" && name != "k.db-shm") << name;
  }
}

}  // namespace
}  // namespace tilewright
