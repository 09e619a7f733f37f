// Elementwise operators of one output: a functor of one to four inputs, broadcast and strided. An
// input is a tensor or a coordinate of the output's elements. The functors live in the files that
// include this one, a family each.
//
// Config:
//   Functor            see functor.cuh
//   kThreads, kUnroll  vectors a thread loads before it stores the first
//   kVector            elements a vector; all of its bytes, up to 64, lie together in each operand
//                      that is neither scalar nor, at kVector == 1, strided
//   kScalarMask        bit i: input i has one element for the whole vector; 0 where kVector == 1
//   kRank, kWide       dims after collapsing; 64-bit index arithmetic
//   kPersistent        a grid-stride loop over tiles
//   kStreaming         loads and stores evict first
#ifndef TILEWRIGHT_ELEMENTWISE_ELEMENTWISE_CUH_
#define TILEWRIGHT_ELEMENTWISE_ELEMENTWISE_CUH_

#include "device/cluster.cuh"
#include "device/ldst.cuh"
#include "elementwise/functor.cuh"
#include "elementwise/params.cuh"

namespace tilewright {

template <class Config>
struct ElementwiseTraits {
  using Functor = typename Config::Functor;
  using Output = typename Functor::Output;
  using Params = ElementwiseParams<Functor::kInputs, Config::kRank, Config::kWide>;
  using Index = typename Params::Index;
  static constexpr int kVector = Config::kVector;
  static constexpr int kOutputBytes = kVector * static_cast<int>(sizeof(Output));
  static constexpr CacheHint kHint =
      Config::kStreaming ? CacheHint::kStreaming : CacheHint::kDefault;

  static_assert(Functor::kInputs >= 1 && Functor::kInputs <= 4);
  static_assert(IsPowerOfTwo(kVector) && kOutputBytes <= 64);
  static_assert(kVector > 1 || Config::kScalarMask == 0);
  static_assert(Config::kRank >= 1 && Config::kRank <= 8);
};

// What a thread holds of one input for one vector: packets of memory.
template <class T, int kVector, bool kScalar>
struct HeldInput {
  static constexpr int kBytes = (kScalar ? 1 : kVector) * static_cast<int>(sizeof(T));
  static constexpr int kPacketBytes = kBytes < 16 ? kBytes : 16;
  static constexpr int kPacketElements = kPacketBytes / static_cast<int>(sizeof(T));
  static_assert(kBytes <= 64);
  Packet<kPacketBytes> packets[kBytes / kPacketBytes];

  __device__ __forceinline__ ComputeType<T> Value(int i) const {
    const int at = kScalar ? 0 : i;
    return TypeTraits<T>::ToCompute(ElementFromBits<T>(
        PacketBits<sizeof(T)>(packets[at / kPacketElements], at % kPacketElements)));
  }
  // Word `w` of packet `k` of the vector.
  __device__ __forceinline__ uint32_t Word(int k, int w) const {
    if constexpr (!kScalar) return packets[k].words[w];
    if constexpr (sizeof(T) == 8) return packets[0].words[w % 2];
    constexpr uint32_t kCopies = sizeof(T) == 1 ? 0x01010101 : sizeof(T) == 2 ? 0x00010001 : 1;
    return packets[0].words[0] * kCopies;
  }
  template <CacheHint kHint>
  __device__ __forceinline__ void Load(const void* origin, int64_t offset, long long) {
    const uint8_t* from = static_cast<const uint8_t*>(origin) + offset;
#pragma unroll
    for (int k = 0; k < kBytes / kPacketBytes; ++k) {
      packets[k] = LoadGlobal<kPacketBytes, kHint>(from + k * kPacketBytes);
    }
  }
};

// Stores a vector in packets of up to 16 bytes.
template <class Output, CacheHint kHint, int kVector>
__device__ __forceinline__ void StoreVector(uint8_t* to,
                                            const ComputeType<Output> (&values)[kVector]) {
  constexpr int kBytes = kVector * static_cast<int>(sizeof(Output));
  constexpr int kPacketBytes = kBytes < 16 ? kBytes : 16;
  constexpr int kElements = kPacketBytes / static_cast<int>(sizeof(Output));
#pragma unroll
  for (int k = 0; k < kBytes / kPacketBytes; ++k) {
    ComputeType<Output> part[kElements];
#pragma unroll
    for (int i = 0; i < kElements; ++i) part[i] = values[k * kElements + i];
    StoreGlobal<kPacketBytes, kHint>(to + k * kPacketBytes, Pack<Output, kPacketBytes>(part));
  }
}
// A coordinate: nothing is read, the "origin" is its value at element (0, ..., 0).
template <class Integer, int kVector, bool kScalar>
struct HeldInput<Coordinate<Integer>, kVector, kScalar> {
  static constexpr int kBytes = 1;  // its strides count values
  Integer first, step;

