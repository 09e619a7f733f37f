// Runs kernels for compute-sanitizer to watch. See sanitize.sh.
//
//   tilewright_checker_subject build CACHE [CONFIGS]      builds all that `operators` runs
//   tilewright_checker_subject operators CACHE [CONFIGS]  every variant of every operator, once
//   tilewright_checker_subject ENTRY CACHE                a kernel of planted.h
//
// CONFIGS: configurations of each call and variant beside its default. A fourth argument: only
// operators whose name holds it. Exit code 77: no GPU.
#include <atomic>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "manifest/op_spec.h"
#include "manifest/status.h"
#include "runtime/inputs.h"
#include "tests/gpu/check_cases.h"
#include "tests/gpu/direct_call.h"
#include "tests/gpu/planted.h"

namespace tilewright {
namespace {

constexpr int kNoGpu = 77;

// Device memory of exactly the bytes asked for, so that a checker sees the first one past them.
class Buffers {
 public:
  explicit Buffers(Driver& driver) : driver_(driver) {}
  ~Buffers() {
    for (void* memory : memory_) driver_.Free(memory).IgnoreError();
  }
  absl::StatusOr<void*> Take(size_t bytes) {
    TW_ASSIGN_OR_RETURN(void* const memory, driver_.Alloc(std::max<size_t>(bytes, 1)));
    memory_.push_back(memory);
    return memory;
  }

 private:
  Driver& driver_;
  std::vector<void*> memory_;
};

// The machine's first GPU, its context current, and kernels from the cache.
class Site {
 public:
  absl::Status Open(const std::string& cache_path) {
    CacheOptions options;
    options.path = cache_path;
    TW_ASSIGN_OR_RETURN(cache_, Cache::Open(std::move(options)));
    TemplateSet templates = TemplateSet::Builtin();
    templates.Add(kPlantedPath, kPlantedTemplate);
    kernels_ = std::make_unique<KernelStore>(std::move(templates), cache_.get(), NvrtcCompiler());
    return absl::OkStatus();
  }
  absl::Status OpenGpu() {
    devices_ = std::make_unique<DeviceTable>(driver_.get(), "", Logger());
    TW_ASSIGN_OR_RETURN(site_.device, devices_->Get(0));
    current_ = std::make_unique<ScopedContext>(*driver_, site_.device->context);
    TW_RETURN_IF_ERROR(current_->status());
    loader_ = std::make_unique<KernelLoader>(driver_.get());
    site_.driver = driver_.get();
    site_.kernels = kernels_.get();
    site_.loader = loader_.get();
    TW_ASSIGN_OR_RETURN(stream_, driver_->CreateStream());
    return absl::OkStatus();
  }

  Driver& driver() { return *driver_; }
  KernelStore& kernels() { return *kernels_; }
  const DirectSite& direct() const { return site_; }
  CudaStream stream() const { return stream_; }

