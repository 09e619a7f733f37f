// A tuning configuration and the space it comes from. Plain data.
#ifndef TILEWRIGHT_AUTOTUNE_CONFIG_H_
#define TILEWRIGHT_AUTOTUNE_CONFIG_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"

namespace tilewright {

// One point of a space: which variant of the operator's templates, and its named constants, in the
// space's axis order.
struct Config {
  std::string variant;
  std::vector<std::pair<std::string, int64_t>> values;

  // The value of `name`; `fallback` if the config has none.
  int64_t Get(std::string_view name, int64_t fallback = 0) const;
  // {"variant":"wgmma","tile_m":128,...}: canonical, the form that the cache stores.
  std::string ToJson() const;
  static absl::StatusOr<Config> FromJson(std::string_view json);
  friend bool operator==(const Config&, const Config&) = default;
};

struct TuningAxis {
  std::string name;
  std::vector<int64_t> values;
};

// The cross product of its axes. Legality is the recipe's predicate, applied to each point.
struct TuningSpace {
  std::string variant;
  std::vector<TuningAxis> axes;

  int64_t size() const;            // points, before legality
  Config At(int64_t index) const;  // 0 <= index < size(), last axis fastest
  std::string Digest() const;      // names and values; part of what a winner was measured with
};

}  // namespace tilewright

#endif  // TILEWRIGHT_AUTOTUNE_CONFIG_H_
