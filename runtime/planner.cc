#include "runtime/planner.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "manifest/status.h"
#include "manifest/text.h"

namespace tilewright {
const Variant* LegalVariant(const Recipe& recipe, const CallDesc& call, const Config& config,
                            const DeviceProfile& device) {
  const Variant* variant = FindVariant(recipe, config.variant);
  if (variant == nullptr || !variant->Serves(call, device).ok()) return nullptr;
  return variant->Legal(call, config, device).ok() ? variant : nullptr;
}

namespace {

bool IsPoint(const TuningSpace& space, const Config& config) {
  if (config.values.size() != space.axes.size()) return false;
  for (const TuningAxis& axis : space.axes) {
    const auto has_name = [&axis](const auto& value) { return value.first == axis.name; };
    const auto value = std::find_if(config.values.begin(), config.values.end(), has_name);
    if (value == config.values.end()) return false;
    if (std::find(axis.values.begin(), axis.values.end(), value->second) == axis.values.end()) {
      return false;
    }
  }
  return true;
}

}  // namespace

const Variant* TrustedVariant(const Recipe& recipe, const CallDesc& call, const Config& config,
                              const DeviceProfile& device) {
  const Variant* variant = FindVariant(recipe, config.variant);
  if (variant == nullptr || !variant->Serves(call, device).ok()) return nullptr;
  if (config == variant->Default(call, device)) return variant;
  if (!IsPoint(variant->Space(call, device), config)) return nullptr;
  return variant->Legal(call, config, device).ok() ? variant : nullptr;
}

void Planner::SayIgnored(const Neighbour& neighbour) {
  {
    const std::lock_guard<std::mutex> lock(ignored_mutex_);
    if (!ignored_.insert(neighbour.row.key).second) return;
  }
  if (log_ == nullptr) return;
  log_(LogLevel::kWarning, Cat(neighbour.row.op, ": the tuned winner of ",
                               Escaped(neighbour.problem_json), " is ignored: its config ",
                               Escaped(neighbour.config.ToJson()), " is none of this version's"));
}

bool Planner::Lends(const Neighbour& neighbour, const Variant& variant, const Choice& usual,
                    const CallDesc& call, const DeviceProfile& device) {
  const double lent_us = variant.PredictUs(call, neighbour.config, device);
  const double usual_us = usual.variant->PredictUs(call, usual.config, device);
  // A model that predicts no time at all vouches for nothing.
  if (!(lent_us > 0) || !(usual_us > 0) || !std::isfinite(lent_us)) return false;
  const double slower = lent_us / usual_us;
  if (slower <= 1) return true;
  const std::string config = usual.config.ToJson();
  for (const TrialRow& trial : cache_->Trials(neighbour.row.key)) {
    if (trial.config_json != config || trial.status != TrialStatus::kOk) continue;
    if (slower <= trial.median_us / neighbour.row.median_us) return true;
  }
  return false;
}

absl::StatusOr<std::vector<Choice>> Planner::Choose(const OpEntry& op, const CallDesc& call,
                                                    const DeviceProfile& device,
                                                    const ProblemFields& fields,
                                                    const ProblemKey& problem) {
  if (op.recipe == nullptr) {
    return FailedPrecondition(
        op.spec.name, ": no kernels (status ",
        op.spec.status == OpStatus::kImplemented ? "implemented" : "spec-only", ")");
  }
  const Recipe& recipe = *op.recipe;
  TW_ASSIGN_OR_RETURN(const Variant* preferred, SelectVariant(recipe, call, device));
  const Choice usual{preferred, preferred->Default(call, device), Quality::kDefault, ""};
  std::vector<Choice> choices;
  const WinnerIndex::Family winners = winners_.Winners(problem, recipe);
  std::vector<const Neighbour*> nearest = Nearest(recipe, fields, *winners);
  const auto is_own = [&](const Neighbour* neighbour) { return neighbour->fields == fields; };
  SpaceIdentity now;
  if (std::any_of(nearest.begin(), nearest.end(), is_own)) {
    TW_ASSIGN_OR_RETURN(now, IdentifySpace(*kernels_, recipe, call, device));
  }
  const auto is_current = [&](const Neighbour* neighbour) {
    return is_own(neighbour) && neighbour->row.closure_digest == now.closure_digest &&
           neighbour->row.space_digest == now.space_digest;
  };
  // A winner of these templates before those of others.
  std::stable_partition(nearest.begin(), nearest.end(), is_current);
  for (const Neighbour* neighbour : nearest) {
    const Variant* variant = TrustedVariant(recipe, call, neighbour->config, device);
    if (variant == nullptr) {
      // What another shape was tuned to need not suit this one.
      if (is_own(neighbour)) SayIgnored(*neighbour);
      continue;
    }
    Choice choice{variant, neighbour->config, Quality::kNeighbour, neighbour->problem_json};
    if (is_current(neighbour)) {
      choice.quality = Quality::kWinner;
      choice.neighbour_json.clear();
    } else if (!is_own(neighbour) && !Lends(*neighbour, *variant, usual, call, device)) {
      continue;
    }
    choices.push_back(std::move(choice));
    // A winner and one lender are enough: behind them stands the default.
    if (choices.size() == 2 || choices.back().quality == Quality::kNeighbour) break;
  }
  choices.push_back(usual);
  return choices;
}

absl::StatusOr<std::shared_ptr<const Plan>> Planner::Assemble(
    const OpEntry& op, const CallDesc& call, const VisibleDevice& device, const ProblemKey& problem,
    const std::vector<Choice>& choices, Effort effort) {
  absl::Status first_error;
  for (const Choice& choice : choices) {
    auto plan = AssembleOne(op, call, device, problem, choice, effort);
    if (plan.ok()) return plan;
    if (first_error.ok()) first_error = plan.status();
    // Only a kernel that cannot be had is a reason to try the next choice.
    const bool kernel_lacking = absl::IsFailedPrecondition(plan.status()) ||
                                absl::IsInternal(plan.status()) ||
                                absl::IsResourceExhausted(plan.status());
    if (!kernel_lacking || DriverErrorCode(plan.status()) != 0) break;
  }
  return first_error;
}

absl::StatusOr<std::shared_ptr<const Plan>> Planner::AssembleOne(
    const OpEntry& op, const CallDesc& call, const VisibleDevice& device, const ProblemKey& problem,
    const Choice& choice, Effort effort) {
  auto plan = std::make_shared<Plan>();
  plan->problem = problem;
  plan->device = &device;
  plan->variant = choice.variant;
  plan->config = choice.config;
  plan->quality = choice.quality;
  plan->neighbour_json = choice.neighbour_json;
  for (const KernelSpec& spec : choice.variant->Kernels(call, choice.config)) {
    TW_RETURN_IF_ERROR(AddKernel(op, spec, device, effort, *plan));
  }
  return plan;
}

absl::Status Planner::AddKernel(const OpEntry& op, const KernelSpec& spec,
                                const VisibleDevice& device, Effort effort, Plan& plan) {
  const std::string& arch = device.profile.arch;
  TW_ASSIGN_OR_RETURN(const KernelKey key, kernels_->Key(spec, arch));
  std::shared_ptr<const LoadedKernel> loaded = loader_->Find(key.digest, device.ordinal);
  if (loaded == nullptr) {
    KernelStore::Result result;
    if (effort == Effort::kCachedOnly) {
      absl::StatusOr<KernelRow> row = kernels_->Find(key);
      if (absl::IsNotFound(row.status())) {
        return FailedPrecondition("kernel ", key.instantiation, " is not in the cache");
      }
      TW_RETURN_IF_ERROR(row.status());
      result.row = *std::move(row);
    } else {
      TW_ASSIGN_OR_RETURN(result, kernels_->GetOrBuild(spec, op.spec.name, arch));
    }
    absl::StatusOr<std::shared_ptr<const LoadedKernel>> fresh = loader_->Load(result.row, device);
    // A cubin of a toolkit too new for this driver: another compiler may do.
    if (absl::IsFailedPrecondition(fresh.status()) && !result.compiled &&
        effort == Effort::kCompile) {
      absl::StatusOr<std::string> version = kernels_->compiler().Version();
      if (version.ok() && *version != result.row.compiler) {
        TW_ASSIGN_OR_RETURN(result, kernels_->Rebuild(spec, op.spec.name, arch));
        fresh = loader_->Load(result.row, device);
      }
    }
    TW_ASSIGN_OR_RETURN(loaded, std::move(fresh));
    plan.source = std::max(plan.source, result.compiled ? Source::kCompiled : Source::kCache);
  }
  plan.kernels.push_back(std::move(loaded));
  return absl::OkStatus();
}

}  // namespace tilewright
