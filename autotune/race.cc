// The second half of a search: the admitted candidates race, and the last of them are told apart.
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include "autotune/near_tie.h"
#include "autotune/paired_times.h"
#include "autotune/search.h"

namespace tilewright {
namespace {

constexpr size_t kFinalists = 4;
constexpr int kFinalDoublings = 9;  // of the finalists' rounds while the choice is not clear
constexpr double kRacing = 0.2;     // of the GPU time left: a round's samples
constexpr double kFinal = 0.5;      // what the final may take of it, before the incumbent defends
constexpr double kClear = 8;        // standard errors that the widest gap must exceed the next by
constexpr double kBeaten = 4;       // standard errors behind: out of the final
constexpr double kBeyondLuck = 2;   // standard errors that a gain on the incumbent must exceed
constexpr double kClockStepUs = 0.032;  // by which a GPU's time stamps advance
constexpr double kAcrossWaves = 0.08;   // times taken in different waves differ by drift, too

bool IsOk(const Trial& trial) { return trial.status == CandidateStatus::kOk; }

}  // namespace

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
    Measure(contenders, Affordable(contenders, repeats, kRacing), /*append=*/false);
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
  Indices both = Admit({*challenger_, incumbent_});
  if (both.size() < 2 || Cancelled()) return;
  const Trial& rival = fastest->trial;
  const Trial& old = entries_[incumbent_].trial;
  MeasureUntil(both, 2 * options_.final_repeats, 1.0, [&] {
    const Gain gain = GainOver(old, rival);
    is_defended_ = IsOk(old) && !(IsOk(rival) && gain.is > gain.needed);
    return !IsOk(old) || !IsOk(rival) || std::abs(gain.is - gain.needed) > kClear / 2 * gain.error;
  });
  Report();
}

// By how much `rival` is faster, and by how much it must be to replace the incumbent.
Search::Gain Search::GainOver(const Trial& old, const Trial& rival) const {
  const PairedTime pair = Compare(old.samples_us, rival.samples_us);
  const double clock =
      ClockError(old.samples_us, kClockStepUs) + ClockError(rival.samples_us, kClockStepUs);
  Gain gain;
  gain.is = pair.log_ratio;
  gain.error = pair.error;
  gain.needed = std::max(options_.noise / 8, kBeyondLuck * pair.error) +
                clock / std::max(old.median_us, kClockStepUs);
  return gain;
}

// Measures in turns, doubling the rounds until `decide` says that it is decided, or a share of the
// time left is not enough for more.
void Search::MeasureUntil(Indices& indices, int repeats, double share,
                          const std::function<bool()>& decide) {
  const double end_us = spent_us_ + share * LeftUs();
  repeats = Affordable(indices, repeats, share);
  Measure(indices, repeats, /*append=*/false);
  for (int i = 0; !decide() && i < kFinalDoublings && !Cancelled(); ++i) {
    std::erase_if(indices, [this](size_t f) { return !IsOk(entries_[f].trial); });
    const double more_us = repeats * RoundUs(indices);
    if (indices.empty() || more_us > std::min(options_.final_us, end_us - spent_us_)) break;
    Measure(indices, repeats, /*append=*/true);
    repeats *= 2;
  }
}

void Search::MeasureFinalists(Indices finalists) {
  const bool missing = std::find(finalists.begin(), finalists.end(), incumbent_) == finalists.end();
  if (HasIncumbent() && missing) finalists.push_back(incumbent_);
  finalists = Admit(finalists);
  if (finalists.empty() || Cancelled()) return;
  const Indices all = finalists;
  MeasureUntil(finalists, options_.final_repeats, kFinal, [&] { return IsDecided(finalists); });
  // What a failed one had beaten is in the running again.
  const bool any_failed =
      std::any_of(all.begin(), all.end(), [this](size_t i) { return !IsOk(entries_[i].trial); });
  for (size_t i : all) {
    entries_[i].settled = true;
    if (any_failed) entries_[i].beaten = false;
  }
  Report();
}

// Compares the finalists round by round, drops those that cannot matter any more, and says whether
// the choice among the others is clear: the widest gap wider than the next one by much more than
// the error, or another machine could cut elsewhere.
bool Search::IsDecided(Indices& finalists) {
  std::erase_if(finalists, [this](size_t i) { return !IsOk(entries_[i].trial); });
  if (finalists.empty()) return true;
  const auto by_median = [this](size_t a, size_t b) {
    return entries_[a].trial.median_us < entries_[b].trial.median_us;
  };
  const Trial& pivot =
      entries_[*std::min_element(finalists.begin(), finalists.end(), by_median)].trial;
  std::map<size_t, PairedTime> times;
  double fastest = std::numeric_limits<double>::infinity();
  double error = 0;
  for (size_t i : finalists) {
    times[i] = Compare(entries_[i].trial.samples_us, pivot.samples_us);
    entries_[i].time_us = pivot.median_us * std::exp(times[i].log_ratio);
    fastest = std::min(fastest, times[i].log_ratio);
    error = std::max(error, times[i].error);
  }
  const auto rank = [this](size_t i) { return i == incumbent_ ? 0 : i + 1; };
  const auto is_beaten = [&](size_t i) {
    const double late = times[i].log_ratio - kBeaten * error;
    if (late > fastest + 1.5 * options_.noise) return true;
    return std::any_of(finalists.begin(), finalists.end(), [&](size_t other) {
      return rank(other) < rank(i) && times[other].log_ratio < late;
    });
  };
  for (size_t i : finalists) entries_[i].beaten = is_beaten(i);
  std::erase_if(finalists, [this](size_t i) { return entries_[i].beaten; });
  const Indices records = Records(finalists);
  if (records.size() < 2) return true;
  return FindNearTieLimit(Times(records), options_.noise).margin >= kClear * error;
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
    return entries_[a].time_us < entries_[b].time_us;
  });
  Indices records;
  for (size_t i : indices) {
    const bool better =
        records.empty() || i == incumbent_ || (records.back() != incumbent_ && i < records.back());
    if (better) records.push_back(i);
  }
  return records;
}

std::vector<double> Search::Times(const Indices& indices) const {
  std::vector<double> times;
  for (size_t i : indices) times.push_back(entries_[i].time_us);
  return times;
}

const Search::Entry* Search::Fastest() const {
  const bool any_settled = std::isfinite(BestMedian(/*settled_only=*/true));
  Indices eligible;
  for (size_t i = 0; i < entries_.size(); ++i) {
    const Entry& entry = entries_[i];
    if (!entry.tried || !IsOk(entry.trial) || !(entry.trial.median_us > 0)) continue;
    if (entry.beaten) continue;
    if (!any_settled || entry.settled) eligible.push_back(i);
  }
  const Indices records = Records(std::move(eligible));
  const double limit = FindNearTieLimit(Times(records), options_.noise).limit_us;
  const Entry* winner = nullptr;
  for (size_t i : records) {
    if (entries_[i].time_us <= limit) winner = &entries_[i];
  }
  return winner;
}

}  // namespace tilewright
