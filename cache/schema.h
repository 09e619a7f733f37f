// The tables and views of a cache file, and how a file of an older schema is brought up to date.
#ifndef TILEWRIGHT_CACHE_SCHEMA_H_
#define TILEWRIGHT_CACHE_SCHEMA_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cache/sqlite.h"

namespace tilewright {

inline constexpr int64_t kApplicationId = 0x54574b43;  // "TWKC"

// Step i (from 0) takes a file from schema version i to i + 1. Steps are frozen once released.
std::span<const std::string_view> SchemaSteps();

// SchemaSteps().size(): the version that this library writes.
int SchemaVersion();

// Creates or migrates in one transaction; the caller keeps other processes out. FailedPrecondition
// for a newer schema or another program's file; DataLoss where the tables are not what the file's
// version says.
absl::Status Migrate(Connection& db, std::span<const std::string_view> steps = SchemaSteps());

// What the tables, columns, indexes, views and triggers of a file are to those of its version.
struct SchemaFindings {
  std::vector<std::string> missing;  // what does not work without: to be rebuilt
  std::vector<std::string> altered;  // by hand: other text, or more of them
};
absl::StatusOr<SchemaFindings> CompareSchema(Connection& db);

// Checks a file that is only read: its version must have this version's tables. DataLoss, naming
// it, where a table or trigger is not what that says: changed by hand, or damaged.
absl::Status CheckSchema(Connection& db);

}  // namespace tilewright

#endif  // TILEWRIGHT_CACHE_SCHEMA_H_
