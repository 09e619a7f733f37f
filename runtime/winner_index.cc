#include "runtime/winner_index.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <utility>

#include "manifest/digest.h"
#include "manifest/status.h"
#include "runtime/kernel_store.h"

namespace tilewright {
namespace {

std::string FamilyName(const ProblemKey& problem) {
  return Cat(problem.op, "|", problem.dtypes, "|", problem.device);
}

double LogDistance(int64_t a, int64_t b) {
  const auto log = [](int64_t value) { return std::log2(1.0 + static_cast<double>(value)); };
  if (a < 0 || b < 0) return a == b ? 0 : std::numeric_limits<double>::infinity();
  return std::abs(log(a) - log(b));
}

}  // namespace

absl::StatusOr<SpaceIdentity> IdentifySpace(KernelStore& kernels, const Recipe& recipe,
                                            const CallDesc& call, const DeviceProfile& device) {
  std::set<std::string> templates;
  Digest spaces;
  for (const Variant* variant : recipe.variants()) {
    if (!variant->Serves(call, device).ok()) continue;
    spaces.Add(variant->Space(call, device).Digest());
    for (const KernelSpec& kernel : variant->Kernels(call, variant->Default(call, device))) {
      templates.insert(kernel.template_file);
    }
  }
  Digest closures;
  for (const std::string& path : templates) {
    TW_ASSIGN_OR_RETURN(const std::string digest, kernels.ClosureDigest(path));
    closures.Add(digest);
  }
  return SpaceIdentity{closures.Hex(), spaces.Hex()};
}

WinnerIndex::Family WinnerIndex::Winners(const ProblemKey& problem, const Recipe& recipe) {
  const std::string name = FamilyName(problem);
  const auto now = std::chrono::steady_clock::now();
  {
    std::lock_guard<std::mutex> lock(mutex_);
    const auto it = families_.find(name);
    if (it != families_.end() && now - it->second.read_at < max_age_) return it->second.winners;
  }
  auto winners = std::make_shared<std::vector<Neighbour>>();
  for (WinnerRow& row : cache_->Winners(problem.op, problem.dtypes, problem.device)) {
    // A row of another version's fields, or that cannot be read, lends nothing.
    absl::StatusOr<ProblemFields> fields = ParseProblemJson(recipe, row.problem_json);
    absl::StatusOr<Config> config = Config::FromJson(row.config_json);
    if (!fields.ok() || !config.ok()) continue;
    winners->push_back({*std::move(fields), row.problem_json, *std::move(config), std::move(row)});
  }
  std::lock_guard<std::mutex> lock(mutex_);
  families_[name] = {winners, now};
  return winners;
}

void WinnerIndex::Forget(const ProblemKey& problem) {
  std::lock_guard<std::mutex> lock(mutex_);
  families_.erase(FamilyName(problem));
}

double ProblemDistance(const Recipe& recipe, const ProblemFields& a, const ProblemFields& b) {
  double distance = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    if (recipe.fields()[i].kind == ProblemField::Kind::kClass) {
      if (a[i] != b[i]) return std::numeric_limits<double>::infinity();
    } else {
      distance += LogDistance(a[i], b[i]);
    }
  }
  return distance;
}

std::vector<const Neighbour*> Nearest(const Recipe& recipe, const ProblemFields& fields,
                                      const std::vector<Neighbour>& winners) {
  std::vector<std::pair<double, const Neighbour*>> ranked;
  for (const Neighbour& winner : winners) {
    const double distance = ProblemDistance(recipe, fields, winner.fields);
    if (distance <= kLendingDistance) ranked.emplace_back(distance, &winner);
  }
  std::sort(ranked.begin(), ranked.end(), [](const auto& a, const auto& b) {
    if (a.first != b.first) return a.first < b.first;
    if (const int order = a.second->problem_json.compare(b.second->problem_json); order != 0) {
      return order < 0;
    }
    return a.second->row.tuned_unix > b.second->row.tuned_unix;
  });
  std::vector<const Neighbour*> nearest;
  for (const auto& [distance, neighbour] : ranked) nearest.push_back(neighbour);
  return nearest;
}

}  // namespace tilewright
