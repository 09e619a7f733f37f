#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <optional>

#include "manifest/expr_node.h"
#include "manifest/status.h"

namespace tilewright {
namespace {

using Arguments = std::span<const ExprValue>;
using Tuple = std::vector<int64_t>;
using Result = absl::StatusOr<ExprValue>;

absl::Status Overflow(std::string_view where) { return InvalidArgument(where, " overflows"); }

absl::StatusOr<const Tuple*> TupleAt(Arguments arguments, size_t i) {
  if (const auto* tuple = std::get_if<Tuple>(&arguments[i])) return tuple;
  return InvalidArgument("argument ", i + 1, " must be a tuple, got ", ExprValueText(arguments[i]));
}

absl::StatusOr<int64_t> IntAt(Arguments arguments, size_t i) {
  if (const auto* integer = std::get_if<int64_t>(&arguments[i])) return *integer;
  return InvalidArgument("argument ", i + 1, " must be an int, got ", ExprValueText(arguments[i]));
}

absl::StatusOr<bool> BoolAt(Arguments arguments, size_t i) {
  if (const auto* flag = std::get_if<bool>(&arguments[i])) return *flag;
  return InvalidArgument("argument ", i + 1, " must be a bool, got ", ExprValueText(arguments[i]));
}

Result Len(Arguments arguments) {
  TW_ASSIGN_OR_RETURN(const Tuple* tuple, TupleAt(arguments, 0));
  return static_cast<int64_t>(tuple->size());
}

Result Product(Arguments arguments) {
  TW_ASSIGN_OR_RETURN(const Tuple* tuple, TupleAt(arguments, 0));
  // A zero anywhere makes the product zero, whatever the partial products are.
  if (std::find(tuple->begin(), tuple->end(), 0) != tuple->end()) return int64_t{0};
  int64_t product = 1;
  for (const int64_t value : *tuple) {
    if (__builtin_mul_overflow(product, value, &product)) return Overflow("product");
  }
  return product;
}

Result CeilDiv(Arguments arguments) {
  TW_ASSIGN_OR_RETURN(const int64_t a, IntAt(arguments, 0));
  TW_ASSIGN_OR_RETURN(const int64_t b, IntAt(arguments, 1));
  if (b <= 0) return InvalidArgument("ceil_div by ", b, "; the divisor must be positive");
  return a / b + (a % b > 0 ? 1 : 0);
}

// The least (or greatest) of numbers, or of the values of one tuple.
template <bool kLeast>
Result Extreme(Arguments arguments) {
  if (const auto* tuple = std::get_if<Tuple>(&arguments[0]); tuple && arguments.size() == 1) {
    if (tuple->empty()) return InvalidArgument("min or max of an empty tuple");
    const auto [low, high] = std::minmax_element(tuple->begin(), tuple->end());
    return kLeast ? *low : *high;
  }
  ExprValue best = arguments[0];
  for (size_t i = 0; i < arguments.size(); ++i) {
    const auto number = [](const ExprValue& value) -> std::optional<double> {
      if (const auto* integer = std::get_if<int64_t>(&value)) return static_cast<double>(*integer);
      if (const auto* real = std::get_if<double>(&value)) return *real;
      return std::nullopt;
    };
    const std::optional<double> value = number(arguments[i]);
    if (!value) return InvalidArgument("argument ", i + 1, " must be a number");
    const auto* left = std::get_if<int64_t>(&arguments[i]);
    const auto* right = std::get_if<int64_t>(&best);
    // Two integers compare exactly; doubles lose digits beyond 2^53.
    const bool less = left && right ? *left < *right : *value < *number(best);
    const bool greater = left && right ? *left > *right : *value > *number(best);
    if (kLeast ? less : greater) best = arguments[i];
  }
  return best;
}

Result Abs(Arguments arguments) {
  if (const auto* real = std::get_if<double>(&arguments[0])) return std::fabs(*real);
  TW_ASSIGN_OR_RETURN(const int64_t value, IntAt(arguments, 0));
  if (value == INT64_MIN) return Overflow("abs");
  return value < 0 ? -value : value;
}

// The greatest common divisor of two positive numbers.
Result Gcd(Arguments arguments) {
  TW_ASSIGN_OR_RETURN(const int64_t a, IntAt(arguments, 0));
  TW_ASSIGN_OR_RETURN(const int64_t b, IntAt(arguments, 1));
  if (a <= 0 || b <= 0) return InvalidArgument("gcd of ", a, " and ", b);
  return std::gcd(a, b);
}

// The common shape of two, aligned at the last axis, as in NumPy.
Result Broadcast(Arguments arguments) {
  TW_ASSIGN_OR_RETURN(const Tuple* a, TupleAt(arguments, 0));
  TW_ASSIGN_OR_RETURN(const Tuple* b, TupleAt(arguments, 1));
  Tuple out(std::max(a->size(), b->size()));
  for (size_t i = 1; i <= out.size(); ++i) {
    const int64_t left = i <= a->size() ? (*a)[a->size() - i] : 1;
    const int64_t right = i <= b->size() ? (*b)[b->size() - i] : 1;
    if (left != right && left != 1 && right != 1) {
      return InvalidArgument("shapes ", ExprValueText(arguments[0]), " and ",
                             ExprValueText(arguments[1]), " do not broadcast");
    }
    out[out.size() - i] = left == 1 ? right : left;
  }
  return out;
}

// reduced_shape(shape, axes, keepdim): the axes become 1, or are left out.
Result ReducedShape(Arguments arguments) {
  TW_ASSIGN_OR_RETURN(const Tuple* shape, TupleAt(arguments, 0));
  TW_ASSIGN_OR_RETURN(const Tuple* axes, TupleAt(arguments, 1));
  TW_ASSIGN_OR_RETURN(const bool keepdim, BoolAt(arguments, 2));
  const auto rank = static_cast<int64_t>(shape->size());
  std::vector<bool> reduced(shape->size());
  for (const int64_t axis : *axes) {
    const int64_t at = axis < 0 ? axis + rank : axis;
    if (at < 0 || at >= rank) return InvalidArgument("axis ", axis, " of rank ", rank);
    if (reduced[static_cast<size_t>(at)]) return InvalidArgument("axis ", axis, " given twice");
    reduced[static_cast<size_t>(at)] = true;
  }
  Tuple out;
  for (size_t i = 0; i < shape->size(); ++i) {
    if (!reduced[i]) out.push_back((*shape)[i]);
    if (reduced[i] && keepdim) out.push_back(1);
  }
  return out;
}

// all_axes(rank): 0, 1, ..., rank - 1.
Result AllAxes(Arguments arguments) {
  TW_ASSIGN_OR_RETURN(const int64_t rank, IntAt(arguments, 0));
  if (rank < 0 || rank > static_cast<int64_t>(kMaxTupleSize)) {
    return InvalidArgument("rank ", rank, " is out of range");
  }
  Tuple axes;
  for (int64_t axis = 0; axis < rank; ++axis) axes.push_back(axis);
  return axes;
}

// extents_at(shape, axes): the values of the shape at the axes.
Result ExtentsAt(Arguments arguments) {
  TW_ASSIGN_OR_RETURN(const Tuple* shape, TupleAt(arguments, 0));
  TW_ASSIGN_OR_RETURN(const Tuple* axes, TupleAt(arguments, 1));
  const auto rank = static_cast<int64_t>(shape->size());
  Tuple out;
  for (const int64_t axis : *axes) {
    const int64_t at = axis < 0 ? axis + rank : axis;
    if (at < 0 || at >= rank) return InvalidArgument("axis ", axis, " of rank ", rank);
    out.push_back((*shape)[static_cast<size_t>(at)]);
  }
  return out;
}

// pooled_extent(extent, kernel, stride, padding, dilation, ceil_mode): windows along one axis; in
// ceil mode none starts in the padding after the end.
Result PooledExtent(Arguments arguments) {
  static constexpr std::array<std::string_view, 5> kNames = {"extent", "kernel", "stride",
                                                             "padding", "dilation"};
  std::array<int64_t, 5> v{};
  for (size_t i = 0; i < v.size(); ++i) {
    TW_ASSIGN_OR_RETURN(v[i], IntAt(arguments, i));
    if (v[i] < 0 || v[i] > INT32_MAX) {
      return InvalidArgument("expected a ", kNames[i], " from 0 to ", INT32_MAX, ", got ", v[i]);
    }
  }
  TW_ASSIGN_OR_RETURN(const bool ceil_mode, BoolAt(arguments, 5));
  const auto [extent, kernel, stride, padding, dilation] = v;
  if (kernel == 0 || stride == 0 || dilation == 0) {
    return InvalidArgument("kernel, stride and dilation must be positive");
  }
  const int64_t room = extent + 2 * padding - dilation * (kernel - 1) - 1;
  const int64_t steps = room + (ceil_mode ? stride - 1 : 0);
  if (steps < 0) return InvalidArgument("the window does not fit extent ", extent);
  int64_t windows = steps / stride + 1;
  if (ceil_mode && (windows - 1) * stride >= extent + padding) --windows;
  if (windows < 1) return InvalidArgument("no window starts in extent ", extent);
  return windows;
}

// tuple(x): a tuple as it is, an int as a tuple of one.
Result MakeTuple(Arguments arguments) {
  if (const auto* integer = std::get_if<int64_t>(&arguments[0])) return Tuple{*integer};
  TW_ASSIGN_OR_RETURN(const Tuple* tuple, TupleAt(arguments, 0));
  return *tuple;
}

Result Concat(Arguments arguments) {
  Tuple out;
  for (size_t i = 0; i < arguments.size(); ++i) {
    TW_ASSIGN_OR_RETURN(const Tuple* tuple, TupleAt(arguments, i));
    out.insert(out.end(), tuple->begin(), tuple->end());
    if (out.size() > kMaxTupleSize) return InvalidArgument("tuple too long");
  }
  return out;
}

// is_int(a): the type of a parameter that may be an int or a float.
Result IsInt(Arguments arguments) { return std::holds_alternative<int64_t>(arguments[0]); }

constexpr std::array<ExprBuiltin, 15> kBuiltins = {{
    {"len", 1, 1, Len},
    {"product", 1, 1, Product},
    {"ceil_div", 2, 2, CeilDiv},
    {"min", 1, 8, Extreme<true>},
    {"max", 1, 8, Extreme<false>},
    {"abs", 1, 1, Abs},
    {"gcd", 2, 2, Gcd},
    {"broadcast", 2, 2, Broadcast},
    {"reduced_shape", 3, 3, ReducedShape},
    {"all_axes", 1, 1, AllAxes},
    {"extents_at", 2, 2, ExtentsAt},
    {"pooled_extent", 6, 6, PooledExtent},
    {"tuple", 1, 1, MakeTuple},
    {"concat", 1, 8, Concat},
    {"is_int", 1, 1, IsInt},
}};

}  // namespace

const ExprBuiltin* FindExprBuiltin(std::string_view name) {
  for (const ExprBuiltin& builtin : kBuiltins) {
    if (builtin.name == name) return &builtin;
  }
  return nullptr;
}

}  // namespace tilewright
