// What the command line does with a cache: statistics, checking, collecting, moving rows.
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <optional>
#include <thread>
#include <utility>

#include "cache/cache_impl.h"
#include "cache/place.h"
#include "cache/repair.h"
#include "cache/salvage.h"
#include "cache/schema.h"
#include "cache/transfer.h"
#include "manifest/status.h"
#include "manifest/text.h"

namespace tilewright {
namespace {

constexpr size_t kMergeBatch = 64;

constexpr auto kForeignTimeout = std::chrono::seconds(5);

absl::Status BeingWritten(const std::string& path) {
  return absl::UnavailableError(
      Cat("kernel cache: ", path, ": it is being written to, and could not be read whole"));
}

// Another cache file, read only; where it is damaged, what can be salvaged of it.
class ForeignFile {
 public:
  explicit ForeignFile(const std::string& path) : path_(path) {}

  absl::StatusOr<Store*> Open() {
    if (IdOf(path_) == FileId{}) return NotFound("kernel cache: no file at ", path_);
    TW_RETURN_IF_ERROR(RefuseIrregular(path_));
    if (FileBytes(path_) == 0 && FileBytes(path_ + "-wal") == 0) {
      return FailedPrecondition("kernel cache: ", path_, ": the file is empty");
    }
    TW_ASSIGN_OR_RETURN(file_, OpenReadable(path_, kForeignTimeout));
    if (file_.damage.empty()) {
      absl::Status whole = file_.store->CheckIntegrity();
      for (int i = 1; i < kMostReadings && absl::IsDataLoss(whole) && file_.store->IsStale(); ++i) {
        std::this_thread::sleep_for(kBetweenReadings);
        TW_ASSIGN_OR_RETURN(file_, OpenReadable(path_, kForeignTimeout));
        if (!file_.damage.empty()) return file_.store.get();
        whole = file_.store->CheckIntegrity();
      }
      if (whole.ok()) return file_.store.get();
      if (file_.store->IsStale()) return BeingWritten(path_);
      if (!absl::IsDataLoss(whole)) return whole;
      const std::string reason(whole.message());
      file_.store.reset();
      TW_ASSIGN_OR_RETURN(file_, ReadSalvaged(path_, reason));
    }
    return file_.store.get();
  }

  // Empty where the file is whole.
  const std::string& damage() const { return file_.damage; }

