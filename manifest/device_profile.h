// What recipes, the roofline and the tuner need to know of a device. Plain data, no CUDA.
#ifndef TILEWRIGHT_MANIFEST_DEVICE_PROFILE_H_
#define TILEWRIGHT_MANIFEST_DEVICE_PROFILE_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace tilewright {

// One kind of device. `name`, `sm_count` and `mig` identify it in problem keys; the limits bound
// legality; the measured ceilings (from `tilewright calibrate`, never a datasheet) feed speed of
// light and cost models. A ceiling of 0 means "not calibrated".
struct DeviceProfile {
  std::string name;       // "NVIDIA H200"
  std::string arch;       // "sm_90a": the target that kernels are compiled for
  int compute_major = 0;  // 9
  int compute_minor = 0;  // 0
  int sm_count = 0;       // 132
  std::string mig;        // slice name, empty for a whole device

  int64_t smem_per_block_bytes = 0;  // opt-in maximum, 232448 on Hopper
  int64_t smem_per_sm_bytes = 0;
  int registers_per_sm = 65536;
  int max_threads_per_sm = 2048;
  int64_t l2_bytes = 0;

  double bandwidth_gbps = 0;       // best of read, copy and triad; GB/s of 1e9 bytes
  double tensor_tflops_16bit = 0;  // large fp16/bf16 matrix product
  double fp32_tflops = 0;

  // "NVIDIA H200/132" or with "/1g.18gb": the device part of a problem key.
  std::string Key() const;
  int compute_capability() const { return compute_major * 10 + compute_minor; }

  std::string ToJson() const;
  static absl::StatusOr<DeviceProfile> FromJson(std::string_view json);
};

// Profiles that ship with the library ("h200", and one generic profile per architecture such as
// "sm_80"), so that kernels can be built for a machine that is not here. NotFound lists the names.
absl::StatusOr<DeviceProfile> BuiltinDeviceProfile(std::string_view name);
// All of them; those of one architecture stand with real devices first.
std::vector<DeviceProfile> BuiltinDeviceProfiles();

}  // namespace tilewright

#endif  // TILEWRIGHT_MANIFEST_DEVICE_PROFILE_H_
