// Guards the loader: what is wrong in a manifest is named with file and line; nothing crashes it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <string>

#include "manifest/op_spec.h"
#include "manifest/spec_check.h"
#include "manifest/status.h"

namespace tilewright {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

// A valid entry of 18 lines; tests replace parts of it.
constexpr std::string_view kEntry = R"(NegFwdOp:
  family: test
  reference: torch.neg
  source: here
  status: spec-only
  signature:
    inputs:
      x: {dtype: [float16, float32], shape: '[M, N]'}
    outputs:
      y: {dtype: same_as(x), shape: x.shape}
    params:
      eps: {type: float, default: 1e-5}
      dim: {type: axis, default: -1}
  shape_rules: [M > 0]
  roofline: {flops: M * N, bytes: 2 * M * N * elem_bytes}
  workloads:
    - {label: one, inputs: {x: [2, 3]}, dtypes: [float16, float32]}
    - {label: two, inputs: {x: [4, 5]}, params: {eps: 1}, dtypes: [float16]}
)";

std::string Replaced(std::string_view from, std::string_view to) {
  std::string text(kEntry);
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

std::string ErrorOf(std::string_view text) {
  const absl::StatusOr<Manifest> manifest = Manifest::FromYaml(text, "f.yaml");
  if (manifest.ok()) return "ok";
  EXPECT_EQ(manifest.status().code(), absl::StatusCode::kInvalidArgument);
  return Cat(manifest.status().message());
}

TEST(LoaderTest, ReadsEveryField) {
  const absl::StatusOr<Manifest> manifest = Manifest::FromYaml(kEntry, "f.yaml");
  ASSERT_TRUE(manifest.ok()) << manifest.status();
  ASSERT_EQ(manifest->ops().size(), 1u);
  const OpSpec& op = manifest->ops()[0];
  EXPECT_EQ(op.name, "NegFwdOp");
  EXPECT_EQ(op.file, "f.yaml");
  EXPECT_EQ(op.line, 1);
  EXPECT_EQ(op.inputs[0].shape_pattern, (std::vector<std::string>{"M", "N"}));
  EXPECT_EQ(op.outputs[0].same_as, "x");
  EXPECT_EQ(op.params[0].default_value, ParamValue(1e-5));
  EXPECT_EQ(op.params[1].default_value, ParamValue(-1));
  EXPECT_EQ(op.workloads[1].params[0].second, ParamValue(1));
  EXPECT_EQ(op.workloads[1].line, 18);
  EXPECT_EQ(op.workloads[0].input_shapes[0].second, (Dims{2, 3}));
  EXPECT_EQ(op.roofline.flops->text(), "M * N");
}

// 1e-5 is a number wherever it stands; a quoted one is a text.
TEST(LoaderTest, FloatsWithoutAPointAreNumbers) {
  const Manifest manifest = Manifest::FromYaml(kEntry, "f.yaml").value();
  EXPECT_EQ(manifest.ops()[0].params[0].default_value->kind(), ParamValue::Kind::kFloat);
  EXPECT_EQ(ErrorOf(Replaced("default: 1e-5", "default: '1e-5'")),
            "f.yaml:12: NegFwdOp.signature.params.eps.default: expected null, a bool, a number, a "
            "list of ints or a dtype, got '1e-5'");
}

TEST(LoaderTest, WindowsFilesAreRead) {
  std::string text = "\xEF\xBB\xBF";
  for (const char c : kEntry) text += c == '\n' ? std::string("\r\n") : std::string(1, c);
  const absl::StatusOr<Manifest> manifest = Manifest::FromYaml(text, "f.yaml");
  ASSERT_TRUE(manifest.ok()) << manifest.status();
  EXPECT_EQ(manifest->ops()[0].workloads[1].line, 18);
  EXPECT_EQ(manifest->ops()[0].workloads[0].label, "one");
}

TEST(LoaderTest, DuplicateKeysAreErrorsAtEveryLevel) {
  EXPECT_EQ(ErrorOf(Cat(kEntry, kEntry)),
            "f.yaml:19: duplicate key 'NegFwdOp'; the first is at line 1");
  EXPECT_EQ(ErrorOf(Replaced("  source: here\n", "  source: here\n  source: there\n")),
            "f.yaml:5: duplicate key 'source'; the first is at line 4");
  EXPECT_EQ(ErrorOf(Replaced("x: [2, 3]", "x: [2, 3], x: [1, 1]")),
            "f.yaml:17: duplicate key 'x'; the first is at line 17");
  EXPECT_EQ(ErrorOf(Replaced("label: two", "label: two, 'label': three")),
            "f.yaml:18: duplicate key 'label'; the first is at line 18");
}

// Guards: an operator that two files declare is named with the file and line of both.
TEST(LoaderTest, NamesAreDistinctAcrossFiles) {
  std::vector<OpSpec> ops = Manifest::FromYaml(kEntry, "a.yaml").value().ops();
  const std::vector<OpSpec> more = Manifest::FromYaml(Cat("\n", kEntry), "b.yaml").value().ops();
  EXPECT_TRUE(CheckDistinctNames(ops).ok());
  ops.insert(ops.end(), more.begin(), more.end());
  const absl::Status status = CheckDistinctNames(ops);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(Cat(status.message()), "b.yaml:2: NegFwdOp: an entry of this name is at a.yaml:1");
}

TEST(LoaderTest, WrongRootsAreErrors) {
  EXPECT_EQ(ErrorOf("- a\n- b\n"), "f.yaml:1: expected a map of operators, got a list");
  EXPECT_EQ(ErrorOf(""), "f.yaml:1: expected a map of operators, got nothing");
  EXPECT_EQ(ErrorOf("# only a comment\n"), "f.yaml:1: expected a map of operators, got nothing");
  EXPECT_EQ(ErrorOf("text"), "f.yaml:1: expected a map of operators, got a scalar");
  EXPECT_THAT(ErrorOf("a: 1\n---\nb: 2\n"), HasSubstr("f.yaml:2: expected one document"));
  EXPECT_THAT(ErrorOf("Op: 3\n"), StartsWith("f.yaml:1: Op: expected a map, got '3'"));
  EXPECT_THAT(ErrorOf("Op:\n"), StartsWith("f.yaml:1: Op: expected a map"));
}

TEST(LoaderTest, BrokenYamlNamesTheLine) {
  EXPECT_THAT(ErrorOf("a: [1, 2\nb: 3\n"), StartsWith("f.yaml:2: "));
  EXPECT_THAT(ErrorOf("a: 1\n\tb: 2\n"), StartsWith("f.yaml:"));
  EXPECT_THAT(ErrorOf(std::string("a: 1\nb: \0\n", 10)), StartsWith("f.yaml:2: a zero byte"));
  // Latin-1, a lone surrogate, an overlong slash, a character that is cut off.
  for (const char* bad : {"m\xe9 e", "\xed\xa0\x80", "\xc0\xaf", "\xe2\x82"}) {
    EXPECT_THAT(ErrorOf(std::string("a: 1\nb: ") + bad), HasSubstr("; expected UTF-8 text")) << bad;
    EXPECT_THAT(ErrorOf(std::string("a: 1\nb: ") + bad), StartsWith("f.yaml:2: byte "));
  }
  EXPECT_THAT(ErrorOf("a: \xe2\x82\xac\n"), StartsWith("f.yaml:1: a: expected a map"));
}

TEST(LoaderTest, AnchorsAliasesTagsAndComplexKeysAreRefused) {
  EXPECT_THAT(ErrorOf("a: &x [1]\nb: [*x, *x]\n"), HasSubstr("f.yaml:1: anchors are not allowed"));
  EXPECT_THAT(ErrorOf("a: !!python/object:os.system {}\n"), HasSubstr("tags are not allowed"));
  EXPECT_THAT(ErrorOf("? [1, 2]\n: 3\n"), HasSubstr("f.yaml:1: a key must be a scalar"));
  EXPECT_THAT(ErrorOf("<<: {a: 1}\n"), StartsWith("f.yaml:1: <<: "));
  std::string bomb = "a0: &a0 [x]\n";
  for (int i = 1; i < 30; ++i) {
    bomb += Cat("a", i, ": &a", i, " [*a", i - 1, ", *a", i - 1, ", *a", i - 1, "]\n");
  }
  EXPECT_THAT(ErrorOf(bomb), HasSubstr("anchors are not allowed"));
}

TEST(LoaderTest, DeepAndLargeDocumentsAreRefused) {
  EXPECT_THAT(ErrorOf("a: " + std::string(40, '[') + std::string(40, ']')),
              HasSubstr("nested more than 32 levels deep"));
  EXPECT_THAT(ErrorOf("a: " + std::string(100000, '[')), StartsWith("f.yaml:"));
  EXPECT_THAT(ErrorOf("a: " + std::string(100000, '{')), StartsWith("f.yaml:"));
  EXPECT_THAT(ErrorOf(std::string(5 << 20, '#')), HasSubstr("at most 4194304"));
}

TEST(LoaderTest, FieldErrors) {
  struct Case {
    std::string_view from, to, error;
  };
  const Case kCases[] = {
      {"family: test", "famly: test", "f.yaml:2: NegFwdOp.famly: unknown field; there are family,"},
      {"family: test", "family: [a]", "f.yaml:2: NegFwdOp.family: expected a text, got a list"},
      {"source: here", "static_dims: []", "NegFwdOp.source: is missing"},
      {"torch.neg", "none", "NegFwdOp.formula: is missing where reference is none"},
      {"spec-only", "done", "f.yaml:5: NegFwdOp.status: expected implemented or spec-only"},
      {"spec-only", "implementd",
       "f.yaml:5: NegFwdOp.status: expected implemented or spec-only, got 'implementd'; did you "
       "mean "
       "'implemented'?"},
      {"default: 1e-5", "default: flaot16",
       "f.yaml:12: NegFwdOp.signature.params.eps.default: expected null, a bool, a number, a list "
       "of "
       "ints or a dtype, got 'flaot16'; did you mean 'float16'?"},
      {"[float16, float32], shape", "[float16, float61], shape",
       "f.yaml:8: NegFwdOp.signature.inputs.x.dtype[1]: expected a dtype, got 'float61'"},
      {"[float16, float32], shape", "[float16, float16], shape", "dtype 'float16' is given twice"},
      {"[M, N]", "[M, 2 * N]", "f.yaml:8: NegFwdOp.signature.inputs.x.shape: expected a pattern"},
      {"same_as(x)", "same_as(z)", "same_as(z) names no input"},
      {"shape: x.shape", "shape: 'x.shape['",
       "f.yaml:10: NegFwdOp.signature.outputs.y.shape: x.shape"
       "[: column 9: unexpected end"},
      {"shape: x.shape", "shape: z.shape", "z.shape: unknown name 'z.shape'"},
      {", shape: x.shape", "", "f.yaml:10: NegFwdOp.signature.outputs.y: shape is missing"},
      {"type: float,", "type: double,", "unknown parameter type 'double'"},
      {"default: 1e-5", "default: true", "default: expected float, got true"},
      {"default: -1", "default: null", "default: expected axis, got null"},
      {"default: -1", "default: 0.5", "default: expected axis, got 0.5"},
      {"[M > 0]", "[M >]", "f.yaml:14: NegFwdOp.shape_rules[0]: M >: column 4: unexpected end"},
      {"[M > 0]", "[K > 0]", "NegFwdOp.shape_rules[0]: K > 0: unknown name 'K'"},
      {"[M > 0]", "M > 0", "f.yaml:14: NegFwdOp.shape_rules: expected a list, got 'M > 0'"},
      {"flops: M * N, ", "",
       "f.yaml:15: NegFwdOp.roofline: expected flops and bytes, or a formula"},
      {"flops: M * N", "flops: M * Q", "NegFwdOp.roofline.flops: M * Q: unknown name 'Q'"},
      {"x: [2, 3]", "z: [2, 3]", "f.yaml:17: NegFwdOp.workloads[0].inputs: no input 'z'"},
      {"x: [2, 3]", "x: [2, a]", "f.yaml:17: NegFwdOp.workloads[0].inputs.x[1]: expected an int"},
      {"eps: 1}", "ep: 1}", "f.yaml:18: NegFwdOp.workloads[1].params: no parameter 'ep'"},
      {"eps: 1}", "eps: [1]}", "NegFwdOp.workloads[1].params.eps: expected float, got (1,)"},
      {"label: two", "label: one", "label 'one' is given twice for float16"},
      {"dtypes: [float16]}", "dtypes: [int8]}", "'x' does not allow int8"},
      {"dtypes: [float16]}", "dtypes: []}", "expected at least one dtype"},
      {"params:\n      eps:", "params:\n      x:", "the name 'x' is taken"},
      {"    inputs:\n      x: {dtype: [float16, float32], shape: '[M, N]'}\n", "",
       "signature.outputs.y.dtype: expected a list of dtypes where there are no inputs"},
  };
  for (const Case& c : kCases) {
    EXPECT_THAT(ErrorOf(Replaced(c.from, c.to)), HasSubstr(c.error)) << c.to;
  }
}

// Every entry that is wrong is reported, not only the first.
TEST(LoaderTest, ReportsEachEntry) {
  const std::string error = ErrorOf("A: {family: 1, x: 2}\nB: 3\n");
  EXPECT_THAT(error, HasSubstr("f.yaml:1: A.x: unknown field"));
  EXPECT_THAT(error, HasSubstr("\nf.yaml:2: B: expected a map"));
}

// Damaged documents give an error or a manifest, never a crash.
TEST(LoaderTest, RandomDamageNeverCrashes) {
  std::mt19937 random(11);
  constexpr std::string_view kBytes = "{}[]:,&*!|>'\"#%@`-? \n\t\r0aM\xff\x80\xc3";
  int errors = 0;
  for (int round = 0; round < 3000; ++round) {
    std::string text(kEntry);
    for (unsigned i = 0; i < 1 + random() % 6; ++i) {
      text[random() % text.size()] = kBytes[random() % kBytes.size()];
      if (random() % 4 == 0) text.erase(random() % text.size(), random() % 20);
    }
    const absl::StatusOr<Manifest> manifest = Manifest::FromYaml(text, "f.yaml");
    if (!manifest.ok()) {
      ++errors;
      EXPECT_THAT(Cat(manifest.status().message()), StartsWith("f.yaml:"));
    }
  }
  EXPECT_GT(errors, 1000);
}

}  // namespace
}  // namespace tilewright
