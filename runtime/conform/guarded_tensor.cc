#include "runtime/conform/guarded_tensor.h"

#include <cstring>
#include <utility>

#include "manifest/status.h"

namespace tilewright {

absl::StatusOr<GuardedTensor> GuardedTensor::Allocate(Driver& driver, const Operand& operand) {
  const auto extent = operand.desc.Extent();
  if (!extent.has_value()) {
    return ResourceExhausted("extent of ", operand.desc.shape.ToString(), " overflows");
  }
  GuardedTensor tensor;
  tensor.desc_ = operand.desc;
  tensor.extent_bytes_ = extent->end - extent->begin;
  // Allocations are 256-byte aligned; a less aligned operand starts just past such an address.
  const int64_t shift = operand.alignment < 256 ? int64_t{operand.alignment} : 0;
  tensor.extent_begin_ = kGuardBytes + shift;
  if (extent->begin != 0) {  // the origin, not the lowest byte, carries the alignment
    tensor.extent_begin_ += (256 - (-extent->begin) % 256) % 256;
  }
  tensor.origin_bytes_ = tensor.extent_begin_ - extent->begin;
  const int64_t total = tensor.extent_begin_ + tensor.extent_bytes_ + kGuardBytes;
  TW_ASSIGN_OR_RETURN(tensor.memory_, DeviceMemory::Allocate(driver, total));
  return tensor;
}

absl::Status GuardedTensor::Poison(Driver& driver, CudaStream stream, uint8_t value) const {
  return driver.Fill8(memory_.data(), value, static_cast<size_t>(memory_.bytes()), stream);
}

absl::Status GuardedTensor::Upload(Driver& driver, CudaStream stream,
                                   const std::vector<std::byte>& extent) const {
  if (extent.empty()) return absl::OkStatus();
  return driver.CopyToDevice(memory_.data() + extent_begin_, extent.data(), extent.size(), stream);
}

absl::StatusOr<std::vector<std::byte>> GuardedTensor::Download(Driver& driver,
                                                               CudaStream stream) const {
  std::vector<std::byte> image(static_cast<size_t>(memory_.bytes()));
  TW_RETURN_IF_ERROR(driver.CopyToHost(image.data(), memory_.data(), image.size(), stream));
  TW_RETURN_IF_ERROR(driver.SynchronizeStream(stream));
  return image;
}

std::string GuardedTensor::DamageOutside(const std::vector<std::byte>& image,
                                         uint8_t poison) const {
  const int64_t extent_end = extent_begin_ + extent_bytes_;
  std::vector<bool> inside;  // of each byte of the extent; empty where it has no gaps
  if (!desc_.IsContiguous()) {
    inside.resize(static_cast<size_t>(extent_bytes_));
    const int size = DTypeSize(desc_.dtype);
    for (int64_t i = 0; i < desc_.elements(); ++i) {
      int64_t rest = i;
      int64_t offset = 0;
      for (int axis = desc_.rank() - 1; axis >= 0; --axis) {
        offset += rest % desc_.shape[axis] * desc_.strides[axis];
        rest /= desc_.shape[axis];
      }
      const int64_t at = origin_bytes_ - extent_begin_ + offset * size;
      for (int byte = 0; byte < size; ++byte) inside[static_cast<size_t>(at + byte)] = true;
    }
  }
  for (int64_t i = 0; i < static_cast<int64_t>(image.size()); ++i) {
    const bool in_extent = i >= extent_begin_ && i < extent_end;
    if (in_extent && (inside.empty() || inside[static_cast<size_t>(i - extent_begin_)])) {
      if (inside.empty()) i = extent_end - 1;
      continue;
    }
    if (image[static_cast<size_t>(i)] != std::byte{poison}) {
      return Cat("byte ", i - origin_bytes_, " from the first element, outside the tensor, was ",
                 "overwritten");
    }
  }
  return "";
}

bool GuardedTensor::HoldsExtent(const std::vector<std::byte>& image,
                                const std::vector<std::byte>& extent) const {
  return extent.empty() ||
         std::memcmp(image.data() + extent_begin_, extent.data(), extent.size()) == 0;
}

}  // namespace tilewright
