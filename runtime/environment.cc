// The only file that reads the environment.
#include <cstdlib>
#include <string>
#include <string_view>

#include "manifest/nearest_name.h"
#include "manifest/status.h"
#include "runtime/runtime.h"

namespace tilewright {
namespace {

std::string Get(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

absl::StatusOr<bool> IsOn(const char* name) {
  const std::string value = Get(name);
  for (const char* on : {"1", "true", "on"}) {
    if (value == on) return true;
  }
  for (const char* off : {"", "0", "false", "off"}) {
    if (value == off) return false;
  }
  return InvalidArgument(name, ": expected 0, 1, true, false, on or off, got '", value, "'",
                         DidYouMean(value, {{"true", "false"}}));
}

void AddWheelDirs(const std::string& root, std::vector<std::string>& dirs) {
  for (const char* wheel : {"nvidia/cu13/lib", "nvidia/cuda_nvrtc/lib"}) {
    dirs.push_back(root + "/lib/python3*/site-packages/" + wheel);
  }
}

}  // namespace

std::string DefaultCachePath() {
  std::string base = Get("XDG_CACHE_HOME");
  // The XDG specification: a relative path is to be ignored.
  if (base.empty() || base.front() != '/') {
    const std::string home = Get("HOME");
    if (home.empty()) return "";
    base = home + "/.cache";
  }
  return base + "/tilewright/kernels.db";
}

RuntimeOptions RuntimeOptions::FromEnvironment() {
  RuntimeOptions options;
  options.cache_path = Get("TILEWRIGHT_CACHE");
  if (options.cache_path.empty()) options.cache_path = DefaultCachePath();
  const absl::StatusOr<bool> strict = IsOn("TILEWRIGHT_STRICT");
  options.environment = strict.status();
  options.strict = strict.value_or(false);
  options.nvrtc_path = Get("TILEWRIGHT_NVRTC");
  options.template_dir = Get("TILEWRIGHT_TEMPLATES");
  options.worker_path = Get("TILEWRIGHT_WORKER");
  options.failed_source_dir = Get("TILEWRIGHT_FAILED_SOURCES");
  for (const char* name : {"CUDA_HOME", "CUDA_PATH"}) {
    if (const std::string root = Get(name); !root.empty()) {
      options.nvrtc_search_dirs.push_back(root + "/lib64");
    }
  }
  if (const std::string root = Get("VIRTUAL_ENV"); !root.empty()) {
    AddWheelDirs(root, options.nvrtc_search_dirs);
  }
  if (const std::string home = Get("HOME"); !home.empty()) {
    AddWheelDirs(home + "/.local", options.nvrtc_search_dirs);
  }
  return options;
}

}  // namespace tilewright
