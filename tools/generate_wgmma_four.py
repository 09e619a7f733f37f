#!/usr/bin/env python3
"""Writes kernel_templates/device/wgmma_four.cuh: four K-major steps of a wgmma shape at a time.

Usage: generate_wgmma_four.py > kernel_templates/device/wgmma_four.cuh
"""

HEADER = """\
// Four steps of a warp-group matrix multiply-accumulate (sm_90a), both operands K-major in shared
// memory: D(64 x N, float32) += A(64 x 128 bytes) * B(128 bytes x N). Written by
// tools/generate_wgmma_four.py; do not edit.
#ifndef TILEWRIGHT_DEVICE_WGMMA_FOUR_CUH_
#define TILEWRIGHT_DEVICE_WGMMA_FOUR_CUH_

#include "device/base.cuh"
#include "device/types.cuh"
#include "device/wgmma_used.cuh"

namespace tilewright {

// WgmmaFour<Element, N>::Run(d, a, b, accumulate): as Wgmma<Element, N, false, false>, for one whole
// block of 128-byte swizzled rows: one statement instead of four, each of which costs the compiler
// all of d. Warp group.
template <class Element, int kN>
struct WgmmaFour;
"""

ELEMENTS = (("fp16", "f16", 16, ", 0, 0"), ("bf16", "bf16", 16, ", 0, 0"), ("fp8_e4m3", "e4m3", 32, ""))


def wrapper(element, ptx, k, transposes, n):
    count = n // 2
    regs = ", ".join(f"%{i}" for i in range(count))
    outs = ", ".join(f'"+f"(d[{i}])' for i in range(count))
    a, b, p = (count + i for i in range(3))
    instruction = f"wgmma.mma_async.sync.aligned.m64n{n}k{k}.f32.{ptx}.{ptx}"
    lines = [f'"{{.reg .pred p; .reg .b64 a, b; setp.ne.b32 p, %{p}, 0; "',
             f'"{instruction} {{{regs}}}, %{a}, %{b}, p, 1, 1{transposes}; setp.eq.b32 p, 0, 0; "']
    for i in range(1, 4):
        lines.append(f'"add.s64 a, %{a}, {2 * i}; add.s64 b, %{b}, {2 * i}; "')
        lines.append(f'"{instruction} {{{regs}}}, a, b, p, 1, 1{transposes}; "')
    lines.append('"}"')
    text = "\n        ".join(lines)
    return f"""
// {instruction} (sm_90a)
template <>
struct WgmmaFour<{element}, {n}> {{
  __device__ static __forceinline__ void Run(float (&d)[{count}], uint64_t a, uint64_t b, int accumulate) {{
    asm volatile(
        {text}
        : {outs}
        : "l"(a), "l"(b), "r"(accumulate));
  }}
}};
"""


def main():
    print("// clang-format off")
    print(HEADER, end="")
    for element, ptx, k, transposes in ELEMENTS:
        for n in range(k, 257 if k == 32 else 193, k):
            print(f"\n#if TILEWRIGHT_WGMMA_USED({n})", end="")
            print(wrapper(element, ptx, k, transposes, n), end="")
            print("#endif")
    print("\n}  // namespace tilewright\n\n#endif  // TILEWRIGHT_DEVICE_WGMMA_FOUR_CUH_")


main()
