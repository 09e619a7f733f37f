#!/usr/bin/env python3
"""Writes kernel_templates/device/wgmma_chain.cuh: whole products of wgmma steps, a statement each.

Usage: generate_wgmma_chain.py > kernel_templates/device/wgmma_chain.cuh
"""

HEADER = """\
// Matrix products of a warp group (sm_90a), all of a product's wgmma steps in one statement: D(64 x
// N, float32) += A(64 x K) * B(K x N), A in shared memory or in registers. Every statement costs the
// compiler all of D, and a wrapper for every shape would have to be read, so that a kernel says what
// it wants before it includes this:
//   TILEWRIGHT_CHAIN_FLOAT8         whether elements are float8 (steps of K = 32) or 16-bit (16)
//   TILEWRIGHT_CHAIN_SHARED_COLUMNS, TILEWRIGHT_CHAIN_SHARED_STEPS        N, K / 32 bytes
//   TILEWRIGHT_CHAIN_REGISTER_COLUMNS, TILEWRIGHT_CHAIN_REGISTER_STEPS
// The tensor cores keep about 14 bits of a sum of float8 products. Written by
// tools/generate_wgmma_chain.py; do not edit.
#ifndef TILEWRIGHT_DEVICE_WGMMA_CHAIN_CUH_
#define TILEWRIGHT_DEVICE_WGMMA_CHAIN_CUH_

#include "device/base.cuh"
#include "device/types.cuh"

#ifndef TILEWRIGHT_CHAIN_FLOAT8
#define TILEWRIGHT_CHAIN_FLOAT8 0
#define TILEWRIGHT_CHAIN_SHARED_COLUMNS 16
#define TILEWRIGHT_CHAIN_SHARED_STEPS 1
#define TILEWRIGHT_CHAIN_REGISTER_COLUMNS 16
#define TILEWRIGHT_CHAIN_REGISTER_STEPS 1
#endif
#if TILEWRIGHT_CHAIN_SHARED_STEPS > 16 || TILEWRIGHT_CHAIN_REGISTER_STEPS > 16
#error "a product has at most 16 steps"
#endif

// Of N columns: the registers of D as text and as operands (SUM: added to; OUT: overwritten), and the
// texts of the operands behind them: three single ones (P) and then four a step (A).
"""

BODY = """
// A step in 128-byte swizzled rows, `at` in its block of four and `block`, in the statement of a
// product with A in shared memory (P: A and B, and the distance of A's blocks; of B's is A0's place).
#define TILEWRIGHT_CHAIN_SHARED_STEP(op, at, block) \\
  "add.s64 a, " TILEWRIGHT_CHAIN_SHARED(P0) ", " #at " * 2 + " #block " * " TILEWRIGHT_CHAIN_SHARED(P2) "; " \\
  "add.s64 b, " TILEWRIGHT_CHAIN_SHARED(P1) ", " #at " * 2 + " #block " * " TILEWRIGHT_CHAIN_SHARED(P3) "; " \\
  op TILEWRIGHT_CHAIN_SHARED(D) ", a, b, p, 1, 1" TILEWRIGHT_CHAIN_SHARED_MAJOR "; "

// The same with A in registers (P: B, the distance of its steps, that of its blocks).
#define TILEWRIGHT_CHAIN_REGISTER_STEP(op, step, at, block) \\
  "add.s64 b, " TILEWRIGHT_CHAIN_REGISTER(P0) ", " #at " * " TILEWRIGHT_CHAIN_REGISTER(P1) " + " #block " * " TILEWRIGHT_CHAIN_REGISTER(P2) "; " \\
  op TILEWRIGHT_CHAIN_REGISTER(D) ", " TILEWRIGHT_CHAIN_REGISTER(A##step) ", b, p, 1, 1" TILEWRIGHT_CHAIN_REGISTER_MAJOR "; "

// A product with A in shared memory overwrites D. Told so, the compiler takes less time; of float8
// the code is as fast, of 16 bits 1 to 2 % slower.
#if TILEWRIGHT_CHAIN_FLOAT8
#define TILEWRIGHT_CHAIN_K "k32.f32."
#define TILEWRIGHT_CHAIN_SHARED_RESULT(d) TILEWRIGHT_CHAIN_SHARED(OUT)(d)
#define TILEWRIGHT_CHAIN_SHARED_MAJOR
#define TILEWRIGHT_CHAIN_REGISTER_MAJOR
#else
#define TILEWRIGHT_CHAIN_K "k16.f32."
#define TILEWRIGHT_CHAIN_SHARED_RESULT(d) TILEWRIGHT_CHAIN_SHARED(SUM)(d)
#define TILEWRIGHT_CHAIN_SHARED_MAJOR ", 0, 0"
#define TILEWRIGHT_CHAIN_REGISTER_MAJOR ", 1"
#endif
"""

