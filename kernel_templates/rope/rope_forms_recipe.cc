// The forms of rotary position embedding: their frequencies.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "kernel_templates/rope/rope_recipe.h"
#include "manifest/op_spec.h"

namespace tilewright {
namespace {

constexpr double kTwoPi = 2 * std::numbers::pi;

double Param(const CallDesc& call, size_t index) { return call.params[index].as_float(); }

// base^(-pair / pairs).
void PlainTurns(double base, int pairs, RopeTurns* turns) {
  for (int k = 0; k < pairs; ++k) {
    turns->radians[static_cast<size_t>(k)] = std::pow(base, -static_cast<double>(k) / pairs);
  }
}

// Param 0: base.
void NeoxTurns(const CallDesc& call, int pairs, RopeTurns* turns) {
  PlainTurns(Param(call, 0), pairs, turns);
}

// Operands: x, positions, output. Params: max_position, base, rotary_dim.
void PositionIdsTurns(const CallDesc& call, int pairs, RopeTurns* turns) {
  PlainTurns(Param(call, 1), pairs, turns);
}

// Params: base, scale_factor, low_freq_factor, high_freq_factor, original_max_position. Slow pairs
// are slowed down by the factor, fast ones kept, those between interpolated.
void Llama31Turns(const CallDesc& call, int pairs, RopeTurns* turns) {
  PlainTurns(Param(call, 0), pairs, turns);
  const double scale = Param(call, 1), low = Param(call, 2), high = Param(call, 3);
  const double original = Param(call, 4);
  for (int k = 0; k < pairs; ++k) {
    double& frequency = turns->radians[static_cast<size_t>(k)];
    const double wavelength = kTwoPi / frequency;
    if (wavelength < original / high) continue;
    if (wavelength > original / low) {
      frequency /= scale;
      continue;
    }
    const double smooth = (original / wavelength - low) / (high - low);
    frequency = (1 - smooth) * frequency / scale + smooth * frequency;
  }
}

// Params: base, scale, original_max_position, beta_fast, beta_slow, attn_factor. Blends the
// frequencies of base and of scale * base by a ramp between two pairs.
void YarnTurns(const CallDesc& call, int pairs, RopeTurns* turns) {
  const double base = Param(call, 0), scale = Param(call, 1), original = Param(call, 2);
  const auto pair_of = [&](double rotations) {
    return pairs * std::log(original / (rotations * kTwoPi)) / (2 * std::log(base));
  };
  const double low = std::max(std::floor(pair_of(Param(call, 3))), 0.0);
  double high = std::min(std::ceil(pair_of(Param(call, 4))), pairs - 1.0);
  if (low == high) high += 1;
  PlainTurns(base, pairs, turns);
  for (int k = 0; k < pairs; ++k) {
    double& frequency = turns->radians[static_cast<size_t>(k)];
    const double slowed = std::pow(scale * base, -static_cast<double>(k) / pairs);
    const double ramp = std::clamp((k - low) / (high - low), 0.0, 1.0);
    frequency = slowed * ramp + frequency * (1 - ramp);
  }
  turns->amplitude = Param(call, 5);
}

// Operands: x, rescale_factors, output. Params: base, max_position_embeddings,
// original_max_position_embeddings.
void LongRopeTurns(const CallDesc& call, int pairs, RopeTurns* turns) {
  PlainTurns(Param(call, 0), pairs, turns);
  const double scale = Param(call, 1) / Param(call, 2);
  if (scale > 1) turns->amplitude = std::sqrt(1 + std::log(scale) / std::log(Param(call, 2)));
}

}  // namespace

TILEWRIGHT_RECIPE(RopeNeoxFwdOp) { return MakeRopeRecipe({.turns = NeoxTurns}); }

TILEWRIGHT_RECIPE(RopeNonNeoxFwdOp) {
  return MakeRopeRecipe({.turns = NeoxTurns, .halves = false});
}

TILEWRIGHT_RECIPE(RopeLlama31FwdOp) { return MakeRopeRecipe({.turns = Llama31Turns}); }

TILEWRIGHT_RECIPE(RopeYarnFwdOp) { return MakeRopeRecipe({.turns = YarnTurns}); }

TILEWRIGHT_RECIPE(RopeLongRopeFwdOp) {
  return MakeRopeRecipe({.turns = LongRopeTurns, .factors = 1});
}

TILEWRIGHT_RECIPE(RopeNeoxPositionIdsFwdOp) {
  return MakeRopeRecipe({.turns = PositionIdsTurns, .positions = 1, .rotated = 2});
}

}  // namespace tilewright
