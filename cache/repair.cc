#include "cache/repair.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <optional>

#include "cache/page_scan.h"
#include "cache/place.h"
#include "cache/schema.h"
#include "manifest/status.h"

namespace tilewright {
namespace {

// What SQLite puts beside a database. The new file must never meet those of the old one.
constexpr std::array<const char*, 3> kCompanions = {"-wal", "-shm", "-journal"};

std::string NewPath(const std::string& path) { return path + ".new"; }

bool IsThere(const std::string& path) {
  struct stat info {};
  return lstat(path.c_str(), &info) == 0;
}

// The first number that is free, else the oldest, whose files are removed.
int MakeRoom(const std::string& path) {
  int oldest = 0;
  time_t oldest_time = 0;
  for (int n = 1; n <= kMostSetAside; ++n) {
    struct stat info {};
    if (lstat(SetAsidePath(path, n).c_str(), &info) != 0) {
      oldest = n;
      break;
    }
    if (oldest == 0 || info.st_mtime < oldest_time) {
      oldest = n;
      oldest_time = info.st_mtime;
    }
  }
  const std::string base = SetAsidePath(path, oldest);
  unlink(base.c_str());
  for (const char* suffix : kCompanions) unlink((base + suffix).c_str());
  return oldest;
}

void SyncFolder(const std::string& path) {
  const int fd = open(FolderOf(path).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return;
  (void)fsync(fd);
  close(fd);
}

// The damaged file and its WAL, whatever becomes of their names, and the lock that keeps others
// from writing them.
class OldFile {
 public:
  // Unavailable where somebody else goes on writing for `timeout`.
  static absl::StatusOr<std::unique_ptr<OldFile>> Open(const std::string& path,
                                                       std::chrono::milliseconds timeout) {
    std::unique_ptr<OldFile> old(new OldFile);
    // SQLite would delete the WAL beside an emptied file.
    if (FileBytes(path) > 0) TW_RETURN_IF_ERROR(old->Lock(path, timeout));
    old->db_.emplace(path);
    old->wal_.emplace(path + "-wal");
    return old;
  }

  bool is_locked() const { return is_locked_; }
  const RawFile& db() const { return *db_; }
  const RawFile& wal() const { return *wal_; }

 private:
  OldFile() = default;

  absl::Status Lock(const std::string& path, std::chrono::milliseconds timeout) {
    auto opened = Connection::Open(path, Connection::Mode::kReadWrite, timeout);
    if (!opened.ok()) return absl::OkStatus();
    connection_ = *std::move(opened);
    connection_.BearDamage();
    connection_.LeaveWalOnClose();
    const absl::Status begun = connection_.Exec("BEGIN IMMEDIATE");
    is_locked_ = begun.ok();
    return absl::IsUnavailable(begun) ? begun : absl::OkStatus();
  }

  // In this order, so that the lock goes before the files are closed.
  std::optional<RawFile> db_;
  std::optional<RawFile> wal_;
  Connection connection_;
  bool is_locked_ = false;
};

// A second name of the file, or a copy where the filesystem has no hard links.
bool KeepAs(const std::string& path, const OldFile& old, const std::string& kept) {
  return link(path.c_str(), kept.c_str()) == 0 || old.db().CopyTo(kept);
}

void RemoveNew(const std::string& path) {
  unlink(NewPath(path).c_str());
  unlink((NewPath(path) + "-journal").c_str());
}

absl::StatusOr<Salvaged> SalvageInto(const std::string& path, const RawFile& db, const RawFile& wal,
                                     const Inventory& inventory) {
  TW_ASSIGN_OR_RETURN(std::unique_ptr<Store> store,
                      Store::Open(path, Connection::Mode::kReadWrite, std::chrono::seconds(5)));
  return Salvage(db, wal, inventory, *store);
}

absl::StatusOr<Salvaged> BuildFresh(const std::string& path, const RawFile& db, const RawFile& wal,
                                    const Inventory& inventory) {
  RemoveNew(path);
  TW_RETURN_IF_ERROR(CreateFile(NewPath(path)));
  return SalvageInto(NewPath(path), db, wal, inventory);
}

absl::StatusOr<Salvaged> BuildEmpty(const std::string& path) {
  return BuildFresh(path, RawFile(""), RawFile(""), Inventory());
}

absl::Status PutOff(const std::string& path, std::string_view why) {
  return absl::UnavailableError(Cat("kernel cache: cannot rebuild ", path, " now: ", why));
}

// From the first step to the last "<path>.swap-<n>" says that the change is under way: at its end
// the last rename takes that name away and puts the new file into place at once.
absl::Status Swap(const std::string& path, const OldFile& old, int n,
                  const std::function<void()>& before_step) {
  const std::string aside = SetAsidePath(path, n);
  const std::string swap = SwapPath(path, n);
  const auto failed = [&] {
    return ResourceExhausted("kernel cache: cannot set the damaged file ", path,
                             " aside: ", strerror(errno));
  };
  before_step();
  if (rename(NewPath(path).c_str(), swap.c_str()) != 0) return failed();
  before_step();
  if (!KeepAs(path, old, aside)) return failed();
  SyncFolder(path);
  for (const char* suffix : kCompanions) {
    if (!IsThere(path + suffix)) continue;
    before_step();
    if (rename((path + suffix).c_str(), (aside + suffix).c_str()) != 0) return failed();
  }
  SyncFolder(path);
  before_step();
  if (rename(swap.c_str(), path.c_str()) != 0) return failed();
  SyncFolder(path);
  before_step();
  unlink((aside + "-shm").c_str());
  return absl::OkStatus();
}

}  // namespace

absl::Status RefuseForeign(const std::string& path, bool was_used, bool damaged) {
  struct stat info {};
  if (stat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode) || info.st_size == 0) {
    return absl::OkStatus();
  }
  const absl::StatusOr<std::optional<int64_t>> application = ReadApplicationId(path);
  if (!application.ok()) return absl::OkStatus();  // cannot be read: opening it will say why
  const bool has_header = application->has_value();
  const bool blank = has_header && **application == 0 && !damaged;
  const bool ours = has_header ? **application == kApplicationId : was_used;
  if (blank || ours || HoldsRows(path)) return absl::OkStatus();
  return FailedPrecondition("kernel cache: refusing ", path, ": it is a file of another program, ",
                            "not a kernel cache; choose another path");
}

namespace {

// The database that `path` is a companion of by its name, or empty.
std::string OwnerOf(const std::string& path) {
  for (const std::string_view suffix : {"-wal", "-shm", "-journal", ".lock", ".new"}) {
    if (!path.ends_with(suffix)) continue;
    std::string owner = path.substr(0, path.size() - suffix.size());
    if (IsThere(owner)) return owner;
  }
  for (const std::string_view middle : {".swap-", ".corrupt-"}) {
    const size_t at = path.rfind(middle);
    if (at != std::string::npos && IsThere(path.substr(0, at))) return path.substr(0, at);
  }
  return "";
}

// What stands beside a database that is in use, whose process died, or that was deleted by hand: it
// would be laid over, or rolled back into, the new file.
absl::Status RefuseCompanions(const std::string& path) {
  std::string companion;
  for (const char* suffix : kCompanions) {
    if (IsThere(path + suffix)) companion = path + suffix;
  }
  if (const int n = SwapUnderWay(path); n > 0) companion = SwapPath(path, n);
  if (companion.empty()) return absl::OkStatus();
  return FailedPrecondition("kernel cache: refusing to replace ", path, ": ", companion,
                            " is beside it, of a cache that is in use, whose process died, or that "
                            "is gone; close or check that cache, remove the file, or choose "
                            "another path");
}

}  // namespace

absl::Status RefuseToReplace(const std::string& path) {
  struct stat info {};
  if (const std::string owner = OwnerOf(path); !owner.empty()) {
    return FailedPrecondition("kernel cache: refusing to make ", path, ": it would be taken for a ",
                              "companion of ", owner, "; choose another path");
  }
  TW_RETURN_IF_ERROR(RefuseCompanions(path));
  if (lstat(path.c_str(), &info) != 0) return absl::OkStatus();
  if (S_ISLNK(info.st_mode)) {
    return FailedPrecondition("kernel cache: refusing to replace ", path,
                              ": expected a regular file, got a symbolic link");
  }
  TW_RETURN_IF_ERROR(RefuseIrregular(path));
  if (info.st_size == 0) return absl::OkStatus();
  TW_ASSIGN_OR_RETURN(const std::optional<int64_t> application, ReadApplicationId(path));
  if (application != kApplicationId && !HoldsRows(path)) {
    return FailedPrecondition("kernel cache: refusing to replace ", path,
                              ": it is a file of another program, not a kernel cache");
  }
  return absl::OkStatus();
}

void UndoSwap(const std::string& path, const std::function<void()>& before_step) {
  RemoveNew(path);
  for (int n = 1; n <= kMostSetAside; ++n) {
    const std::string swap = SwapPath(path, n);
    if (!IsThere(swap)) continue;
    const std::string aside = SetAsidePath(path, n);
    bool is_whole = true;
    for (const std::string_view suffix : kCompanions) {
      const std::string saved = Cat(aside, suffix);
      const std::string name = Cat(path, suffix);
      if (!IsThere(saved)) continue;
      before_step();
      // What is there was made since, by a program that did not know of this; SQLite makes a new
      // -shm whenever it needs one.
      if (FileBytes(name) == 0) {
        rename(saved.c_str(), name.c_str());
      } else if (suffix == "-shm") {
        unlink(saved.c_str());
      } else {
        is_whole = false;
      }
    }
    SyncFolder(path);
    before_step();
    if (is_whole) unlink(aside.c_str());  // else both stay, for people
    before_step();
    unlink(swap.c_str());  // last: until then this is done again
  }
}

absl::StatusOr<RepairReport> Repair(const std::string& path,
                                    std::chrono::milliseconds writers_timeout,
                                    const std::function<void()>& before_step) {
  UndoSwap(path, before_step);
  TW_ASSIGN_OR_RETURN(const std::unique_ptr<OldFile> old, OldFile::Open(path, writers_timeout));
  before_step();
  const Inventory inventory = TakeInventory(path);
  before_step();
  auto kept = BuildFresh(path, old->db(), old->wal(), inventory);
  before_step();
  if (const int error = std::max(old->db().error(), old->wal().error()); error != 0) {
    RemoveNew(path);
    return PutOff(path, strerror(error));
  }
  if (!kept.ok() && !absl::IsResourceExhausted(kept.status())) {
    // A disk that fails to read what was just written is damage to SQLite.
    kept = BuildFresh(path, old->db(), old->wal(), inventory);
    if (!kept.ok() && HoldsRows(path)) {
      RemoveNew(path);
      return PutOff(path, std::string(kept.status().message()));
    }
    if (!kept.ok()) kept = BuildEmpty(path);
  }
  if (!kept.ok()) {
    // A full disk, or a folder that cannot be written: the file is left for a better day.
    RemoveNew(path);
    return ResourceExhausted("kernel cache: cannot rebuild ", path, ": ",
                             std::string(kept.status().message()));
  }
  const int n = MakeRoom(path);
  RepairReport report{SetAsidePath(path, n), *std::move(kept), absl::OkStatus()};
  if (absl::Status swapped = Swap(path, *old, n, before_step); !swapped.ok()) {
    UndoSwap(path, before_step);
    return swapped;
  }
  if (old->is_locked()) return report;
  before_step();
  auto late = SalvageInto(path, old->db(), old->wal(), Inventory());
  report.late_rows = late.status();
  if (late.ok()) report.salvaged.kept += late->kept;
  return report;
}

int64_t CountSetAside(const std::string& path) {
  if (path.empty()) return 0;
  int64_t count = 0;
  for (int n = 1; n <= kMostSetAside; ++n) {
    if (IdOf(SetAsidePath(path, n)) != FileId{}) ++count;
  }
  return count;
}

}  // namespace tilewright