FOOTER = """
namespace tilewright {

// WgmmaChain<Element>: the two products of a kernel. Operands in shared memory lie in 128-byte
// swizzled rows and are given by the matrix descriptor (smem_desc.cuh) of their first step; distances
// are in its units of 16 bytes. d holds N / 2 values a thread. Warp group.
template <class Element>
struct WgmmaChain;

#define TILEWRIGHT_CHAIN_PRODUCTS(Element, type) \\
template <> \\
struct WgmmaChain<Element> { \\
  /* d = A * B, both K-major, further blocks of 128 bytes of K at kBlockA and kBlockB. */ \\
  template <int kBlockA, int kBlockB> \\
  __device__ static __forceinline__ void Shared(float (&d)[TILEWRIGHT_CHAIN_SHARED_COLUMNS / 2], uint64_t a, uint64_t b) { \\
    asm volatile( \\
        "{.reg .pred p; .reg .b64 a, b; setp.ne.b32 p, 0, 0; " \\
        TILEWRIGHT_CHAIN_SHARED_STEPS_(TILEWRIGHT_CHAIN_OP(TILEWRIGHT_CHAIN_SHARED, type)) \\
        "}" \\
        : TILEWRIGHT_CHAIN_SHARED_RESULT(d) \\
        : "l"(a), "l"(b), "n"(kBlockA), "n"(kBlockB)); \\
  } \\
  /* One step: d += A * B, or d = A * B without `accumulate`. */ \\
  __device__ static __forceinline__ void SharedStep(float (&d)[TILEWRIGHT_CHAIN_SHARED_COLUMNS / 2], uint64_t a, uint64_t b, int accumulate) { \\
    asm volatile( \\
        "{.reg .pred p; setp.ne.b32 p, " TILEWRIGHT_CHAIN_SHARED(P2) ", 0; " \\
        TILEWRIGHT_CHAIN_OP(TILEWRIGHT_CHAIN_SHARED, type) TILEWRIGHT_CHAIN_SHARED(D) ", " TILEWRIGHT_CHAIN_SHARED(P0) ", " TILEWRIGHT_CHAIN_SHARED(P1) ", p, 1, 1" TILEWRIGHT_CHAIN_SHARED_MAJOR ";}" \\
        : TILEWRIGHT_CHAIN_SHARED(SUM)(d) \\
        : "l"(a), "l"(b), "r"(accumulate)); \\
  } \\
  /* d += A * B. A step's a is the fragment of mma.sync's m16n8k16 (m16n8k32) for each warp's 16 rows; */ \\
  /* B's steps lie kStep apart, its blocks of four steps kBlock. */ \\
  template <int kStep, int kBlock> \\
  __device__ static __forceinline__ void Registers(float (&d)[TILEWRIGHT_CHAIN_REGISTER_COLUMNS / 2], const uint32_t (&a)[TILEWRIGHT_CHAIN_REGISTER_STEPS][4], uint64_t b) { \\
    asm volatile( \\
        "{.reg .pred p; .reg .b64 b; setp.eq.b32 p, 0, 0; " \\
        TILEWRIGHT_CHAIN_REGISTER_STEPS_(TILEWRIGHT_CHAIN_OP(TILEWRIGHT_CHAIN_REGISTER, type)) \\
        "}" \\
        : TILEWRIGHT_CHAIN_REGISTER(SUM)(d) \\
        : "l"(b), "n"(kStep), "n"(kBlock) TILEWRIGHT_CHAIN_REGISTER_INPUTS(a)); \\
  } \\
};

#define TILEWRIGHT_CHAIN_OP(product, type) "wgmma.mma_async.sync.aligned.m64n" product(N) TILEWRIGHT_CHAIN_K type "." type " "

#if TILEWRIGHT_CHAIN_FLOAT8
// wgmma.mma_async.sync.aligned.m64nNk32.f32.e4m3.e4m3 (sm_90a)
TILEWRIGHT_CHAIN_PRODUCTS(fp8_e4m3, "e4m3")
#else
// wgmma.mma_async.sync.aligned.m64nNk16.f32.f16.f16, .bf16.bf16 (sm_90a)
TILEWRIGHT_CHAIN_PRODUCTS(fp16, "f16")
TILEWRIGHT_CHAIN_PRODUCTS(bf16, "bf16")
#endif

}  // namespace tilewright

#endif  // TILEWRIGHT_DEVICE_WGMMA_CHAIN_CUH_"""

