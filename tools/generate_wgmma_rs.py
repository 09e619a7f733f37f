#!/usr/bin/env python3
"""Writes kernel_templates/device/wgmma_rs.cuh: wrappers a wgmma shape with A in registers.

Usage: generate_wgmma_rs.py > kernel_templates/device/wgmma_rs.cuh
"""

HEADER = """\
// Warp-group matrix multiply-accumulate (sm_90a) with the row operand in registers: D(64 x N,
// float32) += A(64 x 16) * B(16 x N). Written by tools/generate_wgmma_rs.py; do not edit.
#ifndef TILEWRIGHT_DEVICE_WGMMA_RS_CUH_
#define TILEWRIGHT_DEVICE_WGMMA_RS_CUH_

#include "device/base.cuh"
#include "device/types.cuh"
#include "device/wgmma_used.cuh"

namespace tilewright {

// No instruction: keeps values in their registers up to here, and reads of them behind what stands
// before. Around the wait for a wgmma that has them in flight. Thread.
__device__ __forceinline__ void WgmmaHold(float& value) { asm volatile("" : "+f"(value)::"memory"); }
__device__ __forceinline__ void WgmmaHold(uint32_t& value) { asm volatile("" : "+r"(value)::"memory"); }

// WgmmaRs<Element, N, kMnMajorB>::Run(d, a, b, accumulate): a is the fragment of mma.sync's m16n8k16
// for each warp's 16 rows, b a matrix descriptor (smem_desc.cuh); d holds N/2 values a thread;
// accumulate = 0 overwrites d. Run4() does four steps along K, b being the first one's: one statement
// instead of four, each of which costs the compiler all of d. Warp group.
template <class Element, int kN, bool kMnMajorB>
struct WgmmaRs;
"""

ELEMENTS = (("fp16", "f16"), ("bf16", "bf16"))


def four(instruction, count, regs, b_step, transpose):
    """The statements of four steps, behind a predicate p that the first one takes."""
    b, p, step = count + 16, count + 17, count + 18
    lines = [f'"{{.reg .pred p; .reg .b64 b; setp.ne.b32 p, %{p}, 0; "']
    for i in range(4):
        a = ", ".join(f"%{count + 4 * i + j}" for j in range(4))
        if i > 0:
            lines.append(f'"add.s64 b, %{b}, %{step + i - 1}; "')
        if i == 1:
            lines.append('"setp.eq.b32 p, 0, 0; "')
        lines.append(f'"{instruction} {{{regs}}}, {{{a}}}, {"b" if i else f"%{b}"}, p, 1, 1{transpose}; "')
    lines.append('"}"')
    operands = ", ".join(f'"r"(a[{i}][{j}])' for i in range(4) for j in range(4))
    steps = ", ".join(f'"n"({i} * {b_step})' for i in range(1, 4))
    return "\n        ".join(lines), f'{operands}, "l"(b), "r"(accumulate), {steps}'


def wrapper(element, ptx, n):
    count = n // 2
    regs = ", ".join(f"%{i}" for i in range(count))
    outs = ", ".join(f'"+f"(d[{i}])' for i in range(count))
    a = ", ".join(f"%{count + i}" for i in range(4))
    b, p, tb = (count + 4 + i for i in range(3))
    instruction = f"wgmma.mma_async.sync.aligned.m64n{n}k16.f32.{ptx}.{ptx}"
    lines, operands = four(instruction, count, regs, "(kMnMajorB ? 128 : 2)", f", %{count + 21}")
    return f"""
// {instruction} (sm_90a)
template <bool kMnMajorB>
struct WgmmaRs<{element}, {n}, kMnMajorB> {{
  __device__ static __forceinline__ void Run(float (&d)[{count}], const uint32_t (&a)[4], uint64_t b, int accumulate) {{
    asm volatile(
        "{{.reg .pred p; setp.ne.b32 p, %{p}, 0; {instruction} "
        "{{{regs}}}, {{{a}}}, %{b}, p, 1, 1, %{tb};}}"
        : {outs}
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(accumulate), "n"(kMnMajorB));
  }}
  __device__ static __forceinline__ void Run4(float (&d)[{count}], const uint32_t (*a)[4], uint64_t b, int accumulate) {{
    asm volatile(
        {lines}
        : {outs}
        : {operands}, "n"(kMnMajorB));
  }}
}};
"""


def main():
    print("// clang-format off")
    print(HEADER, end="")
    for n in range(16, 257, 16):
        print(f"\n#if TILEWRIGHT_WGMMA_USED({n})", end="")
        for element, ptx in ELEMENTS:
            print(wrapper(element, ptx, n), end="")
        print("#endif")
    print("\n}  // namespace tilewright\n\n#endif  // TILEWRIGHT_DEVICE_WGMMA_RS_CUH_")


if __name__ == "__main__":
    main()
