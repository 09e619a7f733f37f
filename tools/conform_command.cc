// tilewright conform: runs operators on a GPU against their references, and writes the ledger.
#include <CLI/CLI.hpp>
#include <iostream>
#include <limits>
#include <nlohmann/json.hpp>

#include "manifest/status.h"
#include "runtime/compiler.h"
#include "runtime/conform/conformance.h"
#include "runtime/conform/ledger.h"
#include "tools/cli.h"
#include "tools/json_text.h"

namespace tilewright {
namespace {

using Json = nlohmann::ordered_json;

struct ConformArgs {
  ConformOptions options;
  bool no_graphs = false;
  bool no_edges = false;
  std::string ledger_root;
  bool json = false;
};

Json RowJson(const LedgerRow& row) {
  return {
      {"op", row.op},         {"case", row.case_name},      {"dtype", row.dtype},
      {"config", row.config}, {"choice", row.choice},       {"verdict", VerdictName(row.verdict)},
      {"error", row.error},   {"tolerance", row.tolerance}, {"checks", row.checks},
      {"device", row.device}, {"detail", row.detail}};
}

void PrintRow(const LedgerRow& row) {
  std::cout << VerdictName(row.verdict) << "  " << row.op << " " << row.case_name << " "
            << row.dtype << " " << row.choice << " " << row.config << "  error " << row.error
            << " of tolerance";
  if (!row.detail.empty()) std::cout << ": " << row.detail;
  std::cout << std::endl;
}

// Adds rows to the ledger file of their device and operator, under a root, each as it comes: what a
// run that is killed has found so far is kept.
class LedgerFile {
 public:
  explicit LedgerFile(std::string root) : root_(std::move(root)) {}

  // Remembers the first failure, which status() tells.
  void Add(const LedgerRow& row) {
    if (root_.empty() || !status_.ok()) return;
    status_ = TryAdd(row);
  }
  const absl::Status& status() const { return status_; }

 private:
  absl::Status TryAdd(const LedgerRow& row) {
    const std::string path = LedgerPath(root_, row.device, row.op);
    if (ledgers_.count(path) == 0) {
      absl::StatusOr<Ledger> existing = Ledger::Read(path);
      if (!existing.ok() && !absl::IsNotFound(existing.status())) return existing.status();
      ledgers_[path] = existing.ok() ? *std::move(existing) : Ledger();
    }
    ledgers_[path].Put(row);
    return ledgers_[path].Write(path);
  }

  const std::string root_;
  std::map<std::string, Ledger> ledgers_;  // by path
  absl::Status status_;
};

absl::StatusOr<ConformReport> Conform(const CliContext& context, const ConformArgs& args,
                                      LedgerFile& ledger) {
  RuntimeOptions served_options = context.runtime;
  served_options.driver = SystemDriver();
  served_options.compiler =
      NvrtcCompiler(context.runtime.nvrtc_path, context.runtime.nvrtc_search_dirs);
  TW_ASSIGN_OR_RETURN(const std::unique_ptr<Runtime> served, Runtime::Open(served_options));
  const RuntimeFactory open = [&]() -> absl::StatusOr<std::unique_ptr<Runtime>> {
    RuntimeOptions options = served_options;
    options.cache_path.clear();
    if (!served_options.cache_path.empty()) {
      options.seed_caches.insert(options.seed_caches.begin(), served_options.cache_path);
    }
    options.tuning = TuningPolicy::kNever;
    return Runtime::Open(std::move(options));
  };
  ConformOptions options = args.options;
  options.graphs = !args.no_graphs;
  options.edges = !args.no_edges;
  options.on_row = [&args, &ledger](const LedgerRow& row) {
    if (!args.json) PrintRow(row);
    ledger.Add(row);
  };
  return RunConformance(*served, *served_options.driver, open, options);
}

int RunConform(const CliContext& context, const ConformArgs& args) {
  LedgerFile ledger(args.ledger_root);
  const absl::StatusOr<ConformReport> report = Conform(context, args, ledger);
  if (!report.ok()) return Fail(report.status());
  if (!ledger.status().ok()) return Fail(ledger.status());
  if (args.json) {
    Json rows = Json::array();
    for (const LedgerRow& row : report->rows) rows.push_back(RowJson(row));
    PrintJson(Json{{"passed", report->passed},
                   {"wrong", report->wrong},
                   {"errors", report->errors},
                   {"out_of_budget", report->out_of_budget},
                   {"stopped", report->stopped},
                   {"rows", rows}});
  } else {
    std::cout << report->passed << " passed, " << report->wrong << " wrong, " << report->errors
              << " errors" << (report->out_of_budget ? "; the budget ended the run" : "") << "\n";
    if (!report->stopped.empty()) std::cout << "stopped: " << report->stopped << "\n";
  }
  return report->ok() ? kDone : kFindings;
}

}  // namespace

void AddConformCommand(CLI::App& app, CliContext& context) {
  auto args = std::make_shared<ConformArgs>();
  CLI::App* command =
      AddCommand(app, context, "conform",
                 "Run operators on a GPU against their references; exit 1 if any result is wrong",
                 [&context, args] { return RunConform(context, *args); });
  ConformOptions& options = args->options;
  command->add_option("--op", options.ops, "Only these operators");
  command->add_option("--case", options.case_filter, "Only cases whose name holds this");
  command->add_option("--device", options.device, "Ordinal of the GPU")
      ->check(IntegerBetween(0, 1023));
  command
      ->add_option("--candidates", options.candidates,
                   "Random configurations of each workload, beside every variant's default")
      ->check(IntegerBetween(0, 1000000));
  command->add_option("--samples", options.samples, "Elements checked of a large output")
      ->check(IntegerBetween(1, uint64_t{1} << 40));
  command->add_option("--budget", options.budget_s, "Seconds after which no new case starts")
      ->check(NumberBetween(0, 1e9));
  command->add_option("--seed", options.seed, "Repeats a run's data; 0: fresh data")
      ->check(IntegerBetween(0, std::numeric_limits<uint64_t>::max()));
  command->add_flag("--no-graphs", args->no_graphs, "Skip graph capture and replay");
  command->add_flag("--no-edges", args->no_edges, "Skip the edge cases");
  command->add_option("--ledger", args->ledger_root,
                      "Add the results to the ledger under this source folder");
  command->add_flag("--json", args->json, "Print JSON");
}

}  // namespace tilewright
