// How threads take up rows: the axes, the legality and the launch that the kernels of rows share.
#ifndef TILEWRIGHT_KERNEL_TEMPLATES_ROW_ROW_GEOMETRY_H_
#define TILEWRIGHT_KERNEL_TEMPLATES_ROW_ROW_GEOMETRY_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "autotune/config.h"
#include "kernel_templates/launch.h"
#include "kernel_templates/memory_bound.h"
#include "manifest/device_profile.h"

namespace tilewright {

inline constexpr int64_t kMostRowThreads = 1024;  // a CTA
inline constexpr int64_t kMostRowCluster = 16;    // CTAs
inline constexpr int64_t kMostGrid = (int64_t{1} << 31) - 1;

struct RowGeometry {
  int64_t threads = 0;  // a row and CTA
  int64_t rows = 1;     // a CTA
  int64_t cluster = 1;  // CTAs that share a row
  int64_t stages = 0;   // rows in a ring of shared memory; 0: a CTA takes its rows alone
  int64_t per_sm = 1;   // CTAs an SM that walk the rows of a ring
  int64_t vector = 1;   // elements a packet
  int64_t packets = 0;  // a thread

  int64_t cta_threads() const { return threads * rows; }
};

// From the axes of these names; `bucket` is the most elements of a row.
RowGeometry RowGeometryOf(const Config& config, int64_t bucket, int64_t vector);

// The axes "threads", "rows" up to `most_rows`, and "cluster".
std::vector<TuningAxis> RowAxes(const DeviceProfile& device, int64_t most_rows);
// The axes "stages" and "per_sm" of kernels that can walk a ring.
std::vector<TuningAxis> RingAxes();

// Whether threads, rows and cluster suit each other, the device, and rows of up to `packets`.
absl::Status RowThreadsAreLegal(const RowGeometry& g, int64_t packets, const DeviceProfile& device);

// What a ring holds.
struct RingContents {
  int64_t packet_bytes = 0;
  int64_t inputs = 1;     // rows a stage
  int64_t registers = 0;  // that a thread keeps of a row, beside others
  bool dense = true;      // a row is one dense run
};
int64_t RingBytes(const RowGeometry& g, const RingContents& contents);
// OK where there is no ring.
absl::Status RingIsLegal(const RowGeometry& g, const RingContents& contents,
                         const DeviceProfile& device);

// The model of a row kernel but for its bytes.
MemoryModel ModelOf(const RowGeometry& g, const RingContents& contents, int64_t rows,
                    const DeviceProfile& device);

// Grid, block, cluster and shared memory.
void SetRowGrid(const RowGeometry& g, const RingContents& contents, int64_t rows,
                const DeviceProfile& device, Launch* launch);

}  // namespace tilewright

#endif  // TILEWRIGHT_KERNEL_TEMPLATES_ROW_ROW_GEOMETRY_H_
