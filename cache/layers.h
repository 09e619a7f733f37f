// The databases behind one Cache, and what happens when one of them fails.
#ifndef TILEWRIGHT_CACHE_LAYERS_H_
#define TILEWRIGHT_CACHE_LAYERS_H_

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cache/cache.h"
#include "cache/place.h"
#include "cache/salvage.h"
#include "cache/store.h"

namespace tilewright {

// In the order of lookup: memory (what the file could not take), the file, the seeds. Faults end
// here: a damaged file is repaired, an unwritable one is backed by memory, each told once.
// Not thread-safe; belongs to one process (see Abandon).
class Layers {
 public:
  // FailedPrecondition as Cache::Open. `forked`: the file is another process's, read a snapshot.
  static absl::StatusOr<std::unique_ptr<Layers>> Open(const CacheOptions& options, bool forked);
  ~Layers();
  Layers(const Layers&) = delete;
  Layers& operator=(const Layers&) = delete;

  // Runs `read` on each layer until it returns true. After a repair it runs on the file again, so
  // it must be repeatable.
  void Read(const std::function<absl::StatusOr<bool>(Store&)>& read);
  // Runs `write` in a transaction on the file, or on memory where that fails. Only InvalidArgument
  // comes back.
  absl::Status Write(const std::function<absl::Status(Store&)>& write);

  // The same, but never on memory in place of the file: fails, saying why, where the file cannot
  // take it.
  absl::Status WriteThrough(const std::function<absl::Status(Store&)>& write);
  // OK where everything written so far is in the file; else why it is not. Each lock is waited for
  // up to `patience`.
  absl::Status Persist(std::chrono::milliseconds patience);
  // True where rows wait in memory, or the file is not open, and another process has it locked, for
  // longer than a commit takes.
  bool IsKeptOut();

  // Notes that the file's kernel was used; written with the next transaction.
  void Touch(std::string_view key) { touched_.emplace(key); }
  // Keeps the layer that takes writes within `max_bytes`, sparing `keep_key`.
  absl::StatusOr<int64_t> Shrink(int64_t max_bytes, std::string_view keep_key);
  void EnforceLimit(std::string_view keep_key);

  Store* file() { return file_.get(); }
  Store* memory() { return memory_.get(); }
  const Store* memory() const { return memory_.get(); }
  bool FileIsWritable() const { return file_ != nullptr && file_->writable(); }
  // Sets the damaged file aside and opens a rebuilt one; where it cannot be written, its intact
  // rows are read into memory. False where the file, read anew, is whole: it is opened again.
  bool RepairFile(std::string_view reason);
  std::string mode() const;
  int64_t quarantined() const { return quarantined_; }
  // What was found of a damaged file, in words, or empty.
  const std::string& damage() const { return damage_; }
  // Rows of the file that were damaged or lost with it, the first thousand.
  const std::vector<std::string>& lost() const { return lost_; }
  int64_t rows_lost() const { return rows_lost_; }
  bool knows_all_lost() const { return knows_all_lost_; }
  int64_t rows_kept() const { return rows_kept_; }  // by the last repair
  int64_t NowUnix() const;

  // Adds a message to be logged, unless one on this topic was.
  void Say(std::string topic, std::string message);
  std::vector<std::string> TakeMessages();
  // Counts and tells the damaged rows that `store` took out.
  void NoteDamage(Store& store, std::string_view where);

 private:
  using Clock = std::chrono::steady_clock;

  static constexpr auto kRetryAfter = std::chrono::seconds(30);
  static constexpr auto kCloseTimeout = std::chrono::milliseconds(200);

  explicit Layers(const CacheOptions& options) : options_(options) {}
  static std::string_view Words(const absl::Status& status) {
    return {status.message().data(), status.message().size()};
  }
  absl::Status OpenWritable();
  // What opening does with a damaged file. Only who has the open lock may repair.
  enum class OnDamage : uint8_t { kRepair, kReadIntact, kGiveUp };
  absl::Status OpenFile(OnDamage on_damage);
  // OK where the file, read anew, is whole; ResourceExhausted where it cannot be read.
  absl::Status ReadAnew() const;
  // Reads it as it is, for a while.
  void PutRepairOff(std::string_view why);
  absl::Status RepairLocked(std::string_view reason);
  absl::Status TakeDamaged(OnDamage on_damage, std::string_view reason);
  // A file that its permissions do not let be written is told of at the first write, others at
  // once.
  void OpenReadOnly(std::string_view why_not_writable);
  void TakeReadable(ReadableFile readable);
  void SalvageFile(std::string_view reason);
  void NoteSalvaged(const Salvaged& salvaged);
  void NoteLost(const std::vector<std::string>& names);
  // True where nobody else opens or repairs the file any more, within `patience`.
  bool AwaitOpenLock(std::chrono::milliseconds patience) const;
  void OpenSnapshot();
  void OpenSeeds();
  void SetJournalMode();
  void GoWithoutFile(std::string_view why);
  // Reopens a file that was replaced, and one that could not be opened before.
  void Refresh();
  void Reopen();
  // True where the file that is only read is to be read anew, since somebody wrote it meanwhile.
  bool ReopenStale();
  // Runs `write` on the file, and again where that was replaced meanwhile.
  absl::Status OnFileInPlace(const std::function<absl::Status()>& write);
  void CloseFile();
  void FlushMemory();
  absl::Status WriteFile(const std::function<absl::Status(Store&)>& write);
  absl::Status WriteMemory(const std::function<absl::Status(Store&)>& write);
  void ShortenWaits();
  std::chrono::milliseconds BusyTimeout() const;
  absl::Status Unwritten(std::string_view why) const;

  const CacheOptions& options_;
  std::unique_ptr<Store> file_;
  FileId file_id_;
  std::string journal_mode_;
  std::string read_only_;  // what is yet to be told of a file that cannot be written
  std::unique_ptr<Store> memory_;
  std::string unwritten_;  // why the file did not take what was last written
  std::string refused_;    // what the file's own rules refused first
  struct Seed {
    std::string path;
    std::unique_ptr<Store> store;
  };
  std::vector<Seed> seeds_;
  std::set<std::string, std::less<>> touched_;
  std::set<std::string> said_;
  std::vector<std::string> messages_;
  int64_t quarantined_ = 0;
  std::string damage_;
  std::vector<std::string> lost_;
  int64_t rows_lost_ = 0;
  bool knows_all_lost_ = true;
  int64_t rows_kept_ = 0;
  int repairs_ = 0;
  int mistaken_ = 0;  // times that a file which was said to be damaged was whole
  bool snapshot_ = false;
  bool was_used_ = false;                      // a cache was opened at this path before
  std::optional<Clock::time_point> retry_at_;  // when to try the file again
  Clock::time_point flush_at_;                 // not before: moving memory's rows to the file
  Clock::time_point patient_at_;               // until then, locks are not waited for
  bool impatient_ = false;
};

}  // namespace tilewright

#endif  // TILEWRIGHT_CACHE_LAYERS_H_
