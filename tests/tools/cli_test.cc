// Guards what a user of the CLI relies on: exit codes, help, messages, JSON and the cache's path.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "cache/cache.h"
#include "runtime/driver/driver.h"
#include "tests/tools/cli_process.h"

namespace tilewright {
namespace {

using nlohmann::json;
using testing::HasSubstr;

constexpr const char* kCommands[] = {"ops",   "validate",  "warm",    "coverage",
                                     "tune",  "inspect",   "explain", "conform",
                                     "bench", "calibrate", "cache",   "doctor"};

// Every command explains itself.
TEST(CliTest, EachCommandHasHelp) {
  const CliSandbox sandbox;
  for (const char* command : kCommands) {
    const CliResult result = sandbox.Run({command, "--help"});
    EXPECT_EQ(result.code, 0) << command << ": " << result.err;
    EXPECT_THAT(result.out, HasSubstr("Usage: ")) << command;
    EXPECT_THAT(result.out, HasSubstr(command)) << command;
  }
  for (const char* command : {"stats", "check", "gc", "export", "import", "merge", "diff"}) {
    EXPECT_EQ(sandbox.Run({"cache", command, "--help"}).code, 0) << command;
  }
}

// Misuse is 2 and says what was expected, never a crash and never 1.
TEST(CliTest, MisuseExitsWithTwo) {
  const CliSandbox sandbox;
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases = {
      {{}, "a command is missing"},
      {{"fly"}, "fly"},
      {{"ops", "--fast"}, "--fast"},
      {{"cache"}, "a command is missing"},
      {{"cache", "gc"}, "--max-bytes"},
      {{"cache", "gc", "--max-bytes", "lots"}, "500MB"},
      {{"cache", "gc", "--max-bytes", "1i"}, "1GiB"},
      {{"cache", "gc", "--max-bytes", "0x10"}, "got '0x10'"},
      {{"cache", "gc", "--max-bytes", " 9GB"}, "got ' 9GB'"},
      {{"cache", "gc", "--max-bytes", "-0"}, "got '-0'"},
      {{"cache", "gc", "--max-bytes", "010"}, "got '010'"},
      {{"cache", "gc", "--max-bytes", "1e-3"}, "got '1e-3'"},
      {{"cache", "gc", "--max-bytes", "inf"}, "got 'inf'"},
      {{"warm"}, "--arch"},
      {{"warm", "--arch", "sm_12"}, "sm_12"},
      {{"warm", "--arch", "sm_90a", "--device", "sm_80"}, "sm_90a"},
      {{"warm", "--arch", "sm_90a", "--op", "NoSuchOp"}, "NoSuchOp"},
      {{"warm", "--arch", "sm_90a", "--family", "nothing"}, "nothing"},
      {{"warm", "--arch", "sm_90a", "--jobs", "0"}, "--jobs"},
      {{"explain", "NoSuchOp", "a=1", "--dtype", "float16", "--arch", "sm_90a"}, "NoSuchOp"},
      {{"explain", "GemmFwdOp", "a=1y2", "--dtype", "float16", "--arch", "sm_90a"}, "1y2"},
      {{"explain", "GemmFwdOp", "a=8x8", "b=8x8", "--dtype", "half", "--arch", "sm_90a"}, "half"},
      {{"explain", "GemmFwdOp", "a=8x8", "b=8x9", "--dtype", "float16", "--arch", "sm_90a"}, "b"},
  };
  for (const auto& [arguments, expected] : cases) {
    const CliResult result = sandbox.Run(arguments);
    EXPECT_EQ(result.code, 2) << testing::PrintToString(arguments) << result.out << result.err;
    EXPECT_THAT(result.out + result.err, HasSubstr(expected)) << testing::PrintToString(arguments);
  }
}

// --cache beats TILEWRIGHT_CACHE, which beats the XDG path.
TEST(CliTest, FindsTheCacheByItsRules) {
  const CliSandbox sandbox;
  CliResult result = sandbox.Run({"cache", "stats"});
  EXPECT_EQ(result.code, 1);
  EXPECT_THAT(result.err, HasSubstr(sandbox.Path("xdg/tilewright/kernels.db")));
  result = sandbox.Run({"cache", "stats"}, {{"TILEWRIGHT_CACHE", sandbox.Path("env.db")}});
  EXPECT_EQ(result.code, 1);
  EXPECT_THAT(result.err, HasSubstr(sandbox.Path("env.db")));
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"--cache", sandbox.Path("flag.db"), "cache", "stats"},
        std::vector<std::string>{"cache", "stats", "--cache", sandbox.Path("flag.db")}}) {
    result = sandbox.Run(arguments, {{"TILEWRIGHT_CACHE", sandbox.Path("env.db")}});
    EXPECT_EQ(result.code, 1);
    EXPECT_THAT(result.err, HasSubstr(sandbox.Path("flag.db")));
  }
}

