#include "autotune/config.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <cstdio>
#include <nlohmann/json.hpp>

#include "manifest/status.h"

namespace tilewright {

int64_t Config::Get(std::string_view name, int64_t fallback) const {
  for (const auto& [key, value] : values) {
    if (key == name) return value;
  }
  return fallback;
}

std::string Config::ToJson() const {
  nlohmann::ordered_json json;
  json["variant"] = variant;
  for (const auto& [name, value] : values) json[name] = value;
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

absl::StatusOr<Config> Config::FromJson(std::string_view json) {
  auto parsed = nlohmann::ordered_json::parse(json, nullptr, /*allow_exceptions=*/false);
  if (parsed.is_discarded() || !parsed.is_object()) {
    return InvalidArgument("config: expected a JSON object, got '", json, "'");
  }
  Config config;
  bool has_variant = false;
  for (const auto& [key, value] : parsed.items()) {
    if (key == "variant") {
      if (!value.is_string()) return InvalidArgument("config: 'variant' is no string: ", json);
      config.variant = value.get<std::string>();
      has_variant = true;
    } else if (value.is_number_integer()) {
      config.values.emplace_back(key, value.get<int64_t>());
    } else {
      return InvalidArgument("config: '", key, "' is no integer: ", json);
    }
  }
  if (!has_variant) return InvalidArgument("config: no 'variant' in ", json);
  return config;
}

int64_t TuningSpace::size() const {
  int64_t points = 1;
  for (const TuningAxis& axis : axes) points *= static_cast<int64_t>(axis.values.size());
  return points;
}

Config TuningSpace::At(int64_t index) const {
  Config config{variant, {}};
  config.values.resize(axes.size());
  for (size_t i = axes.size(); i-- > 0;) {
    const auto extent = static_cast<int64_t>(axes[i].values.size());
    config.values[i] = {axes[i].name, axes[i].values[static_cast<size_t>(index % extent)]};
    index /= extent;
  }
  return config;
}

std::string TuningSpace::Digest() const {
  nlohmann::ordered_json json = {{"variant", variant}};
  for (const TuningAxis& axis : axes) json["axes"].push_back({axis.name, axis.values});
  const std::string text = json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  const XXH128_hash_t hash = XXH3_128bits(text.data(), text.size());
  char digest[33];
  std::snprintf(digest, sizeof(digest), "%016llx%016llx",
                static_cast<unsigned long long>(hash.high64),
                static_cast<unsigned long long>(hash.low64));
  return digest;
}

}  // namespace tilewright