  __device__ __forceinline__ Integer Value(int i) const {
    return kScalar ? first : first + i * step;
  }
  template <CacheHint kHint>
  __device__ __forceinline__ void Load(const void* origin, int64_t offset, long long stride) {
    first = static_cast<Integer>(reinterpret_cast<long long>(origin) + offset);
    step = static_cast<Integer>(stride / kVector);
  }
};

// Inputs 0 .. kInput of one vector.
template <class Config, int kInput>
struct InputPackets : InputPackets<Config, kInput - 1> {
  using Traits = ElementwiseTraits<Config>;
  using T = typename Traits::Functor::template Input<kInput>;
  static constexpr bool kScalar = (Config::kScalarMask >> kInput & 1) != 0;
  HeldInput<T, Traits::kVector, kScalar> held;
};
template <class Config>
struct InputPackets<Config, -1> {};

// Position along every dim of vector `index`.
template <class Config>
struct Position {
  using Index = typename ElementwiseTraits<Config>::Index;
  Index at[Config::kRank];

  __device__ __forceinline__ Position(const typename ElementwiseTraits<Config>::Params& p,
                                      Index index) {
#pragma unroll
    for (int d = 0; d < Config::kRank - 1; ++d) p.extent[d](index, &index, &at[d]);
    at[Config::kRank - 1] = index;
  }
  // Bytes from an operand's origin; the first step is `kInnerStep` bytes if that is not 0.
  template <int kInnerStep>
  __device__ __forceinline__ int64_t Offset(const long long (&stride)[Config::kRank]) const {
    int64_t offset = kInnerStep != 0 ? static_cast<int64_t>(at[0]) * kInnerStep : at[0] * stride[0];
#pragma unroll
    for (int d = 1; d < Config::kRank; ++d) offset += at[d] * stride[d];
    return offset;
  }
};

template <class Config, int kInput>
__device__ __forceinline__ void LoadInput(const typename ElementwiseTraits<Config>::Params& p,
                                          const Position<Config>& position,
                                          InputPackets<Config, kInput>& packets) {
  if constexpr (kInput >= 0) {
    using Packets = InputPackets<Config, kInput>;
    LoadInput<Config, kInput - 1>(p, position, packets);
    constexpr bool kDense =
        Config::kVector > 1 && !Packets::kScalar && !kIsCoordinate<typename Packets::T>;
    const int64_t offset = position.template Offset<(kDense ? decltype(packets.held)::kBytes : 0)>(
        p.input_stride[kInput]);
    packets.held.template Load<ElementwiseTraits<Config>::kHint>(p.inputs[kInput], offset,
                                                                 p.input_stride[kInput][0]);
  }
}

// Element i of each input of a vector.
template <class Config>
struct VectorInputs {
  const InputPackets<Config, Config::Functor::kInputs - 1>& packets;

