// Guards every numeric option against what is no number in its range: NaN, infinities, negatives,
// overflow, fractions where whole numbers are meant, octal, rubbish, nothing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/tools/cli_process.h"

namespace tilewright {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;

struct NumericOption {
  std::vector<std::string> command;
  std::string option;
  bool whole;
};

TEST(CliNumbersTest, BadNumbersAreMisuse) {
  const NumericOption kOptions[] = {
      {{"validate"}, "--jobs", true},
      {{"warm", "--arch", "sm_90a"}, "--jobs", true},
      {{"tune"}, "--jobs", true},
      {{"tune"}, "--device", true},
      {{"tune"}, "--shard", true},
      {{"bench"}, "--device", true},
      {{"bench"}, "--repeats", true},
      {{"calibrate"}, "--device", true},
      {{"conform"}, "--device", true},
      {{"conform"}, "--candidates", true},
      {{"conform"}, "--samples", true},
      {{"conform"}, "--seed", true},
      {{"conform"}, "--budget", false},
      {{"cache", "gc"}, "--max-bytes", false},
      {{"explain", "AddFwdOp", "--dtype", "float32", "--arch", "sm_90a"}, "input", true},
  };
  const CliSandbox sandbox;
  for (const NumericOption& option : kOptions) {
    std::vector<std::string> values = {"nan",
                                       "-nan",
                                       "inf",
                                       "-inf",
                                       "-1",
                                       "1e400",
                                       "",
                                       " ",
                                       "x",
                                       "1x",
                                       "--",
                                       "0x",
                                       "99999999999999999999999"};
    if (option.whole) values.insert(values.end(), {"1.5", "1e3", "010", "0x10"});
    for (const std::string& value : values) {
      std::vector<std::string> arguments = option.command;
      arguments.push_back(option.option + "=" + value);
      const CliResult result = sandbox.Run(arguments);
      EXPECT_EQ(result.code, 2) << option.command[0] << " " << arguments.back() << "\n"
                                << result.err;
      EXPECT_THAT(result.err, AnyOf(HasSubstr(option.option), HasSubstr("expected")));
    }
  }
}

// What is in range is taken: the command then fails, or not, for other reasons.
TEST(CliNumbersTest, GoodNumbersAreTaken) {
  const CliSandbox sandbox;
  EXPECT_EQ(sandbox.Run({"validate", "--op", "AddFwdOp", "--jobs=1024"}).code, 0);
  EXPECT_EQ(sandbox
                .Run({"explain", "AddFwdOp", "input=8x10", "other=10", "--dtype=float32",
                      "--arch=sm_90a"})
                .code,
            0);
  for (const char* argument : {"--budget=0.5", "--budget=1e3", "--seed=18446744073709551615",
                               "--samples=1", "--candidates=0"}) {
    const CliResult result = sandbox.Run({"conform", "--op", "NoSuchOp", argument});
    EXPECT_EQ(result.code, 2);
    EXPECT_THAT(result.err, HasSubstr("NoSuchOp")) << argument << "\n" << result.err;
  }
}

}  // namespace
}  // namespace tilewright