// Guards: with no environment at all there is no default cache; what needs none works, what
// needs one says how to name it, and --cache is taken.
TEST(CliTest, WorksWithoutAnEnvironment) {
  const CliSandbox sandbox;
  const auto run = [&](const std::string& arguments) {
    const std::string command = "env -i " TILEWRIGHT_CLI_PATH " " + arguments + " >" +
                                sandbox.Path("out") + " 2>" + sandbox.Path("err");
    const int status = std::system(command.c_str());
    std::ostringstream err;
    err << std::ifstream(sandbox.Path("err")).rdbuf();
    return std::pair(WIFEXITED(status) ? WEXITSTATUS(status) : -1, err.str());
  };
  const std::string call = "AddFwdOp input=8 other=8 --dtype float32 --arch sm_90a";
  EXPECT_EQ(run("explain " + call).first, 0);
  const auto [code, message] = run("warm --arch sm_90a --op AddFwdOp");
  EXPECT_EQ(code, 2);
  EXPECT_THAT(message, HasSubstr("no cache file: give --cache FILE or set TILEWRIGHT_CACHE"));
  const std::string shapes = sandbox.Write(
      "calls.jsonl", R"({"op":"AddFwdOp","inputs":{"input":[8],"other":[8]},"dtype":"float32"})");
  EXPECT_EQ(run("warm --arch sm_90a --shapes " + shapes + " --cache " + sandbox.Path("k.db")).first,
            0);
  EXPECT_TRUE(std::filesystem::exists(sandbox.Path("k.db")));
}

// A cache that cannot be written is an error before anything is compiled.
TEST(CliTest, WarmRefusesACacheThatCannotBeWritten) {
  const CliSandbox sandbox;
  const CliResult result =
      sandbox.Run({"warm", "--arch", "sm_90a", "--cache", "/proc/nowhere/kernels.db"});
  EXPECT_EQ(result.code, 1);
  EXPECT_THAT(result.err, HasSubstr("/proc/nowhere/kernels.db"));
}

TEST(CliTest, OpsListsTheBuiltInOperators) {
  const CliSandbox sandbox;
  const CliResult result = sandbox.Run({"ops", "--json"});
  ASSERT_EQ(result.code, 0) << result.err;
  std::vector<std::string> names;
  const json parsed = json::parse(result.out);
  for (const json& op : parsed) names.push_back(op["name"]);
  EXPECT_THAT(names, testing::IsSupersetOf({"GemmFwdOp", "RMSNormFwdOp", "SoftmaxFwdOp", "AddFwdOp",
                                            "SiluAndMulFwdOp"}));
  const CliResult text = sandbox.Run({"ops"});
  EXPECT_THAT(text.out, HasSubstr("GemmFwdOp(a: float16|bfloat16 [A0, A1], b: same_as(a) [B0, B1]; "
                                  "trans_a=false, trans_b=true) -> d: same_as(a) (M, N)"));
}

