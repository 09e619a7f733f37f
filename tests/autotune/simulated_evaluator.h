// An evaluator over made-up kernels: a true time for every config, a clock as noisy as a GPU's, and
// candidates that are wrong, fail or hang.
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

// Each sample scatters by `noise` of its time. A machine is faster or slower than the next one by
// some 2 %, drifts by 0.2 % a round, runs 3 % slower for a few dozen samples now and then, is
// interrupted in 2 % of the samples, and its time stamps advance by 32 ns.
class SimulatedEvaluator : public Evaluator {
 public:
  using TrueTime = std::function<double(const Config&)>;
  SimulatedEvaluator(TrueTime true_us, uint64_t seed, double noise = 0.004)
      : true_us_(std::move(true_us)), random_(seed), noise_(noise) {
    speed_ = 1 + 0.02 * normal_(random_);
  }

  // Without any noise but the steps of the clock, which all start at the same instant.
  static SimulatedEvaluator Still(TrueTime true_us) {
    SimulatedEvaluator evaluator(std::move(true_us), 1, 0);
    evaluator.is_still_ = true;
    return evaluator;
  }

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
    const double drift = 0.002 / std::sqrt(static_cast<double>(configs.size()));
    for (int r = 0; r < repeats; ++r) {
      for (size_t i = 0; i < configs.size(); ++i) {
        results[i].samples_us.push_back(Sample(true_us_(configs[i]), drift));
        gpu_us_ += results[i].samples_us.back() + kFlushUs;
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
  double gpu_us() const { return gpu_us_; }  // of all samples, each after a flush of the L2
  std::function<void()> after_measure;

 private:
  static constexpr double kFlushUs = 100;

  double Sample(double true_us, double drift) {
    constexpr double kStepUs = 0.032;
    if (is_still_) return kStepUs * std::floor(true_us / kStepUs + 1e-6);
    drift_ = 0.9999 * drift_ + drift * normal_(random_);
    if (slow_left_ > 0) --slow_left_;
    if (uniform_(random_) < 0.0005) slow_left_ = 40;
    double us = true_us * speed_ * std::exp(drift_ + noise_ * normal_(random_));
    if (slow_left_ > 0) us *= 1.03;
    if (uniform_(random_) < 0.02) us *= 1 + uniform_(random_);  // an interrupt
    const double start = uniform_(random_);
    return kStepUs * std::floor(start + us / kStepUs);
  }

  TrueTime true_us_;
  std::mt19937_64 random_;
  std::normal_distribution<double> normal_;
  std::uniform_real_distribution<double> uniform_;
  double noise_;
  double speed_ = 1;
  double drift_ = 0;
  int slow_left_ = 0;
  bool is_still_ = false;
  int samples_ = 0;
  double gpu_us_ = 0;
  std::map<std::string, CandidateStatus> rejected_;
  std::map<std::string, int> admissions_;
};

}  // namespace tilewright

#endif  // TILEWRIGHT_TESTS_AUTOTUNE_SIMULATED_EVALUATOR_H_
