#include "manifest/expr.h"

#include <algorithm>
#include <cmath>
#include <mutex>

#include "manifest/expr_node.h"
#include "manifest/status.h"

namespace tilewright {
namespace {

using Node = Expr::Node;
using Kind = Node::Kind;
using Tuple = std::vector<int64_t>;

std::string_view TypeName(const ExprValue& value) {
  constexpr std::string_view kNames[] = {"null", "bool", "int", "float", "tuple"};
  return kNames[value.index()];
}

// Walks a tree. Each method returns false once an error is recorded.
class Evaluator {
 public:
  explicit Evaluator(const ExprScope& scope) : scope_(scope) {}

  absl::StatusOr<ExprValue> Run(const Node& root) {
    ExprValue value;
    if (!Eval(root, value)) return error_;
    return value;
  }

 private:
  template <class... Parts>
  bool Fail(const Node& node, const Parts&... parts) {
    error_ = InvalidArgument("column ", node.column, ": ", parts...);
    return false;
  }

  bool Eval(const Node& node, ExprValue& out) {
    switch (node.kind) {
      case Kind::kLiteral:
        out = node.value;
        return true;
      case Kind::kName:
        return Name(node, out);
      case Kind::kTuple:
        return MakeTuple(node, out);
      case Kind::kCall:
        return Call(node, out);
      case Kind::kIndex:
        return Index(node, out);
      case Kind::kSlice:
        return Slice(node, out);
      case Kind::kNegate:
        return Negate(node, out);
      case Kind::kNot: {
        bool flag = false;
        if (!Bool(*node.children[0], flag)) return false;
        out = !flag;
        return true;
      }
      case Kind::kAnd:
      case Kind::kOr:
        return Junction(node, out);
      case Kind::kArithmetic:
        return Arithmetic(node, out);
      case Kind::kComparison:
        return Comparison(node, out);
      case Kind::kConditional: {
        bool condition = false;
        if (!Bool(*node.children[0], condition)) return false;
        return Eval(*node.children[condition ? 1 : 2], out);
      }
    }
    return Fail(node, "unknown node");
  }

  bool Name(const Node& node, ExprValue& out) {
    absl::StatusOr<ExprValue> value = scope_.Lookup(node.name);
    if (!value.ok()) return Fail(node, value.status().message());
    out = *std::move(value);
    return true;
  }

  template <class T>
  bool Typed(const Node& node, T& out, std::string_view expected) {
    ExprValue value;
    if (!Eval(node, value)) return false;
    T* typed = std::get_if<T>(&value);
    if (typed == nullptr) return Fail(node, "expected ", expected, ", got ", TypeName(value));
    out = std::move(*typed);
    return true;
  }
  bool Bool(const Node& node, bool& out) { return Typed(node, out, "a bool"); }
  bool Int(const Node& node, int64_t& out) { return Typed(node, out, "an int"); }

  bool MakeTuple(const Node& node, ExprValue& out) {
    Tuple tuple(node.children.size());
    for (size_t i = 0; i < tuple.size(); ++i) {
      if (!Int(*node.children[i], tuple[i])) return false;
    }
    out = std::move(tuple);
    return true;
  }

  bool Call(const Node& node, ExprValue& out) {
    std::vector<ExprValue> arguments(node.children.size());
    for (size_t i = 0; i < arguments.size(); ++i) {
      if (!Eval(*node.children[i], arguments[i])) return false;
    }
    absl::StatusOr<ExprValue> value = node.builtin->function(arguments);
    if (!value.ok()) return Fail(node, node.builtin->name, ": ", value.status().message());
    out = *std::move(value);
    return true;
  }

  bool Index(const Node& node, ExprValue& out) {
    Tuple base;
    int64_t index = 0;
    if (!Typed(*node.children[0], base, "a tuple") || !Int(*node.children[1], index)) return false;
    const auto size = static_cast<int64_t>(base.size());
    const int64_t at = index < 0 ? index + size : index;
    if (at < 0 || at >= size) return Fail(node, "index ", index, " of a tuple of ", size);
    out = base[static_cast<size_t>(at)];
    return true;
  }