// Doctor names what is missing, where it was sought, and agrees with its exit code.
TEST(CliTest, DoctorReportsEachPart) {
  const CliSandbox sandbox;
  const CliResult result = sandbox.Run({"doctor", "--json"});
  const json parts = json::parse(result.out);
  bool all_found = true;
  std::map<std::string, json> by_name;
  for (const json& part : parts) {
    all_found = all_found && part["found"].get<bool>();
    by_name[part["part"]] = part;
    EXPECT_FALSE(part["detail"].get<std::string>().empty());
  }
  EXPECT_EQ(result.code, all_found ? 0 : 1);
  ASSERT_TRUE(by_name.count("driver") && by_name.count("nvrtc") && by_name.count("cache"));
  EXPECT_TRUE(by_name["nvrtc"]["found"]);
  if (!by_name["driver"]["found"]) {
    EXPECT_THAT(by_name["driver"]["detail"].get<std::string>(), HasSubstr("libcuda.so.1"));
  }
  const CliResult without = sandbox.Run({"doctor"}, {{"TILEWRIGHT_NVRTC", "/nowhere/libnvrtc.so"}});
  EXPECT_EQ(without.code, 1);
  EXPECT_THAT(without.out, HasSubstr("MISSING  nvrtc"));
  EXPECT_THAT(without.out, HasSubstr("TILEWRIGHT_NVRTC (RuntimeOptions::nvrtc_path) is "
                                     "/nowhere/libnvrtc.so, from which NVRTC cannot be loaded:"));
  const CliResult templates = sandbox.Run({"doctor"}, {{"TILEWRIGHT_TEMPLATES", "/nowhere"}});
  EXPECT_EQ(templates.code, 1);
  EXPECT_THAT(templates.out, HasSubstr("MISSING  templates: TILEWRIGHT_TEMPLATES: template "
                                       "directory /nowhere: No such file or directory"));
  EXPECT_THAT(templates.out, HasSubstr("found    nvrtc"));
  const CliResult nowhere = sandbox.Run({"--cache", "/dev/null/k.db", "doctor"});
  EXPECT_EQ(nowhere.code, 1);
  EXPECT_THAT(nowhere.out, HasSubstr("/dev/null/k.db cannot be made: /dev/null: Not a directory"));
}

// The built-in manifest has no finding, and a broken file has one with file and line.
TEST(CliTest, ValidateFindsWhatIsBroken) {
  const CliSandbox sandbox;
  const CliResult good = sandbox.Run({"validate"});
  EXPECT_EQ(good.code, 0) << good.out << good.err;
  const std::string file = sandbox.Write("bad.yaml", "BadOp:\n  family: none\n  family: twice\n");
  const CliResult bad = sandbox.Run({"validate", file, "--json"});
  EXPECT_EQ(bad.code, 1);
  const json report = json::parse(bad.out);
  ASSERT_EQ(report["findings"].size(), 1u);
  EXPECT_THAT(report["findings"][0]["text"].get<std::string>(), HasSubstr(file + ":3"));
}

// Guards: an operator that two files declare is a finding that names both places.
TEST(CliTest, ValidateFindsNamesInTwoFiles) {
  const CliSandbox sandbox;
  const std::string entry = R"(TwiceFwdOp:
  family: test
  reference: torch.neg
  source: here
  status: spec-only
  signature:
    inputs: {x: {dtype: [float16], shape: '[M]'}}
    outputs: {y: {dtype: same_as(x), shape: x.shape}}
  roofline: {flops: M, bytes: 2 * M * elem_bytes}
  workloads:
    - {label: one, inputs: {x: [2]}, dtypes: [float16]}
    - {label: two, inputs: {x: [4]}, dtypes: [float16]}
)";
  const std::string first = sandbox.Write("first.yaml", entry);
  const std::string second = sandbox.Write("second.yaml", "# again\n" + entry);
  EXPECT_EQ(sandbox.Run({"validate", first}).code, 0);
  const CliResult both = sandbox.Run({"validate", first, second});
  EXPECT_EQ(both.code, 1);
  EXPECT_THAT(both.out, HasSubstr(second + ":2: TwiceFwdOp: an entry of this name is at " + first +
                                  ":1 [L0]"));
}

