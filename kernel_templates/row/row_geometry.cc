#include "kernel_templates/row/row_geometry.h"

#include <algorithm>
#include <cmath>

#include "kernel_templates/row/row_recipe.h"
#include "manifest/status.h"

namespace tilewright {
namespace {

constexpr int64_t kMostThreadsOfSeveralRows = 256;
constexpr int64_t kFewestThreads = 64;            // of a CTA in a cluster, or beside a ring
constexpr int64_t kOtherRegisters = 32;           // of a thread, beside its row
constexpr int64_t kReservedShared = 2048;         // of a CTA, beside its ring
constexpr double kRingThreads = 1024;             // an SM
constexpr double kRingBytesInFlight = 64 * 1024;  // an SM

int64_t RowsOfGrid(const RowGeometry& g, int64_t rows) {
  return (rows + g.rows - 1) / g.rows * g.cluster;
}
int64_t CtasOf(const RowGeometry& g, int64_t rows, const DeviceProfile& device) {
  const int64_t most = RowsOfGrid(g, rows);
  return g.stages > 0 ? std::min(most, g.per_sm * std::max(device.sm_count, 1)) : most;
}

}  // namespace

RowGeometry RowGeometryOf(const Config& config, int64_t bucket, int64_t vector) {
  RowGeometry g;
  g.threads = config.Get("threads");
  g.rows = config.Get("rows");
  g.cluster = config.Get("cluster");
  g.stages = config.Get("stages", 0);
  g.per_sm = config.Get("per_sm", 1);
  g.vector = vector;
  const int64_t per_packet = g.threads * g.cluster * g.vector;
  g.packets = (bucket + per_packet - 1) / per_packet;
  return g;
}

std::vector<TuningAxis> RowAxes(const DeviceProfile& device, int64_t most_rows) {
  std::vector<TuningAxis> axes = {
      {"threads", {8, 16, 32, 64, 128, 256, 512, 1024}}, {"rows", {}}, {"cluster", {}}};
  for (int64_t rows = 1; rows <= most_rows; rows *= 2) axes[1].values.push_back(rows);
  for (int64_t size = 1; size <= LargestRowCluster(device); size *= 2) {
    axes[2].values.push_back(size);
  }
  return axes;
}
std::vector<TuningAxis> RingAxes() {
  return {{"stages", {0, 2, 3, 4, 6, 8}}, {"per_sm", {1, 2, 3, 4}}};
}

absl::Status RowThreadsAreLegal(const RowGeometry& g, int64_t packets,
                                const DeviceProfile& device) {
  if (g.cta_threads() % 32 != 0 || g.cta_threads() > kMostRowThreads) {
    return FailedPrecondition("threads * rows is ", g.cta_threads(),
                              ", expected a multiple of 32 up to ", kMostRowThreads);
  }
  if (g.rows > 1 && g.cta_threads() > kMostThreadsOfSeveralRows) {
    return FailedPrecondition("several rows make a CTA of ", g.cta_threads(),
                              " threads, expected at most ", kMostThreadsOfSeveralRows);
  }
  if (g.cluster > LargestRowCluster(device)) {
    return FailedPrecondition("a cluster of ", g.cluster, ", expected at most ",
                              LargestRowCluster(device), " on ", device.name);
  }
  if (g.cluster > 1 && (g.rows > 1 || g.threads < kFewestThreads)) {
    return FailedPrecondition("a cluster takes one row a CTA and at least ", kFewestThreads,
                              " threads");
  }
  if ((g.threads > 32 || g.cluster > 1) && g.threads * g.cluster > packets) {
    return FailedPrecondition(g.threads * g.cluster, " threads for up to ", packets, " packets");
  }
  return absl::OkStatus();
}

int64_t RingBytes(const RowGeometry& g, const RingContents& contents) {
  return g.stages * contents.inputs * g.threads * g.packets * contents.packet_bytes;
}

absl::Status RingIsLegal(const RowGeometry& g, const RingContents& contents,
                         const DeviceProfile& device) {
  if (g.stages == 0) {
    return g.per_sm == 1 ? absl::OkStatus() : FailedPrecondition("without a ring, per_sm is 1");
  }
  if (device.compute_capability() < 90) return FailedPrecondition("a ring needs sm_90");
  if (contents.packet_bytes != 16 || !contents.dense) {
    return FailedPrecondition("a ring takes rows of one run, aligned to 16 bytes");
  }
  if (g.cluster > 1 || g.rows > 1 || g.threads < kFewestThreads) {
    return FailedPrecondition("a ring takes one row a CTA, at least ", kFewestThreads,
                              " threads and no cluster");
  }
  const int64_t shared = RingBytes(g, contents) + kReservedShared;
  if (shared > device.smem_per_block_bytes || g.per_sm * shared > device.smem_per_sm_bytes) {
    return FailedPrecondition(g.per_sm, " rings of ", shared, " bytes an SM, expected at most ",
                              device.smem_per_sm_bytes);
  }
  const int64_t registers = contents.registers + kOtherRegisters;
  if (g.per_sm * g.threads * registers > device.registers_per_sm) {
    return FailedPrecondition(g.per_sm, " CTAs of ", g.threads, " threads of ", registers,
                              " registers, expected at most ", device.registers_per_sm, " an SM");
  }
  return absl::OkStatus();
}

MemoryModel ModelOf(const RowGeometry& g, const RingContents& contents, int64_t rows,
                    const DeviceProfile& device) {
  MemoryModel model;
  model.ctas = static_cast<double>(CtasOf(g, rows, device));
  model.threads = static_cast<double>(g.cta_threads());
  // A barrier and a second level of shuffles; a cluster barrier.
  if (g.threads > 32) model.fixed_us += 0.05 + 0.0002 * static_cast<double>(g.threads);
  if (g.cluster > 1) model.fixed_us += 0.25 + 0.01 * static_cast<double>(g.cluster);
  if (g.stages > 0) {
    const double threads = static_cast<double>(g.per_sm * g.threads);
    const double bytes = static_cast<double>(g.per_sm * RingBytes(g, contents));
    model.fixed_us += 0.3 * std::abs(std::log2(threads / kRingThreads)) +
                      0.5 * std::max(0.0, std::log2(kRingBytesInFlight / bytes));
  }
  return model;
}

void SetRowGrid(const RowGeometry& g, const RingContents& contents, int64_t rows,
                const DeviceProfile& device, Launch* launch) {
  launch->grid[0] = static_cast<uint32_t>(CtasOf(g, rows, device));
  launch->block[0] = static_cast<uint32_t>(g.cta_threads());
  launch->cluster[0] = static_cast<uint32_t>(g.cluster);
  launch->dynamic_smem_bytes = static_cast<uint32_t>(RingBytes(g, contents));
}

}  // namespace tilewright
