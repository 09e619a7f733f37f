// The cross-checks of `tilewright validate`: manifest entries against recipes, references,
// workloads and the conformance ledger.
#ifndef TILEWRIGHT_TOOLS_VALIDATOR_H_
#define TILEWRIGHT_TOOLS_VALIDATOR_H_

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "kernel_templates/recipe.h"
#include "manifest/op_spec.h"
#include "manifest/reference.h"
#include "runtime/compiler.h"

namespace tilewright {

// One thing that is wrong. `level` is that of the check: 0 schema, 1 signature against recipe, 2
// shape rules on workloads, 3 dtypes, 4 roofline, workloads and reference, 5 ledger.
struct Finding {
  int level = 0;
  std::string file;
  int line = 0;
  std::string op;
  std::string field;
  std::string message;
  // "manifest/gemm.yaml:12: GemmFwdOp.roofline: ... [L4]"
  std::string ToString() const;
};

// Where the checks find an operator's other parts.
struct ValidatorParts {
  std::function<std::unique_ptr<Recipe>(std::string_view op)> recipe;
  std::function<ReferenceFunction(std::string_view op)> reference;
  std::function<bool(std::string_view op)> bench_peer;
};
ValidatorParts BuiltinParts();

// Levels 0 to 4 of one entry. A spec-only entry needs no recipe and no reference.
std::vector<Finding> ValidateOp(const OpSpec& op, const ValidatorParts& parts);

// Level 1: recipes and references of operators that no entry declares, as a misspelt marker makes
// them.
std::vector<Finding> ValidateMarkers(std::span<const OpSpec> ops,
                                     std::span<const std::string_view> recipes,
                                     std::span<const std::string_view> references);

// Level 5: the ledger vouches for the code that is there now. What cannot be told here, by name.
struct LedgerFindings {
  std::vector<Finding> findings;
  std::vector<std::string> unverified;
  int64_t claims = 0;
  int64_t vouched = 0;
};
absl::StatusOr<LedgerFindings> ValidateLedger(const std::string& folder,
                                              std::span<const OpSpec> ops, Compiler& compiler,
                                              int jobs);

}  // namespace tilewright

#endif  // TILEWRIGHT_TOOLS_VALIDATOR_H_
