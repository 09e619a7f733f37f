// Rows as they are stored: column order, checksums, bounds and decoding.
#ifndef TILEWRIGHT_CACHE_ROWS_H_
#define TILEWRIGHT_CACHE_ROWS_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "absl/status/status.h"
#include "cache/cache.h"

namespace tilewright {

class Statement;

inline constexpr int64_t kMaxCubinBytes = 64 << 20;
inline constexpr int64_t kMaxTextBytes = 1 << 20;  // any one text column
inline constexpr int64_t kMaxKeyBytes = 512;

// One value of a raw SQLite record (integers, reals, texts and blobs; null is monostate).
using RecordValue = std::variant<std::monostate, int64_t, double, std::string>;
using Record = std::span<const RecordValue>;

// The bytes of a cubin as stored beside the kernel's row.
struct BytesRow {
  std::string key;
  std::string sum;
  std::string bytes;
};

// Checksums: XXH3-128, in hex, over every other column of the row, each preceded by its length (or
// as 8 bytes). A kernel's covers the sum of its bytes too, so that the two rows belong together.
std::string BytesSum(std::string_view key, std::string_view bytes);
std::string RowSum(const KernelRow& row, std::string_view bytes_sum);
std::string RowSum(const WinnerRow& row);
std::string RowSum(const TrialRow& row);

// The same over what two caches should agree on: no times, no last use, no compile time.
std::string LogicalSum(KernelRow row, std::string_view bytes_sum);
std::string LogicalSum(WinnerRow row);
std::string LogicalSum(TrialRow row);

// InvalidArgument where a row breaks a bound: sizes, finite non-negative numbers, a cubin that is
// cut off or for another architecture than the row.
absl::Status CheckBounds(const KernelRow& row);
absl::Status CheckBounds(const WinnerRow& row);
absl::Status CheckBounds(const TrialRow& row);
// True where `cubin` is a whole CUDA ELF file for `arch`, or no ELF file at all, of which this
// layer knows nothing.
bool CubinFits(std::string_view cubin, std::string_view arch);

// Binds the row's columns from parameter 1 on; returns the next free index. `row` must live until
// the statement is reset.
int BindColumns(Statement& statement, const KernelRow& row);
int BindColumns(Statement& statement, const WinnerRow& row);
int BindColumns(Statement& statement, const TrialRow& row);

// Reads columns from 0 on, without checking; returns the index of the column after them (`sum`).
int ReadColumns(const Statement& statement, KernelRow& row);
int ReadColumns(const Statement& statement, WinnerRow& row);
int ReadColumns(const Statement& statement, TrialRow& row);

// A raw record as a row of its kind, `sum` apart; nullopt where count or types do not fit. The
// caller compares sums.
template <class Row>
struct Decoded {
  Row row;
  std::string sum;
};
std::optional<Decoded<KernelRow>> DecodeKernel(Record record);
std::optional<Decoded<WinnerRow>> DecodeWinner(Record record);
std::optional<Decoded<TrialRow>> DecodeTrial(Record record);
std::optional<BytesRow> DecodeBytes(Record record);

}  // namespace tilewright

#endif  // TILEWRIGHT_CACHE_ROWS_H_