 private:
  const std::string path_;
  ReadableFile file_;
};

struct RowCounts {
  int64_t kernels = 0;
  int64_t winners = 0;
  int64_t trials = 0;
  int64_t cubin_bytes = 0;
};

// Of one store, as a check counted them.
struct RowsOfFile {
  int64_t intact = 0;
  int64_t found = 0;
};

absl::StatusOr<RowCounts> CountRows(Store& store) {
  RowCounts counts;
  TW_ASSIGN_OR_RETURN(counts.kernels, store.Count("SELECT count(*) FROM kernels"));
  TW_ASSIGN_OR_RETURN(counts.winners, store.Count("SELECT count(*) FROM winners"));
  TW_ASSIGN_OR_RETURN(counts.trials, store.Count("SELECT count(*) FROM trials"));
  TW_ASSIGN_OR_RETURN(counts.cubin_bytes,
                      store.Count("SELECT coalesce(sum(length(bytes)), 0) FROM kernel_bytes"));
  return counts;
}

// Adds what is wrong with the pages and tables of one store; returns what makes it one to be
// rebuilt, or nothing.
std::string CheckStructure(Store& store, CheckReport& report) {
  std::string broken;
  const absl::StatusOr<SchemaFindings> schema = CompareSchema(store.db());
  if (schema.ok()) {
    for (const std::string& text : schema->altered) report.problems.push_back(Cat("file: ", text));
    for (const std::string& text : schema->missing) report.problems.push_back(Cat("file: ", text));
    if (!schema->missing.empty()) broken = schema->missing.front();
  } else {
    report.problems.push_back(Cat("file: ", std::string(schema.status().message())));
  }
  // A file that is locked, or a disk that fails, is not damaged for that.
  const absl::Status whole = store.CheckIntegrity();
  if (!whole.ok()) report.problems.push_back(Cat("file: ", std::string(whole.message())));
  return absl::IsDataLoss(whole) ? std::string(whole.message()) : broken;
}

// Adds what is wrong with one store; returns what makes it one to be rebuilt, or nothing.
std::string CheckStore(Store& store, CheckReport& report) {
  std::string broken;
  const auto count = [&](auto&&...) {
    ++report.rows_checked;
    ++report.rows_found;
    return absl::OkStatus();
  };
  (void)store.TakeSwept();
  for (const absl::Status& status : {store.VisitKernels(true, count), store.VisitWinners(count),
                                     store.VisitTrials(count), store.SweepOrphans()}) {
    if (status.ok()) continue;
    report.problems.emplace_back(status.message());
    if (broken.empty() && absl::IsDataLoss(status)) broken = std::string(status.message());
  }
  for (const std::string& row : store.PeekDamage()) {
    report.problems.push_back(row);
    ++report.rows_found;
  }
  const Swept swept = store.TakeSwept();
  report.deleted += swept.deleted;
  report.not_deleted.Update(swept.kept);
  const std::string structure = CheckStructure(store, report);
  return structure.empty() ? broken : structure;
}

// What exports to `path` left that were killed. One that is still written to is spared whatever its
// number says: its process may be of another machine, or container.
void RemoveLeftPartials(const std::string& path) {
  const std::string start = std::filesystem::path(path).filename().string() + ".partial-";
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(FolderOf(path), error)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(start)) continue;
    const std::string number = name.substr(start.size());
    const auto pid = static_cast<pid_t>(std::strtol(number.c_str(), nullptr, 10));
    if (number != std::to_string(pid) || pid <= 0) continue;
    struct stat info {};
    if (kill(pid, 0) == 0 || errno != ESRCH || lstat(entry.path().c_str(), &info) != 0) continue;
    constexpr time_t kQuiet = 60;
    if (!S_ISREG(info.st_mode) || time(nullptr) - info.st_mtime < kQuiet) continue;
    unlink(entry.path().c_str());
    unlink((entry.path().string() + "-journal").c_str());
  }
}

// What keeps others from opening the cache at `path`, where there is one, which may be replaced.
absl::StatusOr<std::optional<ByteLock>> LockToReplace(const std::string& path,
                                                      std::chrono::milliseconds timeout) {
  std::optional<ByteLock> opening;
  if (IdOf(LockPath(path)) != FileId{}) {
    TW_ASSIGN_OR_RETURN(opening, ByteLock::Open(LockPath(path)));
    absl::Status locked = opening->LockWithin(kOpenLockOffset, timeout);
    if (absl::IsUnavailable(locked)) return locked;  // a system without locks does without
  }
  TW_RETURN_IF_ERROR(RefuseToReplace(path));
  return opening;
}

// Gives a finished export its name, while nobody opens what it replaces, or writes to it: whose
// journal, left by a death in that moment, would be rolled back into the new file.
absl::Status PutInPlace(const std::string& partial, const std::string& path,
                        std::chrono::milliseconds timeout) {
  TW_ASSIGN_OR_RETURN(const auto opening, LockToReplace(path, timeout));
  Connection old;
  if (FileBytes(path) > 0 && !SaysWal(path)) {
    auto db = Connection::Open(path, Connection::Mode::kReadWrite, timeout);
    if (db.ok()) old = *std::move(db);
    const absl::Status begun = db.ok() ? old.Exec("BEGIN IMMEDIATE") : db.status();
    if (absl::IsUnavailable(begun)) return begun;
  }
  // Made to be shipped: readable by all.
  if (chmod(partial.c_str(), 0644) == 0 && rename(partial.c_str(), path.c_str()) == 0) {
    return absl::OkStatus();
  }
  return ResourceExhausted("kernel cache: export: cannot write ", path, ": ", strerror(errno));
}

