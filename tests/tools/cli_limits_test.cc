// Guards what the CLI does with inputs without end or sense, and with a cache that takes no more.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/resource.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "cache/cache.h"
#include "manifest/device_profile.h"
#include "tests/tools/cli_process.h"
#include "tools/cli.h"

namespace tilewright {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

constexpr char kLine[] =
    R"({"op":"AddFwdOp","inputs":{"input":[8],"other":[8]},"dtype":"float32"})";

// An endless file is refused by name after a bounded read.
TEST(CliLimitsTest, EndlessInputs) {
  const CliSandbox sandbox;
  for (const std::vector<std::string>& command :
       {std::vector<std::string>{"coverage", "--arch", "sm_90a", "--shapes", "/dev/zero"},
        {"coverage", "--device", "/dev/zero"},
        {"validate", "/dev/zero"}}) {
    const CliResult result = sandbox.Run(command);
    EXPECT_NE(result.code, 0) << command[0];
    EXPECT_THAT(result.err + result.out, HasSubstr("/dev/zero: expected at most")) << command[0];
  }
}

// The same call a thousand times is planned once, and counted.
TEST(CliLimitsTest, RepeatedLines) {
  const CliSandbox sandbox;
  std::string lines;
  for (int i = 0; i < 1000; ++i) lines += std::string(kLine) + "\n";
  const auto coverage = [&](const std::string& text) {
    const std::string file = sandbox.Write("shapes.jsonl", text);
    return json::parse(
        sandbox.Run({"coverage", "--arch", "sm_90a", "--shapes", file, "--json"}).out);
  };
  const json many = coverage(lines);
  const json one = coverage(std::string(kLine) + "\n");
  ASSERT_EQ(many.size(), one.size());
  for (size_t i = 0; i < one.size(); ++i) {
    EXPECT_EQ(many[i]["key"], one[i]["key"]);
    EXPECT_EQ(many[i]["calls"].get<int>(), 1000 * one[i]["calls"].get<int>());
  }
}

// A call without elements needs no kernel, as explain says.
TEST(CliLimitsTest, NoElementsNeedNothing) {
  const CliSandbox sandbox;
  const std::string file = sandbox.Write(
      "empty.jsonl", R"({"op":"AddFwdOp","inputs":{"input":[0],"other":[0]},"dtype":"float32"})");
  const CliResult result = sandbox.Run({"coverage", "--arch", "sm_90a", "--shapes", file});
  EXPECT_EQ(result.code, 0) << result.out << result.err;
  EXPECT_THAT(result.out, HasSubstr("0 kernels needed"));
}

// A value for a flag that takes none is misuse.
TEST(CliLimitsTest, FlagsTakeNoValue) {
  const CliSandbox sandbox;
  const std::string file = sandbox.Write("shapes.jsonl", kLine);
  for (const char* flag : {"--candidates=5", "--json=5"}) {
    EXPECT_EQ(sandbox.Run({"warm", "--arch", "sm_90a", "--shapes", file, flag}).code, 2) << flag;
  }
}

// Nothing from a file reaches the terminal as a control character.
TEST(CliLimitsTest, ControlCharactersAreShown) {
  const CliSandbox sandbox;
  const std::string file = sandbox.Write(
      "shapes.jsonl", R"({"op":"\u001b[31mRed\u009b1m","inputs":{"input":[8]},"dtype":"float32"})");
  const CliResult result = sandbox.Run({"coverage", "--arch", "sm_90a", "--shapes", file});
  EXPECT_EQ(result.code, 2);
  EXPECT_THAT(result.err, HasSubstr("\\u001b[31mRed\\u009b1m"));
  EXPECT_THAT(result.err, Not(HasSubstr("\x1b")));
}

// What a full disk did not take is no success.
TEST(CliLimitsTest, WarmOnAFullDisk) {
  const CliSandbox sandbox;
  const std::string folder = sandbox.Path("small");
  std::filesystem::create_directory(folder);
  std::filesystem::permissions(folder, std::filesystem::perms::owner_all);
  if (mount("tmpfs", folder.c_str(), "tmpfs", 0, "size=64k,mode=0700") != 0) {
    GTEST_SKIP() << "cannot mount a tmpfs here";
  }
  const std::string file = sandbox.Write("shapes.jsonl", kLine);
  const CliResult result =
      sandbox.Run({"--cache", folder + "/k.db", "warm", "--arch", "sm_90a", "--shapes", file});
  umount(folder.c_str());
  EXPECT_EQ(result.code, 1) << result.out;
  EXPECT_THAT(result.err, HasSubstr("cannot be written"));
}

// What a command measured and the cache's file did not take is said, and is no success.
TEST(CliLimitsTest, WhatIsNotStoredIsAFinding) {
  const CliSandbox sandbox;
  CacheOptions options;
  options.path = sandbox.Path("k.db");
  TrialRow row;
  row.problem_key = "problem";
  row.config_json = "{}";
  const auto cache = Cache::Open(options).value();
  ASSERT_TRUE(cache->PutTrials({row}).ok());
  EXPECT_EQ(CodeOfStored(*cache, kDone), kDone);
  EXPECT_EQ(CodeOfStored(*cache, kFindings), kFindings);
  row.config_json = "no JSON";
  ASSERT_FALSE(cache->PutTrials({row}).ok());
  testing::internal::CaptureStderr();
  EXPECT_EQ(CodeOfStored(*cache, kDone), kFindings);
  EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("k.db could not be written"));
}

// Guards: a limit on the size of files is a full disk to the cache, not the end of the process.
TEST(CliLimitsTest, FileSizeLimit) {
  const CliSandbox sandbox;
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  rlimit low = before;
  low.rlim_cur = 50 << 10;
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &low), 0);
  const CliResult result = sandbox.Run({"warm", "--arch", "sm_90a", "--op", "AddFwdOp"});
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  EXPECT_EQ(result.code, 1) << result.err;
  EXPECT_THAT(result.err, HasSubstr("cannot be written"));
}

