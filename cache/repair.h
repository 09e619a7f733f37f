// Setting a damaged database aside and building a new one from what can be read of it.
#ifndef TILEWRIGHT_CACHE_REPAIR_H_
#define TILEWRIGHT_CACHE_REPAIR_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

#include "absl/status/statusor.h"
#include "cache/salvage.h"

namespace tilewright {

struct RepairReport {
  std::string set_aside;  // where the damaged file went
  Salvaged salvaged;
  // Why rows that others wrote meanwhile may be only in the file that was set aside; or OK.
  absl::Status late_rows;
};

// Replaces the file at `path` by a new database that holds every intact row of the old one and its
// WAL; the old ones are kept as "<path>.corrupt-<n>". The caller holds the open lock and has closed
// its own connection. The new file is whole, and on the disk, before anything else is touched. Who
// is killed while the names change leaves "<path>.swap-<n>", which UndoSwap() knows.
// Nobody else writes meanwhile: SQLite's own lock is held on the old file from the first look at it
// to the last rename. Where its damage lets none be had, what others wrote is added at the end; and
// what they write once the names have changed they put again (Store::Write).
// Unavailable where somebody else goes on writing for `writers_timeout`, ResourceExhausted where
// there is no room, or no right, for a new file: all is left as it was. `before_step`, for tests,
// is called before each change.
absl::StatusOr<RepairReport> Repair(
    const std::string& path, std::chrono::milliseconds writers_timeout,
    const std::function<void()>& before_step = [] {});

// Where a repair was killed while the names changed, gives the old file its companions back; where
// it was killed before, removes what it had built. The caller holds the open lock.
void UndoSwap(
    const std::string& path, const std::function<void()>& before_step = [] {});

// FailedPrecondition where the file at `path` is another program's, and must be left alone. OK
// where there is none or it cannot be read, and where it is a cache, whole or damaged: its header
// says so, or some row is intact, or it lost both and `was_used` (a cache was opened there before).
// A database that names no program may become a cache unless it is `damaged`: schema.h decides.
absl::Status RefuseForeign(const std::string& path, bool was_used, bool damaged);

// FailedPrecondition unless an export may replace what is at `path`: nothing, an empty file, or a
// cache, whole or damaged; never where a WAL, a journal or a repair's swap stands beside it, nor a
// name that SQLite or this library would take for what belongs to another database. A link is not
// followed, nor replaced.
absl::Status RefuseToReplace(const std::string& path);

// How many damaged files are kept beside `path`.
int64_t CountSetAside(const std::string& path);

}  // namespace tilewright

#endif  // TILEWRIGHT_CACHE_REPAIR_H_
