#include "autotune/search.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "autotune/near_tie.h"
#include "autotune/statistics.h"
#include "manifest/status.h"

namespace tilewright {
namespace {

constexpr size_t kFinalists = 4;
constexpr int64_t kLaterWaves = 4;  // that share the half left after the first
constexpr int kFinalDoublings = 4;  // of the finalists' samples while the choice is not clear
constexpr double kClear = 6;  // standard errors that the widest gap must exceed the next one by
constexpr double kBeyondLuck = 2;  // standard errors that a gain on the incumbent must exceed
// A GPU's time stamps advance by 32 ns: medians that are one step apart may be as good.
constexpr double kClockStepUs = 0.04;
constexpr double kAcrossWaves = 0.08;  // times taken in different waves differ by drift, too
constexpr double kHopeless = 1.5;      // corrected prediction over the best: not worth a try
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
    const int64_t count = std::min(wave, allowance - tried);
    const Indices next = first && !whole ? Spread(count) : Favourites(count);
    if (next.empty()) break;
    AdmitAndSample(next);
    Learn();
    wave = whole ? allowance : (allowance + kLaterWaves - 1) / (2 * kLaterWaves);
  }
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
  if (!Cancelled()) Measure(admitted, options_.first_round_repeats, /*append=*/false);
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
    Record(entries_[indices[i]], std::move(results[i]), append);
  }
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

// Everything that may still win. Beside an earlier search's winner, that is what this search
// measured and what the earlier one left within noise of it.
Search::Indices Search::Contenders() const {
  Indices contenders;
  const double limit = BestMedian(/*settled_only=*/true) * (1 + options_.noise);
  for (size_t i = 0; i < entries_.size(); ++i) {
    const Entry& entry = entries_[i];
    if (!entry.tried || entry.settled || !(entry.trial.median_us > 0)) continue;
    if (entry.admitted || entry.trial.median_us <= limit) contenders.push_back(i);
  }
  return contenders;
}

// Keeps the faster half, and whatever is within `margin` of the best.
void Search::Narrow(Indices& contenders, double margin) const {
  if (contenders.empty()) return;
  std::stable_sort(contenders.begin(), contenders.end(), [this](size_t a, size_t b) {
    return entries_[a].trial.median_us < entries_[b].trial.median_us;
  });
  const double limit = entries_[contenders[0]].trial.median_us * (1 + margin);
  size_t kept = std::min(std::max(kFinalists, (contenders.size() + 1) / 2), contenders.size());
  while (kept < contenders.size() && entries_[contenders[kept]].trial.median_us <= limit) ++kept;
  contenders.resize(kept);
  std::sort(contenders.begin(), contenders.end());
}

void Search::Race() {
  Indices contenders = Contenders();
  double margin = kAcrossWaves;
  for (int repeats = 2 * options_.first_round_repeats; repeats < options_.final_repeats;
       repeats *= 2) {
    Narrow(contenders, margin);
    if (contenders.size() <= kFinalists || Cancelled()) break;
    contenders = Admit(contenders);
    Measure(contenders, repeats, /*append=*/false);
    std::erase_if(contenders, [this](size_t i) { return !IsOk(entries_[i].trial); });
    margin = 2 * options_.noise;
    Report();
  }
  Narrow(contenders, margin);
  if (contenders.empty() || Cancelled()) return;
  MeasureFinalists(std::move(contenders));
  if (!Cancelled()) Defend();
}

bool Search::HasIncumbent() const {
  if (incumbent_ == entries_.size()) return false;
  const Entry& entry = entries_[incumbent_];
  return entry.tried && IsOk(entry.trial) && entry.trial.median_us > 0;
}

