#include "runtime/kernel_store.h"

#include <algorithm>
#include <utility>

#include "manifest/status.h"
#include "runtime/cubin.h"

namespace tilewright {

KernelStore::KernelStore(TemplateSet templates, Cache* cache, std::shared_ptr<Compiler> compiler,
                         KernelStoreOptions options)
    : cache_(cache),
      compiler_(std::move(compiler)),
      options_(options),
      templates_(std::make_shared<const TemplateSet>(std::move(templates))) {}

absl::Status KernelStore::AddTemplates(
    const std::vector<std::pair<std::string, std::string>>& files,
    const std::function<absl::Status(const TemplateSet&)>& check) {
  std::lock_guard<std::mutex> lock(mutex_);
  auto extended = std::make_shared<TemplateSet>(*templates_);
  for (const auto& [path, text] : files) {
    const std::string* known = extended->Find(path);
    if (known != nullptr && *known != text) {
      return absl::AlreadyExistsError(Cat("template '", path, "' exists with another text"));
    }
    extended->Add(path, text);
  }
  TW_RETURN_IF_ERROR(check(*extended));
  templates_ = std::move(extended);
  return absl::OkStatus();
}

absl::StatusOr<std::string> KernelStore::ClosureDigest(std::string_view template_file) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (auto it = closures_.find(template_file); it != closures_.end()) return it->second;
  TW_ASSIGN_OR_RETURN(std::string digest, templates_->ClosureDigest(template_file));
  closures_.emplace(template_file, digest);
  return digest;
}

absl::StatusOr<KernelKey> KernelStore::Key(const KernelSpec& spec, std::string_view arch) {
  TW_ASSIGN_OR_RETURN(const std::string closure, ClosureDigest(spec.template_file));
  return MakeKernelKey(spec, closure, arch);
}

namespace {

bool HoldsItsCubin(const KernelRow& row) {
  const absl::StatusOr<std::string> digest = CubinDigest(row.cubin);
  return digest.ok() && (row.cubin_digest.empty() || *digest == row.cubin_digest);
}

}  // namespace

absl::StatusOr<KernelRow> KernelStore::Find(const KernelKey& key) {
  std::optional<KernelRow> row = cache_->FindKernel(key.digest);
  // What is no whole cubin, or not the one of its digest, is as good as none: it is built anew.
  if (row.has_value() && !HoldsItsCubin(*row)) row.reset();
  if (row.has_value() && options_.exact_toolchain) {
    TW_ASSIGN_OR_RETURN(const std::string version, compiler_->Version());
    if (row->compiler != version) row.reset();
  }
  if (!row.has_value()) return NotFound("kernel ", key.instantiation, " for ", key.arch);
  return *std::move(row);
}

absl::StatusOr<KernelStore::Result> KernelStore::GetOrBuild(const KernelSpec& spec,
                                                            std::string_view op,
                                                            std::string_view arch,
                                                            const std::atomic<bool>* cancelled) {
  TW_ASSIGN_OR_RETURN(const KernelKey key, Key(spec, arch));
  return flights_.Do(key.digest, [&] { return Build(spec, key, op, cancelled); });
}

// Waits in steps, so that it ends soon after `cancelled` is set.
absl::StatusOr<std::unique_ptr<CompileLock>> KernelStore::TakeTurn(
    const KernelKey& key, const std::atomic<bool>* cancelled) {
  if (cancelled == nullptr) return cache_->LockCompile(key.digest, options_.lock_timeout);
  constexpr std::chrono::milliseconds kStep(100);
  const auto deadline = std::chrono::steady_clock::now() + options_.lock_timeout;
  for (;;) {
    auto lock = cache_->LockCompile(key.digest, std::min(kStep, options_.lock_timeout));
    if (!absl::IsDeadlineExceeded(lock.status())) return lock;
    if (*cancelled) return absl::CancelledError("cancelled while another process compiled it");
    if (std::chrono::steady_clock::now() >= deadline) return lock;
  }
}

absl::StatusOr<KernelStore::Result> KernelStore::Build(const KernelSpec& spec, const KernelKey& key,
                                                       std::string_view op,
                                                       const std::atomic<bool>* cancelled) {
  absl::StatusOr<KernelRow> found = Find(key);
  if (found.ok()) return Result{*std::move(found), false};
  if (found.status().code() != absl::StatusCode::kNotFound) return found.status();
  if (options_.strict) {
    return FailedPrecondition("strict mode: kernel ", key.instantiation, " for ", key.arch,
                              " is not in the cache; build it ahead with 'tilewright warm --arch ",
                              key.arch, " --op ", op,
                              "', or by Runtime::Warm where the program registers the operator");
  }
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (auto it = broken_.find(key.digest); it != broken_.end()) return it->second;
  }
  absl::StatusOr<std::unique_ptr<CompileLock>> lock = TakeTurn(key, cancelled);
  if (absl::IsCancelled(lock.status())) return lock.status();
  // Null: the kernel appeared while we waited. An error: compile without the lock.
  if (lock.ok()) {
    found = Find(key);
    if (found.ok()) return Result{*std::move(found), false};
  }
  return CompileAndKeep(spec, key, op);
}

absl::StatusOr<KernelStore::Result> KernelStore::Rebuild(const KernelSpec& spec,
                                                         std::string_view op,
                                                         std::string_view arch) {
  TW_ASSIGN_OR_RETURN(const KernelKey key, Key(spec, arch));
  if (options_.strict) {
    return FailedPrecondition("strict mode: kernel ", key.instantiation, " would be compiled");
  }
  return CompileAndKeep(spec, key, op);
}

absl::StatusOr<KernelStore::Result> KernelStore::CompileAndKeep(const KernelSpec& spec,
                                                                const KernelKey& key,
                                                                std::string_view op) {
  CompileRequest request;
  request.source = spec.Source();
  request.name_expression = spec.entry + "<Config>";
  request.arch = key.arch;
  std::shared_ptr<const TemplateSet> templates;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    templates = templates_;
  }
  TW_ASSIGN_OR_RETURN(request.headers, templates->Closure(spec.template_file));
  absl::StatusOr<CompiledKernel> compiled = compiler_->Compile(request);
  if (!compiled.ok()) {
    const absl::Status error(compiled.status().code(), Cat(op, ": ", compiled.status().message()));
    if (error.code() == absl::StatusCode::kInternal) {
      std::lock_guard<std::mutex> lock(mutex_);
      broken_.emplace(key.digest, error);
    }
    return error;
  }
  compiles_.fetch_add(1, std::memory_order_relaxed);
  Result result;
  result.compiled = true;
  KernelRow& row = result.row;
  row.key = key.digest;
  row.op = op;
  row.template_file = spec.template_file;
  row.instantiation = key.instantiation;
  row.lowered_name = compiled->lowered_name;
  row.arch = key.arch;
  row.compiler = compiled->compiler;
  row.flags = key.flags;
  row.closure_digest = key.closure_digest;
  TW_ASSIGN_OR_RETURN(row.cubin_digest, CubinDigest(compiled->cubin));
  row.registers = compiled->registers;
  row.static_smem_bytes = compiled->static_smem_bytes;
  row.spill_bytes = compiled->spill_bytes;
  row.compile_ms = compiled->compile_ms;
  row.compile_log = compiled->log;
  row.cubin = std::move(compiled->cubin);
  // A kernel that cannot be kept is still served; the cache reports the loss itself.
  cache_->PutKernel(row).IgnoreError();
  return result;
}

}  // namespace tilewright
