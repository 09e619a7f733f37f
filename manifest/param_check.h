// Checking and normalising the parameters of a call.
#ifndef TILEWRIGHT_MANIFEST_PARAM_CHECK_H_
#define TILEWRIGHT_MANIFEST_PARAM_CHECK_H_

#include <span>
#include <string>
#include <string_view>

#include "manifest/op_spec.h"

namespace tilewright {

// "int_or_float", the manifest's spelling; and back.
std::string_view ParamTypeName(ParamSpec::Type type);
std::optional<ParamSpec::Type> ParseParamType(std::string_view name);
// "; did you mean 'int_list'?", or empty: what ends a message on a name that is no type.
std::string DidYouMeanParamType(std::string_view name);

// "; did you mean 'float16'?", or empty: what ends a message on a text that is no value of a
// parameter of this type.
std::string DidYouMeanValue(ParamSpec::Type type, std::string_view text);

// InvalidArgument, naming the parameters of `op`, of which `name` is none.
absl::Status UnknownParam(const OpSpec& op, std::string_view name);

// `value` in the normal form of its type: ints widen where a float is declared, an int becomes a
// list where one is declared, axes count from 0 over `rank` axes (a scalar counts as one axis, as
// in PyTorch), in ascending order. InvalidArgument says what was expected and got.
absl::StatusOr<ParamValue> NormalizeParam(const ParamSpec& spec, const ParamValue& value, int rank);

// Fills `call.params` from `given` and the defaults. `call.operands` must hold the inputs. A float
// must be one that float32 holds, an infinity or NaN, unless an operand is float64.
absl::Status BindParams(std::span<const NamedParam> given, CallDesc& call);

}  // namespace tilewright

#endif  // TILEWRIGHT_MANIFEST_PARAM_CHECK_H_
