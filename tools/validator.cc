#include "tools/validator.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <set>
#include <string_view>

#include "bench/peers/peers.h"
#include "kernel_templates/embedded.h"
#include "manifest/device_profile.h"
#include "manifest/status.h"
#include "manifest/text.h"
#include "runtime/conform/ledger_check.h"
#include "tools/message.h"

namespace tilewright {
namespace {

// The oldest architecture that an implemented operator serves, and the newest tuned one.
constexpr std::string_view kServedProfiles[] = {"sm_80", "h200"};
constexpr size_t kMinWorkloads = 2;

// Collects the findings of one entry.
class OpValidator {
 public:
  OpValidator(const OpSpec& op, const ValidatorParts& parts) : op_(op) {
    if (parts.recipe) recipe_ = parts.recipe(op.name);
    if (parts.reference) reference_ = parts.reference(op.name);
    if (parts.bench_peer) has_peer_ = parts.bench_peer(op.name);
  }

  std::vector<Finding> Run() {
    CheckSchema();
    CheckParts();
    CheckWorkloads();
    CheckDTypes();
    return std::move(findings_);
  }

 private:
  template <class... Parts>
  void Add(int level, int line, const std::string& field, const Parts&... parts) {
    findings_.push_back({level, op_.file, line > 0 ? line : op_.line, op_.name, Brief(field),
                         Escaped(Brief(Cat(parts...)))});
  }

  bool implemented() const { return op_.status == OpStatus::kImplemented; }

  void CheckSchema() {
    if (op_.reference.empty()) Add(0, 0, "reference", "is missing (write none and a formula)");
    if (op_.reference == "none" && op_.formula.empty()) {
      Add(0, 0, "formula", "is missing where reference is none");
    }
    if (op_.family.empty()) Add(0, 0, "family", "is missing");
    if (op_.source.empty()) Add(0, 0, "source", "is missing");
    if (op_.outputs.empty()) Add(0, 0, "outputs", "expected at least one");
    for (const TensorSpec& output : op_.outputs) {
      if (!output.shape) Add(0, 0, "outputs." + output.name, "has no shape");
    }
  }

  void CheckParts() {
    if (implemented() && recipe_ == nullptr) {
      Add(1, 0, "status", "claims implemented, but there is no recipe");
    }
    if (recipe_ != nullptr && recipe_->variants().empty()) {
      Add(1, 0, "status", "the recipe has no variant");
    }
    if (implemented() && !reference_) {
      Add(4, 0, "status", "claims implemented, but there is no reference implementation");
    }
    if (implemented() && !has_peer_) {
      Add(4, 0, "status", "claims implemented, but the benchmark has no peer for it");
    }
    if (op_.workloads.size() < kMinWorkloads) {
      Add(4, 0, "workloads", "expected at least ", kMinWorkloads, ", got ", op_.workloads.size());
    }
  }

  void CheckWorkloads() {
    std::set<std::pair<std::string, DType>> seen;
    for (const Workload& workload : op_.workloads) {
      const std::string field = "workloads." + workload.label;
      if (workload.dtypes.empty()) Add(3, workload.line, field, "names no dtype");
      for (DType dtype : workload.dtypes) {
        if (!seen.emplace(workload.label, dtype).second) {
          Add(0, workload.line, field, "is there twice at ", DTypeName(dtype));
        }
        CheckWorkload(workload, dtype, field);
      }
    }
  }

  void CheckWorkload(const Workload& workload, DType dtype, const std::string& field) {
    const absl::StatusOr<CallDesc> call = WorkloadCall(op_, workload, dtype);
    if (!call.ok()) {
      Add(2, workload.line, field, "at ", DTypeName(dtype), ": ", MessageOf(call.status()));
      return;
    }
    CheckRoofline(*call, workload.line, field);
    CheckServed(*call, 1, workload.line, field);
  }

  void CheckRoofline(const CallDesc& call, int line, const std::string& field) {
    const absl::StatusOr<Work> work = EvaluateRoofline(call);
    const absl::Status status = work.ok() ? CheckWork(*work) : work.status();
    if (!status.ok()) Add(4, line, "roofline", field, ": ", MessageOf(status));
  }

  // The recipe describes the call by as many values as it has fields, and serves it by a legal
  // default on each architecture, its portable variant included.
  void CheckServed(const CallDesc& call, int level, int line, const std::string& field) {
    if (recipe_ == nullptr || recipe_->variants().empty()) return;
    if (recipe_->Describe(call).size() != recipe_->fields().size()) {
      Add(1, line, field, "the recipe describes ", call.ToString(), " by ",
          recipe_->Describe(call).size(), " values, but has ", recipe_->fields().size(), " fields");
    }
    for (std::string_view name : kServedProfiles) {
      const absl::StatusOr<DeviceProfile> device = BuiltinDeviceProfile(name);
      if (!device.ok()) {
        Add(1, line, field, MessageOf(device.status()));
        continue;
      }
      for (const Variant* variant :
           {*SelectOrPortable(call, *device), recipe_->variants().back()}) {
        CheckVariant(*variant, call, *device, level, line, field);
      }
    }
  }

  // Where no variant serves the call, the portable one says why.
  absl::StatusOr<const Variant*> SelectOrPortable(const CallDesc& call,
                                                  const DeviceProfile& device) {
    absl::StatusOr<const Variant*> selected = SelectVariant(*recipe_, call, device);
    return selected.ok() ? selected : recipe_->variants().back();
  }

