#include "cache/rows.h"

#include <array>
#include <bit>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "cache/bounds.h"
#include "cache/cubin_digest.h"
#include "cache/row_columns.h"
#include "cache/sqlite.h"

namespace tilewright {
namespace {

constexpr std::array<std::string_view, 5> kStatusNames = {"ok", "wrong", "failed", "pruned",
                                                          "timeout"};

class Summer {
 public:
  Summer() { XXH3_128bits_reset(&state_); }
  void operator()(std::string_view text) {
    (*this)(static_cast<int64_t>(text.size()));
    XXH3_128bits_update(&state_, text.data(), text.size());
  }
  void operator()(int64_t value) { XXH3_128bits_update(&state_, &value, sizeof(value)); }
  void operator()(int value) { (*this)(static_cast<int64_t>(value)); }
  // -0.0 and 0.0 are one value to SQLite.
  void operator()(double value) { (*this)(std::bit_cast<int64_t>(value == 0 ? 0.0 : value)); }
  void operator()(TrialStatus value) { (*this)(TrialStatusName(value)); }

  std::string Hex() const {
    XXH128_hash_t hash = XXH3_128bits_digest(&state_);
    constexpr std::string_view kHex = "0123456789abcdef";
    std::string text;
    for (uint64_t half : {hash.high64, hash.low64}) {
      for (int shift = 60; shift >= 0; shift -= 4) text += kHex[(half >> shift) & 15];
    }
    return text;
  }

 private:
  XXH3_state_t state_;
};

struct Binder {
  Statement& statement;
  int index = 1;
  void operator()(const std::string& text) { statement.Bind(index++, std::string_view(text)); }
  void operator()(int64_t value) { statement.Bind(index++, value); }
  void operator()(int value) { statement.Bind(index++, static_cast<int64_t>(value)); }
  void operator()(double value) { statement.Bind(index++, value); }
  void operator()(TrialStatus value) { statement.Bind(index++, TrialStatusName(value)); }
};

constexpr std::string_view kOtherType = "a value of another type than its column's";
constexpr std::string_view kOtherDigest = "a digest that is not its cubin's";
constexpr std::string_view kOtherSum = "a checksum that is not its own";

// What a row's values may not be, whoever reads them.
class Taker {
 public:
  std::string_view flaw;

 protected:
  void Narrow(int64_t value, int& out) {
    out = static_cast<int>(value);
    if (out != value) flaw = "a number of more than 32 bits";
  }
  void Parse(std::string_view name, TrialStatus& out) {
    const std::optional<TrialStatus> status = ParseTrialStatus(name);
    out = status.value_or(TrialStatus::kFailed);
    if (!status) flaw = "a status that is none";
  }
};

class Reader : public Taker {
 public:
  explicit Reader(const Statement& statement) : statement_(statement) {}
  int index = 0;

  void operator()(std::string& text) {
    Expect(Statement::Type::kText);
    text = statement_.Text(index++);
  }
  void operator()(int64_t& value) {
    Expect(Statement::Type::kInteger);
    value = statement_.Int(index++);
  }
  void operator()(int& value) {
    Expect(Statement::Type::kInteger);
    Narrow(statement_.Int(index++), value);
  }
  void operator()(double& value) {
    Expect(Statement::Type::kReal);
    value = statement_.Real(index++);
  }
  void operator()(TrialStatus& value) {
    Expect(Statement::Type::kText);
    Parse(statement_.Text(index++), value);
  }

 private:
  void Expect(Statement::Type type) {
    if (statement_.TypeOf(index) != type) flaw = kOtherType;
  }

  const Statement& statement_;
};

class RecordReader : public Taker {
 public:
  explicit RecordReader(Record record) : record_(record) {}
  // Every column was there, of its type, and no more.
  bool IsWhole() const { return ok_ && index_ == record_.size(); }

  void operator()(std::string& text) {
    if (const auto* value = Take<std::string>()) text = *value;
  }
  void operator()(int64_t& out) {
    if (const auto* value = Take<int64_t>()) out = *value;
  }
  void operator()(int& out) {
    if (const auto* value = Take<int64_t>()) Narrow(*value, out);
  }
  // SQLite stores a real without a fraction as an integer.
  void operator()(double& out) {
    if (index_ < record_.size() && std::holds_alternative<int64_t>(record_[index_])) {
      out = static_cast<double>(std::get<int64_t>(record_[index_++]));
    } else if (const auto* value = Take<double>()) {
      out = *value;
    }
  }
  void operator()(TrialStatus& out) {
    if (const auto* value = Take<std::string>()) Parse(*value, out);
  }

 private:
  template <class T>
  const T* Take() {
    const T* value = index_ < record_.size() ? std::get_if<T>(&record_[index_]) : nullptr;
    ++index_;
    ok_ = ok_ && value != nullptr;
    return value;
  }

