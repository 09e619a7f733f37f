// A bound launch: everything cuLaunchKernelEx needs, with the places where pointers go.
#ifndef TILEWRIGHT_KERNEL_TEMPLATES_LAUNCH_H_
#define TILEWRIGHT_KERNEL_TEMPLATES_LAUNCH_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "absl/container/inlined_vector.h"
#include "manifest/dtype.h"

namespace tilewright {

inline constexpr int kWorkspaceOperand = -1;

// Writes operand's data pointer (+ byte_offset) into the parameter struct at `offset` at launch.
struct PointerSlot {
  uint16_t offset = 0;
  int8_t operand = 0;  // index into CallDesc::operands, or kWorkspaceOperand
  int64_t byte_offset = 0;
};

// A tiled TMA descriptor over one operand, encoded at launch into the 128 bytes at `offset`
// (64-byte aligned in the parameter struct). Dim 0 is the innermost (contiguous) one.
struct TensorMapSlot {
  enum class Swizzle : uint8_t { kNone = 0, k32B = 1, k64B = 2, k128B = 3 };
  uint16_t offset = 0;
  int8_t operand = 0;
  int64_t byte_offset = 0;
  DType dtype = DType::kBFloat16;
  uint8_t rank = 2;
  std::array<uint64_t, 5> dims{};
  std::array<uint64_t, 4> strides_bytes{};  // of dims 1..rank-1; multiples of 16
  std::array<uint32_t, 5> box{};            // each at most 256
  Swizzle swizzle = Swizzle::k128B;
  uint8_t l2_promotion_bytes_log2 = 8;  // 0: none; 6, 7, 8: 64, 128, 256 bytes
};

// One kernel launch of a call. `params` is the kernel's single by-value parameter struct; the
// pointer and tensor-map slots are patched per call, everything else is final.
struct Launch {
  int kernel = 0;  // index into Variant::Kernels()
  std::array<uint32_t, 3> grid{1, 1, 1};
  std::array<uint32_t, 3> block{1, 1, 1};
  std::array<uint32_t, 3> cluster{1, 1, 1};
  uint32_t dynamic_smem_bytes = 0;
  bool programmatic_dependent_launch = false;
  absl::InlinedVector<std::byte, 512> params;
  absl::InlinedVector<PointerSlot, 8> pointers;
  absl::InlinedVector<TensorMapSlot, 3> tensor_maps;

  template <class Params>
  void SetParams(const Params& value) {
    static_assert(std::is_trivially_copyable_v<Params>);
    params.resize(sizeof(Params));
    std::memcpy(params.data(), &value, sizeof(Params));
  }
};

// All launches of a call, in stream order. No launches: the result is defined without any work
// (an empty output).
struct BoundCall {
  absl::InlinedVector<Launch, 2> launches;
  int64_t workspace_bytes = 0;
};

}  // namespace tilewright

#endif  // TILEWRIGHT_KERNEL_TEMPLATES_LAUNCH_H_
