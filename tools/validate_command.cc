// tilewright validate: manifest entries against everything that they claim.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>

#include "manifest/nearest_name.h"
#include "manifest/spec_check.h"
#include "manifest/status.h"
#include "runtime/compiler.h"
#include "tools/cli.h"
#include "tools/json_text.h"
#include "tools/message.h"
#include "tools/read_file.h"
#include "tools/selection.h"
#include "tools/validator.h"

namespace tilewright {
namespace {

using Json = nlohmann::ordered_json;

struct ValidateArgs {
  std::vector<std::string> files;
  std::vector<std::string> ops;
  std::string ledger;
  int jobs = 2;
  bool json = false;
};

// The entries of the files, or the built-in ones. A file that does not parse is a
// finding of L0, and so is a name that several entries have.
std::vector<OpSpec> Entries(const ValidateArgs& args, std::vector<std::string>& schema_errors) {
  if (args.files.empty()) return Manifest::BuiltinOps();
  std::vector<OpSpec> entries;
  for (const std::string& file : args.files) {
    const absl::StatusOr<std::string> text = ReadBounded(file, "manifest");
    const absl::StatusOr<Manifest> manifest =
        text.ok() ? Manifest::FromYaml(*text, file) : absl::StatusOr<Manifest>(text.status());
    if (!manifest.ok()) {
      schema_errors.push_back(MessageOf(manifest.status()) + " [L0]");
      continue;
    }
    entries.insert(entries.end(), manifest->ops().begin(), manifest->ops().end());
  }
  if (const absl::Status status = CheckDistinctNames(entries); !status.ok()) {
    schema_errors.push_back(MessageOf(status) + " [L0]");
  }
  return entries;
}

struct Report {
  std::vector<std::string> schema_errors;  // files that do not parse
  std::vector<Finding> findings;
  std::optional<LedgerFindings> ledger;
  size_t checked = 0;
  size_t count() const { return schema_errors.size() + findings.size(); }
};

Json FindingJson(const Finding& finding) {
  return {{"level", finding.level}, {"file", finding.file},   {"line", finding.line},
          {"op", finding.op},       {"field", finding.field}, {"text", finding.message}};
}

Json ReportJson(const Report& report) {
  Json list = Json::array();
  for (const std::string& error : report.schema_errors) {
    list.push_back({{"level", 0}, {"text", error}});
  }
  for (const Finding& finding : report.findings) list.push_back(FindingJson(finding));
  Json json{{"entries", report.checked}, {"findings", list}};
  if (report.ledger) {
    json["ledger"] = {{"claims", report.ledger->claims},
                      {"vouched", report.ledger->vouched},
                      {"unverified", report.ledger->unverified}};
  }
  return json;
}

void PrintText(const Report& report) {
  for (const std::string& error : report.schema_errors) std::cout << error << "\n";
  for (const Finding& finding : report.findings) std::cout << finding.ToString() << "\n";
  if (report.ledger) {
    for (const std::string& line : report.ledger->unverified) {
      std::cout << line << "\n";  // "unverified: ..."
    }
    std::cout << "ledger: " << report.ledger->vouched << " of " << report.ledger->claims
              << " claims vouched for, " << report.ledger->unverified.size() << " unverified\n";
  } else {
    std::cout << "ledger: not checked (give --ledger FOLDER)\n";
  }
  std::cout << report.checked << " entries checked, " << report.count() << " findings\n";
}

absl::StatusOr<Report> Validate(const CliContext& context, const ValidateArgs& args) {
  Report report;
  std::vector<OpSpec> entries = Entries(args, report.schema_errors);
  for (const std::string& name : args.ops) {
    if (std::none_of(entries.begin(), entries.end(),
                     [&](const OpSpec& op) { return op.name == name; })) {
      return NoOperator(name, NamesOf(entries));
    }
  }
  if (!args.ops.empty()) {
    std::erase_if(entries, [&](const OpSpec& op) {
      return std::find(args.ops.begin(), args.ops.end(), op.name) == args.ops.end();
    });
  }
  if (args.files.empty()) {
    report.findings =
        ValidateMarkers(Manifest::BuiltinOps(), BuiltinRecipeOps(), BuiltinReferenceOps());
  }
  report.checked = entries.size();
  for (const OpSpec& op : entries) {
    for (Finding& finding : ValidateOp(op, BuiltinParts())) {
      report.findings.push_back(std::move(finding));
    }
  }
  if (args.ledger.empty()) return report;
  const std::shared_ptr<Compiler> compiler =
      NvrtcCompiler(context.runtime.nvrtc_path, context.runtime.nvrtc_search_dirs);
  TW_ASSIGN_OR_RETURN(report.ledger, ValidateLedger(args.ledger, entries, *compiler, args.jobs));
  for (Finding& finding : report.ledger->findings) report.findings.push_back(finding);
  return report;
}

int RunValidate(const CliContext& context, const ValidateArgs& args) {
  const absl::StatusOr<Report> report = Validate(context, args);
  if (!report.ok()) return Fail(report.status());
  if (args.json) {
    PrintJson(ReportJson(*report));
  } else {
    PrintText(*report);
  }
  return report->count() == 0 ? kDone : kFindings;
}

}  // namespace

void AddValidateCommand(CLI::App& app, CliContext& context) {
  auto args = std::make_shared<ValidateArgs>();
  CLI::App* command = AddCommand(
      app, context, "validate",
      "Check manifest entries: L0 schema, L1 recipe, L2 shape rules, L3 dtypes, L4 roofline and "
      "reference, L5 ledger; exit 1 on findings",
      [&context, args] { return RunValidate(context, *args); });
  command->add_option("FILES", args->files, "Manifest files (default: the built-in operators)")
      ->check(CLI::ExistingFile);
  command->add_option("--op", args->ops, "Only these operators");
  command->add_option("--ledger", args->ledger, "Folder of the conformance ledger, for L5")
      ->check(CLI::ExistingDirectory);
  command->add_option("--jobs", args->jobs, "Compile threads for L5")
      ->check(IntegerBetween(1, 1024));
  command->add_flag("--json", args->json, "Print JSON");
}

}  // namespace tilewright
