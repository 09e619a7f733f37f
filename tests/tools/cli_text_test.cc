// Text of files, whoever wrote them, is shown on its line, in its order and as UTF-8.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "cache/cache.h"
#include "manifest/text.h"
#include "tests/cache/test_cubin.h"
#include "tests/tools/cli_process.h"

namespace tilewright {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

// A line of its own that says something else, a reordered name, and a byte of no text.
constexpr char kText[] = "Op\nok: all well\xe2\x80\xaegpj.exe\xff\x1b[2J";
constexpr char kShown[] = "Op\\nok: all well\\u202egpj.exe\\xff\\u001b[2J";

// The same without the byte, for what must be UTF-8.
constexpr char kJsonText[] = R"(Op\nok: all well\u202egpj.exe\u001b[2J)";

void ExpectPlain(const CliResult& result) {
  for (const std::string& text : {result.out, result.err}) {
    EXPECT_EQ(text, EscapedLines(text));
    EXPECT_THAT(text, Not(HasSubstr("\nok: all well")));
  }
}

void PutRows(const std::string& path) {
  CacheOptions options;
  options.path = path;
  const auto cache = Cache::Open(options).value();
  KernelRow kernel;
  kernel.key = kernel.op = kernel.instantiation = kernel.compiler = kText;
  kernel.arch = "sm_90a";
  kernel.cubin = TestCubin();
  ASSERT_TRUE(cache->PutKernel(kernel).ok());
  WinnerRow winner;
  winner.key = winner.op = winner.dtypes = winner.device = kText;
  winner.problem_json = "{\"m\":\n8}";
  winner.config_json = "{\"tile\":\n8}";
  winner.median_us = 1;
  ASSERT_TRUE(cache->PutWinner(winner).ok());
  TrialRow trial;
  trial.problem_key = trial.error = kText;
  trial.config_json = "{\"tile\":\n8}";
  ASSERT_TRUE(cache->PutTrials({trial}).ok());
}

// Rows of a cache, in tables and in JSON.
TEST(CliTextTest, RowsOfACache) {
  const CliSandbox sandbox;
  const std::string cache = sandbox.Path("k.db");
  PutRows(cache);
  for (const std::vector<std::string>& command :
       std::vector<std::vector<std::string>>{{"inspect"},
                                             {"inspect", "--trials", "Op"},
                                             {"cache", "diff", sandbox.Path("empty.db")}}) {
    CacheOptions options;
    options.path = sandbox.Path("empty.db");
    ASSERT_TRUE(Cache::Open(options).ok());
    std::vector<std::string> arguments = {"--cache", cache};
    arguments.insert(arguments.end(), command.begin(), command.end());
    const CliResult result = sandbox.Run(arguments);
    ExpectPlain(result);
    EXPECT_THAT(result.out, HasSubstr(kShown)) << command[0] << result.err;
  }
  const CliResult result = sandbox.Run({"--cache", cache, "inspect", "--json"});
  ExpectPlain(result);
  EXPECT_THAT(json::parse(result.out)["winners"][0]["op"].get<std::string>(),
              HasSubstr("Op\nok: all well\xe2\x80\xaegpj.exe"));
}

// Rows of a bundle that are not taken.
TEST(CliTextTest, RowsOfABundle) {
  const CliSandbox sandbox;
  const std::string bundle = sandbox.Path("bundle.db");
  PutRows(bundle);
  ASSERT_EQ(sandbox.Run({"--cache", bundle, "cache", "check"}).code, 0);
  // One bit of the cubin's row.
  FILE* file = fopen(bundle.c_str(), "r+");
  ASSERT_NE(file, nullptr);
  std::string bytes(1 << 20, '\0');
  bytes.resize(fread(bytes.data(), 1, bytes.size(), file));
  const size_t at = bytes.find(TestCubin().substr(100, 100));
  ASSERT_NE(at, std::string::npos);
  fseek(file, static_cast<long>(at), SEEK_SET);
  fputc(bytes[at] ^ 1, file);
  fclose(file);
  const CliResult result =
      sandbox.Run({"--cache", sandbox.Path("k.db"), "cache", "import", bundle});
  ExpectPlain(result);
  EXPECT_EQ(result.code, 1);
  EXPECT_THAT(result.out, HasSubstr(std::string("rejected kernels row ") + kShown));
  const CliResult checked = sandbox.Run({"--cache", bundle, "cache", "check"});
  ExpectPlain(checked);
  EXPECT_THAT(checked.out, HasSubstr(std::string("kernels row ") + kShown));
}

// Lines of a shape file, also those that name it.
TEST(CliTextTest, ShapeFile) {
  const CliSandbox sandbox;
  const std::string op = std::string(R"({"op":")") + kJsonText + R"(","inputs":{},"dtype":"x"})";
  const std::string field = std::string(R"({")") + kJsonText + R"(":1})";
  const std::string dtype =
      std::string(R"({"op":"AddFwdOp","inputs":{"input":[8],"other":[8]},"dtype":")") + kJsonText +
      "\"}";
  const std::string bad = "{\"op\":\"\xff\xe2\x80\xae\"}";
  const CliResult result =
      sandbox.Run({"coverage", "--arch", "sm_90a", "--shapes",
                   sandbox.Write("s.jsonl", op + "\n" + field + "\n" + dtype + "\n" + bad + "\n")});
  EXPECT_EQ(result.code, 2);
  ExpectPlain(result);
  for (const char* line : {"s.jsonl:1: no operator 'Op\\nok", "s.jsonl:2: unknown field 'Op\\nok",
                           "s.jsonl:3: AddFwdOp: dtype: 'Op\\nok", "s.jsonl:4: "}) {
    EXPECT_THAT(result.err, HasSubstr(line));
  }
}

// Names and values of a manifest.
TEST(CliTextTest, Manifest) {
  const CliSandbox sandbox;
  const std::string text = std::string("\"") + kJsonText + "\"";
  for (const std::string& yaml :
       {text + ":\n  family: x\n", "MyOp:\n  " + text + ": 1\n", "MyOp:\n  status: " + text + "\n",
        "MyOp:\n  family: x\n  dtype_combos: [[" + text + "]]\n", "MyOp: " + text + "\n",
        "MyOp: *" + std::string("a\xe2\x80\xae") + "\n"}) {
    const CliResult result = sandbox.Run({"validate", sandbox.Write("m.yaml", yaml)});
    EXPECT_EQ(result.code, 1) << yaml;
    ExpectPlain(result);
    EXPECT_THAT(result.out, HasSubstr("m.yaml:")) << yaml;
  }
}

}  // namespace
}  // namespace tilewright
