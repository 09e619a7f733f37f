// Turning CUresult codes into statuses.
#include <string>

#include "manifest/status.h"
#include "runtime/driver/driver.h"

namespace tilewright {
namespace {

constexpr int kLaunchOutOfResources = 701;  // of a multiprocessor: too many registers, say
constexpr char kCodePayload[] = "tilewright/cuda_error";

absl::StatusCode StatusCodeOf(int code) {
  switch (code) {
    case kCudaOutOfMemory:
    case kLaunchOutOfResources:
      return absl::StatusCode::kResourceExhausted;
    case kCudaInvalidValue:
    case kCudaInvalidHandle:
      return absl::StatusCode::kInvalidArgument;
    case kCudaNotInitialized:
    case 100:  // no device
    case 101:  // invalid device
    case kCudaNoBinaryForGpu:
    case kCudaUnsupportedPtxVersion:
    case 803:  // system driver mismatch
      return absl::StatusCode::kFailedPrecondition;
    default:
      return code >= 900 && code <= 908 ? absl::StatusCode::kFailedPrecondition
                                        : absl::StatusCode::kInternal;
  }
}

bool IsStickyCode(int code) {
  switch (code) {
    case 214:  // uncorrectable ECC error
    case 220:  // uncorrectable NVLink error
    case kCudaIllegalAddress:
    case 702:  // launch timeout
    case 710:  // device assert
    case 714:  // hardware stack error
    case 715:  // illegal instruction
    case 716:  // misaligned address
    case 717:  // invalid address space
    case 718:  // invalid program counter
    case 719:  // launch failed
      return true;
    default:
      return false;
  }
}

}  // namespace

absl::Status DriverError(std::string_view entry_point, int code, std::string_view name,
                         std::string_view detail) {
  std::string text = Cat(entry_point, ": ", name, " (", code, ")");
  if (!detail.empty()) text += Cat(": ", detail);
  if (IsStickyCode(code)) {
    text += "; the runtime must be reopened, and for that the process must be restarted";
  }
  absl::Status status(StatusCodeOf(code), text);
  status.SetPayload(kCodePayload, absl::Cord(std::to_string(code)));
  return status;
}

int DriverErrorCode(const absl::Status& status) {
  if (status.ok()) return 0;
  const auto payload = status.GetPayload(kCodePayload);
  return payload.has_value() ? std::stoi(std::string(*payload)) : 0;
}

bool IsOfTheMachine(const absl::Status& status) {
  switch (const int code = DriverErrorCode(status)) {
    case kCudaNotInitialized:
    case 4:    // deinitialized
    case 46:   // the device is another process's alone
    case 100:  // no device
    case 101:  // invalid device
    case 214:  // uncorrectable ECC error
    case 220:  // uncorrectable NVLink error
    case 304:  // a call of the operating system failed
    case 802:  // system not ready
      return true;
    default:
      if (code >= 805 && code <= 809) return true;  // the multi-process service
      return absl::IsResourceExhausted(status) && code != kLaunchOutOfResources;
  }
}

bool IsSticky(const absl::Status& status) { return IsStickyCode(DriverErrorCode(status)); }

}  // namespace tilewright
