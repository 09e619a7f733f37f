// Rows on their way to a CTA: the copy engine fills a ring of shared memory ahead of use, so that
// loads are in flight while the CTA works (sm_90).
#ifndef TILEWRIGHT_ROW_ROW_RING_CUH_
#define TILEWRIGHT_ROW_ROW_RING_CUH_

#include "device/bulk_copy.cuh"

namespace tilewright {

// kStages rows of kInputs operands with room for kRowBytes each, a multiple of 16. A stage is
// refilled once every thread has read its row and has passed a barrier of the CTA.
template <int kStages, int kInputs, int kRowBytes>
class RowRing {
 public:
  static_assert(kStages > 0 && kRowBytes % 16 == 0);
  static constexpr int kDepth = kStages;
  using Inputs = const uint8_t* [kInputs];  // where those of a row begin
  static constexpr int kBytes = kStages * kInputs * kRowBytes;
  struct Storage {
    Barrier full[kStages];
  };

  __device__ __forceinline__ RowRing(Storage& storage, const void* rows)
      : storage_(storage), rows_(SharedAddress(rows)) {}

  // One thread; the others wait for it.
  __device__ __forceinline__ void Init() const {
#pragma unroll
    for (int s = 0; s < kStages; ++s) BarrierInit(&storage_.full[s], 1);
    BarrierInitFence();
  }

  // One thread: `bytes` of each input.
  __device__ __forceinline__ void Fill(int stage, const uint8_t* const (&inputs)[kInputs],
                                       uint32_t bytes) const {
    BarrierArriveExpect(&storage_.full[stage], kInputs * bytes);
#pragma unroll
    for (int i = 0; i < kInputs; ++i) {
      BulkLoad(AddressOf(stage, i), inputs[i], bytes, &storage_.full[stage]);
    }
  }
  // Fills the stage of the row that is worked on.
  __device__ __forceinline__ void Refill(const uint8_t* const (&inputs)[kInputs],
                                         uint32_t bytes) const {
    Fill(state_.stage, inputs, bytes);
  }

  // Every thread: until the next row is there.
  __device__ __forceinline__ void Await() const {
    BarrierWait(&storage_.full[state_.stage], state_.parity);
  }
  // Where input i of that row is.
  __device__ __forceinline__ uint32_t Address(int i) const { return AddressOf(state_.stage, i); }
  __device__ __forceinline__ void Advance() { state_.Advance(); }

 private:
  __device__ __forceinline__ uint32_t AddressOf(int stage, int i) const {
    return rows_ + static_cast<uint32_t>((stage * kInputs + i) * kRowBytes);
  }

  Storage& storage_;
  uint32_t rows_;
  PipelineState<kStages> state_;
};

// Row after row of the grid's, of `rows`, each of `bytes` an input: inputs_of(row, inputs) says
// where it begins, load() is called while the first rows are on their way, and take(row), by every
// thread, once a row is there. It passes a barrier of the CTA after it has read the row.
template <class Ring, class InputsOf, class Load, class Take>
__device__ __forceinline__ void WalkRing(Ring& ring, int64_t rows, uint32_t bytes,
                                         InputsOf inputs_of, Load load, Take take) {
  const int64_t step = gridDim.x;
  const bool fills = threadIdx.x == 0;
  typename Ring::Inputs inputs;
  if (fills) {
#pragma unroll 1
    for (int s = 0; s < Ring::kDepth && blockIdx.x + s * step < rows; ++s) {
      inputs_of(blockIdx.x + s * step, inputs);
      ring.Fill(s, inputs, bytes);
    }
  }
  load();
#pragma unroll 1
  for (int64_t at = blockIdx.x; at < rows; at += step) {
    take(at);
    const int64_t next = at + Ring::kDepth * step;
    if (fills && next < rows) {
      inputs_of(next, inputs);
      ring.Refill(inputs, bytes);
    }
    ring.Advance();
  }
}

}  // namespace tilewright

#endif  // TILEWRIGHT_ROW_ROW_RING_CUH_
