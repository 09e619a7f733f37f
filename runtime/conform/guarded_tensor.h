// An operand in device memory between guard bytes.
#ifndef TILEWRIGHT_RUNTIME_CONFORM_GUARDED_TENSOR_H_
#define TILEWRIGHT_RUNTIME_CONFORM_GUARDED_TENSOR_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "manifest/call_desc.h"
#include "runtime/driver/device_memory.h"
#include "runtime/driver/driver.h"

namespace tilewright {

// One operand: guard, its byte extent (gaps of a strided view included), guard. The operand's
// alignment is kept exactly: a 2-byte aligned operand lies 2 bytes past an aligned address.
// Move-only; not thread-safe.
class GuardedTensor {
 public:
  static constexpr int64_t kGuardBytes = 4096;

  static absl::StatusOr<GuardedTensor> Allocate(Driver& driver, const Operand& operand);

  void* data() const { return memory_.data() + origin_bytes_; }  // element (0, ..., 0)
  const TensorDesc& desc() const { return desc_; }

  // All asynchronous on `stream`, but for Download().
  absl::Status Poison(Driver& driver, CudaStream stream, uint8_t value) const;
  // Fills the extent; the guards keep what they have. `extent` has extent_bytes() bytes.
  absl::Status Upload(Driver& driver, CudaStream stream,
                      const std::vector<std::byte>& extent) const;

  // Everything, guards included, after waiting for the stream.
  absl::StatusOr<std::vector<std::byte>> Download(Driver& driver, CudaStream stream) const;
  const std::byte* Origin(const std::vector<std::byte>& image) const {
    return image.data() + origin_bytes_;
  }
  // The first byte outside the tensor's elements that is not `poison`, in words; empty if none.
  std::string DamageOutside(const std::vector<std::byte>& image, uint8_t poison) const;
  // True where the extent holds exactly these bytes.
  bool HoldsExtent(const std::vector<std::byte>& image, const std::vector<std::byte>& extent) const;
  int64_t extent_bytes() const { return extent_bytes_; }

 private:
  DeviceMemory memory_;
  TensorDesc desc_;
  int64_t extent_bytes_ = 0;
  int64_t extent_begin_ = 0;  // of the extent's first byte in the memory
  int64_t origin_bytes_ = 0;  // of element (0, ..., 0) in the memory
};

}  // namespace tilewright

#endif  // TILEWRIGHT_RUNTIME_CONFORM_GUARDED_TENSOR_H_
