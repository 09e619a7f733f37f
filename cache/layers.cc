#include "cache/layers.h"

#include <unistd.h>

#include <ctime>
#include <utility>

#include "cache/repair.h"
#include "cache/transfer.h"
#include "manifest/status.h"

namespace tilewright {
namespace {

constexpr auto kRetryAfter = std::chrono::seconds(30);
constexpr auto kFlushAfter = std::chrono::seconds(5);
// After one lock was waited for in vain, the next calls wait this long, for kRetryAfter.
constexpr auto kImpatientTimeout = std::chrono::milliseconds(20);
constexpr auto kCloseTimeout = std::chrono::milliseconds(200);
constexpr int kMostRepairs = 3;

std::string_view Words(const absl::Status& status) {
  return {status.message().data(), status.message().size()};
}

}  // namespace

absl::StatusOr<std::unique_ptr<Store>> OpenReadOnlyStore(const std::string& path,
                                                         std::chrono::milliseconds busy_timeout) {
  using Mode = Connection::Mode;
  bool has_wal = FileBytes(path + "-wal") > 0;
  if (FolderIsWritable(path) || has_wal) {
    auto store = Store::Open(path, Mode::kReadOnly, busy_timeout);
    if (store.ok() || !absl::IsResourceExhausted(store.status())) return store;
  }
  return Store::Open(path, Mode::kImmutable, busy_timeout);
}

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

Layers::~Layers() {
  if (!FileIsWritable()) return;
  file_->db().SetBusyTimeout(kCloseTimeout);
  flush_at_ = {};
  FlushMemory();
  if (!touched_.empty()) (void)WriteFile([](Store&) { return absl::OkStatus(); });
  CloseFile();
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

int64_t Layers::NowUnix() const {
  return options_.env.now_unix ? options_.env.now_unix() : static_cast<int64_t>(time(nullptr));
}

std::string Layers::mode() const {
  if (file_ == nullptr) return "memory";
  return file_->writable() ? journal_mode_ : "read-only";
}

void Layers::Say(std::string topic, std::string message) {
  if (said_.insert(std::move(topic)).second) messages_.push_back(std::move(message));
}

std::vector<std::string> Layers::TakeMessages() { return std::exchange(messages_, {}); }

void Layers::NoteDamage(Store& store, std::string_view where) {
  for (const std::string& row : store.TakeDamage()) {
    ++quarantined_;
    Say(Cat("row ", where), Cat("kernel cache ", where, ": ", row,
                                "; it was damaged and is ignored, to be rebuilt; further damaged "
                                "rows are counted without a word"));
  }
}

void Layers::GoWithoutFile(std::string_view why) {
  file_.reset();
  unwritten_ = why;
  retry_at_ = Clock::now() + kRetryAfter;
  Say("memory", Cat("kernel cache ", options_.path, ": results are kept in memory only: ", why));
}

void Layers::OpenReadOnly(std::string_view why_not_writable) {
  auto store = OpenReadOnlyStore(options_.path, options_.busy_timeout);
  if (!store.ok()) {
    std::string_view why = Words(store.status());
    GoWithoutFile(why_not_writable.empty() ? why : why_not_writable);
    return;
  }
  file_ = std::move(store).value();
  unwritten_ = why_not_writable;
  if (why_not_writable.empty()) return;
  read_only_ = Cat("kernel cache ", options_.path,
                   ": read-only, new results are kept in memory only: ", why_not_writable);
  if (IsWritable(options_.path)) Say("read-only", std::exchange(read_only_, {}));
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
    auto store = OpenReadOnlyStore(path, options_.busy_timeout);
    if (store.ok()) {
      seeds_.push_back({path, std::move(store).value()});
    } else {
      Say(Cat("open ", path),
          Cat("kernel cache seed ", path, " is not used: ", Words(store.status())));
    }
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
  // A filesystem without locks is used without: SQLite's own protocol still holds.
  absl::Status opened = OpenLocked(true);
  // Nothing is left beside a file that is refused or cannot be made.
  if (!was_used_ && (!opened.ok() || IdOf(options_.path) == FileId{})) {
    unlink(LockPath(options_.path).c_str());
  }
  return opened;
}

absl::Status Layers::OpenLocked(bool may_repair) {
  const std::string& path = options_.path;
  // An emptied file beside a WAL: SQLite would drop the WAL and its rows.
  if (may_repair && FileBytes(path) == 0 && FileBytes(path + "-wal") > 0 &&
      IdOf(path) != FileId{}) {
    return RepairLocked("the file is empty beside its WAL");
  }
  if (absl::Status made = CreateFile(path); !made.ok()) {
    OpenReadOnly(Words(made));
    return absl::OkStatus();
  }
  file_id_ = IdOf(path);
  auto store = Store::Open(path, Connection::Mode::kReadWrite, options_.busy_timeout);
  if (absl::IsFailedPrecondition(store.status())) return store.status();
  if (absl::IsDataLoss(store.status()) && may_repair) {
    TW_RETURN_IF_ERROR(RefuseForeign(path, was_used_, /*damaged=*/true));
    return RepairLocked(Words(store.status()));
  }
  if (absl::IsUnavailable(store.status()) || absl::IsDataLoss(store.status())) {
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
  auto report = Repair(options_.path);
  if (!report.ok()) {
    OpenReadOnly(Words(report.status()));
    return absl::OkStatus();
  }
  ++quarantined_;
  Say(Cat("repair ", repairs_),
      Cat("kernel cache ", options_.path, " was damaged (", reason, "); ", report->rows_kept,
          " rows were kept, the damaged file is ", report->set_aside));
  return OpenLocked(false);
}

void Layers::RepairFile(std::string_view reason) {
  if (file_ != nullptr) {
    file_->db().LeaveWalOnClose();
    file_.reset();
  }
  auto lock = ByteLock::Open(LockPath(options_.path));
  if (lock.ok()) {
    absl::Status locked = lock->LockWithin(kOpenLockOffset, options_.busy_timeout);
    if (absl::IsUnavailable(locked)) {
      GoWithoutFile(Words(locked));
      return;
    }
  }
  // Another process may have repaired it already.
  bool replaced = IdOf(options_.path) != file_id_;
  absl::Status status = replaced ? OpenLocked(true) : RepairLocked(reason);
  if (!status.ok()) GoWithoutFile(Words(status));
}

void Layers::Refresh() {
  if (impatient_ && Clock::now() >= patient_at_) {
    impatient_ = false;
    if (file_ != nullptr) file_->db().SetBusyTimeout(options_.busy_timeout);
  }
  if (options_.path.empty() || options_.read_only || snapshot_) return;
  bool replaced = FileIsWritable() && IdOf(options_.path) != file_id_;
  bool retry = retry_at_.has_value() && Clock::now() >= *retry_at_;
  if (!replaced && !retry) return;
  if (replaced) CloseFile();
  if (absl::Status opened = OpenWritable(); !opened.ok()) GoWithoutFile(Words(opened));
}

void Layers::ShortenWaits() {
  patient_at_ = Clock::now() + kRetryAfter;
  if (file_ != nullptr) file_->db().SetBusyTimeout(kImpatientTimeout);
  impatient_ = true;
}

void Layers::Read(const std::function<absl::StatusOr<bool>(Store&)>& read) {
  Refresh();
  if (memory_ != nullptr && read(*memory_).value_or(false)) return;
  if (file_ != nullptr) {
    auto done = read(*file_);
    if (absl::IsDataLoss(done.status()) && file_->writable()) {
      NoteDamage(*file_, options_.path);
      RepairFile(Words(done.status()));
      if (file_ != nullptr) done = read(*file_);
    }
    if (absl::IsUnavailable(done.status())) ShortenWaits();
    if (!done.ok()) Say("read", Cat("kernel cache ", options_.path, ": ", Words(done.status())));
    if (file_ != nullptr) NoteDamage(*file_, options_.path);
    if (done.value_or(false)) return;
  }
  for (Seed& seed : seeds_) {
    auto done = read(*seed.store);
    NoteDamage(*seed.store, seed.path);
    if (!done.ok()) {
      Say(Cat("read ", seed.path),
          Cat("kernel cache seed ", seed.path, ": ", Words(done.status())));
    }
    if (done.value_or(false)) return;
  }
}

absl::Status Layers::WriteFile(const std::function<absl::Status(Store&)>& write) {
  absl::Status status = file_->Write([&]() -> absl::Status {
    TW_RETURN_IF_ERROR(write(*file_));
    for (const std::string& key : touched_) TW_RETURN_IF_ERROR(file_->SetLastUsed(key, NowUnix()));
    return absl::OkStatus();
  });
  if (status.ok()) touched_.clear();
  return status;
}

absl::Status Layers::WriteMemory(const std::function<absl::Status(Store&)>& write) {
  if (memory_ == nullptr) {
    TW_ASSIGN_OR_RETURN(memory_, Store::OpenMemory());
  }
  return memory_->Write([&] { return write(*memory_); });
}

absl::Status Layers::Write(const std::function<absl::Status(Store&)>& write) {
  Refresh();
  if (!FileIsWritable()) {
    if (!read_only_.empty()) Say("read-only", std::exchange(read_only_, {}));
    return WriteMemory(write);
  }
  absl::Status status = WriteFile(write);
  if (absl::IsDataLoss(status)) {
    RepairFile(Words(status));
    if (FileIsWritable()) status = WriteFile(write);
  }
  if (status.ok()) {
    FlushMemory();
    return status;
  }
  if (absl::IsInvalidArgument(status)) {
    if (refused_.empty()) refused_ = Words(status);
    Say("refused",
        Cat("kernel cache ", options_.path, ": a result could not be stored: ", Words(status)));
    return status;
  }
  if (absl::IsUnavailable(status)) ShortenWaits();
  unwritten_ = Words(status);
  Say("write", Cat("kernel cache ", options_.path,
                   " cannot be written, new results are kept in memory: ", Words(status)));
  return WriteMemory(write);
}

void Layers::FlushMemory() {
  if (memory_ == nullptr || !FileIsWritable() || Clock::now() < flush_at_) return;
  flush_at_ = Clock::now() + kFlushAfter;
  absl::Status flushed =
      WriteFile([&](Store& file) { return CopyRows(*memory_, file, Conflict::kReplace); });
  if (flushed.ok()) {
    memory_.reset();
  } else {
    unwritten_ = Words(flushed);
  }
}

absl::Status Layers::Unwritten(std::string_view why) const {
  return ResourceExhausted("kernel cache ", options_.path, " could not be written: ", why);
}

absl::Status Layers::WriteThrough(const std::function<absl::Status(Store&)>& write) {
  Refresh();
  if (options_.path.empty() || options_.read_only || snapshot_) return WriteMemory(write);
  if (!FileIsWritable()) return Unwritten(unwritten_);
  absl::Status status = WriteFile(write);
  if (absl::IsDataLoss(status)) {
    RepairFile(Words(status));
    if (!FileIsWritable()) return Unwritten(unwritten_);
    status = WriteFile(write);
  }
  if (!status.ok()) return Unwritten(Words(status));
  FlushMemory();
  return status;
}

absl::Status Layers::Persist() {
  Refresh();
  if (options_.path.empty()) return absl::OkStatus();
  flush_at_ = {};
  FlushMemory();
  if (memory_ != nullptr) return Unwritten(unwritten_);
  return refused_.empty() ? absl::OkStatus() : Unwritten(refused_);
}

absl::StatusOr<int64_t> Layers::Shrink(int64_t max_bytes, std::string_view keep_key) {
  Refresh();
  if (!FileIsWritable()) {
    return memory_ == nullptr ? 0 : CollectGarbage(*memory_, max_bytes, keep_key);
  }
  auto deleted = CollectGarbage(*file_, max_bytes, keep_key);
  if (absl::IsDataLoss(deleted.status())) {
    RepairFile(Words(deleted.status()));
    if (FileIsWritable()) deleted = CollectGarbage(*file_, max_bytes, keep_key);
  }
  return deleted;
}

void Layers::EnforceLimit(std::string_view keep_key) {
  if (options_.max_bytes <= 0) return;
  Store* store = FileIsWritable() ? file_.get() : memory_.get();
  if (store == nullptr) return;
  auto bytes = store->LiveBytes();
  if (!bytes.ok() || *bytes <= options_.max_bytes) return;
  // A tenth is cleared beyond the need, so that not every put has to.
  auto deleted = Shrink(options_.max_bytes - options_.max_bytes / 10, keep_key);
  if (!deleted.ok()) {
    Say("shrink",
        Cat("kernel cache ", options_.path, ": cannot be shrunk: ", Words(deleted.status())));
  }
}

}  // namespace tilewright
