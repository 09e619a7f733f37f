// Opening, repairing and reopening the file behind a cache.
#include <unistd.h>

#include <thread>
#include <utility>

#include "cache/layers.h"
#include "cache/repair.h"
#include "cache/salvage.h"
#include "cache/schema.h"
#include "manifest/status.h"

namespace tilewright {
namespace {

constexpr int kMostRepairs = 3;

}  // namespace

absl::StatusOr<std::unique_ptr<Layers>> Layers::Open(const CacheOptions& options, bool forked) {
  std::unique_ptr<Layers> layers(new Layers(options));
  layers->snapshot_ = forked;
  if (options.path.empty()) {
    TW_RETURN_IF_ERROR(layers->WriteMemory([](Store&) { return absl::OkStatus(); }));
  } else if (forked) {
    layers->OpenSnapshot();
  } else if (options.read_only) {
    layers->OpenReadOnly("");
  } else {
    TW_RETURN_IF_ERROR(layers->OpenWritable());
  }
  layers->OpenSeeds();
  return layers;
}

void Layers::CloseFile() {
  if (file_ == nullptr) return;
  // Closing the last connection unlinks the WAL by its name. Another process may have replaced the
  // file meanwhile, and then the name is the new file's: so closing takes the open lock.
  auto lock = ByteLock::Open(LockPath(options_.path));
  bool ours = lock.ok() && lock->LockWithin(kOpenLockOffset, kCloseTimeout).ok() &&
              IdOf(options_.path) == file_id_;
  if (!ours) file_->db().LeaveWalOnClose();
  file_.reset();
}

bool Layers::AwaitOpenLock(std::chrono::milliseconds patience) const {
  const std::string path = LockPath(options_.path);
  if (IdOf(path) == FileId{}) return true;
  auto lock = ByteLock::Open(path);
  return !lock.ok() || !absl::IsUnavailable(lock->LockWithin(kOpenLockOffset, patience));
}

void Layers::GoWithoutFile(std::string_view why) {
  file_.reset();
  unwritten_ = why;
  retry_at_ = Clock::now() + kRetryAfter;
  Say("memory", Cat("kernel cache ", options_.path, ": results are kept in memory only: ", why));
}

void Layers::OpenReadOnly(std::string_view why_not_writable) {
  auto opened = OpenReadable(options_.path, options_.busy_timeout);
  if (!opened.ok()) {
    const std::string why(Words(opened.status()));
    GoWithoutFile(why_not_writable.empty() ? why : Cat(why_not_writable, "; ", why));
    return;
  }
  TakeReadable(*std::move(opened));
  unwritten_ = why_not_writable;
  if (why_not_writable.empty()) return;
  read_only_ = Cat("kernel cache ", options_.path,
                   ": read-only, new results are kept in memory only: ", why_not_writable);
  if (IsWritable(options_.path)) Say("read-only", std::exchange(read_only_, {}));
}

void Layers::TakeReadable(ReadableFile readable) {
  file_ = std::move(readable.store);
  if (readable.damage.empty()) return;
  damage_ = readable.damage;
  NoteSalvaged(readable.salvaged);
  ++quarantined_;
  Say("salvaged",
      Cat("kernel cache ", options_.path, ": ", readable.damage, "; it cannot be repaired here"));
}

void Layers::SalvageFile(std::string_view reason) {
  file_.reset();
  auto salvaged = ReadSalvaged(options_.path, reason);
  if (salvaged.ok()) {
    TakeReadable(*std::move(salvaged));
  } else {
    GoWithoutFile(reason);
  }
}

void Layers::NoteSalvaged(const Salvaged& salvaged) {
  rows_kept_ = salvaged.kept;
  rows_lost_ += static_cast<int64_t>(salvaged.lost.size());
  knows_all_lost_ = knows_all_lost_ && salvaged.knows_all;
  NoteLost(salvaged.lost);
}

void Layers::NoteLost(const std::vector<std::string>& names) {
  constexpr size_t kMostNamed = 1000;
  for (const std::string& name : names) {
    if (lost_.size() < kMostNamed) lost_.push_back(name);
  }
}

void Layers::OpenSnapshot() {
  Say("fork",
      Cat("kernel cache ", options_.path,
          ": this process was forked from one that uses it; it reads a snapshot and keeps new "
          "results in memory only"));
  auto store = Store::Open(options_.path, Connection::Mode::kImmutable, options_.busy_timeout);
  if (store.ok()) file_ = std::move(store).value();
}

void Layers::OpenSeeds() {
  for (const std::string& path : options_.seed_paths) {
    auto opened = OpenReadable(path, options_.busy_timeout);
    if (!opened.ok()) {
      Say(Cat("open ", path),
          Cat("kernel cache seed ", path, " is not used: ", Words(opened.status())));
      continue;
    }
    if (!opened->damage.empty()) {
      Say(Cat("open ", path), Cat("kernel cache seed ", path, ": ", opened->damage));
    }
    seeds_.push_back({path, std::move(opened->store)});
  }
}

absl::Status Layers::OpenWritable() {
  retry_at_.reset();
  read_only_.clear();
  TW_RETURN_IF_ERROR(RefuseIrregular(options_.path));
  absl::Status folder = PrepareFolder(options_.path);
  if (absl::IsFailedPrecondition(folder)) return folder;
  if (!folder.ok()) {
    GoWithoutFile(Words(folder));
    return absl::OkStatus();
  }
  // Every cache that was opened to be written has a lock file beside it.
  was_used_ = IdOf(LockPath(options_.path)) != FileId{};
  if (!was_used_) TW_RETURN_IF_ERROR(RefuseForeign(options_.path, false, /*damaged=*/false));
  if (!FileMayBeWritten(options_.path)) {
    // Who may not write the file leaves nothing beside it, which its owner would have to refuse.
    OpenReadOnly("the file cannot be written");
    return absl::OkStatus();
  }
  auto lock = ByteLock::Open(LockPath(options_.path));
  if (!lock.ok()) {
    OpenReadOnly(Words(lock.status()));
    return absl::OkStatus();
  }
  absl::Status locked = lock->LockWithin(kOpenLockOffset, options_.busy_timeout);
  if (absl::IsUnavailable(locked)) {
    GoWithoutFile(Words(locked));
    return absl::OkStatus();
  }
  if (locked.ok()) UndoSwap(options_.path);
  if (HasOtherNames(options_.path)) {
    OpenReadOnly("the file has another name (a hard link), and each name has a WAL of its own");
    return absl::OkStatus();
  }
  // A filesystem without locks is used without: SQLite's own protocol still holds.
  absl::Status opened = OpenFile(locked.ok() ? OnDamage::kRepair : OnDamage::kReadIntact);
  // Nothing is left beside a file that is refused or cannot be made.
  if (!was_used_ && (!opened.ok() || IdOf(options_.path) == FileId{})) {
    unlink(LockPath(options_.path).c_str());
  }
  return opened;
}

absl::Status Layers::TakeDamaged(OnDamage on_damage, std::string_view reason) {
  if (on_damage == OnDamage::kRepair) return RepairLocked(reason);
  if (on_damage == OnDamage::kReadIntact) {
    // Two repairs at once could each undo the other's.
    SalvageFile(reason);
    unwritten_ = "the file is damaged, and cannot be locked, so that it is not repaired";
  } else {
    GoWithoutFile(reason);
  }
  return absl::OkStatus();
}

absl::Status Layers::OpenFile(OnDamage on_damage) {
  const std::string& path = options_.path;
  // An emptied file beside a WAL: SQLite would drop the WAL and its rows.
  if (FileBytes(path) == 0 && FileBytes(path + "-wal") > 0 && IdOf(path) != FileId{}) {
    return TakeDamaged(on_damage, "the file is empty beside its WAL");
  }
  const bool is_new = IdOf(path) == FileId{};
  if (absl::Status made = CreateFile(path); !made.ok()) {
    OpenReadOnly(Words(made));
    return absl::OkStatus();
  }
  file_id_ = IdOf(path);
  auto store = Store::Open(path, Connection::Mode::kReadWrite, options_.busy_timeout);
  // A disk that failed to read once is damage to SQLite.
  if (absl::IsDataLoss(store.status())) {
    store = Store::Open(path, Connection::Mode::kReadWrite, options_.busy_timeout);
  }
  if (is_new && absl::IsResourceExhausted(store.status())) {
    // A full disk gets no file without tables.
    for (const char* suffix : {"", "-journal"}) unlink((path + suffix).c_str());
    GoWithoutFile(Words(store.status()));
    return absl::OkStatus();
  }
  if (absl::IsFailedPrecondition(store.status())) return store.status();
  if (absl::IsDataLoss(store.status())) {
    if (on_damage != OnDamage::kGiveUp) {
      TW_RETURN_IF_ERROR(RefuseForeign(path, was_used_, /*damaged=*/true));
    }
    return TakeDamaged(on_damage, Words(store.status()));
  }
  if (absl::IsUnavailable(store.status())) {
    GoWithoutFile(Words(store.status()));
  } else if (!store.ok()) {
    OpenReadOnly(Words(store.status()));
  } else if ((*store)->db().IsReadOnly()) {
    store->reset();
    OpenReadOnly("the file cannot be written");
  } else {
    file_ = std::move(store).value();
    SetJournalMode();
  }
  return absl::OkStatus();
}

void Layers::SetJournalMode() {
  bool network = IsNetworkFilesystem(options_.path, options_.env);
  Connection& db = file_->db();
  auto mode = db.QueryText(network ? "PRAGMA journal_mode = DELETE" : "PRAGMA journal_mode = WAL");
  // Another program's lock may be in the way: the file then keeps the mode it has.
  if (!mode.ok()) mode = db.QueryText("PRAGMA journal_mode");
  journal_mode_ = mode.value_or("delete");
  if (network && journal_mode_ == "wal") {
    CloseFile();
    GoWithoutFile("on a network filesystem, and in use with a WAL elsewhere");
    return;
  }
  // In a WAL, NORMAL loses nothing when a process dies.
  if (journal_mode_ == "wal") (void)db.Exec("PRAGMA synchronous = NORMAL");
  (void)db.Exec("PRAGMA journal_size_limit = 67108864");
}

absl::Status Layers::RepairLocked(std::string_view reason) {
  if (++repairs_ > kMostRepairs) {
    GoWithoutFile(Cat("damaged again and again: ", reason));
    return absl::OkStatus();
  }
  auto report = Repair(options_.path, options_.busy_timeout);
  if (!report.ok()) {
    OpenReadOnly(Words(report.status()));
    if (absl::IsUnavailable(report.status())) {
      // Somebody writes for long: it is tried again.
      --repairs_;
      retry_at_ = Clock::now() + kRetryAfter;
    }
    return absl::OkStatus();
  }
  ++quarantined_;
  const Salvaged& salvaged = report->salvaged;
  damage_ = Cat("it was damaged and was rebuilt from its intact rows", LostText(salvaged));
  NoteSalvaged(salvaged);
  Say(Cat("repair ", repairs_),
      Cat("kernel cache ", options_.path, " was damaged (", reason, "); ", salvaged.kept,
          " rows were kept, the damaged file is ", report->set_aside, LostText(salvaged),
          report->late_rows.ok() ? "" : "; what was written meanwhile may be there only: ",
          Words(report->late_rows)));
  return OpenFile(OnDamage::kGiveUp);
}

absl::Status Layers::ReadAnew() const {
  auto store = Store::Open(options_.path, Connection::Mode::kReadWrite, options_.busy_timeout);
  TW_RETURN_IF_ERROR(store.status());
  TW_RETURN_IF_ERROR((*store)->CheckIntegrity());
  const auto schema = CompareSchema((*store)->db());
  TW_RETURN_IF_ERROR(schema.status());
  return schema->missing.empty() ? absl::OkStatus() : absl::DataLossError(schema->missing.front());
}

void Layers::PutRepairOff(std::string_view why) {
  file_.reset();
  OpenReadOnly(why);
  retry_at_ = Clock::now() + kRetryAfter;
}

bool Layers::RepairFile(std::string_view reason) {
  if (!FileIsWritable()) {
    SalvageFile(reason);
    return true;
  }
  // A disk that failed to read once is damage to SQLite.
  constexpr int kMostMistaken = 3;
  if (mistaken_ < kMostMistaken) {
    absl::Status whole = ReadAnew();
    for (int i = 1; i < kMostReadings && absl::IsResourceExhausted(whole); ++i) whole = ReadAnew();
    if (whole.ok()) {
      ++mistaken_;
      Reopen();
      return false;
    }
    if (absl::IsResourceExhausted(whole)) {
      PutRepairOff(Words(whole));
      return true;
    }
  }
  if (file_ != nullptr) {
    file_->db().LeaveWalOnClose();
    file_.reset();
  }
  auto lock = ByteLock::Open(LockPath(options_.path));
  absl::Status locked = lock.status();
  if (lock.ok()) locked = lock->LockWithin(kOpenLockOffset, options_.busy_timeout);
  if (absl::IsUnavailable(locked)) {
    GoWithoutFile(Words(locked));
    return true;
  }
  const OnDamage on_damage = locked.ok() ? OnDamage::kRepair : OnDamage::kReadIntact;
  // Another process may have repaired it already.
  bool replaced = IdOf(options_.path) != file_id_;
  absl::Status status = replaced ? OpenFile(on_damage) : TakeDamaged(on_damage, reason);
  if (!status.ok()) GoWithoutFile(Words(status));
  return true;
}

bool Layers::ReopenStale() {
  std::this_thread::sleep_for(kBetweenReadings);
  auto opened = OpenReadable(options_.path, options_.busy_timeout);
  if (!opened.ok()) return false;
  file_.reset();
  TakeReadable(*std::move(opened));
  return true;
}

void Layers::Refresh() {
  if (impatient_ && Clock::now() >= patient_at_) {
    impatient_ = false;
    if (file_ != nullptr) file_->db().SetBusyTimeout(options_.busy_timeout);
  }
  if (options_.path.empty() || options_.read_only || snapshot_) return;
  bool replaced = FileIsWritable() && IdOf(options_.path) != file_id_;
  bool retry = retry_at_.has_value() && Clock::now() >= *retry_at_;
  if (replaced || retry) Reopen();
}

void Layers::Reopen() {
  if (FileIsWritable()) CloseFile();
  if (absl::Status opened = OpenWritable(); !opened.ok()) GoWithoutFile(Words(opened));
}

}  // namespace tilewright
