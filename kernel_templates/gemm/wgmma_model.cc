#include "kernel_templates/gemm/wgmma_model.h"

#include <algorithm>
#include <cmath>

#include "kernel_templates/gemm/variants.h"
#include "kernel_templates/gemm/wgmma_grid.h"

namespace tilewright {
namespace {

// Share of the tensor cores' measured rate that a tile reaches in its main loop. Two groups that
// share a tile cover each other's waits; one that is alone needs its next product in flight.
double Efficiency(const WgmmaConfig& c) {
  const double tile = c.math_groups == 3   ? 0.95
                      : c.tile_cols == 224 ? 0.915
                      : c.tile_cols >= 160 ? 0.93
                      : c.tile_cols >= 128 ? 0.91
                      : c.tile_cols >= 96  ? 0.88
                                           : 0.72;
  const bool alone = c.math_groups == 1 || c.ping_pong;
  if (c.math_groups == 1 && c.tile_rows > 64) return 0.95 * (c.in_flight > 0 ? tile : 0.8 * tile);
  const double covered = c.in_flight > 0 ? (alone ? 1.0 : 0.96) : (alone ? 0.8 : 1.0);
  return tile * covered;
}

// SMs that clusters of `ctas` can occupy at once, one CTA each: a cluster stays within one of the
// groups of about 16 SMs, so that some of these are left over. Measured on 132 SMs; others are
// taken to be grouped alike.
double UsableSms(const DeviceProfile& device, int64_t ctas) {
  constexpr double kOf132[] = {132, 132, 132, 117, 128, 110, 102, 98, 96};  // [ctas]
  const double sms = std::max(device.sm_count, 1);
  const double clusters =
      std::floor(kOf132[std::min<int64_t>(ctas, 8)] / 132 * sms / static_cast<double>(ctas));
  return std::max(1.0, clusters) * static_cast<double>(ctas);
}

// What overlaps nothing: the launch, the epilogue where no other tile is multiplied meanwhile, the
// sum of a split.
double ExposedUs(const WgmmaConfig& c, double waves) {
  constexpr double kLaunchUs = 2.3;  // start, first load, last store
  const double tile_bytes = static_cast<double>(c.tile_rows * c.tile_cols * 2);
  const bool behind_next = c.ping_pong && waves > 1;
  const double shown = behind_next ? 0.2 : c.staging_chunks() == c.chunks() ? 0.6 : 0.7;
  const double epilogue_us = waves * tile_bytes / 73e3 * shown;
  const double reduce_us =
      c.split > 1 ? 0.9 + 0.3 * static_cast<double>(c.split) + tile_bytes * 2 / 28e3 : 0.0;
  const double cluster_us = c.multicast > 1 ? 1.0 : 0.0;
  return kLaunchUs + cluster_us + epilogue_us + reduce_us;
}

// The second kernel of a tail split, and what passes through L2 between the two.
double TailUs(const WgmmaConfig& c, const TailSplit& tail, int64_t tiles) {
  if (tail.parts == 1) return 0.0;
  const auto parts = static_cast<double>((tiles - tail.first) * tail.parts);
  return 4.0 + parts * static_cast<double>(c.tile_rows * c.tile_cols) * 8 / 6e6;
}

}  // namespace

double PredictWgmmaUs(const GemmProblem& problem, const WgmmaConfig& c,
                      const DeviceProfile& device) {
  constexpr double kSmBytesPerUs = 105e3;  // into one SM
  constexpr double kL2BytesPerUs = 12e6;
  constexpr double kJitter = 0.02;  // of the ring's latency; tells apart how many stages there are
  const WgmmaSides sides = WgmmaSides::Of(problem, c.swap);
  const double sms = std::max(device.sm_count, 1);
  const double rows = static_cast<double>(c.tile_rows);
  const double cols = static_cast<double>(c.tile_cols);
  const int64_t tiles = Tiles(c, sides, problem.batches);
  const double ctas = static_cast<double>(tiles * c.split);
  double waves = std::ceil(ctas / UsableSms(device, c.split * c.multicast));
  const double k_steps = static_cast<double>(CeilDiv(KTiles(problem), c.split));
  const TailSplit tail = Tail(c, problem, device);
  if (tail.parts > 1) {
    const int64_t full = tail.first / ResidentCtas(c, device);
    waves = static_cast<double>(full) + 1.0 / static_cast<double>(tail.parts);
  }

  // A SM multiplies 4096 flops and reads 128 bytes of shared memory a cycle; each 64 rows read the
  // other operand anew.
  const double us_per_cycle = 4096.0 / (TensorFlopsPerUs(device) / sms);
  const double math_cycles = rows * std::max(cols, 32.0) * 64 * 2 / 4096.0 / Efficiency(c);
  const double smem_cycles = (rows + cols * std::ceil(rows / 64)) * 64 * 2 / 128.0;
  const double math_us = waves * k_steps * std::max(math_cycles, smem_cycles) * us_per_cycle;

  const double step_bytes = (rows + cols) * 64 * 2;
  const double m = static_cast<double>(problem.m), n = static_cast<double>(problem.n),
               k = static_cast<double>(problem.k), batches = static_cast<double>(problem.batches);
  const double from_dram =
      std::min(1.0, 2 * batches * (m * k + n * k) / (ctas * k_steps * step_bytes));
  // Rows off a multiple of 128 bytes take an eighth more lines, and many more requests.
  const double odd = OddPitch(problem) ? (c.multicast > 1 ? 1.2 : 1.5) : 1.0;
  const double slower = (1 + 0.35 * from_dram) * (c.multicast > 1 ? 1.13 : 1.0) * odd;
  const double sm_us = waves * k_steps * step_bytes / kSmBytesPerUs * slower;
  const double shared_bytes = (rows + cols / static_cast<double>(c.multicast)) * 64 * 2;
  const double l2_us = ctas * k_steps * shared_bytes / kL2BytesPerUs;
  // What several SMs read at once is in part fetched anew.
  const double dram_us = 2 * batches * (m * k + n * k + m * n) / BandwidthBytesPerUs(device) *
                         (1 + 0.3 * (1 - from_dram));
  const double smem_bytes = static_cast<double>(c.SmemBytes()) + 1024;
  const double resident = std::max(1.0, std::min(waves, std::floor(228 * 1024 / smem_bytes)));
  // A lone tile fills no more of the ring than its K.
  const auto stages = static_cast<double>(c.stages);
  const double ring = (waves > 1 ? stages : std::min(stages, k_steps)) * step_bytes;
  const double load_us = 0.9 + 1.1 * from_dram;  // latency under traffic
  const double latency_us = waves * k_steps * step_bytes / (ring * resident) * load_us;

  return std::max({math_us, sm_us, l2_us, dram_us, latency_us}) + kJitter * latency_us +
         ExposedUs(c, std::ceil(waves)) + TailUs(c, tail, tiles);
}

}  // namespace tilewright
