#include <array>
#include <charconv>
#include <optional>

#include "manifest/expr_node.h"
#include "manifest/status.h"

namespace tilewright {
namespace {

using Node = Expr::Node;
using NodePtr = std::unique_ptr<Node>;
using Kind = Node::Kind;

bool IsNameStart(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// Recursive descent over the text. Every production returns null once an error is recorded.
class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  absl::StatusOr<NodePtr> Parse() {
    if (text_.size() > kMaxExprLength) {
      return InvalidArgument("expression of ", text_.size(), " bytes; at most ", kMaxExprLength);
    }
    NodePtr node = Conditional();
    if (node != nullptr && !AtEnd()) node = Fail("unexpected text");
    if (!error_.ok()) return error_;
    return node;
  }

 private:
  NodePtr Fail(std::string_view what) {
    if (error_.ok()) error_ = InvalidArgument("column ", at_ + 1, ": ", what);
    return nullptr;
  }

  // Counts nesting for the productions that recurse.
  class Nested {
   public:
    explicit Nested(int& depth) : depth_(depth) { ++depth_; }
    ~Nested() { --depth_; }
    bool too_deep() const { return depth_ > kMaxExprDepth; }

   private:
    int& depth_;
  };

  bool AtEnd() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\n')) {
      ++at_;
    }
    return at_ == text_.size();
  }

  bool Take(std::string_view symbol) {
    if (AtEnd() || !text_.substr(at_).starts_with(symbol)) return false;
    at_ += symbol.size();
    return true;
  }

  bool TakeWord(std::string_view word) {
    if (AtEnd() || PeekName() != word) return false;
    at_ += word.size();
    return true;
  }

  // A name with dots ("x.shape") at the current place; empty if there is none.
  std::string_view PeekName() const {
    size_t end = at_;
    while (end < text_.size()) {
      const bool dot =
          text_[end] == '.' && end > at_ && end + 1 < text_.size() && IsNameStart(text_[end + 1]);
      const bool letter = IsNameStart(text_[end]) || (end > at_ && IsDigit(text_[end]));
      if (!dot && !letter) break;
      ++end;
    }
    return text_.substr(at_, end - at_);
  }

  NodePtr Make(Kind kind, size_t at) const {
    auto node = std::make_unique<Node>();
    node->kind = kind;
    node->column = static_cast<int>(at) + 1;
    return node;
  }

  NodePtr Conditional() {
    const Nested nested(depth_);
    if (nested.too_deep()) return Fail("nested too deeply");
    NodePtr value = Or();
    if (value == nullptr || !TakeWord("if")) return value;
    NodePtr node = Make(Kind::kConditional, at_);
    NodePtr condition = Or();
    if (condition == nullptr) return nullptr;
    if (!TakeWord("else")) return Fail("expected 'else'");
    NodePtr otherwise = Conditional();
    if (otherwise == nullptr) return nullptr;
    node->children.push_back(std::move(condition));
    node->children.push_back(std::move(value));
    node->children.push_back(std::move(otherwise));
    return node;
  }

  NodePtr Or() { return Joined(Kind::kOr, "or", &Parser::And); }
  NodePtr And() { return Joined(Kind::kAnd, "and", &Parser::Not); }

  NodePtr Joined(Kind kind, std::string_view word, NodePtr (Parser::*part)()) {
    NodePtr first = (this->*part)();
    if (first == nullptr || !TakeWord(word)) return first;
    NodePtr node = Make(kind, at_);
    node->children.push_back(std::move(first));
    do {
      NodePtr next = (this->*part)();
      if (next == nullptr) return nullptr;
      node->children.push_back(std::move(next));
    } while (TakeWord(word));
    return node;
  }

  NodePtr Not() {
    if (!TakeWord("not")) return Comparison();
    const Nested nested(depth_);
    if (nested.too_deep()) return Fail("nested too deeply");
    NodePtr node = Make(Kind::kNot, at_);
    NodePtr operand = Not();
    if (operand == nullptr) return nullptr;
    node->children.push_back(std::move(operand));
    return node;
  }

