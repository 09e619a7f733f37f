#include "tools/csv.h"

#include <fstream>
#include <sstream>

#include "manifest/status.h"
#include "tools/message.h"
#include "tools/read_file.h"

namespace tilewright {
namespace {

absl::StatusOr<std::vector<std::string>> SplitLine(std::string_view line) {
  std::vector<std::string> fields(1);
  bool quoted = false;
  for (size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (quoted && c == '"' && i + 1 < line.size() && line[i + 1] == '"') {
      fields.back() += '"';
      ++i;
    } else if (c == '"') {
      quoted = !quoted;
    } else if (c == ',' && !quoted) {
      fields.emplace_back();
    } else {
      fields.back() += c;
    }
  }
  if (quoted) return InvalidArgument("a quote is not closed");
  return fields;
}

}  // namespace

absl::StatusOr<std::vector<CsvRow>> ParseCsv(std::string_view text, std::string_view file) {
  std::istringstream stream{std::string(text)};
  std::vector<std::string> header;
  std::vector<CsvRow> rows;
  std::string line;
  for (int number = 1; std::getline(stream, line); ++number) {
    if (!line.empty() && line.back() == '\r') line.pop_back();
    if (line.empty() || line[0] == '#') continue;
    const absl::StatusOr<std::vector<std::string>> fields = SplitLine(line);
    if (!fields.ok()) {
      return InvalidArgument(file, ":", number, ": ", MessageOf(fields.status()));
    }
    if (header.empty()) {
      header = *fields;
      continue;
    }
    if (fields->size() != header.size()) {
      return InvalidArgument(file, ":", number, ": expected ", header.size(), " fields, got ",
                             fields->size());
    }
    CsvRow row;
    for (size_t i = 0; i < header.size(); ++i) row[header[i]] = (*fields)[i];
    rows.push_back(std::move(row));
  }
  return rows;
}

absl::StatusOr<std::vector<CsvRow>> ReadCsv(const std::string& path) {
  TW_ASSIGN_OR_RETURN(const std::string text, ReadBounded(path, "table"));
  return ParseCsv(text, path);
}

std::string CsvLine(const std::vector<std::string>& fields) {
  std::string line;
  for (size_t i = 0; i < fields.size(); ++i) {
    if (i > 0) line += ',';
    if (fields[i].find_first_of(",\"\n") == std::string::npos) {
      line += fields[i];
      continue;
    }
    line += '"';
    for (char c : fields[i]) {
      if (c == '"') line += '"';
      line += c;
    }
    line += '"';
  }
  return line;
}

absl::StatusOr<double> CsvNumber(const CsvRow& row, const std::string& field) {
  const auto found = row.find(field);
  if (found == row.end()) return InvalidArgument("no field '", field, "'");
  size_t used = 0;
  double value = 0;
  try {
    value = std::stod(found->second, &used);
  } catch (const std::exception&) {
    used = 0;
  }
  if (used == 0 || used != found->second.size()) {
    return InvalidArgument("field '", field, "': expected a number, got '", found->second, "'");
  }
  return value;
}

}  // namespace tilewright
