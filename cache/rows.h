// Rows as they are stored: column order, checksums and decoding.
#ifndef TILEWRIGHT_CACHE_ROWS_H_
#define TILEWRIGHT_CACHE_ROWS_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "cache/cache.h"

namespace tilewright {

class Statement;

// One value of a raw SQLite record (integers, reals, texts and blobs; null is monostate).
using RecordValue = std::variant<std::monostate, int64_t, double, std::string>;
using Record = std::span<const RecordValue>;

// The bytes of a cubin as stored beside the kernel's row.
struct BytesRow {
  std::string key;
  std::string sum;
  std::string bytes;
};

// Checksums: XXH3-128, in hex, over every other column of the row, a text preceded by its length,
// a number as 8 bytes. A kernel's covers the sum of its bytes too, so that the two rows belong
// together.
std::string BytesSum(std::string_view key, std::string_view bytes);
std::string RowSum(const KernelRow& row, std::string_view bytes_sum);
std::string RowSum(const WinnerRow& row);
std::string RowSum(const TrialRow& row);

// The same over what two caches should agree on: no times, no last use, no compile time.
std::string LogicalSum(KernelRow row, std::string_view bytes_sum);
std::string LogicalSum(WinnerRow row);
std::string LogicalSum(TrialRow row);

// A row as it was read, with what is wrong with its values by themselves: one of another type than
// its column, one that does not fit the member. Such a row is not served, whatever its sum.
template <class Row>
struct Stored {
  Row row;
  std::string sum;
  std::string_view flaw;
};
// Why the row may not be served, in words, or empty: its values, its sum, then its bounds. A
// kernel's bytes are judged apart, by a head that has no flaw.
std::string_view FlawOf(const Stored<KernelRow>& stored, std::string_view bytes_sum);
std::string_view FlawOf(const Stored<WinnerRow>& stored);
std::string_view FlawOf(const Stored<TrialRow>& stored);
std::string_view FlawOfBytes(const KernelRow& head, std::string_view bytes_sum,
                             std::string_view bytes);

// Binds the row's columns from parameter 1 on; returns the next free index. `row` must live until
// the statement is reset.
int BindColumns(Statement& statement, const KernelRow& row);
int BindColumns(Statement& statement, const WinnerRow& row);
int BindColumns(Statement& statement, const TrialRow& row);

// Reads columns from 0 on, `sum` included; returns the index of the column after them.
int ReadColumns(const Statement& statement, Stored<KernelRow>& row);
int ReadColumns(const Statement& statement, Stored<WinnerRow>& row);
int ReadColumns(const Statement& statement, Stored<TrialRow>& row);

// A raw record as a row of its kind; nullopt where count or types do not fit.
std::optional<Stored<KernelRow>> DecodeKernel(Record record);
std::optional<Stored<WinnerRow>> DecodeWinner(Record record);
std::optional<Stored<TrialRow>> DecodeTrial(Record record);
std::optional<BytesRow> DecodeBytes(Record record);

}  // namespace tilewright

#endif  // TILEWRIGHT_CACHE_ROWS_H_
