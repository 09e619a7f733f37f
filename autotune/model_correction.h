// Learning, during a search, by how much the cost model is off.
#ifndef TILEWRIGHT_AUTOTUNE_MODEL_CORRECTION_H_
#define TILEWRIGHT_AUTOTUNE_MODEL_CORRECTION_H_

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "autotune/config.h"

namespace tilewright {

// One factor for the variant and one per axis value: corrected = predicted * product of factors.
// Fitted to log(measured / predicted) by backfitting with shrinkage, so that a value that was seen
// once moves its factor by half of what was observed. Not thread-safe.
class ModelCorrection {
 public:
  void Observe(const Config& config, double predicted_us, double measured_us);
  // Refits on everything observed so far.
  void Fit();
  double Corrected(const Config& config, double predicted_us) const;

 private:
  using Feature = std::pair<std::string, int64_t>;  // axis of a variant, value
  static std::vector<Feature> Features(const Config& config);
  double Effect(const Feature& feature) const;

  struct Observation {
    std::vector<Feature> features;
    double log_ratio;
  };
  std::vector<Observation> observations_;
  std::map<Feature, double> effects_;
  double intercept_ = 0;
};

}  // namespace tilewright

#endif  // TILEWRIGHT_AUTOTUNE_MODEL_CORRECTION_H_
