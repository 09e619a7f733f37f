// What can be read of a damaged database, page by page.
#ifndef TILEWRIGHT_CACHE_SALVAGE_H_
#define TILEWRIGHT_CACHE_SALVAGE_H_

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "cache/page_scan.h"
#include "cache/store.h"

namespace tilewright {

// The names of the rows that a file's indexes tell of, such as "winner <key>". A page of rows that
// cannot be read leaves those that tell which rows it held.
struct Inventory {
  std::vector<std::string> names;  // as the row has it where it can be read, else as the index
  std::map<std::string, std::string> index_names;  // by the name, where the index has another one
  bool is_whole = false;                           // every index was read to its end
};
// Reads indexes only. Empty for a file whose tables are not ours.
Inventory TakeInventory(const std::string& path);

struct Salvaged {
  int64_t kept = 0;
  // Names of rows that the inventory, or where that is not whole a trace on some page, tells of,
  // and of which no version was intact.
  std::vector<std::string> lost;
  bool knows_all = true;  // of what was lost: the inventory is whole
};
// Puts every intact row of the database and its WAL into `fresh`; of one key's versions the newest.
absl::StatusOr<Salvaged> Salvage(const RawFile& db, const RawFile& wal, const Inventory& inventory,
                                 Store& fresh);

// A cache file that is only read.
struct ReadableFile {
  std::unique_ptr<Store> store;  // the file, or a copy of its intact rows in memory
  std::string damage;            // what was read of a damaged file; empty where it is whole
  Salvaged salvaged;
};
// A copy in memory of the intact rows of a file that cannot be repaired where it is; `reason` says
// what is wrong with it. DataLoss where there are none.
absl::StatusOr<ReadableFile> ReadSalvaged(const std::string& path, std::string_view reason);
// The file, or such a copy where its structure is damaged or its tables are not ours.
// ResourceExhausted also where a process died in the middle of a transaction that only who may
// write the file can undo.
absl::StatusOr<ReadableFile> OpenReadable(const std::string& path,
                                          std::chrono::milliseconds busy_timeout);

// For trying again what was read of a file that somebody writes.
inline constexpr int kMostReadings = 5;
inline constexpr auto kBetweenReadings = std::chrono::milliseconds(50);

// True where some row of the file is intact.
bool HoldsRows(const std::string& path);

// "; at least 2 rows are lost: kernel k, winner w", or empty; of many the first are named.
std::string LostText(const Salvaged& salvaged);

}  // namespace tilewright

#endif  // TILEWRIGHT_CACHE_SALVAGE_H_
