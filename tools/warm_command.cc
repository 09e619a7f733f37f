// tilewright warm and tilewright coverage: build every kernel that calls need, or say what is
// missing.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <iomanip>
#include <iostream>
#include <mutex>
#include <nlohmann/json.hpp>
#include <thread>

#include "manifest/status.h"
#include "manifest/text.h"
#include "manifest/threads.h"
#include "runtime/kernel_store.h"
#include "tools/cli.h"
#include "tools/escaped_output.h"
#include "tools/json_text.h"
#include "tools/message.h"
#include "tools/planning.h"
#include "tools/selection.h"

namespace tilewright {
namespace {

using Json = nlohmann::ordered_json;
using Clock = std::chrono::steady_clock;

struct WarmArgs {
  DeviceSelection device;
  CallSelection calls;
  PlanOptions plan;
  int jobs = 0;
  bool json = false;
};

struct WarmTotals {
  int compiled = 0;
  int cached = 0;
  std::vector<std::string> failures;
  absl::Status stopped;  // why nothing can be compiled at all
};

// Builds kernels on several threads and reports each as it lands. Each is stored at once, so an
// interrupted run keeps what it has built.
class Builder {
 public:
  Builder(const std::vector<NeededKernel>& kernels, const std::string& arch, KernelStore& store,
          bool quiet)
      : kernels_(kernels), arch_(arch), store_(store), quiet_(quiet) {}

  WarmTotals Run(int jobs) {
    RunOnThreads(jobs, [this] { Work(); });
    if (!quiet_ && IsTerminal() && landed_ > 0) std::cout << "\n";
    return std::move(totals_);
  }

 private:
  void Work() {
    for (size_t i = next_++; i < kernels_.size(); i = next_++) {
      const NeededKernel& kernel = kernels_[i];
      Land(kernel, store_.GetOrBuild(kernel.spec, kernel.op, arch_));
    }
  }

  void Land(const NeededKernel& kernel, const absl::StatusOr<KernelStore::Result>& built) {
    const std::lock_guard lock(mutex_);
    ++landed_;
    if (absl::IsFailedPrecondition(built.status())) {
      next_ = kernels_.size();  // no compiler: every other kernel would fail alike
      if (totals_.stopped.ok()) {
        totals_.stopped = built.status();
        totals_.failures.push_back(MessageOf(built.status()));
      }
    } else if (!built.ok()) {
      totals_.failures.push_back(
          Cat(kernel.origin, " (", kernel.key.instantiation, "): ", MessageOf(built.status())));
      Line(kernel, "FAILED");
    } else if (built->compiled) {
      ++totals_.compiled;
      Line(kernel, Cat("compiled in ", static_cast<int>(built->row.compile_ms), " ms"));
    } else {
      ++totals_.cached;
      if (IsTerminal()) Line(kernel, "cached");
    }
  }

  // On a terminal one line that is rewritten, elsewhere a line a kernel that was built.
  void Line(const NeededKernel& kernel, const std::string& what) {
    if (quiet_) return;
    const std::string text = Cat("[", landed_, "/", kernels_.size(), "] ", NeedName(kernel.need),
                                 " ", kernel.key.instantiation, ": ", what);
    if (IsTerminal()) {
      ClearLine();
      std::cout << text.substr(0, 110) << std::flush;
    } else {
      std::cout << text << std::endl;
    }
  }

