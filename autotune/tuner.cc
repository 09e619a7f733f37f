#include "autotune/tuner.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "autotune/search.h"
#include "manifest/status.h"

namespace tilewright {
namespace {

absl::Status WhyNoneIsUsable(const std::vector<Trial>& trials) {
  std::map<CandidateStatus, int> counts;
  std::set<std::string> reasons;
  for (const Trial& trial : trials) {
    ++counts[trial.status];
    if (reasons.size() < 3 && !trial.error.empty()) reasons.insert(trial.error);
  }
  std::string text = Cat("none of ", trials.size(), " candidates is usable:");
  for (const auto& [status, count] : counts) {
    text += Cat(" ", count, " ", CandidateStatusName(status), ",");
  }
  text.back() = ';';
  for (const std::string& reason : reasons) text += Cat(" ", reason, ";");
  text.pop_back();
  return absl::NotFoundError(text);
}

}  // namespace

std::string_view CandidateStatusName(CandidateStatus status) {
  switch (status) {
    case CandidateStatus::kOk:
      return "ok";
    case CandidateStatus::kWrong:
      return "wrong";
    case CandidateStatus::kFailed:
      return "failed";
    case CandidateStatus::kPruned:
      return "pruned";
    case CandidateStatus::kTimeout:
      return "timeout";
  }
  return "unknown";
}

absl::StatusOr<TuneResult> Tune(std::vector<Candidate> candidates, std::vector<Trial> known,
                                Evaluator& evaluator, const TuneOptions& options) {
  if (candidates.empty()) return InvalidArgument("tuning: no candidate to choose from");
  Search search(std::move(candidates), std::move(known), evaluator, options);
  search.Explore();
  search.Race();

  TuneResult result;
  result.complete = !search.cancelled();
  result.legal = search.legal();
  result.gpu_us = search.spent_us();
  result.trials = search.Trials();
  const Trial* best = search.Winner();
  if (best == nullptr) {
    if (!result.complete) return absl::CancelledError("tuning: cancelled before any measurement");
    return WhyNoneIsUsable(result.trials);
  }
  result.best = best->config;
  result.median_us = best->median_us;
  return result;
}

}  // namespace tilewright
