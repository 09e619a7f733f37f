// tilewright tune: measures candidates of each problem on a GPU and keeps the winners.
#include <CLI/CLI.hpp>
#include <charconv>
#include <cmath>
#include <iomanip>
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "manifest/status.h"
#include "runtime/compiler.h"
#include "runtime/kernel_store.h"
#include "runtime/keys.h"
#include "runtime/tuning.h"
#include "tools/cli.h"
#include "tools/escaped_output.h"
#include "tools/interrupt.h"
#include "tools/json_text.h"
#include "tools/message.h"
#include "tools/selection.h"

namespace tilewright {
namespace {

using Json = nlohmann::ordered_json;

struct TuneArgs {
  CallSelection calls;
  int device = 0;
  std::optional<std::string> shard;
  int jobs = 0;
  bool afresh = false;
  bool json = false;
};

struct Shard {
  int index = 0;
  int count = 1;
};

// "2/8": shard 2 of 8, counted from 0 as array jobs are.
absl::StatusOr<Shard> ParseShard(const std::optional<std::string>& given) {
  Shard shard;
  if (!given.has_value()) return shard;
  const std::string& text = *given;
  const size_t slash = text.find('/');
  const char* end = text.data() + text.size();
  bool good = slash != std::string::npos;
  if (good) {
    const auto index = std::from_chars(text.data(), text.data() + slash, shard.index);
    const auto count = std::from_chars(text.data() + slash + 1, end, shard.count);
    good = index.ec == std::errc() && index.ptr == text.data() + slash && count.ec == std::errc() &&
           count.ptr == end && shard.index >= 0 && shard.index < shard.count;
  }
  if (!good) return InvalidArgument("--shard: expected i/n with 0 <= i < n, got '", text, "'");
  return shard;
}

// The calls of this shard, one a problem: those that share a winner are tuned once. Every shard
// sees the same order, so that shards split the problems between them.
absl::StatusOr<std::vector<NamedCall>> ShardOf(const std::vector<NamedCall>& calls,
                                               const Shard& shard, const Runtime& runtime,
                                               const DeviceProfile& device) {
  std::vector<NamedCall> chosen;
  std::set<std::string> problems;
  for (const NamedCall& named : calls) {
    const Recipe* recipe = runtime.FindRecipe(named.call.op->name);
    if (recipe == nullptr) return FailedPrecondition(named.call.op->name, " has no recipe");
    const ProblemKey key = MakeProblemKey(named.call, *recipe, device);
    if (!problems.insert(key.digest).second) continue;
    if ((static_cast<int>(problems.size()) - 1) % shard.count == shard.index) {
      chosen.push_back(named);
    }
  }
  return chosen;
}

// Tunes one problem after another and reports each.
class TuneRun {
 public:
  TuneRun(Runtime& runtime, const DeviceProfile& device, const TuneArgs& args, std::string worker,
          const std::atomic<bool>& interrupted)
      : runtime_(runtime),
        device_(device),
        args_(args),
        worker_(std::move(worker)),
        interrupted_(interrupted) {}

  int Run(const std::vector<NamedCall>& calls) {
    for (size_t i = 0; i < calls.size() && !interrupted_; ++i) {
      const std::string label = Cat("[", i + 1, "/", calls.size(), "] ", calls[i].origin);
      const absl::StatusOr<TuningReport> report = Tune(calls[i], label);
      Report(calls[i], label, report);
      if (LacksCompiler(report.status())) break;  // every other problem would fail alike
    }
    if (interrupted_) std::cerr << "interrupted; what was measured is kept\n";
    if (args_.json) PrintJson(results_);
    return CodeOfStored(runtime_.cache(), failed_ || interrupted_ ? kFindings : kDone);
  }

 private:
  absl::StatusOr<TuningReport> Tune(const NamedCall& named, const std::string& label) {
    TuningOptions options;
    options.afresh = args_.afresh;
    options.evaluator.worker.program = worker_;
    options.evaluator.worker.cancelled = &interrupted_;
    options.evaluator.device = args_.device;
    options.evaluator.jobs = args_.jobs;
    options.search.cancelled = &interrupted_;
    options.notice = [&](std::string_view text) { std::cerr << label << ": " << text << "\n"; };
    options.search.progress = [&](std::string_view step) { Progress(Cat(label, ": ", step)); };
    return TuneProblem(named.call, *runtime_.FindRecipe(named.call.op->name), device_,
                       runtime_.kernels(), runtime_.cache(), std::move(options));
  }