STEPS = 16
PRODUCTS = ("SHARED", "REGISTER")


def texts(n):
    """The macros of n columns."""
    count = n // 2
    name = f"TILEWRIGHT_CHAIN_{n}"
    regs = ", ".join(f"%{i}" for i in range(count))
    lines = [f'#define {name}_N "{n}"', f'#define {name}_D "{{{regs}}}"']
    for kind, constraint in (("SUM", "+f"), ("OUT", "=f")):
        operands = ", ".join(f'"{constraint}"(d[{i}])' for i in range(count))
        lines.append(f"#define {name}_{kind}(d) {operands}")
    lines += [f'#define {name}_P{i} "%{count + i}"' for i in range(4)]
    for step in range(STEPS):
        a = ", ".join(f"%{count + 3 + 4 * step + i}" for i in range(4))
        lines.append(f'#define {name}_A{step} "{{{a}}}"')
    for product in PRODUCTS:
        lines += [f"#if TILEWRIGHT_CHAIN_{product}_COLUMNS == {n}",
                  f"#define TILEWRIGHT_CHAIN_{product}(part) {name}_##part", "#endif"]
    return "\n".join(lines)


def optional(product, step, parameter, text):
    """A macro that is empty where a product has no such step."""
    name = f"TILEWRIGHT_CHAIN_{product}_{step}({parameter})"
    return f"#if TILEWRIGHT_CHAIN_{product}_STEPS > {step}\n#define {name} {text}\n#else\n#define {name}\n#endif"


def steps():
    for step in range(STEPS):
        place = f"{step % 4}, {step // 4}"
        # The first step overwrites D.
        rest = ' "setp.eq.b32 p, 0, 0; "' if step == 0 else ""
        yield optional("SHARED", step, "op", f"TILEWRIGHT_CHAIN_SHARED_STEP(op, {place}){rest}")
        yield optional("REGISTER", step, "op", f"TILEWRIGHT_CHAIN_REGISTER_STEP(op, {step}, {place})")
        inputs = ", ".join(f'"r"(a[{step}][{i}])' for i in range(4))
        yield optional("INPUT", step, "a", f", {inputs}").replace("INPUT_STEPS", "REGISTER_STEPS")
    for product in PRODUCTS:
        text = " ".join(f"TILEWRIGHT_CHAIN_{product}_{step}(op)" for step in range(STEPS))
        yield f"#define TILEWRIGHT_CHAIN_{product}_STEPS_(op) {text}"
    inputs = " ".join(f"TILEWRIGHT_CHAIN_INPUT_{step}(a)" for step in range(STEPS))
    yield f"#define TILEWRIGHT_CHAIN_REGISTER_INPUTS(a) {inputs}"


def main():
    print("// clang-format off")
    print(HEADER, end="")
    for n in range(16, 257, 8):
        print(f"#if TILEWRIGHT_CHAIN_SHARED_COLUMNS == {n} || TILEWRIGHT_CHAIN_REGISTER_COLUMNS == {n}")
        print(texts(n))
        print("#endif")
    print(BODY)
    for line in steps():
        print(line)
    print(FOOTER)


if __name__ == "__main__":
    main()
