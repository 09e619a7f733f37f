#include "tools/shape_file.h"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <sstream>

#include "manifest/nearest_name.h"
#include "manifest/param_check.h"
#include "manifest/status.h"
#include "manifest/text.h"
#include "manifest/workload_call.h"
#include "tools/json_text.h"
#include "tools/message.h"
#include "tools/read_file.h"

namespace tilewright {
namespace {

using Json = nlohmann::json;

// For messages. Bytes that are no UTF-8, which dump() would throw at, are replaced.
std::string Shown(const Json& value) { return value.dump(-1, ' ', false, kReplaceBadText); }

// Refuses an object that has a key twice, of which the parser would keep the last.
absl::StatusOr<Json> ParseJson(std::string_view text) {
  std::vector<std::set<std::string>> open_objects;
  std::string twice;
  const auto watch = [&](int, Json::parse_event_t event, Json& parsed) {
    if (event == Json::parse_event_t::object_start) open_objects.emplace_back();
    if (event == Json::parse_event_t::object_end) open_objects.pop_back();
    if (event == Json::parse_event_t::key &&
        !open_objects.back().insert(parsed.get<std::string>()).second) {
      twice = parsed.get<std::string>();
    }
    return true;
  };
  try {
    Json parsed = Json::parse(text, watch);
    if (!twice.empty()) return InvalidArgument("the key '", twice, "' is given twice");
    return parsed;
  } catch (const Json::exception& error) {
    return InvalidArgument("not JSON: ", error.what());
  }
}

// True for integers that int64 holds.
bool IsInt64(const Json& value) {
  if (!value.is_number_integer()) return false;
  return !value.is_number_unsigned() ||
         value.get<uint64_t>() <= static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
}

absl::StatusOr<Dims> DimsOf(const Json& value, std::string_view what) {
  if (!value.is_array())
    return InvalidArgument(what, ": expected a list of integers, got ", Shown(value));
  if (value.size() > static_cast<size_t>(kMaxRank)) {
    return InvalidArgument(what, ": expected at most ", kMaxRank, " values, got ", value.size());
  }
  Dims dims;
  for (const Json& item : value) {
    if (!IsInt64(item)) {
      return InvalidArgument(what, ": expected a list of integers, got ", Shown(value));
    }
    dims.push_back(item.get<int64_t>());
  }
  return dims;
}

// JSON has no such numbers: a text stands for them.
std::optional<double> ParseNonFinite(std::string_view text) {
  if (text == "inf") return std::numeric_limits<double>::infinity();
  if (text == "-inf") return -std::numeric_limits<double>::infinity();
  if (text == "nan") return std::numeric_limits<double>::quiet_NaN();
  return std::nullopt;
}

absl::StatusOr<ParamValue> ParamOf(const OpSpec& op, const Json& value, std::string_view name) {
  const std::optional<int> index = op.ParamIndex(name);
  if (!index.has_value()) return UnknownParam(op, name);
  if (value.is_null()) return ParamValue();
  if (value.is_boolean()) return ParamValue(value.get<bool>());
  if (IsInt64(value)) return ParamValue(value.get<int64_t>());
  if (value.is_number_float()) return ParamValue(value.get<double>());
  if (value.is_array()) {
    TW_ASSIGN_OR_RETURN(const Dims dims, DimsOf(value, name));
    return ParamValue(dims);
  }
  std::string meant;
  if (value.is_string()) {
    const std::string text = value.get<std::string>();
    meant = DidYouMeanValue(op.params[*index].type, text);
    if (const auto dtype = ParseDType(text)) return ParamValue(*dtype);
    if (const auto number = ParseNonFinite(text)) return ParamValue(*number);
  }
  return InvalidArgument(name,
                         ": expected null, a bool, a number, a list of integers such as [3,3] or a "
                         "dtype (inf, -inf and nan are numbers), got ",
                         Shown(value), meant);
}

const OpSpec* FindOp(std::span<const OpSpec* const> ops, std::string_view name) {
  const auto found =
      std::find_if(ops.begin(), ops.end(), [&](const OpSpec* op) { return op->name == name; });
  return found == ops.end() ? nullptr : *found;
}

// The dtype of the input of that name; an empty name stands for the call's, that of the leading
// input, or of the first output of an operator without inputs.
absl::StatusOr<DType> DTypeOf(const OpSpec& op, std::string_view input, std::string_view name) {
  if (const std::optional<DType> dtype = ParseDType(name)) return *dtype;
  const TensorSpec* tensor = nullptr;
  if (!input.empty()) {
    for (const TensorSpec& spec : op.inputs) tensor = spec.name == input ? &spec : tensor;
  } else if (!op.inputs.empty()) {
    tensor = &op.inputs[op.LeadingInput()];
  } else if (!op.outputs.empty()) {
    tensor = &op.outputs.front();
  }
  std::string valid;
  for (size_t i = 0; tensor != nullptr && i < tensor->dtypes.size(); ++i) {
    valid += Cat(i == 0                          ? "; expected "
                 : i + 1 < tensor->dtypes.size() ? ", "
                                                 : " or ",
                 DTypeName(tensor->dtypes[i]));
  }
  return InvalidArgument("dtype", input.empty() ? "" : Cat(" of '", input, "'"), ": '", name,
                         "' is not a dtype", valid, DidYouMeanDType(name));
}

// A message names its operator once.
absl::Status OfOp(const OpSpec& op, const absl::Status& status) {
  if (status.ok() || MessageOf(status).starts_with(op.name)) return status;
  return absl::Status(status.code(), Cat(op.name, ": ", MessageOf(status)));
}

absl::Status CheckFields(const Json& line) {
  if (!line.is_object()) return InvalidArgument("expected a JSON object, got ", Shown(line));
  for (const auto& [field, value] : line.items()) {
    if (field != "op" && field != "inputs" && field != "dtype" && field != "dtypes" &&
        field != "params") {
      constexpr std::string_view kFields[] = {"op", "inputs", "dtype", "dtypes", "params"};
      return InvalidArgument("unknown field '", field,
                             "' (expected op, inputs, dtype, dtypes, params)",
                             DidYouMean(field, kFields));
    }
  }
  for (const char* field : {"op", "dtype"}) {
    if (!line.contains(field) || !line[field].is_string()) {
      return InvalidArgument("expected a string field '", field, "'");
    }
  }
  if (!line.contains("inputs") || !line["inputs"].is_object()) {
    return InvalidArgument("expected an object field 'inputs' of shapes by input name");
  }
  for (const char* field : {"params", "dtypes"}) {
    if (line.contains(field) && !line[field].is_object()) {
      return InvalidArgument("expected an object for '", field, "'");
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<CallDesc> CallOfFields(const OpSpec& op, const Json& line) {
  Workload workload;
  for (const auto& [input, shape] : line["inputs"].items()) {
    TW_ASSIGN_OR_RETURN(const Dims dims, DimsOf(shape, input));
    workload.input_shapes.emplace_back(input, dims);
  }
  if (line.contains("params")) {
    for (const auto& [param, value] : line["params"].items()) {
      TW_ASSIGN_OR_RETURN(const ParamValue parsed, ParamOf(op, value, param));
      workload.params.emplace_back(param, parsed);
    }
  }
  std::vector<NamedDType> given;
  if (line.contains("dtypes")) {
    for (const auto& [input, value] : line["dtypes"].items()) {
      if (!value.is_string()) return InvalidArgument("expected a dtype for '", input, "'");
      TW_ASSIGN_OR_RETURN(const DType dtype, DTypeOf(op, input, value.get<std::string>()));
      given.emplace_back(input, dtype);
    }
  }
  TW_ASSIGN_OR_RETURN(const DType dtype, DTypeOf(op, "", line["dtype"].get<std::string>()));
  return WorkloadCall(op, workload, dtype, given);
}

absl::StatusOr<CallDesc> CallOfLine(std::string_view line, std::span<const OpSpec* const> ops) {
  TW_ASSIGN_OR_RETURN(const Json json, ParseJson(line));
  TW_RETURN_IF_ERROR(CheckFields(json));
  const std::string name = json["op"];
  const OpSpec* op = FindOp(ops, name);
  if (op == nullptr) {
    return InvalidArgument("no operator '", name, "' (see tilewright ops)",
                           DidYouMean(name, NamesOf(ops)));
  }
  absl::StatusOr<CallDesc> call = CallOfFields(*op, json);
  if (call.ok()) return call;
  return OfOp(*op, call.status());
}

// "128x7168", or "()" for rank 0.
absl::StatusOr<Dims> DimsOfText(std::string_view text, std::string_view what) {
  Dims dims;
  if (text == "()") return dims;
  std::istringstream stream{std::string(text)};
  std::string part;
  int count = 0;
  while (std::getline(stream, part, 'x')) {
    int64_t value = -1;
    const char* const end = part.data() + part.size();
    const auto [stopped, error] = std::from_chars(part.data(), end, value);
    if (error != std::errc() || stopped != end || value < 0 || ++count > kMaxRank) {
      return InvalidArgument(what, ": expected a shape such as 128x7168 of at most ", kMaxRank,
                             " dims, got '", text, "'");
    }
    dims.push_back(value);
  }
  if (count == 0 || text.back() == 'x') {
    return InvalidArgument(what, ": expected a shape such as 128x7168, got '", text, "'");
  }
  return dims;
}

using NameAndValue = std::pair<std::string, std::string>;

// "name=shape"; a bare shape is that of the next input, in the entry's order.
absl::StatusOr<NameAndValue> SplitShape(const OpSpec& op, const std::string& text,
                                        size_t& next_input) {
  if (const size_t equals = text.find('='); equals != std::string::npos) {
    return NameAndValue(text.substr(0, equals), text.substr(equals + 1));
  }
  if (next_input == op.inputs.size()) {
    return InvalidArgument(op.name, ": expected at most ", op.inputs.size(),
                           " shapes, one an input, got one more, '", text, "'");
  }
  return NameAndValue(op.inputs[next_input++].name, text);
}

absl::StatusOr<NameAndValue> SplitParam(const OpSpec& op, const std::string& text) {
  const size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0) {
    return InvalidArgument(op.name, ": --param: expected NAME=VALUE, got '", text, "'");
  }
  return NameAndValue(text.substr(0, equals), text.substr(equals + 1));
}

}  // namespace

absl::StatusOr<std::vector<NamedCall>> ParseShapeFile(std::string_view text, std::string_view name,
                                                      std::span<const OpSpec* const> ops) {
  constexpr int kMostTold = 20;
  std::vector<NamedCall> calls;
  std::string told;
  int bad = 0;
  std::istringstream stream{std::string(text)};
  std::string line;
  for (int number = 1; std::getline(stream, line); ++number) {
    const std::string origin = Cat(Escaped(name), ":", number);
    // The parser would take it for the end of the text.
    const bool has_nul = line.find('\0') != std::string::npos;
    const size_t begin = line.find_first_not_of(" \t\r");
    if (!has_nul && (begin == std::string::npos || line[begin] == '#')) continue;
    absl::StatusOr<CallDesc> call = InvalidArgument("expected text, got a NUL byte");
    if (!has_nul) call = CallOfLine(line, ops);
    if (call.ok()) {
      calls.push_back({origin, std::move(*call)});
    } else if (++bad <= kMostTold) {
      told += Cat(bad > 1 ? "\n" : "", origin, ": ", Escaped(Brief(MessageOf(call.status()))));
    }
  }
  if (bad > kMostTold) told += Cat("\nand ", bad - kMostTold, " more lines of ", name);
  if (bad > 0) return InvalidArgument(told);
  if (calls.empty()) return InvalidArgument(name, ": no shapes in the file");
  return calls;
}

absl::StatusOr<std::vector<NamedCall>> ReadShapeFile(const std::string& path,
                                                     std::span<const OpSpec* const> ops) {
  TW_ASSIGN_OR_RETURN(const std::string text, ReadBounded(path, "shape file"));
  return ParseShapeFile(text, path, ops);
}

namespace {

absl::StatusOr<CallDesc> CallOfArguments(const OpSpec& op, const std::vector<std::string>& shapes,
                                         std::string_view dtype,
                                         const std::vector<std::string>& params) {
  Workload workload;
  std::vector<NamedDType> given;
  size_t next_input = 0;
  for (const std::string& shape : shapes) {
    TW_ASSIGN_OR_RETURN(const auto argument, SplitShape(op, shape, next_input));
    const size_t colon = argument.second.find(':');
    TW_ASSIGN_OR_RETURN(const Dims dims, DimsOfText(argument.second.substr(0, colon),
                                                    Cat(op.name, ": '", argument.first, "'")));
    workload.input_shapes.emplace_back(argument.first, dims);
    if (colon == std::string::npos) continue;
    TW_ASSIGN_OR_RETURN(const DType given_dtype,
                        DTypeOf(op, argument.first, argument.second.substr(colon + 1)));
    given.emplace_back(argument.first, given_dtype);
  }
  for (const std::string& param : params) {
    TW_ASSIGN_OR_RETURN(const auto argument, SplitParam(op, param));
    const absl::StatusOr<Json> json = ParseJson(argument.second);
    TW_ASSIGN_OR_RETURN(const ParamValue value,
                        ParamOf(op, json.ok() ? *json : Json(argument.second), argument.first));
    workload.params.emplace_back(argument.first, value);
  }
  if (dtype.empty()) return WorkloadCall(op, workload, op.workloads.front().dtypes.front(), given);
  TW_ASSIGN_OR_RETURN(const DType parsed, DTypeOf(op, "", dtype));
  return WorkloadCall(op, workload, parsed, given);
}

}  // namespace

absl::StatusOr<CallDesc> ParseCallArguments(const OpSpec& op,
                                            const std::vector<std::string>& shapes,
                                            std::string_view dtype,
                                            const std::vector<std::string>& params) {
  absl::StatusOr<CallDesc> call = CallOfArguments(op, shapes, dtype, params);
  if (call.ok()) return call;
  return OfOp(op, call.status());
}

absl::StatusOr<std::vector<NamedCall>> WorkloadCalls(const OpSpec& op) {
  std::vector<NamedCall> calls;
  for (const Workload& workload : op.workloads) {
    for (DType dtype : workload.dtypes) {
      TW_ASSIGN_OR_RETURN(CallDesc call, WorkloadCall(op, workload, dtype));
      calls.push_back({Cat(op.name, " ", workload.label, " ", DTypeName(dtype)), std::move(call)});
    }
  }
  return calls;
}

}  // namespace tilewright
