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

// A file open to be read, whatever becomes of its name. Closing a database drops the locks that
// SQLite has on it for this process, so who wants them kept closes this after them.
class RawFile {
 public:
  explicit RawFile(const std::string& path);  // an empty path: no file
  RawFile(const RawFile&) = delete;
  RawFile& operator=(const RawFile&) = delete;
  ~RawFile();

  bool is_open() const { return fd_ >= 0; }
  int64_t Bytes() const;  // as it is now; 0 where there is no file
  // Empty where the range cannot be read whole.
  std::string Read(int64_t offset, size_t count) const;
  // The errno of a disk that could not be read, though it was tried again; else 0. What the file
  // holds there may be seen another day.
  int error() const { return error_; }
  // Makes a new file of its bytes; false, and none, where that fails.
  bool CopyTo(const std::string& path) const;

 private:
  int fd_;
  mutable int error_ = 0;
};

// Free pages, which hold what they held when they were in use, are those of the free list and those
// beyond the end of the database; where the file does not tell, there are none.
enum class PageUse : uint8_t { kAny, kUsed, kFree };

// Calls `sink` for every record on a readable table-leaf page of `db`, whatever the state of the
// header, the schema and the inner pages; where `wal` is not null, pages of its committed frames
// stand in for those of the file. Records may be stale or damaged: the caller knows rows by their
// checksums. Returns the number of pages read. See https://sqlite.org/fileformat2.html.
int64_t ScanRecords(const RawFile& db, const RawFile* wal, const std::function<void(Record)>& sink,
                    PageUse use = PageUse::kAny);

// The application_id in the header of an SQLite file; nullopt where the file has no such header.
// FailedPrecondition where it cannot be read.
absl::StatusOr<std::optional<int64_t>> ReadApplicationId(const std::string& path);

// True where the header says that the file is used with a WAL.
bool SaysWal(const std::string& path);

// One record of SQLite's record format; false where it is malformed. Exposed for fuzzing.
bool ParseRecord(std::string_view payload, std::vector<RecordValue>& values);

}  // namespace tilewright

#endif  // TILEWRIGHT_CACHE_PAGE_SCAN_H_
