#include "runtime/runtime.h"

#include <filesystem>
#include <limits>
#include <utility>

#include "cache/cache.h"
#include "manifest/nearest_name.h"
#include "manifest/status.h"
#include "manifest/text.h"
#include "runtime/compiler.h"
#include "runtime/custom_ops.h"
#include "runtime/device_table.h"
#include "runtime/dispatcher.h"
#include "runtime/driver/driver.h"
#include "runtime/explain.h"
#include "runtime/kernel_loader.h"
#include "runtime/kernel_store.h"
#include "runtime/logging.h"
#include "runtime/op_table.h"
#include "runtime/planner.h"
#include "runtime/tune_service.h"

namespace tilewright {
namespace {

absl::StatusOr<std::unique_ptr<Cache>> OpenCache(const RuntimeOptions& options) {
  CacheOptions cache;
  cache.path = options.cache_path;
  cache.seed_paths = options.seed_caches;
  cache.max_bytes = options.cache_max_bytes;
  cache.log = [log = options.logger](std::string_view message) {
    log(LogLevel::kWarning, message);
  };
  return Cache::Open(std::move(cache));
}

absl::Status CheckRange(std::string_view name, int64_t value, int64_t least, int64_t most) {
  if (value >= least && value <= most) return absl::OkStatus();
  return InvalidArgument("RuntimeOptions::", name, ": expected ", least, " to ", most, ", got ",
                         value);
}

absl::Status CheckPath(std::string_view name, std::string_view path) {
  if (path.find('\0') == std::string_view::npos) return absl::OkStatus();
  return InvalidArgument("RuntimeOptions::", name, ": expected a path, got one with a NUL after '",
                         path.substr(0, path.find('\0')), "'");
}

// Every path would end at its NUL, and name another file.
absl::Status CheckPaths(const RuntimeOptions& options) {
  for (const auto& [name, path] : {std::pair{"cache_path", &options.cache_path},
                                   {"template_dir", &options.template_dir},
                                   {"nvrtc_path", &options.nvrtc_path},
                                   {"failed_source_dir", &options.failed_source_dir},
                                   {"worker_path", &options.worker_path},
                                   {"device_profile_dir", &options.device_profile_dir}}) {
    TW_RETURN_IF_ERROR(CheckPath(name, *path));
  }
  for (const std::string& path : options.seed_caches) {
    TW_RETURN_IF_ERROR(CheckPath("seed_caches", path));
  }
  for (const std::string& path : options.nvrtc_search_dirs) {
    TW_RETURN_IF_ERROR(CheckPath("nvrtc_search_dirs", path));
  }
  return absl::OkStatus();
}

absl::Status CheckNumbers(const RuntimeOptions& options) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  // The table is made at once.
  constexpr int64_t kMostExactCalls = int64_t{1} << 20;
  TW_RETURN_IF_ERROR(CheckRange("max_exact_calls", options.max_exact_calls, 1, kMostExactCalls));
  TW_RETURN_IF_ERROR(CheckRange("max_loaded_kernels", options.max_loaded_kernels, 1, kMost));
  TW_RETURN_IF_ERROR(CheckRange("tuning", static_cast<int64_t>(options.tuning), 0,
                                static_cast<int64_t>(TuningPolicy::kBackground)));
  TW_RETURN_IF_ERROR(CheckRange("capture_miss", static_cast<int64_t>(options.capture_miss), 0,
                                static_cast<int64_t>(CaptureMiss::kCompile)));
  return CheckRange("cache_max_bytes", options.cache_max_bytes, 0, kMost);
}

DispatcherOptions DispatchOptions(const RuntimeOptions& options) {
  DispatcherOptions dispatch;
  dispatch.tuning = options.tuning;
  dispatch.capture_miss = options.capture_miss;
  dispatch.check_pointers = options.check_pointers;
  dispatch.max_exact_calls = options.max_exact_calls;
  dispatch.max_loaded_kernels = options.max_loaded_kernels;
  dispatch.log = options.logger;
  return dispatch;
}

}  // namespace

