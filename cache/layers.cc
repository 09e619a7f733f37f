#include "cache/layers.h"

#include <ctime>
#include <utility>

#include "cache/salvage.h"
#include "cache/transfer.h"
#include "manifest/status.h"

namespace tilewright {
namespace {

constexpr auto kFlushAfter = std::chrono::seconds(5);
// After one lock was waited for in vain, the next calls wait this long, for kRetryAfter.
constexpr auto kImpatientTimeout = std::chrono::milliseconds(20);

}  // namespace

Layers::~Layers() {
  if (!FileIsWritable()) return;
  file_->db().SetBusyTimeout(kCloseTimeout);
  flush_at_ = {};
  FlushMemory();
  if (!touched_.empty()) (void)WriteFile([](Store&) { return absl::OkStatus(); });
  CloseFile();
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
    NoteLost({row});
    Say(Cat("row ", where), Cat("kernel cache ", where, ": ", row,
                                "; it was damaged and is ignored, to be rebuilt; those that follow "
                                "are counted (cache stats), not named"));
  }
}

std::chrono::milliseconds Layers::BusyTimeout() const {
  return impatient_ ? kImpatientTimeout : options_.busy_timeout;
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
    const auto is_suspect = [&] {
      return file_ != nullptr && !snapshot_ && file_->IsStale() &&
             (absl::IsDataLoss(done.status()) || !file_->PeekDamage().empty());
    };
    for (int i = 1; i < kMostReadings && is_suspect() && ReopenStale(); ++i) done = read(*file_);
    if (is_suspect()) {
      Say("stale", Cat("kernel cache ", options_.path,
                       ": it is being written to, and could not be read whole"));
      (void)file_->TakeDamage();
      return;
    }
    // A snapshot of a file that its owner goes on writing proves nothing.
    if (absl::IsDataLoss(done.status()) && !snapshot_) {
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
    if (absl::IsDataLoss(done.status())) {
      auto salvaged = seed.store->IsStale() ? OpenReadable(seed.path, options_.busy_timeout)
                                            : ReadSalvaged(seed.path, Words(done.status()));
      if (salvaged.ok()) {
        if (!salvaged->damage.empty()) {
          Say(Cat("read ", seed.path),
              Cat("kernel cache seed ", seed.path, ": ", salvaged->damage));
        }
        seed.store = std::move(salvaged->store);
        done = read(*seed.store);
      }
    }
    if (!done.ok()) {
      Say(Cat("read ", seed.path),
          Cat("kernel cache seed ", seed.path, ": ", Words(done.status())));
    }
    if (done.value_or(false)) return;
  }
}

absl::Status Layers::OnFileInPlace(const std::function<absl::Status()>& write) {
  constexpr int kMostTries = 4;
  absl::Status status = write();
  for (int i = 1; i < kMostTries && absl::IsAborted(status); ++i) {
    Reopen();
    if (!FileIsWritable()) return Unwritten(unwritten_);
    status = write();
  }
  return status;
}

absl::Status Layers::WriteFile(const std::function<absl::Status(Store&)>& write) {
  const auto write_noting_use = [&]() -> absl::Status {
    TW_RETURN_IF_ERROR(write(*file_));
    for (const std::string& key : touched_) TW_RETURN_IF_ERROR(file_->SetLastUsed(key, NowUnix()));
    return absl::OkStatus();
  };
  absl::Status status = OnFileInPlace([&] { return file_->Write(write_noting_use); });
  if (absl::IsInvalidArgument(status) && !touched_.empty()) {
    // It may be the note of use that the file's own rules refuse.
    touched_.clear();
    status = OnFileInPlace([&] { return file_->Write([&] { return write(*file_); }); });
  }
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

absl::Status Layers::Persist(std::chrono::milliseconds patience) {
  if (retry_at_.has_value() && AwaitOpenLock(patience)) retry_at_ = Clock::now();
  Refresh();
  if (options_.path.empty()) return absl::OkStatus();
  flush_at_ = {};
  if (file_ != nullptr) file_->db().SetBusyTimeout(patience);
  FlushMemory();
  if (file_ != nullptr) file_->db().SetBusyTimeout(BusyTimeout());
  if (memory_ != nullptr) return Unwritten(unwritten_);
  return refused_.empty() ? absl::OkStatus() : Unwritten(refused_);
}

bool Layers::IsKeptOut() {
  if (options_.path.empty() || options_.read_only || snapshot_) return false;
  if (file_ != nullptr && memory_ == nullptr) return false;
  constexpr auto kGrace = std::chrono::milliseconds(200);  // a commit takes less
  if (!AwaitOpenLock(kGrace)) return true;
  if (!FileIsWritable()) return false;
  file_->db().SetBusyTimeout(kGrace);
  const absl::Status begun = Transaction::Begin(file_->db()).status();
  file_->db().SetBusyTimeout(BusyTimeout());
  return absl::IsUnavailable(begun);
}

absl::StatusOr<int64_t> Layers::Shrink(int64_t max_bytes, std::string_view keep_key) {
  Refresh();
  if (!FileIsWritable()) {
    return memory_ == nullptr ? 0 : CollectGarbage(*memory_, max_bytes, keep_key);
  }
  absl::StatusOr<int64_t> deleted = 0;
  const auto collect = [&] {
    deleted = CollectGarbage(*file_, max_bytes, keep_key);
    return deleted.status();
  };
  absl::Status collected = OnFileInPlace(collect);
  if (absl::IsDataLoss(collected)) {
    RepairFile(Words(collected));
    if (FileIsWritable()) collected = OnFileInPlace(collect);
  }
  TW_RETURN_IF_ERROR(collected);
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
