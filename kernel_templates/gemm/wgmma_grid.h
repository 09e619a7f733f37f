// How a wgmma configuration deals a problem to the device's CTAs: tiles, waves, their order.
#ifndef TILEWRIGHT_KERNEL_TEMPLATES_GEMM_WGMMA_GRID_H_
#define TILEWRIGHT_KERNEL_TEMPLATES_GEMM_WGMMA_GRID_H_

#include <cstdint>

#include "kernel_templates/gemm/problem.h"
#include "kernel_templates/gemm/wgmma_config.h"
#include "manifest/device_profile.h"

namespace tilewright {

inline constexpr int64_t kMaxSplit = 8;  // CTAs of a portable cluster

inline int64_t CeilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

inline int64_t KTiles(const GemmProblem& problem) {
  return CeilDiv(problem.k, WgmmaConfig::kTileK);
}

// Whether dense rows of the operands start off a multiple of 128 bytes.
bool OddPitch(const GemmProblem& problem);

// Whether tiles are walked in groups of row tiles: not where one tile spans the tokens.
bool OffersGroups(const GemmProblem& bucketed);

// The smallest group that holds `row_tiles`, among the space's.
int64_t LeastGroup(int64_t row_tiles);

// CTAs that run at once, one wave of them. Each takes 1 KB of shared memory more than it asks for.
int64_t ResidentCtas(const WgmmaConfig& c, const DeviceProfile& device);

// Tiles of the whole output, with multicast rounded up to whole clusters of them.
int64_t Tiles(const WgmmaConfig& c, const WgmmaSides& sides, int64_t batches);

// Of a config with a tail split; else none.
TailSplit Tail(const WgmmaConfig& c, const GemmProblem& problem, const DeviceProfile& device);

}  // namespace tilewright

#endif  // TILEWRIGHT_KERNEL_TEMPLATES_GEMM_WGMMA_GRID_H_
