#include "manifest/device_profile.h"

#include <algorithm>
#include <array>
#include <limits>
#include <nlohmann/json.hpp>

#include "manifest/nearest_name.h"
#include "manifest/status.h"
#include "manifest/text.h"

namespace tilewright {
namespace {

using Json = nlohmann::json;

// A built-in profile. Limits are those of the CUDA programming guide's table of compute
// capabilities and of the vendor's data sheets; ceilings are measured or 0.
struct BuiltinProfile {
  std::string_view id;
  std::string_view name;
  std::string_view arch;
  int compute_major;
  int compute_minor;
  int sm_count;
  int64_t smem_per_block_bytes;
  int64_t smem_per_sm_bytes;
  int max_threads_per_sm;
  int64_t l2_bytes;
  double bandwidth_gbps;
  double tensor_tflops_16bit;
  double fp32_tflops;
};

constexpr int64_t kMiB = 1 << 20;

constexpr std::array<BuiltinProfile, 7> kProfiles = {{
    {"h200", "NVIDIA H200", "sm_90a", 9, 0, 132, 232448, 233472, 2048, 60 * kMiB, 4280, 790, 60},
    {"sm_80", "generic sm_80 (A100)", "sm_80", 8, 0, 108, 166912, 167936, 2048, 40 * kMiB, 0, 0, 0},
    {"sm_86", "generic sm_86 (RTX 3090)", "sm_86", 8, 6, 82, 101376, 102400, 1536, 6 * kMiB, 0, 0,
     0},
    {"sm_89", "generic sm_89 (RTX 4090)", "sm_89", 8, 9, 128, 101376, 102400, 1536, 72 * kMiB, 0, 0,
     0},
    {"sm_90a", "generic sm_90a (H100)", "sm_90a", 9, 0, 132, 232448, 233472, 2048, 50 * kMiB, 0, 0,
     0},
    {"sm_100a", "generic sm_100a (B200)", "sm_100a", 10, 0, 148, 232448, 233472, 2048, 126 * kMiB,
     0, 0, 0},
    {"sm_120a", "generic sm_120a (RTX 5090)", "sm_120a", 12, 0, 170, 101376, 102400, 1536,
     96 * kMiB, 0, 0, 0},
}};

DeviceProfile ProfileOf(const BuiltinProfile& row) {
  DeviceProfile profile;
  profile.name = row.name;
  profile.arch = row.arch;
  profile.compute_major = row.compute_major;
  profile.compute_minor = row.compute_minor;
  profile.sm_count = row.sm_count;
  profile.smem_per_block_bytes = row.smem_per_block_bytes;
  profile.smem_per_sm_bytes = row.smem_per_sm_bytes;
  profile.max_threads_per_sm = row.max_threads_per_sm;
  profile.l2_bytes = row.l2_bytes;
  profile.bandwidth_gbps = row.bandwidth_gbps;
  profile.tensor_tflops_16bit = row.tensor_tflops_16bit;
  profile.fp32_tflops = row.fp32_tflops;
  return profile;
}

// Reads one field; the first error stops further reads.
class FieldReader {
 public:
  explicit FieldReader(const Json& object) : object_(object) {}

  template <class T>
  void Read(const char* field, T& out) {
    if (!status_.ok()) return;
    const auto found = object_.find(field);
    if (found == object_.end()) {
      status_ = InvalidArgument("device profile: field '", field, "' is missing");
      return;
    }
    const bool kind_fits = std::is_same_v<T, std::string> ? found->is_string()
                           : std::is_integral_v<T>        ? found->is_number_integer()
                                                          : found->is_number();
    if (!kind_fits) {
      status_ = InvalidArgument("device profile: field '", field, "': expected ",
                                std::is_same_v<T, std::string> ? "a string" : "a number", ", got ",
                                found->type_name());
      return;
    }
    if constexpr (!std::is_same_v<T, std::string>) {
      // Written so that NaN fails too.
      const double most = std::min(1e15, static_cast<double>(std::numeric_limits<T>::max()));
      if (!(found->get<double>() >= 0 && found->get<double>() <= most)) {
        status_ = InvalidArgument("device profile: field '", field, "' is out of range");
        return;
      }
    }
    out = found->get<T>();
  }
  const absl::Status& status() const { return status_; }