  template <int kInput>
  __device__ __forceinline__ auto At(int i) const {
    return static_cast<const InputPackets<Config, kInput>&>(packets).held.Value(i);
  }
};

template <class Config>
__device__ __forceinline__ auto Apply(const typename Config::Functor& f,
                                      const VectorInputs<Config>& x, int i) {
  constexpr int kInputs = Config::Functor::kInputs;
  if constexpr (kInputs == 1) {
    return f(x.template At<0>(i));
  } else if constexpr (kInputs == 2) {
    return f(x.template At<0>(i), x.template At<1>(i));
  } else if constexpr (kInputs == 3) {
    return f(x.template At<0>(i), x.template At<1>(i), x.template At<2>(i));
  } else {
    return f(x.template At<0>(i), x.template At<1>(i), x.template At<2>(i), x.template At<3>(i));
  }
}

// The functor over a whole vector.
template <class Config, class Value>
__device__ __forceinline__ void Map(
    const typename Config::Functor& f,
    const InputPackets<Config, Config::Functor::kInputs - 1>& packets,
    Value (&values)[Config::kVector]) {
  const VectorInputs<Config> x{packets};
  if constexpr (Config::Functor::kWholeVectors) {
    f.Map(x, values);
  } else {
#pragma unroll
    for (int i = 0; i < Config::kVector; ++i) values[i] = Apply<Config>(f, x, i);
  }
}

// Word `w` of packet `k` of the output, by a functor over words.
template <class Config>
__device__ __forceinline__ uint32_t
MapWord(const typename Config::Functor& f,
        const InputPackets<Config, Config::Functor::kInputs - 1>& packets, int k, int w) {
  const uint32_t a = static_cast<const InputPackets<Config, 0>&>(packets).held.Word(k, w);
  if constexpr (Config::Functor::kInputs == 1) {
    return f.Word(a);
  } else {
    return f.Word(a, static_cast<const InputPackets<Config, 1>&>(packets).held.Word(k, w));
  }
}

// The functor over a whole vector, stored.
template <class Config>
__device__ __forceinline__ void MapAndStore(
    const typename Config::Functor& f,
    const InputPackets<Config, Config::Functor::kInputs - 1>& packets, uint8_t* to) {
  using Traits = ElementwiseTraits<Config>;
  using Output = typename Traits::Output;
  if constexpr (kMapsWords<typename Config::Functor>) {
    constexpr int kPacketBytes = Min(Traits::kOutputBytes, 16);
#pragma unroll
    for (int k = 0; k < Traits::kOutputBytes / kPacketBytes; ++k) {
      Packet<kPacketBytes> packet;
#pragma unroll
      for (int w = 0; w < Packet<kPacketBytes>::kWords; ++w) {
        packet.words[w] = MapWord<Config>(f, packets, k, w);
      }
      StoreGlobal<kPacketBytes, Traits::kHint>(to + k * kPacketBytes, packet);
    }
  } else {
    ComputeType<Output> values[Traits::kVector];
    Map<Config>(f, packets, values);
    StoreVector<Output, Traits::kHint>(to, values);
  }
}

// One tile: vectors first, first + kThreads, ...
template <class Config>
__device__ __forceinline__ void Tile(const typename ElementwiseTraits<Config>::Params& p,
                                     const typename Config::Functor& functor,
                                     typename ElementwiseTraits<Config>::Index first) {
  using Traits = ElementwiseTraits<Config>;
  using Packets = InputPackets<Config, Traits::Functor::kInputs - 1>;
  Packets packets[Config::kUnroll];
#pragma unroll
  for (int u = 0; u < Config::kUnroll; ++u) {
    const typename Traits::Index index = first + u * Config::kThreads;
    if (index < p.count) {
      LoadInput<Config, Traits::Functor::kInputs - 1>(p, Position<Config>(p, index), packets[u]);
    }
  }
#pragma unroll
  for (int u = 0; u < Config::kUnroll; ++u) {
    const typename Traits::Index index = first + u * Config::kThreads;
    if (index >= p.count) break;
    const Position<Config> position(p, index);
    const int64_t offset =
        position.template Offset<(Config::kVector > 1 ? Traits::kOutputBytes : 0)>(p.output_stride);
    MapAndStore<Config>(functor, packets[u], static_cast<uint8_t*>(p.output) + offset);
  }
}

// The same Config, one element at a time: for the elements after the last whole vector.
template <class Config>
struct TailConfig : Config {
  static constexpr int kVector = 1;
  static constexpr int kUnroll = 1;
  static constexpr int kScalarMask = 0;
};

template <class Config, int kInput>
__device__ __forceinline__ void LoadTail(const typename ElementwiseTraits<Config>::Params& p,
                                         int64_t element,
                                         InputPackets<TailConfig<Config>, kInput>& packets) {
  if constexpr (kInput >= 0) {
    using Packets = InputPackets<Config, kInput>;
    LoadTail<Config, kInput - 1>(p, element, packets);
    int64_t stride = decltype(packets.held)::kBytes;
    if constexpr (kIsCoordinate<typename Packets::T>) {
      stride = p.input_stride[kInput][0] / Config::kVector;
    }
    packets.held.template Load<CacheHint::kDefault>(p.inputs[kInput],
                                                    Packets::kScalar ? 0 : element * stride, 0);
  }
}

template <class Config>
__device__ __forceinline__ void Tail(const typename ElementwiseTraits<Config>::Params& p,
                                     const typename Config::Functor& functor) {
  using Traits = ElementwiseTraits<Config>;
  if (threadIdx.x >= p.tail) return;
  const int64_t element = static_cast<int64_t>(p.count) * Traits::kVector + threadIdx.x;
  InputPackets<TailConfig<Config>, Traits::Functor::kInputs - 1> packets;
  LoadTail<Config, Traits::Functor::kInputs - 1>(p, element, packets);
  MapAndStore<TailConfig<Config>>(
      functor, packets,
      static_cast<uint8_t*>(p.output) + element * sizeof(typename Traits::Output));
}

template <class Config>
__global__ void __launch_bounds__(Config::kThreads)
    ElementwiseKernel(const __grid_constant__ typename ElementwiseTraits<Config>::Params p) {
  using Index = typename ElementwiseTraits<Config>::Index;
  constexpr Index kTile = Config::kThreads * Config::kUnroll;
  const auto functor = MakeFunctor<typename Config::Functor>(p.scalars);
  WaitForPriorGrids();
  const Index first = static_cast<Index>(blockIdx.x) * kTile + threadIdx.x;
  if constexpr (Config::kPersistent) {
    const Index step = static_cast<Index>(gridDim.x) * kTile;
    for (Index index = first; index < p.count; index += step) Tile<Config>(p, functor, index);
  } else {
    Tile<Config>(p, functor, first);
  }
  if constexpr (Config::kRank == 1 && Config::kVector > 1) {
    if (blockIdx.x == 0) Tail<Config>(p, functor);
  }
}

}  // namespace tilewright

#endif  // TILEWRIGHT_ELEMENTWISE_ELEMENTWISE_CUH_
