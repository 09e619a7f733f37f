#include "runtime/conform/ledger_check.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <optional>
#include <utility>

#include "manifest/status.h"
#include "manifest/threads.h"
#include "runtime/conform/call_identity.h"
#include "runtime/conform/cases.h"
#include "runtime/cubin.h"

namespace tilewright {
namespace {

using Kind = LedgerFinding::Kind;

// What one case runs by default today, and the row that should vouch for it.
struct Claim {
  const OpSpec* op = nullptr;
  const LedgerRow* row = nullptr;
  std::string case_name;
  std::string dtype;
  CallIdentity identity;
  bool closure_changed = false;
};

// One kernel to compile, and the digest that came out.
struct Recompile {
  const KernelSpec* kernel = nullptr;
  absl::StatusOr<std::string> digest = absl::UnknownError("not compiled");
};

// Kernels of one template and configuration share a source and differ in their entry.
std::string KernelName(const KernelSpec& kernel) {
  return Cat(kernel.entry, "\n", kernel.Source());
}

class LedgerChecker {
 public:
  LedgerChecker(const Ledger& ledger, const LedgerCheckOptions& options)
      : ledger_(ledger), options_(options) {}

  absl::StatusOr<LedgerReport> Run() {
    FindCompiler();
    for (const OpSpec* op : options_.ops) {
      if (op->status == OpStatus::kImplemented) TW_RETURN_IF_ERROR(CollectOp(*op));
    }
    ChooseRecompiles();
    CompileAll();
    for (const Claim& claim : claims_) JudgeCubins(claim);
    return std::move(report_);
  }

 private:
  void Add(Kind kind, const OpSpec& op, const ConformCase* entry, std::string message) {
    LedgerFinding& finding = report_.findings.emplace_back();
    finding.kind = kind;
    finding.op = op.name;
    if (entry != nullptr) {
      finding.case_name = entry->name;
      finding.dtype = DTypeName(entry->dtype);
    }
    finding.message = std::move(message);
  }
  void Add(Kind kind, const Claim& claim, std::string message) {
    report_.findings.push_back(
        {kind, claim.op->name, claim.case_name, claim.dtype, std::move(message)});
  }

  void FindCompiler() {
    if (options_.compiler == nullptr) {
      no_compiler_ = "no compiler was given";
      return;
    }
    const absl::StatusOr<std::string> version = options_.compiler->Version();
    if (version.ok()) {
      compiler_ = *version;
    } else {
      no_compiler_ = std::string(version.status().message());
    }
  }

  absl::StatusOr<std::string> Closure(std::string_view file) {
    const auto found = closures_.find(file);
    if (found != closures_.end()) return found->second;
    TW_ASSIGN_OR_RETURN(std::string digest, options_.templates->ClosureDigest(file));
    return closures_.emplace(file, std::move(digest)).first->second;
  }

  absl::Status CollectOp(const OpSpec& op) {
    const Recipe* recipe = options_.recipe(op.name);
    if (recipe == nullptr) {
      Add(Kind::kError, op, nullptr, "implemented, but it has no recipe");
      return absl::OkStatus();
    }
    TW_ASSIGN_OR_RETURN(const std::vector<ConformCase> cases, ConformCases(op));
    for (const ConformCase& entry : cases) {
      ++report_.claims;
      CollectCase(op, *recipe, entry);
    }
    return absl::OkStatus();
  }

  // An edge case without a row is named; only workloads are what `implemented` promises.
  Kind Missing(const ConformCase& entry) const {
    return entry.is_workload ? Kind::kError : Kind::kUnverified;
  }

  void CollectCase(const OpSpec& op, const Recipe& recipe, const ConformCase& entry) {
    const auto variant = SelectVariant(recipe, entry.call, options_.device);
    if (!variant.ok()) {
      return Add(Kind::kError, op, &entry, std::string(variant.status().message()));
    }
    const Config config = (*variant)->Default(entry.call, options_.device);
    auto identity = IdentifyCall(entry.call, **variant, config, options_.device,
                                 [this](std::string_view file) { return Closure(file); });
    if (!identity.ok()) {
      return Add(Kind::kError, op, &entry, std::string(identity.status().message()));
    }
    const LedgerRow* row = ledger_.Find(op.name, entry.name, DTypeName(entry.dtype),
                                        config.ToJson(), options_.device.Key());
    if (row == nullptr) {
      return Add(
          Missing(entry), op, &entry,
          Cat("no row for today's default ", config.ToJson(), " on ", options_.device.Key()));
    }
    if (row->verdict != Verdict::kPass) {
      return Add(Kind::kError, op, &entry,
                 Cat("the row says ", VerdictName(row->verdict), ": ", row->detail));
    }
    if (row->kernels != identity->instantiations || row->launch_digest != identity->launch_digest) {
      return Add(
          Missing(entry), op, &entry,
          row->kernels != identity->instantiations
              ? Cat("runs ", identity->instantiations, ", the row vouches for ", row->kernels)
              : std::string("its launches differ from those that passed"));
    }
    const bool changed = row->closure_digest != identity->closure_digests;
    claims_.push_back(
        {&op, row, entry.name, std::string(DTypeName(entry.dtype)), *std::move(identity), changed});
  }

