// Global memory accesses of 1 to 16 bytes with a cache hint.
#ifndef TILEWRIGHT_DEVICE_LDST_CUH_
#define TILEWRIGHT_DEVICE_LDST_CUH_

#include "device/packet.cuh"

namespace tilewright {

// kDefault: cached as usual. kStreaming: touched once, evicted first.
enum class CacheHint { kDefault, kStreaming };

// ld.global.u8: sm_80. Thread.
__device__ __forceinline__ void Load(const void* address, Packet<1>& packet) {
  uint16_t value;
  asm volatile("ld.global.u8 %0, [%1];" : "=h"(value) : "l"(address));
  packet.words[0] = value;
}
// ld.global.u16: sm_80. Thread.
__device__ __forceinline__ void Load(const void* address, Packet<2>& packet) {
  uint16_t value;
  asm volatile("ld.global.u16 %0, [%1];" : "=h"(value) : "l"(address));
  packet.words[0] = value;
}
// ld.global.u32: sm_80. Thread.
__device__ __forceinline__ void Load(const void* address, Packet<4>& packet) {
  asm volatile("ld.global.u32 %0, [%1];" : "=r"(packet.words[0]) : "l"(address));
}
// ld.global.v2.u32: sm_80. Thread.
__device__ __forceinline__ void Load(const void* address, Packet<8>& packet) {
  asm volatile("ld.global.v2.u32 {%0, %1}, [%2];"
               : "=r"(packet.words[0]), "=r"(packet.words[1])
               : "l"(address));
}
// ld.global.v4.u32: sm_80. Thread.
__device__ __forceinline__ void Load(const void* address, Packet<16>& packet) {
  asm volatile("ld.global.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(packet.words[0]), "=r"(packet.words[1]), "=r"(packet.words[2]),
                 "=r"(packet.words[3])
               : "l"(address));
}
// st.global.u8: sm_80. Thread.
__device__ __forceinline__ void Store(void* address, const Packet<1>& packet) {
  asm volatile("st.global.u8 [%0], %1;"
               :
               : "l"(address), "h"(static_cast<uint16_t>(packet.words[0]))
               : "memory");
}
// st.global.u16: sm_80. Thread.
__device__ __forceinline__ void Store(void* address, const Packet<2>& packet) {
  asm volatile("st.global.u16 [%0], %1;"
               :
               : "l"(address), "h"(static_cast<uint16_t>(packet.words[0]))
               : "memory");
}
// st.global.u32: sm_80. Thread.
__device__ __forceinline__ void Store(void* address, const Packet<4>& packet) {
  asm volatile("st.global.u32 [%0], %1;" : : "l"(address), "r"(packet.words[0]) : "memory");
}
// st.global.v2.u32: sm_80. Thread.
__device__ __forceinline__ void Store(void* address, const Packet<8>& packet) {
  asm volatile("st.global.v2.u32 [%0], {%1, %2};"
               :
               : "l"(address), "r"(packet.words[0]), "r"(packet.words[1])
               : "memory");
}
// st.global.v4.u32: sm_80. Thread.
__device__ __forceinline__ void Store(void* address, const Packet<16>& packet) {
  asm volatile("st.global.v4.u32 [%0], {%1, %2, %3, %4};"
               :
               : "l"(address), "r"(packet.words[0]), "r"(packet.words[1]), "r"(packet.words[2]),
                 "r"(packet.words[3])
               : "memory");
}
// ld.global.cs.u8 (evict first): sm_80. Thread.
__device__ __forceinline__ void LoadStreaming(const void* address, Packet<1>& packet) {
  uint16_t value;
  asm volatile("ld.global.cs.u8 %0, [%1];" : "=h"(value) : "l"(address));
  packet.words[0] = value;
}
// ld.global.cs.u16 (evict first): sm_80. Thread.
__device__ __forceinline__ void LoadStreaming(const void* address, Packet<2>& packet) {
  uint16_t value;
  asm volatile("ld.global.cs.u16 %0, [%1];" : "=h"(value) : "l"(address));
  packet.words[0] = value;
}
// ld.global.cs.u32 (evict first): sm_80. Thread.
__device__ __forceinline__ void LoadStreaming(const void* address, Packet<4>& packet) {
  asm volatile("ld.global.cs.u32 %0, [%1];" : "=r"(packet.words[0]) : "l"(address));
}
// ld.global.cs.v2.u32 (evict first): sm_80. Thread.
__device__ __forceinline__ void LoadStreaming(const void* address, Packet<8>& packet) {
  asm volatile("ld.global.cs.v2.u32 {%0, %1}, [%2];"
               : "=r"(packet.words[0]), "=r"(packet.words[1])
               : "l"(address));
}
// ld.global.cs.v4.u32 (evict first): sm_80. Thread.
__device__ __forceinline__ void LoadStreaming(const void* address, Packet<16>& packet) {
  asm volatile("ld.global.cs.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(packet.words[0]), "=r"(packet.words[1]), "=r"(packet.words[2]),
                 "=r"(packet.words[3])
               : "l"(address));
}
// st.global.cs.u8 (evict first): sm_80. Thread.
__device__ __forceinline__ void StoreStreaming(void* address, const Packet<1>& packet) {
  asm volatile("st.global.cs.u8 [%0], %1;"
               :
               : "l"(address), "h"(static_cast<uint16_t>(packet.words[0]))
               : "memory");
}
// st.global.cs.u16 (evict first): sm_80. Thread.
__device__ __forceinline__ void StoreStreaming(void* address, const Packet<2>& packet) {
  asm volatile("st.global.cs.u16 [%0], %1;"
               :
               : "l"(address), "h"(static_cast<uint16_t>(packet.words[0]))
               : "memory");
}
// st.global.cs.u32 (evict first): sm_80. Thread.
__device__ __forceinline__ void StoreStreaming(void* address, const Packet<4>& packet) {
  asm volatile("st.global.cs.u32 [%0], %1;" : : "l"(address), "r"(packet.words[0]) : "memory");
}
// st.global.cs.v2.u32 (evict first): sm_80. Thread.
__device__ __forceinline__ void StoreStreaming(void* address, const Packet<8>& packet) {
  asm volatile("st.global.cs.v2.u32 [%0], {%1, %2};"
               :
               : "l"(address), "r"(packet.words[0]), "r"(packet.words[1])
               : "memory");
}
// st.global.cs.v4.u32 (evict first): sm_80. Thread.
__device__ __forceinline__ void StoreStreaming(void* address, const Packet<16>& packet) {
  asm volatile("st.global.cs.v4.u32 [%0], {%1, %2, %3, %4};"
               :
               : "l"(address), "r"(packet.words[0]), "r"(packet.words[1]), "r"(packet.words[2]),
                 "r"(packet.words[3])
               : "memory");
}

// `address` must be a multiple of kBytes.
template <int kBytes, CacheHint kHint = CacheHint::kDefault>
__device__ __forceinline__ Packet<kBytes> LoadGlobal(const void* address) {
  Packet<kBytes> packet;
  if constexpr (kHint == CacheHint::kStreaming) {
    LoadStreaming(address, packet);
  } else {
    Load(address, packet);
  }
  return packet;
}
template <int kBytes, CacheHint kHint = CacheHint::kDefault>
__device__ __forceinline__ void StoreGlobal(void* address, const Packet<kBytes>& packet) {
  if constexpr (kHint == CacheHint::kStreaming) {
    StoreStreaming(address, packet);
  } else {
    Store(address, packet);
  }
}

}  // namespace tilewright

#endif  // TILEWRIGHT_DEVICE_LDST_CUH_
