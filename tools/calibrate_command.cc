// tilewright calibrate: measures a device's ceilings and keeps them as its profile.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <iomanip>
#include <iostream>
#include <nlohmann/json.hpp>

#include "manifest/status.h"
#include "runtime/device_table.h"
#include "tools/ceilings.h"
#include "tools/cli.h"
#include "tools/gpu_session.h"
#include "tools/json_text.h"

namespace tilewright {
namespace {

using Json = nlohmann::ordered_json;

struct CalibrateArgs {
  int device = 0;
  std::string output;
  bool json = false;
};

int RunCalibrate(const CliContext& context, const CalibrateArgs& args) {
  if (args.output.empty() && context.runtime.ProfileFolder().empty()) {
    return Misuse("no folder for the profile: give --output FILE or --cache FILE");
  }
  if (absl::Status status = CheckOutputFile(args.output); !status.ok()) return Fail(status);
  const auto gpu = GpuSession::Open(context.runtime, args.device);
  if (!gpu.ok()) return Fail(gpu.status());
  const absl::StatusOr<Ceilings> measured = MeasureCeilings(**gpu);
  if (!measured.ok()) return Fail(measured.status());
  DeviceProfile profile = (*gpu)->profile();
  profile.bandwidth_gbps =
      std::max({measured->read_gbps, measured->copy_gbps, measured->triad_gbps});
  profile.tensor_tflops_16bit = measured->matmul_tflops;
  profile.fp32_tflops = measured->fp32_tflops;
  const std::string path =
      !args.output.empty() ? args.output : ProfilePath(context.runtime.ProfileFolder(), profile);
  std::error_code ignored;
  if (const auto folder = std::filesystem::path(path).parent_path(); !folder.empty()) {
    std::filesystem::create_directories(folder, ignored);
  }
  const absl::Status written = WriteOutputFile(path, profile.ToJson() + "\n");
  if (!written.ok()) return Fail(written);
  if (args.json) {
    PrintJson(Json{{"device", profile.Key()},
                   {"read_gbps", measured->read_gbps},
                   {"copy_gbps", measured->copy_gbps},
                   {"triad_gbps", measured->triad_gbps},
                   {"matmul_tflops", measured->matmul_tflops},
                   {"fp32_tflops", measured->fp32_tflops},
                   {"method", measured->method},
                   {"profile", path}});
    return kDone;
  }
  std::cout << std::fixed << std::setprecision(1) << profile.Key() << " SMs, timed by "
            << measured->method << "\nread     " << measured->read_gbps << " GB/s\ncopy     "
            << measured->copy_gbps << " GB/s\ntriad    " << measured->triad_gbps
            << " GB/s\nmatmul   " << measured->matmul_tflops << " TFLOP/s (bfloat16)\nfp32     "
            << measured->fp32_tflops << " TFLOP/s\nprofile  " << path << "\n";
  return kDone;
}

}  // namespace

void AddCalibrateCommand(CLI::App& app, CliContext& context) {
  auto args = std::make_shared<CalibrateArgs>();
  CLI::App* command =
      AddCommand(app, context, "calibrate",
                 "Measure a GPU's bandwidth and peaks, and keep them beside the cache",
                 [&context, args] { return RunCalibrate(context, *args); });
  command->add_option("--device", args->device, "Ordinal of the GPU")
      ->check(IntegerBetween(0, 1023));
  command->add_option("--output", args->output, "File to write instead");
  command->add_flag("--json", args->json, "Print JSON");
}

}  // namespace tilewright