 private:
  const Json& object_;
  absl::Status status_;
};

// "sm_90a": the compute capability, and for what only that one has a letter.
absl::Status CheckArch(const DeviceProfile& profile) {
  const std::string arch = Cat("sm_", profile.compute_major, profile.compute_minor);
  for (const std::string_view suffix : {"", "a", "f"}) {
    if (profile.arch == Cat(arch, suffix)) return absl::OkStatus();
  }
  return InvalidArgument("device profile: field 'arch': expected ", arch, " or ", arch,
                         "a, as its compute capability says, got '", Escaped(Brief(profile.arch)),
                         "'");
}

// What is divided by.
absl::Status CheckSizes(const DeviceProfile& profile) {
  const std::pair<const char*, int64_t> sizes[] = {
      {"compute_major", profile.compute_major},
      {"sm_count", profile.sm_count},
      {"smem_per_block_bytes", profile.smem_per_block_bytes},
      {"smem_per_sm_bytes", profile.smem_per_sm_bytes},
      {"registers_per_sm", profile.registers_per_sm},
      {"max_threads_per_sm", profile.max_threads_per_sm},
      {"l2_bytes", profile.l2_bytes}};
  for (const auto& [field, size] : sizes) {
    if (size < 1) {
      return InvalidArgument("device profile: field '", field, "': expected at least 1, got ",
                             size);
    }
  }
  return absl::OkStatus();
}

// What is divided by unless it is 0.
absl::Status CheckCeilings(const DeviceProfile& profile) {
  constexpr double kLeast = 1e-3;
  const std::pair<const char*, double> ceilings[] = {
      {"bandwidth_gbps", profile.bandwidth_gbps},
      {"tensor_tflops_16bit", profile.tensor_tflops_16bit},
      {"fp32_tflops", profile.fp32_tflops}};
  for (const auto& [field, ceiling] : ceilings) {
    if (ceiling != 0 && ceiling < kLeast) {
      return InvalidArgument("device profile: field '", field, "': expected 0 or at least ", kLeast,
                             ", got ", ceiling);
    }
  }
  return absl::OkStatus();
}

}  // namespace

std::string DeviceProfile::Key() const {
  return Cat(name, "/", sm_count, mig.empty() ? "" : "/", mig);
}

std::string DeviceProfile::ToJson() const {
  nlohmann::ordered_json json = {{"name", name},
                                 {"arch", arch},
                                 {"compute_major", compute_major},
                                 {"compute_minor", compute_minor},
                                 {"sm_count", sm_count},
                                 {"mig", mig},
                                 {"smem_per_block_bytes", smem_per_block_bytes},
                                 {"smem_per_sm_bytes", smem_per_sm_bytes},
                                 {"registers_per_sm", registers_per_sm},
                                 {"max_threads_per_sm", max_threads_per_sm},
                                 {"l2_bytes", l2_bytes},
                                 {"bandwidth_gbps", bandwidth_gbps},
                                 {"tensor_tflops_16bit", tensor_tflops_16bit},
                                 {"fp32_tflops", fp32_tflops}};
  // Bytes of a name that are no UTF-8 are replaced rather than thrown at.
  return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

absl::StatusOr<DeviceProfile> DeviceProfile::FromJson(std::string_view text) {
  const Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) return InvalidArgument("device profile: expected a JSON object");
  DeviceProfile profile;
  FieldReader reader(json);
  reader.Read("name", profile.name);
  reader.Read("arch", profile.arch);
  reader.Read("compute_major", profile.compute_major);
  reader.Read("compute_minor", profile.compute_minor);
  reader.Read("sm_count", profile.sm_count);
  reader.Read("mig", profile.mig);
  reader.Read("smem_per_block_bytes", profile.smem_per_block_bytes);
  reader.Read("smem_per_sm_bytes", profile.smem_per_sm_bytes);
  reader.Read("registers_per_sm", profile.registers_per_sm);
  reader.Read("max_threads_per_sm", profile.max_threads_per_sm);
  reader.Read("l2_bytes", profile.l2_bytes);
  reader.Read("bandwidth_gbps", profile.bandwidth_gbps);
  reader.Read("tensor_tflops_16bit", profile.tensor_tflops_16bit);
  reader.Read("fp32_tflops", profile.fp32_tflops);
  TW_RETURN_IF_ERROR(reader.status());
  TW_RETURN_IF_ERROR(CheckArch(profile));
  TW_RETURN_IF_ERROR(CheckSizes(profile));
  TW_RETURN_IF_ERROR(CheckCeilings(profile));
  return profile;
}

absl::StatusOr<DeviceProfile> BuiltinDeviceProfile(std::string_view name) {
  std::string names;
  std::vector<std::string_view> known;
  for (const BuiltinProfile& row : kProfiles) {
    if (row.id == name) return ProfileOf(row);
    known.push_back(row.id);
    names += Cat(names.empty() ? "" : ", ", row.id);
  }
  return NotFound("no built-in device profile '", Brief(name), "'; there are ", names,
                  DidYouMean(name, known));
}

std::vector<DeviceProfile> BuiltinDeviceProfiles() {
  std::vector<DeviceProfile> profiles;
  for (const BuiltinProfile& row : kProfiles) profiles.push_back(ProfileOf(row));
  return profiles;
}

}  // namespace tilewright
