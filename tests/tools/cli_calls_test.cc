// Guards how a user of the CLI says which calls are meant: shape files, arguments, selections.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "manifest/status.h"
#include "tests/tools/cli_process.h"

namespace tilewright {
namespace {

using nlohmann::json;
using testing::HasSubstr;

// A wrong line of a shape file is named by file and line.
TEST(CliCallsTest, ShapeFileErrorsNameTheLine) {
  const CliSandbox sandbox;
  const std::string good =
      R"({"op":"AddFwdOp","inputs":{"input":[8],"other":[8]},"dtype":"float32"})";
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"{\"op\":", "not JSON"},
      {"[1]", "expected a JSON object"},
      {R"({"op":"AddFwdOp","inputs":{"input":[8]},"dtype":"float32","shape":1})", "shape"},
      {R"({"op":"AddFwdOp","inputs":{"input":[8],"input":[9],"other":[9]},"dtype":"float32"})",
       "'input' is given twice"},
      {R"({"op":"AddFwdOp","inputs":{"input":[8],"other":[8],"third":[8]},"dtype":"float32"})",
       "no input 'third'"},
      {R"({"op":"AddFwdOp","inputs":{"input":[8],"other":[18446744073709551615]},"dtype":"int8"})",
       "expected a list of integers"},
      {R"({"op":"NoSuchOp","inputs":{"input":[8]},"dtype":"float32"})", "NoSuchOp"},
      {R"({"op":"AddFwdOp","inputs":{"input":[8],"other":[7]},"dtype":"float32"})", "AddFwdOp"},
      {R"({"op":"AddFwdOp","inputs":{"input":["8"],"other":[8]},"dtype":"float32"})",
       "AddFwdOp: input: expected a list"},
      {R"({"op":"GemmFwdOp","inputs":{"a":[8,8],"b":[8,8]},"dtype":"half"})",
       "GemmFwdOp: dtype: 'half' is not a dtype; expected float16 or bfloat16"},
  };
  for (const auto& [line, expected] : cases) {
    const std::string file =
        sandbox.Write("shapes.jsonl", Cat("# a comment\n", good, "\n", line, "\n"));
    const CliResult result = sandbox.Run({"warm", "--arch", "sm_90a", "--shapes", file});
    EXPECT_EQ(result.code, 2) << line << result.out;
    EXPECT_THAT(result.err, HasSubstr(file + ":3: ")) << line;
    EXPECT_THAT(result.err, HasSubstr(expected)) << line;
  }
}

// Guards: every bad line is told at once, the first twenty in words, the others counted.
TEST(CliCallsTest, ShapeFileErrorsAreAllTold) {
  const CliSandbox sandbox;
  std::string lines = R"({"op":"AddFwdOp","inputs":{"input":[8],"other":[8]},"dtype":"float32"})";
  for (int i = 0; i < 22; ++i) lines += "\n{}";
  const std::string file = sandbox.Write("shapes.jsonl", lines + "\n");
  const CliResult result = sandbox.Run({"coverage", "--arch", "sm_90a", "--shapes", file});
  EXPECT_EQ(result.code, 2) << result.out;
  EXPECT_THAT(result.err, HasSubstr(file + ":2: "));
  EXPECT_THAT(result.err, HasSubstr(file + ":21: "));
  EXPECT_THAT(result.err, testing::Not(HasSubstr(file + ":22: ")));
  EXPECT_THAT(result.err, HasSubstr("and 2 more lines of " + file));
}

// Guards: a NUL byte does not end a line early, unseen.
TEST(CliCallsTest, ShapeFileWithANulByte) {
  const CliSandbox sandbox;
  const std::string line =
      R"({"op":"AddFwdOp","inputs":{"input":[8],"other":[8]},"dtype":"float32"})";
  for (const std::string& bad : {line + std::string(1, '\0') + "{}", '#' + std::string(1, '\0')}) {
    const std::string file = sandbox.Write("shapes.jsonl", Cat(line, "\n", bad, "\n"));
    const CliResult result = sandbox.Run({"coverage", "--arch", "sm_90a", "--shapes", file});
    EXPECT_EQ(result.code, 2) << result.out;
    EXPECT_THAT(result.err, HasSubstr(file + ":2: expected text, got a NUL byte"));
  }
}

