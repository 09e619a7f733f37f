#include "runtime/conform/conformance.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <random>
#include <utility>

#include "cache/cache.h"
#include "manifest/nearest_name.h"
#include "manifest/status.h"
#include "runtime/conform/call_identity.h"
#include "runtime/conform/case_runner.h"
#include "runtime/conform/cases.h"
#include "runtime/keys.h"
#include "runtime/winner_index.h"

namespace tilewright {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kDrawsPerCandidate = 64;

// A configuration to run, and through which runtime.
struct Planned {
  std::string choice;
  Config config;
  bool forced = true;  // false: the served runtime chooses it by itself
};

// The device's context, current for the object's life, and a stream in it.
class Session {
 public:
  Session(Driver& driver, int device) : driver_(driver), device_(device) {}
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  ~Session() {
    if (stream_ != nullptr) driver_.DestroyStream(stream_).IgnoreError();
    if (pushed_) driver_.PopContext().IgnoreError();
    if (retained_) driver_.ReleasePrimaryContext(device_).IgnoreError();
  }

  absl::Status Start() {
    TW_RETURN_IF_ERROR(driver_.Init());
    TW_ASSIGN_OR_RETURN(const CudaContext context, driver_.RetainPrimaryContext(device_));
    retained_ = true;
    TW_RETURN_IF_ERROR(driver_.PushContext(context));
    pushed_ = true;
    TW_ASSIGN_OR_RETURN(stream_, driver_.CreateStream());
    return absl::OkStatus();
  }
  CudaStream stream() const { return stream_; }

 private:
  Driver& driver_;
  const int device_;
  bool retained_ = false;
  bool pushed_ = false;
  CudaStream stream_ = nullptr;
};

// Makes `config` the winner of the call's problem, as if tuned with the templates as they are.
absl::Status ForceConfig(Runtime& runtime, const CallDesc& call, const Recipe& recipe,
                         const DeviceProfile& device, const Config& config) {
  const ProblemKey problem = MakeProblemKey(call, recipe, device);
  TW_ASSIGN_OR_RETURN(SpaceIdentity identity,
                      IdentifySpace(runtime.kernels(), recipe, call, device));
  WinnerRow winner;
  winner.key = problem.digest;
  winner.op = problem.op;
  winner.dtypes = problem.dtypes;
  winner.problem_json = problem.problem_json;
  winner.device = problem.device;
  winner.config_json = config.ToJson();
  winner.median_us = 1;
  winner.closure_digest = std::move(identity.closure_digest);
  winner.space_digest = std::move(identity.space_digest);
  return runtime.cache().PutWinner(winner);
}

class Conformance {
 public:
  Conformance(Runtime& served, Driver& driver, const RuntimeFactory& open,
              const ConformOptions& options)
      : served_(served),
        driver_(driver),
        open_(open),
        options_(options),
        seed_(options.seed != 0 ? options.seed : FreshSeed()),
        random_(seed_),
        start_(Clock::now()) {}

  absl::StatusOr<ConformReport> Run() {
    TW_ASSIGN_OR_RETURN(const std::vector<const OpSpec*> ops, ChosenOps());
    Session session(driver_, options_.device);
    TW_RETURN_IF_ERROR(session.Start());
    TW_ASSIGN_OR_RETURN(device_, served_.Device(options_.device));
    profile_ = device_;
    for (const DeviceProfile& known : BuiltinDeviceProfiles()) {
      if (known.Key() == device_.Key()) profile_ = known;
    }
    TW_ASSIGN_OR_RETURN(const int version, driver_.DriverVersion());
    driver_text_ = Cat(version / 1000, ".", version % 1000 / 10);
    for (const OpSpec* op : ops) {
      const absl::StatusOr<std::vector<ConformCase>> cases = ConformCases(*op);
      if (!cases.ok()) {
        AddRow(ErrorRow(*op, "cases", "", cases.status()));
        continue;
      }
      for (const ConformCase& entry : *cases) {
        if (Finished()) return std::move(report_);
        if (Wanted(entry)) RunCase(session.stream(), *op, entry);
      }
    }
    return std::move(report_);
  }