// The fastest finalist and the incumbent once more, alone: the samples that chose it favour it.
void Search::Defend() {
  const Entry* fastest = Fastest();
  if (!HasIncumbent() || fastest == nullptr) return;
  // Its times of that meeting are not comparable with the other finalists': the choice is over.
  challenger_ = static_cast<size_t>(fastest - entries_.data());
  if (*challenger_ == incumbent_) return;
  const Indices both = Admit({*challenger_, incumbent_});
  if (both.size() < 2 || Cancelled()) return;
  Measure(both, 2 * options_.final_repeats, /*append=*/false);
  const Trial& old = entries_[incumbent_].trial;
  const double error =
      std::hypot(MedianError(fastest->trial.samples_us), MedianError(old.samples_us));
  const double gain = std::max(options_.noise / 2, kBeyondLuck * error) * old.median_us;
  const double limit = old.median_us - std::max(gain, kClockStepUs);
  is_defended_ = IsOk(old) && !(IsOk(fastest->trial) && fastest->trial.median_us < limit);
  Report();
}

void Search::MeasureFinalists(Indices finalists) {
  const bool missing = std::find(finalists.begin(), finalists.end(), incumbent_) == finalists.end();
  if (HasIncumbent() && missing) finalists.push_back(incumbent_);
  finalists = Admit(finalists);
  if (finalists.empty() || Cancelled()) return;
  Measure(finalists, options_.final_repeats, /*append=*/false);
  int repeats = options_.final_repeats;
  for (int i = 0; i < kFinalDoublings && !Cancelled() && TooCloseToCall(finalists); ++i) {
    std::erase_if(finalists, [this](size_t f) { return !IsOk(entries_[f].trial); });
    Measure(finalists, repeats, /*append=*/true);
    repeats *= 2;
  }
  for (size_t i : finalists) entries_[i].settled = true;
  Report();
}

// True where two gaps are about as wide as each other, given how sure the medians are: then another
// machine could cut elsewhere.
bool Search::TooCloseToCall(const Indices& finalists) const {
  double error = 0;  // largest standard error of a median, as a fraction
  Indices ok;
  for (size_t i : finalists) {
    const Trial& trial = entries_[i].trial;
    if (!IsOk(trial)) continue;
    ok.push_back(i);
    error = std::max(error, MedianError(trial.samples_us));
  }
  const Indices records = Records(std::move(ok));
  if (records.size() < 2) return false;
  return FindNearTieLimit(Medians(records), options_.noise).margin < kClear * error;
}

const Trial* Search::Winner() const {
  if (is_defended_) return &entries_[incumbent_].trial;
  if (challenger_.has_value() && IsOk(entries_[*challenger_].trial)) {
    return &entries_[*challenger_].trial;
  }
  const Entry* winner = Fastest();
  return winner == nullptr ? nullptr : &winner->trial;
}

// Those that are of a better rank than everything faster, by time; the incumbent's rank is the
// best. Whatever limit is set to near-ties, the winner is one of them.
Search::Indices Search::Records(Indices indices) const {
  std::stable_sort(indices.begin(), indices.end(), [this](size_t a, size_t b) {
    return entries_[a].trial.median_us < entries_[b].trial.median_us;
  });
  Indices records;
  for (size_t i : indices) {
    const bool better =
        records.empty() || i == incumbent_ || (records.back() != incumbent_ && i < records.back());
    if (better) records.push_back(i);
  }
  return records;
}

std::vector<double> Search::Medians(const Indices& indices) const {
  std::vector<double> medians;
  for (size_t i : indices) medians.push_back(entries_[i].trial.median_us);
  return medians;
}

const Search::Entry* Search::Fastest() const {
  const bool any_settled = BestMedian(/*settled_only=*/true) < kNever;
  Indices eligible;
  for (size_t i = 0; i < entries_.size(); ++i) {
    const Entry& entry = entries_[i];
    if (!entry.tried || !IsOk(entry.trial) || !(entry.trial.median_us > 0)) continue;
    if (!any_settled || entry.settled) eligible.push_back(i);
  }
  const Indices records = Records(std::move(eligible));
  const double limit = FindNearTieLimit(Medians(records), options_.noise).limit_us;
  const Entry* winner = nullptr;
  for (size_t i : records) {
    if (entries_[i].trial.median_us <= limit) winner = &entries_[i];
  }
  return winner;
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