 private:
  const std::shared_ptr<Driver> driver_ = SystemDriver();
  std::unique_ptr<Cache> cache_;
  std::unique_ptr<KernelStore> kernels_;
  std::unique_ptr<DeviceTable> devices_;
  std::unique_ptr<ScopedContext> current_;
  std::unique_ptr<KernelLoader> loader_;
  DirectSite site_;
  CudaStream stream_ = nullptr;
};

absl::Status RunCase(Site& site, const CheckCase& check) {
  Driver& driver = site.driver();
  Buffers buffers(driver);
  TW_ASSIGN_OR_RETURN(
      const std::vector<HostBuffer> inputs,
      MakeInputs(check.call, {.mode = InputMode::kNormal, .seed = 7, .threads = 1}));
  std::vector<void*> pointers;
  for (const HostBuffer& input : inputs) {
    TW_ASSIGN_OR_RETURN(void* const data, buffers.Take(input.bytes.size()));
    TW_RETURN_IF_ERROR(
        driver.CopyToDevice(data, input.bytes.data(), input.bytes.size(), site.stream()));
    pointers.push_back(static_cast<std::byte*>(data) + input.origin_bytes);
  }
  for (int i = 0; i < check.call.op->output_count(); ++i) {
    const TensorDesc& desc = check.call.output(i).desc;
    TW_ASSIGN_OR_RETURN(pointers.emplace_back(),
                        buffers.Take(static_cast<size_t>(desc.elements() * DTypeSize(desc.dtype))));
  }
  const DeviceProfile& profile = site.direct().device->profile;
  TW_ASSIGN_OR_RETURN(const BoundCall bound,
                      check.variant->Bind(check.call, check.config, profile));
  void* workspace = nullptr;
  if (bound.workspace_bytes > 0) {
    TW_ASSIGN_OR_RETURN(workspace, buffers.Take(static_cast<size_t>(bound.workspace_bytes)));
  }
  TW_ASSIGN_OR_RETURN(const std::unique_ptr<DirectCall> direct,
                      DirectCall::Make(site.direct(), *check.variant, check.config, check.call,
                                       pointers, workspace));
  TW_RETURN_IF_ERROR(direct->Launch(site.stream()));
  return driver.SynchronizeStream(site.stream());
}

absl::Status RunOperators(Site& site, int configs, const std::string& filter) {
  TW_ASSIGN_OR_RETURN(const CheckCases checks,
                      MakeCheckCases(site.direct().device->profile, configs, filter));
  for (const CheckCase& check : checks.cases) {
    if (absl::Status status = RunCase(site, check); !status.ok()) {
      return Internal(check.call.ToString(), " ", check.config.ToJson(), ": ", status.message());
    }
  }
  std::cout << checks.cases.size() << " calls ran\n";
  return absl::OkStatus();
}

absl::Status RunPlanted(Site& site, const std::string& entry) {
  constexpr int64_t kCount = 128;
  Driver& driver = site.driver();
  Buffers buffers(driver);
  PlantedParams params;
  TW_ASSIGN_OR_RETURN(void* const in, buffers.Take(kCount * sizeof(float)));
  TW_ASSIGN_OR_RETURN(void* const out, buffers.Take(kCount * sizeof(float)));
  params = {static_cast<const float*>(in), static_cast<float*>(out), kCount};
  const DirectSite& direct = site.direct();
  TW_ASSIGN_OR_RETURN(
      const KernelStore::Result built,
      direct.kernels->GetOrBuild(PlantedSpec(entry), "planted", direct.device->profile.arch));
  TW_ASSIGN_OR_RETURN(const auto loaded, direct.loader->Load(built.row, *direct.device));
  LaunchShape shape;
  shape.block[0] = kPlantedThreads;
  void* arguments[] = {&params};
  TW_RETURN_IF_ERROR(driver.Launch(shape, loaded->kernel, site.stream(), arguments));
  return driver.SynchronizeStream(site.stream());
}

// Compiles on every core, for the GPU of this machine or, without one, for an H200.
absl::Status BuildAll(Site& site, int configs, const std::string& filter) {
  DeviceProfile device;
  if (site.driver().Init().ok()) {
    TW_ASSIGN_OR_RETURN(device, ReadDeviceProfile(site.driver(), 0));
  } else {
    TW_ASSIGN_OR_RETURN(device, BuiltinDeviceProfile("h200"));
  }
  TW_ASSIGN_OR_RETURN(const CheckCases checks, MakeCheckCases(device, configs, filter));
  std::vector<std::pair<KernelSpec, std::string>> specs;
  for (const CheckCase& check : checks.cases) {
    for (KernelSpec& spec : check.variant->Kernels(check.call, check.config)) {
      specs.emplace_back(std::move(spec), check.call.op->name);
    }
  }
  for (const char* entry :
       {"OutOfBoundsKernel", "RaceKernel", "UninitialisedKernel", "BarrierKernel"}) {
    specs.emplace_back(PlantedSpec(entry), "planted");
  }
  std::atomic<size_t> next{0};
  std::vector<absl::Status> statuses(specs.size());
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < std::max(1u, std::thread::hardware_concurrency()); ++i) {
    threads.emplace_back([&] {
      for (size_t at = next++; at < specs.size(); at = next++) {
        statuses[at] =
            site.kernels().GetOrBuild(specs[at].first, specs[at].second, device.arch).status();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const absl::Status& status : statuses) TW_RETURN_IF_ERROR(status);
  std::cout << checks.cases.size() << " calls, " << site.kernels().compiles() << " compiles\n";
  return absl::OkStatus();
}

int Main(const std::string& mode, const std::string& cache, int configs,
         const std::string& filter) {
  Site site;
  absl::Status status = site.Open(cache);
  if (status.ok() && mode == "build") {
    status = BuildAll(site, configs, filter);
  } else if (status.ok()) {
    if (absl::Status found = site.driver().Init(); !found.ok()) {
      std::cout << "SKIPPED: " << found.message() << "\n";
      return kNoGpu;
    }
    status = site.OpenGpu();
    if (status.ok()) {
      status = mode == "operators" ? RunOperators(site, configs, filter) : RunPlanted(site, mode);
    }
  }
  if (!status.ok()) std::cerr << status << "\n";
  return status.ok() ? 0 : 1;
}

}  // namespace
}  // namespace tilewright

int main(int argc, char** argv) {
  if (argc < 3 || argc > 5) {
    std::cerr << "usage: " << argv[0] << " build|operators|ENTRY CACHE [CONFIGS [NAME]]\n";
    return 2;
  }
  return tilewright::Main(argv[1], argv[2], argc >= 4 ? std::atoi(argv[3]) : 3,
                          argc == 5 ? argv[4] : "");
}