 private:
  absl::StatusOr<std::vector<const OpSpec*>> ChosenOps() const {
    std::vector<const OpSpec*> ops;
    for (const std::string& name : options_.ops) {
      const OpSpec* op = served_.Spec(name);
      if (op == nullptr) {
        return NotFound("conformance: no operator '", name, "'",
                        DidYouMean(name, NamesOf(served_.Ops())));
      }
      ops.push_back(op);
    }
    if (!ops.empty()) return ops;
    for (const OpSpec* op : served_.Ops()) {
      if (served_.FindRecipe(op->name) != nullptr) ops.push_back(op);
    }
    return ops;
  }

  bool Wanted(const ConformCase& entry) const {
    if (entry.is_workload ? !options_.workloads : !options_.edges) return false;
    return entry.name.find(options_.case_filter) != std::string::npos;
  }

  bool Finished() {
    const double spent = std::chrono::duration<double>(Clock::now() - start_).count();
    if (options_.budget_s > 0 && spent > options_.budget_s) report_.out_of_budget = true;
    return report_.out_of_budget || !report_.stopped.empty();
  }

  void AddRow(LedgerRow row) {
    int64_t& count = row.verdict == Verdict::kPass    ? report_.passed
                     : row.verdict == Verdict::kWrong ? report_.wrong
                                                      : report_.errors;
    ++count;
    if (options_.on_row) options_.on_row(row);
    report_.rows.push_back(std::move(row));
  }

  LedgerRow EmptyRow(const OpSpec& op, std::string_view case_name, std::string_view dtype) const {
    LedgerRow row;
    row.op = op.name;
    row.case_name = case_name;
    row.dtype = dtype;
    row.device = device_.Key();
    row.arch = device_.arch;
    row.driver = driver_text_;
    return row;
  }
  LedgerRow ErrorRow(const OpSpec& op, std::string_view case_name, std::string_view dtype,
                     const absl::Status& error) const {
    LedgerRow row = EmptyRow(op, case_name, dtype);
    row.choice = "served";
    row.verdict = Verdict::kError;
    row.detail = error.ToString();
    return row;
  }

  void RunCase(CudaStream stream, const OpSpec& op, const ConformCase& entry) {
    const size_t first_row = report_.rows.size();
    if (const absl::Status status = RunConfigs(stream, op, entry); !status.ok()) {
      AddRow(ErrorRow(op, entry.name, DTypeName(entry.dtype), status));
      NoticeLostDevice();
    }
    if (!options_.progress) return;
    double error = 0;
    int64_t failed = 0;
    for (size_t i = first_row; i < report_.rows.size(); ++i) {
      error = std::max(error, report_.rows[i].error);
      failed += report_.rows[i].verdict == Verdict::kPass ? 0 : 1;
    }
    options_.progress(Cat(op.name, " ", entry.name, " ", DTypeName(entry.dtype), ": ",
                          report_.rows.size() - first_row, " configurations, ", failed,
                          " failed, largest error ", error, " of the tolerance"));
  }

  // A Status here concerns the whole case; failures of one configuration are rows.
  absl::Status RunConfigs(CudaStream stream, const OpSpec& op, const ConformCase& entry) {
    const Recipe* recipe = served_.FindRecipe(op.name);
    if (recipe == nullptr) return FailedPrecondition(op.name, ": no recipe");
    ReferenceFunction reference = served_.FindReference(op.name);
    if (!reference) return FailedPrecondition(op.name, ": no reference");
    TW_ASSIGN_OR_RETURN(const bool fits, Fits(entry));
    if (!fits) return absl::OkStatus();
    TW_ASSIGN_OR_RETURN(const std::vector<Planned> plans, PlanConfigs(*recipe, entry));
    TW_ASSIGN_OR_RETURN(CaseRunner runner,
                        CaseRunner::Create(driver_, stream, entry, std::move(reference),
                                           {options_.device, options_.samples, seed_}));
    seed_ += 1000;
    std::vector<DataSet> sets;
    for (const InputMode mode : ModesOf(entry, runner)) {
      TW_ASSIGN_OR_RETURN(DataSet data, runner.Draw(mode));
      sets.push_back(std::move(data));
    }
    for (const Planned& plan : plans) {
      if (Finished()) break;
      LedgerRow row = RunConfig(*recipe, entry, plan, sets, runner);
      const bool failed = row.verdict == Verdict::kError;
      AddRow(std::move(row));
      if (failed) NoticeLostDevice();
    }
    return absl::OkStatus();
  }