// Guards: a dtype that does not follow from the leading one can be given, in a shape file and to
// explain, and leads to other kernels; one that the operator lacks is refused by name.
TEST(CliCallsTest, SecondDTypes) {
  const CliSandbox sandbox;
  const auto explain = [&](const std::string& ids) {
    return sandbox.Run({"explain", "RopeNeoxPositionIdsFwdOp", "x=64x8x128", ids, "--dtype",
                        "float16", "--param", "max_position=4096", "--arch", "sm_90a", "--json"});
  };
  const json wide = json::parse(explain("position_ids=64").out);
  const json narrow = json::parse(explain("position_ids=64:int32").out);
  EXPECT_THAT(wide["call"].get<std::string>(), HasSubstr("position_ids=int64(64,)"));
  EXPECT_THAT(narrow["call"].get<std::string>(), HasSubstr("position_ids=int32(64,)"));
  EXPECT_NE(wide["kernels"][0]["key"], narrow["kernels"][0]["key"]);
  const CliResult refused = explain("position_ids=64:float16");
  EXPECT_EQ(refused.code, 2);
  EXPECT_THAT(refused.err, HasSubstr("'position_ids': expected dtype int32 or int64, got float16"));
  const auto coverage = [&](const std::string& dtypes) {
    const std::string line =
        R"({"op":"RopeNeoxPositionIdsFwdOp","inputs":{"x":[64,8,128],"position_ids":[64]},)"
        R"("dtype":"float16","params":{"max_position":4096},"dtypes":)";
    const std::string file = sandbox.Write("typed.jsonl", line + dtypes + "}\n");
    return sandbox.Run({"coverage", "--arch", "sm_90a", "--shapes", file, "--json"});
  };
  const json needed = json::parse(coverage(R"({"position_ids":"int32"})").out);
  EXPECT_EQ(needed[0]["key"], narrow["kernels"][0]["key"]);
  for (const auto& [dtypes, words] : std::map<std::string, std::string>{
           {R"({"ids":"int32"})", "no input 'ids'; it has x, position_ids"},
           {R"({"x":"float32"})", "input 'x': expected dtype float16, that of the call"},
           {R"({"x":1})", "expected a dtype for 'x'"},
           {R"([])", "expected an object for 'dtypes'"}}) {
    const CliResult bad = coverage(dtypes);
    EXPECT_EQ(bad.code, 2) << dtypes;
    EXPECT_THAT(bad.err, HasSubstr("typed.jsonl:1: ")) << dtypes;
    EXPECT_THAT(bad.err, HasSubstr(words)) << dtypes;
  }
}

// Guards: explain takes operators without inputs, inputs without axes and calls without work.
TEST(CliCallsTest, ExplainsCallsOfFewInputs) {
  const CliSandbox sandbox;
  const auto explained = [&](std::vector<std::string> call) {
    call.insert(call.begin(), "explain");
    call.insert(call.end(), {"--arch", "sm_90a", "--json"});
    const CliResult result = sandbox.Run(call);
    EXPECT_EQ(result.code, 0) << result.err;
    return json::parse(result.out);
  };
  const json alibi = explained(
      {"AlibiFwdOp", "--dtype", "float32", "--param", "seq_len=64", "--param", "num_heads=8"});
  EXPECT_TRUE(alibi["launches"]);
  EXPECT_EQ(alibi["kernels"].size(), 1u);
  const json scalar = explained({"AddFwdOp", "input=()", "other=()", "--dtype", "float32"});
  EXPECT_TRUE(scalar["launches"]);
  EXPECT_THAT(scalar["call"].get<std::string>(), HasSubstr("input=float32()"));
  const json empty = explained({"AddFwdOp", "input=0x4", "other=4", "--dtype", "float32"});
  EXPECT_FALSE(empty["launches"]);
  EXPECT_TRUE(empty["kernels"].empty());
  const CliResult text = sandbox.Run(
      {"explain", "AddFwdOp", "input=0x4", "other=4", "--dtype", "float32", "--arch", "sm_90a"});
  EXPECT_THAT(text.out, HasSubstr("no launch  what the call writes has no elements"));
}

// Guards `explain OP SHAPE...` as it is written: shapes without names are those of the inputs in
// order, and the dtype is that of the first workload; what does not fit is named.
TEST(CliCallsTest, ExplainsBareShapes) {
  const CliSandbox sandbox;
  const auto explain = [&](std::vector<std::string> call) {
    call.insert(call.begin(), "explain");
    call.insert(call.end(), {"--arch", "sm_90a", "--json"});
    return sandbox.Run(call);
  };
  const CliResult bare = explain({"RMSNormFwdOp", "4x8", "8", "--param", "normalized_shape=[8]"});
  ASSERT_EQ(bare.code, 0) << bare.err;
  const CliResult named = explain({"RMSNormFwdOp", "weight=8", "x=4x8", "--dtype", "float16",
                                   "--param", "normalized_shape=[8]"});
  ASSERT_EQ(named.code, 0) << named.err;
  EXPECT_EQ(json::parse(bare.out)["call"], json::parse(named.out)["call"]);
  const CliResult mixed = explain({"AddFwdOp", "3x1", "other=1x4", "--dtype", "float32"});
  EXPECT_THAT(mixed.out, HasSubstr("input=float32(3, 1), other=float32(1, 4)"));
  const std::pair<std::vector<std::string>, std::string> bad[] = {
      {{"AddFwdOp", "4", "4", "4"}, "AddFwdOp: expected at most 2 shapes, one an input, got one"},
      {{"AddFwdOp", "4", "input=4"}, "AddFwdOp: input 'input' is given twice"},
      {{"AddFwdOp", "4"}, "AddFwdOp: input 'other': expected a tensor, got none"},
      {{"AddFwdOp", "4x4", "4x5"}, "AddFwdOp: "},
      {{"AddFwdOp", "4x-4", "4"}, "AddFwdOp: 'input': expected a shape such as 128x7168"},
      {{"AddFwdOp", "1x1x1x1x1x1x1x1x1", "1"}, "AddFwdOp: 'input': expected a shape such as"},
      {{"AddFwdOp", "99999999999999999999x2", "2"}, "AddFwdOp: 'input': expected a shape such"},
      {{"AddFwdOp", "4611686018427387904x4", "4"}, "AddFwdOp: "},
      {{"AddFwdOp", "", "4"}, "AddFwdOp: 'input': expected a shape such as 128x7168, got ''"},
      {{"AddFwdOp", "4", "4", "--param", "alpha"}, "AddFwdOp: --param: expected NAME=VALUE, got"},
      {{"AddFwdOp", "4", "4", "--param", "alpha=3,3"},
       "AddFwdOp: alpha: expected null, a bool, a number, a list of integers such as [3,3]"},
      {{"SoftmaxFwdOp", "4x8", "--param", "dim=5"}, "SoftmaxFwdOp: parameter 'dim'"},
      {{"SiluAndMulFwdOp", "4x7"}, "SiluAndMulFwdOp: "}};
  for (const auto& [call, words] : bad) {
    const CliResult result = explain(call);
    EXPECT_EQ(result.code, 2) << words;
    EXPECT_THAT(result.err, HasSubstr(words));
    EXPECT_EQ(result.out, "");
  }
}

