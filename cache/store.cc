#include "cache/store.h"

#include <utility>

#include "cache/row_sql.h"
#include "cache/schema.h"
#include "manifest/status.h"
#include "manifest/text.h"

namespace tilewright {
namespace {

constexpr std::string_view kAllKernels = "SELECT rowid FROM kernels ORDER BY key";
constexpr std::string_view kHasKernel =
    "SELECT 1 FROM kernels WHERE key = ?1 AND EXISTS(SELECT 1 FROM kernel_bytes WHERE key = ?1)";
constexpr std::string_view kAllWinners = "SELECT rowid FROM winners ORDER BY key";
constexpr std::string_view kOpWinners =
    "SELECT rowid FROM winners WHERE op = ? AND dtypes = ? AND device = ? ORDER BY key";
constexpr std::string_view kProblemTrials =
    "SELECT rowid FROM trials WHERE problem_key = ? ORDER BY config, closure";
constexpr std::string_view kAllTrials =
    "SELECT rowid FROM trials ORDER BY problem_key, config, closure";

std::string_view TableOf(const WinnerRow&) { return "winners"; }
std::string_view TableOf(const TrialRow&) { return "trials"; }
std::string_view RowOf(const WinnerRow&) { return sql::kWinnerAt; }
std::string_view RowOf(const TrialRow&) { return sql::kTrialAt; }
std::string_view KeyOf(const WinnerRow& row) { return row.key; }
std::string_view KeyOf(const TrialRow& row) { return row.problem_key; }
RowAt<WinnerRow> ReadRow(const Statement& select, const WinnerRow&) { return ReadWinner(select); }
RowAt<TrialRow> ReadRow(const Statement& select, const TrialRow&) { return ReadTrial(select); }

// A reader of a file in WAL mode makes an empty WAL, which only the last to close the file can
// remove, and only if it may write. Of two who close at once each might take the other for the
// last: so one after the other tries.
void RemoveEmptyWal(const std::string& path) {
  constexpr auto kTimeout = std::chrono::milliseconds(1000);
  const auto is_left = [&] {
    return IdOf(path + "-wal") != FileId{} && FileBytes(path + "-wal") == 0 &&
           FileBytes(path) > 0 && IdOf(path + "-journal") == FileId{};
  };
  if (!is_left() || !IsWritable(path)) return;
  const FolderLock alone(path, kTimeout);
  if (!is_left()) return;
  auto db = Connection::Open(path, Connection::Mode::kReadWrite, kTimeout);
  if (db.ok()) (void)db->QueryInt("PRAGMA user_version");
}

}  // namespace

Store::~Store() {
  if (writable_ || immutable_ || path_.empty()) return;
  statements_.clear();
  db_ = Connection();
  RemoveEmptyWal(path_);
}

absl::StatusOr<std::unique_ptr<Store>> Store::Open(const std::string& path, Connection::Mode mode,
                                                   std::chrono::milliseconds busy_timeout) {
  const FileState state = StateOf(path);
  TW_ASSIGN_OR_RETURN(Connection db, Connection::Open(path, mode, busy_timeout));
  std::unique_ptr<Store> store(new Store(std::move(db), mode, path, state));
  TW_RETURN_IF_ERROR(store->writable_ ? Migrate(store->db_) : CheckSchema(store->db_));
  return store;
}

absl::StatusOr<std::unique_ptr<Store>> Store::OpenMemory() {
  TW_ASSIGN_OR_RETURN(Connection db, Connection::OpenMemory());
  TW_RETURN_IF_ERROR(Migrate(db));
  return std::unique_ptr<Store>(new Store(std::move(db), Connection::Mode::kReadWrite, "", {}));
}

absl::StatusOr<Statement*> Store::Prepared(std::string_view sql) {
  Statement& statement = statements_[sql];
  if (!statement) {
    auto prepared = db_.Prepare(sql);
    if (prepared.status().code() == absl::StatusCode::kInternal) {
      return absl::DataLossError(Cat(std::string(prepared.status().message()),
                                     "; the tables are not what the schema says"));
    }
    if (!prepared.ok()) return prepared.status();
    statement = std::move(prepared).value();
  }
  return &statement;
}

absl::Status Store::Run(std::string_view sql, std::string_view key) {
  TW_ASSIGN_OR_RETURN(Statement * statement, Prepared(sql));
  statement->Bind(1, key);
  return statement->Run();
}

absl::Status Store::ForEach(std::string_view table, Statement& rowids, std::string_view row,
                            const std::function<absl::Status(const Statement&)>& read) {
  // Both read one snapshot: the first is not reset before the end.
  ResetGuard reset_rowids(rowids);
  TW_ASSIGN_OR_RETURN(Statement * select, Prepared(row));
  while (true) {
    TW_ASSIGN_OR_RETURN(const bool found, rowids.Step());
    if (!found) return absl::OkStatus();
    ResetGuard reset(*select);
    select->Bind(1, rowids.Int(0));
    const absl::StatusOr<bool> there = select->Step();
    if (absl::IsInvalidArgument(there.status())) {
      NoteUnreadable(table, rowids.Int(0));
      continue;
    }
    TW_RETURN_IF_ERROR(there.status());
    if (!*there) {
      return absl::DataLossError(
          Cat("kernel cache: reading: an index names row ", rowids.Int(0), " of ", table));
    }
    TW_RETURN_IF_ERROR(read(*select));
  }
}

absl::StatusOr<std::optional<KernelRow>> Store::FindKernel(std::string_view key) {
  {
    TW_ASSIGN_OR_RETURN(Statement * select, Prepared(sql::kKernel));
    ResetGuard reset(*select);
    select->Bind(1, key);
    const absl::StatusOr<bool> found = select->Step();
    if (absl::IsInvalidArgument(found.status())) {
      TW_RETURN_IF_ERROR(NoteUnreadable("kernels", key));
    } else {
      TW_RETURN_IF_ERROR(found.status());
      if (!*found) return std::nullopt;
      KernelAt at = ReadKernel(*select, true);
      if (at.row.key != key) return OtherKey("kernels", at.rowid);
      if (at.flaw.empty()) return std::move(at.row);
      if (at.flaw == kNoCubin) TW_RETURN_IF_ERROR(CheckBytesAreGone(key));
      NoteDamaged("kernels", key, at.rowid, at.flaw);
    }
  }
  TW_RETURN_IF_ERROR(Sweep());
  return std::nullopt;
}

absl::StatusOr<bool> Store::HasKernel(std::string_view key) {
  TW_ASSIGN_OR_RETURN(Statement * select, Prepared(kHasKernel));
  ResetGuard reset(*select);
  select->Bind(1, key);
  return select->Step();
}

absl::StatusOr<std::optional<WinnerRow>> Store::FindWinner(std::string_view key) {
  {
    TW_ASSIGN_OR_RETURN(Statement * select, Prepared(sql::kWinner));
    ResetGuard reset(*select);
    select->Bind(1, key);
    const absl::StatusOr<bool> found = select->Step();
    if (absl::IsInvalidArgument(found.status())) {
      TW_RETURN_IF_ERROR(NoteUnreadable("winners", key));
    } else {
      TW_RETURN_IF_ERROR(found.status());
      if (!*found) return std::nullopt;
      RowAt<WinnerRow> at = ReadWinner(*select);
      if (at.row.key != key) return OtherKey("winners", at.rowid);
      if (at.flaw.empty()) return std::move(at.row);
      NoteDamaged("winners", key, at.rowid, at.flaw);
    }
  }
  TW_RETURN_IF_ERROR(Sweep());
  return std::nullopt;
}

template <class Row>
absl::Status Store::ReadAll(Statement& rowids, const std::function<absl::Status(Row)>& visit) {
  const auto read = [&](const Statement& select) -> absl::Status {
    RowAt<Row> at = ReadRow(select, Row());
    if (at.flaw.empty()) return visit(std::move(at.row));
    NoteDamaged(TableOf(at.row), KeyOf(at.row), at.rowid, at.flaw);
    return absl::OkStatus();
  };
  TW_RETURN_IF_ERROR(ForEach(TableOf(Row()), rowids, RowOf(Row()), read));
  return Sweep();
}

absl::StatusOr<std::vector<WinnerRow>> Store::Winners(std::string_view op, std::string_view dtypes,
                                                      std::string_view device) {
  TW_ASSIGN_OR_RETURN(Statement * select, Prepared(kOpWinners));
  select->Bind(1, op);
  select->Bind(2, dtypes);
  select->Bind(3, device);
  std::vector<WinnerRow> rows;
  TW_RETURN_IF_ERROR(ReadAll<WinnerRow>(*select, [&](WinnerRow row) {
    rows.push_back(std::move(row));
    return absl::OkStatus();
  }));
  return rows;
}

absl::StatusOr<std::vector<TrialRow>> Store::Trials(std::string_view problem_key) {
  TW_ASSIGN_OR_RETURN(Statement * select, Prepared(kProblemTrials));
  select->Bind(1, problem_key);
  std::vector<TrialRow> rows;
  TW_RETURN_IF_ERROR(ReadAll<TrialRow>(*select, [&](TrialRow row) {
    rows.push_back(std::move(row));
    return absl::OkStatus();
  }));
  return rows;
}

absl::Status Store::VisitKernels(bool with_bytes, const KernelVisitor& visit) {
  TW_ASSIGN_OR_RETURN(Statement * rowids, Prepared(kAllKernels));
  std::optional<std::unordered_set<std::string>> keys_of_bytes;  // read once it is needed
  const auto read = [&](const Statement& select) -> absl::Status {
    KernelAt at = ReadKernel(select, with_bytes);
    if (at.flaw.empty()) return visit(std::move(at.row), at.bytes_sum);
    if (at.flaw == kNoCubin && !keys_of_bytes.has_value()) {
      TW_ASSIGN_OR_RETURN(keys_of_bytes, KeysOfBytes());
    }
    if (at.flaw == kNoCubin && keys_of_bytes->contains(at.row.key)) {
      TW_RETURN_IF_ERROR(CheckBytesAreGone(at.row.key));
    }
    NoteDamaged("kernels", at.row.key, at.rowid, at.flaw);
    return absl::OkStatus();
  };
  TW_RETURN_IF_ERROR(
      ForEach("kernels", *rowids, with_bytes ? sql::kKernelAt : sql::kKernelHeadAt, read));
  return Sweep();
}

absl::Status Store::VisitWinners(const std::function<absl::Status(WinnerRow)>& visit) {
  TW_ASSIGN_OR_RETURN(Statement * select, Prepared(kAllWinners));
  return ReadAll(*select, visit);
}
absl::Status Store::VisitTrials(const std::function<absl::Status(TrialRow)>& visit) {
  TW_ASSIGN_OR_RETURN(Statement * select, Prepared(kAllTrials));
  return ReadAll(*select, visit);
}

absl::StatusOr<int64_t> Store::LiveBytes() {
  TW_ASSIGN_OR_RETURN(int64_t pages, db_.QueryInt("PRAGMA page_count"));
  TW_ASSIGN_OR_RETURN(int64_t free, db_.QueryInt("PRAGMA freelist_count"));
  TW_ASSIGN_OR_RETURN(int64_t page_bytes, db_.QueryInt("PRAGMA page_size"));
  return (pages - free) * page_bytes;
}

absl::StatusOr<int64_t> Store::Count(std::string_view select) {
  TW_ASSIGN_OR_RETURN(Statement * statement, Prepared(select));
  ResetGuard reset(*statement);
  TW_ASSIGN_OR_RETURN(const bool found, statement->Step());
  return found ? statement->Int(0) : 0;
}

bool Store::IsStale() const {
  if (path_.empty() || writable_) return false;
  return immutable_ ? MayBeWrittenSince(path_, state_) : IdOf(path_) != state_.id;
}

absl::Status Store::CheckIntegrity() {
  TW_ASSIGN_OR_RETURN(const std::string verdict, db_.Verdict("PRAGMA integrity_check(1)"));
  return verdict == "ok" ? absl::OkStatus() : absl::DataLossError(Escaped(verdict));
}

}  // namespace tilewright
