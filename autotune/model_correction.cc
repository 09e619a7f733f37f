#include "autotune/model_correction.h"

#include <cmath>

namespace tilewright {
namespace {

constexpr int kSweeps = 20;
constexpr double kShrinkage = 1.0;  // pseudo-observations of "no effect" behind each factor

}  // namespace

std::vector<ModelCorrection::Feature> ModelCorrection::Features(const Config& config) {
  std::vector<Feature> features = {{config.variant, 0}};
  for (const auto& [name, value] : config.values) {
    features.emplace_back(config.variant + "/" + name, value);
  }
  return features;
}

double ModelCorrection::Effect(const Feature& feature) const {
  const auto it = effects_.find(feature);
  return it == effects_.end() ? 0 : it->second;
}

void ModelCorrection::Observe(const Config& config, double predicted_us, double measured_us) {
  if (!(predicted_us > 0) || !(measured_us > 0)) return;
  observations_.push_back({Features(config), std::log(measured_us / predicted_us)});
}

void ModelCorrection::Fit() {
  effects_.clear();
  intercept_ = 0;
  if (observations_.empty()) return;
  std::vector<double> residuals;
  for (const Observation& seen : observations_) {
    intercept_ += seen.log_ratio / static_cast<double>(observations_.size());
  }
  for (const Observation& seen : observations_) residuals.push_back(seen.log_ratio - intercept_);

  std::map<Feature, std::vector<size_t>> seen_at;
  for (size_t i = 0; i < observations_.size(); ++i) {
    for (const Feature& feature : observations_[i].features) seen_at[feature].push_back(i);
  }
  for (int sweep = 0; sweep < kSweeps; ++sweep) {
    for (const auto& [feature, indices] : seen_at) {
      double& effect = effects_[feature];
      double sum = 0;
      for (size_t i : indices) sum += residuals[i] + effect;
      const double updated = sum / (static_cast<double>(indices.size()) + kShrinkage);
      for (size_t i : indices) residuals[i] += effect - updated;
      effect = updated;
    }
  }
}

double ModelCorrection::Corrected(const Config& config, double predicted_us) const {
  double log_factor = intercept_;
  for (const Feature& feature : Features(config)) log_factor += Effect(feature);
  return predicted_us * std::exp(log_factor);
}

}  // namespace tilewright
