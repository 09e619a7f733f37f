#include "runtime/kernel_loader.h"

#include "manifest/status.h"
#include "manifest/text.h"

namespace tilewright {
namespace {

std::string SlotName(const std::string& key, int device) { return Cat(key, "@", device); }

// A refusal that another cubin, or a newer driver, would cure.
bool IsImageRefusal(const absl::Status& status) {
  switch (DriverErrorCode(status)) {
    case kCudaInvalidImage:
    case kCudaNoBinaryForGpu:
    case kCudaUnsupportedPtxVersion:
      return true;
    default:
      return false;
  }
}

}  // namespace

KernelLoader::~KernelLoader() { UnloadUnused(0); }

std::shared_ptr<const LoadedKernel> KernelLoader::Find(const std::string& key, int device) {
  std::lock_guard<std::mutex> lock(mutex_);
  const auto it = kernels_.find(SlotName(key, device));
  return it == kernels_.end() ? nullptr : it->second;
}

absl::StatusOr<std::shared_ptr<const LoadedKernel>> KernelLoader::Load(
    const KernelRow& row, const VisibleDevice& device) {
  if (auto known = Find(row.key, device.ordinal)) return known;
  ScopedRelaxedCapture relaxed(*driver_);
  absl::StatusOr<LoadedKernel> loaded = LoadNew(row, device);
  if (!loaded.ok()) {
    if (!IsImageRefusal(loaded.status())) return loaded.status();
    absl::StatusOr<int> version = driver_->DriverVersion();
    return FailedPrecondition(
        "kernel ", Escaped(row.instantiation), ", built by ", Escaped(row.compiler), " for ",
        row.arch, ", needs a driver at least as new as that toolkit; ", device.profile.name,
        " has a driver for CUDA ", version.ok() ? *version / 1000 : 0, ".",
        version.ok() ? *version % 1000 / 10 : 0, ": ", loaded.status().message());
  }
  std::lock_guard<std::mutex> lock(mutex_);
  auto& slot = kernels_[SlotName(row.key, device.ordinal)];
  if (slot != nullptr) {
    Unload(*loaded);  // another thread was faster
  } else {
    slot = std::make_shared<const LoadedKernel>(*std::move(loaded));
  }
  return slot;
}

absl::StatusOr<LoadedKernel> KernelLoader::LoadNew(const KernelRow& row,
                                                   const VisibleDevice& device) {
  ScopedContext current(*driver_, device.context);
  TW_RETURN_IF_ERROR(current.status());
  LoadedKernel kernel;
  kernel.key = row.key;
  kernel.instantiation = row.instantiation;
  kernel.device = device.ordinal;
  kernel.static_smem_bytes = row.static_smem_bytes;
  TW_ASSIGN_OR_RETURN(kernel.library, driver_->LoadLibrary(row.cubin));
  const auto prepare = [&]() -> absl::Status {
    TW_ASSIGN_OR_RETURN(kernel.kernel,
                        driver_->LibraryKernel(kernel.library, row.lowered_name.c_str()));
    TW_RETURN_IF_ERROR(driver_->KernelFunction(kernel.kernel).status());
    const int64_t dynamic = device.profile.smem_per_block_bytes - row.static_smem_bytes;
    TW_RETURN_IF_ERROR(driver_->SetKernelAttribute(kernel.kernel,
                                                   KernelAttribute::kMaxDynamicSharedBytes,
                                                   static_cast<int>(dynamic), device.ordinal));
    if (device.profile.compute_major >= 9) {
      return driver_->SetKernelAttribute(
          kernel.kernel, KernelAttribute::kNonPortableClusterSizeAllowed, 1, device.ordinal);
    }
    return absl::OkStatus();
  };
  if (absl::Status status = prepare(); !status.ok()) {
    Unload(kernel);
    return status;
  }
  return kernel;
}

int64_t KernelLoader::UnloadUnused(int64_t keep) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (static_cast<int64_t>(kernels_.size()) <= keep) return 0;
  ScopedRelaxedCapture relaxed(*driver_);
  int64_t unloaded = 0;
  for (auto it = kernels_.begin(); it != kernels_.end();) {
    if (static_cast<int64_t>(kernels_.size()) <= keep) break;
    // New references are made under mutex_ only, so a count of one cannot rise.
    if (it->second.use_count() == 1) {
      Unload(*it->second);
      kernels_.erase(it++);
      ++unloaded;
    } else {
      ++it;
    }
  }
  return unloaded;
}

void KernelLoader::Unload(const LoadedKernel& kernel) {
  // A library that cannot be unloaded (a lost context) is the driver's to free.
  driver_->UnloadLibrary(kernel.library).IgnoreError();
}

int64_t KernelLoader::loaded() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return static_cast<int64_t>(kernels_.size());
}

}  // namespace tilewright
