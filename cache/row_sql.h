// The statements of a store, and rows as they return them. Columns are named one by one: one that
// somebody added to a table changes nothing.
#ifndef TILEWRIGHT_CACHE_ROW_SQL_H_
#define TILEWRIGHT_CACHE_ROW_SQL_H_

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "cache/cache.h"
#include "cache/rows.h"
#include "cache/sqlite.h"

namespace tilewright {
namespace sql {

// Concatenates literals when compiling, so that a statement's text lives as long as the program.
template <const std::string_view&... kParts>
class Joined {
  static constexpr auto kText = [] {
    std::array<char, (kParts.size() + ...)> text{};
    size_t at = 0;
    for (const std::string_view part : {kParts...}) {
      for (const char c : part) text[at++] = c;
    }
    return text;
  }();

 public:
  static constexpr std::string_view kSql{kText.data(), kText.size()};
};

inline constexpr std::string_view kWinnerColumns =
    "key, op, dtypes, problem, device, config, kernels, us, sol_us, eff, trials, closure, space, "
    "version, tuned, sum";
inline constexpr std::string_view kTrialColumns =
    "problem_key, op, device, config, closure, status, samples, us, p10, p90, regs, spill, error, "
    "measured, sum";
inline constexpr std::string_view kKernelColumns =
    "key, op, template, instantiation, symbol, arch, compiler, flags, closure, digest, regs, smem, "
    "spill, compile_ms, log, created, used, sum";

namespace part {
// Of both kernel tables, what they have alike is named with its table.
inline constexpr std::string_view kKernel =
    "SELECT k.key, op, template, instantiation, symbol, arch, compiler, flags, closure, digest, "
    "regs, smem, spill, compile_ms, log, created, used, k.sum, b.sum, length(b.bytes), k.rowid";
// A cubin beyond the bound is not read: SQLite would fail the whole select.
inline constexpr std::string_view kBytes =
    ", CASE WHEN length(b.bytes) <= 67108864 THEN b.bytes END";
inline constexpr std::string_view kFromKernels =
    " FROM kernels k LEFT JOIN kernel_bytes b ON b.key = k.key";
inline constexpr std::string_view kSelect = "SELECT ";
// Whether the JSON columns hold JSON: a file may have been written without its CHECKs.
inline constexpr std::string_view kFromWinners =
    ", rowid, CASE WHEN typeof(problem) = 'text' AND typeof(config) = 'text' "
    "THEN json_valid(problem) AND json_valid(config) ELSE 0 END FROM winners";
inline constexpr std::string_view kFromTrials =
    ", rowid, CASE WHEN typeof(config) = 'text' THEN json_valid(config) ELSE 0 END FROM trials";
inline constexpr std::string_view kOfKernel = " WHERE k.key = ?";
inline constexpr std::string_view kKernelAtRow = " WHERE k.rowid = ?";
inline constexpr std::string_view kOfKey = " WHERE key = ?";
inline constexpr std::string_view kAtRow = " WHERE rowid = ?";
inline constexpr std::string_view kOfTrial =
    " WHERE problem_key = ? AND config = ? AND closure = ?";
inline constexpr std::string_view kPutKernel = "INSERT INTO kernels(";
inline constexpr std::string_view kPutWinner = "INSERT INTO winners(";
inline constexpr std::string_view kPutTrial = "INSERT INTO trials(";
// Not OR REPLACE, which would delete whatever rows an index added by hand finds in the way.
inline constexpr std::string_view kValuesOfKernel =
    ") VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?) ON CONFLICT(key) DO UPDATE SET op = "
    "excluded.op, template = excluded.template, instantiation = excluded.instantiation, "
    "symbol = excluded.symbol, arch = excluded.arch, compiler = excluded.compiler, flags = "
    "excluded.flags, closure = excluded.closure, digest = excluded.digest, regs = "
    "excluded.regs, smem = excluded.smem, spill = excluded.spill, compile_ms = "
    "excluded.compile_ms, log = excluded.log, created = excluded.created, used = "
    "excluded.used, sum = excluded.sum";
inline constexpr std::string_view kValuesOfWinner =
    ") VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?) ON CONFLICT(key) DO UPDATE SET op = "
    "excluded.op, dtypes = excluded.dtypes, problem = excluded.problem, device = "
    "excluded.device, config = excluded.config, kernels = excluded.kernels, us = "
    "excluded.us, sol_us = excluded.sol_us, eff = excluded.eff, trials = excluded.trials, "
    "closure = excluded.closure, space = excluded.space, version = excluded.version, tuned "
    "= excluded.tuned, sum = excluded.sum";
inline constexpr std::string_view kValuesOfTrial =
    ") VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?) ON CONFLICT(problem_key, config, closure) DO "
    "UPDATE SET op = excluded.op, device = excluded.device, status = excluded.status, "
    "samples = excluded.samples, us = excluded.us, p10 = excluded.p10, p90 = excluded.p90, "
    "regs = excluded.regs, spill = excluded.spill, error = excluded.error, measured = "
    "excluded.measured, sum = excluded.sum";
}  // namespace part

inline constexpr std::string_view kKernel =
    Joined<part::kKernel, part::kBytes, part::kFromKernels, part::kOfKernel>::kSql;
inline constexpr std::string_view kKernelHead =
    Joined<part::kKernel, part::kFromKernels, part::kOfKernel>::kSql;
inline constexpr std::string_view kKernelAt =
    Joined<part::kKernel, part::kBytes, part::kFromKernels, part::kKernelAtRow>::kSql;
inline constexpr std::string_view kKernelHeadAt =
    Joined<part::kKernel, part::kFromKernels, part::kKernelAtRow>::kSql;
inline constexpr std::string_view kWinner =
    Joined<part::kSelect, kWinnerColumns, part::kFromWinners, part::kOfKey>::kSql;
inline constexpr std::string_view kWinnerAt =
    Joined<part::kSelect, kWinnerColumns, part::kFromWinners, part::kAtRow>::kSql;
inline constexpr std::string_view kTrial =
    Joined<part::kSelect, kTrialColumns, part::kFromTrials, part::kOfTrial>::kSql;
inline constexpr std::string_view kTrialAt =
    Joined<part::kSelect, kTrialColumns, part::kFromTrials, part::kAtRow>::kSql;
inline constexpr std::string_view kInsertKernel =
    Joined<part::kPutKernel, kKernelColumns, part::kValuesOfKernel>::kSql;
inline constexpr std::string_view kInsertWinner =
    Joined<part::kPutWinner, kWinnerColumns, part::kValuesOfWinner>::kSql;
inline constexpr std::string_view kInsertTrial =
    Joined<part::kPutTrial, kTrialColumns, part::kValuesOfTrial>::kSql;
inline constexpr std::string_view kInsertBytes =
    "INSERT INTO kernel_bytes(key, sum, bytes) VALUES(?,?,?) ON CONFLICT(key) DO UPDATE SET "
    "sum = excluded.sum, bytes = excluded.bytes";

}  // namespace sql

inline constexpr std::string_view kNoCubin = "no cubin beside it";

// The row at a statement's cursor; `flaw` is why it may not be served, or empty.
struct KernelAt {
  KernelRow row;
  std::string bytes_sum;
  int64_t rowid = 0;
  std::string_view flaw = "no row";
};
// `select` is one of sql::kKernel*; its bytes are read, and judged, where it has them.
KernelAt ReadKernel(const Statement& select, bool with_bytes);

template <class Row>
struct RowAt {
  Row row;
  int64_t rowid = 0;
  std::string_view flaw = "no row";
};
// `select` is one of sql::kWinner* or sql::kTrial*.
RowAt<WinnerRow> ReadWinner(const Statement& select);
RowAt<TrialRow> ReadTrial(const Statement& select);

}  // namespace tilewright

#endif  // TILEWRIGHT_CACHE_ROW_SQL_H_
