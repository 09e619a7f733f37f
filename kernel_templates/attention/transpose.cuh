// Transposes the float8 values of ragged sequences: [head][dimension][column], where a column is a
// key. Each sequence starts a group of 32 columns; the keys of a group are in the order of
// TransposedKey(), and columns without a key are zeros.
#ifndef TILEWRIGHT_ATTENTION_TRANSPOSE_CUH_
#define TILEWRIGHT_ATTENTION_TRANSPOSE_CUH_

#include "attention/params.cuh"
#include "attention/sequence.cuh"
#include "device/base.cuh"
#include "device/bytes.cuh"
#include "device/types.cuh"

namespace tilewright {

// The four keys of a thread: neighbours of a group.
struct TransposedKeys {
  int group;
  int first;  // place in the group

  // The last sequence that starts at or before the group.
  __device__ __forceinline__ int SequenceOf(const TransposeParams& p) const {
    int low = 0, high = p.batches;
    while (high - low > 1) {
      const int middle = (low + high) / 2;
      if (TransposedGroup(p.kv_starts[middle * p.kv_starts_stride], middle) <= group) {
        low = middle;
      } else {
        high = middle;
      }
    }
    return low;
  }

  // The rows of the keys; -1 for none.
  __device__ __forceinline__ void Rows(const TransposeParams& p, int (&rows)[4]) const {
    const int batch = SequenceOf(p);
    const int start = p.kv_starts[batch * p.kv_starts_stride];
    const int end = p.kv_starts[(batch + 1) * p.kv_starts_stride];
    const int from = start + (group - TransposedGroup(start, batch)) * kTransposedGroup;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int row = from + TransposedKey(first + i);
      rows[i] = row >= start && row < end ? row : -1;
    }
  }
};

// CTA (x, y): 128 columns of key head y. A warp takes 16 dimensions at a time, a lane four keys.
__device__ __forceinline__ void TransposePiece(const TransposeParams& p, const int (&rows)[4],
                                               int column, int head, int dim) {
  const auto* from = static_cast<const uint8_t*>(p.from) + head * p.strides.head + dim;
  uint4 key[4];
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    key[i] = {0, 0, 0, 0};
    if (rows[i] >= 0) key[i] = *reinterpret_cast<const uint4*>(from + rows[i] * p.strides.row);
  }
  auto* to = static_cast<uint8_t*>(p.to) +
             (static_cast<int64_t>(head) * p.value_dim + dim) * p.columns + column;
#pragma unroll
  for (int word = 0; word < 4; ++word) {
    const auto bits = [&](int i) { return (&key[i].x)[word]; };
    const uint32_t low01 = PermuteBytes(bits(0), bits(1), 0x5140);
    const uint32_t low23 = PermuteBytes(bits(2), bits(3), 0x5140);
    const uint32_t high01 = PermuteBytes(bits(0), bits(1), 0x7362);
    const uint32_t high23 = PermuteBytes(bits(2), bits(3), 0x7362);
    const uint32_t lines[4] = {
        PermuteBytes(low01, low23, 0x5410), PermuteBytes(low01, low23, 0x7632),
        PermuteBytes(high01, high23, 0x5410), PermuteBytes(high01, high23, 0x7632)};
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      *reinterpret_cast<uint32_t*>(to + (word * 4 + i) * p.columns) = lines[i];
    }
  }
}

template <class Config>
__global__ __launch_bounds__(256) void TransposeKernel(
    const __grid_constant__ TransposeParams params) {
  const int lane = threadIdx.x % 32;
  const int column = static_cast<int>(blockIdx.x) * 128 + lane * 4;
  const TransposedKeys keys{column / kTransposedGroup, column % kTransposedGroup};
  int rows[4];
  keys.Rows(params, rows);
  for (int dim = threadIdx.x / 32 * 16; dim < params.value_dim; dim += 8 * 16) {
    TransposePiece(params, rows, column, static_cast<int>(blockIdx.y), dim);
  }
}

}  // namespace tilewright

#endif  // TILEWRIGHT_ATTENTION_TRANSPOSE_CUH_
