#include "tools/selection.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "kernel_templates/recipe.h"
#include "manifest/nearest_name.h"
#include "manifest/status.h"
#include "manifest/text.h"
#include "tools/message.h"
#include "tools/read_file.h"

namespace tilewright {
namespace {

bool Contains(const std::vector<std::string>& list, const std::string& value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

bool HasRecipe(const OpSpec& op) { return MakeBuiltinRecipe(op.name) != nullptr; }

absl::Status CheckNames(const CallSelection& selection) {
  const std::vector<OpSpec>& ops = Manifest::BuiltinOps();
  for (const std::string& name : selection.ops) {
    const auto found =
        std::find_if(ops.begin(), ops.end(), [&](const OpSpec& op) { return op.name == name; });
    if (found == ops.end()) {
      return NoOperator(name, NamesOf(ops));
    }
    if (!HasRecipe(*found)) {
      return FailedPrecondition("operator '", name, "' is declared, but has no recipe");
    }
  }
  for (const std::string& family : selection.families) {
    if (std::none_of(ops.begin(), ops.end(),
                     [&](const OpSpec& op) { return op.family == family; })) {
      std::vector<std::string_view> families;
      for (const OpSpec& op : ops) families.push_back(op.family);
      return InvalidArgument("no family '", family, "' (see tilewright ops)",
                             DidYouMean(family, families));
    }
  }
  return absl::OkStatus();
}

// Those of the built-in profiles.
std::set<std::string> ArchNames() {
  std::set<std::string> archs;
  for (const DeviceProfile& profile : BuiltinDeviceProfiles()) archs.insert(profile.arch);
  return archs;
}

// The same, each after a space.
std::string Architectures() {
  std::string text;
  for (const std::string& name : ArchNames()) text += " " + name;
  return text;
}

absl::StatusOr<DeviceProfile> NamedProfile(const std::string& device) {
  std::error_code error;
  if (!std::filesystem::exists(device, error)) {
    absl::StatusOr<DeviceProfile> builtin = BuiltinDeviceProfile(device);
    if (builtin.ok()) return builtin;
    return InvalidArgument("--device: there is no file '", Brief(device), "', and ",
                           MessageOf(builtin.status()));
  }
  const absl::StatusOr<std::string> text = ReadBounded(device, "device profile");
  if (!text.ok()) return InvalidArgument(MessageOf(text.status()));
  return DeviceProfile::FromJson(*text);
}

}  // namespace

absl::Status NoOperator(std::string_view name, std::span<const std::string_view> ops) {
  return NotFound("no operator '", name, "' (see tilewright ops)", DidYouMean(name, ops));
}

void CallSelection::AddOptions(CLI::App& command) {
  command.add_option("--op", ops, "Only these operators, and those of --family");
  command.add_option("--family", families,
                     "Only the operators of these families, and those of --op");
  command.add_option("--shapes", shapes, "JSON lines of calls instead of the workloads")
      ->check(CLI::ExistingFile);
}

absl::StatusOr<std::vector<const OpSpec*>> CallSelection::Ops() const {
  TW_RETURN_IF_ERROR(CheckNames(*this));
  std::vector<const OpSpec*> chosen;
  for (const OpSpec& op : Manifest::BuiltinOps()) {
    const bool named = ops.empty() && families.empty();
    if (HasRecipe(op) && (named || Contains(ops, op.name) || Contains(families, op.family))) {
      chosen.push_back(&op);
    }
  }
  if (chosen.empty()) return FailedPrecondition("no operator that has a recipe is chosen");
  return chosen;
}

absl::StatusOr<std::vector<NamedCall>> CallSelection::Calls() const {
  TW_ASSIGN_OR_RETURN(const std::vector<const OpSpec*> chosen, Ops());
  std::vector<NamedCall> calls;
  if (shapes.empty()) {
    for (const OpSpec* op : chosen) {
      TW_ASSIGN_OR_RETURN(std::vector<NamedCall> workloads, WorkloadCalls(*op));
      std::move(workloads.begin(), workloads.end(), std::back_inserter(calls));
    }
    return calls;
  }
  std::vector<const OpSpec*> all;
  for (const OpSpec& op : Manifest::BuiltinOps()) all.push_back(&op);
  TW_ASSIGN_OR_RETURN(calls, ReadShapeFile(shapes, all));
  std::erase_if(calls, [&](const NamedCall& call) {
    return std::find(chosen.begin(), chosen.end(), call.call.op) == chosen.end();
  });
  if (calls.empty()) return InvalidArgument(shapes, ": no line is of a chosen operator");
  return calls;
}

void DeviceSelection::AddOptions(CLI::App& command, const std::string& without) {
  command.add_option("--arch", arch, Cat("Architecture:", Architectures(), "; ", without));
  command.add_option("--device", device,
                     Cat("Device profile: a built-in name such as h200, or a file of tilewright "
                         "calibrate; ",
                         without));
}

absl::StatusOr<std::vector<DeviceProfile>> DeviceSelection::Profiles() const {
  if (arch.empty() && device.empty()) {
    return InvalidArgument("give --arch (such as sm_90a) or --device (such as h200)");
  }
  if (device.empty()) {
    std::vector<DeviceProfile> profiles = BuiltinDeviceProfiles();
    std::erase_if(profiles, [&](const DeviceProfile& profile) { return profile.arch != arch; });
    if (profiles.empty()) {
      const std::set<std::string> archs = ArchNames();
      const std::vector<std::string_view> known(archs.begin(), archs.end());
      return NotFound("no architecture '", arch, "'; there are", Architectures(),
                      DidYouMean(arch, known));
    }
    return profiles;
  }
  TW_ASSIGN_OR_RETURN(const DeviceProfile profile, NamedProfile(device));
  if (!arch.empty() && arch != profile.arch) {
    return InvalidArgument("--arch is ", arch, ", but the device ", Escaped(profile.name), " is ",
                           profile.arch);
  }
  return std::vector<DeviceProfile>{profile};
}

}  // namespace tilewright
