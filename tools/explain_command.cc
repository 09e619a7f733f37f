// tilewright explain: what a call would run, and why.
#include <CLI/CLI.hpp>
#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>

#include "manifest/nearest_name.h"
#include "manifest/status.h"
#include "manifest/text.h"
#include "tools/cli.h"
#include "tools/json_text.h"
#include "tools/selection.h"
#include "tools/shape_file.h"

namespace tilewright {
namespace {

using Json = nlohmann::ordered_json;

struct ExplainArgs {
  DeviceSelection device;
  std::string op;
  std::vector<std::string> shapes;
  std::string dtype;
  std::vector<std::string> params;
  bool json = false;
};

Json ExplanationJson(const Explanation& e) {
  Json json{{"op", e.op},
            {"call", e.call},
            {"device", e.device},
            {"problem", JsonOfText(e.problem_json)},
            {"problem_key", e.problem_key},
            {"launches", e.launches},
            {"quality", QualityName(e.quality)},
            {"config", e.config.variant.empty() ? Json() : JsonOfText(e.config.ToJson())},
            {"rejected_variants", e.rejected_variants},
            {"workspace_bytes", e.workspace_bytes},
            {"predicted_us", e.predicted_us},
            {"sol_us", e.sol_us}};
  if (!e.neighbour_json.empty()) json["neighbour"] = JsonOfText(e.neighbour_json);
  json["kernels"] = Json::array();
  for (const Explanation::Kernel& kernel : e.kernels) {
    json["kernels"].push_back({{"key", kernel.key},
                               {"instantiation", kernel.instantiation},
                               {"in_cache", kernel.in_cache},
                               {"compiler", kernel.compiler},
                               {"registers", kernel.registers},
                               {"smem_bytes", kernel.smem_bytes}});
  }
  return json;
}

void PrintExplanation(const Explanation& e) {
  std::cout << "call       " << e.call << "\ndevice     " << Escaped(e.device) << "\nproblem    "
            << e.problem_json << "\n           key " << e.problem_key << "\n";
  if (!e.launches) {
    std::cout << "no launch  what the call writes has no elements\n";
    return;
  }
  std::cout << "choice     " << QualityName(e.quality);
  switch (e.quality) {
    case Quality::kWinner:
      std::cout << ": tuned for this problem";
      break;
    case Quality::kNeighbour:
      if (e.neighbour_json == e.problem_json) {
        std::cout << ": tuned for this problem, with other templates or another tuning space";
      } else {
        std::cout << ": tuned for " << Escaped(e.neighbour_json);
      }
      break;
    case Quality::kDefault:
      std::cout << ": nothing like it was tuned";
      break;
  }
  std::cout << "\nconfig     " << e.config.ToJson() << "\n";
  for (const Explanation::Kernel& kernel : e.kernels) {
    std::cout << "kernel     " << kernel.key << (kernel.in_cache ? "  cached" : "  NOT CACHED")
              << "\n           " << kernel.instantiation << "\n";
    if (!kernel.compiler.empty())
      std::cout << "           built by " << Escaped(kernel.compiler) << "\n";
    if (kernel.registers > 0) {
      std::cout << "           " << kernel.registers << " registers, " << kernel.smem_bytes
                << " bytes of shared memory\n";
    }
  }
  for (const std::string& rejected : e.rejected_variants) {
    std::cout << "rejected   " << rejected << "\n";
  }
  std::cout << "workspace  " << e.workspace_bytes << " bytes\nmodelled   " << e.predicted_us
            << " us";
  if (e.sol_us > 0) std::cout << ", speed of light " << e.sol_us << " us";
  std::cout << "\n";
}

absl::StatusOr<Explanation> ExplainCall(const CliContext& context, const ExplainArgs& args) {
  RuntimeOptions options = context.runtime;
  // A cache that is not there is not made.
  std::error_code error;
  const bool exists = std::filesystem::exists(options.cache_path, error) || error;
  if (!exists || IsEmptyFile(options.cache_path)) options.cache_path.clear();
  TW_ASSIGN_OR_RETURN(const std::unique_ptr<Runtime> runtime, Runtime::Open(options));
  const OpSpec* op = runtime->Spec(args.op);
  if (op == nullptr) return NoOperator(args.op, NamesOf(runtime->Ops()));
  TW_ASSIGN_OR_RETURN(const CallDesc call,
                      ParseCallArguments(*op, args.shapes, args.dtype, args.params));
  DeviceProfile device;
  if (args.device.arch.empty() && args.device.device.empty()) {
    absl::StatusOr<DeviceProfile> visible = runtime->Device(0);
    if (!visible.ok()) {
      return FailedPrecondition("no GPU to explain the call for: pass --device PROFILE (such as ",
                                "h200) or --arch ARCH; ", visible.status().message());
    }
    device = *std::move(visible);
  } else {
    TW_ASSIGN_OR_RETURN(const std::vector<DeviceProfile> devices, args.device.Profiles());
    device = devices.front();
  }
  return runtime->Explain(call, device);
}

int RunExplain(const CliContext& context, const ExplainArgs& args) {
  const absl::StatusOr<Explanation> explanation = ExplainCall(context, args);
  if (!explanation.ok()) return Fail(explanation.status());
  if (args.json) {
    PrintJson(ExplanationJson(*explanation));
  } else {
    PrintExplanation(*explanation);
  }
  return kDone;
}

}  // namespace

void AddExplainCommand(CLI::App& app, CliContext& context) {
  auto args = std::make_shared<ExplainArgs>();
  CLI::App* command =
      AddCommand(app, context, "explain", "Say what a call would run, and why (runs nothing)",
                 [&context, args] { return RunExplain(context, *args); });
  command->add_option("OP", args->op, "Operator")->required();
  command->add_option("SHAPE", args->shapes,
                      "Input shapes, such as 128x7168 (of the next input) or a=128x7168; x=() has "
                      "no axes; ids=2048:int32 has a dtype that does not follow from --dtype");
  command->add_option("--dtype", args->dtype,
                      "Dtype of the leading input, or of the first output where there are no "
                      "inputs; that of the operator's first workload unless given");
  command->add_option("--param", args->params, "Parameters, such as trans_b=true or value=-inf");
  args->device.AddOptions(*command, "without --arch and --device, that of the first GPU");
  command->add_flag("--json", args->json, "Print JSON");
}

}  // namespace tilewright
