#!/usr/bin/env python3
"""Writes kernel_templates/device/wgmma.cuh: one wrapper a wgmma shape.

Usage: generate_wgmma.py > kernel_templates/device/wgmma.cuh
"""

HEADER = """\
// Warp-group matrix multiply-accumulate (sm_90a): D(64 x N, float32) += A(64 x 16) * B(16 x N),
// both operands in shared memory. Written by tools/generate_wgmma.py; do not edit.
#ifndef TILEWRIGHT_DEVICE_WGMMA_CUH_
#define TILEWRIGHT_DEVICE_WGMMA_CUH_

#include "device/base.cuh"
#include "device/types.cuh"
#include "device/wgmma_used.cuh"

namespace tilewright {

// wgmma.fence.sync.aligned (sm_90a): orders register accesses before the next wgmma. Warp group.
__device__ __forceinline__ void WgmmaFence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }

// wgmma.commit_group.sync.aligned (sm_90a): closes the group of wgmmas issued so far. Warp group.
__device__ __forceinline__ void WgmmaCommit() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}

// wgmma.wait_group.sync.aligned (sm_90a): until at most kPending groups are in flight. Warp group.
template <int kPending>
__device__ __forceinline__ void WgmmaWait() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(kPending) : "memory");
}

// Wgmma<Element, N, kMnMajorA, kMnMajorB>::Run(d, a, b, accumulate): a and b are matrix descriptors
// (smem_desc.cuh); d holds N/2 values a thread; accumulate = 0 overwrites d. Warp group.
template <class Element, int kN, bool kMnMajorA, bool kMnMajorB>
struct Wgmma;
"""

ELEMENTS = (("fp16", "f16"), ("bf16", "bf16"))


def wrapper(element, ptx, n):
    count = n // 2
    regs = ", ".join(f"%{i}" for i in range(count))
    outs = ", ".join(f'"+f"(d[{i}])' for i in range(count))
    a, b, p, ta, tb = (count + i for i in range(5))
    return f"""
// wgmma.mma_async.sync.aligned.m64n{n}k16.f32.{ptx}.{ptx} (sm_90a)
template <bool kMnMajorA, bool kMnMajorB>
struct Wgmma<{element}, {n}, kMnMajorA, kMnMajorB> {{
  __device__ static __forceinline__ void Run(float (&d)[{count}], uint64_t a, uint64_t b, int accumulate) {{
    asm volatile(
        "{{.reg .pred p; setp.ne.b32 p, %{p}, 0; wgmma.mma_async.sync.aligned.m64n{n}k16.f32.{ptx}.{ptx} "
        "{{{regs}}}, %{a}, %{b}, p, 1, 1, %{ta}, %{tb};}}"
        : {outs}
        : "l"(a), "l"(b), "r"(accumulate), "n"(kMnMajorA), "n"(kMnMajorB));
  }}
}};
"""


def main():
    print("// clang-format off")
    print(HEADER, end="")
    for n in range(8, 257, 8):
        print(f"\n#if TILEWRIGHT_WGMMA_USED({n})", end="")
        for element, ptx in ELEMENTS:
            print(wrapper(element, ptx, n), end="")
        print("#endif")
    print("\n}  // namespace tilewright\n\n#endif  // TILEWRIGHT_DEVICE_WGMMA_CUH_")


main()
