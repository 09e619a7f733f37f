#include "cache/store.h"

#include <algorithm>
#include <type_traits>

#include "cache/prefer.h"
#include "cache/rows.h"
#include "cache/schema.h"
#include "manifest/status.h"

namespace tilewright {
namespace {

// A cubin beyond the bound is not read, and its row is damaged: SQLite would fail the whole select.
static_assert(kMaxCubinBytes == 67108864);
constexpr std::string_view kSelectKernel =
    "SELECT k.*, b.sum, length(b.bytes), k.rowid, "
    "CASE WHEN length(b.bytes) <= 67108864 THEN b.bytes END FROM kernels k "
    "LEFT JOIN kernel_bytes b ON b.key = k.key WHERE k.key = ?";
constexpr std::string_view kSelectKernelHead =
    "SELECT k.*, b.sum, length(b.bytes), k.rowid FROM kernels k "
    "LEFT JOIN kernel_bytes b ON b.key = k.key WHERE k.key = ?";
constexpr std::string_view kKernelAt =
    "SELECT k.*, b.sum, length(b.bytes), k.rowid, "
    "CASE WHEN length(b.bytes) <= 67108864 THEN b.bytes END FROM kernels k "
    "LEFT JOIN kernel_bytes b ON b.key = k.key WHERE k.rowid = ?";
constexpr std::string_view kKernelHeadAt =
    "SELECT k.*, b.sum, length(b.bytes), k.rowid FROM kernels k "
    "LEFT JOIN kernel_bytes b ON b.key = k.key WHERE k.rowid = ?";
constexpr std::string_view kWinnerAt = "SELECT *, rowid FROM winners WHERE rowid = ?";
constexpr std::string_view kTrialAt = "SELECT *, rowid FROM trials WHERE rowid = ?";
constexpr std::string_view kAllKernels = "SELECT rowid FROM kernels ORDER BY key";
constexpr std::string_view kKernelKey = "SELECT key FROM kernels WHERE rowid = ?";
constexpr std::string_view kWinnerKey = "SELECT key FROM winners WHERE rowid = ?";
constexpr std::string_view kTrialKey = "SELECT problem_key FROM trials WHERE rowid = ?";
constexpr std::string_view kKernelRowid = "SELECT rowid FROM kernels WHERE key = ?";
constexpr std::string_view kWinnerRowid = "SELECT rowid FROM winners WHERE key = ?";
constexpr std::string_view kHasKernel =
    "SELECT 1 FROM kernels WHERE key = ?1 AND EXISTS(SELECT 1 FROM kernel_bytes WHERE key = ?1)";
constexpr std::string_view kSelectWinner = "SELECT *, rowid FROM winners WHERE key = ?";
constexpr std::string_view kAllWinners = "SELECT rowid FROM winners ORDER BY key";
constexpr std::string_view kOpWinners =
    "SELECT rowid FROM winners WHERE op = ? AND dtypes = ? AND device = ? ORDER BY key";
constexpr std::string_view kProblemTrials =
    "SELECT rowid FROM trials WHERE problem_key = ? ORDER BY config, closure";
constexpr std::string_view kAllTrials =
    "SELECT rowid FROM trials ORDER BY problem_key, config, closure";
constexpr std::string_view kSelectTrial =
    "SELECT *, rowid FROM trials WHERE problem_key = ? AND config = ? AND closure = ?";
constexpr std::string_view kInsertKernel =
    "INSERT OR REPLACE INTO kernels VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)";
constexpr std::string_view kInsertBytes = "INSERT OR REPLACE INTO kernel_bytes VALUES(?,?,?)";
constexpr std::string_view kInsertWinner =
    "INSERT OR REPLACE INTO winners VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)";
constexpr std::string_view kInsertTrial =
    "INSERT OR REPLACE INTO trials VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)";
constexpr std::string_view kDeleteKernel = "DELETE FROM kernels WHERE key = ?";
constexpr std::string_view kDeleteBytes = "DELETE FROM kernel_bytes WHERE key = ?";
// The row at a statement's cursor. `intact` is false where a checksum does not match.
struct KernelAt {
  KernelRow row;
  std::string bytes_sum;
  int64_t rowid = 0;
  bool intact = false;
};

KernelAt ReadKernel(const Statement& select, bool with_bytes) {
  KernelAt at;
  int sum = ReadColumns(select, at.row);
  at.bytes_sum = select.Text(sum + 1);
  at.row.cubin_bytes = select.Int(sum + 2);
  at.rowid = select.Int(sum + 3);
  at.intact = RowSum(at.row, at.bytes_sum) == select.Text(sum);
  if (with_bytes && at.intact) {
    std::string_view bytes = select.Text(sum + 4);
    at.intact = BytesSum(at.row.key, bytes) == at.bytes_sum && CubinFits(bytes, at.row.arch);
    if (at.intact) at.row.cubin = bytes;
  }
  return at;
}

template <class Row>
bool ReadIntact(const Statement& select, Row& row) {
  int sum = ReadColumns(select, row);
  return RowSum(row) == select.Text(sum);
}

// Winners and trials are selected with their rowid last.
int64_t RowidOf(const Statement& select) { return select.Int(select.columns() - 1); }

std::string_view TableOf(const WinnerRow&) { return "winners"; }
std::string_view TableOf(const TrialRow&) { return "trials"; }
std::string_view RowAt(const WinnerRow&) { return kWinnerAt; }
std::string_view RowAt(const TrialRow&) { return kTrialAt; }
std::string_view KeyOf(const WinnerRow& row) { return row.key; }
std::string_view KeyOf(const TrialRow& row) { return row.problem_key; }
int64_t TimeOf(const WinnerRow& row) { return row.tuned_unix; }
int64_t TimeOf(const TrialRow& row) { return row.measured_unix; }

// A row with a value beyond all bounds is none.
absl::StatusOr<bool> StepWithinBounds(Statement& select) {
  absl::StatusOr<bool> found = select.Step();
  return absl::IsInvalidArgument(found.status()) ? false : found;
}

// Whether `row` takes the place of `old`, for winners and trials.
template <class Row>
bool Supersedes(const Row& row, const Row& old, Conflict conflict) {
  switch (conflict) {
    case Conflict::kReplace:
      return true;
    case Conflict::kKeep:
      return false;
    case Conflict::kBetter:
      return IsBetter(row, old);
    case Conflict::kNewer:
      return TimeOf(row) > TimeOf(old) || (TimeOf(row) == TimeOf(old) && IsBetter(row, old));
  }
  return false;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Store>> Store::Open(const std::string& path, Connection::Mode mode,
                                                   std::chrono::milliseconds busy_timeout) {
  TW_ASSIGN_OR_RETURN(Connection db, Connection::Open(path, mode, busy_timeout));
  bool writable = mode == Connection::Mode::kReadWrite;
  TW_RETURN_IF_ERROR(writable ? Migrate(db) : CheckSchema(db));
  return std::unique_ptr<Store>(new Store(std::move(db), writable));
}

absl::StatusOr<std::unique_ptr<Store>> Store::OpenMemory() {
  TW_ASSIGN_OR_RETURN(Connection db, Connection::OpenMemory());
  TW_RETURN_IF_ERROR(Migrate(db));
  return std::unique_ptr<Store>(new Store(std::move(db), true));
}

absl::StatusOr<Statement*> Store::Prepared(std::string_view sql) {
  Statement& statement = statements_[sql];
  if (!statement) {
    auto prepared = db_.Prepare(sql);
    if (prepared.status().code() == absl::StatusCode::kInternal) {
      return absl::DataLossError(prepared.status().message());
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

absl::Status Store::Sweep() {
  std::vector<DamagedRow> rows = std::exchange(damaged_rows_, {});
  for (const DamagedRow& row : rows) damage_.push_back(Cat(row.table, " row ", row.key));
  if (rows.empty() || !writable_) return absl::OkStatus();
  absl::Status swept = Write([&]() -> absl::Status {
    for (const DamagedRow& row : rows) {
      TW_RETURN_IF_ERROR(
          db_.ExecOfAnyLength(Cat("DELETE FROM ", row.table, " WHERE rowid = ", row.rowid)));
      if (row.table == "kernels") TW_RETURN_IF_ERROR(Run(kDeleteBytes, row.key));
    }
    return absl::OkStatus();
  });
  // Rows that cannot be deleted now are not served either; only a damaged file is news.
  return absl::IsDataLoss(swept) ? swept : absl::OkStatus();
}

void Store::NoteUnreadable(std::string_view table, int64_t rowid) {
  std::string name = Cat("number ", rowid);
  auto select = Prepared(table == "kernels"   ? kKernelKey
                         : table == "winners" ? kWinnerKey
                                              : kTrialKey);
  if (select.ok()) {
    ResetGuard reset(**select);
    (*select)->Bind(1, rowid);
    if ((*select)->Step().value_or(false)) name = (*select)->Text(0);
  }
  damaged_rows_.push_back({table, std::move(name), rowid});
}

absl::Status Store::NoteUnreadable(std::string_view table, std::string_view key) {
  TW_ASSIGN_OR_RETURN(Statement * select,
                      Prepared(table == "kernels" ? kKernelRowid : kWinnerRowid));
  ResetGuard reset(*select);
  select->Bind(1, key);
  TW_ASSIGN_OR_RETURN(const bool found, select->Step());
  if (found) damaged_rows_.push_back({table, std::string(key), select->Int(0)});
  return absl::OkStatus();
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

std::vector<std::string> Store::TakeDamage() { return std::exchange(damage_, {}); }

absl::StatusOr<std::optional<KernelRow>> Store::FindKernel(std::string_view key) {
  {
    TW_ASSIGN_OR_RETURN(Statement * select, Prepared(kSelectKernel));
    ResetGuard reset(*select);
    select->Bind(1, key);
    const absl::StatusOr<bool> found = select->Step();
    if (absl::IsInvalidArgument(found.status())) {
      TW_RETURN_IF_ERROR(NoteUnreadable("kernels", key));
    } else {
      TW_RETURN_IF_ERROR(found.status());
      if (!*found) return std::nullopt;
      KernelAt at = ReadKernel(*select, true);
      if (at.intact && at.row.key == key) return std::move(at.row);
      damaged_rows_.push_back({"kernels", std::string(key), at.rowid});
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

template <class Row>
absl::StatusOr<std::optional<Row>> Store::FindOne(std::string_view sql, std::string_view key) {
  {
    TW_ASSIGN_OR_RETURN(Statement * select, Prepared(sql));
    ResetGuard reset(*select);
    select->Bind(1, key);
    const absl::StatusOr<bool> found = select->Step();
    Row row;
    if (absl::IsInvalidArgument(found.status())) {
      TW_RETURN_IF_ERROR(NoteUnreadable(TableOf(row), key));
    } else {
      TW_RETURN_IF_ERROR(found.status());
      if (!*found) return std::nullopt;
      if (ReadIntact(*select, row) && KeyOf(row) == key) return row;
      damaged_rows_.push_back({TableOf(row), std::string(key), RowidOf(*select)});
    }
  }
  TW_RETURN_IF_ERROR(Sweep());
  return std::nullopt;
}

absl::StatusOr<std::optional<WinnerRow>> Store::FindWinner(std::string_view key) {
  return FindOne<WinnerRow>(kSelectWinner, key);
}

template <class Row>
absl::Status Store::ReadAll(Statement& rowids, const std::function<absl::Status(Row)>& visit) {
  const auto read = [&](const Statement& select) -> absl::Status {
    Row row;
    if (ReadIntact(select, row)) return visit(std::move(row));
    damaged_rows_.push_back({TableOf(row), std::string(KeyOf(row)), RowidOf(select)});
    return absl::OkStatus();
  };
  TW_RETURN_IF_ERROR(ForEach(TableOf(Row()), rowids, RowAt(Row()), read));
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
  const auto read = [&](const Statement& select) -> absl::Status {
    KernelAt at = ReadKernel(select, with_bytes);
    if (at.intact) return visit(std::move(at.row), at.bytes_sum);
    damaged_rows_.push_back({"kernels", at.row.key, at.rowid});
    return absl::OkStatus();
  };
  TW_RETURN_IF_ERROR(ForEach("kernels", *rowids, with_bytes ? kKernelAt : kKernelHeadAt, read));
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

absl::Status Store::Write(const std::function<absl::Status()>& body) {
  TW_ASSIGN_OR_RETURN(Transaction transaction, Transaction::Begin(db_));
  TW_RETURN_IF_ERROR(body());
  return transaction.Commit();
}

template <class Row>
absl::Status Store::Insert(std::string_view sql, const Row& row, std::string_view sum) {
  TW_ASSIGN_OR_RETURN(Statement * insert, Prepared(sql));
  insert->Bind(BindColumns(*insert, row), sum);
  return insert->Run();
}

absl::Status Store::CheckTaken(std::string_view table) {
  if (db_.ChangedRows() > 0) return absl::OkStatus();
  return InvalidArgument("kernel cache: writing: expected a row more in ", table,
                         ", got none: a trigger ignores it");
}

absl::StatusOr<Outcome> Store::PutKernel(const KernelRow& row, Conflict conflict) {
  KernelRow merged = row;
  std::string bytes_sum = BytesSum(row.key, row.cubin);
  Outcome outcome = Outcome::kAdded;
  if (conflict != Conflict::kReplace) {
    TW_ASSIGN_OR_RETURN(Statement * select, Prepared(kSelectKernelHead));
    ResetGuard reset(*select);
    select->Bind(1, std::string_view(row.key));
    TW_ASSIGN_OR_RETURN(const bool found, StepWithinBounds(*select));
    KernelAt old;
    if (found) old = ReadKernel(*select, false);
    if (old.intact) {
      if (conflict == Conflict::kKeep) return Outcome::kKept;
      bool better = IsBetter(row, bytes_sum, old.row, old.bytes_sum);
      outcome = better ? Outcome::kReplaced : Outcome::kKept;
      if (!better) merged = old.row;
      merged.created_unix = std::min(row.created_unix, old.row.created_unix);
      merged.last_used_unix = std::max(row.last_used_unix, old.row.last_used_unix);
      if (!better) bytes_sum = old.bytes_sum;
    }
  }
  TW_RETURN_IF_ERROR(Insert(kInsertKernel, merged, RowSum(merged, bytes_sum)));
  TW_RETURN_IF_ERROR(CheckTaken("kernels"));
  if (outcome == Outcome::kKept) return outcome;
  TW_ASSIGN_OR_RETURN(Statement * insert, Prepared(kInsertBytes));
  insert->Bind(1, std::string_view(row.key));
  insert->Bind(2, std::string_view(bytes_sum));
  insert->BindBlob(3, row.cubin);
  TW_RETURN_IF_ERROR(insert->Run());
  TW_RETURN_IF_ERROR(CheckTaken("kernel_bytes"));
  return outcome;
}

absl::StatusOr<Outcome> Store::PutWinner(const WinnerRow& row, Conflict conflict) {
  Outcome outcome = Outcome::kAdded;
  if (conflict != Conflict::kReplace) {
    TW_ASSIGN_OR_RETURN(Statement * select, Prepared(kSelectWinner));
    ResetGuard reset(*select);
    select->Bind(1, std::string_view(row.key));
    TW_ASSIGN_OR_RETURN(const bool found, StepWithinBounds(*select));
    WinnerRow old;
    if (found && ReadIntact(*select, old)) {
      if (!Supersedes(row, old, conflict)) return Outcome::kKept;
      outcome = Outcome::kReplaced;
    }
  }
  TW_RETURN_IF_ERROR(Insert(kInsertWinner, row, RowSum(row)));
  TW_RETURN_IF_ERROR(CheckTaken("winners"));
  return outcome;
}

absl::StatusOr<Outcome> Store::PutTrial(const TrialRow& row, Conflict conflict) {
  Outcome outcome = Outcome::kAdded;
  if (conflict != Conflict::kReplace) {
    TW_ASSIGN_OR_RETURN(Statement * select, Prepared(kSelectTrial));
    ResetGuard reset(*select);
    select->Bind(1, std::string_view(row.problem_key));
    select->Bind(2, std::string_view(row.config_json));
    select->Bind(3, std::string_view(row.closure_digest));
    TW_ASSIGN_OR_RETURN(const bool found, StepWithinBounds(*select));
    TrialRow old;
    if (found && ReadIntact(*select, old)) {
      if (!Supersedes(row, old, conflict)) return Outcome::kKept;
      outcome = Outcome::kReplaced;
    }
  }
  TW_RETURN_IF_ERROR(Insert(kInsertTrial, row, RowSum(row)));
  TW_RETURN_IF_ERROR(CheckTaken("trials"));
  return outcome;
}

absl::Status Store::DeleteKernel(std::string_view key) {
  TW_RETURN_IF_ERROR(Run(kDeleteKernel, key));
  return Run(kDeleteBytes, key);
}

absl::Status Store::SetLastUsed(std::string_view key, int64_t now_unix) {
  KernelAt at;
  {
    TW_ASSIGN_OR_RETURN(Statement * select, Prepared(kSelectKernelHead));
    ResetGuard reset(*select);
    select->Bind(1, key);
    TW_ASSIGN_OR_RETURN(const bool found, StepWithinBounds(*select));
    if (!found) return absl::OkStatus();
    at = ReadKernel(*select, false);
  }
  if (!at.intact || at.row.last_used_unix >= now_unix) return absl::OkStatus();
  at.row.last_used_unix = now_unix;
  return Insert(kInsertKernel, at.row, RowSum(at.row, at.bytes_sum));
}

absl::StatusOr<int64_t> Store::LiveBytes() {
  TW_ASSIGN_OR_RETURN(int64_t pages, db_.QueryInt("PRAGMA page_count"));
  TW_ASSIGN_OR_RETURN(int64_t free, db_.QueryInt("PRAGMA freelist_count"));
  TW_ASSIGN_OR_RETURN(int64_t page_bytes, db_.QueryInt("PRAGMA page_size"));
  return (pages - free) * page_bytes;
}

}  // namespace tilewright
