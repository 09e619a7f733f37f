// What the two variants of the wgmma attention kernel share: extents, tensor maps, the walk.
#ifndef TILEWRIGHT_KERNEL_TEMPLATES_ATTENTION_WGMMA_LAUNCH_H_
#define TILEWRIGHT_KERNEL_TEMPLATES_ATTENTION_WGMMA_LAUNCH_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "kernel_templates/attention/problem.h"
#include "kernel_templates/recipe.h"

namespace tilewright {

inline constexpr int64_t kWgmmaSmemLimit = 232448;

// Whether every stride of more than one element is positive, as tensor maps need.
bool HasPositiveStrides(const RowStrides& strides);

// Tiles of `tile_m` queries of the longest sequence.
int64_t WgmmaRowTiles(const AttentionProblem& problem, int64_t tile_m);

// Whether there are keys, the output lies in rows of 16-byte pieces, the scale is positive and the
// tiles countable.
absl::Status CheckWgmmaCall(const CallDesc& call, const AttentionProblem& problem);

// What a tensor map covers: an operand's dimensions, rows, heads and sequences.
struct OperandExtents {
  int64_t dims, rows, heads, batches;
};
struct OperandPlace {
  size_t slot;  // of the tensor map in the parameters
  int operand;
  int64_t byte_offset;
  DType dtype;
};
// Boxes of 128 bytes of `box_rows` rows. The stride of an axis that has one element is not looked
// at, so it is replaced by a valid one.
TensorMapSlot AttentionMap(const OperandPlace& place, const RowStrides& strides,
                           const OperandExtents& extents, int64_t box_rows);

// The tiles of a configuration: 64 queries a warp group, `tile_n` keys, `stages` of them in flight.
struct WgmmaAttentionTiles {
  int64_t tile_n, groups = 2, stages = 2;

  static WgmmaAttentionTiles From(const Config& config);
  Config ToConfig(std::string_view variant) const;
  int64_t tile_m() const { return 64 * groups; }
  // Whether they fit, given their bytes of shared memory and their registers of scores, weights and
  // results.
  absl::Status Check(const AttentionProblem& problem, int64_t smem_bytes, int64_t registers) const;
};

// What differs between the instantiations for a problem's tiles.
struct WgmmaAttentionTraits {
  std::string template_file;
  DType element;
  int64_t dim;  // of queries and keys, padded
  int64_t page_rows;
  bool shared_output = false;
};
KernelSpec WgmmaAttentionSpec(const AttentionProblem& problem, const WgmmaAttentionTiles& tiles,
                              const WgmmaAttentionTraits& traits);

// The launch of persistent CTAs, but for its tensor maps.
Launch WgmmaAttentionLaunch(const AttentionProblem& problem, const WgmmaAttentionTiles& tiles,
                            const DeviceProfile& device, int64_t smem_bytes);

AttentionWalk MakeWalk(const AttentionProblem& problem, int64_t tile_m);

// The cost of the products of one call, in microseconds: `rate` is the tensor cores' rate for them,
// in flops a microsecond, of which `efficiency` is reached.
struct WgmmaCost {
  int64_t tile_m, tile_n;
  double rate, efficiency;
};
double PredictWgmmaUs(const AttentionProblem& problem, const DeviceProfile& device,
                      const WgmmaCost& cost);

}  // namespace tilewright

#endif  // TILEWRIGHT_KERNEL_TEMPLATES_ATTENTION_WGMMA_LAUNCH_H_