  // Whether device and host have room for the case's operands; says so where they have not.
  absl::StatusOr<bool> Fits(const ConformCase& entry) const {
    constexpr int64_t kSmall = int64_t{1} << 30;
    constexpr double kHostCopies = 3;  // inputs, what came back, and a spare
    int64_t bytes = 0;
    for (const Operand& operand : entry.call.operands) {
      const auto extent = operand.desc.Extent();
      if (operand.present && extent.has_value()) bytes += extent->end - extent->begin;
    }
    if (bytes < kSmall) return true;
    TW_ASSIGN_OR_RETURN(const MemoryInfo device, driver_.Memory());
    const double host =
        static_cast<double>(sysconf(_SC_AVPHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
    const auto needed = static_cast<double>(bytes);
    if (needed * 1.1 < static_cast<double>(device.free_bytes) && needed * kHostCopies < host) {
      return true;
    }
    if (options_.progress) {
      options_.progress(Cat(entry.call.op->name, " ", entry.name, " ", DTypeName(entry.dtype),
                            ": left out, ", bytes, " bytes of operands do not fit"));
    }
    return false;
  }

  static std::vector<InputMode> ModesOf(const ConformCase& entry, const CaseRunner& runner) {
    if (!runner.has_elements()) return {InputMode::kNormal};
    if (entry.is_workload) return {InputMode::kNormal, InputMode::kSmallIntegers};
    return {InputMode::kNormal, InputMode::kSmallIntegers, InputMode::kSpecial};
  }

  absl::StatusOr<std::vector<Planned>> PlanConfigs(const Recipe& recipe, const ConformCase& entry) {
    const CallDesc& call = entry.call;
    TW_ASSIGN_OR_RETURN(const Variant* usual, SelectVariant(recipe, call, device_));
    TW_ASSIGN_OR_RETURN(const Explanation served, served_.Explain(call, device_));
    std::vector<Planned> plans;
    const auto add = [&](std::string choice, Config config, bool forced) {
      for (const Planned& known : plans) {
        if (known.config == config) return;
      }
      plans.push_back({std::move(choice), std::move(config), forced});
    };
    const Config standard = usual->Default(call, profile_);
    add(served.config == standard ? "default" : "served", served.config, false);
    add("default", standard, true);
    for (const Variant* variant : recipe.variants()) {
      if (variant->Serves(call, device_).ok()) {
        add("candidate", variant->Default(call, device_), true);
      }
    }
    if (!entry.is_workload) return plans;
    for (int i = 0; i < options_.candidates; ++i) {
      if (std::optional<Config> config = RandomLegal(recipe, call); config.has_value()) {
        add("candidate", *std::move(config), true);
      }
    }
    return plans;
  }

  std::optional<Config> RandomLegal(const Recipe& recipe, const CallDesc& call) {
    std::vector<const Variant*> serving;
    for (const Variant* variant : recipe.variants()) {
      if (variant->Serves(call, device_).ok()) serving.push_back(variant);
    }
    if (serving.empty()) return std::nullopt;
    for (int draw = 0; draw < kDrawsPerCandidate; ++draw) {
      const Variant& variant = *serving[random_() % serving.size()];
      const TuningSpace space = variant.Space(call, device_);
      if (space.size() <= 0) continue;
      Config config =
          space.At(static_cast<int64_t>(random_() % static_cast<uint64_t>(space.size())));
      if (variant.Legal(call, config, device_).ok()) return config;
    }
    return std::nullopt;
  }

  LedgerRow RunConfig(const Recipe& recipe, const ConformCase& entry, const Planned& plan,
                      const std::vector<DataSet>& sets, CaseRunner& runner) {
    LedgerRow row = EmptyRow(*entry.call.op, entry.name, DTypeName(entry.dtype));
    row.choice = plan.choice;
    row.config = plan.config.ToJson();
    const Tolerance tolerance = ToleranceOf(*entry.call.op, entry.call.output(0).desc.dtype);
    row.tolerance = Cat(tolerance.absolute, "+", tolerance.relative, "*|x|");
    Agreement agreement;
    const absl::Status status = RunChecks(recipe, entry, plan, sets, runner, row, agreement);
    row.error = agreement.error;
    row.verdict = !status.ok()                ? Verdict::kError
                  : agreement.problem.empty() ? Verdict::kPass
                                              : Verdict::kWrong;
    row.detail = status.ok() ? agreement.problem : status.ToString();
    return row;
  }

  absl::Status RunChecks(const Recipe& recipe, const ConformCase& entry, const Planned& plan,
                         const std::vector<DataSet>& sets, CaseRunner& runner, LedgerRow& row,
                         Agreement& agreement) {
    std::unique_ptr<Runtime> own;
    if (plan.forced) {
      TW_ASSIGN_OR_RETURN(own, open_());
      TW_RETURN_IF_ERROR(ForceConfig(*own, entry.call, recipe, device_, plan.config));
      TW_RETURN_IF_ERROR(LendKernels(entry.call, *own));
    }
    Runtime& runtime = plan.forced ? *own : served_;
    for (const DataSet& data : sets) {
      const bool own_workspace = data.mode == InputMode::kSmallIntegers;
      row.checks += row.checks.empty() ? "" : ",";
      row.checks += InputModeName(data.mode);
      TW_RETURN_IF_ERROR(runner.CheckCall(runtime, data, own_workspace, agreement));
    }
    const bool graph = options_.graphs && plan.choice != "candidate" && runner.has_elements();
    if (graph) {
      row.checks += ",graph";
      TW_RETURN_IF_ERROR(runner.CheckGraph(runtime, agreement));
    }
    return Identify(recipe, entry.call, plan.config, runtime, row);
  }

  // Kernels that an earlier runtime of this run built need no second compile.
  absl::Status LendKernels(const CallDesc& call, Runtime& runtime) const {
    TW_ASSIGN_OR_RETURN(const Explanation explained, runtime.Explain(call, device_));
    for (const Explanation::Kernel& kernel : explained.kernels) {
      const auto known = built_.find(kernel.key);
      if (known != built_.end()) TW_RETURN_IF_ERROR(runtime.cache().PutKernel(known->second));
    }
    return absl::OkStatus();
  }

  // Fills in what ran: kernels and digests. An error where the runtime ran something else.
  absl::Status Identify(const Recipe& recipe, const CallDesc& call, const Config& config,
                        Runtime& runtime, LedgerRow& row) {
    TW_ASSIGN_OR_RETURN(const Explanation explained, runtime.Explain(call, device_));
    if (!(explained.config == config)) {
      return Internal("ran ", explained.config.ToJson(), " in place of ", config.ToJson());
    }
    const Variant* variant = FindVariant(recipe, config.variant);
    if (variant == nullptr) return Internal("no variant '", config.variant, "'");
    const auto no_digest = [](std::string_view) -> absl::StatusOr<std::string> { return ""; };
    TW_ASSIGN_OR_RETURN(const CallIdentity identity,
                        IdentifyCall(call, *variant, config, profile_, no_digest));
    row.launch_digest = identity.launch_digest;
    row.kernels = identity.instantiations;
    if (identity.kernels.empty()) return absl::OkStatus();
    for (const Explanation::Kernel& kernel : explained.kernels) {
      const std::optional<KernelRow> built = runtime.cache().FindKernel(kernel.key);
      if (!built.has_value()) {
        return Internal("kernel ", kernel.instantiation, " was not built; another one ran");
      }
      const char* separator = row.cubin_digest.empty() ? "" : ",";
      row.closure_digest += separator + built->closure_digest;
      row.cubin_digest += separator + built->cubin_digest;
      row.compiler = built->compiler;
      built_.emplace(kernel.key, *built);
    }
    return absl::OkStatus();
  }

  void NoticeLostDevice() {
    const absl::Status status = driver_.SynchronizeContext();
    if (!status.ok()) report_.stopped = Cat("the device is lost: ", status.message());
  }

  Runtime& served_;
  Driver& driver_;
  const RuntimeFactory& open_;
  const ConformOptions& options_;
  uint64_t seed_;
  std::mt19937_64 random_;
  const Clock::time_point start_;
  DeviceProfile device_;  // as the runtime sees it, calibrated
  DeviceProfile
      profile_;  // the built-in profile of the same device, by which the ledger is checked
  std::string driver_text_;
  std::map<std::string, KernelRow> built_;  // by key
  ConformReport report_;
};

}  // namespace

absl::StatusOr<ConformReport> RunConformance(Runtime& served, Driver& driver,
                                             const RuntimeFactory& open,
                                             const ConformOptions& options) {
  return Conformance(served, driver, open, options).Run();
}

}  // namespace tilewright
