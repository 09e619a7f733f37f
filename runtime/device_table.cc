#include "runtime/device_table.h"

#include <sys/mman.h>

#include <filesystem>
#include <fstream>
#include <utility>

#include "manifest/status.h"

namespace tilewright {
namespace {

constexpr size_t kPageBytes = 4096;
constexpr std::streamsize kMaxProfileBytes = 1 << 20;

void TakeCeilings(const DeviceProfile& from, DeviceProfile& to) {
  to.bandwidth_gbps = from.bandwidth_gbps;
  to.tensor_tflops_16bit = from.tensor_tflops_16bit;
  to.fp32_tflops = from.fp32_tflops;
}

}  // namespace

std::string ArchName(int compute_major, int compute_minor) {
  return Cat("sm_", compute_major, compute_minor, compute_major >= 9 ? "a" : "");
}

std::string ProfilePath(const std::string& directory, const DeviceProfile& profile) {
  std::string name = profile.Key();
  for (char& c : name) {
    if (c == '/' || c == ' ') c = '_';
  }
  return Cat(directory, "/", name, ".json");
}

absl::StatusOr<DeviceProfile> ReadDeviceProfile(Driver& driver, int ordinal) {
  DeviceProfile profile;
  TW_ASSIGN_OR_RETURN(profile.name, driver.DeviceName(ordinal));
  if (const size_t mig = profile.name.find(" MIG "); mig != std::string::npos) {
    profile.mig = profile.name.substr(mig + 5);
    profile.name.resize(mig);
  }
  const auto read = [&](DeviceAttribute attribute, auto& value) -> absl::Status {
    TW_ASSIGN_OR_RETURN(value, driver.Attribute(ordinal, attribute));
    return absl::OkStatus();
  };
  TW_RETURN_IF_ERROR(read(DeviceAttribute::kComputeMajor, profile.compute_major));
  TW_RETURN_IF_ERROR(read(DeviceAttribute::kComputeMinor, profile.compute_minor));
  TW_RETURN_IF_ERROR(read(DeviceAttribute::kMultiprocessorCount, profile.sm_count));
  TW_RETURN_IF_ERROR(
      read(DeviceAttribute::kSharedMemoryPerBlockOptin, profile.smem_per_block_bytes));
  TW_RETURN_IF_ERROR(read(DeviceAttribute::kSharedMemoryPerSm, profile.smem_per_sm_bytes));
  TW_RETURN_IF_ERROR(read(DeviceAttribute::kRegistersPerSm, profile.registers_per_sm));
  TW_RETURN_IF_ERROR(read(DeviceAttribute::kMaxThreadsPerSm, profile.max_threads_per_sm));
  TW_RETURN_IF_ERROR(read(DeviceAttribute::kL2CacheBytes, profile.l2_bytes));
  profile.arch = ArchName(profile.compute_major, profile.compute_minor);
  const absl::StatusOr<DeviceProfile> builtin = BuiltinDeviceProfile("h200");
  if (builtin.ok() && builtin->Key() == profile.Key()) TakeCeilings(*builtin, profile);
  return profile;
}

absl::Status TakeCalibration(const std::string& path, DeviceProfile& profile) {
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(path, error);
  if (status.type() == std::filesystem::file_type::not_found) return absl::OkStatus();
  if (status.type() == std::filesystem::file_type::none) {
    return InvalidArgument("device profile ", path, ": ", error.message());
  }
  // A pipe would be waited for.
  if (status.type() != std::filesystem::file_type::regular) {
    return InvalidArgument("device profile ", path, ": expected a file");
  }
  std::ifstream file(path, std::ios::binary);
  std::string text(kMaxProfileBytes, ' ');
  if (!file.read(text.data(), kMaxProfileBytes) && !file.eof()) {
    return InvalidArgument("device profile ", path, ": cannot be read");
  }
  text.resize(static_cast<size_t>(file.gcount()));
  const absl::StatusOr<DeviceProfile> calibrated = DeviceProfile::FromJson(text);
  if (!calibrated.ok()) return InvalidArgument(path, ": ", calibrated.status().message());
  TakeCeilings(*calibrated, profile);
  return absl::OkStatus();
}

DeviceTable::DeviceTable(Driver* driver, std::string profile_dir, Logger log)
    : driver_(driver), profile_dir_(std::move(profile_dir)), log_(std::move(log)) {
  void* page =
      mmap(nullptr, kPageBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page != MAP_FAILED) madvise(page, kPageBytes, MADV_WIPEONFORK);
  same_process_ = page == MAP_FAILED ? &no_page_ : static_cast<char*>(page);
  *same_process_ = 1;
}

DeviceTable::~DeviceTable() {
  if (SameProcess()) {
    for (const auto& [ordinal, device] : devices_) {
      driver_->ReleasePrimaryContext(ordinal).IgnoreError();
    }
  }
  if (same_process_ != &no_page_) munmap(const_cast<char*>(same_process_), kPageBytes);
}

absl::Status DeviceTable::ForkedError() {
  return FailedPrecondition(
      "this process was forked after its parent had used the GPU, and cannot use it; start GPU "
      "work in a new process (exec), or fork before the first call");
}

absl::StatusOr<const VisibleDevice*> DeviceTable::Get(int ordinal) {
  if (!SameProcess()) return ForkedError();
  absl::Status calibration;
  auto device = FindOrRead(ordinal, calibration);
  if (!calibration.ok() && log_) {
    log_(LogLevel::kWarning, Cat(calibration.message(), "; it is ignored: 'tilewright calibrate' ",
                                 "writes a new one"));
  }
  return device;
}

absl::StatusOr<const VisibleDevice*> DeviceTable::FindOrRead(int ordinal,
                                                             absl::Status& calibration) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (auto it = devices_.find(ordinal); it != devices_.end()) return it->second.get();
  TW_RETURN_IF_ERROR(driver_->Init());
  TW_ASSIGN_OR_RETURN(const int count, driver_->DeviceCount());
  if (ordinal < 0 || ordinal >= count) {
    return InvalidArgument("device ", ordinal, " does not exist: this machine shows ", count);
  }
  used_ = true;
  several_visible_.store(count > 1, std::memory_order_relaxed);
  auto device = std::make_unique<VisibleDevice>();
  device->ordinal = ordinal;
  TW_ASSIGN_OR_RETURN(device->profile, ReadDeviceProfile(*driver_, ordinal));
  if (!profile_dir_.empty()) {
    const std::string path = ProfilePath(profile_dir_, device->profile);
    absl::Status taken = TakeCalibration(path, device->profile);
    if (!taken.ok() && warned_.insert(path).second) calibration = std::move(taken);
  }
  device->profile_key = device->profile.Key();
  TW_ASSIGN_OR_RETURN(device->context, driver_->RetainPrimaryContext(ordinal));
  return devices_.emplace(ordinal, std::move(device)).first->second.get();
}

absl::StatusOr<int> DeviceTable::DeviceOf(CudaContext context) const {
  ScopedContext current(*driver_, context);
  TW_RETURN_IF_ERROR(current.status());
  return driver_->CurrentDevice();
}

}  // namespace tilewright
