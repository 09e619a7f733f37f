// tilewright doctor: what this machine offers, and what is missing and where it was sought.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>

#include "kernel_templates/embedded.h"
#include "manifest/status.h"
#include "runtime/compiler.h"
#include "runtime/driver/driver.h"
#include "tools/cli.h"
#include "tools/json_text.h"
#include "tools/message.h"

namespace tilewright {
namespace {

using Json = nlohmann::ordered_json;

// One line of the report.
struct Part {
  std::string name;
  bool found = false;
  std::string detail;
};

Part DriverPart(Driver& driver) {
  const absl::StatusOr<int> version = driver.DriverVersion();
  if (!version.ok()) return {"driver", false, MessageOf(version.status())};
  return {"driver", true,
          Cat(driver.LibraryPath(), ", for CUDA ", *version / 1000, ".", *version % 1000 / 10)};
}

std::vector<Part> GpuParts(Driver& driver, Runtime& runtime) {
  const absl::StatusOr<int> count = driver.DeviceCount();
  if (!count.ok()) return {{"gpu", false, "none visible without a driver"}};
  if (*count == 0) return {{"gpu", false, "none visible"}};
  std::vector<Part> parts;
  for (int i = 0; i < *count; ++i) {
    const absl::StatusOr<DeviceProfile> device = runtime.Device(i);
    if (!device.ok()) {
      parts.push_back({Cat("gpu ", i), false, MessageOf(device.status())});
      continue;
    }
    const std::string calibration =
        device->bandwidth_gbps > 0 ? Cat(device->bandwidth_gbps, " GB/s") : "not calibrated";
    parts.push_back(
        {Cat("gpu ", i), true, Cat(device->Key(), " SMs, ", device->arch, ", ", calibration)});
  }
  return parts;
}

Part CompilerPart(Compiler& compiler) {
  const absl::StatusOr<std::string> version = compiler.Version();
  if (!version.ok()) return {"nvrtc", false, MessageOf(version.status())};
  return {"nvrtc", true, *version};
}

// Only of a folder that was asked for.
std::vector<Part> TemplateParts(const std::string& folder) {
  if (folder.empty()) return {};
  const absl::Status taken = TemplateSet::Builtin().OverrideFrom(folder);
  if (taken.ok()) return {{"templates", true, Cat("TILEWRIGHT_TEMPLATES: ", folder)}};
  return {{"templates", false, Cat("TILEWRIGHT_TEMPLATES: ", MessageOf(taken))}};
}

// A cache that is not there: whether it can be made, with the folders above it that are missing.
Part NewCachePart(const std::string& path) {
  std::error_code error;
  std::filesystem::path folder = std::filesystem::absolute(path, error).parent_path();
  while (folder.has_relative_path() && !std::filesystem::exists(folder, error)) {
    folder = folder.parent_path();
  }
  const bool is_folder = std::filesystem::is_directory(folder, error);
  if (!is_folder || ::access(folder.c_str(), W_OK | X_OK) != 0) {
    const std::string reason = std::generic_category().message(is_folder ? errno : ENOTDIR);
    return {"cache", false, Cat(path, " cannot be made: ", folder.string(), ": ", reason)};
  }
  return {"cache", true, path + ", not made yet"};
}

Part CachePart(const RuntimeOptions& options) {
  const std::string& path = options.cache_path;
  if (path.empty()) {
    return {"cache", false, "no path: neither --cache, TILEWRIGHT_CACHE, XDG_CACHE_HOME nor HOME"};
  }
  std::error_code error;
  const bool exists = std::filesystem::exists(path, error);
  if (error) return {"cache", false, Cat(path, ": ", error.message())};
  if (!exists) return NewCachePart(path);
  const auto cache = OpenCacheFile(path, CacheAccess::kExisting);
  if (!cache.ok()) return {"cache", false, MessageOf(cache.status())};
  const CacheStats stats = (*cache)->Stats();
  return {"cache", true,
          Cat(path, ", ", stats.mode, ", ", stats.kernels, " kernels, ", stats.winners,
              " winners, ", HumanBytes(stats.file_bytes))};
}

int RunDoctor(const CliContext& context, bool json) {
  RuntimeOptions options = context.runtime;
  const std::shared_ptr<Driver> driver = SystemDriver();
  const std::shared_ptr<Compiler> compiler =
      NvrtcCompiler(options.nvrtc_path, options.nvrtc_search_dirs);
  std::vector<Part> parts = {DriverPart(*driver), CompilerPart(*compiler), CachePart(options)};
  for (Part& part : TemplateParts(options.template_dir)) parts.push_back(std::move(part));
  options.cache_path.clear();
  options.template_dir.clear();
  options.driver = driver;
  const auto runtime = Runtime::Open(std::move(options));
  if (!runtime.ok()) return Fail(runtime.status());
  for (Part& part : GpuParts(*driver, **runtime)) parts.push_back(std::move(part));

  bool all_found = true;
  Json report = Json::array();
  for (const Part& part : parts) {
    all_found = all_found && part.found;
    report.push_back({{"part", part.name}, {"found", part.found}, {"detail", part.detail}});
    if (!json) {
      std::cout << (part.found ? "found    " : "MISSING  ") << part.name << ": " << part.detail
                << "\n";
    }
  }
  if (json) PrintJson(report);
  return all_found ? kDone : kFindings;
}

}  // namespace

void AddDoctorCommand(CLI::App& app, CliContext& context) {
  auto json = std::make_shared<bool>(false);
  CLI::App* command = AddCommand(
      app, context, "doctor",
      "Say what this machine offers: driver, NVRTC, GPUs, cache; exit 1 if any is missing",
      [&context, json] { return RunDoctor(context, *json); });
  command->add_flag("--json", *json, "Print JSON");
}

}  // namespace tilewright
