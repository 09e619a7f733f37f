// Cubins in the driver: loaded kernels, their sharing and their unloading.
#ifndef TILEWRIGHT_RUNTIME_KERNEL_LOADER_H_
#define TILEWRIGHT_RUNTIME_KERNEL_LOADER_H_

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "cache/cache.h"
#include "runtime/device_table.h"
#include "runtime/driver/driver.h"

namespace tilewright {

// A kernel that the driver holds. Destroying one does not call the driver: references are dropped
// on driver threads, too (when a graph dies). KernelLoader unloads.
struct LoadedKernel {
  std::string key;  // KernelKey::digest
  std::string instantiation;
  int device = 0;
  CudaLibrary library = nullptr;
  CudaKernel kernel = nullptr;
  int64_t static_smem_bytes = 0;
};

// Purpose: loads each cubin once a device and keeps it while anyone holds it. A kernel is in use
// while a reference besides the loader's own exists (plans, exact calls, captured graphs); those
// out of use are unloaded by UnloadUnused() and by the destructor, which leaves the kernels that a
// graph still needs to the driver. Thread-safe. Loading is lazy in the driver, so it is forced
// here: a first launch under capture then loads nothing.
class KernelLoader {
 public:
  explicit KernelLoader(Driver* driver) : driver_(driver) {}
  ~KernelLoader();

  // Errors: FailedPrecondition naming the driver needed where the cubin is too new for the driver
  // or of another architecture; InvalidArgument where the image is broken; driver errors.
  absl::StatusOr<std::shared_ptr<const LoadedKernel>> Load(const KernelRow& row,
                                                           const VisibleDevice& device);
  std::shared_ptr<const LoadedKernel> Find(const std::string& key, int device);

  // Unloads kernels that nobody holds until at most `keep` are left. Returns how many went.
  int64_t UnloadUnused(int64_t keep);
  int64_t loaded() const;

 private:
  absl::StatusOr<LoadedKernel> LoadNew(const KernelRow& row, const VisibleDevice& device);
  void Unload(const LoadedKernel& kernel);

  Driver* const driver_;
  mutable std::mutex mutex_;
  absl::flat_hash_map<std::string, std::shared_ptr<const LoadedKernel>> kernels_;
};

}  // namespace tilewright

#endif  // TILEWRIGHT_RUNTIME_KERNEL_LOADER_H_
