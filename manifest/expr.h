// The expression language of the manifest: ints, floats, bools, null and tuples of ints, with named
// builtins. See manifest/README.md for the grammar.
#ifndef TILEWRIGHT_MANIFEST_EXPR_H_
#define TILEWRIGHT_MANIFEST_EXPR_H_

#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"

namespace tilewright {

// std::monostate is null; a tuple holds integers.
using ExprValue = std::variant<std::monostate, bool, int64_t, double, std::vector<int64_t>>;

// "(2, 3)", "null", "1.5": for messages.
std::string ExprValueText(const ExprValue& value);

// Resolves names ("M", "x.shape", "x.rank", "dim", "elem_bytes").
class ExprScope {
 public:
  virtual ~ExprScope() = default;
  // NotFound for an unknown name.
  virtual absl::StatusOr<ExprValue> Lookup(std::string_view name) const = 0;
};

// An expression. Immutable, cheap to copy, thread-safe.
class Expr {
 public:
  // InvalidArgument with the column of the first error. Depth and length are bounded.
  static absl::StatusOr<Expr> Parse(std::string_view text);
  // For generated tables, whose text was parsed when they were made: parses at the first use.
  static Expr Deferred(std::string text);

  // Integer arithmetic is checked: overflow, division by zero and type errors are InvalidArgument.
  absl::StatusOr<ExprValue> Evaluate(const ExprScope& scope) const;
  const std::string& text() const;
  // Every name that the expression may look up, sorted, without repeats.
  std::vector<std::string> Names() const;

  struct Node;

 private:
  struct State;
  explicit Expr(std::shared_ptr<State> state) : state_(std::move(state)) {}
  // Null where the text does not parse.
  const Node* root() const;

  std::shared_ptr<State> state_;
};

}  // namespace tilewright

#endif  // TILEWRIGHT_MANIFEST_EXPR_H_