std::string RuntimeOptions::ProfileFolder() const {
  if (!device_profile_dir.empty() || cache_path.empty()) return device_profile_dir;
  return (std::filesystem::path(cache_path).parent_path() / "devices").string();
}

class RuntimeImpl final : public Runtime {
 public:
  RuntimeImpl(RuntimeOptions options, std::unique_ptr<Cache> cache, TemplateSet templates)
      : options_(std::move(options)),
        cache_(std::move(cache)),
        kernels_(std::move(templates), cache_.get(), options_.compiler,
                 {options_.strict, options_.exact_toolchain}),
        devices_(options_.driver.get(), options_.ProfileFolder(), options_.logger),
        loader_(options_.driver.get()),
        planner_(&kernels_, &loader_, cache_.get(), options_.logger),
        dispatcher_(TuningDispatchOptions(), options_.driver.get(), &devices_, &planner_, &loader_),
        tuning_(TuningServiceOptions(), &kernels_, cache_.get()) {}

  absl::Status AddBuiltinOps() { return ops_.Add(BuiltinOpEntries()); }

  absl::Status Call(OpHandle op, std::span<const Tensor> inputs, std::span<const Tensor> outputs,
                    std::span<const NamedParam> params, const CallOptions& options) override {
    const OpEntry* entry = ops_.At(op.index_);
    if (entry == nullptr) return NotFound("an operator handle that no lookup returned");
    return dispatcher_.Call(op.index_, {entry, inputs, outputs, params}, options);
  }

  absl::StatusOr<OpHandle> Find(std::string_view op) const override {
    TW_ASSIGN_OR_RETURN(const OpEntry* entry, Entry(op));
    return OpHandle(entry->index);
  }
  std::vector<const OpSpec*> Ops() const override {
    std::vector<const OpSpec*> specs;
    for (const OpEntry* entry : ops_.All()) specs.push_back(&entry->spec);
    return specs;
  }
  const OpSpec* Spec(std::string_view op) const override {
    const OpEntry* entry = ops_.Find(op);
    return entry == nullptr ? nullptr : &entry->spec;
  }
  const Recipe* FindRecipe(std::string_view op) const override {
    const OpEntry* entry = ops_.Find(op);
    return entry == nullptr ? nullptr : entry->recipe.get();
  }
  ReferenceFunction FindReference(std::string_view op) const override {
    const OpEntry* entry = ops_.Find(op);
    return entry == nullptr ? ReferenceFunction() : entry->reference;
  }

  absl::Status Prepare(std::string_view op, std::span<const Tensor> inputs,
                       std::span<const Tensor> outputs,
                       std::span<const NamedParam> params) override {
    TW_ASSIGN_OR_RETURN(const OpEntry* entry, Entry(op));
    return dispatcher_.Prepare({entry, inputs, outputs, params});
  }
  absl::StatusOr<int64_t> WorkspaceBytes(std::string_view op, std::span<const Tensor> inputs,
                                         std::span<const Tensor> outputs,
                                         std::span<const NamedParam> params) override {
    TW_ASSIGN_OR_RETURN(const OpEntry* entry, Entry(op));
    return dispatcher_.WorkspaceBytes({entry, inputs, outputs, params});
  }
  absl::StatusOr<Explanation> Explain(const CallDesc& call, const DeviceProfile& device) override {
    if (call.op == nullptr) return InvalidArgument("Explain: expected an operator, got null");
    TW_ASSIGN_OR_RETURN(const OpEntry* entry, Entry(call.op->name));
    return ExplainCall(*entry, call, device, planner_, *cache_);
  }

  absl::Status Register(CustomOp op) override {
    TW_ASSIGN_OR_RETURN(std::vector<std::unique_ptr<OpEntry>> entries, CustomOpEntries(op));
    for (const auto& entry : entries) {
      if (ops_.Find(entry->spec.name) != nullptr) {
        return absl::AlreadyExistsError(Cat("operator '", entry->spec.name, "' exists"));
      }
    }
    TW_RETURN_IF_ERROR(kernels_.AddTemplates(op.templates, [&](const TemplateSet& templates) {
      return CheckTemplates(entries, templates);
    }));
    return ops_.Add(std::move(entries));
  }