  bool LacksCompiler(const absl::Status& status) const {
    return absl::IsFailedPrecondition(status) && !runtime_.kernels().compiler().Version().ok();
  }

  // On a terminal one line that is rewritten; elsewhere only results are printed.
  void Progress(const std::string& text) const {
    if (!args_.json && IsTerminal()) {
      ClearLine();
      std::cout << text.substr(0, 110) << std::flush;
    }
  }

  void Report(const NamedCall& named, const std::string& label,
              const absl::StatusOr<TuningReport>& report) {
    if (!report.ok()) {
      failed_ = true;
      results_.push_back({{"call", named.origin}, {"error", MessageOf(report.status())}});
      if (!args_.json) Line(Cat(label, ": FAILED: ", MessageOf(report.status())));
      return;
    }
    failed_ = failed_ || !report->complete;
    const WinnerRow& winner = report->winner;
    results_.push_back({{"call", named.origin},
                        {"problem_key", winner.key},
                        {"config", JsonOfText(winner.config_json)},
                        {"median_us", winner.median_us},
                        {"sol_us", winner.sol_us},
                        {"efficiency", winner.efficiency},
                        {"legal", report->legal},
                        {"measured", report->measured},
                        {"gpu_us", report->gpu_us},
                        {"complete", report->complete},
                        {"cut_short", report->cut_short},
                        {"was_tuned", report->was_tuned},
                        {"method", report->method},
                        {"note", report->note}});
    if (args_.json) return;
    std::string text = Cat(label, ": ", winner.median_us, " us");
    if (winner.efficiency > 0) {
      text += Cat(" (", std::lround(100 * winner.efficiency), "% of speed of light)");
    }
    text += Cat(", ", winner.config_json);
    text += report->was_tuned ? ", was tuned before"
                              : Cat(", ", report->measured, " measured of ", report->legal, " in ",
                                    std::lround(report->gpu_us / 1e3), " ms of the GPU");
    if (!report->note.empty()) text += Cat(", timed by ", report->method, ": ", report->note);
    if (!report->complete) text += ", cut short: no winner is kept";
    if (!report->cut_short.empty()) text += Cat(": ", report->cut_short);
    Line(text);
  }

  static void Line(const std::string& text) {
    if (IsTerminal()) ClearLine();
    std::cout << text << std::endl;
  }

  Runtime& runtime_;
  const DeviceProfile& device_;
  const TuneArgs& args_;
  const std::string worker_;
  const std::atomic<bool>& interrupted_;
  bool failed_ = false;
  Json results_ = Json::array();
};

absl::StatusOr<int> Tune(const CliContext& context, const TuneArgs& args) {
  TW_ASSIGN_OR_RETURN(const Shard shard, ParseShard(args.shard));
  TW_ASSIGN_OR_RETURN(const std::vector<NamedCall> calls, args.calls.Calls());
  TW_ASSIGN_OR_RETURN(const std::unique_ptr<Runtime> runtime,
                      OpenRuntime(context.Compiling(), CacheAccess::kWritable));
  TW_ASSIGN_OR_RETURN(const DeviceProfile device, runtime->Device(args.device));
  TW_ASSIGN_OR_RETURN(std::string worker, FindWorker(context.runtime.worker_path));
  TW_ASSIGN_OR_RETURN(const std::vector<NamedCall> chosen, ShardOf(calls, shard, *runtime, device));
  return TuneRun(*runtime, device, args, std::move(worker), NoticeInterrupts()).Run(chosen);
}

int RunTune(const CliContext& context, const TuneArgs& args) {
  const absl::StatusOr<int> code = Tune(context, args);
  return code.ok() ? *code : Fail(code.status());
}

}  // namespace

void AddTuneCommand(CLI::App& app, CliContext& context) {
  auto args = std::make_shared<TuneArgs>();
  CLI::App* command =
      AddCommand(app, context, "tune",
                 "Measure candidates of each problem on a GPU and keep the winners in the cache",
                 [&context, args] { return RunTune(context, *args); });
  args->calls.AddOptions(*command);
  command->add_option("--device", args->device, "Ordinal of the GPU")
      ->check(IntegerBetween(0, 1023));
  command->add_option("--shard", args->shard, "i/n: the i-th of n parts, counted from 0");
  command->add_option("--jobs", args->jobs, "Compile threads (default: all cores)")
      ->check(IntegerBetween(1, 1024));
  command->add_flag("--afresh", args->afresh, "Measure again what the cache knows");
  command->add_flag("--json", args->json, "Print JSON");
}

}  // namespace tilewright
