// The parsed form of an expression; internal to expr*.cc.
#ifndef TILEWRIGHT_MANIFEST_EXPR_NODE_H_
#define TILEWRIGHT_MANIFEST_EXPR_NODE_H_

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "manifest/expr.h"

namespace tilewright {

inline constexpr size_t kMaxExprLength = 4096;
inline constexpr int kMaxExprDepth = 48;
inline constexpr size_t kMaxTupleSize = 64;

enum class ExprOp : uint8_t {
  kAdd,
  kSubtract,
  kMultiply,
  kDivide,
  kFloorDivide,
  kModulo,
  kEqual,
  kNotEqual,
  kLess,
  kLessEqual,
  kGreater,
  kGreaterEqual,
  kIn,
  kNotIn,
};

// A builtin takes evaluated arguments; its error text gets the column from the caller.
struct ExprBuiltin {
  std::string_view name;
  int min_arguments;
  int max_arguments;
  absl::StatusOr<ExprValue> (*function)(std::span<const ExprValue> arguments);
};
// Null if there is none.
const ExprBuiltin* FindExprBuiltin(std::string_view name);

struct Expr::Node {
  enum class Kind : uint8_t {
    kLiteral,      // value
    kName,         // name
    kTuple,        // children
    kCall,         // builtin, children
    kIndex,        // children: base, index
    kSlice,        // children: base, begin, end (either may be null)
    kNegate,       // children[0]
    kNot,          // children[0]
    kAnd,          // children
    kOr,           // children
    kArithmetic,   // children joined by ops, left to right
    kComparison,   // children joined by ops, chained
    kConditional,  // children: condition, then, else
  };
  Kind kind = Kind::kLiteral;
  int column = 0;
  ExprValue value;
  std::string name;
  const ExprBuiltin* builtin = nullptr;
  std::vector<std::unique_ptr<Node>> children;
  std::vector<ExprOp> ops;
};

absl::StatusOr<std::unique_ptr<Expr::Node>> ParseExpr(std::string_view text);

}  // namespace tilewright

#endif  // TILEWRIGHT_MANIFEST_EXPR_NODE_H_
