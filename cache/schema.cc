#include "cache/schema.h"

#include <array>
#include <map>
#include <set>
#include <string>

#include "manifest/status.h"
#include "manifest/text.h"

namespace tilewright {
namespace {

// `sum` is XXH3-128, in hex, over the row's other columns (rows.h says how). In kernel_bytes it
// stands before the bytes, so that reading it never follows the bytes' overflow pages.
constexpr std::string_view kVersion1 = R"sql(
CREATE TABLE kernels(
  key TEXT NOT NULL PRIMARY KEY,
  op TEXT NOT NULL,
  template TEXT NOT NULL,
  instantiation TEXT NOT NULL,
  symbol TEXT NOT NULL,
  arch TEXT NOT NULL,
  compiler TEXT NOT NULL,
  flags TEXT NOT NULL,
  closure TEXT NOT NULL,
  digest TEXT NOT NULL,
  regs INT NOT NULL,
  smem INT NOT NULL,
  spill INT NOT NULL,
  compile_ms REAL NOT NULL,
  log TEXT NOT NULL,
  created INT NOT NULL,
  used INT NOT NULL,
  sum TEXT NOT NULL
) STRICT;
CREATE TABLE kernel_bytes(
  key TEXT NOT NULL PRIMARY KEY,
  sum TEXT NOT NULL,
  bytes BLOB NOT NULL
) STRICT;
CREATE TABLE winners(
  key TEXT NOT NULL PRIMARY KEY,
  op TEXT NOT NULL,
  dtypes TEXT NOT NULL,
  problem TEXT NOT NULL CHECK(json_valid(problem)),
  device TEXT NOT NULL,
  config TEXT NOT NULL CHECK(json_valid(config)),
  kernels TEXT NOT NULL,
  us REAL NOT NULL,
  sol_us REAL NOT NULL,
  eff REAL NOT NULL,
  trials INT NOT NULL,
  closure TEXT NOT NULL,
  space TEXT NOT NULL,
  version TEXT NOT NULL,
  tuned INT NOT NULL,
  sum TEXT NOT NULL
) STRICT;
CREATE INDEX winners_by_op ON winners(op, dtypes, device);
CREATE TABLE trials(
  problem_key TEXT NOT NULL,
  op TEXT NOT NULL,
  device TEXT NOT NULL,
  config TEXT NOT NULL CHECK(json_valid(config)),
  closure TEXT NOT NULL,
  status TEXT NOT NULL,
  samples INT NOT NULL,
  us REAL NOT NULL,
  p10 REAL NOT NULL,
  p90 REAL NOT NULL,
  regs INT NOT NULL,
  spill INT NOT NULL,
  error TEXT NOT NULL,
  measured INT NOT NULL,
  sum TEXT NOT NULL,
  PRIMARY KEY(problem_key, config, closure)
) STRICT;
CREATE VIEW best AS
  SELECT op, dtypes,
    (SELECT group_concat(j.key || '=' || j.value, ' ') FROM json_each(w.problem) j) AS problem,
    (SELECT group_concat(j.key || '=' || j.value, ' ') FROM json_each(w.config) j) AS config,
    round(us, 2) AS us, round(sol_us, 2) AS sol_us, round(eff, 3) AS eff, trials,
    device, date(tuned, 'unixepoch') AS tuned, version
  FROM winners w ORDER BY op, dtypes, w.problem;
CREATE VIEW slowest_vs_sol AS
  SELECT round(eff, 3) AS eff, round(us - sol_us, 2) AS lost_us, round(us, 2) AS us,
    round(sol_us, 2) AS sol_us, op, dtypes,
    (SELECT group_concat(j.key || '=' || j.value, ' ') FROM json_each(w.problem) j) AS problem,
    (SELECT group_concat(j.key || '=' || j.value, ' ') FROM json_each(w.config) j) AS config,
    device
  FROM winners w WHERE sol_us > 0 ORDER BY w.eff, w.key;
CREATE VIEW tuning_history AS
  SELECT t.op AS op,
    coalesce((SELECT group_concat(j.key || '=' || j.value, ' ') FROM json_each(w.problem) j),
             substr(t.problem_key, 1, 12)) AS problem,
    (SELECT group_concat(j.key || '=' || j.value, ' ') FROM json_each(t.config) j) AS config,
    t.status AS status, round(t.us, 2) AS us, round(t.p10, 2) AS p10, round(t.p90, 2) AS p90,
    CASE WHEN t.status = 'ok' AND w.us > 0 THEN round(t.us / w.us, 2) END AS vs_best,
    t.samples AS n, t.regs AS regs, t.spill AS spill, t.error AS error,
    datetime(t.measured, 'unixepoch') AS measured
  FROM trials t LEFT JOIN winners w ON w.key = t.problem_key
  ORDER BY t.op, t.problem_key, t.status <> 'ok', t.us, t.config;
CREATE VIEW cache_size AS
  SELECT op, count(*) AS kernels, round(sum(length(b.bytes)) / 1024.0, 1) AS kib,
    round(sum(compile_ms) / 1000.0, 2) AS compile_s,
    date(max(used), 'unixepoch') AS last_used
  FROM kernels JOIN kernel_bytes b USING(key) GROUP BY op ORDER BY 3 DESC, op;
)sql";

// Why candidates were turned down, and what compiling costs; the tables are those of version 1.
constexpr std::string_view kVersion2 = R"sql(
CREATE VIEW failures AS
  SELECT op, status, count(*) AS candidates, count(DISTINCT problem_key) AS problems,
    device, datetime(max(measured), 'unixepoch') AS last, error
  FROM trials WHERE status <> 'ok' GROUP BY op, status, device, error
  ORDER BY 3 DESC, op, status, error;
CREATE VIEW compile_times AS
  SELECT op, template, count(*) AS kernels, round(sum(compile_ms) / 1000.0, 2) AS total_s,
    round(avg(compile_ms)) AS mean_ms, round(max(compile_ms)) AS slowest_ms,
    sum(spill > 0) AS spilling, max(regs) AS most_regs
  FROM kernels GROUP BY op, template ORDER BY 4 DESC, op, template;
)sql";

