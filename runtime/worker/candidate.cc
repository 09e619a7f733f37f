#include "runtime/worker/candidate.h"

#include <cstring>
#include <fstream>
#include <iterator>

#include "manifest/status.h"

namespace tilewright {
namespace {

constexpr size_t kTensorMapBytes = 128;
constexpr size_t kMaxParamBytes = 4096;

absl::StatusOr<std::string> ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return NotFound("cannot read ", path);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

// CUtensorMapDataType of a dtype; bytes for what TMA has no type for.
int TensorMapType(DType dtype) {
  switch (dtype) {
    case DType::kBool:
    case DType::kUint8:
    case DType::kInt8:
    case DType::kFloat8E4M3:
    case DType::kFloat8E5M2:
      return 0;  // UINT8
    case DType::kInt16:
      return 1;  // UINT16
    case DType::kInt32:
      return 3;  // INT32
    case DType::kInt64:
    case DType::kComplex64:
      return 5;  // INT64
    case DType::kFloat16:
      return 6;
    case DType::kFloat32:
      return 7;
    case DType::kFloat64:
      return 8;
    case DType::kBFloat16:
      return 9;
  }
  return 0;
}

absl::Status CheckLaunch(const Launch& launch, size_t kernels, int operands) {
  if (launch.kernel < 0 || static_cast<size_t>(launch.kernel) >= kernels) {
    return InvalidArgument("launch of kernel ", launch.kernel, " of ", kernels);
  }
  if (launch.params.size() > kMaxParamBytes) {
    return InvalidArgument(launch.params.size(), " bytes of parameters; at most ", kMaxParamBytes);
  }
  const auto operand_ok = [&](int operand) {
    return operand == kWorkspaceOperand || (operand >= 0 && operand < operands);
  };
  for (const PointerSlot& slot : launch.pointers) {
    if (!operand_ok(slot.operand) || slot.offset + sizeof(void*) > launch.params.size()) {
      return InvalidArgument("pointer slot at ", slot.offset, " of operand ", int{slot.operand},
                             " is out of range");
    }
  }
  for (const TensorMapSlot& slot : launch.tensor_maps) {
    if (!operand_ok(slot.operand) || slot.offset + kTensorMapBytes > launch.params.size() ||
        slot.offset % 64 != 0 || slot.rank < 1 || slot.rank > 5) {
      return InvalidArgument("tensor map slot at ", slot.offset, " of operand ", int{slot.operand},
                             " is out of range");
    }
  }
  return absl::OkStatus();
}

TensorMapShape ShapeOf(const TensorMapSlot& slot, uint64_t address) {
  TensorMapShape shape;
  shape.data_type = TensorMapType(slot.dtype);
  shape.rank = slot.rank;
  shape.address = address;
  shape.dims = slot.dims;
  shape.strides_bytes = slot.strides_bytes;
  shape.box = slot.box;
  shape.swizzle = static_cast<int>(slot.swizzle);
  // CU_TENSOR_MAP_L2_PROMOTION_NONE, _L2_64B, _L2_128B, _L2_256B.
  shape.l2_promotion = slot.l2_promotion_bytes_log2 >= 6 ? slot.l2_promotion_bytes_log2 - 5 : 0;
  return shape;
}

}  // namespace

absl::StatusOr<std::shared_ptr<const WorkerKernel>> WorkerKernel::Load(Driver& driver, int device,
                                                                       const WireKernel& wire) {
  TW_ASSIGN_OR_RETURN(const std::string image, ReadFile(wire.file));
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
  for (const Launch& launch : plan.bound.launches) {
    TW_RETURN_IF_ERROR(CheckLaunch(launch, plan.kernels.size(), operand_count));
  }
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
    const auto base = reinterpret_cast<uint64_t>(address(slot.operand, slot.byte_offset));
    TW_RETURN_IF_ERROR(driver_.EncodeTensorMap(ShapeOf(slot, base), params + slot.offset));
  }
  LaunchShape shape{launch.grid, launch.block, launch.cluster, launch.dynamic_smem_bytes,
                    launch.programmatic_dependent_launch};
  void* arguments[] = {params};
  return driver_.Launch(shape, kernels_[static_cast<size_t>(launch.kernel)]->handle(), stream,
                        arguments);
}

}  // namespace tilewright
