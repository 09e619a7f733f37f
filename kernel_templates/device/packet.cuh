// A packet: 1 to 16 bytes in registers, as one memory access moves them, and its conversion to and
// from values of the compute type.
#ifndef TILEWRIGHT_DEVICE_PACKET_CUH_
#define TILEWRIGHT_DEVICE_PACKET_CUH_

#include "device/types.cuh"

namespace tilewright {

template <int kBytes>
struct Packet {
  static_assert(IsPowerOfTwo(kBytes) && kBytes <= 16);
  static constexpr int kWords = kBytes < 4 ? 1 : kBytes / 4;
  uint32_t words[kWords];  // little-endian; a packet under 4 bytes uses the low ones
};

// The raw bits of element `i` of a packet of T, zero-extended.
template <int kSize, int kBytes>
__device__ __forceinline__ Conditional<kSize == 8, uint64_t, uint32_t> PacketBits(
    const Packet<kBytes>& packet, int i) {
  if constexpr (kSize == 8) {
    return static_cast<uint64_t>(packet.words[2 * i + 1]) << 32 | packet.words[2 * i];
  } else if constexpr (kSize == 4) {
    return packet.words[i];
  } else {
    constexpr int kPerWord = 4 / kSize;
    return packet.words[i / kPerWord] >> (8 * kSize * (i % kPerWord)) & ((1u << (8 * kSize)) - 1);
  }
}

// The element whose bits these are.
template <class T>
__device__ __forceinline__ T ElementFromBits(uint64_t bits) {
  if constexpr (kIsSame<T, float>) {
    return BitsToFloat(static_cast<uint32_t>(bits));
  } else if constexpr (kIsSame<T, double>) {
    return BitsToDouble(bits);
  } else if constexpr (kIsInteger<T>) {
    return static_cast<T>(bits);
  } else {
    return T{static_cast<decltype(T::bits)>(bits)};
  }
}
template <class T>
__device__ __forceinline__ uint64_t BitsFromElement(T value) {
  if constexpr (kIsSame<T, float>) {
    return FloatToBits(value);
  } else if constexpr (kIsSame<T, double>) {
    return DoubleToBits(value);
  } else if constexpr (kIsInteger<T>) {
    constexpr uint64_t kMask = sizeof(T) == 8 ? ~0ULL : (1ULL << (8 * (sizeof(T) % 8))) - 1;
    return static_cast<uint64_t>(value) & kMask;
  } else {
    return value.bits;
  }
}

template <class T, int kBytes>
__device__ __forceinline__ void Unpack(const Packet<kBytes>& packet,
                                       ComputeType<T> (&values)[kBytes / sizeof(T)]) {
#pragma unroll
  for (int i = 0; i < kBytes / static_cast<int>(sizeof(T)); ++i) {
    if constexpr (kIsSame<T, bf16>) {  // the upper half of a float
      const uint32_t word = packet.words[i / 2];
      values[i] = BitsToFloat(i % 2 == 0 ? word << 16 : word & 0xffff0000);
    } else if constexpr (kIsSame<T, fp16>) {
      values[i] = CvtF32F16(static_cast<uint16_t>(packet.words[i / 2] >> (16 * (i % 2))));
    } else if constexpr (kIsSame<T, float>) {
      values[i] = BitsToFloat(packet.words[i]);
    } else {
      values[i] = TypeTraits<T>::ToCompute(ElementFromBits<T>(PacketBits<sizeof(T)>(packet, i)));
    }
  }
}

template <class T, int kBytes>
__device__ __forceinline__ Packet<kBytes> Pack(const ComputeType<T> (&values)[kBytes / sizeof(T)]) {
  constexpr int kCount = kBytes / static_cast<int>(sizeof(T));
  Packet<kBytes> packet = {};
  if constexpr ((kIsSame<T, bf16> || kIsSame<T, fp16>)&&kCount > 1) {
#pragma unroll
    for (int i = 0; i < kCount; i += 2) {
      packet.words[i / 2] = Pack2<T>(values[i], values[i + 1]);
    }
  } else {
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      const uint64_t bits = BitsFromElement<T>(TypeTraits<T>::FromCompute(values[i]));
      if constexpr (sizeof(T) == 8) {
        packet.words[2 * i] = static_cast<uint32_t>(bits);
        packet.words[2 * i + 1] = static_cast<uint32_t>(bits >> 32);
      } else {
        constexpr int kPerWord = 4 / static_cast<int>(sizeof(T));
        packet.words[i / kPerWord] |= static_cast<uint32_t>(bits)
                                      << (8 * sizeof(T) * (i % kPerWord));
      }
    }
  }
  return packet;
}

}  // namespace tilewright

#endif  // TILEWRIGHT_DEVICE_PACKET_CUH_
