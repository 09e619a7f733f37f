// Guards what the CLI says of a cache that is absent, damaged, or compared, and of what it holds.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "cache/cache.h"
#include "tests/tools/cli_process.h"

namespace tilewright {
namespace {

using nlohmann::json;
using testing::HasSubstr;

WinnerRow Winner(const std::string& key, const std::string& op) {
  WinnerRow row;
  row.key = key;
  row.op = op;
  row.dtypes = "float32->float32";
  row.problem_json = "{\"m\":4321}";
  row.device = "h200";
  row.config_json = "{}";
  row.median_us = 2;
  row.trials = 1;
  return row;
}

std::unique_ptr<Cache> Open(const std::string& path) {
  CacheOptions options;
  options.path = path;
  return Cache::Open(std::move(options)).value();
}

// Changes one letter of a winner's row in the closed file, so that its checksum does not match.
void Damage(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  std::string bytes = text.str();
  const size_t at = bytes.find("{\"m\":4321}");
  ASSERT_NE(at, std::string::npos);
  bytes[at + 5] = '9';
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

// Every command on a cache that is not there: 1, "the work could not be done", and nothing is made.
TEST(CliCacheTest, NoCacheIsOneCode) {
  const CliSandbox sandbox;
  const std::string none = sandbox.Path("none.db");
  const std::string there = sandbox.Path("there.db");
  Open(there).reset();
  for (const std::vector<std::string>& command : std::vector<std::vector<std::string>>{
           {"stats"},
           {"check"},
           {"gc", "--max-bytes", "1MiB"},
           {"export", sandbox.Path("out.db")},
           {"import", sandbox.Path("absent.db")},
           {"merge", sandbox.Path("absent.db"), "--output", sandbox.Path("merged.db")},
           {"diff", there}}) {
    std::vector<std::string> arguments = {"--cache", none, "cache"};
    arguments.insert(arguments.end(), command.begin(), command.end());
    const CliResult result = sandbox.Run(arguments);
    EXPECT_EQ(result.code, 1) << command[0] << result.out << result.err;
    EXPECT_THAT(result.err, HasSubstr("no cache at ")) << command[0];
  }
  EXPECT_EQ(sandbox.Run({"--cache", there, "cache", "diff", none}).code, 1);
  const CliResult explained =
      sandbox.Run({"--cache", none, "explain", "AlibiFwdOp", "--param", "seq_len=64", "--param",
                   "num_heads=8", "--dtype", "float32", "--arch", "sm_90a"});
  EXPECT_EQ(explained.code, 0) << explained.err;
  EXPECT_THAT(explained.out, HasSubstr("AlibiFwdOp(seq_len=64, num_heads=8) -> "));
  EXPECT_THAT(explained.out, HasSubstr("=float32("));
  for (const char* name : {"none.db", "none.db.lock", "merged.db", "out.db"}) {
    EXPECT_FALSE(std::filesystem::exists(sandbox.Path(name))) << name;
  }
}

// A file of no bytes is somebody's, and no cache: it is said, and left as it was.
TEST(CliCacheTest, EmptyFilesAreLeftAlone) {
  const CliSandbox sandbox;
  const std::string empty = sandbox.Write("empty.db", "");
  for (const std::vector<std::string>& command :
       std::vector<std::vector<std::string>>{{"cache", "stats"},
                                             {"cache", "check"},
                                             {"cache", "gc", "--max-bytes", "1MiB"},
                                             {"cache", "export", sandbox.Path("out.db")},
                                             {"inspect"}}) {
    std::vector<std::string> arguments = {"--cache", empty};
    arguments.insert(arguments.end(), command.begin(), command.end());
    const CliResult result = sandbox.Run(arguments);
    EXPECT_EQ(result.code, 1) << command.back() << result.out;
    EXPECT_THAT(result.err, HasSubstr("empty.db: the file is empty")) << command.back();
  }
  const CliResult explained =
      sandbox.Run({"--cache", empty, "explain", "AlibiFwdOp", "--param", "seq_len=64", "--param",
                   "num_heads=8", "--dtype", "float32", "--arch", "sm_90a"});
  EXPECT_EQ(explained.code, 0) << explained.err;
  EXPECT_EQ(std::filesystem::file_size(empty), 0u);
  for (const char* name : {"empty.db.lock", "empty.db-wal", "out.db"}) {
    EXPECT_FALSE(std::filesystem::exists(sandbox.Path(name))) << name;
  }
}

// The same for files that are compared with or merged; a merge goes on with the others.
TEST(CliCacheTest, MergeGoesOnAfterABadFile) {
  const CliSandbox sandbox;
  const std::string empty = sandbox.Write("empty.db", "");
  const std::string noise = sandbox.Write("noise.db", std::string(5000, 'n'));
  const std::string good = sandbox.Path("good.db");
  ASSERT_TRUE(Open(good)->PutWinner(Winner("good", "AddFwdOp")).ok());
  for (const char* command : {"import", "diff"}) {
    const CliResult result = sandbox.Run({"--cache", good, "cache", command, empty});
    EXPECT_EQ(result.code, 1) << command << result.out;
    EXPECT_THAT(result.err, HasSubstr("empty.db: the file is empty")) << command;
  }
  const std::string merged = sandbox.Path("merged.db");
  const CliResult result =
      sandbox.Run({"cache", "merge", noise, empty, good, "--output", merged, "--json"});
  EXPECT_EQ(result.code, 1) << result.err;
  EXPECT_THAT(result.err, HasSubstr("noise.db"));
  EXPECT_THAT(result.err, HasSubstr("empty.db: the file is empty"));
  const json reports = json::parse(result.out);
  ASSERT_EQ(reports.size(), 3u);
  EXPECT_TRUE(reports[0].contains("error") && reports[1].contains("error"));
  EXPECT_EQ(reports[2]["winners_added"], 1);
  EXPECT_TRUE(Open(merged)->FindWinner("good").has_value());
}

// Where no file can be read no cache is made; one that is there stays as it is.
TEST(CliCacheTest, MergeOfBadFilesMakesNothing) {
  const CliSandbox sandbox;
  const std::string empty = sandbox.Write("empty.db", "");
  const std::string noise = sandbox.Write("noise.db", std::string(5000, 'n'));
  const std::string merged = sandbox.Path("new/merged.db");
  const CliResult result =
      sandbox.Run({"cache", "merge", noise, empty, "--output", merged, "--json"});
  EXPECT_EQ(result.code, 1) << result.err;
  EXPECT_THAT(result.err, HasSubstr("noise.db"));
  EXPECT_THAT(result.err, HasSubstr("empty.db: the file is empty"));
  const json reports = json::parse(result.out);
  ASSERT_EQ(reports.size(), 2u);
  EXPECT_TRUE(reports[0].contains("error") && reports[1].contains("error"));
  EXPECT_FALSE(std::filesystem::exists(sandbox.Path("new")));
  const CliResult imported = sandbox.Run({"--cache", merged, "cache", "import", noise});
  EXPECT_EQ(imported.code, 1) << imported.err;
  EXPECT_FALSE(std::filesystem::exists(sandbox.Path("new")));

  const std::string good = sandbox.Path("good.db");
  ASSERT_TRUE(Open(good)->PutWinner(Winner("good", "AddFwdOp")).ok());
  EXPECT_EQ(sandbox.Run({"cache", "merge", noise, "--output", good}).code, 1);
  EXPECT_TRUE(Open(good)->FindWinner("good").has_value());
}

// A damaged row is a finding of export, which lacks it, and of check, which says what became of it.
TEST(CliCacheTest, DamagedRowsAreFindings) {
  const CliSandbox sandbox;
  for (const char* command : {"export", "check"}) {
    const std::string cache = sandbox.Path(std::string(command) + ".db");
    WinnerRow good = Winner("good", "AddFwdOp");
    good.problem_json = "{\"m\":1}";
    ASSERT_TRUE(Open(cache)->PutWinner(good).ok());
    ASSERT_TRUE(Open(cache)->PutWinner(Winner("bad", "AddFwdOp")).ok());
    Damage(cache);
    std::vector<std::string> arguments = {"--cache", cache, "cache", command};
    if (arguments.back() == "export") arguments.push_back(sandbox.Path("out.db"));
    const CliResult first = sandbox.Run(arguments);
    EXPECT_EQ(first.code, 1) << command << first.out;
    EXPECT_THAT(first.out, HasSubstr("winners row bad")) << command;
    const CliResult second = sandbox.Run(arguments);
    EXPECT_EQ(second.code, 0) << command << second.out;
  }
  const CliResult exported = sandbox.Run(
      {"--cache", sandbox.Path("export.db"), "cache", "export", sandbox.Path("out.db"), "--json"});
  EXPECT_EQ(json::parse(exported.out)["winners"], 1);
  EXPECT_TRUE(json::parse(exported.out)["dropped"].empty());
}

// A damaged file that was set aside is counted by every later process.
TEST(CliCacheTest, StatsCountWhatWasSetAside) {
  const CliSandbox sandbox;
  const std::string cache = sandbox.Path("kernels.db");
  Open(cache).reset();
  std::filesystem::resize_file(cache, 1000);
  const CliResult check = sandbox.Run({"--cache", cache, "cache", "check"});
  EXPECT_THAT(check.out, HasSubstr("1 damaged files are kept as " + cache + ".corrupt-<n>"));
  for (int i = 0; i < 2; ++i) {
    const json stats = json::parse(sandbox.Run({"--cache", cache, "cache", "stats", "--json"}).out);
    EXPECT_EQ(stats["damaged_files"], 1);
  }
}

// Differences name the operator; a summary ends them, and stands alone where there are none.
TEST(CliCacheTest, DiffSumsUp) {
  const CliSandbox sandbox;
  const std::string left = sandbox.Path("left.db");
  const std::string right = sandbox.Path("right.db");
  for (const std::string& path : {left, right}) {
    ASSERT_TRUE(Open(path)->PutWinner(Winner("one", "AddFwdOp")).ok());
  }
  const CliResult same = sandbox.Run({"--cache", left, "cache", "diff", right});
  EXPECT_EQ(same.code, 0);
  EXPECT_EQ(same.out, "1 rows alike, 0 only in the cache, 0 only in " + right + ", 0 differ\n");
  ASSERT_TRUE(Open(left)->PutWinner(Winner("two", "GemmFwdOp")).ok());
  const CliResult differ = sandbox.Run({"--cache", left, "cache", "diff", right});
  EXPECT_EQ(differ.code, 1);
  EXPECT_THAT(differ.out, HasSubstr("< winners two@"));
  EXPECT_THAT(differ.out, HasSubstr("1 rows alike, 1 only in the cache"));
}

// Rows stand by operator and name it; an operator that nobody knows is misuse, one that only the
// cache knows is not.
TEST(CliCacheTest, InspectIsByOperator) {
  const CliSandbox sandbox;
  const std::string cache = sandbox.Path("kernels.db");
  ASSERT_TRUE(Open(cache)->PutWinner(Winner("a", "SoftmaxFwdOp")).ok());
  ASSERT_TRUE(Open(cache)->PutWinner(Winner("b", "AddFwdOp")).ok());
  ASSERT_TRUE(Open(cache)->PutWinner(Winner("c", "MyOwnOp")).ok());
  const std::string out = sandbox.Run({"--cache", cache, "inspect"}).out;
  ASSERT_THAT(out, HasSubstr("AddFwdOp "));
  EXPECT_LT(out.find("AddFwdOp "), out.find("MyOwnOp "));
  EXPECT_LT(out.find("MyOwnOp "), out.find("SoftmaxFwdOp "));
  EXPECT_EQ(sandbox.Run({"--cache", cache, "inspect", "--op", "MyOwnOp"}).code, 0);
  EXPECT_EQ(sandbox.Run({"--cache", cache, "inspect", "--op", "GemmFwdOp"}).code, 0);
  const CliResult unknown = sandbox.Run({"--cache", cache, "inspect", "--op", "GemFwdOp"});
  EXPECT_EQ(unknown.code, 2);
  EXPECT_THAT(unknown.err, HasSubstr("no operator 'GemFwdOp' (see tilewright ops)"));
}

// Help names the options that every command takes, the exit codes and what is required.
TEST(CliCacheTest, HelpIsWhole) {
  const CliSandbox sandbox;
  for (const std::vector<std::string>& command :
       {std::vector<std::string>{"warm"}, {"coverage"}, {"cache", "gc"}, {"cache"}, {}}) {
    std::vector<std::string> arguments = command;
    arguments.push_back("--help");
    const std::string help = sandbox.Run(arguments).out;
    EXPECT_THAT(help, HasSubstr("--cache FILE"));
    EXPECT_THAT(help, HasSubstr("--verbose"));
    EXPECT_THAT(help, HasSubstr("1 findings, or the work could not be done"));
  }
  for (const char* command : {"warm", "coverage"}) {
    const std::string help = sandbox.Run({command, "--help"}).out;
    EXPECT_THAT(help, HasSubstr("one of --arch and --device is required"));
    EXPECT_THAT(help, HasSubstr("sm_90a"));
  }
}

// A file that is no cache is refused, and stays as it is.
TEST(CliCacheTest, ForeignFilesAreNoCache) {
  const CliSandbox sandbox;
  const std::string notes = sandbox.Write("notes.txt", "milk, eggs\n");
  for (const std::vector<std::string>& command : std::vector<std::vector<std::string>>{
           {"cache", "stats"}, {"inspect"}, {"warm", "--arch", "sm_90a", "--op", "AddFwdOp"}}) {
    std::vector<std::string> arguments = {"--cache", notes};
    arguments.insert(arguments.end(), command.begin(), command.end());
    const CliResult result = sandbox.Run(arguments);
    EXPECT_EQ(result.code, 1);
    EXPECT_THAT(result.err, HasSubstr("not a kernel cache"));
  }
  EXPECT_EQ(std::filesystem::file_size(notes), 11u);
  EXPECT_FALSE(std::filesystem::exists(notes + ".corrupt-1"));
  EXPECT_FALSE(std::filesystem::exists(notes + ".lock"));
}

// Guards: a check that had to set the file aside is not a clean one, and the next one is.
TEST(CliCacheTest, CheckOfADamagedCacheIsAFinding) {
  const CliSandbox sandbox;
  const std::string cache = sandbox.Path("kernels.db");
  CacheOptions options;
  options.path = cache;
  ASSERT_TRUE(Cache::Open(options).ok());
  std::filesystem::resize_file(cache, 1000);
  const CliResult first = sandbox.Run({"--cache", cache, "cache", "check"});
  EXPECT_EQ(first.code, 1) << first.out << first.err;
  EXPECT_THAT(first.out, HasSubstr("it was damaged"));
  EXPECT_THAT(first.out, HasSubstr("1 problems"));
  EXPECT_TRUE(std::filesystem::exists(cache + ".corrupt-1"));
  EXPECT_EQ(sandbox.Run({"--cache", cache, "cache", "check"}).code, 0);
}

// Guards: a cache that cannot be read is not an empty one.
TEST(CliCacheTest, UnreadableCacheIsAFinding) {
  const CliSandbox sandbox;
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"cache", "stats"}, std::vector<std::string>{"cache", "check"},
        std::vector<std::string>{"inspect"},
        std::vector<std::string>{"cache", "gc", "--max-bytes", "0"},
        std::vector<std::string>{"coverage", "--arch", "sm_90a"}}) {
    const CliResult result = sandbox.Run(arguments, {{"TILEWRIGHT_CACHE", sandbox.dir()}});
    EXPECT_EQ(result.code, 1) << testing::PrintToString(arguments) << result.out;
    EXPECT_THAT(result.err, HasSubstr(sandbox.dir()));
  }
}

// Guards: what is no cache is neither merged nor "without differences".
TEST(CliCacheTest, ForeignFilesAreRefused) {
  const CliSandbox sandbox;
  const std::string file = sandbox.Write("notes.txt", std::string(5000, 'x'));
  const std::string cache = sandbox.Path("k.db");
  ASSERT_EQ(sandbox.Run({"--cache", cache, "cache", "merge", "--output", cache, cache}).code, 1);
  for (const auto& [other, code] : {std::pair(file, 1), {sandbox.dir(), 1}}) {
    const CliResult result = sandbox.Run({"--cache", cache, "cache", "import", other});
    EXPECT_EQ(result.code, code) << other << result.out << result.err;
    EXPECT_THAT(result.err, HasSubstr(other));
  }
  EXPECT_EQ(sandbox.Run({"--cache", cache, "cache", "diff", file}).code, 1);
}

}  // namespace
}  // namespace tilewright