  Record record_;
  size_t index_ = 0;
  bool ok_ = true;
};

template <class Row>
std::optional<Stored<Row>> Decode(Record record) {
  Stored<Row> stored;
  RecordReader reader(record);
  VisitColumns(stored.row, reader);
  reader(stored.sum);
  if (!reader.IsWhole()) return std::nullopt;
  stored.flaw = reader.flaw;
  return stored;
}

template <class Row>
int Read(const Statement& statement, Stored<Row>& stored) {
  Reader reader(statement);
  VisitColumns(stored.row, reader);
  reader(stored.sum);
  stored.flaw = reader.flaw;
  return reader.index;
}

template <class Row>
int Bind(Statement& statement, const Row& row) {
  Binder binder{statement};
  VisitColumns(row, binder);
  return binder.index;
}

template <class Row>
std::string_view FlawOfStored(const Stored<Row>& stored, const std::string& sum) {
  if (!stored.flaw.empty()) return stored.flaw;
  return sum == stored.sum ? FlawOf(stored.row) : kOtherSum;
}

template <class Row>
std::string SumOf(const Row& row, std::string_view extra) {
  Summer summer;
  VisitColumns(row, summer);
  summer(extra);
  return summer.Hex();
}

}  // namespace

std::string_view TrialStatusName(TrialStatus status) {
  return kStatusNames[static_cast<size_t>(status)];
}

std::optional<TrialStatus> ParseTrialStatus(std::string_view name) {
  for (size_t i = 0; i < kStatusNames.size(); ++i) {
    if (kStatusNames[i] == name) return static_cast<TrialStatus>(i);
  }
  return std::nullopt;
}

std::string BytesSum(std::string_view key, std::string_view bytes) {
  Summer summer;
  summer(key);
  summer(bytes);
  return summer.Hex();
}
std::string RowSum(const KernelRow& row, std::string_view bytes_sum) {
  return SumOf(row, bytes_sum);
}
std::string RowSum(const WinnerRow& row) { return SumOf(row, ""); }
std::string RowSum(const TrialRow& row) { return SumOf(row, ""); }

std::string LogicalSum(KernelRow row, std::string_view bytes_sum) {
  row.created_unix = row.last_used_unix = 0;
  row.compile_ms = 0;
  return SumOf(row, bytes_sum);
}
std::string LogicalSum(WinnerRow row) {
  row.tuned_unix = 0;
  return SumOf(row, "");
}
std::string LogicalSum(TrialRow row) {
  row.measured_unix = 0;
  return SumOf(row, "");
}

std::string_view FlawOf(const Stored<KernelRow>& stored, std::string_view bytes_sum) {
  return FlawOfStored(stored, RowSum(stored.row, bytes_sum));
}
std::string_view FlawOf(const Stored<WinnerRow>& stored) {
  return FlawOfStored(stored, RowSum(stored.row));
}
std::string_view FlawOf(const Stored<TrialRow>& stored) {
  return FlawOfStored(stored, RowSum(stored.row));
}
std::string_view FlawOfBytes(const KernelRow& head, std::string_view bytes_sum,
                             std::string_view bytes) {
  if (BytesSum(head.key, bytes) != bytes_sum) return kOtherSum;
  if (std::string_view flaw = FlawOfCubin(bytes, head.arch); !flaw.empty()) return flaw;
  if (head.cubin_digest.empty()) return {};
  const absl::StatusOr<std::string> digest = CubinDigest(bytes);
  return !digest.ok() || *digest == head.cubin_digest ? std::string_view() : kOtherDigest;
}

int BindColumns(Statement& statement, const KernelRow& row) { return Bind(statement, row); }
int BindColumns(Statement& statement, const WinnerRow& row) { return Bind(statement, row); }
int BindColumns(Statement& statement, const TrialRow& row) { return Bind(statement, row); }

int ReadColumns(const Statement& statement, Stored<KernelRow>& row) { return Read(statement, row); }
int ReadColumns(const Statement& statement, Stored<WinnerRow>& row) { return Read(statement, row); }
int ReadColumns(const Statement& statement, Stored<TrialRow>& row) { return Read(statement, row); }

std::optional<Stored<KernelRow>> DecodeKernel(Record record) { return Decode<KernelRow>(record); }
std::optional<Stored<WinnerRow>> DecodeWinner(Record record) { return Decode<WinnerRow>(record); }
std::optional<Stored<TrialRow>> DecodeTrial(Record record) { return Decode<TrialRow>(record); }

std::optional<BytesRow> DecodeBytes(Record record) {
  BytesRow row;
  RecordReader reader(record);
  reader(row.key), reader(row.sum), reader(row.bytes);
  if (!reader.IsWhole()) return std::nullopt;
  return row;
}

}  // namespace tilewright