// DataLoss where an index may have hidden rows of a file: asked after all of them were read.
absl::Status CheckAllWasSeen(const Layers& layers, Store& store) {
  return &store == layers.memory() ? absl::OkStatus() : store.CheckIntegrity();
}

}  // namespace

absl::Status CacheImpl::Persisted() {
  Session layers(*this);
  return layers->Persist(options_.busy_timeout);
}

absl::Status CacheImpl::PersistedWithin(std::chrono::milliseconds patience) {
  {
    Session layers(*this);
    if (layers->IsKeptOut()) {
      layers->Say("wait",
                  Cat("kernel cache ", options_.path,
                      ": another process has it locked, as to repair it; waiting up to ",
                      std::chrono::duration_cast<std::chrono::seconds>(patience).count(), " s"));
    }
  }
  Session layers(*this);  // anew, so that it is said before
  return layers->Persist(patience);
}

CacheStats CacheImpl::Stats() {
  Session layers(*this);
  CacheStats stats;
  RowCounts file;
  RowCounts memory;
  layers->Read([&](Store& store) -> absl::StatusOr<bool> {
    RowCounts* counts = &store == layers->file()     ? &file
                        : &store == layers->memory() ? &memory
                                                     : nullptr;
    if (counts == nullptr) return false;
    TW_ASSIGN_OR_RETURN(*counts, CountRows(store));
    return false;
  });
  stats.path = options_.path;
  stats.mode = layers->mode();
  stats.schema_version = SchemaVersion();
  stats.kernels = file.kernels + memory.kernels;
  stats.winners = file.winners + memory.winners;
  stats.trials = file.trials + memory.trials;
  stats.cubin_bytes = file.cubin_bytes + memory.cubin_bytes;
  if (!options_.path.empty()) {
    stats.file_bytes = FileBytes(options_.path) + FileBytes(options_.path + "-wal");
  }
  stats.quarantined = layers->quarantined();
  stats.damage = layers->damage();
  stats.lost = layers->lost();
  stats.rows_lost = layers->rows_lost();
  stats.knows_all_lost = layers->knows_all_lost();
  stats.damaged_files = CountSetAside(options_.path);
  return stats;
}

CheckReport CacheImpl::Check() {
  Session layers(*this);
  CheckReport report;
  std::string broken;
  bool is_suspect = false;
  RowsOfFile in_file;
  layers->Read([&](Store& store) -> absl::StatusOr<bool> {
    CheckReport found = report;
    const std::string damage = CheckStore(store, found);
    is_suspect = found.problems.size() > report.problems.size() && store.IsStale();
    if (is_suspect) return absl::DataLossError("kernel cache: the file changed");
    if (&store == layers->file()) {
      broken = damage;
      in_file = {found.rows_checked - report.rows_checked, found.rows_found - report.rows_found};
    }
    report = std::move(found);
    return false;
  });
  if (is_suspect) report.problems.emplace_back(BeingWritten(options_.path).message());
  if (broken.empty() || !layers->FileIsWritable()) return report;
  const size_t lost_before = layers->lost().size();
  const int64_t rows_lost_before = layers->rows_lost();
  if (!layers->RepairFile(broken)) return report;
  report.rebuilt = layers->FileIsWritable();
  if (!report.rebuilt) report.problems.push_back("file: it could not be rebuilt");
  for (size_t i = lost_before; i < layers->lost().size(); ++i) {
    report.problems.push_back(Cat("lost with the damaged file: ", Escaped(layers->lost()[i])));
  }
  if (report.rebuilt) {
    report.not_deleted = absl::OkStatus();  // they are gone with the old file
    const int64_t lost = layers->rows_lost() - rows_lost_before;
    report.rows_checked += layers->rows_kept() - in_file.intact;
    report.rows_found += layers->rows_kept() + lost - in_file.found;
    report.found_all = layers->knows_all_lost();
  }
  return report;
}

