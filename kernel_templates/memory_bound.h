// What the recipes of memory-bound operators share: device type names, buckets, strided layouts and
// the model of kernel time.
#ifndef TILEWRIGHT_KERNEL_TEMPLATES_MEMORY_BOUND_H_
#define TILEWRIGHT_KERNEL_TEMPLATES_MEMORY_BOUND_H_

#include <array>
#include <cstdint>
#include <string_view>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "manifest/call_desc.h"
#include "manifest/device_profile.h"

namespace tilewright {

// "tilewright::bf16", "float", ...: the storage type of a dtype in device code.
std::string_view StorageTypeName(DType dtype);

// FailedPrecondition below sm_80, naming the op and the architecture.
absl::Status RequireSm80(const CallDesc& call, const DeviceProfile& device);

// The smallest power of two that is at least `value` and at least `floor` (itself one); at most
// 2^62.
int64_t PowerOfTwoBucket(int64_t value, int64_t floor);

// One axis of an index space with the stride, in elements, of each operand.
struct LayoutDim {
  int64_t extent = 1;
  absl::InlinedVector<int64_t, 4> strides;
};
using LayoutDims = absl::InlinedVector<LayoutDim, kMaxRank>;  // innermost first

// Drops axes of extent 1 and merges neighbours that every operand strides through evenly. The order
// of the rest stays.
LayoutDims Collapse(const LayoutDims& dims);
// Orders axes by the magnitude of operand 0's stride, smallest first.
void SortByStride(LayoutDims* dims);

// Positions over the axes; 0 where any has none, however large the others are.
int64_t Positions(const LayoutDims& dims);

// How a config loads the memory system, for ranking.
struct MemoryModel {
  double bytes = 0;              // moved to and from device memory
  double ctas = 1;               // of the grid
  double threads = 256;          // a CTA
  double bytes_per_thread = 16;  // in flight before a thread's first use
  double fixed_us = 0;           // reductions, barriers
};
double PredictMemoryUs(const MemoryModel& model, const DeviceProfile& device);

}  // namespace tilewright

#endif  // TILEWRIGHT_KERNEL_TEMPLATES_MEMORY_BOUND_H_
