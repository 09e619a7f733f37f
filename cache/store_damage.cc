// Rows that are not served: told, and taken out where the file lets them be.
#include <span>
#include <utility>

#include "cache/row_sql.h"
#include "cache/store.h"
#include "manifest/status.h"
#include "manifest/text.h"

namespace tilewright {
namespace {

constexpr std::string_view kKernelKey = "SELECT key FROM kernels WHERE rowid = ?";
constexpr std::string_view kWinnerKey = "SELECT key FROM winners WHERE rowid = ?";
constexpr std::string_view kTrialKey = "SELECT problem_key FROM trials WHERE rowid = ?";
constexpr std::string_view kKernelRowid = "SELECT rowid FROM kernels WHERE key = ?";
constexpr std::string_view kWinnerRowid = "SELECT rowid FROM winners WHERE key = ?";
constexpr std::string_view kBytesOf = "DELETE FROM kernel_bytes WHERE key = ?";
// The plus keeps IN from asking the index, which may lack a row.
constexpr std::string_view kOrphans =
    "SELECT rowid, key FROM kernel_bytes NOT INDEXED "
    "WHERE key NOT IN (SELECT +key FROM kernels NOT INDEXED)";
// Of one that was found so: a kernel that was put since is in the index.
constexpr std::string_view kOrphanAt =
    "SELECT 1 FROM kernel_bytes b WHERE rowid = ? "
    "AND NOT EXISTS (SELECT 1 FROM kernels WHERE key = b.key)";
constexpr std::string_view kBytesByScan =
    "SELECT rowid FROM kernel_bytes NOT INDEXED WHERE key = ?";
constexpr std::string_view kKeysByScan = "SELECT key FROM kernel_bytes NOT INDEXED";
constexpr std::string_view kBeyond = "a value beyond all bounds";

}  // namespace

void Store::NoteDamaged(std::string_view table, std::string_view key, int64_t rowid,
                        std::string_view flaw) {
  damaged_rows_.push_back({table, std::string(key), rowid, flaw});
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
  NoteDamaged(table, name, rowid, kBeyond);
}

absl::Status Store::NoteUnreadable(std::string_view table, std::string_view key) {
  TW_ASSIGN_OR_RETURN(Statement * select,
                      Prepared(table == "kernels" ? kKernelRowid : kWinnerRowid));
  ResetGuard reset(*select);
  select->Bind(1, key);
  TW_ASSIGN_OR_RETURN(const bool found, select->Step());
  if (found) NoteDamaged(table, key, select->Int(0), kBeyond);
  return absl::OkStatus();
}

absl::Status Store::OtherKey(std::string_view table, int64_t rowid) {
  return absl::DataLossError(
      Cat("kernel cache: reading: an index names row ", rowid, " of ", table, " by another key"));
}

absl::Status Store::CheckBytesAreGone(std::string_view key) {
  TW_ASSIGN_OR_RETURN(Statement * select, Prepared(kBytesByScan));
  ResetGuard reset(*select);
  select->Bind(1, key);
  TW_ASSIGN_OR_RETURN(const bool found, select->Step());
  if (!found) return absl::OkStatus();
  return absl::DataLossError(Cat("kernel cache: reading: row ", select->Int(0),
                                 " of kernel_bytes is missing from its index"));
}

absl::StatusOr<std::unordered_set<std::string>> Store::KeysOfBytes() {
  TW_ASSIGN_OR_RETURN(Statement * select, Prepared(kKeysByScan));
  ResetGuard reset(*select);
  std::unordered_set<std::string> keys;
  while (true) {
    TW_ASSIGN_OR_RETURN(const bool found, select->Step());
    if (!found) return keys;
    keys.emplace(select->Text(0));
  }
}

absl::StatusOr<bool> Store::IsStillDamaged(const DamagedRow& row) {
  TW_ASSIGN_OR_RETURN(Statement * select, Prepared(row.table == "kernels"   ? sql::kKernelAt
                                                   : row.table == "winners" ? sql::kWinnerAt
                                                   : row.table == "trials"  ? sql::kTrialAt
                                                                            : kOrphanAt));
  ResetGuard reset(*select);
  select->Bind(1, row.rowid);
  const absl::StatusOr<bool> found = select->Step();
  if (absl::IsInvalidArgument(found.status())) return true;  // a value beyond all bounds
  TW_RETURN_IF_ERROR(found.status());
  if (!*found) return false;
  if (row.table == "kernels") return !ReadKernel(*select, true).flaw.empty();
  if (row.table == "winners") return !ReadWinner(*select).flaw.empty();
  if (row.table == "trials") return !ReadTrial(*select).flaw.empty();
  return true;
}

absl::StatusOr<bool> Store::DeleteDamaged(const DamagedRow& row) {
  TW_ASSIGN_OR_RETURN(const bool is_damaged, IsStillDamaged(row));
  if (!is_damaged) return false;
  TW_RETURN_IF_ERROR(
      db_.ExecOfAnyLength(Cat("DELETE FROM ", row.table, " WHERE rowid = ", row.rowid)));
  if (row.table == "kernels") TW_RETURN_IF_ERROR(Run(kBytesOf, row.key));
  TW_ASSIGN_OR_RETURN(const int64_t left, db_.QueryInt(Cat("SELECT count(*) FROM ", row.table,
                                                           " WHERE rowid = ", row.rowid)));
  if (left == 0) return true;
  return InvalidArgument("kernel cache: deleting a row of ", row.table,
                         ": it is still there: a trigger ignores it");
}

absl::Status Store::Sweep() {
  const std::vector<DamagedRow> rows = std::exchange(damaged_rows_, {});
  for (const DamagedRow& row : rows) {
    damage_.push_back(Cat(row.table, " row ", Escaped(row.key), ": ", row.flaw));
  }
  if (rows.empty() || !writable_) return absl::OkStatus();
  const auto sweep = [&](std::span<const DamagedRow> some) {
    int64_t deleted = 0;
    const absl::Status status = Write([&]() -> absl::Status {
      for (const DamagedRow& row : some) {
        TW_ASSIGN_OR_RETURN(const bool is_gone, DeleteDamaged(row));
        deleted += is_gone ? 1 : 0;
      }
      return absl::OkStatus();
    });
    if (status.ok()) swept_.deleted += deleted;
    return status;
  };
  const absl::Status swept = sweep(rows);
  if (absl::IsInvalidArgument(swept) && rows.size() > 1) {
    // One that the file's own rules keep does not keep the others.
    for (const DamagedRow& row : rows) swept_.kept.Update(sweep({&row, 1}));
  } else {
    swept_.kept.Update(swept);
  }
  // Rows that cannot be deleted now are not served either; only a damaged file is news.
  return absl::IsDataLoss(swept) ? swept : absl::OkStatus();
}

absl::Status Store::SweepOrphans() {
  {
    TW_ASSIGN_OR_RETURN(Statement * select, Prepared(kOrphans));
    ResetGuard reset(*select);
    while (true) {
      TW_ASSIGN_OR_RETURN(const bool found, select->Step());
      if (!found) break;
      NoteDamaged("kernel_bytes", select->Text(1), select->Int(0), "bytes of no kernel");
    }
  }
  return Sweep();
}

std::vector<std::string> Store::TakeDamage() { return std::exchange(damage_, {}); }
Swept Store::TakeSwept() { return std::exchange(swept_, {}); }

}  // namespace tilewright
