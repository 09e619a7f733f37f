#include "kernel_templates/memory_bound.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "manifest/op_spec.h"
#include "manifest/status.h"

namespace tilewright {

std::string_view StorageTypeName(DType dtype) {
  static constexpr std::array<std::string_view, kDTypeCount> kNames = {"tilewright::bool8",
                                                                       "tilewright::uint8_t",
                                                                       "tilewright::int8_t",
                                                                       "tilewright::int16_t",
                                                                       "tilewright::int32_t",
                                                                       "tilewright::int64_t",
                                                                       "tilewright::fp8_e4m3",
                                                                       "tilewright::fp8_e5m2",
                                                                       "tilewright::fp16",
                                                                       "tilewright::bf16",
                                                                       "float",
                                                                       "double",
                                                                       "tilewright::complex64",
                                                                       "tilewright::complex128"};
  return kNames[static_cast<size_t>(dtype)];
}

absl::Status RequireSm80(const CallDesc& call, const DeviceProfile& device) {
  if (device.compute_capability() >= 80) return absl::OkStatus();
  return FailedPrecondition(call.op == nullptr ? "the operator" : call.op->name,
                            " has kernels for sm_80 and up, got ", device.arch);
}

int64_t PowerOfTwoBucket(int64_t value, int64_t floor) {
  constexpr int64_t kLargest = int64_t{1} << 62;
  int64_t bucket = floor;
  while (bucket < value && bucket < kLargest) bucket *= 2;
  return bucket;
}

LayoutDims Collapse(const LayoutDims& dims) {
  LayoutDims result;
  for (const LayoutDim& dim : dims) {
    if (dim.extent == 1) continue;
    // Extents beside one of 0, and strides past the last element, may be beyond any product.
    int64_t merged = 0;
    const auto continues = [&](const LayoutDim& inner) {
      if (__builtin_mul_overflow(inner.extent, dim.extent, &merged)) return false;
      for (size_t i = 0; i < dim.strides.size(); ++i) {
        int64_t next = 0;
        if (__builtin_mul_overflow(inner.strides[i], inner.extent, &next)) return false;
        if (dim.strides[i] != next) return false;
      }
      return true;
    };
    if (!result.empty() && continues(result.back())) {
      result.back().extent = merged;
    } else {
      result.push_back(dim);
    }
  }
  return result;
}

void SortByStride(LayoutDims* dims) {
  std::stable_sort(dims->begin(), dims->end(), [](const LayoutDim& a, const LayoutDim& b) {
    return std::llabs(a.strides[0]) < std::llabs(b.strides[0]);
  });
}

int64_t Positions(const LayoutDims& dims) {
  Dims extents;
  for (const LayoutDim& dim : dims) extents.push_back(dim.extent);
  return extents.Product().value_or(0);
}

double PredictMemoryUs(const MemoryModel& model, const DeviceProfile& device) {
  // Seen on an H200: a kernel of a few KiB takes about 1.5 us, one SM alone moves about 80 bytes a
  // nanosecond, and 32 KiB in flight an SM saturate memory (latency times bandwidth over the SMs).
  constexpr double kLaunchUs = 1.5;
  constexpr double kSmBytesPerUs = 80e3;
  constexpr double kSaturatingBytes = 32 * 1024;
  const double sms = std::max(device.sm_count, 1);
  const double ctas = std::max(model.ctas, 1.0);
  const double bytes_per_us = (device.bandwidth_gbps > 0 ? device.bandwidth_gbps : 2000.0) * 1e3;
  const double fitting =
      std::clamp(std::floor(device.max_threads_per_sm / model.threads), 1.0, 32.0);
  const double used_sms = std::min(sms, ctas);
  const double fixed_us = kLaunchUs + model.fixed_us;
  const double floor_us =
      std::max(model.bytes / bytes_per_us, model.bytes / used_sms / kSmBytesPerUs);
  const double waves = ctas / (sms * fitting);
  if (waves <= 1) return fixed_us + floor_us;  // all of it is in flight at once
  const double in_flight = fitting * model.threads * model.bytes_per_thread;
  const double share = std::min(1.0, in_flight / kSaturatingBytes);
  // CTAs of a last partial wave leave SMs idle for about a quarter of a CTA's time.
  const double tail = 1 + 0.25 * (std::ceil(waves) - waves) / waves;
  return fixed_us + floor_us / share * tail;
}

}  // namespace tilewright
