// The devices of this machine, as the runtime sees them.
#ifndef TILEWRIGHT_RUNTIME_DEVICE_TABLE_H_
#define TILEWRIGHT_RUNTIME_DEVICE_TABLE_H_

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>

#include "absl/status/statusor.h"
#include "manifest/device_profile.h"
#include "runtime/driver/driver.h"
#include "runtime/runtime.h"

namespace tilewright {

struct VisibleDevice {
  int ordinal = 0;
  CudaContext context = nullptr;  // its primary context, retained
  DeviceProfile profile;
  std::string profile_key;  // profile.Key()
};

// "sm_90a" for 9.0: architectures from 9.0 on are compiled with their own features.
std::string ArchName(int compute_major, int compute_minor);

// Where the calibrated profile of a device is kept in a folder of profiles.
std::string ProfilePath(const std::string& directory, const DeviceProfile& profile);

// Identity and limits of a device from the driver; ceilings from a built-in profile of the same
// name, else 0. Retains no context.
absl::StatusOr<DeviceProfile> ReadDeviceProfile(Driver& driver, int ordinal);

// Takes the ceilings of the calibrated profile at `path`, if there is one. InvalidArgument naming
// the file where it is none; `profile` then stays as it is.
absl::Status TakeCalibration(const std::string& path, DeviceProfile& profile);

// Purpose: profiles and primary contexts by ordinal, read on first need. Thread-safe; entries stay
// where they are until the table dies, which releases the contexts. A calibrated profile that is
// damaged is warned of, and does without. Detects a fork: the child of a process that used the
// driver cannot, and is told so.
class DeviceTable {
 public:
  // `profile_dir`: of calibrated profiles; empty for none. `log` may be empty.
  DeviceTable(Driver* driver, std::string profile_dir, Logger log);
  ~DeviceTable();

  // InvalidArgument for an ordinal that does not exist; FailedPrecondition without a driver or in a
  // forked child.
  absl::StatusOr<const VisibleDevice*> Get(int ordinal);
  // The device of a context that may be any of the process. Takes no lock.
  absl::StatusOr<int> DeviceOf(CudaContext context) const;

  // False in a child forked after the driver was used. Reads one byte.
  bool SameProcess() const { return !used_.load(std::memory_order_relaxed) || *same_process_ != 0; }
  static absl::Status ForkedError();

  // True where the machine shows several devices: a stream, or the current context, may be of any,
  // also of one that was never asked for here. Known once a device was got.
  bool SeveralVisible() const { return several_visible_.load(std::memory_order_relaxed); }

 private:
  // `calibration`: what is wrong with the device's calibrated profile, the first time it is seen.
  absl::StatusOr<const VisibleDevice*> FindOrRead(int ordinal, absl::Status& calibration);

  Driver* const driver_;
  const std::string profile_dir_;
  const Logger log_;
  volatile char* same_process_;  // a page that fork() wipes in the child
  volatile char no_page_ = 0;    // stands in where the system has no such page
  std::atomic<bool> used_{false};
  std::atomic<bool> several_visible_{false};
  std::mutex mutex_;
  std::map<int, std::unique_ptr<VisibleDevice>> devices_;  // guarded by mutex_
  std::set<std::string> warned_;                           // files of profiles; guarded by mutex_
};

}  // namespace tilewright

#endif  // TILEWRIGHT_RUNTIME_DEVICE_TABLE_H_