// What is wrong with the cache is said once by the commands that plan with it.
TEST(CliTest, CoverageWarnsOnce) {
  const CliSandbox sandbox;
  const std::string cache = sandbox.Path("kernels.db");
  CacheOptions options;
  options.path = cache;
  ASSERT_TRUE(Cache::Open(options).ok());
  // No lock file can be made: the cache is read only.
  std::filesystem::remove(cache + ".lock");
  std::filesystem::create_directory(cache + ".lock");
  const std::string shapes = sandbox.Write(
      "calls.jsonl", R"({"op":"AddFwdOp","inputs":{"input":[8],"other":[8]},"dtype":"float32"})");
  const CliResult result =
      sandbox.Run({"--cache", cache, "coverage", "--arch", "sm_90a", "--shapes", shapes});
  EXPECT_EQ(result.code, 1);
  EXPECT_THAT(result.out, HasSubstr("MISSING"));
  const size_t first = result.err.find("read-only");
  ASSERT_NE(first, std::string::npos) << result.err;
  EXPECT_EQ(result.err.find("read-only", first + 1), std::string::npos) << result.err;
  const CliResult warm =
      sandbox.Run({"--cache", cache, "warm", "--arch", "sm_90a", "--shapes", shapes});
  EXPECT_EQ(warm.code, 1);
  EXPECT_THAT(warm.err, HasSubstr("cannot be written (mode: read-only)"));
}

// Guards: without a cache file every kernel is listed as missing, not an error in its stead.
TEST(CliTest, CoverageWithoutACacheListsEveryKernel) {
  const CliSandbox sandbox;
  const std::vector<std::string> coverage = {"coverage", "--arch", "sm_90a",      "--op",
                                             "AddFwdOp", "--op",   "SoftmaxFwdOp"};
  const CliResult text = sandbox.Run(coverage);
  EXPECT_EQ(text.code, 1);
  EXPECT_THAT(text.err, HasSubstr("no cache at " + sandbox.Path("xdg/tilewright/kernels.db")));
  std::vector<std::string> as_json = coverage;
  as_json.push_back("--json");
  const CliResult listed = sandbox.Run(as_json);
  EXPECT_EQ(listed.code, 1);
  const json kernels = json::parse(listed.out);
  ASSERT_GT(kernels.size(), 1u);
  for (const json& kernel : kernels) EXPECT_FALSE(kernel["cached"]);
  EXPECT_THAT(text.out, HasSubstr(std::to_string(kernels.size()) + " kernels needed for sm_90a, " +
                                  std::to_string(kernels.size()) + " missing"));
  EXPECT_FALSE(std::filesystem::exists(sandbox.Path("xdg")));
}

// Guards: without a compiler there is one message and an end, not one for each kernel.
TEST(CliTest, WarmStopsWhereThereIsNoCompiler) {
  const CliSandbox sandbox;
  const std::map<std::string, std::string> environment = {{"TILEWRIGHT_NVRTC", "/nowhere/nvrtc"}};
  const CliResult text =
      sandbox.Run({"warm", "--arch", "sm_90a", "--family", "reduction"}, environment);
  EXPECT_EQ(text.code, 1);
  const size_t first = text.err.find("NVRTC cannot be loaded");
  ASSERT_NE(first, std::string::npos) << text.err;
  EXPECT_EQ(text.err.find("NVRTC cannot be loaded", first + 1), std::string::npos) << text.err;
  EXPECT_EQ(text.out, "");
  const CliResult listed =
      sandbox.Run({"warm", "--arch", "sm_90a", "--family", "reduction", "--json"}, environment);
  EXPECT_EQ(listed.code, 1);
  EXPECT_EQ(json::parse(listed.out)["failures"].size(), 1u);
}

