// A made-up tuning problem for the search to be judged on.
#ifndef TILEWRIGHT_TESTS_AUTOTUNE_LANDSCAPE_H_
#define TILEWRIGHT_TESTS_AUTOTUNE_LANDSCAPE_H_

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "autotune/tuner.h"
#include "tests/autotune/simulated_evaluator.h"

namespace tilewright {

// A GEMM-like landscape. The model knows the roofline and wave quantisation; the truth adds what
// models miss: a factor of their own for tiles, stages and clusters, and scatter per config.
struct Landscape {
  explicit Landscape(uint64_t seed) : seed(seed) {
    const TuningSpace space{"wgmma",
                            {{"tile_m", {64, 128, 256}},
                             {"tile_n", {64, 96, 128, 192, 256}},
                             {"tile_k", {32, 64, 128}},
                             {"stages", {2, 3, 4, 5, 6, 8}},
                             {"cluster", {1, 2}}}};
    for (int64_t i = 0; i < space.size(); ++i) {
      const Config config = space.At(i);
      if (Smem(config) <= int64_t{227} * 1024) candidates.push_back({config, Model(config)});
    }
  }

  static int64_t Smem(const Config& c) {
    return (c.Get("tile_m") + c.Get("tile_n")) * c.Get("tile_k") * 2 * c.Get("stages");
  }
  static double Model(const Config& c) {
    const double tiles = std::ceil(4096.0 / static_cast<double>(c.Get("tile_m"))) *
                         std::ceil(7168.0 / static_cast<double>(c.Get("tile_n")));
    const double area = static_cast<double>(c.Get("tile_m") * c.Get("tile_n"));
    const double intensity = area / static_cast<double>(c.Get("tile_m") + c.Get("tile_n"));
    return std::ceil(tiles / 132) * area * 1e-3 * (1 + 24 / intensity);
  }
  double Hash(std::string_view what, int64_t value) const {
    uint64_t state = seed * 0x9e3779b97f4a7c15 + std::hash<std::string_view>()(what) +
                     static_cast<uint64_t>(value) * 0xbf58476d1ce4e5b9;
    double sum = -6;  // of twelve uniforms: nearly normal
    for (int i = 0; i < 12; ++i) {
      state += 0x9e3779b97f4a7c15;
      uint64_t bits = (state ^ (state >> 30)) * 0xbf58476d1ce4e5b9;
      bits = (bits ^ (bits >> 27)) * 0x94d049bb133111eb;
      sum += static_cast<double>((bits ^ (bits >> 31)) >> 11) * 0x1p-53;
    }
    return sum;
  }
  double True(const Config& c) const {
    double log_factor = 0.04 * Hash(c.ToJson(), 0);
    for (const auto& [name, value] : c.values) log_factor += 0.10 * Hash(name, value);
    log_factor += 0.25 / static_cast<double>(c.Get("stages"));
    return Model(c) * std::exp(log_factor);
  }
  double Best() const {
    double best = 1e30;
    for (const Candidate& c : candidates) best = std::min(best, True(c.config));
    return best;
  }
  SimulatedEvaluator::TrueTime Clock() const {
    auto times = std::make_shared<std::map<std::string, double>>();
    for (const Candidate& c : candidates) (*times)[c.config.ToJson()] = True(c.config);
    return [times](const Config& c) { return times->at(c.ToJson()); };
  }

  uint64_t seed;
  std::vector<Candidate> candidates;
};

}  // namespace tilewright

#endif  // TILEWRIGHT_TESTS_AUTOTUNE_LANDSCAPE_H_