  std::optional<ExprOp> TakeComparison() {
    static constexpr std::array<std::pair<std::string_view, ExprOp>, 6> kSymbols = {
        {{"==", ExprOp::kEqual},
         {"!=", ExprOp::kNotEqual},
         {"<=", ExprOp::kLessEqual},
         {">=", ExprOp::kGreaterEqual},
         {"<", ExprOp::kLess},
         {">", ExprOp::kGreater}}};
    for (const auto& [symbol, op] : kSymbols) {
      if (Take(symbol)) return op;
    }
    if (TakeWord("in")) return ExprOp::kIn;
    const size_t before = at_;
    if (TakeWord("not")) {
      if (TakeWord("in")) return ExprOp::kNotIn;
      at_ = before;
    }
    return std::nullopt;
  }
  std::optional<ExprOp> TakeSum() {
    if (Take("+")) return ExprOp::kAdd;
    if (Take("-")) return ExprOp::kSubtract;
    return std::nullopt;
  }
  std::optional<ExprOp> TakeProduct() {
    if (Take("*")) return ExprOp::kMultiply;
    if (Take("//")) return ExprOp::kFloorDivide;
    if (Take("/")) return ExprOp::kDivide;
    if (Take("%")) return ExprOp::kModulo;
    return std::nullopt;
  }

  NodePtr Comparison() { return Chain(Kind::kComparison, &Parser::TakeComparison, &Parser::Sum); }
  NodePtr Sum() { return Chain(Kind::kArithmetic, &Parser::TakeSum, &Parser::Product); }
  NodePtr Product() { return Chain(Kind::kArithmetic, &Parser::TakeProduct, &Parser::Unary); }

  NodePtr Chain(Kind kind, std::optional<ExprOp> (Parser::*take)(), NodePtr (Parser::*part)()) {
    NodePtr first = (this->*part)();
    if (first == nullptr) return nullptr;
    if (AtEnd()) return first;
    const size_t place = at_;  // of the first operator
    std::optional<ExprOp> op = (this->*take)();
    if (!op.has_value()) return first;
    NodePtr node = Make(kind, place);
    node->children.push_back(std::move(first));
    for (; op.has_value(); op = (this->*take)()) {
      NodePtr next = (this->*part)();
      if (next == nullptr) return nullptr;
      node->ops.push_back(*op);
      node->children.push_back(std::move(next));
    }
    return node;
  }

  NodePtr Unary() {
    if (!Take("-")) return Postfix();
    const Nested nested(depth_);
    if (nested.too_deep()) return Fail("nested too deeply");
    NodePtr node = Make(Kind::kNegate, at_ - 1);
    NodePtr operand = Unary();
    if (operand == nullptr) return nullptr;
    node->children.push_back(std::move(operand));
    return node;
  }

  NodePtr Postfix() {
    NodePtr base = Primary();
    for (int count = 0; base != nullptr && Take("["); ++count) {
      if (count == kMaxExprDepth) return Fail("nested too deeply");
      base = Subscript(std::move(base));
    }
    return base;
  }

  NodePtr Subscript(NodePtr base) {
    NodePtr node = Make(Kind::kIndex, at_ - 1);
    node->children.push_back(std::move(base));
    if (!Take(":")) {
      NodePtr index = Conditional();
      if (index == nullptr) return nullptr;
      node->children.push_back(std::move(index));
      if (Take("]")) return node;
      if (!Take(":")) return Fail("expected ']'");
    } else {
      node->children.push_back(nullptr);
    }
    node->kind = Kind::kSlice;
    if (Take("]")) {
      node->children.push_back(nullptr);
      return node;
    }
    NodePtr end = Conditional();
    if (end == nullptr) return nullptr;
    node->children.push_back(std::move(end));
    return Take("]") ? std::move(node) : Fail("expected ']'");
  }