// Guards: a folder of templates that is not there is told with the variable that names it.
TEST(CliTest, TemplatesThatAreNotThere) {
  const CliSandbox sandbox;
  const CliResult warm = sandbox.Run({"warm", "--arch", "sm_90a", "--op", "AddFwdOp"},
                                     {{"TILEWRIGHT_TEMPLATES", "/nowhere"}});
  EXPECT_EQ(warm.code, 2);
  EXPECT_THAT(warm.err, HasSubstr("TILEWRIGHT_TEMPLATES (RuntimeOptions::template_dir): template "
                                  "directory /nowhere: No such file or directory"));
  const std::string empty = sandbox.Path("empty");
  std::filesystem::create_directory(empty);
  const CliResult none = sandbox.Run({"warm", "--arch", "sm_90a", "--op", "AddFwdOp"},
                                     {{"TILEWRIGHT_TEMPLATES", empty}});
  EXPECT_EQ(none.code, 2);
  EXPECT_THAT(none.err, HasSubstr("template directory " + empty + ": expected .cuh files"));
}

// Guards: a misspelt name is answered with the one that was meant, wherever names are looked up.
TEST(CliTest, MisspeltNames) {
  const CliSandbox sandbox;
  const std::string shapes =
      sandbox.Write("s.jsonl", R"({"op": "gemm", "inputs": {}, "dtype": "float16"}
{"op": "AddFwdOp", "inptus": {}, "inputs": {}, "dtype": "float16"}
{"op": "AddFwdOp", "inputs": {"a": [4], "b": [4]}, "dtype": "flaot16"}
{"op": "GroupedQueryAttentionPrefillFwdOp", "inputs": {}, "dtype": "float16", "params": {"dtype": "bflaot16"}}
{"op": "GemmFwdOp", "inputs": {}, "dtype": "float16", "params": {"tran_a": "bflaot16"}}
)");
  const std::string kPrefill = "GroupedQueryAttentionPrefillFwdOp";
  const struct {
    std::vector<std::string> arguments;
    std::string meant;
  } kCases[] = {
      {{"explain", "gemm", "2x2", "--arch", "sm_90a"}, "'GemmFwdOp'"},
      {{"warm", "--arch", "sm_90a", "--op", "GemFwdOp"}, "'GemmFwdOp'"},
      {{"warm", "--arch", "sm_90a", "--family", "atention"}, "'attention'"},
      {{"warm", "--arch", "sm_90", "--op", "AddFwdOp"}, "'sm_90a'"},
      {{"warm", "--device", "H20O", "--op", "AddFwdOp"}, "'h200'"},
      {{"validate", "--op", "softmax"}, "'SoftmaxFwdOp'"},
      {{"explain", "SoftmaxFwdOp", "4x4", "--param", "dmi=1", "--arch", "sm_90a"}, "'dim'"},
      {{"explain", "RMSNormFwdOp", "2x8", "wieght=8", "--arch", "sm_90a"}, "'weight'"},
      {{"explain", "AddFwdOp", "4", "4", "--dtype", "bfloat_16", "--arch", "sm_90a"}, "'bfloat16'"},
      {{"explain", "GemmFwdOp", "8x8", "8x8", "--param", "trans_b=ture", "--arch", "sm_90a"},
       "'true'"},
      {{"explain", "AddFwdOp", "4", "4", "--param", "alpha=-ifn", "--arch", "sm_90a"}, "'-inf'"},
      {{"explain", kPrefill, "8x2x64", "--param", "dtype=float61", "--arch", "sm_90a"},
       "'float16'"},
      {{"warm", "--arch", "sm_90a", "--shapes", shapes}, "'bfloat16'"},
      {{"warm", "--arch", "sm_90a", "--shapes", shapes}, "'trans_a'"},
      {{"warm", "--arch", "sm_90a", "--shapes", shapes}, "'GemmFwdOp'"},
      {{"warm", "--arch", "sm_90a", "--shapes", shapes}, "'inputs'"},
      {{"warm", "--arch", "sm_90a", "--shapes", shapes}, "'float16'"},
      {{"wram", "--arch", "sm_90a"}, "'warm'"},
      {{"cache", "chek"}, "'check'"},
      {{"warm", "--acrh", "sm_90a"}, "'--arch'"},
  };
  for (const auto& each : kCases) {
    const CliResult result = sandbox.Run(each.arguments);
    EXPECT_EQ(result.code, 2) << each.meant;
    EXPECT_THAT(result.err, HasSubstr("did you mean " + each.meant + "?"));
  }
}