  RuntimeCounters Counters() const override {
    RuntimeCounters counters;
    dispatcher_.AddCounts(counters);
    counters.compiles = kernels_.compiles();
    return counters;
  }
  Cache& cache() override { return *cache_; }
  KernelStore& kernels() override { return kernels_; }
  Driver& driver() override { return *options_.driver; }
  absl::StatusOr<DeviceProfile> Device(int ordinal) override {
    TW_ASSIGN_OR_RETURN(const VisibleDevice* device, devices_.Get(ordinal));
    return device->profile;
  }

 private:
  absl::StatusOr<const OpEntry*> Entry(std::string_view op) const {
    const OpEntry* entry = ops_.Find(op);
    if (entry == nullptr) {
      return NotFound("no operator is named '", Brief(op), "'", DidYouMean(op, NamesOf(Ops())));
    }
    return entry;
  }

  DispatcherOptions TuningDispatchOptions() {
    DispatcherOptions dispatch = DispatchOptions(options_);
    dispatch.tune = [this](const OpEntry& op, const CallDesc& call, const VisibleDevice& device) {
      return tuning_.TuneNow(op, call, device);
    };
    dispatch.tune_later = [this](const OpEntry& op, const CallDesc& call,
                                 const VisibleDevice& device) {
      tuning_.TuneLater(op, call, device);
    };
    return dispatch;
  }
  TuneServiceOptions TuningServiceOptions() {
    TuneServiceOptions tuning;
    tuning.worker_path = options_.worker_path;
    tuning.cupti_dirs = options_.nvrtc_search_dirs;  // toolkits keep both side by side
    tuning.log = options_.logger;
    tuning.refresh = [this](const OpEntry& op, const CallDesc& call, int device) {
      return dispatcher_.Refresh(op, call, device);
    };
    return tuning;
  }

  const RuntimeOptions options_;
  const std::unique_ptr<Cache> cache_;
  OpTable ops_;
  KernelStore kernels_;
  DeviceTable devices_;
  KernelLoader loader_;
  Planner planner_;
  Dispatcher dispatcher_;
  TuneService tuning_;  // ends first: its thread uses the dispatcher
};

absl::StatusOr<std::unique_ptr<Runtime>> Runtime::Open(RuntimeOptions options) {
  TW_RETURN_IF_ERROR(options.environment);
  TW_RETURN_IF_ERROR(CheckNumbers(options));
  TW_RETURN_IF_ERROR(CheckPaths(options));
  if (options.logger == nullptr) options.logger = StandardErrorLogger();
  options.logger = Unthrowing(std::move(options.logger));
  if (options.driver == nullptr) options.driver = SystemDriver();
  if (options.compiler == nullptr) {
    options.compiler =
        NvrtcCompiler(options.nvrtc_path, options.nvrtc_search_dirs, options.failed_source_dir);
  }
  TemplateSet templates = TemplateSet::Builtin();
  if (!options.template_dir.empty()) {
    const absl::Status taken = templates.OverrideFrom(options.template_dir);
    if (!taken.ok()) {
      return absl::Status(taken.code(), Cat("TILEWRIGHT_TEMPLATES (RuntimeOptions::template_dir): ",
                                            std::string(taken.message())));
    }
  }
  TW_ASSIGN_OR_RETURN(std::unique_ptr<Cache> cache, OpenCache(options));
  auto runtime =
      std::make_unique<RuntimeImpl>(std::move(options), std::move(cache), std::move(templates));
  TW_RETURN_IF_ERROR(runtime->AddBuiltinOps());
  return runtime;
}

absl::Status Runtime::Call(std::string_view op, std::span<const Tensor> inputs,
                           std::span<const Tensor> outputs, std::span<const NamedParam> params,
                           const CallOptions& options) {
  TW_ASSIGN_OR_RETURN(const OpHandle handle, Find(op));
  return Call(handle, inputs, outputs, params, options);
}

}  // namespace tilewright
