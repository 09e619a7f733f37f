// Comma-separated values with a header line, as benchmark results are kept.
#ifndef TILEWRIGHT_TOOLS_CSV_H_
#define TILEWRIGHT_TOOLS_CSV_H_

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace tilewright {

// Values by the header's names.
using CsvRow = std::map<std::string, std::string>;

// Lines that start with # and empty lines are skipped; a field may be quoted, with "" for a quote.
// InvalidArgument ("file:line: ...") for a line of another length than the header, or an open
// quote.
absl::StatusOr<std::vector<CsvRow>> ParseCsv(std::string_view text, std::string_view file);
// NotFound where the file cannot be read.
absl::StatusOr<std::vector<CsvRow>> ReadCsv(const std::string& path);

// One line without its end; quotes a field that needs it.
std::string CsvLine(const std::vector<std::string>& fields);

// The field as a number; InvalidArgument where it is absent or none.
absl::StatusOr<double> CsvNumber(const CsvRow& row, const std::string& field);

}  // namespace tilewright

#endif  // TILEWRIGHT_TOOLS_CSV_H_