constexpr std::array<std::string_view, 2> kSteps = {kVersion1, kVersion2};

using TableSql = std::map<std::string, std::string>;

absl::StatusOr<TableSql> Tables(Connection& db) {
  TW_ASSIGN_OR_RETURN(Statement query,
                      db.Prepare("SELECT name, sql FROM sqlite_schema WHERE type IN "
                                 "('table', 'trigger') AND name NOT LIKE 'sqlite_%'"));
  TableSql tables;
  while (true) {
    TW_ASSIGN_OR_RETURN(bool row, query.Step());
    if (!row) return tables;
    tables.emplace(query.Text(0), query.Text(1));
  }
}

// Text by kind and name, such as "table winners".
absl::StatusOr<TableSql> Objects(Connection& db) {
  TW_ASSIGN_OR_RETURN(Statement query,
                      db.Prepare("SELECT type || ' ' || name, sql FROM sqlite_schema WHERE name "
                                 "NOT LIKE 'sqlite_%'"));
  TableSql objects;
  while (true) {
    TW_ASSIGN_OR_RETURN(bool row, query.Step());
    if (!row) return objects;
    objects.emplace(query.Text(0), query.Text(1));
  }
}

absl::StatusOr<std::set<std::string>> Columns(Connection& db, std::string_view table) {
  TW_ASSIGN_OR_RETURN(Statement query, db.Prepare("SELECT name FROM pragma_table_info(?)"));
  query.Bind(1, table);
  std::set<std::string> columns;
  while (true) {
    TW_ASSIGN_OR_RETURN(bool row, query.Step());
    if (!row) return columns;
    columns.emplace(query.Text(0));
  }
}

// The first column of "table <name>" that the file's table has not, or empty.
absl::StatusOr<std::string> MissingColumn(Connection& expected, Connection& db,
                                          std::string_view object) {
  constexpr std::string_view kTable = "table ";
  if (!object.starts_with(kTable)) return std::string();
  object.remove_prefix(kTable.size());
  TW_ASSIGN_OR_RETURN(const std::set<std::string> ours, Columns(expected, object));
  TW_ASSIGN_OR_RETURN(const std::set<std::string> theirs, Columns(db, object));
  for (const std::string& column : ours) {
    if (!theirs.contains(column)) return column;
  }
  return std::string();
}

// What the tables of `version` look like: the steps run on an empty database.
absl::StatusOr<TableSql> ExpectedTables(std::span<const std::string_view> steps, int64_t version) {
  TW_ASSIGN_OR_RETURN(Connection scratch, Connection::OpenMemory());
  for (int64_t i = 0; i < version; ++i) {
    TW_RETURN_IF_ERROR(scratch.Exec(std::string(steps[static_cast<size_t>(i)])));
  }
  return Tables(scratch);
}

// True where the file holds just what the newest schema makes: every version differs in that.
absl::StatusOr<bool> IsOfTheNewest(Connection& db, std::span<const std::string_view> steps) {
  TW_ASSIGN_OR_RETURN(Connection scratch, Connection::OpenMemory());
  for (const std::string_view step : steps) TW_RETURN_IF_ERROR(scratch.Exec(std::string(step)));
  TW_ASSIGN_OR_RETURN(const TableSql expected, Objects(scratch));
  TW_ASSIGN_OR_RETURN(const TableSql found, Objects(db));
  return found == expected;
}