  // As in Python: bounds count from the end when negative, and are clamped.
  bool Slice(const Node& node, ExprValue& out) {
    Tuple base;
    if (!Typed(*node.children[0], base, "a tuple")) return false;
    const auto size = static_cast<int64_t>(base.size());
    int64_t bounds[2] = {0, size};
    for (size_t side = 0; side < 2; ++side) {
      const Node* bound = node.children[side + 1].get();
      if (bound == nullptr) continue;
      if (!Int(*bound, bounds[side])) return false;
      if (bounds[side] < 0) bounds[side] = std::max<int64_t>(bounds[side], -size) + size;
      bounds[side] = std::min(bounds[side], size);
    }
    out =
        bounds[0] < bounds[1] ? Tuple(base.begin() + bounds[0], base.begin() + bounds[1]) : Tuple();
    return true;
  }

  bool Negate(const Node& node, ExprValue& out) {
    if (!Eval(*node.children[0], out)) return false;
    if (double* real = std::get_if<double>(&out)) {
      *real = -*real;
      return true;
    }
    int64_t* integer = std::get_if<int64_t>(&out);
    if (integer == nullptr) return Fail(node, "cannot negate a ", TypeName(out));
    if (*integer == INT64_MIN) return Fail(node, "integer overflow");
    *integer = -*integer;
    return true;
  }

  bool Junction(const Node& node, ExprValue& out) {
    const bool stop_at = node.kind == Kind::kOr;
    for (const auto& child : node.children) {
      bool flag = false;
      if (!Bool(*child, flag)) return false;
      if (flag == stop_at) {
        out = stop_at;
        return true;
      }
    }
    out = !stop_at;
    return true;
  }

  bool Arithmetic(const Node& node, ExprValue& out) {
    if (!Eval(*node.children[0], out)) return false;
    for (size_t i = 0; i < node.ops.size(); ++i) {
      ExprValue right;
      if (!Eval(*node.children[i + 1], right)) return false;
      const auto* a = std::get_if<int64_t>(&out);
      const auto* b = std::get_if<int64_t>(&right);
      const bool ok = a && b && node.ops[i] != ExprOp::kDivide
                          ? Integers(node, node.ops[i], *a, *b, out)
                          : Reals(node, node.ops[i], right, out);
      if (!ok) return false;
    }
    return true;
  }

  bool Integers(const Node& node, ExprOp op, int64_t a, int64_t b, ExprValue& out) {
    int64_t result = 0;
    bool overflow = false;
    switch (op) {
      case ExprOp::kAdd:
        overflow = __builtin_add_overflow(a, b, &result);
        break;
      case ExprOp::kSubtract:
        overflow = __builtin_sub_overflow(a, b, &result);
        break;
      case ExprOp::kMultiply:
        overflow = __builtin_mul_overflow(a, b, &result);
        break;
      default:
        if (b == 0) return Fail(node, "division by zero");
        overflow = a == INT64_MIN && b == -1;
        if (overflow) break;
        // Rounds towards minus infinity; the remainder takes the divisor's sign.
        const int64_t remainder = a % b;
        const bool rounds_down = remainder != 0 && (remainder < 0) != (b < 0);
        if (op == ExprOp::kFloorDivide) {
          result = a / b - (rounds_down ? 1 : 0);
        } else {
          result = remainder + (rounds_down ? b : 0);
        }
    }
    if (overflow) return Fail(node, "integer overflow");
    out = result;
    return true;
  }

  bool Number(const Node& node, const ExprValue& value, double& out) {
    if (const auto* integer = std::get_if<int64_t>(&value)) {
      out = static_cast<double>(*integer);
    } else if (const auto* real = std::get_if<double>(&value)) {
      out = *real;
    } else {
      return Fail(node, "expected a number, got ", TypeName(value));
    }
    return true;
  }

  bool Reals(const Node& node, ExprOp op, const ExprValue& right, ExprValue& out) {
    double a = 0;
    double b = 0;
    if (!Number(node, out, a) || !Number(node, right, b)) return false;
    double result = 0;
    if (op == ExprOp::kAdd) result = a + b;
    if (op == ExprOp::kSubtract) result = a - b;
    if (op == ExprOp::kMultiply) result = a * b;
    if (op >= ExprOp::kDivide) {
      if (b == 0) return Fail(node, "division by zero");
      if (op == ExprOp::kDivide) result = a / b;
      if (op == ExprOp::kFloorDivide) result = std::floor(a / b);
      if (op == ExprOp::kModulo) result = a - b * std::floor(a / b);
    }
    if (!std::isfinite(result)) return Fail(node, "the result is not finite");
    out = result;
    return true;
  }

  bool Comparison(const Node& node, ExprValue& out) {
    ExprValue left;
    if (!Eval(*node.children[0], left)) return false;
    out = true;
    for (size_t i = 0; i < node.ops.size(); ++i) {
      ExprValue right;
      bool holds = false;
      if (!Eval(*node.children[i + 1], right)) return false;
      if (!Compare(node, node.ops[i], left, right, holds)) return false;
      if (!holds) {
        out = false;
        return true;
      }
      left = std::move(right);
    }
    return true;
  }

