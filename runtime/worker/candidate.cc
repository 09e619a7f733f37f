#include "runtime/worker/candidate.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>
#include <utility>

#include "manifest/status.h"
#include "runtime/launch_rules.h"

namespace tilewright {

absl::StatusOr<std::string> ReadScratchFile(const std::string& path) {
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  if (!file) return ResourceExhausted("cannot read ", path, ": ", std::strerror(errno));
  std::ostringstream bytes;
  bytes << file.rdbuf();
  if (file.bad() || bytes.bad()) return ResourceExhausted("cannot read all of ", path);
  return std::move(bytes).str();
}

absl::StatusOr<std::shared_ptr<const WorkerKernel>> WorkerKernel::Load(Driver& driver, int device,
                                                                       const WireKernel& wire) {
  TW_ASSIGN_OR_RETURN(const std::string image, ReadScratchFile(wire.file));
  std::shared_ptr<WorkerKernel> kernel(new WorkerKernel(driver));
  TW_ASSIGN_OR_RETURN(kernel->library_, driver.LoadLibrary(image));
  TW_ASSIGN_OR_RETURN(kernel->kernel_, driver.LibraryKernel(kernel->library_, wire.symbol.c_str()));
  TW_RETURN_IF_ERROR(driver.KernelFunction(kernel->kernel_).status());
  TW_ASSIGN_OR_RETURN(const int limit,
                      driver.Attribute(device, DeviceAttribute::kSharedMemoryPerBlockOptin));
  TW_RETURN_IF_ERROR(
      driver.SetKernelAttribute(kernel->kernel_, KernelAttribute::kMaxDynamicSharedBytes,
                                static_cast<int>(limit - wire.static_smem_bytes), device));
  TW_ASSIGN_OR_RETURN(const int major, driver.Attribute(device, DeviceAttribute::kComputeMajor));
  if (major >= 9) {
    TW_RETURN_IF_ERROR(driver.SetKernelAttribute(
        kernel->kernel_, KernelAttribute::kNonPortableClusterSizeAllowed, 1, device));
  }
  return kernel;
}

WorkerKernel::~WorkerKernel() {
  if (library_ != nullptr) driver_.UnloadLibrary(library_).IgnoreError();
}

absl::StatusOr<std::unique_ptr<LoadedCandidate>> LoadedCandidate::Load(Driver& driver, int device,
                                                                       const WirePlan& plan,
                                                                       int operand_count) {
  std::unique_ptr<LoadedCandidate> candidate(new LoadedCandidate(driver));
  TW_RETURN_IF_ERROR(CheckLaunches(plan.bound, plan.kernels.size(), operand_count));
  for (const WireKernel& wire : plan.kernels) {
    TW_ASSIGN_OR_RETURN(auto kernel, WorkerKernel::Load(driver, device, wire));
    candidate->kernels_.push_back(std::move(kernel));
  }
  candidate->bound_ = plan.bound;
  return candidate;
}

absl::Status LoadedCandidate::Run(std::span<void* const> pointers, void* workspace,
                                  CudaStream stream) const {
  for (const Launch& launch : bound_.launches) {
    TW_RETURN_IF_ERROR(RunOne(launch, pointers, workspace, stream));
  }
  return absl::OkStatus();
}

absl::Status LoadedCandidate::RunOne(const Launch& launch, std::span<void* const> pointers,
                                     void* workspace, CudaStream stream) const {
  alignas(64) std::byte params[kMaxParamBytes];
  std::memcpy(params, launch.params.data(), launch.params.size());
  const auto address = [&](int operand, int64_t byte_offset) {
    void* base = operand == kWorkspaceOperand ? workspace : pointers[static_cast<size_t>(operand)];
    return base == nullptr ? nullptr : static_cast<std::byte*>(base) + byte_offset;
  };
  for (const PointerSlot& slot : launch.pointers) {
    const void* pointer = address(slot.operand, slot.byte_offset);
    std::memcpy(params + slot.offset, &pointer, sizeof(pointer));
  }
  for (const TensorMapSlot& slot : launch.tensor_maps) {
    TensorMapShape shape = MapShape(slot);
    shape.address = reinterpret_cast<uint64_t>(address(slot.operand, slot.byte_offset));
    TW_RETURN_IF_ERROR(driver_.EncodeTensorMap(shape, params + slot.offset));
  }
  LaunchShape shape{launch.grid, launch.block, launch.cluster, launch.dynamic_smem_bytes,
                    launch.programmatic_dependent_launch};
  void* arguments[] = {params};
  return driver_.Launch(shape, kernels_[static_cast<size_t>(launch.kernel)]->handle(), stream,
                        arguments);
}

}  // namespace tilewright