  NodePtr Primary() {
    if (AtEnd()) return Fail("unexpected end");
    if (IsDigit(text_[at_]) || text_[at_] == '.') return Number();
    if (Take("(")) return Parenthesised();
    const std::string_view name = PeekName();
    if (name.empty()) return Fail(Cat("unexpected character"));
    return Name(name);
  }

  NodePtr Number() {
    const char* begin = text_.data() + at_;
    const char* end = text_.data() + text_.size();
    int64_t integer = 0;
    const auto parsed_int = std::from_chars(begin, end, integer);
    double real = 0;
    const auto parsed_real = std::from_chars(begin, end, real);
    NodePtr node = Make(Kind::kLiteral, at_);
    if (parsed_real.ec != std::errc{} && parsed_int.ec != std::errc{}) return Fail("bad number");
    if (parsed_int.ec == std::errc{} && parsed_int.ptr == parsed_real.ptr) {
      node->value = integer;
    } else if (parsed_real.ec == std::errc{} && IsReal({begin, parsed_real.ptr})) {
      node->value = real;
    } else {
      return Fail("number out of range");
    }
    at_ += static_cast<size_t>(parsed_real.ptr - begin);
    if (at_ < text_.size() && (IsNameStart(text_[at_]) || text_[at_] == '.')) {
      return Fail("bad number");
    }
    return node;
  }
  static bool IsReal(std::string_view text) {
    return text.find_first_of(".eE") != std::string_view::npos;
  }

  NodePtr Parenthesised() {
    const size_t open = at_ - 1;
    NodePtr tuple = Make(Kind::kTuple, open);
    if (Take(")")) return tuple;
    NodePtr first = Conditional();
    if (first == nullptr) return nullptr;
    if (Take(")")) return first;
    tuple->children.push_back(std::move(first));
    while (Take(",")) {
      if (Take(")")) return tuple;
      NodePtr next = Conditional();
      if (next == nullptr) return nullptr;
      tuple->children.push_back(std::move(next));
      if (tuple->children.size() > kMaxTupleSize) return Fail("tuple too long");
    }
    return Take(")") ? std::move(tuple) : Fail("expected ')'");
  }

  NodePtr Name(std::string_view name) {
    static constexpr std::array<std::string_view, 6> kWords = {"if", "else", "and",
                                                               "or", "not",  "in"};
    for (const std::string_view word : kWords) {
      if (name == word) return Fail(Cat("unexpected '", name, "'"));
    }
    NodePtr node = Make(Kind::kLiteral, at_);
    const size_t start = at_;
    at_ += name.size();
    if (name == "null") return node;
    if (name == "true" || name == "false") {
      node->value = name == "true";
      return node;
    }
    node->name = name;
    node->kind = Kind::kName;
    if (!Take("(")) return node;
    node->kind = Kind::kCall;
    node->builtin = FindExprBuiltin(name);
    if (node->builtin == nullptr) {
      at_ = start;
      return Fail(Cat("no function '", name, "'"));
    }
    return Arguments(std::move(node), start);
  }

  NodePtr Arguments(NodePtr call, size_t start) {
    if (!Take(")")) {
      do {
        NodePtr argument = Conditional();
        if (argument == nullptr) return nullptr;
        call->children.push_back(std::move(argument));
      } while (Take(","));
      if (!Take(")")) return Fail("expected ')'");
    }
    const auto count = static_cast<int>(call->children.size());
    const ExprBuiltin& builtin = *call->builtin;
    if (count >= builtin.min_arguments && count <= builtin.max_arguments) return call;
    at_ = start;
    return Fail(Cat(builtin.name, " takes ", builtin.min_arguments, " to ", builtin.max_arguments,
                    " arguments, got ", count));
  }

  std::string_view text_;
  size_t at_ = 0;
  int depth_ = 0;
  absl::Status error_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Expr::Node>> ParseExpr(std::string_view text) {
  return Parser(text).Parse();
}

}  // namespace tilewright
