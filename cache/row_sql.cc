#include "cache/row_sql.h"

#include "cache/bounds.h"

namespace tilewright {
namespace {

static_assert(kMaxCubinBytes == 67108864, "part::kBytes has it");

template <class Row>
RowAt<Row> Read(const Statement& select) {
  Stored<Row> stored;
  const int next = ReadColumns(select, stored);
  RowAt<Row> at;
  at.rowid = select.Int(next);
  at.flaw = FlawOf(stored);
  if (at.flaw.empty() && select.Int(next + 1) != 1) at.flaw = "a text that is not JSON";
  at.row = std::move(stored.row);
  return at;
}

}  // namespace

KernelAt ReadKernel(const Statement& select, bool with_bytes) {
  using Type = Statement::Type;
  Stored<KernelRow> stored;
  const int next = ReadColumns(select, stored);
  KernelAt at;
  at.bytes_sum = select.Text(next);
  stored.row.cubin_bytes = select.Int(next + 1);
  at.rowid = select.Int(next + 2);
  at.flaw = select.TypeOf(next) == Type::kNull ? kNoCubin : FlawOf(stored, at.bytes_sum);
  if (with_bytes && at.flaw.empty()) {
    const std::string_view bytes = select.Text(next + 3);
    at.flaw = select.TypeOf(next + 3) == Type::kNull ? "a cubin of more than 64 MiB"
                                                     : FlawOfBytes(stored.row, at.bytes_sum, bytes);
    if (at.flaw.empty()) stored.row.cubin = bytes;
  }
  at.row = std::move(stored.row);
  return at;
}

RowAt<WinnerRow> ReadWinner(const Statement& select) { return Read<WinnerRow>(select); }
RowAt<TrialRow> ReadTrial(const Statement& select) { return Read<TrialRow>(select); }

}  // namespace tilewright
