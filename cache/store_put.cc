// Rows that go into a store.
#include <algorithm>
#include <utility>

#include "cache/prefer.h"
#include "cache/row_sql.h"
#include "cache/store.h"
#include "cache/winner_versions.h"
#include "manifest/status.h"
#include "manifest/text.h"

namespace tilewright {
namespace {

constexpr std::string_view kDeleteKernel = "DELETE FROM kernels WHERE key = ?";
constexpr std::string_view kTriggers = "SELECT count(*) FROM sqlite_schema WHERE type = 'trigger'";
constexpr std::string_view kDeleteWinner = "DELETE FROM winners WHERE key = ?";
constexpr std::string_view kVersions =
    "SELECT rowid FROM winners WHERE key = ? UNION ALL "
    "SELECT rowid FROM winners WHERE key >= ? AND key < ?";
constexpr std::string_view kDeleteBytes = "DELETE FROM kernel_bytes WHERE key = ?";

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

absl::Status Store::Write(const std::function<absl::Status()>& body) {
  TW_ASSIGN_OR_RETURN(Transaction transaction, Transaction::Begin(db_));
  // Under the lock, which a repair holds until its last rename.
  TW_RETURN_IF_ERROR(CheckInPlace());
  TW_RETURN_IF_ERROR(body());
  TW_RETURN_IF_ERROR(transaction.Commit());
  // For a repair that could not have the lock: what was committed before the rename it finds.
  return CheckInPlace();
}

absl::Status Store::CheckInPlace() const {
  if (path_.empty() || IdOf(path_) == state_.id) return absl::OkStatus();
  return absl::AbortedError(
      Cat("kernel cache: writing: another file is at ", path_, " than was opened"));
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

absl::Status Store::CheckPut(std::string_view table, std::string_view sum,
                             std::string_view expected_sum) {
  if (sum == expected_sum) return absl::OkStatus();
  TW_ASSIGN_OR_RETURN(const int64_t triggers, Count(kTriggers));
  if (triggers == 0) {
    return absl::DataLossError(Cat("kernel cache: writing: an index of ", table,
                                   " does not lead to the row that was put"));
  }
  return InvalidArgument("kernel cache: writing: the row that was put into ", table,
                         " is not there as it was: a trigger changes it");
}

absl::StatusOr<Outcome> Store::PutKernel(const KernelRow& row, Conflict conflict) {
  KernelRow merged = row;
  std::string bytes_sum = BytesSum(row.key, row.cubin);
  Outcome outcome = Outcome::kAdded;
  if (conflict != Conflict::kReplace) {
    TW_ASSIGN_OR_RETURN(Statement * select, Prepared(sql::kKernel));
    ResetGuard reset(*select);
    select->Bind(1, std::string_view(row.key));
    TW_ASSIGN_OR_RETURN(const bool found, StepWithinBounds(*select));
    KernelAt old;
    if (found) old = ReadKernel(*select, true);
    if (old.flaw.empty()) {
      if (conflict == Conflict::kKeep) return Outcome::kKept;
      bool better = IsBetter(row, bytes_sum, old.row, old.bytes_sum);
      outcome = better ? Outcome::kReplaced : Outcome::kKept;
      if (!better) merged = old.row;
      merged.created_unix = std::min(row.created_unix, old.row.created_unix);
      merged.last_used_unix = std::max(row.last_used_unix, old.row.last_used_unix);
      if (!better) bytes_sum = old.bytes_sum;
    }
  }
  const std::string sum = RowSum(merged, bytes_sum);
  TW_RETURN_IF_ERROR(Insert(sql::kInsertKernel, merged, sum));
  TW_RETURN_IF_ERROR(CheckTaken("kernels"));
  if (outcome == Outcome::kKept) return outcome;
  TW_ASSIGN_OR_RETURN(Statement * insert, Prepared(sql::kInsertBytes));
  insert->Bind(1, std::string_view(row.key));
  insert->Bind(2, std::string_view(bytes_sum));
  insert->BindBlob(3, row.cubin);
  TW_RETURN_IF_ERROR(insert->Run());
  TW_RETURN_IF_ERROR(CheckTaken("kernel_bytes"));
  TW_ASSIGN_OR_RETURN(Statement * head, Prepared(sql::kKernelHead));
  ResetGuard reset(*head);
  head->Bind(1, std::string_view(row.key));
  TW_ASSIGN_OR_RETURN(const bool found, head->Step());
  KernelAt put;
  if (found) put = ReadKernel(*head, false);
  // The bytes by their number: reading them would double what a put costs.
  const bool has_bytes = put.row.cubin_bytes == static_cast<int64_t>(row.cubin.size());
  TW_RETURN_IF_ERROR(CheckPut("kernels", has_bytes ? RowSum(put.row, put.bytes_sum) : "", sum));
  return outcome;
}

absl::Status Store::InsertWinner(const WinnerRow& row) {
  const std::string sum = RowSum(row);
  TW_RETURN_IF_ERROR(Insert(sql::kInsertWinner, row, sum));
  TW_RETURN_IF_ERROR(CheckTaken("winners"));
  TW_ASSIGN_OR_RETURN(Statement * check, Prepared(sql::kWinner));
  ResetGuard reset(*check);
  check->Bind(1, std::string_view(row.key));
  TW_ASSIGN_OR_RETURN(const bool found, check->Step());
  RowAt<WinnerRow> put;
  if (found) put = ReadWinner(*check);
  return CheckPut("winners", RowSum(put.row), sum);
}

absl::StatusOr<std::vector<WinnerRow>> Store::VersionsOf(const std::string& problem_key) {
  TW_ASSIGN_OR_RETURN(Statement * rowids, Prepared(kVersions));
  const std::string first = VersionedKey(problem_key, "");
  const std::string beyond = Cat(problem_key, "A");  // the character after "@"
  rowids->Bind(1, std::string_view(problem_key));
  rowids->Bind(2, std::string_view(first));
  rowids->Bind(3, std::string_view(beyond));
  std::vector<WinnerRow> rows;
  TW_RETURN_IF_ERROR(ForEach("winners", *rowids, sql::kWinnerAt, [&](const Statement& select) {
    RowAt<WinnerRow> at = ReadWinner(select);
    if (at.flaw.empty() && ProblemOf(at.row) == problem_key) rows.push_back(std::move(at.row));
    return absl::OkStatus();
  }));
  return rows;
}

absl::StatusOr<Outcome> Store::PutWinner(const WinnerRow& row, Conflict conflict) {
  const std::string problem = ProblemOf(row);
  WinnerRow put = row;
  put.key = problem;
  TW_ASSIGN_OR_RETURN(const std::vector<WinnerRow> before, VersionsOf(problem));
  std::vector<WinnerRow> after = {put};
  Outcome outcome = Outcome::kAdded;
  for (const WinnerRow& old : before) {
    after.push_back(old);
    if (VersionOf(old) != VersionOf(put)) continue;
    WinnerRow same = std::exchange(after.back(), put);
    same.key = problem;
    if (!Supersedes(put, same, conflict)) return Outcome::kKept;
    after.erase(after.begin());
    outcome = Outcome::kReplaced;
  }
  ArrangeVersions(problem, after);
  for (const WinnerRow& each : after) {
    const bool stays = std::any_of(before.begin(), before.end(), [&](const WinnerRow& old) {
      return old.key == each.key && RowSum(old) == RowSum(each);
    });
    if (!stays) TW_RETURN_IF_ERROR(InsertWinner(each));
  }
  for (const WinnerRow& old : before) {
    const bool has_place = std::any_of(after.begin(), after.end(),
                                       [&](const WinnerRow& each) { return each.key == old.key; });
    if (!has_place) TW_RETURN_IF_ERROR(Run(kDeleteWinner, old.key));
  }
  const bool is_there = std::any_of(after.begin(), after.end(), [&](const WinnerRow& each) {
    return VersionOf(each) == VersionOf(put);
  });
  return is_there ? outcome : Outcome::kKept;
}

absl::StatusOr<Outcome> Store::PutTrial(const TrialRow& row, Conflict conflict) {
  Outcome outcome = Outcome::kAdded;
  if (conflict != Conflict::kReplace) {
    TW_ASSIGN_OR_RETURN(Statement * select, Prepared(sql::kTrial));
    ResetGuard reset(*select);
    select->Bind(1, std::string_view(row.problem_key));
    select->Bind(2, std::string_view(row.config_json));
    select->Bind(3, std::string_view(row.closure_digest));
    TW_ASSIGN_OR_RETURN(const bool found, StepWithinBounds(*select));
    RowAt<TrialRow> old;
    if (found) old = ReadTrial(*select);
    if (old.flaw.empty()) {
      if (!Supersedes(row, old.row, conflict)) return Outcome::kKept;
      outcome = Outcome::kReplaced;
    }
  }
  const std::string sum = RowSum(row);
  TW_RETURN_IF_ERROR(Insert(sql::kInsertTrial, row, sum));
  TW_RETURN_IF_ERROR(CheckTaken("trials"));
  TW_ASSIGN_OR_RETURN(Statement * check, Prepared(sql::kTrial));
  ResetGuard reset(*check);
  check->Bind(1, std::string_view(row.problem_key));
  check->Bind(2, std::string_view(row.config_json));
  check->Bind(3, std::string_view(row.closure_digest));
  TW_ASSIGN_OR_RETURN(const bool found, check->Step());
  RowAt<TrialRow> put;
  if (found) put = ReadTrial(*check);
  TW_RETURN_IF_ERROR(CheckPut("trials", RowSum(put.row), sum));
  return outcome;
}

absl::Status Store::DeleteKernel(std::string_view key) {
  TW_RETURN_IF_ERROR(Run(kDeleteKernel, key));
  TW_ASSIGN_OR_RETURN(const bool there, HasKernel(key));
  if (there) {
    return InvalidArgument("kernel cache: deleting kernel ", Escaped(key),
                           ": it is still there: a trigger ignores it");
  }
  return Run(kDeleteBytes, key);
}

absl::Status Store::SetLastUsed(std::string_view key, int64_t now_unix) {
  KernelAt at;
  {
    TW_ASSIGN_OR_RETURN(Statement * select, Prepared(sql::kKernelHead));
    ResetGuard reset(*select);
    select->Bind(1, key);
    TW_ASSIGN_OR_RETURN(const bool found, StepWithinBounds(*select));
    if (!found) return absl::OkStatus();
    at = ReadKernel(*select, false);
  }
  if (!at.flaw.empty() || at.row.last_used_unix >= now_unix) return absl::OkStatus();
  at.row.last_used_unix = now_unix;
  return Insert(sql::kInsertKernel, at.row, RowSum(at.row, at.bytes_sum));
}

}  // namespace tilewright
