// Guards that what the manifest of this tree claims holds: the built CLI's validate over its files,
// with the conformance ledger that vouches for what is implemented.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "manifest/op_spec.h"
#include "tests/tools/cli_process.h"

namespace tilewright {
namespace {

namespace fs = std::filesystem;

size_t ImplementedOps() {
  const std::vector<OpSpec>& ops = Manifest::BuiltinOps();
  return static_cast<size_t>(std::count_if(ops.begin(), ops.end(), [](const OpSpec& op) {
    return op.status == OpStatus::kImplemented;
  }));
}

TEST(ManifestTest, EntriesAndLedgerHold) {
  const fs::path manifest = fs::path(TILEWRIGHT_SOURCE_DIR) / "manifest";
  const fs::path ledger = manifest / "ledger";
  std::vector<std::string> arguments = {"validate", "--json"};
  for (const fs::directory_entry& entry : fs::directory_iterator(manifest)) {
    if (entry.path().extension() == ".yaml") arguments.push_back(entry.path());
  }
  // Without a ledger nothing may claim to be implemented.
  const bool has_ledger = fs::is_directory(ledger);
  ASSERT_TRUE(has_ledger || ImplementedOps() == 0) << ledger << " is missing";
  if (has_ledger) arguments.insert(arguments.end(), {"--ledger", ledger});

  const CliResult result = CliSandbox().Run(arguments);
  ASSERT_EQ(result.code, 0) << result.out << result.err;
  const auto report = nlohmann::json::parse(result.out);
  EXPECT_EQ(report["entries"], Manifest::BuiltinOps().size());
  EXPECT_THAT(report["findings"], testing::IsEmpty());
  if (ImplementedOps() > 0) {
    EXPECT_GT(report["ledger"]["claims"], 0);
    EXPECT_GT(report["ledger"]["vouched"], 0);
  }
}

}  // namespace
}  // namespace tilewright
