// One sequence of a call: its lengths and where its rows lie, by the Config's traits.
#ifndef TILEWRIGHT_ATTENTION_SEQUENCE_CUH_
#define TILEWRIGHT_ATTENTION_SEQUENCE_CUH_

#include "attention/params.cuh"
#include "attention/softmax.cuh"
#include "device/base.cuh"

namespace tilewright {

// Transposed float8 values (transpose.cuh): keys in groups, the first of each sequence starting one
// of its own.
inline constexpr int kTransposedGroup = 32;
// The group that a sequence starts, its first key being row `kv_start`.
__device__ __forceinline__ int TransposedGroup(int kv_start, int batch) {
  return (kv_start + kTransposedGroup - 1) / kTransposedGroup + batch;
}
// The key at `place` of a group: how scores of 32 keys lie in the registers of a thread, read as
// the row operand of a matrix product. Bits of the place: half, thread (2), tile, neighbour.
__device__ constexpr int TransposedKey(int place) {
  return (place >> 4) * 16 + (place >> 1 & 1) * 8 + (place >> 2 & 3) * 2 + (place & 1);
}

// Config: kRagged (rows of all sequences follow each other, from q_starts and, unless kPaged,
// kv_starts on), kPaged (keys and values through a page table), kKvLengths (their number is read
// from kv_lengths), kKvLengthGrows (and the queries are appended to them).
template <class Config>
struct Sequence {
  const AttentionParams& p;
  int batch;
  int q_len;
  int kv_len;
  int64_t q_row;   // first row of the sequence in q and o, where ragged
  int64_t kv_row;  // in k and v

  __device__ static __forceinline__ Sequence Of(const AttentionParams& p, int batch) {
    Sequence s{p, batch, p.q_len, p.kv_len, 0, 0};
    if constexpr (Config::kRagged) {
      const int start = p.q_starts[batch * p.q_starts_stride];
      s.q_row = start;
      s.q_len = p.q_starts[(batch + 1) * p.q_starts_stride] - start;
      if constexpr (!Config::kPaged) {
        const int kv_start = p.kv_starts[batch * p.kv_starts_stride];
        s.kv_row = kv_start;
        s.kv_len = p.kv_starts[(batch + 1) * p.kv_starts_stride] - kv_start;
      }
    }
    if constexpr (Config::kKvLengths) {
      s.kv_len = p.kv_lengths[batch * p.kv_lengths_stride];
      if constexpr (Config::kKvLengthGrows) s.kv_len += s.q_len;
      if constexpr (Config::kPaged) s.kv_len = Min(s.kv_len, p.kv_len);  // what the table holds
    }
    return s;
  }

  __device__ __forceinline__ int Position(int query) const { return query + kv_len - q_len; }
  __device__ __forceinline__ KeyRange Visible(int query) const {
    return VisibleRange(Position(query), p.window_left, p.window_right, kv_len);
  }

  __device__ __forceinline__ int64_t QueryOffset(const RowStrides& strides, int query,
                                                 int head) const {
    return batch * strides.batch + (q_row + query) * strides.row + head * strides.head;
  }
  // The column of the first key among transposed values.
  __device__ __forceinline__ int TransposedColumn() const {
    return TransposedGroup(static_cast<int>(kv_row), batch) * kTransposedGroup;
  }
  // The row of a token among the rows of k and v.
  __device__ __forceinline__ int64_t KeyRow(int token) const {
    if constexpr (Config::kPaged) {
      unsigned page, slot;
      p.page(static_cast<unsigned>(token), &page, &slot);
      const int64_t physical = p.table[batch * p.table_batch + page * p.table_page];
      return physical * p.page.divisor + slot;
    } else {
      return kv_row + token;
    }
  }
  __device__ __forceinline__ int64_t KeyBase(const RowStrides& strides, int kv_head) const {
    return batch * strides.batch + kv_head * strides.head;
  }
};

}  // namespace tilewright

#endif  // TILEWRIGHT_ATTENTION_SEQUENCE_CUH_
