// tilewright bench: every workload on a GPU, ours and peers in the same run, as CSV.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <ctime>
#include <iomanip>
#include <iostream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "manifest/status.h"
#include "tools/bench_run.h"
#include "tools/cli.h"
#include "tools/interrupt.h"
#include "tools/json_text.h"
#include "tools/message.h"
#include "tools/selection.h"

namespace tilewright {
namespace {

using Json = nlohmann::ordered_json;

struct BenchArgs {
  CallSelection selection;
  BenchOptions options;
  int device = 0;
  std::string filter;
  std::string output;
  std::string against;
  std::string bars;
  std::string torch;
  std::string python = "python3";
  std::string commit;
  bool no_cublaslt = false;
  bool json = false;
};

// "580.159.04, CUDA 13.0"; the driver's own version is left out where the system does not tell it.
std::string DriverName(Driver& driver) {
  std::string name;
  std::ifstream file("/proc/driver/nvidia/version");
  for (std::string word; name.empty() && file >> word;) {
    const bool version = word.find_first_not_of("0123456789.") == std::string::npos &&
                         std::count(word.begin(), word.end(), '.') > 0;
    if (version) name = word + ", ";
  }
  const int cuda = driver.DriverVersion().value_or(0);
  return Cat(name, "CUDA ", cuda / 1000, ".", cuda % 1000 / 10);
}

std::string Today() {
  const std::time_t now = std::time(nullptr);
  std::tm utc;
  gmtime_r(&now, &utc);
  std::ostringstream text;
  text << std::put_time(&utc, "%Y-%m-%d");
  return text.str();
}

// What was measured on and when, in every row: a file then stands by itself.
void AddOrigin(GpuSession& gpu, const std::string& commit, std::vector<BenchRow>& rows) {
  const std::string driver = DriverName(gpu.driver());
  const std::string date = Today();
  for (BenchRow& row : rows) {
    row.device = gpu.profile().name;
    row.driver = driver;
    row.date = date;
    row.commit = commit;
  }
}

// "shapes.jsonl:3 128x7168 2112x7168 bfloat16".
std::string ShapeCaseName(const NamedCall& named) {
  std::string name = named.origin.substr(named.origin.rfind('/') + 1);
  for (int i = 0; i < named.call.op->input_count(); ++i) {
    const Dims& shape = named.call.input(i).desc.shape;
    for (int axis = 0; axis < shape.rank(); ++axis) {
      name += Cat(axis == 0 ? " " : "x", shape[axis]);
    }
  }
  return Cat(name, " ", DTypeName(named.call.input(0).desc.dtype));
}

absl::StatusOr<std::vector<BenchCase>> ChosenCases(const BenchArgs& args) {
  std::vector<BenchCase> chosen;
  if (!args.selection.shapes.empty()) {
    TW_ASSIGN_OR_RETURN(const std::vector<NamedCall> calls, args.selection.Calls());
    for (const NamedCall& named : calls) chosen.push_back({ShapeCaseName(named), named.call});
    return chosen;
  }
  TW_ASSIGN_OR_RETURN(const std::vector<const OpSpec*> ops, args.selection.Ops());
  for (const OpSpec* op : ops) {
    TW_ASSIGN_OR_RETURN(std::vector<BenchCase> cases, BenchCases(*op));
    for (BenchCase& bench_case : cases) {
      if (bench_case.name.find(args.filter) != std::string::npos) {
        chosen.push_back(std::move(bench_case));
      }
    }
  }
  if (chosen.empty())
    return InvalidArgument("--case: no workload's name holds '", args.filter, "'");
  return chosen;
}

absl::StatusOr<BenchMeasured> Bench(const CliContext& context, const BenchArgs& args) {
  TW_ASSIGN_OR_RETURN(const std::vector<BenchCase> cases, ChosenCases(args));
  std::vector<BenchRow> before;
  if (!args.against.empty()) {
    TW_ASSIGN_OR_RETURN(before, ReadBenchCsv(args.against));
  }
  TW_ASSIGN_OR_RETURN(const std::unique_ptr<GpuSession> gpu,
                      GpuSession::Open(context.runtime, args.device, args.options.clean_l2));
  const std::atomic<bool>& interrupted = NoticeInterrupts();
  BenchMeasured result = MeasureCases(
      cases, interrupted, [&](const BenchCase& bench_case) -> absl::StatusOr<BenchRow> {
        TW_ASSIGN_OR_RETURN(BenchRow row, MeasureCase(*gpu, bench_case, args.options));
        if (!args.json) {
          std::cerr << row.op << " " << row.name << ": " << row.median_us << " us" << std::endl;
        }
        return row;
      });
  if (!args.torch.empty() && !interrupted) {
    const absl::Status status =
        MeasureTorchPeers(args.python, args.torch, args.options, result.cases, result.rows);
    if (!status.ok()) result.findings.push_back(MessageOf(status));
  }
  AddOrigin(*gpu, args.commit, result.rows);
  if (!args.bars.empty()) TW_RETURN_IF_ERROR(AddCatalogBars(args.bars, result.rows));
  for (std::string& line : ModelFailures(result.rows)) result.findings.push_back(std::move(line));
  for (std::string& line : Regressions(before, result.rows)) {
    result.findings.push_back(std::move(line));
  }
  return result;
}

Json ResultJson(const BenchMeasured& result) {
  Json rows = Json::array();
  for (const BenchRow& row : result.rows) {
    rows.push_back(
        {{"op", row.op},         {"case", row.name},           {"dtype", row.dtype},
         {"config", row.config}, {"quality", row.quality},     {"method", row.method},
         {"inputs", row.inputs}, {"median_us", row.median_us}, {"p10_us", row.p10_us},
         {"p90_us", row.p90_us}, {"sol_us", row.sol_us},       {"efficiency", row.efficiency},
         {"peer", row.peer},     {"peer_us", row.peer_us},     {"ratio", row.ratio},
         {"bar_us", row.bar_us}, {"device", row.device},       {"driver", row.driver},
         {"date", row.date},     {"commit", row.commit}});
  }
  return {{"rows", rows}, {"findings", result.findings}};
}

absl::Status WriteCsv(const std::vector<BenchRow>& rows, const std::string& path) {
  std::ostringstream text;
  text << BenchCsvHeader() << "\n";
  for (const BenchRow& row : rows) text << BenchCsvLine(row) << "\n";
  if (!path.empty()) return WriteOutputFile(path, text.str());
  std::cout << text.str() << std::flush;
  return std::cout ? absl::OkStatus() : FailedPrecondition("cannot write to standard output");
}

int RunBench(const CliContext& context, BenchArgs& args) {
  if (absl::Status status = CheckOutputFile(args.output); !status.ok()) return Fail(status);
  args.options.cublaslt = !args.no_cublaslt;
  const absl::StatusOr<BenchMeasured> result = Bench(context, args);
  if (!result.ok()) return Fail(result.status());
  if (!args.json || !args.output.empty()) {
    if (absl::Status status = WriteCsv(result->rows, args.output); !status.ok()) {
      return Fail(status);
    }
  }
  if (args.json) {
    PrintJson(ResultJson(*result));
  } else {
    for (const std::string& line : Summary(result->rows)) std::cerr << line << "\n";
    for (const std::string& finding : result->findings) std::cerr << "finding: " << finding << "\n";
  }
  return result->findings.empty() ? kDone : kFindings;
}

}  // namespace

void AddBenchCommand(CLI::App& app, CliContext& context) {
  auto args = std::make_shared<BenchArgs>();
  CLI::App* command = AddCommand(
      app, context, "bench", "Time every workload on a GPU, with peers in the same run; prints CSV",
      [&context, args] { return RunBench(context, *args); });
  args->selection.AddOptions(*command);
  command->add_option("--case", args->filter, "Only workloads whose name holds this");
  command->add_option("--device", args->device, "Ordinal of the GPU")
      ->check(IntegerBetween(0, 1023));
  command->add_option("--repeats", args->options.repeats, "Samples of each workload")
      ->check(IntegerBetween(3, 100000));
  command->add_option("--output", args->output, "CSV file to write instead of standard output");
  command
      ->add_option("--against", args->against,
                   "An earlier CSV: exit 1 where a workload became slower beyond noise")
      ->check(CLI::ExistingFile);
  command->add_option("--bars", args->bars, "Published figures (bench/catalog_bars.csv)")
      ->check(CLI::ExistingFile);
  command->add_option("--torch", args->torch, "Also time PyTorch by bench/peers/torch_peers.py")
      ->check(CLI::ExistingFile);
  command->add_flag("--clean-l2", args->options.clean_l2,
                    "Flush L2 by reading, not by writing: nothing is left to write back");
  command->add_option("--commit", args->commit, "Written into each row: the source measured");
  command->add_option("--python", args->python, "Interpreter for --torch");
  command
      ->add_option("--cublaslt", args->options.cublaslt_library,
                   "libcublasLt to use, where the usual places have none")
      ->check(CLI::ExistingFile);
  command->add_flag("--no-cublaslt", args->no_cublaslt, "Leave out cuBLASLt");
  command->add_flag("--json", args->json, "Print JSON");
}

}  // namespace tilewright
