// The search: which configuration of a problem is fastest.
#ifndef TILEWRIGHT_AUTOTUNE_TUNER_H_
#define TILEWRIGHT_AUTOTUNE_TUNER_H_

#include <atomic>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "autotune/config.h"
#include "autotune/evaluator.h"

namespace tilewright {

// A legal point with its modelled time.
struct Candidate {
  Config config;
  double predicted_us = 0;
};

// What is known of a candidate, from this search or an earlier one.
struct Trial {
  Config config;
  CandidateStatus status = CandidateStatus::kOk;
  std::string error;
  std::vector<double> samples_us;
  int sample_count = 0;  // behind the median; a known trial may come without its samples
  double median_us = 0;
  double p10_us = 0;
  double p90_us = 0;
  int registers = 0;
  int64_t spill_bytes = 0;
};

struct TuneOptions {
  int exhaustive_below = 24;       // spaces up to this many legal points are measured whole
  double measured_fraction = 0.2;  // of larger ones, at most this part is admitted
  int max_candidates = 64;
  int first_round_repeats = 5;
  int final_repeats = 25;
  double final_us = 3e6;               // the last doubling of a final's samples takes less
  double gpu_us = 4e6;                 // all samples together, but for those of least_repeats
  int least_repeats = 3;               // of whatever is measured, however long it takes
  double noise = 0.01;                 // near-tie: medians within about this fraction
  double stop_at_sol_fraction = 0.97;  // good enough
  double sol_us = 0;                   // 0: unknown
  std::vector<Config> first;           // hints: tried ahead of the model's ranking, if legal
  // What is served untuned, if legal: always measured, in the final too. Another one wins only if
  // this one is no near-tie, and slower beyond luck when both are measured once more, alone.
  std::optional<Config> incumbent;
  // Called after each step: "12/40 measured, best 8.1 us (tile_m=128,...)".
  std::function<void(std::string_view)> progress;
  // Called whenever something new is known of a candidate, so that nothing is lost on a crash.
  std::function<void(const Trial&)> on_trial;
  // Checked between steps; a cancelled search returns what it has, with `complete` false.
  const std::atomic<bool>* cancelled = nullptr;
};

struct TuneResult {
  Config best;
  double median_us = 0;
  std::vector<Trial> trials;  // everything admitted, in a deterministic order
  int64_t legal = 0;          // legal points in the space
  double gpu_us = 0;          // that the samples took, with what lies between them
  bool complete = true;
};

// Ranks `candidates` by the model, admits and races them, and breaks near-ties by a stable rule
// (the incumbent, then predicted time, then canonical config text), so that machines that see the
// same times within noise agree. Times are compared round by round, and where the limit to
// near-ties would fall so that noise decides, more rounds are measured.
//
// A small space is admitted whole. Of a larger one, half of the allowance goes to the model's
// favourites, the rest to the favourites of the model as corrected by what was measured. The
// admitted ones run a successive-halving race (Karnin et al., "Almost optimal exploration in
// multi-armed bandits"); the last few are measured together until the choice is clear. The fastest
// of many noisy times is partly luck: so it meets the incumbent once more before it replaces it.
// Long kernels are sampled less often, so that a problem takes no more of the GPU than it may.
//
// `known` are trials of an earlier search. Those measured to the end, or rejected, are taken as
// they are; so adding a candidate to a searched space measures that one only.
//
// NotFound when no candidate is ok, with the reasons; Cancelled when it was cancelled before any
// was; InvalidArgument without candidates.
absl::StatusOr<TuneResult> Tune(std::vector<Candidate> candidates, std::vector<Trial> known,
                                Evaluator& evaluator, const TuneOptions& options);

}  // namespace tilewright

#endif  // TILEWRIGHT_AUTOTUNE_TUNER_H_
