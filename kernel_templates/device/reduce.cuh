// Reductions over a warp, a CTA's threads and a cluster. Every participant gets the result,
// combined in an order that depends on the geometry only.
#ifndef TILEWRIGHT_DEVICE_REDUCE_CUH_
#define TILEWRIGHT_DEVICE_REDUCE_CUH_

#include "device/cluster.cuh"
#include "device/math.cuh"
#include "device/mbarrier.cuh"
#include "device/warp.cuh"

namespace tilewright {

// Operators: an identity and an associative, commutative combination.
struct SumOp {
  using Value = float;
  __device__ __forceinline__ static float Identity() { return 0.0f; }
  __device__ __forceinline__ static float Combine(float a, float b) { return a + b; }
};
// A maximum and the sum of exp2((x - max) * log2(e)) under it: softmax in one pass.
struct MaxSum {
  float max;
  float sum;
};
struct MaxSumOp {
  using Value = MaxSum;
  __device__ __forceinline__ static MaxSum Identity() { return {BitsToFloat(0xff800000), 0.0f}; }
  __device__ __forceinline__ static MaxSum Combine(MaxSum a, MaxSum b) {
    const float max = MaxNumber(a.max, b.max);
    return {max, Rescale(a, max) + Rescale(b, max)};
  }
  // The sum under another maximum. An empty sum stays empty under a maximum of -inf.
  __device__ __forceinline__ static float Rescale(MaxSum part, float max) {
    return part.max == max ? part.sum : part.sum * Exp2((part.max - max) * kLog2e);
  }
};
// The sum, the squared distances from the mean, and the number of some elements; combined after
// Chan, Golub and LeVeque, "Updating formulae and a pairwise algorithm for computing sample
// variances" (1979).
struct Moments {
  float sum;
  float squares;
  float count;
  __device__ __forceinline__ float mean() const { return sum / (count < 1.0f ? 1.0f : count); }
};
struct MomentsOp {
  using Value = Moments;
  __device__ __forceinline__ static Moments Identity() { return {0.0f, 0.0f, 0.0f}; }
  __device__ __forceinline__ static Moments Combine(const Moments& a, const Moments& b) {
    const float count = a.count + b.count;
    const float distance = b.mean() - a.mean();
    const float weight = a.count * (b.count * RcpApprox(count < 1.0f ? 1.0f : count));
    return {a.sum + b.sum, a.squares + b.squares + distance * distance * weight, count};
  }
};
// Moments of as many elements each, of which `count` holds half the reciprocal. WarpReduce only.
struct EqualMomentsOp {
  using Value = Moments;
  struct EqualCounts;
};
// Two sums.
struct SumPair {
  float a;
  float b;
};
struct SumPairOp {
  using Value = SumPair;
  __device__ __forceinline__ static SumPair Identity() { return {0.0f, 0.0f}; }
  __device__ __forceinline__ static SumPair Combine(const SumPair& x, const SumPair& y) {
    return {x.a + y.a, x.b + y.b};
  }
};
struct MaxOp {  // ignores NaN unless there is nothing else
  using Value = float;
  __device__ __forceinline__ static float Identity() { return BitsToFloat(0xff800000); }
  __device__ __forceinline__ static float Combine(float a, float b) { return MaxNumber(a, b); }
};

// Over aligned groups of `kWidth` lanes (a power of two up to 32). Every lane of the warp calls it.
template <class Op, int kWidth>
__device__ __forceinline__ typename Op::Value WarpReduce(typename Op::Value value) {
  static_assert(IsPowerOfTwo(kWidth) && kWidth <= kWarpSize);
  if constexpr (kIsSame<Op, MaxSumOp>) {
    // The maximum first, so that each lane rescales once.
    const float max = WarpReduce<MaxOp, kWidth>(value.max);
    return {max, WarpReduce<SumOp, kWidth>(MaxSumOp::Rescale(value, max))};
  } else if constexpr (requires { typename Op::EqualCounts; }) {
#pragma unroll
    for (int mask = kWidth / 2; mask > 0; mask /= 2) {
      const float sum = ShuffleXor(value.sum, mask);
      const float squares = ShuffleXor(value.squares, mask);
      const float distance = value.sum - sum;
      value = {value.sum + sum, value.squares + squares + distance * distance * value.count,
               value.count * 0.5f};
    }
    return value;
  } else if constexpr (kIsSame<typename Op::Value, Moments>) {
    // The mean first, so that each lane moves its squares to it once.
    Moments total = {WarpReduce<SumOp, kWidth>(value.sum), 0.0f,
                     WarpReduce<SumOp, kWidth>(value.count)};
    const float distance = value.mean() - total.mean();
    total.squares = WarpReduce<SumOp, kWidth>(value.squares + distance * distance * value.count);
    return total;
  } else {
#pragma unroll
    for (int mask = kWidth / 2; mask > 0; mask /= 2) {
      value = Op::Combine(value, ShuffleXor(value, mask));
    }
    return value;
  }
}

// Over `kGroups` groups of `kThreads` consecutive threads that make up the CTA, split over a
// cluster of `kCluster` CTAs (1: none). A kernel reduces at most `kSteps` times, each step once;
// each has its own slots, so that one barrier a step is enough. Every thread of the CTA calls each
// function.
template <class Value, int kThreads, int kGroups, int kCluster, int kSteps>
class GroupReducer {
 public:
  static_assert(IsPowerOfTwo(kThreads) && kThreads <= 1024 && IsPowerOfTwo(kCluster));
  static_assert(kCluster <= kThreads && kCluster <= 16 && sizeof(Value) % 4 == 0);
  static constexpr int kLanes = kThreads < kWarpSize ? kThreads : kWarpSize;
  static constexpr int kWarps = kThreads / kLanes;