// Guards: text of any length is repeated in bounds, with what was expected of it.
TEST(CliLimitsTest, LongTextsAreShownInPart) {
  const CliSandbox sandbox;
  const std::string text(100000, 'a');
  const std::string shapes =
      sandbox.Write("s.jsonl", R"({"op":")" + text + R"(","inputs":{},"dtype":"float32"})" +
                                   "\n{\"" + text + "\":1}\n[\"" + text + "\"]\n");
  const std::string rule =
      sandbox.Write("m.yaml",
                    "MyOp:\n  family: x\n  signature:\n    inputs:\n      x: {dtype: [float32]}\n"
                    "    outputs:\n      y: {dtype: same_as(x), shape: x.shape}\n"
                    "  shape_rules:\n    - \"" +
                        text + "\"\n");
  const std::string dtype = sandbox.Write(
      "n.yaml", "MyOp:\n  signature:\n    inputs:\n      x: {dtype: [" + text + "]}\n");
  const std::vector<std::string> sums = {"explain", "SumFwdOp", "8", "--arch", "sm_90a"};
  const auto with = [&](const std::string& option, const std::string& value) {
    std::vector<std::string> arguments = sums;
    arguments.push_back(option);
    arguments.push_back(value);
    return arguments;
  };
  for (const std::vector<std::string>& command :
       std::vector<std::vector<std::string>>{{"coverage", "--arch", "sm_90a", "--shapes", shapes},
                                             {"validate", rule},
                                             {"validate", dtype},
                                             {"explain", text, "8", "--arch", "sm_90a"},
                                             {"explain", "SumFwdOp", "8", "--arch", text},
                                             {"explain", "SumFwdOp", "8", "--device", text},
                                             {"explain", "SumFwdOp", text, "--arch", "sm_90a"},
                                             {"--" + text},
                                             {text},
                                             {"cache", "gc", "--max-bytes", text},
                                             with("--dtype", text),
                                             with("--param", text),
                                             with("--param", text + "=1"),
                                             with("--param", "dim=" + text),
                                             {"warm", "--arch", "sm_90a", "--op", text},
                                             {"warm", "--arch", "sm_90a", "--family", text},
                                             {"validate", "--op", text}}) {
    const CliResult result = sandbox.Run(command);
    EXPECT_NE(result.code, 0) << command[0];
    EXPECT_LT((result.out + result.err).size(), 6000u) << command[0];
    EXPECT_THAT(result.out + result.err, HasSubstr("bytes left out")) << command[0];
  }
}

