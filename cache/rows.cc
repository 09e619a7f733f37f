#include "cache/rows.h"

#include <array>
#include <bit>
#include <cctype>
#include <cmath>
#include <cstring>
#include <type_traits>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "cache/sqlite.h"
#include "manifest/status.h"

namespace tilewright {
namespace {

constexpr std::array<std::string_view, 5> kStatusNames = {"ok", "wrong", "failed", "pruned",
                                                          "timeout"};

// The one list of each table's columns, in the schema's order, `sum` last and left out. `Row` is
// the row type or its const.
template <class Row, class Visitor>
requires std::is_same_v<std::remove_const_t<Row>, KernelRow>
void VisitColumns(Row& row, Visitor&& visit) {
  visit(row.key), visit(row.op), visit(row.template_file), visit(row.instantiation);
  visit(row.lowered_name), visit(row.arch), visit(row.compiler), visit(row.flags);
  visit(row.closure_digest), visit(row.cubin_digest), visit(row.registers);
  visit(row.static_smem_bytes), visit(row.spill_bytes), visit(row.compile_ms);
  visit(row.compile_log), visit(row.created_unix), visit(row.last_used_unix);
}

template <class Row, class Visitor>
requires std::is_same_v<std::remove_const_t<Row>, WinnerRow>
void VisitColumns(Row& row, Visitor&& visit) {
  visit(row.key), visit(row.op), visit(row.dtypes), visit(row.problem_json), visit(row.device);
  visit(row.config_json), visit(row.kernel_keys), visit(row.median_us), visit(row.sol_us);
  visit(row.efficiency), visit(row.trials), visit(row.closure_digest), visit(row.space_digest);
  visit(row.version), visit(row.tuned_unix);
}

template <class Row, class Visitor>
requires std::is_same_v<std::remove_const_t<Row>, TrialRow>
void VisitColumns(Row& row, Visitor&& visit) {
  visit(row.problem_key), visit(row.op), visit(row.device), visit(row.config_json);
  visit(row.closure_digest), visit(row.status), visit(row.samples), visit(row.median_us);
  visit(row.p10_us), visit(row.p90_us), visit(row.registers), visit(row.spill_bytes);
  visit(row.error), visit(row.measured_unix);
}

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

// An unknown status reads as kFailed; the row's sum then does not match.
TrialStatus StatusOrFailed(std::string_view name) {
  return ParseTrialStatus(name).value_or(TrialStatus::kFailed);
}

struct Reader {
  const Statement& statement;
  int index = 0;
  void operator()(std::string& text) { text = statement.Text(index++); }
  void operator()(int64_t& value) { value = statement.Int(index++); }
  void operator()(int& value) { value = static_cast<int>(statement.Int(index++)); }
  void operator()(double& value) { value = statement.Real(index++); }
  void operator()(TrialStatus& value) { value = StatusOrFailed(statement.Text(index++)); }
};

struct RecordReader {
  Record record;
  size_t index = 0;
  bool ok = true;