// Guards: what strict mode tells users to run is not refused by strict mode.
TEST(CliTest, WarmIgnoresStrictMode) {
  const CliSandbox sandbox;
  const std::string shapes = sandbox.Write(
      "calls.jsonl", R"({"op":"AddFwdOp","inputs":{"input":[8],"other":[8]},"dtype":"float32"})");
  const CliResult result = sandbox.Run({"warm", "--arch", "sm_90a", "--shapes", shapes, "--json"},
                                       {{"TILEWRIGHT_STRICT", "1"}});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_GT(json::parse(result.out)["compiled"].get<int>(), 0);
}

// Guards: without a GPU, or without a driver, tuning says so once and ends.
TEST(CliTest, TuneStopsWhereThereIsNoGpu) {
  if (SystemDriver()->Init().ok()) GTEST_SKIP() << "there is a GPU";
  const CliSandbox sandbox;
  const CliResult result = sandbox.Run({"tune", "--cache", sandbox.Path("k.db")});
  EXPECT_EQ(result.code, 1);
  EXPECT_EQ(result.out, "");
  const size_t first = result.err.find("libcuda.so.1");
  ASSERT_NE(first, std::string::npos) << result.err;
  EXPECT_EQ(result.err.find("tilewright: "), 0u);
  EXPECT_EQ(result.err.find("tilewright: ", 1), std::string::npos) << result.err;
}

// Guards: what is installed can be told: the version, the commit and the compiler that is found.
TEST(CliTest, VersionNamesCommitAndCompiler) {
  const CliSandbox sandbox;
  const CliResult result = sandbox.Run({"--version"});
  EXPECT_EQ(result.code, 0);
  EXPECT_THAT(result.out, testing::MatchesRegex("tilewright [0-9]+\\.[0-9]+\\.[0-9]+\n"
                                                "commit     [-0-9a-z]+\n"
                                                "compiler   nvrtc [0-9.]+\n"));
  const CliResult without = sandbox.Run({"--version"}, {{"TILEWRIGHT_NVRTC", "/nowhere/nvrtc"}});
  EXPECT_EQ(without.code, 0);
  EXPECT_THAT(without.out, HasSubstr("compiler   none (see tilewright doctor)\n"));
}

// Each architecture is named once where one is unknown, and columns of ops stay apart.
TEST(CliTest, ListsAreReadable) {
  const CliSandbox sandbox;
  const std::string message = sandbox.Run({"warm", "--arch", "sm_70"}).err;
  const size_t first = message.find("sm_90a");
  ASSERT_NE(first, std::string::npos) << message;
  EXPECT_EQ(message.find("sm_90a", first + 1), std::string::npos) << message;
  std::istringstream lines(sandbox.Run({"ops"}).out);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string family;
    std::string status;
    words >> family >> status;
    EXPECT_TRUE(status == "implemented" || status == "spec-only") << line;
  }
}

// An option without its value is misuse of the quickstart too.
TEST(CliTest, QuickstartWantsValues) {
  for (const char* option : {"--cache", "--preset", "--cache ''", "--nothing"}) {
    const std::string command =
        std::string(TILEWRIGHT_SOURCE_DIR "/tools/quickstart ") + option + " 2>/dev/null";
    const int status = std::system(command.c_str());
    EXPECT_EQ(WIFEXITED(status) ? WEXITSTATUS(status) : -1, 2) << option;
  }
}

}  // namespace
}  // namespace tilewright
