// Does the ledger vouch for the code that is there now? Needs no GPU.
#ifndef TILEWRIGHT_RUNTIME_CONFORM_LEDGER_CHECK_H_
#define TILEWRIGHT_RUNTIME_CONFORM_LEDGER_CHECK_H_

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "kernel_templates/embedded.h"
#include "kernel_templates/recipe.h"
#include "manifest/op_spec.h"
#include "runtime/compiler.h"
#include "runtime/conform/ledger.h"

namespace tilewright {

struct LedgerFinding {
  enum class Kind : uint8_t {
    kError,       // an implemented operator has no passing row for today's code
    kUnverified,  // cannot be told here: another compiler build, or none; an edge case without row
  };
  Kind kind = Kind::kError;
  std::string op;
  std::string case_name;
  std::string dtype;
  std::string message;
  std::string ToString() const;  // "GemmFwdOp workload/x bfloat16: ..."
};

struct LedgerReport {
  std::vector<LedgerFinding> findings;
  int64_t claims = 0;      // (case, dtype) pairs that were looked up
  int64_t vouched = 0;     // with a passing row for today's code
  int64_t recompiled = 0;  // kernels compiled and compared by digest
  bool ok() const;         // no kError
};

struct LedgerCheckOptions {
  std::vector<const OpSpec*> ops;  // those with status implemented are checked
  std::function<const Recipe*(std::string_view op)> recipe;
  const TemplateSet* templates = nullptr;
  Compiler* compiler =
      nullptr;           // null: digests of unchanged closures are trusted, others unverified
  DeviceProfile device;  // whose rows are looked up: BuiltinDeviceProfile("h200")
  // Kernels whose closure has not changed are recompiled too, this many, starting at a place that
  // `rotation` (a day number, say) moves.
  int sample = 8;
  uint64_t rotation = 0;
  int jobs = 2;
};

// For every case of every implemented operator: takes the default configuration as the code
// chooses it now, looks up its row, and compares closure digest, launches and, recompiling, the
// cubin digest. A changed closure that gives the same cubin still passes.
absl::StatusOr<LedgerReport> VerifyLedger(const Ledger& ledger, const LedgerCheckOptions& options);

}  // namespace tilewright

#endif  // TILEWRIGHT_RUNTIME_CONFORM_LEDGER_CHECK_H_