  template <class T>
  const T* Take() {
    const T* value = index < record.size() ? std::get_if<T>(&record[index]) : nullptr;
    ++index;
    ok = ok && value != nullptr;
    return value;
  }
  void operator()(std::string& text) {
    if (const auto* value = Take<std::string>()) text = *value;
  }
  void operator()(int64_t& out) {
    if (const auto* value = Take<int64_t>()) out = *value;
  }
  void operator()(int& out) {
    if (const auto* value = Take<int64_t>()) out = static_cast<int>(*value);
  }
  // SQLite stores a real without a fraction as an integer.
  void operator()(double& out) {
    if (index < record.size() && std::holds_alternative<int64_t>(record[index])) {
      out = static_cast<double>(std::get<int64_t>(record[index++]));
    } else if (const auto* value = Take<double>()) {
      out = *value;
    }
  }
  void operator()(TrialStatus& out) {
    if (const auto* value = Take<std::string>()) out = StatusOrFailed(*value);
  }
};

template <class Row>
std::optional<Decoded<Row>> Decode(Record record) {
  Decoded<Row> decoded;
  RecordReader reader{record};
  VisitColumns(decoded.row, reader);
  reader(decoded.sum);
  if (!reader.ok || reader.index != record.size()) return std::nullopt;
  return decoded;
}

struct BoundsVisitor {
  std::string_view broken;
  void operator()(const std::string& text) {
    if (static_cast<int64_t>(text.size()) > kMaxTextBytes) broken = "a text of more than 1 MiB";
    if (text.find('\0') != std::string::npos) broken = "a text with a NUL";
  }
  void operator()(int64_t value) {
    if (value < 0) broken = "a negative number";
  }
  void operator()(int value) { (*this)(static_cast<int64_t>(value)); }
  void operator()(double value) {
    if (!std::isfinite(value) || value < 0) broken = "a number that is negative or not finite";
  }
  void operator()(TrialStatus) {}
};

template <class Row>
absl::Status CheckColumns(std::string_view table, std::string_view key, const Row& row) {
  BoundsVisitor bounds;
  VisitColumns(row, bounds);
  if (key.empty() || static_cast<int64_t>(key.size()) > kMaxKeyBytes) {
    bounds.broken = "a key that is empty or longer than 512 bytes";
  }
  if (bounds.broken.empty()) return absl::OkStatus();
  return InvalidArgument("kernel cache: ", table, " ", key.substr(0, 64),
                         ": expected a row within bounds, got ", bounds.broken);
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

namespace {

template <class T>
T FieldAt(std::string_view bytes, uint64_t at) {
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof(value));
  return value;
}

// Whether the section table of an ELF file, and every section, ends within the file.
bool SectionsAreInside(std::string_view elf) {
  constexpr uint64_t kSectionBytes = 64;
  constexpr uint32_t kTypeNoBits = 8;
  const auto table = FieldAt<uint64_t>(elf, 40);
  const auto count = FieldAt<uint16_t>(elf, 60);
  if (count == 0) return true;
  if (FieldAt<uint16_t>(elf, 58) != kSectionBytes || table > elf.size() ||
      (elf.size() - table) / kSectionBytes < count) {
    return false;
  }
  for (uint64_t at = table; at < table + count * kSectionBytes; at += kSectionBytes) {
    const auto type = FieldAt<uint32_t>(elf, at + 4);
    const auto offset = FieldAt<uint64_t>(elf, at + 24);
    const auto size = FieldAt<uint64_t>(elf, at + 32);
    if (type == 0 || type == kTypeNoBits) continue;
    if (offset > elf.size() || size > elf.size() - offset) return false;
  }
  return true;
}

}  // namespace

bool CubinFits(std::string_view cubin, std::string_view arch) {
  constexpr size_t kMachineAt = 18;
  constexpr size_t kAbiVersionAt = 8;
  constexpr size_t kFlagsAt = 48;
  constexpr uint16_t kMachineCuda = 190;
  constexpr std::string_view kMagic(
      "\x7f"
      "ELF",
      4);
  if (cubin.substr(0, kMagic.size()) != kMagic) return true;
  if (cubin.size() < 64) return false;
  uint16_t machine = 0;
  uint32_t flags = 0;
  std::memcpy(&machine, cubin.data() + kMachineAt, sizeof(machine));
  std::memcpy(&flags, cubin.data() + kFlagsAt, sizeof(flags));
  if (machine != kMachineCuda || !SectionsAreInside(cubin)) return false;
  // Up to ABI version 7 the architecture is the low byte of the flags, from 8 on the second one.
  uint32_t sm = cubin[kAbiVersionAt] >= 8 ? (flags >> 8) & 0xff : flags & 0xff;
  uint32_t expected = 0;
  for (char c : arch) {
    if (std::isdigit(static_cast<unsigned char>(c))) {
      expected = expected * 10 + static_cast<uint32_t>(c - '0');
    }
  }
  return sm == expected;
}

absl::Status CheckBounds(const KernelRow& row) {
  TW_RETURN_IF_ERROR(CheckColumns("kernel", row.key, row));
  if (row.cubin.empty() || static_cast<int64_t>(row.cubin.size()) > kMaxCubinBytes) {
    return InvalidArgument("kernel cache: kernel ", row.key, ": expected a cubin of 1 byte to ",
                           kMaxCubinBytes, " bytes, got ", row.cubin.size());
  }
  if (!CubinFits(row.cubin, row.arch)) {
    return InvalidArgument("kernel cache: kernel ", row.key, ": expected a whole cubin for ",
                           row.arch, ", got a part of one, or one for another architecture");
  }
  return absl::OkStatus();
}
absl::Status CheckBounds(const WinnerRow& row) { return CheckColumns("winner", row.key, row); }
absl::Status CheckBounds(const TrialRow& row) {
  return CheckColumns("trial", row.problem_key, row);
}

int BindColumns(Statement& statement, const KernelRow& row) {
  Binder binder{statement};
  VisitColumns(row, binder);
  return binder.index;
}
int BindColumns(Statement& statement, const WinnerRow& row) {
  Binder binder{statement};
  VisitColumns(row, binder);
  return binder.index;
}
int BindColumns(Statement& statement, const TrialRow& row) {
  Binder binder{statement};
  VisitColumns(row, binder);
  return binder.index;
}

int ReadColumns(const Statement& statement, KernelRow& row) {
  Reader reader{statement};
  VisitColumns(row, reader);
  return reader.index;
}
int ReadColumns(const Statement& statement, WinnerRow& row) {
  Reader reader{statement};
  VisitColumns(row, reader);
  return reader.index;
}
int ReadColumns(const Statement& statement, TrialRow& row) {
  Reader reader{statement};
  VisitColumns(row, reader);
  return reader.index;
}

std::optional<Decoded<KernelRow>> DecodeKernel(Record record) { return Decode<KernelRow>(record); }
std::optional<Decoded<WinnerRow>> DecodeWinner(Record record) { return Decode<WinnerRow>(record); }
std::optional<Decoded<TrialRow>> DecodeTrial(Record record) { return Decode<TrialRow>(record); }

std::optional<BytesRow> DecodeBytes(Record record) {
  BytesRow row;
  RecordReader reader{record};
  reader(row.key), reader(row.sum), reader(row.bytes);
  if (!reader.ok || reader.index != record.size()) return std::nullopt;
  return row;
}

}  // namespace tilewright
