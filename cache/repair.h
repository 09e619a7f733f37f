// Setting a damaged database aside and building a new one from what can be read of it.
#ifndef TILEWRIGHT_CACHE_REPAIR_H_
#define TILEWRIGHT_CACHE_REPAIR_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "cache/store.h"

namespace tilewright {

struct RepairReport {
  std::string set_aside;  // where the damaged file went
  int64_t rows_kept = 0;
};

// Replaces the file at `path` by a new database that holds every intact row of the old one and its
// WAL; the old ones are kept as "<path>.corrupt-<n>". The caller holds the open lock and has closed
// its own connection. Crash-safe: at every moment `path` is the old file or the whole new one.
absl::StatusOr<RepairReport> Repair(const std::string& path);

// Puts every intact row of the files into `fresh`; of one key's versions the newest. Returns how
// many rows it kept.
absl::StatusOr<int64_t> Salvage(const std::string& db_path, const std::string& wal_path,
                                Store& fresh);

}  // namespace tilewright

#endif  // TILEWRIGHT_CACHE_REPAIR_H_
