#include "runtime/driver/device_memory.h"

#include <algorithm>

#include "manifest/status.h"

namespace tilewright {

absl::StatusOr<DeviceMemory> DeviceMemory::Allocate(Driver& driver, int64_t bytes) {
  DeviceMemory memory;
  TW_ASSIGN_OR_RETURN(void* const data,
                      driver.Alloc(static_cast<size_t>(std::max<int64_t>(bytes, 16))));
  memory.driver_ = &driver;
  memory.data_ = static_cast<std::byte*>(data);
  memory.bytes_ = bytes;
  return memory;
}

DeviceMemory& DeviceMemory::operator=(DeviceMemory&& other) noexcept {
  std::swap(driver_, other.driver_);
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

DeviceMemory::~DeviceMemory() {
  if (data_ != nullptr) driver_->Free(data_).IgnoreError();
}

}  // namespace tilewright