// Guards: infinities and NaN are values of a parameter that is a number, as arguments and in shape
// files; the same call is meant, what is compiled for one serves the other, and where they are no
// value they are refused.
TEST(CliCallsTest, NonFiniteParameters) {
  const CliSandbox sandbox;
  const std::string cache = sandbox.Path("k.db");
  for (const std::string value : {"inf", "-inf", "nan"}) {
    const std::string file = sandbox.Write(
        "s.jsonl", R"({"op":"MaskedFillScalarFwdOp","inputs":{"input":[64,64],"mask":[64,64]},)"
                   R"("dtype":"float16","params":{"value":")" +
                       value + "\"}}\n");
    const CliResult warm =
        sandbox.Run({"--cache", cache, "warm", "--arch", "sm_90a", "--shapes", file});
    EXPECT_EQ(warm.code, 0) << warm.err;
    EXPECT_THAT(warm.out, HasSubstr(value == "inf" ? "2 compiled, 0 were" : "0 compiled, 2 were"));
    const CliResult result = sandbox.Run({"--cache", cache, "explain", "MaskedFillScalarFwdOp",
                                          "64x64", "64x64", "--dtype", "float16", "--param",
                                          "value=" + value, "--arch", "sm_90a", "--json"});
    ASSERT_EQ(result.code, 0) << result.err;
    const json explained = json::parse(result.out);
    EXPECT_THAT(explained["call"].get<std::string>(), HasSubstr("value=" + value + ")"));
    EXPECT_TRUE(explained["kernels"][0]["in_cache"].get<bool>());
    const CliResult coverage =
        sandbox.Run({"--cache", cache, "coverage", "--arch", "sm_90a", "--shapes", file});
    EXPECT_EQ(coverage.code, 0) << coverage.out << coverage.err;
  }
  const auto norm = [&](const std::string& param) {
    return sandbox.Run({"explain", "InfNormFwdOp", "8x8", "--arch", "sm_90a", "--param", param});
  };
  EXPECT_EQ(norm("ord=inf").code, 0) << norm("ord=inf").err;
  EXPECT_EQ(norm("ord=\"inf\"").code, 0);
  EXPECT_EQ(norm("ord=-inf").code, 2);
  EXPECT_EQ(norm("ord=nan").code, 2);
  EXPECT_EQ(norm("keepdim=inf").code, 2);
  EXPECT_THAT(norm("keepdim=inf").err, HasSubstr("expected bool, got inf"));
  EXPECT_THAT(norm("ord=infinite").err, HasSubstr("inf, -inf and nan"));
}

// Guards: --op and --family together choose what either names.
TEST(CliCallsTest, OpAndFamilyAreAUnion) {
  const CliSandbox sandbox;
  const auto ops = [&](const std::vector<std::string>& selection) {
    std::vector<std::string> arguments = {"coverage", "--arch", "sm_90a", "--json"};
    arguments.insert(arguments.end(), selection.begin(), selection.end());
    std::set<std::string> found;
    const json kernels = json::parse(sandbox.Run(arguments).out);
    for (const json& kernel : kernels) found.insert(kernel["op"].get<std::string>());
    return found;
  };
  std::set<std::string> expected = ops({"--family", "gemm"});
  EXPECT_TRUE(expected.count("GemmFwdOp") == 1 && expected.count("AddFwdOp") == 0);
  expected.insert("AddFwdOp");
  EXPECT_EQ(ops({"--op", "AddFwdOp", "--family", "gemm"}), expected);
  EXPECT_EQ(ops({"--op", "AddFwdOp"}), std::set<std::string>{"AddFwdOp"});
  for (const char* command : {"warm", "coverage", "tune", "bench"}) {
    EXPECT_THAT(sandbox.Run({command, "--help"}).out, HasSubstr("and those of --family"));
  }
}

}  // namespace
}  // namespace tilewright