  struct Storage {
    Value warp[kSteps][kGroups][kWarps];
    Value cta[kSteps][kGroups][kCluster];
    Barrier full[kCluster > 1 ? kSteps : 1];  // every CTA's value is there
  };

  __device__ __forceinline__ GroupReducer(Storage& storage, int group, int thread)
      : storage_(storage), group_(group), thread_(thread) {}

  // Tells the cluster that this CTA runs; once, before the first Reduce, as early as possible.
  __device__ __forceinline__ void Announce() const {
#if __CUDA_ARCH__ >= 900
    if constexpr (kCluster > 1) {
      static_assert(kGroups == 1);
      if (thread_ == 0) {
#pragma unroll
        for (int step = 0; step < kSteps; ++step) BarrierInit(&storage_.full[step], 1);
        BarrierInitFence();
#pragma unroll
        for (int step = 0; step < kSteps; ++step) {
          BarrierArriveExpect(&storage_.full[step], kCluster * static_cast<int>(sizeof(Value)));
        }
      }
      ClusterArriveRelaxed();
    }
#endif
  }

  template <class Op>
  __device__ __forceinline__ Value Reduce(Value value, int step) {
    value = WarpReduce<Op, kLanes>(value);
    if constexpr (kWarps > 1) value = AcrossWarps<Op>(value, step);
#if __CUDA_ARCH__ >= 900
    if constexpr (kCluster > 1) value = AcrossCluster<Op>(value, step);
#endif
    return value;
  }

 private:
  template <class Op>
  __device__ __forceinline__ Value AcrossWarps(Value value, int step) {
    Value* slots = storage_.warp[step][group_];
    if (thread_ % kWarpSize == 0) slots[thread_ / kWarpSize] = value;
    CtaBarrier();
    return WarpReduce<Op, kWarps>(slots[thread_ % kWarps]);
  }

#if __CUDA_ARCH__ >= 900
  // Each CTA pushes its value to all and awaits all of theirs; then nobody touches another's
  // memory, so a CTA may exit. No barrier of the cluster: it would order all memory, which takes as
  // long as the exchange.
  template <class Op>
  __device__ __forceinline__ Value AcrossCluster(Value value, int step) {
    if (step == 0) ClusterWait();  // every CTA runs, its barriers are there
    Value* slots = storage_.cta[step][group_];
    if (thread_ < kCluster) Push(&slots[ClusterRank()], value, &storage_.full[step]);
    BarrierWait(&storage_.full[step], 0);
    return WarpReduce<Op, kCluster>(slots[thread_ % kCluster]);
  }

  // To the CTA whose rank is this thread's.
  __device__ __forceinline__ void Push(Value* slot, Value value, Barrier* full) const {
    union {
      Value value;
      uint32_t words[sizeof(Value) / 4];
    } bits = {value};
    const auto rank = static_cast<uint32_t>(thread_);
    const uint32_t address = MapToRank(SharedAddress(slot), rank);
    const uint32_t barrier = MapToRank(SharedAddress(full), rank);
#pragma unroll
    for (uint32_t i = 0; i < sizeof(Value) / 4; ++i) {
      StoreAsyncCluster(address + 4 * i, bits.words[i], barrier);
    }
  }
#endif

  Storage& storage_;
  int group_;
  int thread_;
};

}  // namespace tilewright

#endif  // TILEWRIGHT_DEVICE_REDUCE_CUH_
