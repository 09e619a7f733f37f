#include "cache/repair.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <map>
#include <set>
#include <vector>

#include "cache/bounds.h"
#include "cache/page_scan.h"
#include "cache/place.h"
#include "cache/rows.h"
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

// Collects the intact rows of a scan. A kernel is known by the checksum of its bytes, which may
// come later in the file, so kernels wait until the end.
class Salvager {
 public:
  explicit Salvager(Store& fresh) : fresh_(fresh) {}

  void Take(Record record) {
    if (!status_.ok()) return;
    if (auto bytes = DecodeBytes(record)) {
      found_.insert(Cat("kernel ", bytes->key));
      if (BytesSum(bytes->key, bytes->bytes) == bytes->sum) Keep(std::move(*bytes));
    } else if (auto kernel = DecodeKernel(record)) {
      found_.insert(Cat("kernel ", kernel->row.key));
      heads_[kernel->row.key].push_back(std::move(*kernel));
    } else if (auto winner = DecodeWinner(record)) {
      const std::string name = Cat("winner ", winner->row.key);
      found_.insert(name);
      if (!FlawOf(*winner).empty()) return;
      Count(name, fresh_.PutWinner(winner->row, Conflict::kNewer));
    } else if (auto trial = DecodeTrial(record)) {
      const std::string name = Cat("trial ", trial->row.problem_key, " ", trial->row.config_json,
                                   " ", trial->row.closure_digest);
      found_.insert(name);
      if (!FlawOf(*trial).empty()) return;
      Count(name, fresh_.PutTrial(trial->row, Conflict::kNewer));
    }
  }

  // Cubins whose head was read before them are stored at once; call between scans for the others.
  absl::StatusOr<int64_t> Finish() {
    if (!status_.ok()) return status_;
    return kept_;
  }
  // Rows that left a trace, of which no version was intact.
  int64_t lost() const { return static_cast<int64_t>(found_.size() - kept_names_.size()); }
  bool wants_second_scan() const { return deferred_; }

 private:
  void Keep(BytesRow bytes) {
    auto heads = heads_.find(bytes.key);
    if (heads == heads_.end()) {
      deferred_ = true;
      return;
    }
    for (const auto& head : heads->second) {
      if (!FlawOf(head, bytes.sum).empty()) continue;
      if (!FlawOfBytes(head.row, bytes.sum, bytes.bytes).empty()) continue;
      KernelRow row = head.row;
      row.cubin = std::move(bytes.bytes);
      Count(Cat("kernel ", row.key), fresh_.PutKernel(row, Conflict::kKeep));
      return;
    }
  }
  void Count(const std::string& name, const absl::StatusOr<Outcome>& outcome) {
    if (!outcome.ok()) {
      if (!absl::IsInvalidArgument(outcome.status())) status_ = outcome.status();
      return;
    }
    kept_names_.insert(name);
    if (*outcome == Outcome::kAdded) ++kept_;
  }

  Store& fresh_;
  std::map<std::string, std::vector<Stored<KernelRow>>> heads_;
  int64_t kept_ = 0;
  std::set<std::string> found_;  // names of rows, whole or not
  std::set<std::string> kept_names_;
  bool deferred_ = false;  // bytes were met before their head
  absl::Status status_;
};

absl::StatusOr<int64_t> BuildFresh(const std::string& path, const std::string& db_path,
                                   const std::string& wal_path) {
  unlink(path.c_str());
  unlink((path + "-journal").c_str());
  TW_RETURN_IF_ERROR(CreateFile(path));
  TW_ASSIGN_OR_RETURN(std::unique_ptr<Store> fresh,
                      Store::Open(path, Connection::Mode::kReadWrite, std::chrono::seconds(5)));
  return Salvage(db_path, wal_path, *fresh);
}

// True where some row of the file is intact.
bool HoldsRows(const std::string& path) {
  bool found = false;
  const std::string wal = FileBytes(path + "-wal") > 0 ? path + "-wal" : "";
  ScanRecords(path, wal, [&](Record record) {
    if (found) return;
    if (auto bytes = DecodeBytes(record)) {
      found = BytesSum(bytes->key, bytes->bytes) == bytes->sum;
    } else if (auto winner = DecodeWinner(record)) {
      found = FlawOf(*winner).empty();
    } else if (auto trial = DecodeTrial(record)) {
      found = FlawOf(*trial).empty();
    }
  });
  return found;
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

absl::StatusOr<int64_t> Salvage(const std::string& db_path, const std::string& wal_path,
                                Store& fresh, int64_t* lost) {
  Salvager salvager(fresh);
  TW_RETURN_IF_ERROR(fresh.Write([&]() -> absl::Status {
    auto sink = [&](Record record) { salvager.Take(record); };
    // Newest first: rows of the WAL stay where the file alone has older ones.
    std::vector<std::string> overlays = {""};
    if (FileBytes(wal_path) > 0) overlays.insert(overlays.begin(), wal_path);
    for (const std::string& overlay : overlays) {
      ScanRecords(db_path, overlay, sink);
      if (salvager.wants_second_scan()) ScanRecords(db_path, overlay, sink);
    }
    return salvager.Finish().status();
  }));
  if (lost != nullptr) *lost = salvager.lost();
  return salvager.Finish();
}

absl::StatusOr<RepairReport> Repair(const std::string& path) {
  RepairReport report;
  report.set_aside = SetAsidePath(path);
  std::string wal_aside = report.set_aside + "-wal";
  std::string fresh_path = path + ".new";
  rename((path + "-wal").c_str(), wal_aside.c_str());
  auto kept = BuildFresh(fresh_path, path, wal_aside);
  if (!kept.ok()) {
    // Whatever stood in the way of keeping rows, an empty cache is better than a damaged one.
    unlink(fresh_path.c_str());
    unlink((fresh_path + "-journal").c_str());
  } else {
    report.rows_kept = *kept;
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
  if (kept.ok() && rename(fresh_path.c_str(), path.c_str()) != 0) report.rows_kept = 0;
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
