#include "autotune/search.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "autotune/statistics.h"
#include "manifest/status.h"

namespace tilewright {
namespace {

constexpr int64_t kLaterWaves = 4;  // that share the half left after the first
constexpr double kHopeless = 1.5;   // corrected prediction over the best: not worth a try
constexpr double kExploring = 0.2;  // of the GPU time left: a wave's samples
constexpr double kNever = std::numeric_limits<double>::infinity();

bool IsOk(const Trial& trial) { return trial.status == CandidateStatus::kOk; }

}  // namespace

Search::Search(std::vector<Candidate> candidates, std::vector<Trial> known, Evaluator& evaluator,
               const TuneOptions& options)
    : evaluator_(evaluator), options_(options) {
  for (Candidate& candidate : candidates) {
    Entry entry;
    entry.text = candidate.config.ToJson();
    entry.trial.config = candidate.config;
    entry.candidate = std::move(candidate);
    entries_.push_back(std::move(entry));
  }
  std::sort(entries_.begin(), entries_.end(), [](const Entry& a, const Entry& b) {
    if (a.candidate.predicted_us != b.candidate.predicted_us) {
      return a.candidate.predicted_us < b.candidate.predicted_us;
    }
    return a.text < b.text;
  });
  const auto same = [](const Entry& a, const Entry& b) { return a.text == b.text; };
  entries_.erase(std::unique(entries_.begin(), entries_.end(), same), entries_.end());
  const auto is_incumbent = [&](const Entry& e) {
    return options_.incumbent == e.candidate.config;
  };
  const auto it = std::find_if(entries_.begin(), entries_.end(), is_incumbent);
  incumbent_ = static_cast<size_t>(it - entries_.begin());
  Recall(known);
}

void Search::Recall(const std::vector<Trial>& known) {
  std::map<std::string, const Trial*> by_text;
  for (const Trial& trial : known) by_text[trial.config.ToJson()] = &trial;
  for (Entry& entry : entries_) {
    const auto it = by_text.find(entry.text);
    if (it == by_text.end()) continue;
    const Trial& trial = *it->second;
    if (trial.status == CandidateStatus::kPruned) continue;
    if (IsOk(trial) && !(trial.median_us > 0)) continue;
    entry.trial = trial;
    entry.time_us = trial.median_us;
    entry.trial.sample_count =
        std::max(trial.sample_count, static_cast<int>(trial.samples_us.size()));
    entry.tried = true;
    entry.settled = !IsOk(trial) || entry.trial.sample_count >= options_.final_repeats;
  }
}

bool Search::Cancelled() {
  stopped_ = stopped_ || (options_.cancelled != nullptr && options_.cancelled->load());
  return stopped_;
}

int64_t Search::Allowance() const {
  const int64_t count = legal();
  if (count <= options_.exhaustive_below) return count;
  const auto part = static_cast<int64_t>(options_.measured_fraction * static_cast<double>(count));
  return std::clamp<int64_t>(part, 1, std::max(1, options_.max_candidates));
}

void Search::Explore() {
  Indices hinted;
  for (size_t i = 0; i < entries_.size(); ++i) {
    const auto& first = options_.first;
    const bool hint = i == incumbent_ || std::find(first.begin(), first.end(),
                                                   entries_[i].candidate.config) != first.end();
    if (hint && !entries_[i].tried) hinted.push_back(i);
  }
  if (!Cancelled() && !hinted.empty()) AdmitAndSample(hinted);

  const int64_t allowance = Allowance();
  const bool whole = allowance == legal();
  int64_t wave = whole ? allowance : (allowance + 1) / 2;
  for (int64_t tried = -1; !Cancelled() && !GoodEnough() && tried != Tried();) {
    const bool first = tried < 0;
    tried = Tried();
    const int64_t count = std::min({wave, allowance - tried, MostInAWave()});
    const Indices next = first && !whole ? Spread(count) : Favourites(count);
    if (next.empty()) break;
    AdmitAndSample(next);
    Learn();
    wave = whole ? allowance : (allowance + kLaterWaves - 1) / (2 * kLaterWaves);
  }
}

// As many candidates as can be sampled the least times in a wave's share of the time left.
int64_t Search::MostInAWave() const {
  const double best = BestMedian(/*settled_only=*/false);
  if (!std::isfinite(best)) return legal();
  const double each_us = options_.least_repeats * (kHopeless * best + kBetweenUs);
  return std::max<int64_t>(1, static_cast<int64_t>(kExploring * LeftUs() / each_us));
}

int64_t Search::Tried() const {
  return std::count_if(entries_.begin(), entries_.end(), [](const Entry& e) { return e.tried; });
}

// The first wave of a large space: half the model's favourites, half chosen so that every value of
// every axis is seen (each time the fastest of those that show most values not seen yet).
Search::Indices Search::Spread(int64_t count) const {
  Indices chosen = Favourites((count + 1) / 2);
  std::set<std::tuple<std::string, std::string, int64_t>> seen;
  const auto features = [this](size_t i) {
    const Config& config = entries_[i].candidate.config;
    std::set<std::tuple<std::string, std::string, int64_t>> result;
    for (const auto& [name, value] : config.values) result.emplace(config.variant, name, value);
    return result;
  };
  for (size_t i : chosen) seen.merge(features(i));
  while (static_cast<int64_t>(chosen.size()) < count) {
    size_t best = entries_.size();
    size_t best_news = 0;
    for (size_t i = 0; i < entries_.size(); ++i) {
      if (entries_[i].tried) continue;
      size_t news = 0;
      for (const auto& feature : features(i)) news += !seen.contains(feature);
      if (news > best_news) best = i, best_news = news;
    }
    if (best == entries_.size()) break;
    chosen.push_back(best);
    seen.merge(features(best));
  }
  return chosen;
}

// The untried entries that the corrected model thinks fastest, best first.
Search::Indices Search::Favourites(int64_t count) const {
  std::vector<std::pair<double, size_t>> ranked;
  const double limit = kHopeless * BestMedian(/*settled_only=*/false);
  for (size_t i = 0; i < entries_.size(); ++i) {
    const Candidate& candidate = entries_[i].candidate;
    if (entries_[i].tried) continue;
    const double expected = correction_.Corrected(candidate.config, candidate.predicted_us);
    if (legal() <= options_.exhaustive_below || expected <= limit) ranked.emplace_back(expected, i);
  }
  std::sort(ranked.begin(), ranked.end());
  Indices chosen;
  for (const auto& [expected, index] : ranked) {
    if (static_cast<int64_t>(chosen.size()) >= count) break;
    chosen.push_back(index);
  }
  return chosen;
}

void Search::AdmitAndSample(const Indices& indices) {
  const Indices admitted = Admit(indices);
  const int repeats = Affordable(admitted, options_.first_round_repeats, kExploring);
  if (!Cancelled()) Measure(admitted, repeats, /*append=*/false);
  Report();
}

Search::Indices Search::Admit(const Indices& indices) {
  Indices missing;
  std::vector<Config> configs;
  for (size_t i : indices) {
    if (entries_[i].admitted) continue;
    missing.push_back(i);
    configs.push_back(entries_[i].candidate.config);
  }
  if (!missing.empty()) {
    std::vector<Measurement> results = evaluator_.Admit(configs);
    results.resize(missing.size(), {CandidateStatus::kFailed, "the evaluator gave no answer"});
    for (size_t i = 0; i < missing.size(); ++i) {
      Entry& entry = entries_[missing[i]];
      // A cancelled evaluator leaves the rest unjudged: nothing was learnt of them.
      if (results[i].status == CandidateStatus::kPruned) continue;
      entry.admitted = results[i].status == CandidateStatus::kOk;
      if (!entry.admitted || !entry.tried) Record(entry, std::move(results[i]), false);
    }
  }
  Indices ok;
  for (size_t i : indices) {
    if (entries_[i].admitted && IsOk(entries_[i].trial)) ok.push_back(i);
  }
  return ok;
}

void Search::Measure(const Indices& indices, int repeats, bool append) {
  if (indices.empty()) return;
  std::vector<Config> configs;
  for (size_t i : indices) configs.push_back(entries_[i].candidate.config);
  std::vector<Measurement> results = evaluator_.Measure(configs, repeats);
  results.resize(indices.size(), {CandidateStatus::kFailed, "the evaluator gave no answer"});
  for (size_t i = 0; i < indices.size(); ++i) {
    if (results[i].status == CandidateStatus::kPruned) continue;
    if (results[i].status == CandidateStatus::kOk && results[i].samples_us.empty()) {
      results[i].status = CandidateStatus::kFailed;
      results[i].error = "no sample was taken";
    }
    for (double us : results[i].samples_us) spent_us_ += us + kBetweenUs;
    Record(entries_[indices[i]], std::move(results[i]), append);
  }
}

double Search::LeftUs() const { return std::max(0.0, options_.gpu_us - spent_us_); }

// One sample of each. What has none yet is taken to be as slow as anything worth a try.
double Search::RoundUs(const Indices& indices) const {
  const double best = BestMedian(/*settled_only=*/false);
  const double unknown = std::isfinite(best) ? kHopeless * best : 0;
  double us = 0;
  for (size_t i : indices) {
    const double median = entries_[i].trial.median_us;
    us += (median > 0 ? median : unknown) + kBetweenUs;
  }
  return us;
}

// `repeats`, or as many as take a share of the time left.
int Search::Affordable(const Indices& indices, int repeats, double share) const {
  if (indices.empty()) return repeats;
  const double rounds = share * LeftUs() / RoundUs(indices);
  return rounds >= repeats
             ? repeats
             : std::max(std::min(options_.least_repeats, repeats), static_cast<int>(rounds));
}

// Admission records the compile facts; measuring adds times. The samples of the last joint run
// replace earlier ones, because only those were taken side by side.
void Search::Record(Entry& entry, Measurement measurement, bool append) {
  Trial& trial = entry.trial;
  entry.tried = true;
  trial.status = measurement.status;
  trial.error = std::move(measurement.error);
  if (measurement.registers != 0) trial.registers = measurement.registers;
  if (measurement.spill_bytes != 0) trial.spill_bytes = measurement.spill_bytes;
  if (!IsOk(trial)) {
    entry.settled = true;
  } else if (!measurement.samples_us.empty()) {
    if (!append) trial.samples_us.clear();
    trial.samples_us.insert(trial.samples_us.end(), measurement.samples_us.begin(),
                            measurement.samples_us.end());
    const SampleSummary summary = Summarize(trial.samples_us);
    trial.sample_count = static_cast<int>(trial.samples_us.size());
    trial.median_us = summary.median;
    trial.p10_us = summary.p10;
    trial.p90_us = summary.p90;
    entry.time_us = summary.median;
  }
  const bool news = !IsOk(trial) || trial.sample_count > 0;
  if (news && options_.on_trial) options_.on_trial(trial);
}

void Search::Learn() {
  correction_ = ModelCorrection();
  for (const Entry& entry : entries_) {
    if (!entry.tried || !IsOk(entry.trial)) continue;
    correction_.Observe(entry.candidate.config, entry.candidate.predicted_us,
                        entry.trial.median_us);
  }
  correction_.Fit();
}

double Search::BestMedian(bool settled_only) const {
  double best = kNever;
  for (const Entry& entry : entries_) {
    if (!entry.tried || !IsOk(entry.trial) || !(entry.trial.median_us > 0)) continue;
    if (!settled_only || entry.settled) best = std::min(best, entry.trial.median_us);
  }
  return best;
}

bool Search::GoodEnough() const {
  if (!(options_.sol_us > 0) || legal() <= options_.exhaustive_below) return false;
  return options_.sol_us >= options_.stop_at_sol_fraction * BestMedian(false);
}

std::vector<Trial> Search::Trials() const {
  std::vector<Trial> trials;
  for (const Entry& entry : entries_) {
    const bool measured = entry.trial.median_us > 0;
    if (entry.tried && (measured || !IsOk(entry.trial))) trials.push_back(entry.trial);
  }
  return trials;
}

void Search::Report() const {
  if (!options_.progress) return;
  const int64_t tried = Tried();
  std::string text = Cat(tried, "/", std::max<int64_t>(Allowance(), tried), " measured");
  const Entry* best = nullptr;
  for (const Entry& entry : entries_) {
    if (!entry.tried || !IsOk(entry.trial) || !(entry.trial.median_us > 0)) continue;
    if (best == nullptr || entry.trial.median_us < best->trial.median_us) best = &entry;
  }
  if (best != nullptr) text += Cat(", best ", best->trial.median_us, " us ", best->text);
  options_.progress(text);
}

}  // namespace tilewright
