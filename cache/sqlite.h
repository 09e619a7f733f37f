// RAII over SQLite: a connection and a prepared statement. The only door to the library.
#ifndef TILEWRIGHT_CACHE_SQLITE_H_
#define TILEWRIGHT_CACHE_SQLITE_H_

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

struct sqlite3;
struct sqlite3_stmt;

namespace tilewright {

// Codes that callers act on: Unavailable (locked by another), DataLoss (the file is damaged),
// InvalidArgument (a constraint or a bound), ResourceExhausted (the place cannot be written or
// read). Anything else is Internal.
absl::Status SqliteStatus(int code, std::string_view doing, std::string_view message);

// A prepared statement. Movable; not thread-safe. Must not outlive its connection.
class Statement {
 public:
  Statement() = default;
  explicit Statement(sqlite3_stmt* stmt) : stmt_(stmt) {}

  // Parameters count from 1. Text and blobs are not copied: they must live until Reset().
  void Bind(int index, std::string_view text);
  void Bind(int index, int64_t value);
  void Bind(int index, double value);
  void BindBlob(int index, std::string_view bytes);

  absl::StatusOr<bool> Step();  // true: a row is there
  absl::Status Run();           // steps to the end, then resets
  void Reset();

  enum class Type : uint8_t { kNull, kInteger, kReal, kText, kBlob };
  Type TypeOf(int column) const;  // of the value, whatever the column's
  // Columns count from 0. The views live until the next Step() or Reset().
  std::string_view Text(int column) const;
  int64_t Int(int column) const;
  double Real(int column) const;
  int columns() const;
  explicit operator bool() const { return stmt_ != nullptr; }

 private:
  struct Finalizer {
    void operator()(sqlite3_stmt* stmt) const;
  };
  std::unique_ptr<sqlite3_stmt, Finalizer> stmt_;
};

// Resets a cached statement at the end of a scope, so that it holds no read lock.
class ResetGuard {
 public:
  explicit ResetGuard(Statement& statement) : statement_(statement) {}
  ~ResetGuard() { statement_.Reset(); }
  ResetGuard(const ResetGuard&) = delete;
  ResetGuard& operator=(const ResetGuard&) = delete;

 private:
  Statement& statement_;
};

// A connection. Movable; not thread-safe. Untrusted files are safe to read: their schema may call
// no unsafe function, and values are bounded.
class Connection {
 public:
  enum class Mode : uint8_t {
    kReadWrite,
    kReadOnly,
    kImmutable,  // no locks, no sidecar files: for folders that cannot be written
  };

  Connection() = default;
  static absl::StatusOr<Connection> Open(const std::string& path, Mode mode,
                                         std::chrono::milliseconds busy_timeout);
  static absl::StatusOr<Connection> OpenMemory();

  absl::Status Exec(const std::string& sql);
  absl::StatusOr<Statement> Prepare(std::string_view sql);
  absl::StatusOr<int64_t> QueryInt(std::string_view sql);
  absl::StatusOr<std::string> QueryText(std::string_view sql);
  // The same, reading values of any length.
  absl::StatusOr<std::string> Verdict(std::string_view pragma);
  absl::Status ExecOfAnyLength(const std::string& sql);
  // Rows that the last INSERT, UPDATE or DELETE changed, those of its triggers apart.
  int64_t ChangedRows() const;
  bool IsReadOnly() const;  // also where the file, opened to be written, cannot be
  void SetBusyTimeout(std::chrono::milliseconds timeout);
  // Close() then neither checkpoints nor unlinks the WAL by its name.
  void LeaveWalOnClose();
  // A file whose size is not what its header says can then be locked too. For no other use.
  void BearDamage();
  // Forgets the handle without closing it: in a forked child it belongs to the parent.
  void Abandon() { (void)db_.release(); }
  explicit operator bool() const { return db_ != nullptr; }

 private:
  struct Closer {
    void operator()(sqlite3* db) const;
  };
  std::unique_ptr<sqlite3, Closer> db_;
};

// BEGIN IMMEDIATE .. COMMIT; rolls back when destroyed uncommitted.
class Transaction {
 public:
  static absl::StatusOr<Transaction> Begin(Connection& db);
  Transaction(Transaction&& other) noexcept : db_(other.db_) { other.db_ = nullptr; }
  Transaction& operator=(Transaction&&) = delete;
  ~Transaction();
  absl::Status Commit();

 private:
  explicit Transaction(Connection* db) : db_(db) {}
  Connection* db_;
};

}  // namespace tilewright

#endif  // TILEWRIGHT_CACHE_SQLITE_H_
