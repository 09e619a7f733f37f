// Predicated global memory accesses of 1 to 16 bytes: no branch, so that a sequence of them stays
// one.
#ifndef TILEWRIGHT_DEVICE_LDST_IF_CUH_
#define TILEWRIGHT_DEVICE_LDST_IF_CUH_

#include "device/ldst.cuh"

namespace tilewright {

// ld.global.u8, predicated; the packet keeps its value where false: sm_80. Thread.
__device__ __forceinline__ void LoadIf(bool predicate, const void* address, Packet<1>& packet) {
  uint16_t value = static_cast<uint16_t>(packet.words[0]);
  asm volatile("{ .reg .pred p; setp.ne.u32 p, %2, 0; @p ld.global.u8 %0, [%1]; }"
               : "+h"(value)
               : "l"(address), "r"(static_cast<uint32_t>(predicate)));
  packet.words[0] = value;
}
// ld.global.u16, predicated; the packet keeps its value where false: sm_80. Thread.
__device__ __forceinline__ void LoadIf(bool predicate, const void* address, Packet<2>& packet) {
  uint16_t value = static_cast<uint16_t>(packet.words[0]);
  asm volatile("{ .reg .pred p; setp.ne.u32 p, %2, 0; @p ld.global.u16 %0, [%1]; }"
               : "+h"(value)
               : "l"(address), "r"(static_cast<uint32_t>(predicate)));
  packet.words[0] = value;
}
// ld.global.u32, predicated; the packet keeps its value where false: sm_80. Thread.
__device__ __forceinline__ void LoadIf(bool predicate, const void* address, Packet<4>& packet) {
  asm volatile("{ .reg .pred p; setp.ne.u32 p, %2, 0; @p ld.global.u32 %0, [%1]; }"
               : "+r"(packet.words[0])
               : "l"(address), "r"(static_cast<uint32_t>(predicate)));
}
// ld.global.v2.u32, predicated; the packet keeps its value where false: sm_80. Thread.
__device__ __forceinline__ void LoadIf(bool predicate, const void* address, Packet<8>& packet) {
  asm volatile("{ .reg .pred p; setp.ne.u32 p, %3, 0; @p ld.global.v2.u32 {%0, %1}, [%2]; }"
               : "+r"(packet.words[0]), "+r"(packet.words[1])
               : "l"(address), "r"(static_cast<uint32_t>(predicate)));
}
// ld.global.v4.u32, predicated; the packet keeps its value where false: sm_80. Thread.
__device__ __forceinline__ void LoadIf(bool predicate, const void* address, Packet<16>& packet) {
  asm volatile("{ .reg .pred p; setp.ne.u32 p, %5, 0; @p ld.global.v4.u32 {%0, %1, %2, %3}, [%4]; }"
               : "+r"(packet.words[0]), "+r"(packet.words[1]), "+r"(packet.words[2]),
                 "+r"(packet.words[3])
               : "l"(address), "r"(static_cast<uint32_t>(predicate)));
}
// st.global.u8, predicated: sm_80. Thread.
__device__ __forceinline__ void StoreIf(bool predicate, void* address, const Packet<1>& packet) {
  asm volatile("{ .reg .pred p; setp.ne.u32 p, %2, 0; @p st.global.u8 [%0], %1; }"
               :
               : "l"(address), "h"(static_cast<uint16_t>(packet.words[0])),
                 "r"(static_cast<uint32_t>(predicate))
               : "memory");
}
// st.global.u16, predicated: sm_80. Thread.
__device__ __forceinline__ void StoreIf(bool predicate, void* address, const Packet<2>& packet) {
  asm volatile("{ .reg .pred p; setp.ne.u32 p, %2, 0; @p st.global.u16 [%0], %1; }"
               :
               : "l"(address), "h"(static_cast<uint16_t>(packet.words[0])),
                 "r"(static_cast<uint32_t>(predicate))
               : "memory");
}
// st.global.u32, predicated: sm_80. Thread.
__device__ __forceinline__ void StoreIf(bool predicate, void* address, const Packet<4>& packet) {
  asm volatile("{ .reg .pred p; setp.ne.u32 p, %2, 0; @p st.global.u32 [%0], %1; }"
               :
               : "l"(address), "r"(packet.words[0]), "r"(static_cast<uint32_t>(predicate))
               : "memory");
}
// st.global.v2.u32, predicated: sm_80. Thread.
__device__ __forceinline__ void StoreIf(bool predicate, void* address, const Packet<8>& packet) {
  asm volatile("{ .reg .pred p; setp.ne.u32 p, %3, 0; @p st.global.v2.u32 [%0], {%1, %2}; }"
               :
               : "l"(address), "r"(packet.words[0]), "r"(packet.words[1]),
                 "r"(static_cast<uint32_t>(predicate))
               : "memory");
}
// st.global.v4.u32, predicated: sm_80. Thread.
__device__ __forceinline__ void StoreIf(bool predicate, void* address, const Packet<16>& packet) {
  asm volatile("{ .reg .pred p; setp.ne.u32 p, %5, 0; @p st.global.v4.u32 [%0], {%1, %2, %3, %4}; }"
               :
               : "l"(address), "r"(packet.words[0]), "r"(packet.words[1]), "r"(packet.words[2]),
                 "r"(packet.words[3]), "r"(static_cast<uint32_t>(predicate))
               : "memory");
}
// ld.global.cs.u8, predicated; the packet keeps its value where false: sm_80. Thread.
__device__ __forceinline__ void LoadStreamingIf(bool predicate, const void* address,
                                                Packet<1>& packet) {
  uint16_t value = static_cast<uint16_t>(packet.words[0]);
  asm volatile("{ .reg .pred p; setp.ne.u32 p, %2, 0; @p ld.global.cs.u8 %0, [%1]; }"
               : "+h"(value)
               : "l"(address), "r"(static_cast<uint32_t>(predicate)));
  packet.words[0] = value;
}
// ld.global.cs.u16, predicated; the packet keeps its value where false: sm_80. Thread.
__device__ __forceinline__ void LoadStreamingIf(bool predicate, const void* address,
                                                Packet<2>& packet) {
  uint16_t value = static_cast<uint16_t>(packet.words[0]);
  asm volatile("{ .reg .pred p; setp.ne.u32 p, %2, 0; @p ld.global.cs.u16 %0, [%1]; }"
               : "+h"(value)
               : "l"(address), "r"(static_cast<uint32_t>(predicate)));
  packet.words[0] = value;
}
// ld.global.cs.u32, predicated; the packet keeps its value where false: sm_80. Thread.
__device__ __forceinline__ void LoadStreamingIf(bool predicate, const void* address,
                                                Packet<4>& packet) {
  asm volatile("{ .reg .pred p; setp.ne.u32 p, %2, 0; @p ld.global.cs.u32 %0, [%1]; }"
               : "+r"(packet.words[0])
               : "l"(address), "r"(static_cast<uint32_t>(predicate)));
}
// ld.global.cs.v2.u32, predicated; the packet keeps its value where false: sm_80. Thread.
__device__ __forceinline__ void LoadStreamingIf(bool predicate, const void* address,
                                                Packet<8>& packet) {
  asm volatile("{ .reg .pred p; setp.ne.u32 p, %3, 0; @p ld.global.cs.v2.u32 {%0, %1}, [%2]; }"
               : "+r"(packet.words[0]), "+r"(packet.words[1])
               : "l"(address), "r"(static_cast<uint32_t>(predicate)));
}
// ld.global.cs.v4.u32, predicated; the packet keeps its value where false: sm_80. Thread.
__device__ __forceinline__ void LoadStreamingIf(bool predicate, const void* address,
                                                Packet<16>& packet) {
  asm volatile(
      "{ .reg .pred p; setp.ne.u32 p, %5, 0; @p ld.global.cs.v4.u32 {%0, %1, %2, %3}, [%4]; }"
      : "+r"(packet.words[0]), "+r"(packet.words[1]), "+r"(packet.words[2]), "+r"(packet.words[3])
      : "l"(address), "r"(static_cast<uint32_t>(predicate)));
}
// st.global.cs.u8, predicated: sm_80. Thread.
__device__ __forceinline__ void StoreStreamingIf(bool predicate, void* address,
                                                 const Packet<1>& packet) {
  asm volatile("{ .reg .pred p; setp.ne.u32 p, %2, 0; @p st.global.cs.u8 [%0], %1; }"
               :
               : "l"(address), "h"(static_cast<uint16_t>(packet.words[0])),
                 "r"(static_cast<uint32_t>(predicate))
               : "memory");
}
// st.global.cs.u16, predicated: sm_80. Thread.
__device__ __forceinline__ void StoreStreamingIf(bool predicate, void* address,
                                                 const Packet<2>& packet) {
  asm volatile("{ .reg .pred p; setp.ne.u32 p, %2, 0; @p st.global.cs.u16 [%0], %1; }"
               :
               : "l"(address), "h"(static_cast<uint16_t>(packet.words[0])),
                 "r"(static_cast<uint32_t>(predicate))
               : "memory");
}
// st.global.cs.u32, predicated: sm_80. Thread.
__device__ __forceinline__ void StoreStreamingIf(bool predicate, void* address,
                                                 const Packet<4>& packet) {
  asm volatile("{ .reg .pred p; setp.ne.u32 p, %2, 0; @p st.global.cs.u32 [%0], %1; }"
               :
               : "l"(address), "r"(packet.words[0]), "r"(static_cast<uint32_t>(predicate))
               : "memory");
}
// st.global.cs.v2.u32, predicated: sm_80. Thread.
__device__ __forceinline__ void StoreStreamingIf(bool predicate, void* address,
                                                 const Packet<8>& packet) {
  asm volatile("{ .reg .pred p; setp.ne.u32 p, %3, 0; @p st.global.cs.v2.u32 [%0], {%1, %2}; }"
               :
               : "l"(address), "r"(packet.words[0]), "r"(packet.words[1]),
                 "r"(static_cast<uint32_t>(predicate))
               : "memory");
}
// st.global.cs.v4.u32, predicated: sm_80. Thread.
__device__ __forceinline__ void StoreStreamingIf(bool predicate, void* address,
                                                 const Packet<16>& packet) {
  asm volatile(
      "{ .reg .pred p; setp.ne.u32 p, %5, 0; @p st.global.cs.v4.u32 [%0], {%1, %2, %3, %4}; }"
      :
      : "l"(address), "r"(packet.words[0]), "r"(packet.words[1]), "r"(packet.words[2]),
        "r"(packet.words[3]), "r"(static_cast<uint32_t>(predicate))
      : "memory");
}

// Zeros where `predicate` is false; then `address` is not read. It must be a multiple of kBytes.
template <int kBytes, CacheHint kHint = CacheHint::kDefault>
__device__ __forceinline__ Packet<kBytes> LoadGlobalIf(bool predicate, const void* address) {
  Packet<kBytes> packet = {};
  if constexpr (kHint == CacheHint::kStreaming) {
    LoadStreamingIf(predicate, address, packet);
  } else {
    LoadIf(predicate, address, packet);
  }
  return packet;
}
template <int kBytes, CacheHint kHint = CacheHint::kDefault>
__device__ __forceinline__ void StoreGlobalIf(bool predicate, void* address,
                                              const Packet<kBytes>& packet) {
  if constexpr (kHint == CacheHint::kStreaming) {
    StoreStreamingIf(predicate, address, packet);
  } else {
    StoreIf(predicate, address, packet);
  }
}

}  // namespace tilewright

#endif  // TILEWRIGHT_DEVICE_LDST_IF_CUH_