  bool SameCompiler(const Claim& claim) const {
    return no_compiler_.empty() && claim.row->compiler == compiler_;
  }

  // Every kernel of a changed closure, and a rotating sample of the others.
  void ChooseRecompiles() {
    std::map<std::string, const KernelSpec*> unchanged;
    for (const Claim& claim : claims_) {
      if (!SameCompiler(claim)) continue;
      for (const KernelSpec& kernel : claim.identity.kernels) {
        if (claim.closure_changed) {
          recompiles_[KernelName(kernel)].kernel = &kernel;
        } else {
          unchanged[KernelName(kernel)] = &kernel;
        }
      }
    }
    std::vector<std::pair<std::string, const KernelSpec*>> others(unchanged.begin(),
                                                                  unchanged.end());
    const size_t count = std::min(others.size(), static_cast<size_t>(std::max(0, options_.sample)));
    for (size_t i = 0; i < count; ++i) {
      const auto& [name, kernel] = others[(options_.rotation * count + i) % others.size()];
      recompiles_[name].kernel = kernel;
    }
  }

  absl::StatusOr<std::string> CompileOne(const KernelSpec& kernel) {
    CompileRequest request;
    request.source = kernel.Source();
    request.name_expression = kernel.entry + "<Config>";
    request.arch = options_.device.arch;
    TW_ASSIGN_OR_RETURN(request.headers, options_.templates->Closure(kernel.template_file));
    TW_ASSIGN_OR_RETURN(const CompiledKernel compiled, options_.compiler->Compile(request));
    return CubinDigest(compiled.cubin);
  }

  void CompileAll() {
    std::vector<Recompile*> work;
    for (auto& [name, recompile] : recompiles_) work.push_back(&recompile);
    std::atomic<size_t> next{0};
    const auto drain = [&] {
      for (size_t i = next++; i < work.size(); i = next++) {
        work[i]->digest = CompileOne(*work[i]->kernel);
      }
    };
    RunOnThreads(options_.jobs, drain);
    report_.recompiled = static_cast<int64_t>(work.size());
  }

  // The claim's cubin digests as compiled now; nullopt where not all of its kernels were.
  std::optional<absl::StatusOr<std::string>> CompiledDigests(const Claim& claim) const {
    std::string digests;
    for (const KernelSpec& kernel : claim.identity.kernels) {
      const auto found = recompiles_.find(KernelName(kernel));
      if (found == recompiles_.end()) return std::nullopt;
      if (!found->second.digest.ok()) return found->second.digest;
      digests += Cat(digests.empty() ? "" : ",", *found->second.digest);
    }
    return digests;
  }

  void JudgeCubins(const Claim& claim) {
    if (!claim.identity.kernels.empty() && !SameCompiler(claim)) {
      return Add(Kind::kUnverified, claim,
                 no_compiler_.empty()
                     ? Cat("made by ", claim.row->compiler, ", here is ", compiler_)
                     : Cat("made by ", claim.row->compiler, "; ", no_compiler_));
    }
    const std::optional<absl::StatusOr<std::string>> digests = CompiledDigests(claim);
    if (digests.has_value() && !digests->ok()) {
      return Add(Kind::kError, claim, Cat("does not compile: ", digests->status().message()));
    }
    if (digests.has_value() && **digests != claim.row->cubin_digest) {
      return Add(
          Kind::kError, claim,
          Cat("cubin ", **digests, " is not the one that passed, ", claim.row->cubin_digest));
    }
    ++report_.vouched;
  }

  const Ledger& ledger_;
  const LedgerCheckOptions& options_;
  LedgerReport report_;
  std::string compiler_;
  std::string no_compiler_;  // why there is none
  std::map<std::string, std::string, std::less<>> closures_;
  std::vector<Claim> claims_;
  std::map<std::string, Recompile> recompiles_;  // by KernelName()
};

}  // namespace

std::string LedgerFinding::ToString() const {
  std::string text = kind == Kind::kError ? "" : "unverified: ";
  text += op;
  if (!case_name.empty()) text += Cat(" ", case_name, " ", dtype);
  return Cat(text, ": ", message);
}

bool LedgerReport::ok() const {
  return std::none_of(findings.begin(), findings.end(),
                      [](const LedgerFinding& finding) { return finding.kind == Kind::kError; });
}

absl::StatusOr<LedgerReport> VerifyLedger(const Ledger& ledger, const LedgerCheckOptions& options) {
  return LedgerChecker(ledger, options).Run();
}

}  // namespace tilewright
