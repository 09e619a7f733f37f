// Owned device memory.
#ifndef TILEWRIGHT_RUNTIME_DRIVER_DEVICE_MEMORY_H_
#define TILEWRIGHT_RUNTIME_DRIVER_DEVICE_MEMORY_H_

#include <cstddef>
#include <cstdint>
#include <utility>

#include "absl/status/statusor.h"
#include "runtime/driver/driver.h"

namespace tilewright {

// Device memory that is freed with the object. Move-only; the driver outlives it and its context is
// current wherever it is used.
class DeviceMemory {
 public:
  DeviceMemory() = default;
  static absl::StatusOr<DeviceMemory> Allocate(Driver& driver, int64_t bytes);
  DeviceMemory(DeviceMemory&& other) noexcept { *this = std::move(other); }
  DeviceMemory& operator=(DeviceMemory&& other) noexcept;
  ~DeviceMemory();

  std::byte* data() const { return data_; }
  int64_t bytes() const { return bytes_; }

 private:
  Driver* driver_ = nullptr;
  std::byte* data_ = nullptr;
  int64_t bytes_ = 0;
};

}  // namespace tilewright

#endif  // TILEWRIGHT_RUNTIME_DRIVER_DEVICE_MEMORY_H_
