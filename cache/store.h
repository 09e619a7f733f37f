// The rows of one database: a file, or memory. Every row that leaves it has passed its checksum.
#ifndef TILEWRIGHT_CACHE_STORE_H_
#define TILEWRIGHT_CACHE_STORE_H_

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cache/cache.h"
#include "cache/place.h"
#include "cache/sqlite.h"

namespace tilewright {

// What a put does where the key is taken. Every policy but kReplace gives the same rows in any
// order of puts.
enum class Conflict : uint8_t {
  kReplace,
  kKeep,    // the row that is there stays
  kBetter,  // the faster winner, the trial of more samples, the newer compiler
  kNewer,   // the row of the later time
};
enum class Outcome : uint8_t { kAdded, kReplaced, kKept };

// What became of the damaged rows of a store that can be written.
struct Swept {
  int64_t deleted = 0;
  absl::Status kept;  // why some could not be deleted, or OK
};

// Not thread-safe. Calls fail with the codes of SqliteStatus. Damaged rows are taken out (where the
// store can be written), told by TakeDamage(), and read as absent.
class Store {
 public:
  // A file that exists; creates or migrates the schema when `mode` is kReadWrite, else checks it.
  static absl::StatusOr<std::unique_ptr<Store>> Open(const std::string& path, Connection::Mode mode,
                                                     std::chrono::milliseconds busy_timeout);
  static absl::StatusOr<std::unique_ptr<Store>> OpenMemory();

  // Where this was the last to read a file in WAL mode, nothing is left beside it.
  ~Store();
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;

  absl::StatusOr<std::optional<KernelRow>> FindKernel(std::string_view key);
  absl::StatusOr<bool> HasKernel(std::string_view key);
  absl::StatusOr<std::optional<WinnerRow>> FindWinner(std::string_view key);
  absl::StatusOr<std::vector<WinnerRow>> Winners(std::string_view op, std::string_view dtypes,
                                                 std::string_view device);
  absl::StatusOr<std::vector<TrialRow>> Trials(std::string_view problem_key);

  // In key order. A callback must not write to this store; `bytes_sum` is the cubin's checksum.
  using KernelVisitor = std::function<absl::Status(KernelRow row, std::string_view bytes_sum)>;
  absl::Status VisitKernels(bool with_bytes, const KernelVisitor& visit);
  absl::Status VisitWinners(const std::function<absl::Status(WinnerRow)>& visit);
  absl::Status VisitTrials(const std::function<absl::Status(TrialRow)>& visit);

  // Runs `body` in one write transaction. Aborted, to be done again on another store, where the
  // file is no longer the one at its path: nobody would read what is written there.
  absl::Status Write(const std::function<absl::Status()>& body);
  // To be called inside Write(). Rows must be within bounds.
  absl::StatusOr<Outcome> PutKernel(const KernelRow& row, Conflict conflict);
  // A key of a problem, or of a version of its winner (winner_versions.h); the conflict is one with
  // the row of the same version.
  absl::StatusOr<Outcome> PutWinner(const WinnerRow& row, Conflict conflict);
  absl::StatusOr<Outcome> PutTrial(const TrialRow& row, Conflict conflict);
  // InvalidArgument where a trigger of the file keeps it.
  absl::Status DeleteKernel(std::string_view key);
  absl::Status SetLastUsed(std::string_view key, int64_t now_unix);

  absl::StatusOr<int64_t> LiveBytes();  // pages in use
  absl::StatusOr<int64_t> Count(std::string_view select);
  // Reads all of the file. DataLoss where its pages, or an index and its table, contradict each
  // other: to be asked where every row is wanted, since an index that lacks one hides it.
  absl::Status CheckIntegrity();
  // "<table> row <key>: <what is wrong with it>".
  std::vector<std::string> TakeDamage();
  // Takes out bytes of no kernel, as damaged rows.
  absl::Status SweepOrphans();
  Swept TakeSwept();
  const std::vector<std::string>& PeekDamage() const { return damage_; }
  Connection& db() { return db_; }
  bool writable() const { return writable_; }
  // True where the file that is only read was replaced or, read without locks, may have been
  // written since it was opened: what is wrong with it proves nothing, and it is to be opened
  // again.
  bool IsStale() const;
  void Freeze() { writable_ = false; }  // from now on it is only read

 private:
  Store(Connection db, Connection::Mode mode, std::string path, const FileState& state)
      : db_(std::move(db)),
        writable_(mode == Connection::Mode::kReadWrite),
        immutable_(mode == Connection::Mode::kImmutable),
        path_(std::move(path)),
        state_(state) {}

  struct DamagedRow {
    std::string_view table;
    std::string key;
    int64_t rowid;
    std::string_view flaw;
  };

  // A statement prepared once; DataLoss where the tables are not ours.
  absl::StatusOr<Statement*> Prepared(std::string_view sql);
  absl::Status Run(std::string_view sql, std::string_view key);
  absl::Status CheckInPlace() const;
  // Deletes the damaged rows that a read came across, and keeps their names for TakeDamage().
  absl::Status Sweep();
  // True where it is still damaged, and was deleted. Another process may have put it anew since it
  // was noted. InvalidArgument where it is still there.
  absl::StatusOr<bool> DeleteDamaged(const DamagedRow& row);
  absl::StatusOr<bool> IsStillDamaged(const DamagedRow& row);
  // Steps through `rowids`, and calls `read` at each one's row. A row with a value beyond all
  // bounds is a damaged one.
  absl::Status ForEach(std::string_view table, Statement& rowids, std::string_view row,
                       const std::function<absl::Status(const Statement&)>& read);
  void NoteDamaged(std::string_view table, std::string_view key, int64_t rowid,
                   std::string_view flaw);
  // The same for a row with a value beyond all bounds.
  void NoteUnreadable(std::string_view table, int64_t rowid);
  absl::Status NoteUnreadable(std::string_view table, std::string_view key);
  static absl::Status OtherKey(std::string_view table, int64_t rowid);
  // DataLoss where the bytes of a kernel are there but not in their index.
  absl::Status CheckBytesAreGone(std::string_view key);
  // Of all bytes that are there, by a scan: their index may lack some.
  absl::StatusOr<std::unordered_set<std::string>> KeysOfBytes();
  template <class Row>
  absl::Status ReadAll(Statement& rowids, const std::function<absl::Status(Row)>& visit);
  // InvalidArgument where the last insert changed nothing: a trigger of the file ignored it.
  absl::Status CheckTaken(std::string_view table);
  // The intact winners of a problem, one a version.
  absl::StatusOr<std::vector<WinnerRow>> VersionsOf(const std::string& problem_key);
  absl::Status InsertWinner(const WinnerRow& row);
  template <class Row>
  absl::Status Insert(std::string_view sql, const Row& row, std::string_view sum);
  // Where a row, read after a put, has not the sum that was put: InvalidArgument if a trigger of
  // the file may have changed it, else DataLoss.
  absl::Status CheckPut(std::string_view table, std::string_view sum,
                        std::string_view expected_sum);

  Connection db_;
  bool writable_;
  bool immutable_;
  std::string path_;                                            // empty: in memory
  FileState state_;                                             // of the file when it was opened
  std::unordered_map<std::string_view, Statement> statements_;  // keys are literals
  std::vector<DamagedRow> damaged_rows_;
  std::vector<std::string> damage_;
  Swept swept_;
};

}  // namespace tilewright

#endif  // TILEWRIGHT_CACHE_STORE_H_
