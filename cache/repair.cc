#include "cache/repair.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <vector>

#include "cache/page_scan.h"
#include "cache/place.h"
#include "cache/schema.h"
#include "manifest/status.h"

namespace tilewright {
namespace {

// Damaged files kept for inspection; the oldest makes room.
constexpr int kMostSetAside = 8;

std::string SetAsidePath(const std::string& path) {
  std::string oldest;
  time_t oldest_time = 0;
  for (int n = 1; n <= kMostSetAside; ++n) {
    std::string candidate = Cat(path, ".corrupt-", n);
    struct stat info {};
    if (lstat(candidate.c_str(), &info) != 0) return candidate;
    if (oldest.empty() || info.st_mtime < oldest_time) {
      oldest = candidate;
      oldest_time = info.st_mtime;
    }
  }
  unlink(oldest.c_str());
  unlink((oldest + "-wal").c_str());
  return oldest;
}

absl::StatusOr<Salvaged> BuildFresh(const std::string& path, const std::string& db_path,
                                    const std::string& wal_path, const Inventory& inventory) {
  unlink(path.c_str());
  unlink((path + "-journal").c_str());
  TW_RETURN_IF_ERROR(CreateFile(path));
  TW_ASSIGN_OR_RETURN(std::unique_ptr<Store> fresh,
                      Store::Open(path, Connection::Mode::kReadWrite, std::chrono::seconds(5)));
  return Salvage(db_path, wal_path, inventory, *fresh);
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

absl::Status RefuseToReplace(const std::string& path) {
  struct stat info {};
  if (lstat(path.c_str(), &info) != 0) return absl::OkStatus();
  if (S_ISLNK(info.st_mode)) {
    return FailedPrecondition("kernel cache: refusing to replace ", path,
                              ": expected a regular file, got a symbolic link");
  }
  TW_RETURN_IF_ERROR(RefuseIrregular(path));
  if (FileBytes(path + "-wal") > 0) {
    return FailedPrecondition("kernel cache: refusing to replace ", path,
                              ": it is in use (it has a WAL)");
  }
  if (info.st_size == 0) return absl::OkStatus();
  TW_ASSIGN_OR_RETURN(const std::optional<int64_t> application, ReadApplicationId(path));
  if (application == kApplicationId || HoldsRows(path)) return absl::OkStatus();
  return FailedPrecondition("kernel cache: refusing to replace ", path,
                            ": it is a file of another program, not a kernel cache");
}

absl::StatusOr<RepairReport> Repair(const std::string& path) {
  RepairReport report;
  report.set_aside = SetAsidePath(path);
  std::string wal_aside = report.set_aside + "-wal";
  std::string fresh_path = path + ".new";
  const Inventory inventory = TakeInventory(path);
  rename((path + "-wal").c_str(), wal_aside.c_str());
  auto kept = BuildFresh(fresh_path, path, wal_aside, inventory);
  if (!kept.ok()) {
    unlink(fresh_path.c_str());
    unlink((fresh_path + "-journal").c_str());
    if (absl::IsResourceExhausted(kept.status())) {
      // A full disk, or a folder that cannot be written: the file is left for a better day.
      rename(wal_aside.c_str(), (path + "-wal").c_str());
      return kept.status();
    }
    // Whatever else stood in the way of keeping rows, an empty cache is better than a damaged one.
  } else {
    report.salvaged = *kept;
  }
  unlink((path + "-shm").c_str());
  unlink((path + "-journal").c_str());
  if (kept.ok() && link(path.c_str(), report.set_aside.c_str()) == 0) {
    if (rename(fresh_path.c_str(), path.c_str()) == 0) return report;
  }
  // No hard links here, or no new file: two steps.
  unlink(report.set_aside.c_str());
  if (rename(path.c_str(), report.set_aside.c_str()) != 0) {
    return ResourceExhausted("kernel cache: cannot set the damaged file ", path,
                             " aside: ", strerror(errno));
  }
  if (kept.ok() && rename(fresh_path.c_str(), path.c_str()) != 0) report.salvaged = {};
  return report;
}

int64_t CountSetAside(const std::string& path) {
  if (path.empty()) return 0;
  int64_t count = 0;
  for (int n = 1; n <= kMostSetAside; ++n) {
    if (IdOf(Cat(path, ".corrupt-", n)) != FileId{}) ++count;
  }
  return count;
}

}  // namespace tilewright
