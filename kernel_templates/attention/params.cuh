// Parameter structs of the attention kernels, shared by the kernels and the recipes. Plain C++, and
// without padding inside, so that equal launches have equal bytes.
#ifndef TILEWRIGHT_ATTENTION_PARAMS_CUH_
#define TILEWRIGHT_ATTENTION_PARAMS_CUH_

#include "device/fast_divmod.cuh"
#include "device/tensor_map.cuh"

namespace tilewright {

// Where the rows of one operand lie: strides in elements. `batch` is 0 where rows of all sequences
// follow each other (ragged) or live in pages.
struct RowStrides {
  long long batch;
  long long row;  // of a token
  long long head;
  long long dim;
};

// One call: `batches` sequences, each with up to q_len queries of `heads` heads and up to kv_len
// keys of `kv_heads` heads. Queries and keys are aligned at their ends: query i of a sequence with
// q queries and n keys stands at p = i + n - q and sees keys p - window_left to p + window_right.
struct AttentionParams {
  const void* q;
  const void* k;
  const void* v;
  void* o;
  float* lse;  // null: not wanted
  RowStrides q_strides, k_strides, v_strides, o_strides;
  long long lse_batch, lse_head, lse_row;

  // Ragged batches: where each sequence starts.
  const int* q_starts;
  const int* kv_starts;
  // Lengths on the device: keys of a sequence, plus its queries if kKvLengthGrows.
  const int* kv_lengths;
  // Paged keys and values: token t of sequence b is row table[b, t / page] * page + t % page.
  const int* table;
  long long q_starts_stride, kv_starts_stride, kv_lengths_stride;
  long long table_batch, table_page;
  FastDivmod<false> page;
  int row_tiles;  // of a sequence

  // Scales of float8 inputs, by sequence and key head (strides 0: one for all).
  const float* q_scale;
  const float* k_scale;
  const float* v_scale;
  long long q_scale_batch, q_scale_head;
  long long k_scale_batch, k_scale_head;
  long long v_scale_batch, v_scale_head;

  int batches;
  int heads;
  int kv_heads;
  int q_len;
  int kv_len;
  int head_dim;   // of queries and keys
  int value_dim;  // of values and outputs
  // Rows of a tile are queries x `pack` heads, the heads fastest; `pack` is 1 or heads / kv_heads.
  FastDivmod<false> pack;
  FastDivmod<false> group;     // heads a key head
  FastDivmod<false> by_heads;  // heads / pack
  FastDivmod<false> by_tiles;  // row tiles of a sequence
  int window_left;
  int window_right;
  float scale_log2;  // of scores, times log2(e)
  float softcap_in;  // softcap: score = softcap_log2 * tanh(softcap_in * q . k)
  float softcap_log2;

  // Decode: the keys of a sequence are cut into chunks, each with a partial result.
  int chunk;           // keys
  int chunks;          // of the longest sequence
  float* partial_o;    // [chunk][batch][query][head][value_dim]
  float* partial_lse;  // [chunk][batch][query][head], base 2
};

// AppendKernel: `call` describes the paged cache and the queries before rotation.
struct AppendParams {
  AttentionParams call;
  const void* k_new;
  const void* v_new;
  void* k_pages;
  void* v_pages;
  void* q_rotated;  // [token][head][head_dim]
  RowStrides k_new_strides, v_new_strides;
  double log2_base;  // of the angle's ratio from one pair of elements to the next
  long long rotary_dim;
};

// WidenKernel: pieces of eight elements, `row_pieces` a head of a row.
struct WidenParams {
  const void* from;
  void* to;
  RowStrides strides;
  FastDivmod<false> row_pieces;
  FastDivmod<false> heads;
  long long pieces;
};

// TransposeKernel: float8 values of `kv_starts`' sequences into [head][dimension][column].
struct TransposeParams {
  const void* from;
  void* to;
  const int* kv_starts;
  RowStrides strides;
  long long kv_starts_stride;
  long long columns;  // of keys, a multiple of 128
  int batches;
  int value_dim;  // a multiple of 16
};

// The order in which the wgmma kernel's persistent CTAs take row tiles: head by head, so that CTAs
// that run together share keys in L2; within a head the last rows, which see most, first.
struct AttentionWalk {
  FastDivmod<false> by_tiles;  // row tiles of a sequence
  FastDivmod<false> by_heads;
  int row_tiles;
  int tiles;  // of all heads and sequences
};

struct WgmmaAttentionParams {
  TensorMap q_map;
  TensorMap k_map;
  TensorMap v_map;
  TensorMap o_map;
  AttentionWalk walk;
  AttentionParams call;
};

}  // namespace tilewright

#endif  // TILEWRIGHT_ATTENTION_PARAMS_CUH_