// Guards: a device profile of no architecture is misuse, and so is one that is not there.
TEST(CliLimitsTest, DeviceProfilesAreRead) {
  const CliSandbox sandbox;
  std::string text = BuiltinDeviceProfile("h200")->ToJson();
  text.replace(text.find("sm_90a"), 6, "x");
  const std::string bad = sandbox.Write("bad.json", text);
  for (const char* command : {"warm", "coverage"}) {
    EXPECT_EQ(sandbox.Run({command, "--device", bad}).code, 2) << command;
  }
  const CliResult result = sandbox.Run({"explain", "SumFwdOp", "8", "--device", bad});
  EXPECT_EQ(result.code, 2);
  EXPECT_THAT(result.err, HasSubstr("field 'arch': expected sm_90 or sm_90a"));
  const CliResult none = sandbox.Run({"explain", "SumFwdOp", "8", "--device", "nothere.json"});
  EXPECT_EQ(none.code, 2);
  EXPECT_THAT(none.err, HasSubstr("there is no file 'nothere.json', and no built-in device"));
}

// Guards: of a merge onto a full disk nothing is left.
TEST(CliLimitsTest, MergeOntoAFullDiskLeavesNothing) {
  const CliSandbox sandbox;
  CacheOptions options;
  options.path = sandbox.Path("k.db");
  {
    std::vector<TrialRow> rows(2000);
    for (size_t i = 0; i < rows.size(); ++i) {
      rows[i].problem_key = "problem-" + std::to_string(i);
      rows[i].config_json = "{}";
    }
    ASSERT_TRUE(Cache::Open(options).value()->PutTrials(rows).ok());
  }
  const std::string folder = sandbox.Path("small");
  for (const char* size : {"size=8k,mode=0700", "size=200k,mode=0700"}) {
    std::filesystem::create_directory(folder);
    if (mount("tmpfs", folder.c_str(), "tmpfs", 0, size) != 0) {
      GTEST_SKIP() << "cannot mount a tmpfs here";
    }
    const CliResult result =
        sandbox.Run({"cache", "merge", sandbox.Path("k.db"), "--output", folder + "/n.db"});
    EXPECT_EQ(result.code, 1) << result.out << result.err;
    EXPECT_TRUE(std::filesystem::is_empty(folder)) << size;
    umount(folder.c_str());
  }
}

// Guards: an empty name is misuse, and a limit that collecting cannot meet is said.
TEST(CliLimitsTest, EmptyNamesAndTightLimits) {
  const CliSandbox sandbox;
  for (const char* command : {"export", "import", "diff"}) {
    EXPECT_EQ(sandbox.Run({"cache", command, ""}).code, 2) << command;
  }
  ASSERT_EQ(sandbox.Run({"warm", "--arch", "sm_90a", "--op", "AddFwdOp"}).code, 0);
  const CliResult tight = sandbox.Run({"cache", "gc", "--max-bytes", "1e3"});
  EXPECT_EQ(tight.code, 0) << tight.err;
  EXPECT_THAT(tight.out, HasSubstr("more than --max-bytes"));
}

}  // namespace
}  // namespace tilewright
