// Small calls that between them run every variant of every operator, for checkers.
#ifndef TILEWRIGHT_TESTS_GPU_CHECK_CASES_H_
#define TILEWRIGHT_TESTS_GPU_CHECK_CASES_H_

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "kernel_templates/recipe.h"

namespace tilewright {

// One configuration of one call.
struct CheckCase {
  const Recipe* recipe = nullptr;
  const Variant* variant = nullptr;
  Config config;
  CallDesc call;
};

// Owns the recipes.
struct CheckCases {
  std::vector<std::unique_ptr<Recipe>> recipes;
  std::vector<CheckCase> cases;
};

// Each call with each variant that serves it: the default, and up to `configs` further
// configurations that between them take as many values of the variant's axes as they can.
// Only operators whose name holds `filter`.
absl::StatusOr<CheckCases> MakeCheckCases(const DeviceProfile& device, int configs,
                                          std::string_view filter);

}  // namespace tilewright

#endif  // TILEWRIGHT_TESTS_GPU_CHECK_CASES_H_
