// tilewright validate: manifest entries against everything that they claim.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "manifest/status.h"
#include "tools/cli.h"
#include "tools/validator.h"

namespace tilewright {
namespace {

using Json = nlohmann::ordered_json;

struct ValidateArgs {
  std::vector<std::string> files;
  std::vector<std::string> ops;
  bool json = false;
};

std::string MessageOf(const absl::Status& status) {
  return std::string(status.message().data(), status.message().size());
}

// The entries of the files, or the built-in ones. A file that does not parse is a finding of L0.
std::vector<OpSpec> Entries(const ValidateArgs& args, std::vector<std::string>& schema_errors) {
  if (args.files.empty()) return Manifest::BuiltinOps();
  std::vector<OpSpec> entries;
  for (const std::string& file : args.files) {
    std::ostringstream text;
    text << std::ifstream(file).rdbuf();
    const absl::StatusOr<Manifest> manifest = Manifest::FromYaml(text.str(), file);
    if (!manifest.ok()) {
      schema_errors.push_back(MessageOf(manifest.status()) + " [L0]");
      continue;
    }
    entries.insert(entries.end(), manifest->ops().begin(), manifest->ops().end());
  }
  return entries;
}

void PrintReport(const std::vector<std::string>& schema_errors,
                 const std::vector<Finding>& findings, size_t checked, bool json) {
  if (json) {
    Json list = Json::array();
    for (const std::string& error : schema_errors) list.push_back({{"level", 0}, {"text", error}});
    for (const Finding& finding : findings) {
      list.push_back({{"level", finding.level},
                      {"file", finding.file},
                      {"line", finding.line},
                      {"op", finding.op},
                      {"field", finding.field},
                      {"text", finding.message}});
    }
    std::cout << Json{{"entries", checked}, {"findings", list}}.dump(2) << "\n";
    return;
  }
  for (const std::string& error : schema_errors) std::cout << error << "\n";
  for (const Finding& finding : findings) std::cout << finding.ToString() << "\n";
  std::cout << checked << " entries checked, " << schema_errors.size() + findings.size()
            << " findings\n";
}

int RunValidate(const ValidateArgs& args) {
  std::vector<std::string> schema_errors;
  std::vector<OpSpec> entries = Entries(args, schema_errors);
  for (const std::string& name : args.ops) {
    if (std::none_of(entries.begin(), entries.end(),
                     [&](const OpSpec& op) { return op.name == name; })) {
      return Misuse("no operator '" + name + "' (see tilewright ops)");
    }
  }
  std::vector<Finding> findings;
  size_t checked = 0;
  for (const OpSpec& op : entries) {
    if (!args.ops.empty() &&
        std::find(args.ops.begin(), args.ops.end(), op.name) == args.ops.end()) {
      continue;
    }
    ++checked;
    for (Finding& finding : ValidateOp(op, BuiltinParts())) findings.push_back(std::move(finding));
  }
  PrintReport(schema_errors, findings, checked, args.json);
  return schema_errors.empty() && findings.empty() ? kDone : kFindings;
}

}  // namespace

void AddValidateCommand(CLI::App& app, CliContext& context) {
  auto args = std::make_shared<ValidateArgs>();
  CLI::App* command = AddCommand(
      app, context, "validate",
      "Check manifest entries: L0 schema, L1 recipe, L2 shape rules, L3 dtypes, L4 roofline and "
      "reference; exit 1 on findings",
      [args] { return RunValidate(*args); });
  command->add_option("FILES", args->files, "Manifest files (default: the built-in operators)")
      ->check(CLI::ExistingFile);
  command->add_option("--op", args->ops, "Only these operators");
  command->add_flag("--json", args->json, "Print JSON");
}

}  // namespace tilewright
