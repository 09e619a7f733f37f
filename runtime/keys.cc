#include "runtime/keys.h"

#include <charconv>

#include "manifest/digest.h"
#include "manifest/op_spec.h"
#include "manifest/status.h"
#include "runtime/compiler.h"

namespace tilewright {

KernelKey MakeKernelKey(const KernelSpec& spec, std::string_view closure_digest,
                        std::string_view arch) {
  KernelKey key;
  key.closure_digest = closure_digest;
  key.instantiation = spec.Instantiation();
  key.arch = arch;
  for (const std::string& flag : FixedCompileFlags()) {
    if (!key.flags.empty()) key.flags += ' ';
    key.flags += flag;
  }
  // The source, not the shorter instantiation, so that every declared type counts.
  key.digest = Digest()
                   .Add(closure_digest)
                   .Add(spec.entry)
                   .Add(spec.Source())
                   .Add(arch)
                   .Add(key.flags)
                   .Hex();
  return key;
}

std::string DTypeList(const CallDesc& call) {
  std::string text;
  const size_t inputs = static_cast<size_t>(call.op->input_count());
  for (size_t i = 0; i < call.operands.size(); ++i) {
    if (i == inputs) {
      text += "->";
    } else if (i > 0) {
      text += ',';
    }
    const Operand& operand = call.operands[i];
    text += operand.present ? DTypeName(operand.desc.dtype) : "-";
  }
  return text;
}

std::string ProblemJson(const Recipe& recipe, const ProblemFields& fields) {
  std::string json = "{";
  for (size_t i = 0; i < fields.size(); ++i) {
    if (i > 0) json += ',';
    json += '"';
    json += recipe.fields()[i].name;
    json += "\":";
    json += std::to_string(fields[i]);
  }
  return json + "}";
}

absl::StatusOr<ProblemFields> ParseProblemJson(const Recipe& recipe, std::string_view json) {
  ProblemFields fields;
  std::string_view rest = json;
  for (const ProblemField& field : recipe.fields()) {
    const std::string lead = Cat(fields.empty() ? "{" : ",", "\"", field.name, "\":");
    int64_t value = 0;
    if (!rest.starts_with(lead)) {
      return InvalidArgument("problem ", json, ": expected field '", field.name, "'");
    }
    rest.remove_prefix(lead.size());
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), value);
    if (error != std::errc()) return InvalidArgument("problem ", json, ": bad '", field.name, "'");
    rest.remove_prefix(static_cast<size_t>(end - rest.data()));
    fields.push_back(value);
  }
  const bool ended = rest == "}" || (fields.empty() && rest == "{}");
  if (!ended) return InvalidArgument("problem ", json, ": unexpected '", rest, "'");
  return fields;
}

ProblemKey MakeProblemKey(const CallDesc& call, const Recipe& recipe, const ProblemFields& fields,
                          std::string_view device_key) {
  ProblemKey key;
  key.op = call.op->name;
  key.dtypes = DTypeList(call);
  key.problem_json = ProblemJson(recipe, fields);
  key.device = device_key;
  key.digest = Digest().Add(key.op).Add(key.dtypes).Add(key.problem_json).Add(key.device).Hex();
  return key;
}

ProblemKey MakeProblemKey(const CallDesc& call, const Recipe& recipe, const DeviceProfile& device) {
  return MakeProblemKey(call, recipe, recipe.Describe(call), device.Key());
}

}  // namespace tilewright