  bool Compare(const Node& node, ExprOp op, const ExprValue& a, const ExprValue& b, bool& out) {
    if (op == ExprOp::kIn || op == ExprOp::kNotIn) {
      const auto* item = std::get_if<int64_t>(&a);
      const auto* tuple = std::get_if<Tuple>(&b);
      if (item == nullptr || tuple == nullptr) {
        return Fail(node, "'in' needs an int and a tuple, got ", TypeName(a), " and ", TypeName(b));
      }
      const bool found = std::find(tuple->begin(), tuple->end(), *item) != tuple->end();
      out = found == (op == ExprOp::kIn);
      return true;
    }
    if (op == ExprOp::kEqual || op == ExprOp::kNotEqual) {
      bool equal = false;
      if (!Equal(node, a, b, equal)) return false;
      out = equal == (op == ExprOp::kEqual);
      return true;
    }
    const auto* left = std::get_if<int64_t>(&a);
    const auto* right = std::get_if<int64_t>(&b);
    if (left && right) {
      out = Ordered(op, *left, *right);
      return true;
    }
    double x = 0;
    double y = 0;
    if (!Number(node, a, x) || !Number(node, b, y)) return false;
    out = Ordered(op, x, y);
    return true;
  }

  template <class T>
  static bool Ordered(ExprOp op, T a, T b) {
    if (op == ExprOp::kLess) return a < b;
    if (op == ExprOp::kLessEqual) return a <= b;
    if (op == ExprOp::kGreater) return a > b;
    return a >= b;
  }

  // null equals only null; otherwise the types must match, ints and floats being alike.
  bool Equal(const Node& node, const ExprValue& a, const ExprValue& b, bool& out) {
    if (a.index() == b.index() || a.index() == 0 || b.index() == 0) {
      out = a == b;
      return true;
    }
    double x = 0;
    double y = 0;
    if (!Number(node, a, x) || !Number(node, b, y)) {
      return Fail(node, "cannot compare ", TypeName(a), " with ", TypeName(b));
    }
    out = x == y;
    return true;
  }

  const ExprScope& scope_;
  absl::Status error_;
};

void CollectNames(const Node& node, std::vector<std::string>& names) {
  if (node.kind == Kind::kName) names.push_back(node.name);
  for (const auto& child : node.children) {
    if (child != nullptr) CollectNames(*child, names);
  }
}

}  // namespace

std::string ExprValueText(const ExprValue& value) {
  if (const auto* flag = std::get_if<bool>(&value)) return *flag ? "true" : "false";
  if (const auto* integer = std::get_if<int64_t>(&value)) return Cat(*integer);
  if (const auto* real = std::get_if<double>(&value)) return Cat(*real);
  const auto* tuple = std::get_if<Tuple>(&value);
  if (tuple == nullptr) return "null";
  std::string text = "(";
  for (size_t i = 0; i < tuple->size(); ++i) text += Cat(i == 0 ? "" : ", ", (*tuple)[i]);
  return text + (tuple->size() == 1 ? ",)" : ")");
}

struct Expr::State {
  explicit State(std::string source) : text(std::move(source)) {}
  const std::string text;
  std::once_flag once;
  std::unique_ptr<Node> root;
  absl::Status error;
};

absl::StatusOr<Expr> Expr::Parse(std::string_view text) {
  Expr expr = Deferred(std::string(text));
  if (expr.root() == nullptr) return expr.state_->error;
  return expr;
}

Expr Expr::Deferred(std::string text) { return Expr(std::make_shared<State>(std::move(text))); }

const Node* Expr::root() const {
  std::call_once(state_->once, [this] {
    absl::StatusOr<std::unique_ptr<Node>> root = ParseExpr(state_->text);
    if (root.ok()) {
      state_->root = *std::move(root);
    } else {
      state_->error = root.status();
    }
  });
  return state_->root.get();
}

const std::string& Expr::text() const { return state_->text; }

absl::StatusOr<ExprValue> Expr::Evaluate(const ExprScope& scope) const {
  const Node* node = root();
  if (node == nullptr) return state_->error;
  return Evaluator(scope).Run(*node);
}

std::vector<std::string> Expr::Names() const {
  std::vector<std::string> names;
  if (const Node* node = root()) CollectNames(*node, names);
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

}  // namespace tilewright