absl::StatusOr<int64_t> CacheImpl::Gc(int64_t max_bytes) {
  if (max_bytes < 0) {
    return InvalidArgument("kernel cache: gc: expected max_bytes of at least 0, got ", max_bytes);
  }
  Session layers(*this);
  absl::StatusOr<int64_t> deleted = layers->Shrink(max_bytes, "");
  if (!absl::IsInvalidArgument(deleted.status())) return deleted;
  // The file's own rules, not the caller's argument.
  return FailedPrecondition("kernel cache ", options_.path,
                            ": nothing was deleted: ", deleted.status().message());
}

absl::StatusOr<ExportReport> CacheImpl::Export(const std::string& path) {
  if (IdOf(path) != FileId{} && IdOf(path) == IdOf(options_.path)) {
    return InvalidArgument("kernel cache: export: expected another path than the cache's own, got ",
                           path);
  }
  TW_RETURN_IF_ERROR(LockToReplace(path, options_.busy_timeout).status());
  Session layers(*this);
  RemoveLeftPartials(path);
  std::string partial = Cat(path, ".partial-", getpid());
  unlink(partial.c_str());
  TW_RETURN_IF_ERROR(CreateFile(partial));
  ExportReport report;
  absl::Status status = [&]() -> absl::Status {
    TW_ASSIGN_OR_RETURN(std::unique_ptr<Store> out,
                        Store::Open(partial, Connection::Mode::kReadWrite, options_.busy_timeout));
    TW_RETURN_IF_ERROR(out->Write([&] {
      absl::Status copied;
      bool is_suspect = false;
      layers->Read([&](Store& store) -> absl::StatusOr<bool> {
        absl::Status status = CopyRows(store, *out, Conflict::kKeep);
        if (status.ok()) status = CheckAllWasSeen(*layers.operator->(), store);
        is_suspect = (absl::IsDataLoss(status) || !store.PeekDamage().empty()) && store.IsStale();
        if (is_suspect) return absl::DataLossError("kernel cache: the file changed");
        for (const std::string& row : store.PeekDamage()) report.dropped.push_back(row);
        if (absl::IsDataLoss(status)) report.dropped.push_back(Cat("file: ", status.message()));
        if (!status.ok() && !absl::IsDataLoss(status)) copied = status;
        return status.ok() ? absl::StatusOr<bool>(false) : status;
      });
      return is_suspect ? BeingWritten(options_.path) : copied;
    }));
    TW_ASSIGN_OR_RETURN(const RowCounts counts, CountRows(*out));
    report.kernels = counts.kernels;
    report.winners = counts.winners;
    report.trials = counts.trials;
    return absl::OkStatus();
  }();
  if (status.ok()) status = PutInPlace(partial, path, options_.busy_timeout);
  if (status.ok()) return report;
  unlink(partial.c_str());
  return status;
}

absl::Status CacheImpl::MergeBatch(std::vector<KernelRow>& batch, MergeReport& report) {
  Session layers(*this);
  int64_t added = 0;
  report.written.Update(layers->WriteThrough([&](Store& store) -> absl::Status {
    added = 0;
    for (const KernelRow& row : batch) {
      TW_ASSIGN_OR_RETURN(Outcome outcome, store.PutKernel(row, Conflict::kBetter));
      if (outcome == Outcome::kAdded) ++added;
    }
    return absl::OkStatus();
  }));
  if (!report.written.ok()) return report.written;
  report.kernels_added += added;
  batch.clear();
  return absl::OkStatus();
}

absl::Status CheckIsCache(const std::string& path) {
  ForeignFile file(path);
  return file.Open().status();
}

