// Reads the rows of a damaged SQLite file straight from its pages.
#ifndef TILEWRIGHT_CACHE_PAGE_SCAN_H_
#define TILEWRIGHT_CACHE_PAGE_SCAN_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "cache/rows.h"

namespace tilewright {

// Calls `sink` for every record on a readable table-leaf page of `db_path`, whatever the state of
// the header, the schema and the inner pages; where `wal_path` is not empty, pages of committed WAL
// frames stand in for those of the file. Records may be stale or damaged: the caller knows rows by
// their checksums. Returns the number of pages read. See https://sqlite.org/fileformat2.html.
int64_t ScanRecords(const std::string& db_path, const std::string& wal_path,
                    const std::function<void(Record)>& sink);

// The application_id in the header of an SQLite file; nullopt where the file has no such header.
// FailedPrecondition where it cannot be read.
absl::StatusOr<std::optional<int64_t>> ReadApplicationId(const std::string& path);

// One record of SQLite's record format; false where it is malformed. Exposed for fuzzing.
bool ParseRecord(std::string_view payload, std::vector<RecordValue>& values);

}  // namespace tilewright

#endif  // TILEWRIGHT_CACHE_PAGE_SCAN_H_
