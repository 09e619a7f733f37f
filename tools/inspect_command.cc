// tilewright inspect: the cache's kernels, winners and trials, for people.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <iomanip>
#include <iostream>
#include <nlohmann/json.hpp>
#include <set>

#include "manifest/nearest_name.h"
#include "manifest/op_spec.h"
#include "manifest/status.h"
#include "manifest/text.h"
#include "tools/cli.h"
#include "tools/json_text.h"
#include "tools/selection.h"

namespace tilewright {
namespace {

using Json = nlohmann::ordered_json;

struct InspectArgs {
  std::string op;
  std::string trials;  // a problem key, or the start of one
  bool json = false;
};

Json KernelJson(const KernelRow& row) {
  return {{"key", row.key},
          {"op", row.op},
          {"instantiation", row.instantiation},
          {"arch", row.arch},
          {"compiler", row.compiler},
          {"registers", row.registers},
          {"static_smem_bytes", row.static_smem_bytes},
          {"spill_bytes", row.spill_bytes},
          {"compile_ms", row.compile_ms}};
}

Json WinnerJson(const WinnerRow& row) {
  return {{"key", row.key},
          {"op", row.op},
          {"dtypes", row.dtypes},
          {"problem", JsonOfText(row.problem_json)},
          {"device", row.device},
          {"config", JsonOfText(row.config_json)},
          {"median_us", row.median_us},
          {"sol_us", row.sol_us},
          {"efficiency", row.efficiency},
          {"trials", row.trials},
          {"closure", row.closure_digest},
          {"space", row.space_digest},
          {"tuned", row.tuned_unix}};
}

Json TrialJson(const TrialRow& row) {
  return {{"problem_key", row.problem_key},
          {"op", row.op},
          {"config", JsonOfText(row.config_json)},
          {"status", TrialStatusName(row.status)},
          {"samples", row.samples},
          {"median_us", row.median_us},
          {"p10_us", row.p10_us},
          {"p90_us", row.p90_us},
          {"registers", row.registers},
          {"spill_bytes", row.spill_bytes},
          {"error", row.error}};
}

// The rows to show.
struct Rows {
  std::vector<KernelRow> kernels;
  std::vector<WinnerRow> winners;
  std::vector<TrialRow> trials;
};

// By operator, then key.
absl::StatusOr<Rows> ReadRows(Cache& cache, const InspectArgs& args) {
  Rows rows{cache.AllKernels(), cache.AllWinners(), {}};
  const auto by_op = [](const auto& a, const auto& b) { return a.op < b.op; };
  std::stable_sort(rows.kernels.begin(), rows.kernels.end(), by_op);
  std::stable_sort(rows.winners.begin(), rows.winners.end(), by_op);
  if (!args.op.empty()) {
    std::erase_if(rows.kernels, [&](const KernelRow& row) { return row.op != args.op; });
    std::erase_if(rows.winners, [&](const WinnerRow& row) { return row.op != args.op; });
    // Rows of an embedder's operator are known by themselves.
    if (rows.kernels.empty() && rows.winners.empty() && Manifest::FindBuiltin(args.op) == nullptr) {
      return NoOperator(args.op, NamesOf(Manifest::BuiltinOps()));
    }
  }
  if (args.trials.empty()) return rows;
  std::erase_if(rows.winners,
                [&](const WinnerRow& row) { return row.key.rfind(args.trials, 0) != 0; });
  std::set<std::string> problems;
  for (const WinnerRow& row : rows.winners) problems.insert(row.key);
  if (problems.size() > 1) {
    return InvalidArgument("--trials: ", problems.size(), " problems start with '", args.trials,
                           "'");
  }
  rows.trials = cache.Trials(rows.winners.empty() ? args.trials : rows.winners[0].key);
  rows.kernels.clear();
  if (rows.trials.empty()) {
    return FailedPrecondition("--trials: the cache has no trials of a problem '", args.trials, "'");
  }
  return rows;
}

// Whether its problem was tuned later with other templates or another space.
bool IsSuperseded(const WinnerRow& row, const std::vector<WinnerRow>& winners) {
  return std::any_of(winners.begin(), winners.end(), [&](const WinnerRow& other) {
    return other.key == row.key && other.tuned_unix > row.tuned_unix;
  });
}

void PrintRows(const Rows& rows) {
  std::cout << std::left << std::fixed << std::setprecision(2);
  size_t widest = 0;
  for (const KernelRow& row : rows.kernels) widest = std::max(widest, Escaped(row.op).size());
  for (const WinnerRow& row : rows.winners) widest = std::max(widest, Escaped(row.op).size());
  const int op_width = static_cast<int>(widest) + 2;
  if (!rows.kernels.empty()) {
    std::cout << "kernels\n";
    for (const KernelRow& row : rows.kernels) {
      std::cout << "  " << Escaped(row.key.substr(0, 12)) << "  " << std::setw(op_width)
                << Escaped(row.op) << std::setw(8) << Escaped(row.arch) << std::setw(5)
                << row.registers << "regs  " << std::setw(9) << row.compile_ms << "ms  "
                << Escaped(row.instantiation) << (row.spill_bytes > 0 ? "  SPILLS" : "") << "\n";
    }
  }
  if (!rows.winners.empty()) {
    std::cout << "winners\n";
    for (const WinnerRow& row : rows.winners) {
      std::cout << "  " << Escaped(row.key.substr(0, 12)) << "  " << std::setw(op_width)
                << Escaped(row.op) << Escaped(row.dtypes) << "  " << Escaped(row.problem_json)
                << "  " << Escaped(row.device) << "\n                " << row.median_us << " us, "
                << 100 * row.efficiency << "% of speed of light, " << row.trials << " trials, "
                << Escaped(row.config_json)
                << (IsSuperseded(row, rows.winners) ? ", of earlier templates or another space"
                                                    : "")
                << "\n";
    }
  }
  if (!rows.trials.empty()) {
    std::cout << "trials\n";
    for (const TrialRow& row : rows.trials) {
      std::cout << "  " << std::setw(9) << TrialStatusName(row.status) << std::setw(10)
                << row.median_us << "us  " << Escaped(row.config_json) << "  " << Escaped(row.error)
                << "\n";
    }
  }
  std::cout << rows.kernels.size() << " kernels, " << rows.winners.size() << " winners";
  if (!rows.trials.empty()) std::cout << ", " << rows.trials.size() << " trials";
  std::cout << "\n";
}

int RunInspect(const CliContext& context, const InspectArgs& args) {
  const auto cache = OpenCache(context.runtime, CacheAccess::kExisting);
  if (!cache.ok()) return Fail(cache.status());
  const absl::StatusOr<Rows> rows = ReadRows(**cache, args);
  if (!rows.ok()) return Fail(rows.status());
  if (!args.json) {
    PrintRows(*rows);
    return kDone;
  }
  Json json{{"kernels", Json::array()}, {"winners", Json::array()}, {"trials", Json::array()}};
  for (const KernelRow& row : rows->kernels) json["kernels"].push_back(KernelJson(row));
  for (const WinnerRow& row : rows->winners) json["winners"].push_back(WinnerJson(row));
  for (const TrialRow& row : rows->trials) json["trials"].push_back(TrialJson(row));
  PrintJson(json);
  return kDone;
}

}  // namespace

void AddInspectCommand(CLI::App& app, CliContext& context) {
  auto args = std::make_shared<InspectArgs>();
  CLI::App* command =
      AddCommand(app, context, "inspect", "Show what the cache holds: kernels, winners, trials",
                 [&context, args] { return RunInspect(context, *args); });
  command->add_option("--op", args->op, "Only this operator's rows");
  command->add_option("--trials", args->trials, "The trials of one problem, by its key's start");
  command->add_flag("--json", args->json, "Print JSON");
}

}  // namespace tilewright
