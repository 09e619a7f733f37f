// The names that an operator's rules and formulas may use, over the call they are evaluated for.
#ifndef TILEWRIGHT_MANIFEST_CALL_SCOPE_H_
#define TILEWRIGHT_MANIFEST_CALL_SCOPE_H_

#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "manifest/op_spec.h"

namespace tilewright {

// Reads a call that may still be under construction: operands and params beyond those already there
// are unknown names. Does not own the call. Not thread-safe.
class CallScope final : public ExprScope {
 public:
  explicit CallScope(const CallDesc& call) : call_(call) {}

  absl::StatusOr<ExprValue> Lookup(std::string_view name) const override;

  // Makes `name` known; `name` must outlive the scope.
  void Define(std::string_view name, ExprValue value) {
    locals_.emplace_back(name, std::move(value));
  }
  // Evaluates each in order and defines it. `what` says what they are in errors.
  absl::Status DefineAll(std::span<const std::pair<std::string, Expr>> values,
                         std::string_view what);

 private:
  absl::StatusOr<ExprValue> Attribute(std::string_view tensor, std::string_view attribute) const;

  const CallDesc& call_;
  std::vector<std::pair<std::string_view, ExprValue>> locals_;
};

// Attributes of a tensor that expressions may use: "shape", "rank", ...
std::span<const std::string_view> TensorAttributes();

// Machine epsilon of a floating dtype: the gap between 1 and the next value. 0 for others.
double MachineEpsilon(DType dtype);

}  // namespace tilewright

#endif  // TILEWRIGHT_MANIFEST_CALL_SCOPE_H_
