#include "cache/sqlite.h"

#include <sqlite3.h>

#include <array>
#include <limits>

#include "cache/bounds.h"
#include "cache/place.h"
#include "manifest/status.h"
#include "manifest/text.h"

namespace tilewright {
namespace {

// A file: URI whose path may hold any byte.
std::string FileUri(const std::string& path, std::string_view query) {
  constexpr std::string_view kHex = "0123456789ABCDEF";
  std::string uri = "file:";
  for (char c : path) {
    auto byte = static_cast<unsigned char>(c);
    if (byte > 0x20 && byte < 0x7f && c != '%' && c != '?' && c != '#') {
      uri += c;
    } else {
      uri += '%';
      uri += kHex[byte >> 4];
      uri += kHex[byte & 15];
    }
  }
  return uri.append("?").append(query);
}

// What a statement does, in words.
std::string_view DoingOf(std::string_view sql) {
  if (sql.starts_with("SELECT")) return "reading";
  if (sql.starts_with("INSERT") || sql.starts_with("DELETE")) return "writing";
  if (sql.starts_with("\nCREATE")) return "making tables or views";
  return sql.substr(0, 80);
}

}  // namespace

absl::Status SqliteStatus(int code, std::string_view doing, std::string_view message) {
  if (code == SQLITE_OK || code == SQLITE_ROW || code == SQLITE_DONE) return absl::OkStatus();
  std::string text =
      Cat("kernel cache: ", doing, ": ", Escaped(message), " (", sqlite3_errstr(code), ")");
  // A header that names a schema format of the future comes as a mere SQLITE_ERROR.
  if (code == SQLITE_ERROR && message == "unsupported file format") code = SQLITE_FORMAT;
  switch (code & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_PROTOCOL:
      return absl::UnavailableError(text);
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
    case SQLITE_FORMAT:
      return absl::DataLossError(text);
    case SQLITE_CONSTRAINT:
    case SQLITE_MISMATCH:
    case SQLITE_TOOBIG:
      return absl::InvalidArgumentError(text);
    case SQLITE_FULL:
    case SQLITE_IOERR:
    case SQLITE_READONLY:
    case SQLITE_CANTOPEN:
    case SQLITE_PERM:
    case SQLITE_AUTH:
    case SQLITE_NOMEM:
    case SQLITE_NOLFS:
      return absl::ResourceExhaustedError(text);
    default:
      return absl::InternalError(text);
  }
}

void Statement::Finalizer::operator()(sqlite3_stmt* stmt) const { sqlite3_finalize(stmt); }

void Statement::Bind(int index, std::string_view text) {
  // An empty view may have a null pointer, which SQLite would bind as NULL.
  const char* data = text.empty() ? "" : text.data();
  sqlite3_bind_text64(stmt_.get(), index, data, text.size(), SQLITE_STATIC, SQLITE_UTF8);
}
void Statement::Bind(int index, int64_t value) { sqlite3_bind_int64(stmt_.get(), index, value); }
void Statement::Bind(int index, double value) { sqlite3_bind_double(stmt_.get(), index, value); }
void Statement::BindBlob(int index, std::string_view bytes) {
  const char* data = bytes.empty() ? "" : bytes.data();
  sqlite3_bind_blob64(stmt_.get(), index, data, bytes.size(), SQLITE_STATIC);
}

absl::StatusOr<bool> Statement::Step() {
  int code = sqlite3_step(stmt_.get());
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  sqlite3* db = sqlite3_db_handle(stmt_.get());
  absl::Status status = SqliteStatus(sqlite3_extended_errcode(db),
                                     DoingOf(sqlite3_sql(stmt_.get())), sqlite3_errmsg(db));
  sqlite3_reset(stmt_.get());
  return status;
}

absl::Status Statement::Run() {
  ResetGuard reset(*this);
  while (true) {
    TW_ASSIGN_OR_RETURN(bool row, Step());
    if (!row) return absl::OkStatus();
  }
}

void Statement::Reset() {
  if (stmt_ == nullptr) return;
  sqlite3_reset(stmt_.get());
  sqlite3_clear_bindings(stmt_.get());
}

std::string_view Statement::Text(int column) const {
  // Also right for blobs: column_bytes is the length of what column_blob returned.
  const void* data = sqlite3_column_blob(stmt_.get(), column);
  int size = sqlite3_column_bytes(stmt_.get(), column);
  return data == nullptr
             ? std::string_view()
             : std::string_view(static_cast<const char*>(data), static_cast<size_t>(size));
}
Statement::Type Statement::TypeOf(int column) const {
  switch (sqlite3_column_type(stmt_.get(), column)) {
    case SQLITE_INTEGER:
      return Type::kInteger;
    case SQLITE_FLOAT:
      return Type::kReal;
    case SQLITE_TEXT:
      return Type::kText;
    case SQLITE_BLOB:
      return Type::kBlob;
    default:
      return Type::kNull;
  }
}
int64_t Statement::Int(int column) const { return sqlite3_column_int64(stmt_.get(), column); }
double Statement::Real(int column) const { return sqlite3_column_double(stmt_.get(), column); }
int Statement::columns() const { return sqlite3_column_count(stmt_.get()); }

void Connection::Closer::operator()(sqlite3* db) const { sqlite3_close_v2(db); }

absl::StatusOr<Connection> Connection::Open(const std::string& path, Mode mode,
                                            std::chrono::milliseconds busy_timeout) {
  TW_RETURN_IF_ERROR(RefuseIrregular(path));
  static constexpr std::array<std::string_view, 3> kQueries = {"mode=rw", "mode=ro",
                                                               "mode=ro&immutable=1"};
  std::string uri = FileUri(path, kQueries[static_cast<size_t>(mode)]);
  int flags = SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE |
              (mode == Mode::kReadWrite ? SQLITE_OPEN_READWRITE : SQLITE_OPEN_READONLY);
  sqlite3* raw = nullptr;
  int code = sqlite3_open_v2(uri.c_str(), &raw, flags, nullptr);
  Connection db;
  db.db_.reset(raw);
  if (code != SQLITE_OK) {
    return SqliteStatus(code, Cat("open ", path), raw ? sqlite3_errmsg(raw) : "out of memory");
  }
  sqlite3_db_config(raw, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  // Our own tables' CHECK calls json_valid(), which an untrusted schema may not.
  int trusted = mode == Mode::kReadWrite ? 1 : 0;
  sqlite3_db_config(raw, SQLITE_DBCONFIG_TRUSTED_SCHEMA, trusted, nullptr);
  sqlite3_limit(raw, SQLITE_LIMIT_LENGTH, static_cast<int>(kMaxCubinBytes + kMaxTextBytes));
  sqlite3_limit(raw, SQLITE_LIMIT_ATTACHED, 0);
  db.SetBusyTimeout(busy_timeout);
  return db;
}

absl::StatusOr<Connection> Connection::OpenMemory() {
  sqlite3* raw = nullptr;
  int code = sqlite3_open_v2(
      ":memory:", &raw,
      SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE,
      nullptr);
  Connection db;
  db.db_.reset(raw);
  TW_RETURN_IF_ERROR(SqliteStatus(code, "open in memory", raw ? sqlite3_errmsg(raw) : ""));
  return db;
}

absl::Status Connection::Exec(const std::string& sql) {
  int code = sqlite3_exec(db_.get(), sql.c_str(), nullptr, nullptr, nullptr);
  if (code == SQLITE_OK) return absl::OkStatus();
  return SqliteStatus(code, DoingOf(sql), sqlite3_errmsg(db_.get()));
}

absl::StatusOr<Statement> Connection::Prepare(std::string_view sql) {
  sqlite3_stmt* stmt = nullptr;
  int code = sqlite3_prepare_v3(db_.get(), sql.data(), static_cast<int>(sql.size()),
                                SQLITE_PREPARE_PERSISTENT, &stmt, nullptr);
  if (code != SQLITE_OK) return SqliteStatus(code, DoingOf(sql), sqlite3_errmsg(db_.get()));
  return Statement(stmt);
}

absl::StatusOr<int64_t> Connection::QueryInt(std::string_view sql) {
  TW_ASSIGN_OR_RETURN(Statement query, Prepare(sql));
  TW_ASSIGN_OR_RETURN(bool row, query.Step());
  return row ? query.Int(0) : 0;
}

absl::StatusOr<std::string> Connection::QueryText(std::string_view sql) {
  TW_ASSIGN_OR_RETURN(Statement query, Prepare(sql));
  TW_ASSIGN_OR_RETURN(bool row, query.Step());
  return row ? std::string(query.Text(0)) : std::string();
}

namespace {

// Lifts the bound on the length of values while it lives.
class AnyLength {
 public:
  explicit AnyLength(sqlite3* db)
      : db_(db), before_(sqlite3_limit(db, SQLITE_LIMIT_LENGTH, std::numeric_limits<int>::max())) {}
  ~AnyLength() { sqlite3_limit(db_, SQLITE_LIMIT_LENGTH, before_); }
  AnyLength(const AnyLength&) = delete;
  AnyLength& operator=(const AnyLength&) = delete;

 private:
  sqlite3* db_;
  int before_;
};

}  // namespace

absl::StatusOr<std::string> Connection::Verdict(std::string_view pragma) {
  const AnyLength any_length(db_.get());
  return QueryText(pragma);
}

absl::Status Connection::ExecOfAnyLength(const std::string& sql) {
  const AnyLength any_length(db_.get());
  return Exec(sql);
}

int64_t Connection::ChangedRows() const { return sqlite3_changes64(db_.get()); }

bool Connection::IsReadOnly() const { return sqlite3_db_readonly(db_.get(), "main") == 1; }

void Connection::SetBusyTimeout(std::chrono::milliseconds timeout) {
  sqlite3_busy_timeout(db_.get(), static_cast<int>(timeout.count()));
}

void Connection::LeaveWalOnClose() {
  sqlite3_db_config(db_.get(), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
}

void Connection::BearDamage() {
  sqlite3_db_config(db_.get(), SQLITE_DBCONFIG_DEFENSIVE, 0, nullptr);
  sqlite3_db_config(db_.get(), SQLITE_DBCONFIG_WRITABLE_SCHEMA, 1, nullptr);
}

absl::StatusOr<Transaction> Transaction::Begin(Connection& db) {
  TW_RETURN_IF_ERROR(db.Exec("BEGIN IMMEDIATE"));
  return Transaction(&db);
}

Transaction::~Transaction() {
  if (db_ != nullptr) (void)db_->Exec("ROLLBACK");
}

absl::Status Transaction::Commit() {
  TW_RETURN_IF_ERROR(db_->Exec("COMMIT"));
  db_ = nullptr;
  return absl::OkStatus();
}

}  // namespace tilewright