  void CheckVariant(const Variant& variant, const CallDesc& call, const DeviceProfile& device,
                    int level, int line, const std::string& field) {
    absl::Status status = variant.Serves(call, device);
    if (status.ok()) status = variant.Legal(call, variant.Default(call, device), device);
    if (!status.ok()) {
      Add(level, line, field, "variant ", variant.name(), " on ", device.name, ": ",
          MessageOf(status));
    }
  }

  // The first workload that names the dtype, else the first.
  const Workload& WorkloadOf(DType dtype) const {
    for (const Workload& workload : op_.workloads) {
      for (const DType named : workload.dtypes) {
        if (named == dtype) return workload;
      }
    }
    return op_.workloads[0];
  }

  // Every declared combination makes a valid call of the first workload that fits it, and is
  // served.
  void CheckDTypes() {
    if (op_.workloads.empty()) return;
    for (const std::vector<DType>& combo : op_.dtype_combos) {
      if (combo.size() != op_.inputs.size() + op_.outputs.size()) {
        Add(3, 0, "dtype_combos", "expected ", op_.inputs.size() + op_.outputs.size(),
            " dtypes, got ", combo.size());
      }
    }
    const TensorSpec& leading = op_.LeadingTensor();
    for (DType dtype : leading.dtypes) {
      const absl::StatusOr<CallDesc> call = WorkloadCall(op_, WorkloadOf(dtype), dtype);
      if (!call.ok()) {
        Add(3, 0, Cat(op_.inputs.empty() ? "outputs." : "inputs.", leading.name), DTypeName(dtype),
            ": ", MessageOf(call.status()));
      } else if (implemented()) {
        CheckServed(*call, 3, 0, Cat(op_.inputs.empty() ? "outputs." : "inputs.", leading.name));
      }
    }
  }

  const OpSpec& op_;
  std::unique_ptr<Recipe> recipe_;
  ReferenceFunction reference_;
  bool has_peer_ = false;
  std::vector<Finding> findings_;
};

}  // namespace

std::string Finding::ToString() const {
  return Cat(file, ":", line, ": ", op, ".", field, ": ", message, " [L", level, "]");
}

ValidatorParts BuiltinParts() { return {MakeBuiltinRecipe, BuiltinReference, HasBenchPeer}; }

std::vector<Finding> ValidateOp(const OpSpec& op, const ValidatorParts& parts) {
  return OpValidator(op, parts).Run();
}

std::vector<Finding> ValidateMarkers(std::span<const OpSpec> ops,
                                     std::span<const std::string_view> recipes,
                                     std::span<const std::string_view> references) {
  std::vector<Finding> findings;
  const auto check = [&](std::string_view folder, std::string_view marker,
                         std::span<const std::string_view> names) {
    for (const std::string_view name : names) {
      const bool declared =
          std::any_of(ops.begin(), ops.end(), [&](const OpSpec& op) { return op.name == name; });
      if (declared) continue;
      findings.push_back({1, std::string(folder), 0, std::string(name), std::string(marker),
                          "no manifest entry declares this operator"});
    }
  };
  check("kernel_templates", "TILEWRIGHT_RECIPE", recipes);
  check("manifest/references", "TILEWRIGHT_REFERENCE", references);
  return findings;
}

absl::StatusOr<LedgerFindings> ValidateLedger(const std::string& folder,
                                              std::span<const OpSpec> ops, Compiler& compiler,
                                              int jobs) {
  TW_ASSIGN_OR_RETURN(const Ledger ledger, Ledger::ReadFolder(folder));
  const TemplateSet templates = TemplateSet::Builtin();
  std::map<std::string, std::unique_ptr<Recipe>, std::less<>> recipes;
  LedgerCheckOptions options;
  for (const OpSpec& op : ops) {
    options.ops.push_back(&op);
    recipes[op.name] = MakeBuiltinRecipe(op.name);
  }
  options.recipe = [&recipes](std::string_view op) {
    const auto found = recipes.find(op);
    return found == recipes.end() ? nullptr : found->second.get();
  };
  options.templates = &templates;
  options.compiler = compiler.Version().ok() ? &compiler : nullptr;
  options.jobs = jobs;
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  options.rotation =
      static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::hours>(now).count() / 24);
  TW_ASSIGN_OR_RETURN(options.device, BuiltinDeviceProfile("h200"));
  TW_ASSIGN_OR_RETURN(const LedgerReport report, VerifyLedger(ledger, options));

  LedgerFindings found;
  found.claims = report.claims;
  found.vouched = report.vouched;
  for (const LedgerFinding& finding : report.findings) {
    if (finding.kind == LedgerFinding::Kind::kUnverified) {
      found.unverified.push_back(finding.ToString());
      continue;
    }
    const auto op = std::find_if(ops.begin(), ops.end(),
                                 [&](const OpSpec& spec) { return spec.name == finding.op; });
    found.findings.push_back({5, op == ops.end() ? "" : op->file, op == ops.end() ? 0 : op->line,
                              finding.op, "status",
                              Cat(finding.case_name, " ", finding.dtype, ": ", finding.message)});
  }
  return found;
}

}  // namespace tilewright