void RemoveEmptyCache(const std::string& path) {
  auto lock = ByteLock::Open(LockPath(path));
  if (!lock.ok() || !lock->LockWithin(kOpenLockOffset, kForeignTimeout).ok()) return;
  if (HoldsRows(path)) return;
  for (const char* suffix : {"-wal", "-shm", "-journal", "", ".lock"}) {
    unlink((path + suffix).c_str());
  }
}

absl::StatusOr<MergeReport> CacheImpl::Merge(const std::string& path) {
  MergeReport report;
  if (!options_.path.empty() && IdOf(path) == IdOf(options_.path) && IdOf(path) != FileId{}) {
    return report;
  }
  ForeignFile file(path);
  TW_ASSIGN_OR_RETURN(Store * from, file.Open());
  {
    // A row that an index hides would be counted as one that was added.
    Session layers(*this);
    layers->Read([&](Store& store) -> absl::StatusOr<bool> {
      if (&store == layers->file()) TW_RETURN_IF_ERROR(store.CheckIntegrity());
      return false;
    });
  }
  std::vector<KernelRow> batch;
  absl::StatusOr<ForeignRows> rows = ReadForeign(*from, [&](KernelRow row) {
    batch.push_back(std::move(row));
    return batch.size() < kMergeBatch ? absl::OkStatus() : MergeBatch(batch, report);
  });
  if (report.written.ok()) {
    TW_RETURN_IF_ERROR(rows.status());
    report.rejected = std::move(rows->rejected);
  }
  if (!file.damage().empty()) report.rejected.insert(report.rejected.begin(), file.damage());
  if (!report.written.ok() || !MergeBatch(batch, report).ok()) return report;
  MergeReport counted;
  Session layers(*this);
  report.written = layers->WriteThrough([&](Store& store) -> absl::Status {
    counted = report;
    for (const WinnerRow& row : rows->winners) {
      TW_ASSIGN_OR_RETURN(Outcome outcome, store.PutWinner(row, Conflict::kBetter));
      counted.winners_added += outcome == Outcome::kAdded ? 1 : 0;
      counted.winners_replaced += outcome == Outcome::kReplaced ? 1 : 0;
    }
    for (const TrialRow& row : rows->trials) {
      TW_ASSIGN_OR_RETURN(Outcome outcome, store.PutTrial(row, Conflict::kBetter));
      counted.trials_added += outcome == Outcome::kAdded ? 1 : 0;
    }
    return absl::OkStatus();
  });
  layers->EnforceLimit("");
  return report.written.ok() ? counted : report;
}

absl::StatusOr<CacheDiff> CacheImpl::Diff(const std::string& path) {
  Summaries right;
  std::vector<std::string> damaged;
  // Another name of the cache's own file would be given a WAL of its own.
  const bool is_same = IdOf(path) != FileId{} && IdOf(path) == IdOf(options_.path);
  if (!is_same) {
    ForeignFile file(path);
    TW_ASSIGN_OR_RETURN(Store * other, file.Open());
    TW_RETURN_IF_ERROR(Summarize(*other, right));
    if (!file.damage().empty()) damaged.push_back(Cat(path, ": ", file.damage()));
    for (const std::string& row : other->TakeDamage()) {
      damaged.push_back(Cat(row, "; damaged in ", path));
    }
  }
  Summaries left;
  Session layers(*this);
  layers->Read([&](Store& store) -> absl::StatusOr<bool> {
    TW_RETURN_IF_ERROR(Summarize(store, left));
    TW_RETURN_IF_ERROR(CheckAllWasSeen(*layers.operator->(), store));
    for (const std::string& row : store.PeekDamage()) damaged.push_back(Cat(row, "; damaged"));
    return false;
  });
  CacheDiff diff = Compare(left, is_same ? left : right);
  diff.differing.insert(diff.differing.end(), damaged.begin(), damaged.end());
  return diff;
}

}  // namespace tilewright
