#include "runtime/conform/ledger.h"

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>

#include "manifest/status.h"

namespace tilewright {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kHeader =
    "op\tcase\tdtype\tconfig\tdevice\tchoice\tverdict\terror\ttolerance\tchecks\tkernels\t"
    "closure_digest\tcubin_digest\tlaunch_digest\tarch\tdriver\tcompiler\tdetail";

// The text fields in file order; the verdict and the error have columns of their own.
constexpr std::string LedgerRow::*kBefore[] = {&LedgerRow::op,     &LedgerRow::case_name,
                                               &LedgerRow::dtype,  &LedgerRow::config,
                                               &LedgerRow::device, &LedgerRow::choice};
constexpr std::string LedgerRow::*kAfter[] = {&LedgerRow::tolerance,    &LedgerRow::checks,
                                              &LedgerRow::kernels,      &LedgerRow::closure_digest,
                                              &LedgerRow::cubin_digest, &LedgerRow::launch_digest,
                                              &LedgerRow::arch,         &LedgerRow::driver,
                                              &LedgerRow::compiler,     &LedgerRow::detail};
constexpr size_t kColumns = std::size(kBefore) + 2 + std::size(kAfter);

std::vector<std::string> Key(const LedgerRow& row) {
  return {row.op, row.case_name, row.dtype, row.config, row.device};
}

std::vector<std::string> SplitAt(std::string_view text, char separator) {
  std::vector<std::string> parts;
  for (size_t begin = 0;;) {
    const size_t end = text.find(separator, begin);
    parts.emplace_back(text.substr(begin, end - begin));
    if (end == std::string_view::npos) return parts;
    begin = end + 1;
  }
}

std::string OneLine(std::string text) {
  for (char& c : text) {
    if (c == '\t' || c == '\n' || c == '\r') c = ' ';
  }
  return text;
}

std::optional<Verdict> ParseVerdict(std::string_view text) {
  for (const Verdict verdict : {Verdict::kPass, Verdict::kWrong, Verdict::kError}) {
    if (text == VerdictName(verdict)) return verdict;
  }
  return std::nullopt;
}

// Two digits: inputs are drawn fresh, so that more would only make noise in diffs.
std::string ErrorText(double error) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.2g", error);
  return text;
}

}  // namespace

std::string_view VerdictName(Verdict verdict) {
  switch (verdict) {
    case Verdict::kPass:
      return "pass";
    case Verdict::kWrong:
      return "wrong";
    case Verdict::kError:
      return "error";
  }
  return "?";
}

absl::StatusOr<Ledger> Ledger::Parse(std::string_view text, std::string_view file) {
  Ledger ledger;
  const std::vector<std::string> lines = SplitAt(text, '\n');
  for (size_t i = 0; i < lines.size(); ++i) {
    std::string line = lines[i];
    if (!line.empty() && line.back() == '\r') line.pop_back();
    if (line.empty()) continue;
    if (i == 0) {
      if (line != kHeader) return InvalidArgument(file, ":1: not the header of a ledger: ", line);
      continue;
    }
    const std::vector<std::string> fields = SplitAt(line, '\t');
    if (fields.size() != kColumns) {
      return InvalidArgument(file, ":", i + 1, ": expected ", kColumns, " columns, got ",
                             fields.size());
    }
    LedgerRow row;
    size_t column = 0;
    for (const auto field : kBefore) row.*field = fields[column++];
    const std::optional<Verdict> verdict = ParseVerdict(fields[column]);
    if (!verdict.has_value()) {
      return InvalidArgument(file, ":", i + 1, ": verdict: expected pass, wrong or error, got '",
                             fields[column], "'");
    }
    row.verdict = *verdict;
    ++column;
    char* end = nullptr;
    row.error = std::strtod(fields[column].c_str(), &end);
    if (end == fields[column].c_str() || *end != '\0') {
      return InvalidArgument(file, ":", i + 1, ": error: expected a number, got '", fields[column],
                             "'");
    }
    ++column;
    for (const auto field : kAfter) row.*field = fields[column++];
    if (!ledger.rows_.emplace(Key(row), row).second) {
      return InvalidArgument(file, ":", i + 1, ": second row of ", row.op, " ", row.case_name, " ",
                             row.dtype, " ", row.config);
    }
  }
  return ledger;
}

absl::StatusOr<Ledger> Ledger::Read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return NotFound("ledger: no file ", path);
  std::ostringstream text;
  text << file.rdbuf();
  return Parse(text.str(), path);
}

absl::StatusOr<Ledger> Ledger::ReadFolder(const std::string& folder) {
  Ledger all;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder, error)) {
    if (entry.path().extension() != ".tsv") continue;
    TW_ASSIGN_OR_RETURN(const Ledger one, Read(entry.path().string()));
    for (const auto& [key, row] : one.rows_) all.rows_[key] = row;
  }
  return all;
}

std::string Ledger::ToText() const {
  std::string text = Cat(kHeader, "\n");
  for (const auto& [key, row] : rows_) {
    for (const auto field : kBefore) text += row.*field + '\t';
    text += Cat(VerdictName(row.verdict), '\t', ErrorText(row.error));
    for (const auto field : kAfter) text += '\t' + row.*field;
    text += '\n';
  }
  return text;
}

absl::Status Ledger::Write(const std::string& path) const {
  std::error_code error;
  const fs::file_type kind = fs::symlink_status(path, error).type();
  if (kind != fs::file_type::not_found && kind != fs::file_type::regular) {
    return FailedPrecondition("ledger: refusing to replace ", path, ": expected a regular file");
  }
  const fs::path parent = fs::path(path).parent_path();
  if (!parent.empty()) fs::create_directories(parent, error);
  const std::string temporary = path + ".new";
  {
    std::ofstream file(temporary, std::ios::binary | std::ios::trunc);
    file << ToText();
    file.close();
    if (!file) return FailedPrecondition("ledger: cannot write ", temporary);
  }
  fs::rename(temporary, path, error);
  if (error) return FailedPrecondition("ledger: cannot replace ", path, ": ", error.message());
  return absl::OkStatus();
}

void Ledger::Put(LedgerRow row) {
  for (const auto field : kBefore) row.*field = OneLine(std::move(row.*field));
  for (const auto field : kAfter) row.*field = OneLine(std::move(row.*field));
  std::vector<std::string> key = Key(row);
  rows_.insert_or_assign(std::move(key), std::move(row));
}

const LedgerRow* Ledger::Find(std::string_view op, std::string_view case_name,
                              std::string_view dtype, std::string_view config,
                              std::string_view device) const {
  const auto it = rows_.find({std::string(op), std::string(case_name), std::string(dtype),
                              std::string(config), std::string(device)});
  return it == rows_.end() ? nullptr : &it->second;
}

std::vector<const LedgerRow*> Ledger::rows() const {
  std::vector<const LedgerRow*> all;
  for (const auto& [key, row] : rows_) all.push_back(&row);
  return all;
}

std::string LedgerPath(std::string_view root, std::string_view device, std::string_view op) {
  std::string name;
  for (const char c : device.substr(0, device.find('/'))) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    if (letter) name += c;
    if (c >= 'A' && c <= 'Z') name += static_cast<char>(c - 'A' + 'a');
    if (!letter && !(c >= 'A' && c <= 'Z') && !name.empty() && name.back() != '-') name += '-';
  }
  return (fs::path(root) / "manifest" / "ledger" / name / Cat(op, ".tsv")).string();
}

}  // namespace tilewright
