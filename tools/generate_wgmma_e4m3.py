#!/usr/bin/env python3
"""Writes kernel_templates/device/wgmma_e4m3.cuh: wrappers of float8 wgmma shapes.

Usage: generate_wgmma_e4m3.py > kernel_templates/device/wgmma_e4m3.cuh
"""

from generate_wgmma_rs import four

HEADER = """\
// Warp-group matrix multiply-accumulate of float8 (sm_90a): D(64 x N, float32) += A(64 x 32) *
// B(32 x N), both operands K-major. The tensor cores keep about 14 bits of a sum. Written by
// tools/generate_wgmma_e4m3.py; do not edit.
#ifndef TILEWRIGHT_DEVICE_WGMMA_E4M3_CUH_
#define TILEWRIGHT_DEVICE_WGMMA_E4M3_CUH_

#include "device/wgmma.cuh"
#include "device/wgmma_rs.cuh"
#include "device/wgmma_used.cuh"

namespace tilewright {

// cvt.rn.satfinite.e4m3x2.f32, twice (sm_89): four rounded values, `a` in the lowest byte. Thread.
__device__ __forceinline__ uint32_t PackE4m3x4(float a, float b, float c, float d) {
  uint32_t bits;
  asm("{.reg .b16 low, high; cvt.rn.satfinite.e4m3x2.f32 low, %2, %1;"
      " cvt.rn.satfinite.e4m3x2.f32 high, %4, %3; mov.b32 %0, {low, high};}"
      : "=r"(bits)
      : "f"(a), "f"(b), "f"(c), "f"(d));
  return bits;
}
"""


def parts(n):
    count = n // 2
    regs = ", ".join(f"%{i}" for i in range(count))
    outs = ", ".join(f'"+f"(d[{i}])' for i in range(count))
    return count, regs, outs


def from_shared(n):
    count, regs, outs = parts(n)
    a, b, p = (count + i for i in range(3))
    return f"""
// wgmma.mma_async.sync.aligned.m64n{n}k32.f32.e4m3.e4m3 (sm_90a)
template <>
struct Wgmma<fp8_e4m3, {n}, false, false> {{
  __device__ static __forceinline__ void Run(float (&d)[{count}], uint64_t a, uint64_t b, int accumulate) {{
    asm volatile(
        "{{.reg .pred p; setp.ne.b32 p, %{p}, 0; wgmma.mma_async.sync.aligned.m64n{n}k32.f32.e4m3.e4m3 "
        "{{{regs}}}, %{a}, %{b}, p, 1, 1;}}"
        : {outs}
        : "l"(a), "l"(b), "r"(accumulate));
  }}
}};
"""


def from_registers(n):
    count, regs, outs = parts(n)
    a = ", ".join(f"%{count + i}" for i in range(4))
    b, p = (count + 4 + i for i in range(2))
    instruction = f"wgmma.mma_async.sync.aligned.m64n{n}k32.f32.e4m3.e4m3"
    lines, operands = four(instruction, count, regs, "2", "")
    return f"""
// {instruction} (sm_90a)
template <>
struct WgmmaRs<fp8_e4m3, {n}, false> {{
  __device__ static __forceinline__ void Run(float (&d)[{count}], const uint32_t (&a)[4], uint64_t b, int accumulate) {{
    asm volatile(
        "{{.reg .pred p; setp.ne.b32 p, %{p}, 0; {instruction} "
        "{{{regs}}}, {{{a}}}, %{b}, p, 1, 1;}}"
        : {outs}
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(accumulate));
  }}
  __device__ static __forceinline__ void Run4(float (&d)[{count}], const uint32_t (*a)[4], uint64_t b, int accumulate) {{
    asm volatile(
        {lines}
        : {outs}
        : {operands});
  }}
}};
"""


def main():
    print("// clang-format off")
    print(HEADER, end="")
    for n in range(32, 257, 32):
        print(f"\n#if TILEWRIGHT_WGMMA_USED({n})", end="")
        print(from_shared(n), end="")
        print("#endif")
    # Values of up to 240 dimensions have eight more, for sums.
    for n in [*range(24, 249, 16), 256]:
        print(f"\n#if TILEWRIGHT_WGMMA_USED({n})", end="")
        print(from_registers(n), end="")
        print("#endif")
    print("\n}  // namespace tilewright\n\n#endif  // TILEWRIGHT_DEVICE_WGMMA_E4M3_CUH_")


main()
