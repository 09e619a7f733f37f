#include "runtime/custom_ops.h"

#include <set>
#include <string_view>
#include <utility>

#include "manifest/device_profile.h"
#include "manifest/status.h"

namespace tilewright {
namespace {

// Each workload must be a legal call of positive, finite work.
absl::Status CheckWorkloads(const OpSpec& spec) {
  for (const Workload& workload : spec.workloads) {
    for (const DType dtype : workload.dtypes) {
      absl::StatusOr<CallDesc> call = WorkloadCall(spec, workload, dtype);
      absl::Status status = call.status();
      if (status.ok()) {
        const absl::StatusOr<Work> work = EvaluateRoofline(*call);
        status = work.ok() ? CheckWork(*work) : work.status();
      }
      if (!status.ok()) {
        return InvalidArgument(spec.file, ":", workload.line, ": ", spec.name, ": workload '",
                               workload.label, "': ", status.message());
      }
    }
  }
  return absl::OkStatus();
}

// The template files of a call's kernels at their defaults, on every known device, by variant.
std::set<std::pair<std::string_view, std::string>> TemplateFiles(const Recipe& recipe,
                                                                 const CallDesc& call) {
  std::set<std::pair<std::string_view, std::string>> files;
  for (const DeviceProfile& device : BuiltinDeviceProfiles()) {
    for (const Variant* variant : recipe.variants()) {
      if (variant == nullptr || !variant->Serves(call, device).ok()) continue;
      for (const KernelSpec& spec : variant->Kernels(call, variant->Default(call, device))) {
        files.emplace(variant->name(), spec.template_file);
      }
    }
  }
  return files;
}

}  // namespace

absl::Status CheckTemplates(std::span<const std::unique_ptr<OpEntry>> entries,
                            const TemplateSet& templates) {
  for (const std::unique_ptr<OpEntry>& entry : entries) {
    const OpSpec& spec = entry->spec;
    if (entry->recipe == nullptr) continue;
    for (const Workload& workload : spec.workloads) {
      for (const DType dtype : workload.dtypes) {
        TW_ASSIGN_OR_RETURN(const CallDesc call, WorkloadCall(spec, workload, dtype));
        for (const auto& [variant, file] : TemplateFiles(*entry->recipe, call)) {
          const absl::Status status = templates.Closure(file).status();
          if (status.ok()) continue;
          return InvalidArgument(spec.file, ":", workload.line, ": ", spec.name, ": workload '",
                                 workload.label, "': variant '", variant, "': ", status.message());
        }
      }
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<std::unique_ptr<OpEntry>>> CustomOpEntries(const CustomOp& custom) {
  TW_ASSIGN_OR_RETURN(const Manifest manifest,
                      Manifest::FromYaml(custom.manifest_yaml, "custom.yaml"));
  std::vector<std::unique_ptr<OpEntry>> entries;
  for (const OpSpec& spec : manifest.ops()) {
    auto entry = std::make_unique<OpEntry>();
    entry->spec = spec;
    Roofline& roofline = entry->spec.roofline;
    if (custom.roofline != nullptr && !roofline.formula.empty()) {
      roofline.compute = custom.roofline(roofline.formula);
    }
    TW_RETURN_IF_ERROR(CheckWorkloads(entry->spec));
    if (custom.recipe != nullptr) entry->recipe = custom.recipe(spec.name);
    if (custom.reference != nullptr) entry->reference = custom.reference(spec.name);
    if (entry->recipe == nullptr && spec.status == OpStatus::kImplemented) {
      return InvalidArgument(spec.file, ":", spec.line, ": ", spec.name,
                             ".status: implemented, but no recipe was given");
    }
    entries.push_back(std::move(entry));
  }
  if (entries.empty()) return InvalidArgument("custom.yaml: holds no operator");
  return entries;
}

}  // namespace tilewright
