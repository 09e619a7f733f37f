#include "runtime/tuning.h"

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <map>
#include <set>
#include <utility>

#include "manifest/digest.h"
#include "manifest/op_spec.h"
#include "manifest/status.h"
#include "runtime/keys.h"
#include "runtime/planner.h"
#include "runtime/winner_index.h"

namespace tilewright {
namespace {

namespace fs = std::filesystem;

int64_t NowUnix() {
  return std::chrono::duration_cast<std::chrono::seconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

TrialStatus ToTrialStatus(CandidateStatus status) {
  switch (status) {
    case CandidateStatus::kOk:
      return TrialStatus::kOk;
    case CandidateStatus::kWrong:
      return TrialStatus::kWrong;
    case CandidateStatus::kFailed:
      return TrialStatus::kFailed;
    case CandidateStatus::kPruned:
      return TrialStatus::kPruned;
    case CandidateStatus::kTimeout:
      return TrialStatus::kTimeout;
  }
  return TrialStatus::kFailed;
}

CandidateStatus ToCandidateStatus(TrialStatus status) {
  switch (status) {
    case TrialStatus::kOk:
      return CandidateStatus::kOk;
    case TrialStatus::kWrong:
      return CandidateStatus::kWrong;
    case TrialStatus::kFailed:
      return CandidateStatus::kFailed;
    case TrialStatus::kPruned:
      return CandidateStatus::kPruned;
    case TrialStatus::kTimeout:
      return CandidateStatus::kTimeout;
  }
  return CandidateStatus::kFailed;
}

// One tuning of one problem.
class Tuning {
 public:
  Tuning(const CallDesc& call, const Recipe& recipe, const DeviceProfile& device,
         KernelStore& kernels, Cache& cache, TuningOptions options)
      : call_(call),
        recipe_(recipe),
        device_(device),
        kernels_(kernels),
        cache_(cache),
        options_(std::move(options)),
        problem_(MakeProblemKey(call, recipe, device)) {}

  absl::StatusOr<TuningReport> Run() {
    candidates_ = TuningCandidates(recipe_, call_, device_);
    if (candidates_.empty()) {
      TW_RETURN_IF_ERROR(SelectVariant(recipe_, call_, device_).status());
      return Internal(call_.ToString(), ": no legal candidate");
    }
    AddDefault();
    TW_ASSIGN_OR_RETURN(identity_, IdentifySpace(kernels_, recipe_, call_, device_));
    if (const auto sol = SpeedOfLightUs(call_, device_); sol.ok()) sol_us_ = *sol;
    std::optional<WinnerRow> before = Before();
    if (!options_.afresh && before.has_value() && IsCurrent(*before)) return AlreadyTuned(*before);
    // Processes that share the cache run one winner: that of the first to search.
    const std::unique_ptr<CompileLock> turn = TakeTurn();
    if (turn == nullptr && options_.must_have_turn && !Cancelled() && waited_in_vain_) {
      return absl::DeadlineExceededError("another process tunes it");
    }
    std::unique_lock<std::mutex> measuring;
    if (options_.measuring != nullptr) {
      measuring = std::unique_lock<std::mutex>(*options_.measuring);
    }
    before = Before();
    if (!options_.afresh && before.has_value() && IsCurrent(*before)) return AlreadyTuned(*before);
    if (before.has_value()) AddHint(*before);
    return Search();
  }

 private:
  // The winner of these templates and this space, else the latest of others.
  std::optional<WinnerRow> Before() {
    auto same =
        cache_.FindWinner(problem_.digest, identity_.closure_digest, identity_.space_digest);
    return same.has_value() ? same : cache_.FindWinner(problem_.digest);
  }

  bool IsCurrent(const WinnerRow& row) const {
    const absl::StatusOr<Config> config = Config::FromJson(row.config_json);
    return row.closure_digest == identity_.closure_digest &&
           row.space_digest == identity_.space_digest && config.ok() && IsTrusted(*config);
  }

  bool IsTrusted(const Config& config) const {
    return TrustedVariant(recipe_, call_, config, device_) != nullptr;
  }

  // What the traffic alone takes. A calibrated rate of products is what one kernel reached on a
  // card as warm as it was then: others are faster, so that reaching it ends no search.
  double FloorUs() const {
    const absl::StatusOr<Work> work = EvaluateRoofline(call_);
    if (!work.ok() || device_.bandwidth_gbps <= 0) return 0;
    return work->bytes / (device_.bandwidth_gbps * 1e3);
  }

  bool Cancelled() const {
    return options_.search.cancelled != nullptr && options_.search.cancelled->load();
  }

  // Waits until nobody else tunes this problem in this cache, for a bounded time. Null where the
  // search goes on without the lock.
  std::unique_ptr<CompileLock> TakeTurn() {
    constexpr std::chrono::milliseconds kStep(100);
    constexpr std::chrono::seconds kSilence(2);
    const auto start = std::chrono::steady_clock::now();
    const auto deadline = start + options_.turn_timeout;
    for (bool is_told = false; !Cancelled();) {
      auto lock = cache_.LockCompile(Cat("tune ", problem_.digest), kStep);
      if (lock.ok()) return *std::move(lock);
      if (!absl::IsDeadlineExceeded(lock.status())) break;
      const auto now = std::chrono::steady_clock::now();
      waited_in_vain_ = now >= deadline;
      if (waited_in_vain_) break;
      if (!is_told && now - start >= kSilence && options_.notice) {
        options_.notice("waits for another process that tunes it into the same cache");
        is_told = true;
      }
    }
    return nullptr;
  }

  // The templates of one config. Trials of configs whose templates are untouched stay valid.
  absl::StatusOr<std::string> ClosureOf(const Config& config) {
    std::set<std::string> files;
    const Variant* variant = FindVariant(recipe_, config.variant);
    if (variant == nullptr) return NotFound("no variant is named '", config.variant, "'");
    for (const KernelSpec& spec : variant->Kernels(call_, config)) {
      files.insert(spec.template_file);
    }
    std::string key;
    for (const std::string& file : files) key += file + "\n";
    if (const auto it = closures_.find(key); it != closures_.end()) return it->second;
    Digest digest;
    for (const std::string& file : files) {
      TW_ASSIGN_OR_RETURN(const std::string closure, kernels_.ClosureDigest(file));
      digest.Add(closure);
    }
    return closures_[key] = digest.Hex();
  }

  // What is served untuned, which need not be a point of the space.
  void AddDefault() {
    const auto variant = SelectVariant(recipe_, call_, device_);
    if (!variant.ok()) return;
    const Config config = (*variant)->Default(call_, device_);
    options_.search.incumbent = config;
    for (const Candidate& candidate : candidates_) {
      if (candidate.config == config) return;
    }
    candidates_.push_back({config, (*variant)->PredictUs(call_, config, device_)});
  }

  // A winner of other templates, or of another space, is a hint.
  void AddHint(const WinnerRow& row) {
    if (auto config = Config::FromJson(row.config_json); config.ok()) {
      options_.search.first.push_back(*std::move(config));
    }
  }

  std::vector<Trial> KnownTrials() {
    std::vector<Trial> known;
    if (options_.afresh) return known;
    for (const TrialRow& row : cache_.Trials(problem_.digest)) {
      auto config = Config::FromJson(row.config_json);
      if (!config.ok() || !IsTrusted(*config)) continue;
      const auto closure = ClosureOf(*config);
      if (!closure.ok() || *closure != row.closure_digest) continue;
      Trial trial;
      trial.config = *std::move(config);
      trial.status = ToCandidateStatus(row.status);
      trial.error = row.error;
      trial.sample_count = row.samples;
      trial.median_us = row.median_us;
      trial.p10_us = row.p10_us;
      trial.p90_us = row.p90_us;
      trial.registers = row.registers;
      trial.spill_bytes = row.spill_bytes;
      known.push_back(std::move(trial));
    }
    return known;
  }

  TuningReport AlreadyTuned(const WinnerRow& row) {
    TuningReport report;
    report.winner = row;
    report.trials = KnownTrials();
    report.legal = static_cast<int64_t>(candidates_.size());
    report.was_tuned = true;
    return report;
  }

  void Persist(const Trial& trial) {
    TrialRow row;
    row.problem_key = problem_.digest;
    row.op = problem_.op;
    row.device = problem_.device;
    row.config_json = trial.config.ToJson();
    row.closure_digest = ClosureOf(trial.config).value_or("");
    row.status = ToTrialStatus(trial.status);
    row.samples = trial.sample_count;
    row.median_us = trial.median_us;
    row.p10_us = trial.p10_us;
    row.p90_us = trial.p90_us;
    row.registers = trial.registers;
    row.spill_bytes = trial.spill_bytes;
    row.error = trial.error;
    row.measured_unix = NowUnix();
    new_.insert(row.config_json);
    // A trial that cannot be kept costs a measurement later; the cache reports the loss itself.
    cache_.PutTrials({row}).IgnoreError();
  }

  absl::StatusOr<TuningReport> Search() {
    WorkerEvaluator* worker = nullptr;
    std::unique_ptr<Evaluator> evaluator;
    if (options_.make_evaluator) {
      evaluator = options_.make_evaluator();
    } else {
      TW_ASSIGN_OR_RETURN(options_.evaluator.worker.program,
                          FindWorker(options_.evaluator.worker.program));
      options_.evaluator.worker.cancelled = options_.search.cancelled;
      auto made =
          std::make_unique<WorkerEvaluator>(call_, recipe_, device_, kernels_, options_.evaluator);
      worker = made.get();
      evaluator = std::move(made);
    }
    options_.search.sol_us = FloorUs();
    options_.search.on_trial = [this](const Trial& trial) { Persist(trial); };
    auto result = Tune(candidates_, KnownTrials(), *evaluator, options_.search);
    const bool lost = worker != nullptr && !worker->status().ok();
    if (!result.ok()) return lost ? worker->status() : result.status();

    TuningReport report;
    TW_ASSIGN_OR_RETURN(report.winner, Winner(*result));
    report.trials = std::move(result->trials);
    report.legal = result->legal;
    report.gpu_us = result->gpu_us;
    report.measured = static_cast<int>(new_.size());
    report.complete = result->complete && !lost;
    if (worker != nullptr) {
      report.method = worker->method();
      report.note = worker->note();
    }
    if (lost && !Cancelled()) report.cut_short = std::string(worker->status().message());
    if (report.complete) TW_RETURN_IF_ERROR(cache_.PutWinner(report.winner));
    return report;
  }

  absl::StatusOr<WinnerRow> Winner(const TuneResult& result) {
    WinnerRow row;
    row.key = problem_.digest;
    row.op = problem_.op;
    row.dtypes = problem_.dtypes;
    row.problem_json = problem_.problem_json;
    row.device = problem_.device;
    row.config_json = result.best.ToJson();
    for (const KernelSpec& spec :
         FindVariant(recipe_, result.best.variant)->Kernels(call_, result.best)) {
      TW_ASSIGN_OR_RETURN(const KernelKey key, kernels_.Key(spec, device_.arch));
      row.kernel_keys += Cat(row.kernel_keys.empty() ? "" : ",", key.digest);
    }
    row.median_us = result.median_us;
    row.sol_us = sol_us_;
    row.efficiency = sol_us_ > 0 ? sol_us_ / result.median_us : 0;
    row.trials = static_cast<int>(result.trials.size());
    row.closure_digest = identity_.closure_digest;
    row.space_digest = identity_.space_digest;
    row.version = TILEWRIGHT_VERSION;
    row.tuned_unix = NowUnix();
    return row;
  }

  const CallDesc& call_;
  const Recipe& recipe_;
  const DeviceProfile& device_;
  KernelStore& kernels_;
  Cache& cache_;
  TuningOptions options_;
  const ProblemKey problem_;
  std::vector<Candidate> candidates_;
  std::map<std::string, std::string> closures_;  // template files -> digest of their closures
  SpaceIdentity identity_;
  double sol_us_ = 0;
  bool waited_in_vain_ = false;
  std::set<std::string> new_;  // configs of the trials made here
};

}  // namespace

std::vector<Candidate> TuningCandidates(const Recipe& recipe, const CallDesc& call,
                                        const DeviceProfile& device) {
  std::vector<Candidate> candidates;
  for (const Variant* variant : recipe.variants()) {
    if (!variant->Serves(call, device).ok()) continue;
    const TuningSpace space = variant->Space(call, device);
    for (int64_t i = 0; i < space.size(); ++i) {
      Config config = space.At(i);
      if (!variant->Legal(call, config, device).ok()) continue;
      const double predicted_us = variant->PredictUs(call, config, device);
      candidates.push_back({std::move(config), predicted_us});
    }
  }
  return candidates;
}

absl::StatusOr<std::string> FindWorker(const std::string& explicit_path) {
  constexpr char kName[] = "tilewright-worker";
  std::vector<fs::path> sought;
  if (!explicit_path.empty()) {
    sought.push_back(explicit_path);
  } else {
    std::error_code error;
    const fs::path program = fs::read_symlink("/proc/self/exe", error);
    Dl_info library{};
    std::vector<fs::path> bases = {program.parent_path()};
    if (dladdr(reinterpret_cast<const void*>(&FindWorker), &library) != 0 &&
        library.dli_fname != nullptr) {
      bases.push_back(fs::absolute(library.dli_fname, error).parent_path());
    }
    for (const fs::path& base : bases) {
      for (const char* folder : {".", "../bin", "../libexec/tilewright"}) {
        sought.push_back((base / folder / kName).lexically_normal());
      }
    }
  }
  std::string list;
  for (const fs::path& path : sought) {
    if (access(path.c_str(), X_OK) == 0) return path.string();
    list += Cat(list.empty() ? "" : ", ", path.string());
  }
  if (!explicit_path.empty()) {
    return NotFound("TILEWRIGHT_WORKER (RuntimeOptions::worker_path) is ", list,
                    ", which is no program");
  }
  return NotFound("no tuning worker; sought ", list);
}

absl::StatusOr<TuningReport> TuneProblem(const CallDesc& call, const Recipe& recipe,
                                         const DeviceProfile& device, KernelStore& kernels,
                                         Cache& cache, TuningOptions options) {
  return Tuning(call, recipe, device, kernels, cache, std::move(options)).Run();
}

}  // namespace tilewright
