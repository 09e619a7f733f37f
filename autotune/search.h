// The state of one search of a tuning space; Tune() drives it.
#ifndef TILEWRIGHT_AUTOTUNE_SEARCH_H_
#define TILEWRIGHT_AUTOTUNE_SEARCH_H_

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "autotune/evaluator.h"
#include "autotune/model_correction.h"
#include "autotune/tuner.h"

namespace tilewright {

inline constexpr double kBetweenUs = 100;  // from one sample to the next: the L2 is flushed

// Explore() admits candidates and takes first samples; Race() narrows them down; Winner() decides.
// The evaluator and the options must outlive it. Not thread-safe.
class Search {
 public:
  Search(std::vector<Candidate> candidates, std::vector<Trial> known, Evaluator& evaluator,
         const TuneOptions& options);

  void Explore();
  void Race();

  // The fastest, near-ties broken by rank, or the incumbent where that is as fast within noise;
  // null where none is ok.
  const Trial* Winner() const;
  std::vector<Trial> Trials() const;  // everything admitted or known, by rank
  int64_t legal() const { return static_cast<int64_t>(entries_.size()); }
  bool cancelled() const { return stopped_; }
  double spent_us() const { return spent_us_; }

 private:
  struct Entry {
    Candidate candidate;
    std::string text;  // canonical config
    Trial trial;
    double time_us = 0;     // the median, or what the final made of it
    bool tried = false;     // the trial says something
    bool admitted = false;  // by this search's evaluator
    bool settled = false;   // nothing more to learn: rejected, or measured to the end
    bool beaten = false;    // by another finalist of a better rank, or out of reach of the fastest
  };
  struct Gain {
    double is = 0;
    double needed = 0;
    double error = 0;  // standard error of `is`
  };
  using Indices = std::vector<size_t>;  // into entries_, which are sorted by rank

  void Recall(const std::vector<Trial>& known);
  int64_t Allowance() const;
  int64_t MostInAWave() const;
  int64_t Tried() const;
  Indices Spread(int64_t count) const;
  Indices Favourites(int64_t count) const;
  void AdmitAndSample(const Indices& indices);
  Indices Admit(const Indices& indices);
  void Measure(const Indices& indices, int repeats, bool append);
  void Record(Entry& entry, Measurement measurement, bool append);
  void Learn();
  bool GoodEnough() const;
  Indices Contenders() const;
  void Narrow(Indices& contenders, double margin) const;
  void MeasureFinalists(Indices finalists);
  void Defend();
  const Entry* Fastest() const;
  Indices Records(Indices indices) const;
  std::vector<double> Times(const Indices& indices) const;
  bool HasIncumbent() const;
  bool IsDecided(Indices& finalists);
  void MeasureUntil(Indices& indices, int repeats, double share,
                    const std::function<bool()>& decide);
  double LeftUs() const;
  double RoundUs(const Indices& indices) const;
  int Affordable(const Indices& indices, int repeats, double share) const;
  Gain GainOver(const Trial& old, const Trial& rival) const;
  double BestMedian(bool settled_only) const;
  bool Cancelled();
  void Report() const;

  std::vector<Entry> entries_;
  Evaluator& evaluator_;
  const TuneOptions& options_;
  ModelCorrection correction_;
  size_t incumbent_;                  // index of it; their number where there is none
  std::optional<size_t> challenger_;  // what was chosen, and then met the incumbent alone
  bool is_defended_ = false;  // the incumbent met the fastest and was not slower beyond noise
  bool stopped_ = false;
  double spent_us_ = 0;  // on samples
};

}  // namespace tilewright

#endif  // TILEWRIGHT_AUTOTUNE_SEARCH_H_
