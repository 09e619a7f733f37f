// What the two variants of the wgmma attention kernel share: extents, tensor maps, the walk.
#ifndef TILEWRIGHT_KERNEL_TEMPLATES_ATTENTION_WGMMA_LAUNCH_H_
#define TILEWRIGHT_KERNEL_TEMPLATES_ATTENTION_WGMMA_LAUNCH_H_

#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "kernel_templates/attention/problem.h"

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
