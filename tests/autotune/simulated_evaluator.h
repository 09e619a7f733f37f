// An evaluator over made-up kernels: a true time for every config, a noisy clock with drift and
// outliers, and candidates that are wrong, fail or hang.
#ifndef TILEWRIGHT_TESTS_AUTOTUNE_SIMULATED_EVALUATOR_H_
#define TILEWRIGHT_TESTS_AUTOTUNE_SIMULATED_EVALUATOR_H_

#include <cmath>
#include <functional>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "autotune/evaluator.h"

namespace tilewright {

class SimulatedEvaluator : public Evaluator {
 public:
  using TrueTime = std::function<double(const Config&)>;
  SimulatedEvaluator(TrueTime true_us, uint64_t seed, double noise = 0.004)
      : true_us_(std::move(true_us)), random_(seed), noise_(noise) {}

  std::vector<Measurement> Admit(std::span<const Config> configs) override {
    std::vector<Measurement> results;
    for (const Config& config : configs) {
      ++admissions_[config.ToJson()];
      const auto it = rejected_.find(config.ToJson());
      Measurement result;
      if (it != rejected_.end()) result = {it->second, "made to be rejected"};
      result.registers = 64;
      results.push_back(result);
    }
    return results;
  }

  std::vector<Measurement> Measure(std::span<const Config> configs, int repeats) override {
    std::vector<Measurement> results(configs.size());
    for (int r = 0; r < repeats; ++r) {
      drift_ *= 1 + 0.002 * normal_(random_);
      for (size_t i = 0; i < configs.size(); ++i) {
        double sample = true_us_(configs[i]) * drift_ * std::exp(noise_ * normal_(random_));
        if (uniform_(random_) < 0.02) sample *= 1.5;  // an interrupt
        results[i].samples_us.push_back(sample);
      }
    }
    samples_ += repeats * static_cast<int>(configs.size());
    if (after_measure) after_measure();
    return results;
  }

  void Reject(const Config& config, CandidateStatus status) { rejected_[config.ToJson()] = status; }
  int admitted() const { return static_cast<int>(admissions_.size()); }
  const std::map<std::string, int>& admissions() const { return admissions_; }
  int samples() const { return samples_; }
  std::function<void()> after_measure;

 private:
  TrueTime true_us_;
  std::mt19937_64 random_;
  std::normal_distribution<double> normal_;
  std::uniform_real_distribution<double> uniform_;
  double noise_;
  double drift_ = 1;
  int samples_ = 0;
  std::map<std::string, CandidateStatus> rejected_;
  std::map<std::string, int> admissions_;
};

}  // namespace tilewright

#endif  // TILEWRIGHT_TESTS_AUTOTUNE_SIMULATED_EVALUATOR_H_
