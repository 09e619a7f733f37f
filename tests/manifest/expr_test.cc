// Guards the expression language: values, errors with their column, and bounds on hostile input.
#include "manifest/expr.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

#include "manifest/status.h"

namespace tilewright {
namespace {

class MapScope : public ExprScope {
 public:
  absl::StatusOr<ExprValue> Lookup(std::string_view name) const override {
    const auto found = values_.find(std::string(name));
    if (found == values_.end()) return NotFound("no name '", name, "'");
    return found->second;
  }

 private:
  std::map<std::string, ExprValue> values_ = {
      {"x.shape", std::vector<int64_t>{2, 3, 5}},
      {"x.rank", int64_t{3}},
      {"M", int64_t{7}},
      {"dim", std::monostate()},
      {"eps", 1e-5},
      {"flag", true},
      {"big", INT64_MAX},
  };
};

std::string Eval(std::string_view text) {
  const absl::StatusOr<Expr> expr = Expr::Parse(text);
  if (!expr.ok()) return Cat("parse: ", expr.status().message());
  const absl::StatusOr<ExprValue> value = expr->Evaluate(MapScope());
  return value.ok() ? ExprValueText(*value) : Cat("error: ", value.status().message());
}

TEST(ExprTest, Values) {
  const std::pair<std::string_view, std::string_view> kCases[] = {
      {"1 + 2 * 3", "7"},
      {"(1 + 2) * 3", "9"},
      {"10 - 3 - 2", "5"},
      {"-7 // 2", "-4"},
      {"-7 % 2", "1"},
      {"-big // 20", "-461168601842738791"},
      {"-big % 20", "13"},
      {"7 // -2", "-4"},
      {"7 % -2", "-1"},
      {"7 / 2", "3.5"},
      {"-M", "-7"},
      {"1e-5", "1e-05"},
      {"1e-5 == eps", "true"},
      {"2 * 1.5", "3"},
      {"1 < 2 < 3", "true"},
      {"1 < 2 > 2", "false"},
      {"0 <= M < x.rank", "false"},
      {"not flag or M == 7", "true"},
      {"flag and not M == 7", "false"},
      {"dim == null", "true"},
      {"M != null", "true"},
      {"1 if dim == null else 2", "1"},
      {"1 if false else 2 if false else 3", "3"},
      {"x.shape[0]", "2"},
      {"x.shape[-1]", "5"},
      {"x.shape[1:]", "(3, 5)"},
      {"x.shape[:-1]", "(2, 3)"},
      {"x.shape[-99:1]", "(2,)"},
      {"x.shape[2:1]", "()"},
      {"x.shape[:]", "(2, 3, 5)"},
      {"x.shape[x.rank - len((5,)):]", "(5,)"},
      {"3 in x.shape", "true"},
      {"4 not in x.shape", "true"},
      {"x.rank in (0, 1, 3)", "true"},
      {"()", "()"},
      {"(4,)", "(4,)"},
      {"(4)", "4"},
      {"(1, 2) == (1, 2)", "true"},
      {"(1, 2) == (1, 2, 3)", "false"},
      {"product(x.shape)", "30"},
      {"product(())", "1"},
      {"product((big, big, 0))", "0"},
      {"len(x.shape)", "3"},
      {"ceil_div(7, 2)", "4"},
      {"ceil_div(-7, 2)", "-3"},
      {"min(3, 2, 9)", "2"},
      {"max((3, 2, 9))", "9"},
      {"max(1, 2.5)", "2.5"},
      {"abs(-3)", "3"},
      {"broadcast((3, 1), (1, 4))", "(3, 4)"},
      {"broadcast((16, 256, 56, 56), (256, 1, 1))", "(16, 256, 56, 56)"},
      {"broadcast((), (2,))", "(2,)"},
      {"broadcast((1,), (0,))", "(0,)"},
      {"reduced_shape(x.shape, (1,), true)", "(2, 1, 5)"},
      {"reduced_shape(x.shape, (-1, 0), false)", "(3,)"},
      {"all_axes(3)", "(0, 1, 2)"},
      {"all_axes(0)", "()"},
      {"extents_at((2, 3, 5), (-1, 0))", "(5, 2)"},
      {"extents_at((2, 3), ())", "()"},
      {"pooled_extent(4, 1, 2, 0, 1, true)", "2"},
      {"pooled_extent(4, 2, 2, 1, 1, true)", "3"},
      {"pooled_extent(7, 2, 3, 0, 1, true)", "3"},
      {"pooled_extent(7, 2, 3, 0, 1, false)", "2"},
      {"pooled_extent(2, 3, 2, 0, 1, true)", "1"},
      {"gcd(56, 6)", "2"},
      {"tuple(3)", "(3,)"},
      {"concat((1,), x.shape, ())", "(1, 2, 3, 5)"},
  };
  for (const auto& [text, expected] : kCases) EXPECT_EQ(Eval(text), expected) << text;
}

TEST(ExprTest, Errors) {
  const std::pair<std::string_view, std::string_view> kCases[] = {
      {"", "parse: column 1: unexpected end"},
      {"1 +", "parse: column 4: unexpected end"},
      {"(1, 2", "parse: column 6: expected ')'"},
      {"x.shape[1", "parse: column 10: expected ']'"},
      {"1 2", "parse: column 3: unexpected text"},
      {"1 if flag", "parse: column 10: expected 'else'"},
      {"M; N", "parse: column 2: unexpected text"},
      {"__import__('os')", "parse: column 1: no function '__import__'"},
      {"len()", "parse: column 1: len takes 1 to 1 arguments, got 0"},
      {"99999999999999999999", "parse: column 1: number out of range"},
      {"1e999", "parse: column 1: number out of range"},
      {"12abc", "parse: column 3: bad number"},
      {"and", "parse: column 1: unexpected 'and'"},
      {"big + 1", "error: column 5: integer overflow"},
      {"big * 2", "error: column 5: integer overflow"},
      {"-(-big - 1)", "error: column 1: integer overflow"},
      {"(-big - 1) // -1", "error: column 12: integer overflow"},
      {"(-big - 1) % -1", "error: column 12: integer overflow"},
      {"1 // 0", "error: column 3: division by zero"},
      {"1 / 0", "error: column 3: division by zero"},
      {"1 % 0", "error: column 3: division by zero"},
      {"product((big, 2))", "error: column 1: product: product overflows"},
      {"missing + 1", "error: column 1: no name 'missing'"},
      {"x.shape[3]", "error: column 8: index 3 of a tuple of 3"},
      {"M[0]", "error: column 1: expected a tuple, got int"},
      {"1 and flag", "error: column 1: expected a bool, got int"},
      {"flag + 1", "error: column 6: expected a number, got bool"},
      {"flag == 1", "error: column 6: cannot compare bool with int"},
      {"broadcast((2,), (3,))",
       "error: column 1: broadcast: shapes (2,) and (3,) do not broadcast"},
      {"extents_at((2,), (1,))", "error: column 1: extents_at: axis 1 of rank 1"},
      {"reduced_shape((2,), (0, -1), true)", "error: column 1: reduced_shape: axis -1 given twice"},
      {"1e300 * 1e300", "error: column 7: the result is not finite"},
  };
  for (const auto& [text, expected] : kCases) EXPECT_EQ(Eval(text), expected) << text;
}

// Only the branch that is taken is evaluated.
TEST(ExprTest, ShortCircuits) {
  EXPECT_EQ(Eval("flag or missing"), "true");
  EXPECT_EQ(Eval("not flag and missing"), "false");
  EXPECT_EQ(Eval("1 if flag else missing"), "1");
}

TEST(ExprTest, DepthAndLengthAreBounded) {
  for (const char* part : {"(", "-", "not ", "x.shape[", "min(", "1 if flag else "}) {
    std::string text;
    for (int i = 0; i < 200; ++i) text += part;
    EXPECT_NE(Eval(text).find("nested too deeply"), std::string::npos) << part;
  }
  std::string postfix = "x.shape";
  for (int i = 0; i < 200; ++i) postfix += "[0]";
  EXPECT_NE(Eval(postfix).find("nested too deeply"), std::string::npos);
  EXPECT_EQ(Eval(std::string(5000, '1')), "parse: expression of 5000 bytes; at most 4096");
  std::string sum = "0";
  for (int i = 0; i < 1000; ++i) sum += "+1";
  EXPECT_EQ(Eval(sum), "1000");
}

// Any text gives a value or an error; random token soup reaches deep into the parser.
TEST(ExprTest, RandomTextNeverCrashes) {
  const std::string_view kTokens[] = {
      "1",  "M",  "x.shape", "(",   ")",    "[",        "]",         ",",   ":",   "+",    "-",
      "*",  "//", "/",       "%",   "<",    "==",       "in",        "not", "and", "or",   "if",
      "\0", "é",  "else",    "big", "len(", "product(", "ceil_div(", "1e9", ".",   "null", "true"};
  std::mt19937 random(7);
  int values = 0;
  for (int round = 0; round < 20000; ++round) {
    std::string text;
    for (unsigned i = 0; i < 1 + random() % 12; ++i) {
      text += Cat(kTokens[random() % std::size(kTokens)], " ");
    }
    const std::string result = Eval(text);
    if (!result.starts_with("parse: ") && !result.starts_with("error: ")) ++values;
    EXPECT_FALSE(result.empty());
  }
  EXPECT_GT(values, 100);
}

TEST(ExprTest, NamesAreSortedAndUnique) {
  const Expr expr = Expr::Parse("M + x.shape[M] if flag else dim").value();
  EXPECT_EQ(expr.Names(), (std::vector<std::string>{"M", "dim", "flag", "x.shape"}));
}

TEST(ExprTest, DeferredParsesAtFirstUse) {
  EXPECT_EQ(ExprValueText(Expr::Deferred("M * 2").Evaluate(MapScope()).value()), "14");
  EXPECT_EQ(Expr::Deferred("M *").Evaluate(MapScope()).status().message(),
            "column 4: unexpected end");
}

}  // namespace
}  // namespace tilewright
