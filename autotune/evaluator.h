// How the tuner learns what a candidate takes. Implemented over a worker process and a GPU by the
// runtime, over a simulation in tests.
#ifndef TILEWRIGHT_AUTOTUNE_EVALUATOR_H_
#define TILEWRIGHT_AUTOTUNE_EVALUATOR_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "autotune/config.h"

namespace tilewright {

enum class CandidateStatus : uint8_t { kOk, kWrong, kFailed, kPruned, kTimeout };
std::string_view CandidateStatusName(CandidateStatus status);  // "ok", "wrong", ...

struct Measurement {
  CandidateStatus status = CandidateStatus::kOk;
  std::string error = {};               // why it is not ok
  std::vector<double> samples_us = {};  // one kernel time each, cold L2
  int registers = 0;
  int64_t spill_bytes = 0;
};

// Not thread-safe: one search drives one evaluator. A result of kPruned says that the candidate was
// not looked at (the search is being cancelled): nothing is recorded of it.
class Evaluator {
 public:
  virtual ~Evaluator() = default;

  // Builds the candidates and checks each one's output against the portable template (poisoned
  // outputs, fresh random inputs). One result per config; ok ones may be measured.
  virtual std::vector<Measurement> Admit(std::span<const Config> configs) = 0;

  // `repeats` samples of each config, interleaved (round-robin) so that drift hits all alike.
  virtual std::vector<Measurement> Measure(std::span<const Config> configs, int repeats) = 0;
};

}  // namespace tilewright

#endif  // TILEWRIGHT_AUTOTUNE_EVALUATOR_H_
