// The one list of each table's columns.
#ifndef TILEWRIGHT_CACHE_ROW_COLUMNS_H_
#define TILEWRIGHT_CACHE_ROW_COLUMNS_H_

#include <type_traits>

#include "cache/cache.h"

namespace tilewright {

// In the schema's order, `sum` last and left out. `Row` is the row type or its const.
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

}  // namespace tilewright

#endif  // TILEWRIGHT_CACHE_ROW_COLUMNS_H_