// Which version the file is at; 0 is an empty file. DataLoss where its header does not fit what it
// holds.
absl::StatusOr<int64_t> FileVersion(Connection& db, std::span<const std::string_view> steps) {
  TW_ASSIGN_OR_RETURN(int64_t version, db.QueryInt("PRAGMA user_version"));
  TW_ASSIGN_OR_RETURN(int64_t application, db.QueryInt("PRAGMA application_id"));
  TW_ASSIGN_OR_RETURN(TableSql tables, Tables(db));
  if (application == 0 && version == 0 && tables.empty()) return 0;
  if (application != kApplicationId || version != static_cast<int64_t>(steps.size())) {
    TW_ASSIGN_OR_RETURN(const bool is_newest, IsOfTheNewest(db, steps));
    if (is_newest) {
      return absl::DataLossError(Cat("kernel cache: the header says application ", application,
                                     " and version ", version, ", the tables are those of ",
                                     kApplicationId, " and ", steps.size()));
    }
  }
  if (application != kApplicationId) {
    return FailedPrecondition("kernel cache: the file is an SQLite database of another program",
                              " (application_id ", application, ", expected ", kApplicationId,
                              "); choose another path");
  }
  auto newest = static_cast<int64_t>(steps.size());
  if (version > newest) {
    return FailedPrecondition("kernel cache: the file has schema version ", version,
                              ", this library reads up to ", newest,
                              "; use a newer library or another path");
  }
  return version;
}

// A file with the right numbers but other tables (or triggers) is damaged or hostile.
absl::Status CompareTables(Connection& db, const TableSql& expected) {
  TW_ASSIGN_OR_RETURN(TableSql tables, Tables(db));
  for (const auto& [name, sql] : expected) {
    auto found = tables.find(name);
    if (found == tables.end() || found->second != sql) {
      return absl::DataLossError(Cat("kernel cache: table ", name, " is not what the schema says"));
    }
  }
  for (const auto& [name, sql] : tables) {
    if (expected.contains(name)) continue;
    return absl::DataLossError(
        Cat("kernel cache: the file holds a table or trigger of others, ", Escaped(name)));
  }
  return absl::OkStatus();
}

}  // namespace

std::span<const std::string_view> SchemaSteps() { return kSteps; }
int SchemaVersion() { return static_cast<int>(kSteps.size()); }

absl::Status Migrate(Connection& db, std::span<const std::string_view> steps) {
  TW_ASSIGN_OR_RETURN(int64_t version, FileVersion(db, steps));
  auto newest = static_cast<int64_t>(steps.size());
  if (version == newest) return absl::OkStatus();
  if (version > 0) {
    TW_ASSIGN_OR_RETURN(TableSql expected, ExpectedTables(steps, version));
    TW_RETURN_IF_ERROR(CompareTables(db, expected));
  }
  // Takes effect only before the first table is made.
  if (version == 0) TW_RETURN_IF_ERROR(db.Exec("PRAGMA auto_vacuum = INCREMENTAL"));
  TW_ASSIGN_OR_RETURN(Transaction transaction, Transaction::Begin(db));
  for (int64_t i = version; i < newest; ++i) {
    TW_RETURN_IF_ERROR(db.Exec(std::string(steps[static_cast<size_t>(i)])));
  }
  TW_RETURN_IF_ERROR(db.Exec(Cat("PRAGMA application_id = ", kApplicationId)));
  TW_RETURN_IF_ERROR(db.Exec(Cat("PRAGMA user_version = ", newest)));
  return transaction.Commit();
}

absl::StatusOr<SchemaFindings> CompareSchema(Connection& db) {
  TW_ASSIGN_OR_RETURN(const int64_t version, FileVersion(db, kSteps));
  TW_ASSIGN_OR_RETURN(Connection scratch, Connection::OpenMemory());
  for (int64_t i = 0; i < version; ++i) {
    TW_RETURN_IF_ERROR(scratch.Exec(std::string(kSteps[static_cast<size_t>(i)])));
  }
  TW_ASSIGN_OR_RETURN(const TableSql expected, Objects(scratch));
  TW_ASSIGN_OR_RETURN(const TableSql found, Objects(db));
  SchemaFindings findings;
  for (const auto& [name, sql] : expected) {
    const auto object = found.find(name);
    if (object == found.end()) {
      findings.missing.push_back(Cat(name, " is missing"));
      continue;
    }
    if (object->second == sql) continue;
    TW_ASSIGN_OR_RETURN(const std::string column, MissingColumn(scratch, db, name));
    if (column.empty()) {
      findings.altered.push_back(Cat(name, " is not what the schema says"));
    } else {
      findings.missing.push_back(Cat(name, " lacks column ", column));
    }
  }
  for (const auto& [name, sql] : found) {
    if (expected.contains(name)) continue;
    const size_t space = name.find(' ');
    const std::string kind = name.substr(0, space);
    findings.altered.push_back(
        Cat("the file holds ",
            kind == "index" || kind == "view" ? "an index or view" : "a table or trigger",
            " of others, ", Escaped(name.substr(space + 1))));
  }
  return findings;
}

absl::Status CheckSchema(Connection& db) {
  TW_ASSIGN_OR_RETURN(int64_t version, FileVersion(db, kSteps));
  TW_ASSIGN_OR_RETURN(TableSql expected, ExpectedTables(kSteps, version));
  TW_ASSIGN_OR_RETURN(TableSql newest, ExpectedTables(kSteps, SchemaVersion()));
  if (expected != newest) {
    return FailedPrecondition("kernel cache: the file has schema version ", version, ", expected ",
                              SchemaVersion(), "; open it writable once to migrate it");
  }
  return CompareTables(db, expected);
}

}  // namespace tilewright
