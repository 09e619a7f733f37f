// Dropout whose mask depends on nothing but seed, offset and the element's row-major position.
#ifndef TILEWRIGHT_ELEMENTWISE_DROPOUT_CUH_
#define TILEWRIGHT_ELEMENTWISE_DROPOUT_CUH_

#include "device/random.cuh"
#include "elementwise/elementwise.cuh"

namespace tilewright {

// Input 0 times `scale` where the element's word of the stream is at least `threshold`, else times
// 0. Input 1: offset + position. Scalars: the seed; threshold in the low half, the bits of scale in
// the high one.
template <class T>
struct DropoutFunctor {
  static constexpr bool kWholeVectors = true;
  static constexpr int kInputs = 2;
  template <int kInput>
  using Input = Conditional<kInput == 0, T, Coordinate<long long>>;
  using Output = T;

  uint64_t seed;
  uint32_t threshold;
  float scale;
  __device__ __forceinline__ explicit DropoutFunctor(const ElementwiseScalar* scalars)
      : seed(static_cast<uint64_t>(scalars[0].i)),
        threshold(static_cast<uint32_t>(scalars[1].i)),
        scale(BitsToFloat(static_cast<uint32_t>(scalars[1].i >> 32))) {}

  template <class Inputs, int kCount>
  __device__ __forceinline__ void Map(const Inputs& x, float (&values)[kCount]) const {
    Drop(x, seed, 0, values);
  }

 protected:
  __device__ __forceinline__ float Kept(float x, uint32_t word) const {
    return x * (word >= threshold ? scale : 0.0f);
  }
  // `offset` is added to that of input 1, whose values are consecutive in a vector.
  template <class Inputs, int kCount>
  __device__ __forceinline__ void Drop(const Inputs& x, uint64_t key, uint64_t offset,
                                       float (&values)[kCount]) const {
    const uint64_t first = static_cast<uint64_t>(x.template At<1>(0)) + offset;
    if constexpr (kCount < 4) {
#pragma unroll
      for (int i = 0; i < kCount; ++i) {
        values[i] = Kept(x.template At<0>(i), PhiloxWord(key, first + i));
      }
    } else if (first % 4 == 0) {
      DropBlocks(x, key, first, values);
    } else {
      DropAcrossBlocks(x, key, first, values);
    }
  }

 private:
  // The same from the first word of a block on.
  template <class Inputs, int kCount>
  __device__ __forceinline__ void DropBlocks(const Inputs& x, uint64_t key, uint64_t first,
                                             float (&values)[kCount]) const {
#pragma unroll
    for (int i = 0; i < kCount; i += 4) {
      const PhiloxBlock block = BlockAfter(key, first, i / 4);
#pragma unroll
      for (int j = 0; j < 4; ++j) values[i + j] = Kept(x.template At<0>(i + j), block.words[j]);
    }
  }
  // The same from another word on, as an offset that is no multiple of 4 has it: a loop, so that it
  // costs the compiler little.
  template <class Inputs, int kCount>
  __device__ __forceinline__ void DropAcrossBlocks(const Inputs& x, uint64_t key, uint64_t first,
                                                   float (&values)[kCount]) const {
    static_assert(kCount <= 32);
    uint32_t kept = 0;
    PhiloxBlock block = {};
#pragma unroll 1
    for (int i = -4; i < kCount; i += 4) {
      const PhiloxBlock next = BlockAfter(key, first, i / 4 + 1);
      if (i >= 0) kept |= KeptBits(block, next, static_cast<int>(first % 4)) << i;
      block = next;
    }
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      values[i] = x.template At<0>(i) * ((kept >> i & 1) != 0 ? scale : 0.0f);
    }
  }
  // Of four words from word `shift`, 1 to 3, of two blocks in a row: a bit each.
  __device__ __forceinline__ uint32_t KeptBits(const PhiloxBlock& block, const PhiloxBlock& next,
                                               int shift) const {
    uint32_t bits = 0;
#pragma unroll
    for (int k = 0; k < 7; ++k) {
      const uint32_t word = k < 4 ? block.words[k] : next.words[k - 4];
      bits |= static_cast<uint32_t>(word >= threshold) << k;
    }
    return bits >> shift & 0xf;
  }
  // The block `blocks` after that of word `first`; after the stream's last comes its first.
  static __device__ __forceinline__ PhiloxBlock BlockAfter(uint64_t key, uint64_t first,
                                                           int blocks) {
    return Philox(key, (first / 4 + blocks) & ~0ULL >> 2);
  }
};

// The same with more of the seed and of the offset in inputs 2 and 3.
template <class T>
struct DropoutStateFunctor : DropoutFunctor<T> {
  static constexpr int kInputs = 4;
  template <int kInput>
  using Input =
      Conditional<kInput == 0, T, Conditional<kInput == 1, Coordinate<long long>, int64_t>>;
  __device__ __forceinline__ explicit DropoutStateFunctor(const ElementwiseScalar* scalars)
      : DropoutFunctor<T>(scalars) {}

  template <class Inputs, int kCount>
  __device__ __forceinline__ void Map(const Inputs& x, float (&values)[kCount]) const {
    this->Drop(x, this->seed + static_cast<uint64_t>(x.template At<2>(0)),
               static_cast<uint64_t>(x.template At<3>(0)), values);
  }
};

}  // namespace tilewright

#endif  // TILEWRIGHT_ELEMENTWISE_DROPOUT_CUH_
