// libFuzzer target: any text as an expression, evaluated over values of every type. A text that
// parses parses again from its own text, to the same value.
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "manifest/expr.h"
#include "manifest/op_spec.h"

namespace tilewright {

// The built-in formulas are made by the build; here there are none.
RooflineFormula BuiltinRoofline(std::string_view) { return {}; }

}  // namespace tilewright

namespace {

using tilewright::Expr;
using tilewright::ExprValue;

// Two letters name a value of each type; the rest are unknown.
class FuzzScope : public tilewright::ExprScope {
 public:
  absl::StatusOr<ExprValue> Lookup(std::string_view name) const override {
    if (name == "M") return ExprValue(int64_t{4096});
    if (name == "N") return ExprValue(INT64_MAX);
    if (name == "z") return ExprValue(int64_t{0});
    if (name == "n") return ExprValue(int64_t{-3});
    if (name == "f") return ExprValue(1e300);
    if (name == "t") return ExprValue(true);
    if (name == "x.shape") return ExprValue(std::vector<int64_t>{2, 3, 4});
    if (name == "e") return ExprValue(std::vector<int64_t>{});
    if (name == "o") return ExprValue(std::monostate());
    return absl::NotFoundError("unknown");
  }
};

bool Same(const absl::StatusOr<ExprValue>& a, const absl::StatusOr<ExprValue>& b) {
  if (!a.ok() || !b.ok()) return a.status() == b.status();
  return *a == *b;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const absl::StatusOr<Expr> expr = Expr::Parse(text);
  if (!expr.ok()) {
    if (expr.status().code() != absl::StatusCode::kInvalidArgument) abort();
    return 0;
  }
  const FuzzScope scope;
  const absl::StatusOr<ExprValue> value = expr->Evaluate(scope);
  if (value.ok()) {
    // A result is finite, and can be printed.
    const auto* real = std::get_if<double>(&*value);
    if (real != nullptr && !std::isfinite(*real)) abort();
    if (tilewright::ExprValueText(*value).empty()) abort();
  } else if (value.status().message().empty()) {
    abort();
  }
  (void)expr->Names();
  const absl::StatusOr<Expr> again = Expr::Parse(expr->text());
  if (!again.ok() || !Same(again->Evaluate(scope), value)) abort();
  return 0;
}