  const std::vector<NeededKernel>& kernels_;
  const std::string arch_;
  KernelStore& store_;
  const bool quiet_;
  std::atomic<size_t> next_{0};
  std::mutex mutex_;
  size_t landed_ = 0;  // guarded by mutex_
  WarmTotals totals_;  // guarded by mutex_
};

// What both commands start with.
struct Planned {
  std::vector<DeviceProfile> devices;  // of one architecture
  std::unique_ptr<Runtime> runtime;
  std::vector<NeededKernel> kernels;
  const std::string& arch() const { return devices.front().arch; }
};

absl::StatusOr<Planned> Plan(const RuntimeOptions& options, const WarmArgs& args,
                             CacheAccess access) {
  Planned planned;
  TW_ASSIGN_OR_RETURN(planned.devices, args.device.Profiles());
  TW_ASSIGN_OR_RETURN(const std::vector<NamedCall> calls, args.calls.Calls());
  if (options.cache_path.empty() && access == CacheAccess::kExisting) {
    TW_ASSIGN_OR_RETURN(planned.runtime, Runtime::Open(options));
  } else {
    TW_ASSIGN_OR_RETURN(planned.runtime, OpenRuntime(options, access));
  }
  // What is damaged is healed, or told, though nothing here reads it; where another process heals
  // it, its rows are there once that is done.
  (void)planned.runtime->cache().Check();
  if (access == CacheAccess::kFilled) (void)PersistPatiently(planned.runtime->cache());
  TW_ASSIGN_OR_RETURN(planned.kernels,
                      PlanKernels(calls, planned.devices, *planned.runtime, args.plan));
  return planned;
}

void PrintWarm(const WarmTotals& totals, const Planned& planned, double seconds, bool json) {
  if (json) {
    PrintJson(Json{{"arch", planned.arch()},
                   {"kernels", planned.kernels.size()},
                   {"compiled", totals.compiled},
                   {"cached", totals.cached},
                   {"failures", totals.failures},
                   {"seconds", seconds}});
    return;
  }
  for (const std::string& failure : totals.failures) std::cerr << failure << "\n";
  std::cout << planned.kernels.size() << " kernels for " << planned.arch() << ": "
            << totals.compiled << " compiled, " << totals.cached << " were cached, "
            << totals.failures.size() << " failed, in " << std::fixed << std::setprecision(1)
            << seconds << " s\n";
}

// OK unless kernels would have to be built that the cache cannot take.
absl::Status CheckRoom(const Planned& planned) {
  Cache& cache = planned.runtime->cache();
  const CacheStats stats = cache.Stats();
  if (stats.mode != "read-only") return absl::OkStatus();
  const auto missing = std::count_if(
      planned.kernels.begin(), planned.kernels.end(),
      [&](const NeededKernel& kernel) { return !cache.FindKernel(kernel.key.digest).has_value(); });
  if (missing == 0) return absl::OkStatus();
  return FailedPrecondition("the cache ", stats.path, " lacks ", missing,
                            " kernels and cannot be written (mode: ", stats.mode, ")");
}

int RunWarm(const CliContext& context, const WarmArgs& args) {
  const Clock::time_point start = Clock::now();
  const absl::StatusOr<Planned> planned = Plan(context.Compiling(), args, CacheAccess::kFilled);
  if (!planned.ok()) return Fail(planned.status());
  if (const absl::Status room = CheckRoom(*planned); !room.ok()) return Fail(room);
  const int jobs = args.jobs > 0
                       ? args.jobs
                       : std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  Builder builder(planned->kernels, planned->arch(), planned->runtime->kernels(), args.json);
  WarmTotals totals = builder.Run(jobs);
  if (const absl::Status kept = PersistPatiently(planned->runtime->cache()); !kept.ok()) {
    totals.failures.push_back(MessageOf(kept));
  }
  const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
  if (!totals.stopped.ok() && !args.json) return Fail(totals.stopped);
  PrintWarm(totals, *planned, seconds, args.json);
  return totals.failures.empty() ? kDone : kFindings;
}

int RunCoverage(const CliContext& context, const WarmArgs& args) {
  RuntimeOptions options = context.runtime;
  std::error_code error;
  if (!std::filesystem::exists(options.cache_path, error) && !error) {
    // Every kernel is missing, and is listed from a plan without a file.
    if (!options.cache_path.empty())
      std::cerr << "tilewright: no cache at " << options.cache_path << "\n";
    options.cache_path.clear();
  }
  const absl::StatusOr<Planned> planned = Plan(options, args, CacheAccess::kExisting);
  if (!planned.ok()) return Fail(planned.status());
  Json list = Json::array();
  size_t missing = 0;
  for (const NeededKernel& kernel : planned->kernels) {
    const bool cached = planned->runtime->cache().FindKernel(kernel.key.digest).has_value();
    missing += cached ? 0 : 1;
    list.push_back({{"key", kernel.key.digest},
                    {"op", kernel.op},
                    {"need", NeedName(kernel.need)},
                    {"instantiation", kernel.key.instantiation},
                    {"origin", kernel.origin},
                    {"calls", kernel.calls},
                    {"cached", cached}});
    if (!args.json) {
      std::cout << (cached ? "cached   " : "MISSING  ") << kernel.key.digest.substr(0, 12) << "  "
                << std::left << std::setw(10) << NeedName(kernel.need) << kernel.origin << "  "
                << kernel.key.instantiation << "\n";
    }
  }
  // A winner that was lost, say, whose calls now need another kernel, which is there.
  const std::vector<std::string> lost = planned->runtime->cache().Stats().lost;
  std::ostream& out = args.json ? std::cerr : std::cout;
  for (const std::string& row : lost) out << "LOST     damaged: " << Escaped(row) << "\n";
  if (args.json) {
    PrintJson(list);
  } else {
    std::cout << planned->kernels.size() << " kernels needed for " << planned->arch() << ", "
              << missing << " missing\n";
  }
  return missing == 0 && lost.empty() ? kDone : kFindings;
}

}  // namespace

void AddWarmCommand(CLI::App& app, CliContext& context) {
  auto args = std::make_shared<WarmArgs>();
  CLI::App* command = AddCommand(
      app, context, "warm", "Compile, into the cache, every kernel that calls need (no GPU needed)",
      [&context, args] { return RunWarm(context, *args); });
  args->device.AddOptions(*command, "one of --arch and --device is required");
  args->calls.AddOptions(*command);
  command->add_flag("--candidates", args->plan.candidates,
                    "Also the candidates that tuning would try");
  command->add_option("--jobs", args->jobs, "Compile threads (default: all cores)")
      ->check(IntegerBetween(1, 1024));
  command->add_flag("--json", args->json, "Print JSON");
}

void AddCoverageCommand(CLI::App& app, CliContext& context) {
  auto args = std::make_shared<WarmArgs>();
  CLI::App* command =
      AddCommand(app, context, "coverage",
                 "List every kernel that calls need; exit 1 if the cache lacks any, or lost "
                 "rows to damage",
                 [&context, args] { return RunCoverage(context, *args); });
  args->device.AddOptions(*command, "one of --arch and --device is required");
  args->calls.AddOptions(*command);
  command->add_flag("--json", args->json, "Print JSON");
}

}  // namespace tilewright
