// clang-format off
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
#if TILEWRIGHT_CHAIN_SHARED_COLUMNS == 16 || TILEWRIGHT_CHAIN_REGISTER_COLUMNS == 16
#define TILEWRIGHT_CHAIN_16_N "16"
#define TILEWRIGHT_CHAIN_16_D "{%0, %1, %2, %3, %4, %5, %6, %7}"
#define TILEWRIGHT_CHAIN_16_SUM(d) "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7])
#define TILEWRIGHT_CHAIN_16_OUT(d) "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3]), "=f"(d[4]), "=f"(d[5]), "=f"(d[6]), "=f"(d[7])
#define TILEWRIGHT_CHAIN_16_P0 "%8"
#define TILEWRIGHT_CHAIN_16_P1 "%9"
#define TILEWRIGHT_CHAIN_16_P2 "%10"
#define TILEWRIGHT_CHAIN_16_P3 "%11"
#define TILEWRIGHT_CHAIN_16_A0 "{%11, %12, %13, %14}"
#define TILEWRIGHT_CHAIN_16_A1 "{%15, %16, %17, %18}"
#define TILEWRIGHT_CHAIN_16_A2 "{%19, %20, %21, %22}"
#define TILEWRIGHT_CHAIN_16_A3 "{%23, %24, %25, %26}"
#define TILEWRIGHT_CHAIN_16_A4 "{%27, %28, %29, %30}"
#define TILEWRIGHT_CHAIN_16_A5 "{%31, %32, %33, %34}"
#define TILEWRIGHT_CHAIN_16_A6 "{%35, %36, %37, %38}"
#define TILEWRIGHT_CHAIN_16_A7 "{%39, %40, %41, %42}"
#define TILEWRIGHT_CHAIN_16_A8 "{%43, %44, %45, %46}"
#define TILEWRIGHT_CHAIN_16_A9 "{%47, %48, %49, %50}"
#define TILEWRIGHT_CHAIN_16_A10 "{%51, %52, %53, %54}"
#define TILEWRIGHT_CHAIN_16_A11 "{%55, %56, %57, %58}"
#define TILEWRIGHT_CHAIN_16_A12 "{%59, %60, %61, %62}"
#define TILEWRIGHT_CHAIN_16_A13 "{%63, %64, %65, %66}"
#define TILEWRIGHT_CHAIN_16_A14 "{%67, %68, %69, %70}"
#define TILEWRIGHT_CHAIN_16_A15 "{%71, %72, %73, %74}"
#if TILEWRIGHT_CHAIN_SHARED_COLUMNS == 16
#define TILEWRIGHT_CHAIN_SHARED(part) TILEWRIGHT_CHAIN_16_##part
#endif
#if TILEWRIGHT_CHAIN_REGISTER_COLUMNS == 16
#define TILEWRIGHT_CHAIN_REGISTER(part) TILEWRIGHT_CHAIN_16_##part
#endif
#endif
#if TILEWRIGHT_CHAIN_SHARED_COLUMNS == 24 || TILEWRIGHT_CHAIN_REGISTER_COLUMNS == 24
#define TILEWRIGHT_CHAIN_24_N "24"
#define TILEWRIGHT_CHAIN_24_D "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11}"
#define TILEWRIGHT_CHAIN_24_SUM(d) "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11])
#define TILEWRIGHT_CHAIN_24_OUT(d) "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3]), "=f"(d[4]), "=f"(d[5]), "=f"(d[6]), "=f"(d[7]), "=f"(d[8]), "=f"(d[9]), "=f"(d[10]), "=f"(d[11])
#define TILEWRIGHT_CHAIN_24_P0 "%12"
#define TILEWRIGHT_CHAIN_24_P1 "%13"
#define TILEWRIGHT_CHAIN_24_P2 "%14"
#define TILEWRIGHT_CHAIN_24_P3 "%15"
#define TILEWRIGHT_CHAIN_24_A0 "{%15, %16, %17, %18}"
#define TILEWRIGHT_CHAIN_24_A1 "{%19, %20, %21, %22}"
#define TILEWRIGHT_CHAIN_24_A2 "{%23, %24, %25, %26}"
#define TILEWRIGHT_CHAIN_24_A3 "{%27, %28, %29, %30}"
#define TILEWRIGHT_CHAIN_24_A4 "{%31, %32, %33, %34}"
#define TILEWRIGHT_CHAIN_24_A5 "{%35, %36, %37, %38}"
#define TILEWRIGHT_CHAIN_24_A6 "{%39, %40, %41, %42}"
#define TILEWRIGHT_CHAIN_24_A7 "{%43, %44, %45, %46}"
#define TILEWRIGHT_CHAIN_24_A8 "{%47, %48, %49, %50}"
#define TILEWRIGHT_CHAIN_24_A9 "{%51, %52, %53, %54}"
#define TILEWRIGHT_CHAIN_24_A10 "{%55, %56, %57, %58}"
#define TILEWRIGHT_CHAIN_24_A11 "{%59, %60, %61, %62}"
#define TILEWRIGHT_CHAIN_24_A12 "{%63, %64, %65, %66}"
#define TILEWRIGHT_CHAIN_24_A13 "{%67, %68, %69, %70}"
#define TILEWRIGHT_CHAIN_24_A14 "{%71, %72, %73, %74}"
#define TILEWRIGHT_CHAIN_24_A15 "{%75, %76, %77, %78}"
#if TILEWRIGHT_CHAIN_SHARED_COLUMNS == 24
#define TILEWRIGHT_CHAIN_SHARED(part) TILEWRIGHT_CHAIN_24_##part
#endif
#if TILEWRIGHT_CHAIN_REGISTER_COLUMNS == 24
#define TILEWRIGHT_CHAIN_REGISTER(part) TILEWRIGHT_CHAIN_24_##part
#endif
#endif
#if TILEWRIGHT_CHAIN_SHARED_COLUMNS == 32 || TILEWRIGHT_CHAIN_REGISTER_COLUMNS == 32
#define TILEWRIGHT_CHAIN_32_N "32"
#define TILEWRIGHT_CHAIN_32_D "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15}"
#define TILEWRIGHT_CHAIN_32_SUM(d) "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15])
#define TILEWRIGHT_CHAIN_32_OUT(d) "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3]), "=f"(d[4]), "=f"(d[5]), "=f"(d[6]), "=f"(d[7]), "=f"(d[8]), "=f"(d[9]), "=f"(d[10]), "=f"(d[11]), "=f"(d[12]), "=f"(d[13]), "=f"(d[14]), "=f"(d[15])
#define TILEWRIGHT_CHAIN_32_P0 "%16"
#define TILEWRIGHT_CHAIN_32_P1 "%17"
#define TILEWRIGHT_CHAIN_32_P2 "%18"
#define TILEWRIGHT_CHAIN_32_P3 "%19"
#define TILEWRIGHT_CHAIN_32_A0 "{%19, %20, %21, %22}"
#define TILEWRIGHT_CHAIN_32_A1 "{%23, %24, %25, %26}"
#define TILEWRIGHT_CHAIN_32_A2 "{%27, %28, %29, %30}"
#define TILEWRIGHT_CHAIN_32_A3 "{%31, %32, %33, %34}"
#define TILEWRIGHT_CHAIN_32_A4 "{%35, %36, %37, %38}"
#define TILEWRIGHT_CHAIN_32_A5 "{%39, %40, %41, %42}"
#define TILEWRIGHT_CHAIN_32_A6 "{%43, %44, %45, %46}"
#define TILEWRIGHT_CHAIN_32_A7 "{%47, %48, %49, %50}"
#define TILEWRIGHT_CHAIN_32_A8 "{%51, %52, %53, %54}"
#define TILEWRIGHT_CHAIN_32_A9 "{%55, %56, %57, %58}"
#define TILEWRIGHT_CHAIN_32_A10 "{%59, %60, %61, %62}"
#define TILEWRIGHT_CHAIN_32_A11 "{%63, %64, %65, %66}"
#define TILEWRIGHT_CHAIN_32_A12 "{%67, %68, %69, %70}"
#define TILEWRIGHT_CHAIN_32_A13 "{%71, %72, %73, %74}"
#define TILEWRIGHT_CHAIN_32_A14 "{%75, %76, %77, %78}"
#define TILEWRIGHT_CHAIN_32_A15 "{%79, %80, %81, %82}"
#if TILEWRIGHT_CHAIN_SHARED_COLUMNS == 32
#define TILEWRIGHT_CHAIN_SHARED(part) TILEWRIGHT_CHAIN_32_##part
#endif
#if TILEWRIGHT_CHAIN_REGISTER_COLUMNS == 32
#define TILEWRIGHT_CHAIN_REGISTER(part) TILEWRIGHT_CHAIN_32_##part
#endif
#endif
#if TILEWRIGHT_CHAIN_SHARED_COLUMNS == 40 || TILEWRIGHT_CHAIN_REGISTER_COLUMNS == 40
#define TILEWRIGHT_CHAIN_40_N "40"
#define TILEWRIGHT_CHAIN_40_D "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19}"
#define TILEWRIGHT_CHAIN_40_SUM(d) "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]), "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19])
#define TILEWRIGHT_CHAIN_40_OUT(d) "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3]), "=f"(d[4]), "=f"(d[5]), "=f"(d[6]), "=f"(d[7]), "=f"(d[8]), "=f"(d[9]), "=f"(d[10]), "=f"(d[11]), "=f"(d[12]), "=f"(d[13]), "=f"(d[14]), "=f"(d[15]), "=f"(d[16]), "=f"(d[17]), "=f"(d[18]), "=f"(d[19])
#define TILEWRIGHT_CHAIN_40_P0 "%20"
#define TILEWRIGHT_CHAIN_40_P1 "%21"
#define TILEWRIGHT_CHAIN_40_P2 "%22"
#define TILEWRIGHT_CHAIN_40_P3 "%23"
#define TILEWRIGHT_CHAIN_40_A0 "{%23, %24, %25, %26}"
#define TILEWRIGHT_CHAIN_40_A1 "{%27, %28, %29, %30}"
#define TILEWRIGHT_CHAIN_40_A2 "{%31, %32, %33, %34}"
#define TILEWRIGHT_CHAIN_40_A3 "{%35, %36, %37, %38}"
#define TILEWRIGHT_CHAIN_40_A4 "{%39, %40, %41, %42}"
#define TILEWRIGHT_CHAIN_40_A5 "{%43, %44, %45, %46}"
#define TILEWRIGHT_CHAIN_40_A6 "{%47, %48, %49, %50}"
#define TILEWRIGHT_CHAIN_40_A7 "{%51, %52, %53, %54}"
#define TILEWRIGHT_CHAIN_40_A8 "{%55, %56, %57, %58}"
#define TILEWRIGHT_CHAIN_40_A9 "{%59, %60, %61, %62}"
#define TILEWRIGHT_CHAIN_40_A10 "{%63, %64, %65, %66}"
#define TILEWRIGHT_CHAIN_40_A11 "{%67, %68, %69, %70}"
#define TILEWRIGHT_CHAIN_40_A12 "{%71, %72, %73, %74}"
#define TILEWRIGHT_CHAIN_40_A13 "{%75, %76, %77, %78}"
#define TILEWRIGHT_CHAIN_40_A14 "{%79, %80, %81, %82}"
#define TILEWRIGHT_CHAIN_40_A15 "{%83, %84, %85, %86}"
#if TILEWRIGHT_CHAIN_SHARED_COLUMNS == 40
#define TILEWRIGHT_CHAIN_SHARED(part) TILEWRIGHT_CHAIN_40_##part
#endif
#if TILEWRIGHT_CHAIN_REGISTER_COLUMNS == 40
#define TILEWRIGHT_CHAIN_REGISTER(part) TILEWRIGHT_CHAIN_40_##part
#endif
#endif
#if TILEWRIGHT_CHAIN_SHARED_COLUMNS == 48 || TILEWRIGHT_CHAIN_REGISTER_COLUMNS == 48
#define TILEWRIGHT_CHAIN_48_N "48"
#define TILEWRIGHT_CHAIN_48_D "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23}"
#define TILEWRIGHT_CHAIN_48_SUM(d) "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]), "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23])
#define TILEWRIGHT_CHAIN_48_OUT(d) "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3]), "=f"(d[4]), "=f"(d[5]), "=f"(d[6]), "=f"(d[7]), "=f"(d[8]), "=f"(d[9]), "=f"(d[10]), "=f"(d[11]), "=f"(d[12]), "=f"(d[13]), "=f"(d[14]), "=f"(d[15]), "=f"(d[16]), "=f"(d[17]), "=f"(d[18]), "=f"(d[19]), "=f"(d[20]), "=f"(d[21]), "=f"(d[22]), "=f"(d[23])
#define TILEWRIGHT_CHAIN_48_P0 "%24"
#define TILEWRIGHT_CHAIN_48_P1 "%25"
#define TILEWRIGHT_CHAIN_48_P2 "%26"
#define TILEWRIGHT_CHAIN_48_P3 "%27"
#define TILEWRIGHT_CHAIN_48_A0 "{%27, %28, %29, %30}"
#define TILEWRIGHT_CHAIN_48_A1 "{%31, %32, %33, %34}"
#define TILEWRIGHT_CHAIN_48_A2 "{%35, %36, %37, %38}"
#define TILEWRIGHT_CHAIN_48_A3 "{%39, %40, %41, %42}"
#define TILEWRIGHT_CHAIN_48_A4 "{%43, %44, %45, %46}"
#define TILEWRIGHT_CHAIN_48_A5 "{%47, %48, %49, %50}"
#define TILEWRIGHT_CHAIN_48_A6 "{%51, %52, %53, %54}"
#define TILEWRIGHT_CHAIN_48_A7 "{%55, %56, %57, %58}"
#define TILEWRIGHT_CHAIN_48_A8 "{%59, %60, %61, %62}"
#define TILEWRIGHT_CHAIN_48_A9 "{%63, %64, %65, %66}"
#define TILEWRIGHT_CHAIN_48_A10 "{%67, %68, %69, %70}"
#define TILEWRIGHT_CHAIN_48_A11 "{%71, %72, %73, %74}"
#define TILEWRIGHT_CHAIN_48_A12 "{%75, %76, %77, %78}"
#define TILEWRIGHT_CHAIN_48_A13 "{%79, %80, %81, %82}"
#define TILEWRIGHT_CHAIN_48_A14 "{%83, %84, %85, %86}"
#define TILEWRIGHT_CHAIN_48_A15 "{%87, %88, %89, %90}"
#if TILEWRIGHT_CHAIN_SHARED_COLUMNS == 48
#define TILEWRIGHT_CHAIN_SHARED(part) TILEWRIGHT_CHAIN_48_##part
#endif
#if TILEWRIGHT_CHAIN_REGISTER_COLUMNS == 48
#define TILEWRIGHT_CHAIN_REGISTER(part) TILEWRIGHT_CHAIN_48_##part
#endif
#endif
#if TILEWRIGHT_CHAIN_SHARED_COLUMNS == 56 || TILEWRIGHT_CHAIN_REGISTER_COLUMNS == 56
#define TILEWRIGHT_CHAIN_56_N "56"
#define TILEWRIGHT_CHAIN_56_D "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27}"
#define TILEWRIGHT_CHAIN_56_SUM(d) "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]), "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27])
#define TILEWRIGHT_CHAIN_56_OUT(d) "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3]), "=f"(d[4]), "=f"(d[5]), "=f"(d[6]), "=f"(d[7]), "=f"(d[8]), "=f"(d[9]), "=f"(d[10]), "=f"(d[11]), "=f"(d[12]), "=f"(d[13]), "=f"(d[14]), "=f"(d[15]), "=f"(d[16]), "=f"(d[17]), "=f"(d[18]), "=f"(d[19]), "=f"(d[20]), "=f"(d[21]), "=f"(d[22]), "=f"(d[23]), "=f"(d[24]), "=f"(d[25]), "=f"(d[26]), "=f"(d[27])
#define TILEWRIGHT_CHAIN_56_P0 "%28"
#define TILEWRIGHT_CHAIN_56_P1 "%29"
#define TILEWRIGHT_CHAIN_56_P2 "%30"
#define TILEWRIGHT_CHAIN_56_P3 "%31"
#define TILEWRIGHT_CHAIN_56_A0 "{%31, %32, %33, %34}"
#define TILEWRIGHT_CHAIN_56_A1 "{%35, %36, %37, %38}"
#define TILEWRIGHT_CHAIN_56_A2 "{%39, %40, %41, %42}"
#define TILEWRIGHT_CHAIN_56_A3 "{%43, %44, %45, %46}"
#define TILEWRIGHT_CHAIN_56_A4 "{%47, %48, %49, %50}"
#define TILEWRIGHT_CHAIN_56_A5 "{%51, %52, %53, %54}"
#define TILEWRIGHT_CHAIN_56_A6 "{%55, %56, %57, %58}"
#define TILEWRIGHT_CHAIN_56_A7 "{%59, %60, %61, %62}"
#define TILEWRIGHT_CHAIN_56_A8 "{%63, %64, %65, %66}"
#define TILEWRIGHT_CHAIN_56_A9 "{%67, %68, %69, %70}"
#define TILEWRIGHT_CHAIN_56_A10 "{%71, %72, %73, %74}"
#define TILEWRIGHT_CHAIN_56_A11 "{%75, %76, %77, %78}"
#define TILEWRIGHT_CHAIN_56_A12 "{%79, %80, %81, %82}"
#define TILEWRIGHT_CHAIN_56_A13 "{%83, %84, %85, %86}"
#define TILEWRIGHT_CHAIN_56_A14 "{%87, %88, %89, %90}"
#define TILEWRIGHT_CHAIN_56_A15 "{%91, %92, %93, %94}"
#if TILEWRIGHT_CHAIN_SHARED_COLUMNS == 56
#define TILEWRIGHT_CHAIN_SHARED(part) TILEWRIGHT_CHAIN_56_##part
#endif
#if TILEWRIGHT_CHAIN_REGISTER_COLUMNS == 56
#define TILEWRIGHT_CHAIN_REGISTER(part) TILEWRIGHT_CHAIN_56_##part
#endif
#endif
#if TILEWRIGHT_CHAIN_SHARED_COLUMNS == 64 || TILEWRIGHT_CHAIN_REGISTER_COLUMNS == 64
#define TILEWRIGHT_CHAIN_64_N "64"
#define TILEWRIGHT_CHAIN_64_D "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}"
#define TILEWRIGHT_CHAIN_64_SUM(d) "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]), "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31])
#define TILEWRIGHT_CHAIN_64_OUT(d) "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3]), "=f"(d[4]), "=f"(d[5]), "=f"(d[6]), "=f"(d[7]), "=f"(d[8]), "=f"(d[9]), "=f"(d[10]), "=f"(d[11]), "=f"(d[12]), "=f"(d[13]), "=f"(d[14]), "=f"(d[15]), "=f"(d[16]), "=f"(d[17]), "=f"(d[18]), "=f"(d[19]), "=f"(d[20]), "=f"(d[21]), "=f"(d[22]), "=f"(d[23]), "=f"(d[24]), "=f"(d[25]), "=f"(d[26]), "=f"(d[27]), "=f"(d[28]), "=f"(d[29]), "=f"(d[30]), "=f"(d[31])
#define TILEWRIGHT_CHAIN_64_P0 "%32"
#define TILEWRIGHT_CHAIN_64_P1 "%33"
#define TILEWRIGHT_CHAIN_64_P2 "%34"
#define TILEWRIGHT_CHAIN_64_P3 "%35"
#define TILEWRIGHT_CHAIN_64_A0 "{%35, %36, %37, %38}"
#define TILEWRIGHT_CHAIN_64_A1 "{%39, %40, %41, %42}"
#define TILEWRIGHT_CHAIN_64_A2 "{%43, %44, %45, %46}"
#define TILEWRIGHT_CHAIN_64_A3 "{%47, %48, %49, %50}"
#define TILEWRIGHT_CHAIN_64_A4 "{%51, %52, %53, %54}"
#define TILEWRIGHT_CHAIN_64_A5 "{%55, %56, %57, %58}"
#define TILEWRIGHT_CHAIN_64_A6 "{%59, %60, %61, %62}"
#define TILEWRIGHT_CHAIN_64_A7 "{%63, %64, %65, %66}"
#define TILEWRIGHT_CHAIN_64_A8 "{%67, %68, %69, %70}"
#define TILEWRIGHT_CHAIN_64_A9 "{%71, %72, %73, %74}"
#define TILEWRIGHT_CHAIN_64_A10 "{%75, %76, %77, %78}"
#define TILEWRIGHT_CHAIN_64_A11 "{%79, %80, %81, %82}"
#define TILEWRIGHT_CHAIN_64_A12 "{%83, %84, %85, %86}"
#define TILEWRIGHT_CHAIN_64_A13 "{%87, %88, %89, %90}"
#define TILEWRIGHT_CHAIN_64_A14 "{%91, %92, %93, %94}"
#define TILEWRIGHT_CHAIN_64_A15 "{%95, %96, %97, %98}"
#if TILEWRIGHT_CHAIN_SHARED_COLUMNS == 64
#define TILEWRIGHT_CHAIN_SHARED(part) TILEWRIGHT_CHAIN_64_##part
#endif
#if TILEWRIGHT_CHAIN_REGISTER_COLUMNS == 64
#define TILEWRIGHT_CHAIN_REGISTER(part) TILEWRIGHT_CHAIN_64_##part
#endif
#endif
#if TILEWRIGHT_CHAIN_SHARED_COLUMNS == 72 || TILEWRIGHT_CHAIN_REGISTER_COLUMNS == 72
#define TILEWRIGHT_CHAIN_72_N "72"
#define TILEWRIGHT_CHAIN_72_D "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35}"
#define TILEWRIGHT_CHAIN_72_SUM(d) "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]), "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31]), "+f"(d[32]), "+f"(d[33]), "+f"(d[34]), "+f"(d[35])
#define TILEWRIGHT_CHAIN_72_OUT(d) "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3]), "=f"(d[4]), "=f"(d[5]), "=f"(d[6]), "=f"(d[7]), "=f"(d[8]), "=f"(d[9]), "=f"(d[10]), "=f"(d[11]), "=f"(d[12]), "=f"(d[13]), "=f"(d[14]), "=f"(d[15]), "=f"(d[16]), "=f"(d[17]), "=f"(d[18]), "=f"(d[19]), "=f"(d[20]), "=f"(d[21]), "=f"(d[22]), "=f"(d[23]), "=f"(d[24]), "=f"(d[25]), "=f"(d[26]), "=f"(d[27]), "=f"(d[28]), "=f"(d[29]), "=f"(d[30]), "=f"(d[31]), "=f"(d[32]), "=f"(d[33]), "=f"(d[34]), "=f"(d[35])
#define TILEWRIGHT_CHAIN_72_P0 "%36"
#define TILEWRIGHT_CHAIN_72_P1 "%37"
#define TILEWRIGHT_CHAIN_72_P2 "%38"
#define TILEWRIGHT_CHAIN_72_P3 "%39"
#define TILEWRIGHT_CHAIN_72_A0 "{%39, %40, %41, %42}"
#define TILEWRIGHT_CHAIN_72_A1 "{%43, %44, %45, %46}"
#define TILEWRIGHT_CHAIN_72_A2 "{%47, %48, %49, %50}"
#define TILEWRIGHT_CHAIN_72_A3 "{%51, %52, %53, %54}"
#define TILEWRIGHT_CHAIN_72_A4 "{%55, %56, %57, %58}"
#define TILEWRIGHT_CHAIN_72_A5 "{%59, %60, %61, %62}"
#define TILEWRIGHT_CHAIN_72_A6 "{%63, %64, %65, %66}"
#define TILEWRIGHT_CHAIN_72_A7 "{%67, %68, %69, %70}"
#define TILEWRIGHT_CHAIN_72_A8 "{%71, %72, %73, %74}"
#define TILEWRIGHT_CHAIN_72_A9 "{%75, %76, %77, %78}"
#define TILEWRIGHT_CHAIN_72_A10 "{%79, %80, %81, %82}"
#define TILEWRIGHT_CHAIN_72_A11 "{%83, %84, %85, %86}"
#define TILEWRIGHT_CHAIN_72_A12 "{%87, %88, %89, %90}"
#define TILEWRIGHT_CHAIN_72_A13 "{%91, %92, %93, %94}"
#define TILEWRIGHT_CHAIN_72_A14 "{%95, %96, %97, %98}"
#define TILEWRIGHT_CHAIN_72_A15 "{%99, %100, %101, %102}"
#if TILEWRIGHT_CHAIN_SHARED_COLUMNS == 72
#define TILEWRIGHT_CHAIN_SHARED(part) TILEWRIGHT_CHAIN_72_##part
#endif
#if TILEWRIGHT_CHAIN_REGISTER_COLUMNS == 72
#define TILEWRIGHT_CHAIN_REGISTER(part) TILEWRIGHT_CHAIN_72_##part
#endif
#endif
#if TILEWRIGHT_CHAIN_SHARED_COLUMNS == 80 || TILEWRIGHT_CHAIN_REGISTER_COLUMNS == 80
#define TILEWRIGHT_CHAIN_80_N "80"
#define TILEWRIGHT_CHAIN_80_D "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, %39}"
#define TILEWRIGHT_CHAIN_80_SUM(d) "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]), "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31]), "+f"(d[32]), "+f"(d[33]), "+f"(d[34]), "+f"(d[35]), "+f"(d[36]), "+f"(d[37]), "+f"(d[38]), "+f"(d[39])
#define TILEWRIGHT_CHAIN_80_OUT(d) "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3]), "=f"(d[4]), "=f"(d[5]), "=f"(d[6]), "=f"(d[7]), "=f"(d[8]), "=f"(d[9]), "=f"(d[10]), "=f"(d[11]), "=f"(d[12]), "=f"(d[13]), "=f"(d[14]), "=f"(d[15]), "=f"(d[16]), "=f"(d[17]), "=f"(d[18]), "=f"(d[19]), "=f"(d[20]), "=f"(d[21]), "=f"(d[22]), "=f"(d[23]), "=f"(d[24]), "=f"(d[25]), "=f"(d[26]), "=f"(d[27]), "=f"(d[28]), "=f"(d[29]), "=f"(d[30]), "=f"(d[31]), "=f"(d[32]), "=f"(d[33]), "=f"(d[34]), "=f"(d[35]), "=f"(d[36]), "=f"(d[37]), "=f"(d[38]), "=f"(d[39])
#define TILEWRIGHT_CHAIN_80_P0 "%40"
#define TILEWRIGHT_CHAIN_80_P1 "%41"
#define TILEWRIGHT_CHAIN_80_P2 "%42"
#define TILEWRIGHT_CHAIN_80_P3 "%43"
#define TILEWRIGHT_CHAIN_80_A0 "{%43, %44, %45, %46}"
#define TILEWRIGHT_CHAIN_80_A1 "{%47, %48, %49, %50}"
#define TILEWRIGHT_CHAIN_80_A2 "{%51, %52, %53, %54}"
#define TILEWRIGHT_CHAIN_80_A3 "{%55, %56, %57, %58}"
#define TILEWRIGHT_CHAIN_80_A4 "{%59, %60, %61, %62}"
#define TILEWRIGHT_CHAIN_80_A5 "{%63, %64, %65, %66}"
#define TILEWRIGHT_CHAIN_80_A6 "{%67, %68, %69, %70}"
#define TILEWRIGHT_CHAIN_80_A7 "{%71, %72, %73, %74}"
#define TILEWRIGHT_CHAIN_80_A8 "{%75, %76, %77, %78}"
#define TILEWRIGHT_CHAIN_80_A9 "{%79, %80, %81, %82}"
#define TILEWRIGHT_CHAIN_80_A10 "{%83, %84, %85, %86}"
#define TILEWRIGHT_CHAIN_80_A11 "{%87, %88, %89, %90}"
#define TILEWRIGHT_CHAIN_80_A12 "{%91, %92, %93, %94}"
#define TILEWRIGHT_CHAIN_80_A13 "{%95, %96, %97, %98}"
#define TILEWRIGHT_CHAIN_80_A14 "{%99, %100, %101, %102}"
#define TILEWRIGHT_CHAIN_80_A15 "{%103, %104, %105, %106}"
#if TILEWRIGHT_CHAIN_SHARED_COLUMNS == 80
#define TILEWRIGHT_CHAIN_SHARED(part) TILEWRIGHT_CHAIN_80_##part
#endif
#if TILEWRIGHT_CHAIN_REGISTER_COLUMNS == 80
#define TILEWRIGHT_CHAIN_REGISTER(part) TILEWRIGHT_CHAIN_80_##part
#endif
#endif
#if TILEWRIGHT_CHAIN_SHARED_COLUMNS == 88 || TILEWRIGHT_CHAIN_REGISTER_COLUMNS == 88
#define TILEWRIGHT_CHAIN_88_N "88"
#define TILEWRIGHT_CHAIN_88_D "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43}"
#define TILEWRIGHT_CHAIN_88_SUM(d) "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]), "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31]), "+f"(d[32]), "+f"(d[33]), "+f"(d[34]), "+f"(d[35]), "+f"(d[36]), "+f"(d[37]), "+f"(d[38]), "+f"(d[39]), "+f"(d[40]), "+f"(d[41]), "+f"(d[42]), "+f"(d[43])
#define TILEWRIGHT_CHAIN_88_OUT(d) "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3]), "=f"(d[4]), "=f"(d[5]), "=f"(d[6]), "=f"(d[7]), "=f"(d[8]), "=f"(d[9]), "=f"(d[10]), "=f"(d[11]), "=f"(d[12]), "=f"(d[13]), "=f"(d[14]), "=f"(d[15]), "=f"(d[16]), "=f"(d[17]), "=f"(d[18]), "=f"(d[19]), "=f"(d[20]), "=f"(d[21]), "=f"(d[22]), "=f"(d[23]), "=f"(d[24]), "=f"(d[25]), "=f"(d[26]), "=f"(d[27]), "=f"(d[28]), "=f"(d[29]), "=f"(d[30]), "=f"(d[31]), "=f"(d[32]), "=f"(d[33]), "=f"(d[34]), "=f"(d[35]), "=f"(d[36]), "=f"(d[37]), "=f"(d[38]), "=f"(d[39]), "=f"(d[40]), "=f"(d[41]), "=f"(d[42]), "=f"(d[43])
#define TILEWRIGHT_CHAIN_88_P0 "%44"
#define TILEWRIGHT_CHAIN_88_P1 "%45"
#define TILEWRIGHT_CHAIN_88_P2 "%46"
#define TILEWRIGHT_CHAIN_88_P3 "%47"
#define TILEWRIGHT_CHAIN_88_A0 "{%47, %48, %49, %50}"
#define TILEWRIGHT_CHAIN_88_A1 "{%51, %52, %53, %54}"
#define TILEWRIGHT_CHAIN_88_A2 "{%55, %56, %57, %58}"
#define TILEWRIGHT_CHAIN_88_A3 "{%59, %60, %61, %62}"
#define TILEWRIGHT_CHAIN_88_A4 "{%63, %64, %65, %66}"
#define TILEWRIGHT_CHAIN_88_A5 "{%67, %68, %69, %70}"
#define TILEWRIGHT_CHAIN_88_A6 "{%71, %72, %73, %74}"
#define TILEWRIGHT_CHAIN_88_A7 "{%75, %76, %77, %78}"
#define TILEWRIGHT_CHAIN_88_A8 "{%79, %80, %81, %82}"
#define TILEWRIGHT_CHAIN_88_A9 "{%83, %84, %85, %86}"
#define TILEWRIGHT_CHAIN_88_A10 "{%87, %88, %89, %90}"
#define TILEWRIGHT_CHAIN_88_A11 "{%91, %92, %93, %94}"
#define TILEWRIGHT_CHAIN_88_A12 "{%95, %96, %97, %98}"
#define TILEWRIGHT_CHAIN_88_A13 "{%99, %100, %101, %102}"
#define TILEWRIGHT_CHAIN_88_A14 "{%103, %104, %105, %106}"
#define TILEWRIGHT_CHAIN_88_A15 "{%107, %108, %109, %110}"
#if TILEWRIGHT_CHAIN_SHARED_COLUMNS == 88
#define TILEWRIGHT_CHAIN_SHARED(part) TILEWRIGHT_CHAIN_88_##part
#endif
#if TILEWRIGHT_CHAIN_REGISTER_COLUMNS == 88
#define TILEWRIGHT_CHAIN_REGISTER(part) TILEWRIGHT_CHAIN_88_##part
#endif
#endif
#if TILEWRIGHT_CHAIN_SHARED_COLUMNS == 96 || TILEWRIGHT_CHAIN_REGISTER_COLUMNS == 96
#define TILEWRIGHT_CHAIN_96_N "96"
#define TILEWRIGHT_CHAIN_96_D "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47}"
#define TILEWRIGHT_CHAIN_96_SUM(d) "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]), "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31]), "+f"(d[32]), "+f"(d[33]), "+f"(d[34]), "+f"(d[35]), "+f"(d[36]), "+f"(d[37]), "+f"(d[38]), "+f"(d[39]), "+f"(d[40]), "+f"(d[41]), "+f"(d[42]), "+f"(d[43]), "+f"(d[44]), "+f"(d[45]), "+f"(d[46]), "+f"(d[47])
#define TILEWRIGHT_CHAIN_96_OUT(d) "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3]), "=f"(d[4]), "=f"(d[5]), "=f"(d[6]), "=f"(d[7]), "=f"(d[8]), "=f"(d[9]), "=f"(d[10]), "=f"(d[11]), "=f"(d[12]), "=f"(d[13]), "=f"(d[14]), "=f"(d[15]), "=f"(d[16]), "=f"(d[17]), "=f"(d[18]), "=f"(d[19]), "=f"(d[20]), "=f"(d[21]), "=f"(d[22]), "=f"(d[23]), "=f"(d[24]), "=f"(d[25]), "=f"(d[26]), "=f"(d[27]), "=f"(d[28]), "=f"(d[29]), "=f"(d[30]), "=f"(d[31]), "=f"(d[32]), "=f"(d[33]), "=f"(d[34]), "=f"(d[35]), "=f"(d[36]), "=f"(d[37]), "=f"(d[38]), "=f"(d[39]), "=f"(d[40]), "=f"(d[41]), "=f"(d[42]), "=f"(d[43]), "=f"(d[44]), "=f"(d[45]), "=f"(d[46]), "=f"(d[47])
#define TILEWRIGHT_CHAIN_96_P0 "%48"
#define TILEWRIGHT_CHAIN_96_P1 "%49"
#define TILEWRIGHT_CHAIN_96_P2 "%50"
#define TILEWRIGHT_CHAIN_96_P3 "%51"
#define TILEWRIGHT_CHAIN_96_A0 "{%51, %52, %53, %54}"
#define TILEWRIGHT_CHAIN_96_A1 "{%55, %56, %57, %58}"
#define TILEWRIGHT_CHAIN_96_A2 "{%59, %60, %61, %62}"
#define TILEWRIGHT_CHAIN_96_A3 "{%63, %64, %65, %66}"
#define TILEWRIGHT_CHAIN_96_A4 "{%67, %68, %69, %70}"
#define TILEWRIGHT_CHAIN_96_A5 "{%71, %72, %73, %74}"
#define TILEWRIGHT_CHAIN_96_A6 "{%75, %76, %77, %78}"
#define TILEWRIGHT_CHAIN_96_A7 "{%79, %80, %81, %82}"
#define TILEWRIGHT_CHAIN_96_A8 "{%83, %84, %85, %86}"
#define TILEWRIGHT_CHAIN_96_A9 "{%87, %88, %89, %90}"
#define TILEWRIGHT_CHAIN_96_A10 "{%91, %92, %93, %94}"
#define TILEWRIGHT_CHAIN_96_A11 "{%95, %96, %97, %98}"
#define TILEWRIGHT_CHAIN_96_A12 "{%99, %100, %101, %102}"
#define TILEWRIGHT_CHAIN_96_A13 "{%103, %104, %105, %106}"
#define TILEWRIGHT_CHAIN_96_A14 "{%107, %108, %109, %110}"
#define TILEWRIGHT_CHAIN_96_A15 "{%111, %112, %113, %114}"
#if TILEWRIGHT_CHAIN_SHARED_COLUMNS == 96
#define TILEWRIGHT_CHAIN_SHARED(part) TILEWRIGHT_CHAIN_96_##part
#endif
#if TILEWRIGHT_CHAIN_REGISTER_COLUMNS == 96
#define TILEWRIGHT_CHAIN_REGISTER(part) TILEWRIGHT_CHAIN_96_##part
#endif
#endif
#if TILEWRIGHT_CHAIN_SHARED_COLUMNS == 104 || TILEWRIGHT_CHAIN_REGISTER_COLUMNS == 104
#define TILEWRIGHT_CHAIN_104_N "104"
#define TILEWRIGHT_CHAIN_104_D "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51}"
#define TILEWRIGHT_CHAIN_104_SUM(d) "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]), "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31]), "+f"(d[32]), "+f"(d[33]), "+f"(d[34]), "+f"(d[35]), "+f"(d[36]), "+f"(d[37]), "+f"(d[38]), "+f"(d[39]), "+f"(d[40]), "+f"(d[41]), "+f"(d[42]), "+f"(d[43]), "+f"(d[44]), "+f"(d[45]), "+f"(d[46]), "+f"(d[47]), "+f"(d[48]), "+f"(d[49]), "+f"(d[50]), "+f"(d[51])
#define TILEWRIGHT_CHAIN_104_OUT(d) "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3]), "=f"(d[4]), "=f"(d[5]), "=f"(d[6]), "=f"(d[7]), "=f"(d[8]), "=f"(d[9]), "=f"(d[10]), "=f"(d[11]), "=f"(d[12]), "=f"(d[13]), "=f"(d[14]), "=f"(d[15]), "=f"(d[16]), "=f"(d[17]), "=f"(d[18]), "=f"(d[19]), "=f"(d[20]), "=f"(d[21]), "=f"(d[22]), "=f"(d[23]), "=f"(d[24]), "=f"(d[25]), "=f"(d[26]), "=f"(d[27]), "=f"(d[28]), "=f"(d[29]), "=f"(d[30]), "=f"(d[31]), "=f"(d[32]), "=f"(d[33]), "=f"(d[34]), "=f"(d[35]), "=f"(d[36]), "=f"(d[37]), "=f"(d[38]), "=f"(d[39]), "=f"(d[40]), "=f"(d[41]), "=f"(d[42]), "=f"(d[43]), "=f"(d[44]), "=f"(d[45]), "=f"(d[46]), "=f"(d[47]), "=f"(d[48]), "=f"(d[49]), "=f"(d[50]), "=f"(d[51])
#define TILEWRIGHT_CHAIN_104_P0 "%52"
#define TILEWRIGHT_CHAIN_104_P1 "%53"
#define TILEWRIGHT_CHAIN_104_P2 "%54"
#define TILEWRIGHT_CHAIN_104_P3 "%55"
#define TILEWRIGHT_CHAIN_104_A0 "{%55, %56, %57, %58}"
#define TILEWRIGHT_CHAIN_104_A1 "{%59, %60, %61, %62}"
#define TILEWRIGHT_CHAIN_104_A2 "{%63, %64, %65, %66}"
#define TILEWRIGHT_CHAIN_104_A3 "{%67, %68, %69, %70}"
#define TILEWRIGHT_CHAIN_104_A4 "{%71, %72, %73, %74}"
#define TILEWRIGHT_CHAIN_104_A5 "{%75, %76, %77, %78}"
#define TILEWRIGHT_CHAIN_104_A6 "{%79, %80, %81, %82}"
#define TILEWRIGHT_CHAIN_104_A7 "{%83, %84, %85, %86}"
#define TILEWRIGHT_CHAIN_104_A8 "{%87, %88, %89, %90}"
#define TILEWRIGHT_CHAIN_104_A9 "{%91, %92, %93, %94}"
#define TILEWRIGHT_CHAIN_104_A10 "{%95, %96, %97, %98}"
#define TILEWRIGHT_CHAIN_104_A11 "{%99, %100, %101, %102}"
#define TILEWRIGHT_CHAIN_104_A12 "{%103, %104, %105, %106}"
#define TILEWRIGHT_CHAIN_104_A13 "{%107, %108, %109, %110}"
#define TILEWRIGHT_CHAIN_104_A14 "{%111, %112, %113, %114}"
#define TILEWRIGHT_CHAIN_104_A15 "{%115, %116, %117, %118}"
#if TILEWRIGHT_CHAIN_SHARED_COLUMNS == 104
#define TILEWRIGHT_CHAIN_SHARED(part) TILEWRIGHT_CHAIN_104_##part
#endif
#if TILEWRIGHT_CHAIN_REGISTER_COLUMNS == 104
#define TILEWRIGHT_CHAIN_REGISTER(part) TILEWRIGHT_CHAIN_104_##part
#endif
#endif
#if TILEWRIGHT_CHAIN_SHARED_COLUMNS == 112 || TILEWRIGHT_CHAIN_REGISTER_COLUMNS == 112
#define TILEWRIGHT_CHAIN_112_N "112"
#define TILEWRIGHT_CHAIN_112_D "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55}"
#define TILEWRIGHT_CHAIN_112_SUM(d) "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]), "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31]), "+f"(d[32]), "+f"(d[33]), "+f"(d[34]), "+f"(d[35]), "+f"(d[36]), "+f"(d[37]), "+f"(d[38]), "+f"(d[39]), "+f"(d[40]), "+f"(d[41]), "+f"(d[42]), "+f"(d[43]), "+f"(d[44]), "+f"(d[45]), "+f"(d[46]), "+f"(d[47]), "+f"(d[48]), "+f"(d[49]), "+f"(d[50]), "+f"(d[51]), "+f"(d[52]), "+f"(d[53]), "+f"(d[54]), "+f"(d[55])
#define TILEWRIGHT_CHAIN_112_OUT(d) "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3]), "=f"(d[4]), "=f"(d[5]), "=f"(d[6]), "=f"(d[7]), "=f"(d[8]), "=f"(d[9]), "=f"(d[10]), "=f"(d[11]), "=f"(d[12]), "=f"(d[13]), "=f"(d[14]), "=f"(d[15]), "=f"(d[16]), "=f"(d[17]), "=f"(d[18]), "=f"(d[19]), "=f"(d[20]), "=f"(d[21]), "=f"(d[22]), "=f"(d[23]), "=f"(d[24]), "=f"(d[25]), "=f"(d[26]), "=f"(d[27]), "=f"(d[28]), "=f"(d[29]), "=f"(d[30]), "=f"(d[31]), "=f"(d[32]), "=f"(d[33]), "=f"(d[34]), "=f"(d[35]), "=f"(d[36]), "=f"(d[37]), "=f"(d[38]), "=f"(d[39]), "=f"(d[40]), "=f"(d[41]), "=f"(d[42]), "=f"(d[43]), "=f"(d[44]), "=f"(d[45]), "=f"(d[46]), "=f"(d[47]), "=f"(d[48]), "=f"(d[49]), "=f"(d[50]), "=f"(d[51]), "=f"(d[52]), "=f"(d[53]), "=f"(d[54]), "=f"(d[55])
#define TILEWRIGHT_CHAIN_112_P0 "%56"
#define TILEWRIGHT_CHAIN_112_P1 "%57"
#define TILEWRIGHT_CHAIN_112_P2 "%58"
#define TILEWRIGHT_CHAIN_112_P3 "%59"
#define TILEWRIGHT_CHAIN_112_A0 "{%59, %60, %61, %62}"
#define TILEWRIGHT_CHAIN_112_A1 "{%63, %64, %65, %66}"
#define TILEWRIGHT_CHAIN_112_A2 "{%67, %68, %69, %70}"
#define TILEWRIGHT_CHAIN_112_A3 "{%71, %72, %73, %74}"
#define TILEWRIGHT_CHAIN_112_A4 "{%75, %76, %77, %78}"
#define TILEWRIGHT_CHAIN_112_A5 "{%79, %80, %81, %82}"
#define TILEWRIGHT_CHAIN_112_A6 "{%83, %84, %85, %86}"
#define TILEWRIGHT_CHAIN_112_A7 "{%87, %88, %89, %90}"
#define TILEWRIGHT_CHAIN_112_A8 "{%91, %92, %93, %94}"
#define TILEWRIGHT_CHAIN_112_A9 "{%95, %96, %97, %98}"
#define TILEWRIGHT_CHAIN_112_A10 "{%99, %100, %101, %102}"
#define TILEWRIGHT_CHAIN_112_A11 "{%103, %104, %105, %106}"
#define TILEWRIGHT_CHAIN_112_A12 "{%107, %108, %109, %110}"
#define TILEWRIGHT_CHAIN_112_A13 "{%111, %112, %113, %114}"
#define TILEWRIGHT_CHAIN_112_A14 "{%115, %116, %117, %118}"
#define TILEWRIGHT_CHAIN_112_A15 "{%119, %120, %121, %122}"
#if TILEWRIGHT_CHAIN_SHARED_COLUMNS == 112
#define TILEWRIGHT_CHAIN_SHARED(part) TILEWRIGHT_CHAIN_112_##part
#endif
#if TILEWRIGHT_CHAIN_REGISTER_COLUMNS == 112
#define TILEWRIGHT_CHAIN_REGISTER(part) TILEWRIGHT_CHAIN_112_##part
#endif
#endif
#if TILEWRIGHT_CHAIN_SHARED_COLUMNS == 120 || TILEWRIGHT_CHAIN_REGISTER_COLUMNS == 120
#define TILEWRIGHT_CHAIN_120_N "120"
#define TILEWRIGHT_CHAIN_120_D "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59}"
#define TILEWRIGHT_CHAIN_120_SUM(d) "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]), "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31]), "+f"(d[32]), "+f"(d[33]), "+f"(d[34]), "+f"(d[35]), "+f"(d[36]), "+f"(d[37]), "+f"(d[38]), "+f"(d[39]), "+f"(d[40]), "+f"(d[41]), "+f"(d[42]), "+f"(d[43]), "+f"(d[44]), "+f"(d[45]), "+f"(d[46]), "+f"(d[47]), "+f"(d[48]), "+f"(d[49]), "+f"(d[50]), "+f"(d[51]), "+f"(d[52]), "+f"(d[53]), "+f"(d[54]), "+f"(d[55]), "+f"(d[56]), "+f"(d[57]), "+f"(d[58]), "+f"(d[59])
#define TILEWRIGHT_CHAIN_120_OUT(d) "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3]), "=f"(d[4]), "=f"(d[5]), "=f"(d[6]), "=f"(d[7]), "=f"(d[8]), "=f"(d[9]), "=f"(d[10]), "=f"(d[11]), "=f"(d[12]), "=f"(d[13]), "=f"(d[14]), "=f"(d[15]), "=f"(d[16]), "=f"(d[17]), "=f"(d[18]), "=f"(d[19]), "=f"(d[20]), "=f"(d[21]), "=f"(d[22]), "=f"(d[23]), "=f"(d[24]), "=f"(d[25]), "=f"(d[26]), "=f"(d[27]), "=f"(d[28]), "=f"(d[29]), "=f"(d[30]), "=f"(d[31]), "=f"(d[32]), "=f"(d[33]), "=f"(d[34]), "=f"(d[35]), "=f"(d[36]), "=f"(d[37]), "=f"(d[38]), "=f"(d[39]), "=f"(d[40]), "=f"(d[41]), "=f"(d[42]), "=f"(d[43]), "=f"(d[44]), "=f"(d[45]), "=f"(d[46]), "=f"(d[47]), "=f"(d[48]), "=f"(d[49]), "=f"(d[50]), "=f"(d[51]), "=f"(d[52]), "=f"(d[53]), "=f"(d[54]), "=f"(d[55]), "=f"(d[56]), "=f"(d[57]), "=f"(d[58]), "=f"(d[59])
#define TILEWRIGHT_CHAIN_120_P0 "%60"
#define TILEWRIGHT_CHAIN_120_P1 "%61"
#define TILEWRIGHT_CHAIN_120_P2 "%62"
#define TILEWRIGHT_CHAIN_120_P3 "%63"
#define TILEWRIGHT_CHAIN_120_A0 "{%63, %64, %65, %66}"
#define TILEWRIGHT_CHAIN_120_A1 "{%67, %68, %69, %70}"
#define TILEWRIGHT_CHAIN_120_A2 "{%71, %72, %73, %74}"
#define TILEWRIGHT_CHAIN_120_A3 "{%75, %76, %77, %78}"
#define TILEWRIGHT_CHAIN_120_A4 "{%79, %80, %81, %82}"
#define TILEWRIGHT_CHAIN_120_A5 "{%83, %84, %85, %86}"
#define TILEWRIGHT_CHAIN_120_A6 "{%87, %88, %89, %90}"
#define TILEWRIGHT_CHAIN_120_A7 "{%91, %92, %93, %94}"
#define TILEWRIGHT_CHAIN_120_A8 "{%95, %96, %97, %98}"
#define TILEWRIGHT_CHAIN_120_A9 "{%99, %100, %101, %102}"
#define TILEWRIGHT_CHAIN_120_A10 "{%103, %104, %105, %106}"
#define TILEWRIGHT_CHAIN_120_A11 "{%107, %108, %109, %110}"
#define TILEWRIGHT_CHAIN_120_A12 "{%111, %112, %113, %114}"
#define TILEWRIGHT_CHAIN_120_A13 "{%115, %116, %117, %118}"
#define TILEWRIGHT_CHAIN_120_A14 "{%119, %120, %121, %122}"
#define TILEWRIGHT_CHAIN_120_A15 "{%123, %124, %125, %126}"
#if TILEWRIGHT_CHAIN_SHARED_COLUMNS == 120
#define TILEWRIGHT_CHAIN_SHARED(part) TILEWRIGHT_CHAIN_120_##part
#endif
#if TILEWRIGHT_CHAIN_REGISTER_COLUMNS == 120
#define TILEWRIGHT_CHAIN_REGISTER(part) TILEWRIGHT_CHAIN_120_##part
#endif
#endif
#if TILEWRIGHT_CHAIN_SHARED_COLUMNS == 128 || TILEWRIGHT_CHAIN_REGISTER_COLUMNS == 128
#define TILEWRIGHT_CHAIN_128_N "128"
#define TILEWRIGHT_CHAIN_128_D "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}"
#define TILEWRIGHT_CHAIN_128_SUM(d) "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]), "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31]), "+f"(d[32]), "+f"(d[33]), "+f"(d[34]), "+f"(d[35]), "+f"(d[36]), "+f"(d[37]), "+f"(d[38]), "+f"(d[39]), "+f"(d[40]), "+f"(d[41]), "+f"(d[42]), "+f"(d[43]), "+f"(d[44]), "+f"(d[45]), "+f"(d[46]), "+f"(d[47]), "+f"(d[48]), "+f"(d[49]), "+f"(d[50]), "+f"(d[51]), "+f"(d[52]), "+f"(d[53]), "+f"(d[54]), "+f"(d[55]), "+f"(d[56]), "+f"(d[57]), "+f"(d[58]), "+f"(d[59]), "+f"(d[60]), "+f"(d[61]), "+f"(d[62]), "+f"(d[63])
#define TILEWRIGHT_CHAIN_128_OUT(d) "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3]), "=f"(d[4]), "=f"(d[5]), "=f"(d[6]), "=f"(d[7]), "=f"(d[8]), "=f"(d[9]), "=f"(d[10]), "=f"(d[11]), "=f"(d[12]), "=f"(d[13]), "=f"(d[14]), "=f"(d[15]), "=f"(d[16]), "=f"(d[17]), "=f"(d[18]), "=f"(d[19]), "=f"(d[20]), "=f"(d[21]), "=f"(d[22]), "=f"(d[23]), "=f"(d[24]), "=f"(d[25]), "=f"(d[26]), "=f"(d[27]), "=f"(d[28]), "=f"(d[29]), "=f"(d[30]), "=f"(d[31]), "=f"(d[32]), "=f"(d[33]), "=f"(d[34]), "=f"(d[35]), "=f"(d[36]), "=f"(d[37]), "=f"(d[38]), "=f"(d[39]), "=f"(d[40]), "=f"(d[41]), "=f"(d[42]), "=f"(d[43]), "=f"(d[44]), "=f"(d[45]), "=f"(d[46]), "=f"(d[47]), "=f"(d[48]), "=f"(d[49]), "=f"(d[50]), "=f"(d[51]), "=f"(d[52]), "=f"(d[53]), "=f"(d[54]), "=f"(d[55]), "=f"(d[56]), "=f"(d[57]), "=f"(d[58]), "=f"(d[59]), "=f"(d[60]), "=f"(d[61]), "=f"(d[62]), "=f"(d[63])
#define TILEWRIGHT_CHAIN_128_P0 "%64"
#define TILEWRIGHT_CHAIN_128_P1 "%65"
#define TILEWRIGHT_CHAIN_128_P2 "%66"
#define TILEWRIGHT_CHAIN_128_P3 "%67"
#define TILEWRIGHT_CHAIN_128_A0 "{%67, %68, %69, %70}"
#define TILEWRIGHT_CHAIN_128_A1 "{%71, %72, %73, %74}"
#define TILEWRIGHT_CHAIN_128_A2 "{%75, %76, %77, %78}"
#define TILEWRIGHT_CHAIN_128_A3 "{%79, %80, %81, %82}"
#define TILEWRIGHT_CHAIN_128_A4 "{%83, %84, %85, %86}"
#define TILEWRIGHT_CHAIN_128_A5 "{%87, %88, %89, %90}"
#define TILEWRIGHT_CHAIN_128_A6 "{%91, %92, %93, %94}"
#define TILEWRIGHT_CHAIN_128_A7 "{%95, %96, %97, %98}"
#define TILEWRIGHT_CHAIN_128_A8 "{%99, %100, %101, %102}"
#define TILEWRIGHT_CHAIN_128_A9 "{%103, %104, %105, %106}"
#define TILEWRIGHT_CHAIN_128_A10 "{%107, %108, %109, %110}"
#define TILEWRIGHT_CHAIN_128_A11 "{%111, %112, %113, %114}"
#define TILEWRIGHT_CHAIN_128_A12 "{%115, %116, %117, %118}"
#define TILEWRIGHT_CHAIN_128_A13 "{%119, %120, %121, %122}"
#define TILEWRIGHT_CHAIN_128_A14 "{%123, %124, %125, %126}"
#define TILEWRIGHT_CHAIN_128_A15 "{%127, %128, %129, %130}"
#if TILEWRIGHT_CHAIN_SHARED_COLUMNS == 128
#define TILEWRIGHT_CHAIN_SHARED(part) TILEWRIGHT_CHAIN_128_##part
#endif
#if TILEWRIGHT_CHAIN_REGISTER_COLUMNS == 128
#define TILEWRIGHT_CHAIN_REGISTER(part) TILEWRIGHT_CHAIN_128_##part
#endif
#endif
#if TILEWRIGHT_CHAIN_SHARED_COLUMNS == 136 || TILEWRIGHT_CHAIN_REGISTER_COLUMNS == 136
#define TILEWRIGHT_CHAIN_136_N "136"
#define TILEWRIGHT_CHAIN_136_D "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, %64, %65, %66, %67}"
#define TILEWRIGHT_CHAIN_136_SUM(d) "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]), "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31]), "+f"(d[32]), "+f"(d[33]), "+f"(d[34]), "+f"(d[35]), "+f"(d[36]), "+f"(d[37]), "+f"(d[38]), "+f"(d[39]), "+f"(d[40]), "+f"(d[41]), "+f"(d[42]), "+f"(d[43]), "+f"(d[44]), "+f"(d[45]), "+f"(d[46]), "+f"(d[47]), "+f"(d[48]), "+f"(d[49]), "+f"(d[50]), "+f"(d[51]), "+f"(d[52]), "+f"(d[53]), "+f"(d[54]), "+f"(d[55]), "+f"(d[56]), "+f"(d[57]), "+f"(d[58]), "+f"(d[59]), "+f"(d[60]), "+f"(d[61]), "+f"(d[62]), "+f"(d[63]), "+f"(d[64]), "+f"(d[65]), "+f"(d[66]), "+f"(d[67])
#define TILEWRIGHT_CHAIN_136_OUT(d) "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3]), "=f"(d[4]), "=f"(d[5]), "=f"(d[6]), "=f"(d[7]), "=f"(d[8]), "=f"(d[9]), "=f"(d[10]), "=f"(d[11]), "=f"(d[12]), "=f"(d[13]), "=f"(d[14]), "=f"(d[15]), "=f"(d[16]), "=f"(d[17]), "=f"(d[18]), "=f"(d[19]), "=f"(d[20]), "=f"(d[21]), "=f"(d[22]), "=f"(d[23]), "=f"(d[24]), "=f"(d[25]), "=f"(d[26]), "=f"(d[27]), "=f"(d[28]), "=f"(d[29]), "=f"(d[30]), "=f"(d[31]), "=f"(d[32]), "=f"(d[33]), "=f"(d[34]), "=f"(d[35]), "=f"(d[36]), "=f"(d[37]), "=f"(d[38]), "=f"(d[39]), "=f"(d[40]), "=f"(d[41]), "=f"(d[42]), "=f"(d[43]), "=f"(d[44]), "=f"(d[45]), "=f"(d[46]), "=f"(d[47]), "=f"(d[48]), "=f"(d[49]), "=f"(d[50]), "=f"(d[51]), "=f"(d[52]), "=f"(d[53]), "=f"(d[54]), "=f"(d[55]), "=f"(d[56]), "=f"(d[57]), "=f"(d[58]), "=f"(d[59]), "=f"(d[60]), "=f"(d[61]), "=f"(d[62]), "=f"(d[63]), "=f"(d[64]), "=f"(d[65]), "=f"(d[66]), "=f"(d[67])
#define TILEWRIGHT_CHAIN_136_P0 "%68"
#define TILEWRIGHT_CHAIN_136_P1 "%69"
#define TILEWRIGHT_CHAIN_136_P2 "%70"
#define TILEWRIGHT_CHAIN_136_P3 "%71"
#define TILEWRIGHT_CHAIN_136_A0 "{%71, %72, %73, %74}"
#define TILEWRIGHT_CHAIN_136_A1 "{%75, %76, %77, %78}"
#define TILEWRIGHT_CHAIN_136_A2 "{%79, %80, %81, %82}"
#define TILEWRIGHT_CHAIN_136_A3 "{%83, %84, %85, %86}"
#define TILEWRIGHT_CHAIN_136_A4 "{%87, %88, %89, %90}"
#define TILEWRIGHT_CHAIN_136_A5 "{%91, %92, %93, %94}"
#define TILEWRIGHT_CHAIN_136_A6 "{%95, %96, %97, %98}"
#define TILEWRIGHT_CHAIN_136_A7 "{%99, %100, %101, %102}"
#define TILEWRIGHT_CHAIN_136_A8 "{%103, %104, %105, %106}"
#define TILEWRIGHT_CHAIN_136_A9 "{%107, %108, %109, %110}"
#define TILEWRIGHT_CHAIN_136_A10 "{%111, %112, %113, %114}"
#define TILEWRIGHT_CHAIN_136_A11 "{%115, %116, %117, %118}"
#define TILEWRIGHT_CHAIN_136_A12 "{%119, %120, %121, %122}"
#define TILEWRIGHT_CHAIN_136_A13 "{%123, %124, %125, %126}"
#define TILEWRIGHT_CHAIN_136_A14 "{%127, %128, %129, %130}"
#define TILEWRIGHT_CHAIN_136_A15 "{%131, %132, %133, %134}"
#if TILEWRIGHT_CHAIN_SHARED_COLUMNS == 136
#define TILEWRIGHT_CHAIN_SHARED(part) TILEWRIGHT_CHAIN_136_##part
#endif
#if TILEWRIGHT_CHAIN_REGISTER_COLUMNS == 136
#define TILEWRIGHT_CHAIN_REGISTER(part) TILEWRIGHT_CHAIN_136_##part
#endif
#endif
#if TILEWRIGHT_CHAIN_SHARED_COLUMNS == 144 || TILEWRIGHT_CHAIN_REGISTER_COLUMNS == 144
#define TILEWRIGHT_CHAIN_144_N "144"
#define TILEWRIGHT_CHAIN_144_D "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, %64, %65, %66, %67, %68, %69, %70, %71}"
#define TILEWRIGHT_CHAIN_144_SUM(d) "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]), "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31]), "+f"(d[32]), "+f"(d[33]), "+f"(d[34]), "+f"(d[35]), "+f"(d[36]), "+f"(d[37]), "+f"(d[38]), "+f"(d[39]), "+f"(d[40]), "+f"(d[41]), "+f"(d[42]), "+f"(d[43]), "+f"(d[44]), "+f"(d[45]), "+f"(d[46]), "+f"(d[47]), "+f"(d[48]), "+f"(d[49]), "+f"(d[50]), "+f"(d[51]), "+f"(d[52]), "+f"(d[53]), "+f"(d[54]), "+f"(d[55]), "+f"(d[56]), "+f"(d[57]), "+f"(d[58]), "+f"(d[59]), "+f"(d[60]), "+f"(d[61]), "+f"(d[62]), "+f"(d[63]), "+f"(d[64]), "+f"(d[65]), "+f"(d[66]), "+f"(d[67]), "+f"(d[68]), "+f"(d[69]), "+f"(d[70]), "+f"(d[71])
#define TILEWRIGHT_CHAIN_144_OUT(d) "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3]), "=f"(d[4]), "=f"(d[5]), "=f"(d[6]), "=f"(d[7]), "=f"(d[8]), "=f"(d[9]), "=f"(d[10]), "=f"(d[11]), "=f"(d[12]), "=f"(d[13]), "=f"(d[14]), "=f"(d[15]), "=f"(d[16]), "=f"(d[17]), "=f"(d[18]), "=f"(d[19]), "=f"(d[20]), "=f"(d[21]), "=f"(d[22]), "=f"(d[23]), "=f"(d[24]), "=f"(d[25]), "=f"(d[26]), "=f"(d[27]), "=f"(d[28]), "=f"(d[29]), "=f"(d[30]), "=f"(d[31]), "=f"(d[32]), "=f"(d[33]), "=f"(d[34]), "=f"(d[35]), "=f"(d[36]), "=f"(d[37]), "=f"(d[38]), "=f"(d[39]), "=f"(d[40]), "=f"(d[41]), "=f"(d[42]), "=f"(d[43]), "=f"(d[44]), "=f"(d[45]), "=f"(d[46]), "=f"(d[47]), "=f"(d[48]), "=f"(d[49]), "=f"(d[50]), "=f"(d[51]), "=f"(d[52]), "=f"(d[53]), "=f"(d[54]), "=f"(d[55]), "=f"(d[56]), "=f"(d[57]), "=f"(d[58]), "=f"(d[59]), "=f"(d[60]), "=f"(d[61]), "=f"(d[62]), "=f"(d[63]), "=f"(d[64]), "=f"(d[65]), "=f"(d[66]), "=f"(d[67]), "=f"(d[68]), "=f"(d[69]), "=f"(d[70]), "=f"(d[71])
#define TILEWRIGHT_CHAIN_144_P0 "%72"
#define TILEWRIGHT_CHAIN_144_P1 "%73"
#define TILEWRIGHT_CHAIN_144_P2 "%74"
#define TILEWRIGHT_CHAIN_144_P3 "%75"
#define TILEWRIGHT_CHAIN_144_A0 "{%75, %76, %77, %78}"
#define TILEWRIGHT_CHAIN_144_A1 "{%79, %80, %81, %82}"
#define TILEWRIGHT_CHAIN_144_A2 "{%83, %84, %85, %86}"
#define TILEWRIGHT_CHAIN_144_A3 "{%87, %88, %89, %90}"
#define TILEWRIGHT_CHAIN_144_A4 "{%91, %92, %93, %94}"
#define TILEWRIGHT_CHAIN_144_A5 "{%95, %96, %97, %98}"
#define TILEWRIGHT_CHAIN_144_A6 "{%99, %100, %101, %102}"
#define TILEWRIGHT_CHAIN_144_A7 "{%103, %104, %105, %106}"
#define TILEWRIGHT_CHAIN_144_A8 "{%107, %108, %109, %110}"
#define TILEWRIGHT_CHAIN_144_A9 "{%111, %112, %113, %114}"
#define TILEWRIGHT_CHAIN_144_A10 "{%115, %116, %117, %118}"
#define TILEWRIGHT_CHAIN_144_A11 "{%119, %120, %121, %122}"
#define TILEWRIGHT_CHAIN_144_A12 "{%123, %124, %125, %126}"
#define TILEWRIGHT_CHAIN_144_A13 "{%127, %128, %129, %130}"
#define TILEWRIGHT_CHAIN_144_A14 "{%131, %132, %133, %134}"
#define TILEWRIGHT_CHAIN_144_A15 "{%135, %136, %137, %138}"
#if TILEWRIGHT_CHAIN_SHARED_COLUMNS == 144
#define TILEWRIGHT_CHAIN_SHARED(part) TILEWRIGHT_CHAIN_144_##part
#endif
#if TILEWRIGHT_CHAIN_REGISTER_COLUMNS == 144
#define TILEWRIGHT_CHAIN_REGISTER(part) TILEWRIGHT_CHAIN_144_##part
#endif
#endif
#if TILEWRIGHT_CHAIN_SHARED_COLUMNS == 152 || TILEWRIGHT_CHAIN_REGISTER_COLUMNS == 152
#define TILEWRIGHT_CHAIN_152_N "152"
#define TILEWRIGHT_CHAIN_152_D "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, %64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75}"
#define TILEWRIGHT_CHAIN_152_SUM(d) "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]), "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31]), "+f"(d[32]), "+f"(d[33]), "+f"(d[34]), "+f"(d[35]), "+f"(d[36]), "+f"(d[37]), "+f"(d[38]), "+f"(d[39]), "+f"(d[40]), "+f"(d[41]), "+f"(d[42]), "+f"(d[43]), "+f"(d[44]), "+f"(d[45]), "+f"(d[46]), "+f"(d[47]), "+f"(d[48]), "+f"(d[49]), "+f"(d[50]), "+f"(d[51]), "+f"(d[52]), "+f"(d[53]), "+f"(d[54]), "+f"(d[55]), "+f"(d[56]), "+f"(d[57]), "+f"(d[58]), "+f"(d[59]), "+f"(d[60]), "+f"(d[61]), "+f"(d[62]), "+f"(d[63]), "+f"(d[64]), "+f"(d[65]), "+f"(d[66]), "+f"(d[67]), "+f"(d[68]), "+f"(d[69]), "+f"(d[70]), "+f"(d[71]), "+f"(d[72]), "+f"(d[73]), "+f"(d[74]), "+f"(d[75])
#define TILEWRIGHT_CHAIN_152_OUT(d) "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3]), "=f"(d[4]), "=f"(d[5]), "=f"(d[6]), "=f"(d[7]), "=f"(d[8]), "=f"(d[9]), "=f"(d[10]), "=f"(d[11]), "=f"(d[12]), "=f"(d[13]), "=f"(d[14]), "=f"(d[15]), "=f"(d[16]), "=f"(d[17]), "=f"(d[18]), "=f"(d[19]), "=f"(d[20]), "=f"(d[21]), "=f"(d[22]), "=f"(d[23]), "=f"(d[24]), "=f"(d[25]), "=f"(d[26]), "=f"(d[27]), "=f"(d[28]), "=f"(d[29]), "=f"(d[30]), "=f"(d[31]), "=f"(d[32]), "=f"(d[33]), "=f"(d[34]), "=f"(d[35]), "=f"(d[36]), "=f"(d[37]), "=f"(d[38]), "=f"(d[39]), "=f"(d[40]), "=f"(d[41]), "=f"(d[42]), "=f"(d[43]), "=f"(d[44]), "=f"(d[45]), "=f"(d[46]), "=f"(d[47]), "=f"(d[48]), "=f"(d[49]), "=f"(d[50]), "=f"(d[51]), "=f"(d[52]), "=f"(d[53]), "=f"(d[54]), "=f"(d[55]), "=f"(d[56]), "=f"(d[57]), "=f"(d[58]), "=f"(d[59]), "=f"(d[60]), "=f"(d[61]), "=f"(d[62]), "=f"(d[63]), "=f"(d[64]), "=f"(d[65]), "=f"(d[66]), "=f"(d[67]), "=f"(d[68]), "=f"(d[69]), "=f"(d[70]), "=f"(d[71]), "=f"(d[72]), "=f"(d[73]), "=f"(d[74]), "=f"(d[75])
#define TILEWRIGHT_CHAIN_152_P0 "%76"
#define TILEWRIGHT_CHAIN_152_P1 "%77"
#define TILEWRIGHT_CHAIN_152_P2 "%78"
#define TILEWRIGHT_CHAIN_152_P3 "%79"
#define TILEWRIGHT_CHAIN_152_A0 "{%79, %80, %81, %82}"
#define TILEWRIGHT_CHAIN_152_A1 "{%83, %84, %85, %86}"
#define TILEWRIGHT_CHAIN_152_A2 "{%87, %88, %89, %90}"
#define TILEWRIGHT_CHAIN_152_A3 "{%91, %92, %93, %94}"
#define TILEWRIGHT_CHAIN_152_A4 "{%95, %96, %97, %98}"
#define TILEWRIGHT_CHAIN_152_A5 "{%99, %100, %101, %102}"
#define TILEWRIGHT_CHAIN_152_A6 "{%103, %104, %105, %106}"
#define TILEWRIGHT_CHAIN_152_A7 "{%107, %108, %109, %110}"
#define TILEWRIGHT_CHAIN_152_A8 "{%111, %112, %113, %114}"
#define TILEWRIGHT_CHAIN_152_A9 "{%115, %116, %117, %118}"
#define TILEWRIGHT_CHAIN_152_A10 "{%119, %120, %121, %122}"
#define TILEWRIGHT_CHAIN_152_A11 "{%123, %124, %125, %126}"
#define TILEWRIGHT_CHAIN_152_A12 "{%127, %128, %129, %130}"
#define TILEWRIGHT_CHAIN_152_A13 "{%131, %132, %133, %134}"
#define TILEWRIGHT_CHAIN_152_A14 "{%135, %136, %137, %138}"
#define TILEWRIGHT_CHAIN_152_A15 "{%139, %140, %141, %142}"
#if TILEWRIGHT_CHAIN_SHARED_COLUMNS == 152
#define TILEWRIGHT_CHAIN_SHARED(part) TILEWRIGHT_CHAIN_152_##part
#endif
#if TILEWRIGHT_CHAIN_REGISTER_COLUMNS == 152
#define TILEWRIGHT_CHAIN_REGISTER(part) TILEWRIGHT_CHAIN_152_##part
#endif
#endif
#if TILEWRIGHT_CHAIN_SHARED_COLUMNS == 160 || TILEWRIGHT_CHAIN_REGISTER_COLUMNS == 160
#define TILEWRIGHT_CHAIN_160_N "160"
#define TILEWRIGHT_CHAIN_160_D "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, %64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79}"
#define TILEWRIGHT_CHAIN_160_SUM(d) "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]), "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31]), "+f"(d[32]), "+f"(d[33]), "+f"(d[34]), "+f"(d[35]), "+f"(d[36]), "+f"(d[37]), "+f"(d[38]), "+f"(d[39]), "+f"(d[40]), "+f"(d[41]), "+f"(d[42]), "+f"(d[43]), "+f"(d[44]), "+f"(d[45]), "+f"(d[46]), "+f"(d[47]), "+f"(d[48]), "+f"(d[49]), "+f"(d[50]), "+f"(d[51]), "+f"(d[52]), "+f"(d[53]), "+f"(d[54]), "+f"(d[55]), "+f"(d[56]), "+f"(d[57]), "+f"(d[58]), "+f"(d[59]), "+f"(d[60]), "+f"(d[61]), "+f"(d[62]), "+f"(d[63]), "+f"(d[64]), "+f"(d[65]), "+f"(d[66]), "+f"(d[67]), "+f"(d[68]), "+f"(d[69]), "+f"(d[70]), "+f"(d[71]), "+f"(d[72]), "+f"(d[73]), "+f"(d[74]), "+f"(d[75]), "+f"(d[76]), "+f"(d[77]), "+f"(d[78]), "+f"(d[79])
#define TILEWRIGHT_CHAIN_160_OUT(d) "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3]), "=f"(d[4]), "=f"(d[5]), "=f"(d[6]), "=f"(d[7]), "=f"(d[8]), "=f"(d[9]), "=f"(d[10]), "=f"(d[11]), "=f"(d[12]), "=f"(d[13]), "=f"(d[14]), "=f"(d[15]), "=f"(d[16]), "=f"(d[17]), "=f"(d[18]), "=f"(d[19]), "=f"(d[20]), "=f"(d[21]), "=f"(d[22]), "=f"(d[23]), "=f"(d[24]), "=f"(d[25]), "=f"(d[26]), "=f"(d[27]), "=f"(d[28]), "=f"(d[29]), "=f"(d[30]), "=f"(d[31]), "=f"(d[32]), "=f"(d[33]), "=f"(d[34]), "=f"(d[35]), "=f"(d[36]), "=f"(d[37]), "=f"(d[38]), "=f"(d[39]), "=f"(d[40]), "=f"(d[41]), "=f"(d[42]), "=f"(d[43]), "=f"(d[44]), "=f"(d[45]), "=f"(d[46]), "=f"(d[47]), "=f"(d[48]), "=f"(d[49]), "=f"(d[50]), "=f"(d[51]), "=f"(d[52]), "=f"(d[53]), "=f"(d[54]), "=f"(d[55]), "=f"(d[56]), "=f"(d[57]), "=f"(d[58]), "=f"(d[59]), "=f"(d[60]), "=f"(d[61]), "=f"(d[62]), "=f"(d[63]), "=f"(d[64]), "=f"(d[65]), "=f"(d[66]), "=f"(d[67]), "=f"(d[68]), "=f"(d[69]), "=f"(d[70]), "=f"(d[71]), "=f"(d[72]), "=f"(d[73]), "=f"(d[74]), "=f"(d[75]), "=f"(d[76]), "=f"(d[77]), "=f"(d[78]), "=f"(d[79])
#define TILEWRIGHT_CHAIN_160_P0 "%80"
#define TILEWRIGHT_CHAIN_160_P1 "%81"
#define TILEWRIGHT_CHAIN_160_P2 "%82"
#define TILEWRIGHT_CHAIN_160_P3 "%83"
#define TILEWRIGHT_CHAIN_160_A0 "{%83, %84, %85, %86}"
#define TILEWRIGHT_CHAIN_160_A1 "{%87, %88, %89, %90}"
#define TILEWRIGHT_CHAIN_160_A2 "{%91, %92, %93, %94}"
#define TILEWRIGHT_CHAIN_160_A3 "{%95, %96, %97, %98}"
#define TILEWRIGHT_CHAIN_160_A4 "{%99, %100, %101, %102}"
#define TILEWRIGHT_CHAIN_160_A5 "{%103, %104, %105, %106}"
#define TILEWRIGHT_CHAIN_160_A6 "{%107, %108, %109, %110}"
#define TILEWRIGHT_CHAIN_160_A7 "{%111, %112, %113, %114}"
#define TILEWRIGHT_CHAIN_160_A8 "{%115, %116, %117, %118}"
#define TILEWRIGHT_CHAIN_160_A9 "{%119, %120, %121, %122}"
#define TILEWRIGHT_CHAIN_160_A10 "{%123, %124, %125, %126}"
#define TILEWRIGHT_CHAIN_160_A11 "{%127, %128, %129, %130}"
#define TILEWRIGHT_CHAIN_160_A12 "{%131, %132, %133, %134}"
#define TILEWRIGHT_CHAIN_160_A13 "{%135, %136, %137, %138}"
#define TILEWRIGHT_CHAIN_160_A14 "{%139, %140, %141, %142}"
#define TILEWRIGHT_CHAIN_160_A15 "{%143, %144, %145, %146}"
#if TILEWRIGHT_CHAIN_SHARED_COLUMNS == 160
#define TILEWRIGHT_CHAIN_SHARED(part) TILEWRIGHT_CHAIN_160_##part
#endif
#if TILEWRIGHT_CHAIN_REGISTER_COLUMNS == 160
#define TILEWRIGHT_CHAIN_REGISTER(part) TILEWRIGHT_CHAIN_160_##part
#endif
#endif
#if TILEWRIGHT_CHAIN_SHARED_COLUMNS == 168 || TILEWRIGHT_CHAIN_REGISTER_COLUMNS == 168
#define TILEWRIGHT_CHAIN_168_N "168"
#define TILEWRIGHT_CHAIN_168_D "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, %64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, %80, %81, %82, %83}"
#define TILEWRIGHT_CHAIN_168_SUM(d) "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]), "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31]), "+f"(d[32]), "+f"(d[33]), "+f"(d[34]), "+f"(d[35]), "+f"(d[36]), "+f"(d[37]), "+f"(d[38]), "+f"(d[39]), "+f"(d[40]), "+f"(d[41]), "+f"(d[42]), "+f"(d[43]), "+f"(d[44]), "+f"(d[45]), "+f"(d[46]), "+f"(d[47]), "+f"(d[48]), "+f"(d[49]), "+f"(d[50]), "+f"(d[51]), "+f"(d[52]), "+f"(d[53]), "+f"(d[54]), "+f"(d[55]), "+f"(d[56]), "+f"(d[57]), "+f"(d[58]), "+f"(d[59]), "+f"(d[60]), "+f"(d[61]), "+f"(d[62]), "+f"(d[63]), "+f"(d[64]), "+f"(d[65]), "+f"(d[66]), "+f"(d[67]), "+f"(d[68]), "+f"(d[69]), "+f"(d[70]), "+f"(d[71]), "+f"(d[72]), "+f"(d[73]), "+f"(d[74]), "+f"(d[75]), "+f"(d[76]), "+f"(d[77]), "+f"(d[78]), "+f"(d[79]), "+f"(d[80]), "+f"(d[81]), "+f"(d[82]), "+f"(d[83])
#define TILEWRIGHT_CHAIN_168_OUT(d) "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3]), "=f"(d[4]), "=f"(d[5]), "=f"(d[6]), "=f"(d[7]), "=f"(d[8]), "=f"(d[9]), "=f"(d[10]), "=f"(d[11]), "=f"(d[12]), "=f"(d[13]), "=f"(d[14]), "=f"(d[15]), "=f"(d[16]), "=f"(d[17]), "=f"(d[18]), "=f"(d[19]), "=f"(d[20]), "=f"(d[21]), "=f"(d[22]), "=f"(d[23]), "=f"(d[24]), "=f"(d[25]), "=f"(d[26]), "=f"(d[27]), "=f"(d[28]), "=f"(d[29]), "=f"(d[30]), "=f"(d[31]), "=f"(d[32]), "=f"(d[33]), "=f"(d[34]), "=f"(d[35]), "=f"(d[36]), "=f"(d[37]), "=f"(d[38]), "=f"(d[39]), "=f"(d[40]), "=f"(d[41]), "=f"(d[42]), "=f"(d[43]), "=f"(d[44]), "=f"(d[45]), "=f"(d[46]), "=f"(d[47]), "=f"(d[48]), "=f"(d[49]), "=f"(d[50]), "=f"(d[51]), "=f"(d[52]), "=f"(d[53]), "=f"(d[54]), "=f"(d[55]), "=f"(d[56]), "=f"(d[57]), "=f"(d[58]), "=f"(d[59]), "=f"(d[60]), "=f"(d[61]), "=f"(d[62]), "=f"(d[63]), "=f"(d[64]), "=f"(d[65]), "=f"(d[66]), "=f"(d[67]), "=f"(d[68]), "=f"(d[69]), "=f"(d[70]), "=f"(d[71]), "=f"(d[72]), "=f"(d[73]), "=f"(d[74]), "=f"(d[75]), "=f"(d[76]), "=f"(d[77]), "=f"(d[78]), "=f"(d[79]), "=f"(d[80]), "=f"(d[81]), "=f"(d[82]), "=f"(d[83])
#define TILEWRIGHT_CHAIN_168_P0 "%84"
#define TILEWRIGHT_CHAIN_168_P1 "%85"
#define TILEWRIGHT_CHAIN_168_P2 "%86"
#define TILEWRIGHT_CHAIN_168_P3 "%87"
#define TILEWRIGHT_CHAIN_168_A0 "{%87, %88, %89, %90}"
#define TILEWRIGHT_CHAIN_168_A1 "{%91, %92, %93, %94}"
#define TILEWRIGHT_CHAIN_168_A2 "{%95, %96, %97, %98}"
#define TILEWRIGHT_CHAIN_168_A3 "{%99, %100, %101, %102}"
#define TILEWRIGHT_CHAIN_168_A4 "{%103, %104, %105, %106}"
#define TILEWRIGHT_CHAIN_168_A5 "{%107, %108, %109, %110}"
#define TILEWRIGHT_CHAIN_168_A6 "{%111, %112, %113, %114}"
#define TILEWRIGHT_CHAIN_168_A7 "{%115, %116, %117, %118}"
#define TILEWRIGHT_CHAIN_168_A8 "{%119, %120, %121, %122}"
#define TILEWRIGHT_CHAIN_168_A9 "{%123, %124, %125, %126}"
#define TILEWRIGHT_CHAIN_168_A10 "{%127, %128, %129, %130}"
#define TILEWRIGHT_CHAIN_168_A11 "{%131, %132, %133, %134}"
#define TILEWRIGHT_CHAIN_168_A12 "{%135, %136, %137, %138}"
#define TILEWRIGHT_CHAIN_168_A13 "{%139, %140, %141, %142}"
#define TILEWRIGHT_CHAIN_168_A14 "{%143, %144, %145, %146}"
#define TILEWRIGHT_CHAIN_168_A15 "{%147, %148, %149, %150}"
#if TILEWRIGHT_CHAIN_SHARED_COLUMNS == 168
#define TILEWRIGHT_CHAIN_SHARED(part) TILEWRIGHT_CHAIN_168_##part
#endif
#if TILEWRIGHT_CHAIN_REGISTER_COLUMNS == 168
#define TILEWRIGHT_CHAIN_REGISTER(part) TILEWRIGHT_CHAIN_168_##part
#endif
#endif
#if TILEWRIGHT_CHAIN_SHARED_COLUMNS == 176 || TILEWRIGHT_CHAIN_REGISTER_COLUMNS == 176
#define TILEWRIGHT_CHAIN_176_N "176"
#define TILEWRIGHT_CHAIN_176_D "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, %64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, %80, %81, %82, %83, %84, %85, %86, %87}"
#define TILEWRIGHT_CHAIN_176_SUM(d) "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]), "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31]), "+f"(d[32]), "+f"(d[33]), "+f"(d[34]), "+f"(d[35]), "+f"(d[36]), "+f"(d[37]), "+f"(d[38]), "+f"(d[39]), "+f"(d[40]), "+f"(d[41]), "+f"(d[42]), "+f"(d[43]), "+f"(d[44]), "+f"(d[45]), "+f"(d[46]), "+f"(d[47]), "+f"(d[48]), "+f"(d[49]), "+f"(d[50]), "+f"(d[51]), "+f"(d[52]), "+f"(d[53]), "+f"(d[54]), "+f"(d[55]), "+f"(d[56]), "+f"(d[57]), "+f"(d[58]), "+f"(d[59]), "+f"(d[60]), "+f"(d[61]), "+f"(d[62]), "+f"(d[63]), "+f"(d[64]), "+f"(d[65]), "+f"(d[66]), "+f"(d[67]), "+f"(d[68]), "+f"(d[69]), "+f"(d[70]), "+f"(d[71]), "+f"(d[72]), "+f"(d[73]), "+f"(d[74]), "+f"(d[75]), "+f"(d[76]), "+f"(d[77]), "+f"(d[78]), "+f"(d[79]), "+f"(d[80]), "+f"(d[81]), "+f"(d[82]), "+f"(d[83]), "+f"(d[84]), "+f"(d[85]), "+f"(d[86]), "+f"(d[87])
#define TILEWRIGHT_CHAIN_176_OUT(d) "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3]), "=f"(d[4]), "=f"(d[5]), "=f"(d[6]), "=f"(d[7]), "=f"(d[8]), "=f"(d[9]), "=f"(d[10]), "=f"(d[11]), "=f"(d[12]), "=f"(d[13]), "=f"(d[14]), "=f"(d[15]), "=f"(d[16]), "=f"(d[17]), "=f"(d[18]), "=f"(d[19]), "=f"(d[20]), "=f"(d[21]), "=f"(d[22]), "=f"(d[23]), "=f"(d[24]), "=f"(d[25]), "=f"(d[26]), "=f"(d[27]), "=f"(d[28]), "=f"(d[29]), "=f"(d[30]), "=f"(d[31]), "=f"(d[32]), "=f"(d[33]), "=f"(d[34]), "=f"(d[35]), "=f"(d[36]), "=f"(d[37]), "=f"(d[38]), "=f"(d[39]), "=f"(d[40]), "=f"(d[41]), "=f"(d[42]), "=f"(d[43]), "=f"(d[44]), "=f"(d[45]), "=f"(d[46]), "=f"(d[47]), "=f"(d[48]), "=f"(d[49]), "=f"(d[50]), "=f"(d[51]), "=f"(d[52]), "=f"(d[53]), "=f"(d[54]), "=f"(d[55]), "=f"(d[56]), "=f"(d[57]), "=f"(d[58]), "=f"(d[59]), "=f"(d[60]), "=f"(d[61]), "=f"(d[62]), "=f"(d[63]), "=f"(d[64]), "=f"(d[65]), "=f"(d[66]), "=f"(d[67]), "=f"(d[68]), "=f"(d[69]), "=f"(d[70]), "=f"(d[71]), "=f"(d[72]), "=f"(d[73]), "=f"(d[74]), "=f"(d[75]), "=f"(d[76]), "=f"(d[77]), "=f"(d[78]), "=f"(d[79]), "=f"(d[80]), "=f"(d[81]), "=f"(d[82]), "=f"(d[83]), "=f"(d[84]), "=f"(d[85]), "=f"(d[86]), "=f"(d[87])
#define TILEWRIGHT_CHAIN_176_P0 "%88"
#define TILEWRIGHT_CHAIN_176_P1 "%89"
#define TILEWRIGHT_CHAIN_176_P2 "%90"
#define TILEWRIGHT_CHAIN_176_P3 "%91"
#define TILEWRIGHT_CHAIN_176_A0 "{%91, %92, %93, %94}"
#define TILEWRIGHT_CHAIN_176_A1 "{%95, %96, %97, %98}"
#define TILEWRIGHT_CHAIN_176_A2 "{%99, %100, %101, %102}"
#define TILEWRIGHT_CHAIN_176_A3 "{%103, %104, %105, %106}"
#define TILEWRIGHT_CHAIN_176_A4 "{%107, %108, %109, %110}"
#define TILEWRIGHT_CHAIN_176_A5 "{%111, %112, %113, %114}"
#define TILEWRIGHT_CHAIN_176_A6 "{%115, %116, %117, %118}"
#define TILEWRIGHT_CHAIN_176_A7 "{%119, %120, %121, %122}"
#define TILEWRIGHT_CHAIN_176_A8 "{%123, %124, %125, %126}"
#define TILEWRIGHT_CHAIN_176_A9 "{%127, %128, %129, %130}"
#define TILEWRIGHT_CHAIN_176_A10 "{%131, %132, %133, %134}"
#define TILEWRIGHT_CHAIN_176_A11 "{%135, %136, %137, %138}"
#define TILEWRIGHT_CHAIN_176_A12 "{%139, %140, %141, %142}"
#define TILEWRIGHT_CHAIN_176_A13 "{%143, %144, %145, %146}"
#define TILEWRIGHT_CHAIN_176_A14 "{%147, %148, %149, %150}"
#define TILEWRIGHT_CHAIN_176_A15 "{%151, %152, %153, %154}"
#if TILEWRIGHT_CHAIN_SHARED_COLUMNS == 176
#define TILEWRIGHT_CHAIN_SHARED(part) TILEWRIGHT_CHAIN_176_##part
#endif
#if TILEWRIGHT_CHAIN_REGISTER_COLUMNS == 176
#define TILEWRIGHT_CHAIN_REGISTER(part) TILEWRIGHT_CHAIN_176_##part
#endif
#endif
#if TILEWRIGHT_CHAIN_SHARED_COLUMNS == 184 || TILEWRIGHT_CHAIN_REGISTER_COLUMNS == 184
#define TILEWRIGHT_CHAIN_184_N "184"
#define TILEWRIGHT_CHAIN_184_D "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, %64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, %80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91}"
#define TILEWRIGHT_CHAIN_184_SUM(d) "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]), "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31]), "+f"(d[32]), "+f"(d[33]), "+f"(d[34]), "+f"(d[35]), "+f"(d[36]), "+f"(d[37]), "+f"(d[38]), "+f"(d[39]), "+f"(d[40]), "+f"(d[41]), "+f"(d[42]), "+f"(d[43]), "+f"(d[44]), "+f"(d[45]), "+f"(d[46]), "+f"(d[47]), "+f"(d[48]), "+f"(d[49]), "+f"(d[50]), "+f"(d[51]), "+f"(d[52]), "+f"(d[53]), "+f"(d[54]), "+f"(d[55]), "+f"(d[56]), "+f"(d[57]), "+f"(d[58]), "+f"(d[59]), "+f"(d[60]), "+f"(d[61]), "+f"(d[62]), "+f"(d[63]), "+f"(d[64]), "+f"(d[65]), "+f"(d[66]), "+f"(d[67]), "+f"(d[68]), "+f"(d[69]), "+f"(d[70]), "+f"(d[71]), "+f"(d[72]), "+f"(d[73]), "+f"(d[74]), "+f"(d[75]), "+f"(d[76]), "+f"(d[77]), "+f"(d[78]), "+f"(d[79]), "+f"(d[80]), "+f"(d[81]), "+f"(d[82]), "+f"(d[83]), "+f"(d[84]), "+f"(d[85]), "+f"(d[86]), "+f"(d[87]), "+f"(d[88]), "+f"(d[89]), "+f"(d[90]), "+f"(d[91])
#define TILEWRIGHT_CHAIN_184_OUT(d) "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3]), "=f"(d[4]), "=f"(d[5]), "=f"(d[6]), "=f"(d[7]), "=f"(d[8]), "=f"(d[9]), "=f"(d[10]), "=f"(d[11]), "=f"(d[12]), "=f"(d[13]), "=f"(d[14]), "=f"(d[15]), "=f"(d[16]), "=f"(d[17]), "=f"(d[18]), "=f"(d[19]), "=f"(d[20]), "=f"(d[21]), "=f"(d[22]), "=f"(d[23]), "=f"(d[24]), "=f"(d[25]), "=f"(d[26]), "=f"(d[27]), "=f"(d[28]), "=f"(d[29]), "=f"(d[30]), "=f"(d[31]), "=f"(d[32]), "=f"(d[33]), "=f"(d[34]), "=f"(d[35]), "=f"(d[36]), "=f"(d[37]), "=f"(d[38]), "=f"(d[39]), "=f"(d[40]), "=f"(d[41]), "=f"(d[42]), "=f"(d[43]), "=f"(d[44]), "=f"(d[45]), "=f"(d[46]), "=f"(d[47]), "=f"(d[48]), "=f"(d[49]), "=f"(d[50]), "=f"(d[51]), "=f"(d[52]), "=f"(d[53]), "=f"(d[54]), "=f"(d[55]), "=f"(d[56]), "=f"(d[57]), "=f"(d[58]), "=f"(d[59]), "=f"(d[60]), "=f"(d[61]), "=f"(d[62]), "=f"(d[63]), "=f"(d[64]), "=f"(d[65]), "=f"(d[66]), "=f"(d[67]), "=f"(d[68]), "=f"(d[69]), "=f"(d[70]), "=f"(d[71]), "=f"(d[72]), "=f"(d[73]), "=f"(d[74]), "=f"(d[75]), "=f"(d[76]), "=f"(d[77]), "=f"(d[78]), "=f"(d[79]), "=f"(d[80]), "=f"(d[81]), "=f"(d[82]), "=f"(d[83]), "=f"(d[84]), "=f"(d[85]), "=f"(d[86]), "=f"(d[87]), "=f"(d[88]), "=f"(d[89]), "=f"(d[90]), "=f"(d[91])
#define TILEWRIGHT_CHAIN_184_P0 "%92"
#define TILEWRIGHT_CHAIN_184_P1 "%93"
#define TILEWRIGHT_CHAIN_184_P2 "%94"
#define TILEWRIGHT_CHAIN_184_P3 "%95"
#define TILEWRIGHT_CHAIN_184_A0 "{%95, %96, %97, %98}"
#define TILEWRIGHT_CHAIN_184_A1 "{%99, %100, %101, %102}"
#define TILEWRIGHT_CHAIN_184_A2 "{%103, %104, %105, %106}"
#define TILEWRIGHT_CHAIN_184_A3 "{%107, %108, %109, %110}"
#define TILEWRIGHT_CHAIN_184_A4 "{%111, %112, %113, %114}"
#define TILEWRIGHT_CHAIN_184_A5 "{%115, %116, %117, %118}"
#define TILEWRIGHT_CHAIN_184_A6 "{%119, %120, %121, %122}"
#define TILEWRIGHT_CHAIN_184_A7 "{%123, %124, %125, %126}"
#define TILEWRIGHT_CHAIN_184_A8 "{%127, %128, %129, %130}"
#define TILEWRIGHT_CHAIN_184_A9 "{%131, %132, %133, %134}"
#define TILEWRIGHT_CHAIN_184_A10 "{%135, %136, %137, %138}"
#define TILEWRIGHT_CHAIN_184_A11 "{%139, %140, %141, %142}"
#define TILEWRIGHT_CHAIN_184_A12 "{%143, %144, %145, %146}"
#define TILEWRIGHT_CHAIN_184_A13 "{%147, %148, %149, %150}"
#define TILEWRIGHT_CHAIN_184_A14 "{%151, %152, %153, %154}"
#define TILEWRIGHT_CHAIN_184_A15 "{%155, %156, %157, %158}"
#if TILEWRIGHT_CHAIN_SHARED_COLUMNS == 184
#define TILEWRIGHT_CHAIN_SHARED(part) TILEWRIGHT_CHAIN_184_##part
#endif
#if TILEWRIGHT_CHAIN_REGISTER_COLUMNS == 184
#define TILEWRIGHT_CHAIN_REGISTER(part) TILEWRIGHT_CHAIN_184_##part
#endif
#endif
#if TILEWRIGHT_CHAIN_SHARED_COLUMNS == 192 || TILEWRIGHT_CHAIN_REGISTER_COLUMNS == 192
#define TILEWRIGHT_CHAIN_192_N "192"
#define TILEWRIGHT_CHAIN_192_D "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, %64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, %80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95}"
#define TILEWRIGHT_CHAIN_192_SUM(d) "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]), "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31]), "+f"(d[32]), "+f"(d[33]), "+f"(d[34]), "+f"(d[35]), "+f"(d[36]), "+f"(d[37]), "+f"(d[38]), "+f"(d[39]), "+f"(d[40]), "+f"(d[41]), "+f"(d[42]), "+f"(d[43]), "+f"(d[44]), "+f"(d[45]), "+f"(d[46]), "+f"(d[47]), "+f"(d[48]), "+f"(d[49]), "+f"(d[50]), "+f"(d[51]), "+f"(d[52]), "+f"(d[53]), "+f"(d[54]), "+f"(d[55]), "+f"(d[56]), "+f"(d[57]), "+f"(d[58]), "+f"(d[59]), "+f"(d[60]), "+f"(d[61]), "+f"(d[62]), "+f"(d[63]), "+f"(d[64]), "+f"(d[65]), "+f"(d[66]), "+f"(d[67]), "+f"(d[68]), "+f"(d[69]), "+f"(d[70]), "+f"(d[71]), "+f"(d[72]), "+f"(d[73]), "+f"(d[74]), "+f"(d[75]), "+f"(d[76]), "+f"(d[77]), "+f"(d[78]), "+f"(d[79]), "+f"(d[80]), "+f"(d[81]), "+f"(d[82]), "+f"(d[83]), "+f"(d[84]), "+f"(d[85]), "+f"(d[86]), "+f"(d[87]), "+f"(d[88]), "+f"(d[89]), "+f"(d[90]), "+f"(d[91]), "+f"(d[92]), "+f"(d[93]), "+f"(d[94]), "+f"(d[95])
#define TILEWRIGHT_CHAIN_192_OUT(d) "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3]), "=f"(d[4]), "=f"(d[5]), "=f"(d[6]), "=f"(d[7]), "=f"(d[8]), "=f"(d[9]), "=f"(d[10]), "=f"(d[11]), "=f"(d[12]), "=f"(d[13]), "=f"(d[14]), "=f"(d[15]), "=f"(d[16]), "=f"(d[17]), "=f"(d[18]), "=f"(d[19]), "=f"(d[20]), "=f"(d[21]), "=f"(d[22]), "=f"(d[23]), "=f"(d[24]), "=f"(d[25]), "=f"(d[26]), "=f"(d[27]), "=f"(d[28]), "=f"(d[29]), "=f"(d[30]), "=f"(d[31]), "=f"(d[32]), "=f"(d[33]), "=f"(d[34]), "=f"(d[35]), "=f"(d[36]), "=f"(d[37]), "=f"(d[38]), "=f"(d[39]), "=f"(d[40]), "=f"(d[41]), "=f"(d[42]), "=f"(d[43]), "=f"(d[44]), "=f"(d[45]), "=f"(d[46]), "=f"(d[47]), "=f"(d[48]), "=f"(d[49]), "=f"(d[50]), "=f"(d[51]), "=f"(d[52]), "=f"(d[53]), "=f"(d[54]), "=f"(d[55]), "=f"(d[56]), "=f"(d[57]), "=f"(d[58]), "=f"(d[59]), "=f"(d[60]), "=f"(d[61]), "=f"(d[62]), "=f"(d[63]), "=f"(d[64]), "=f"(d[65]), "=f"(d[66]), "=f"(d[67]), "=f"(d[68]), "=f"(d[69]), "=f"(d[70]), "=f"(d[71]), "=f"(d[72]), "=f"(d[73]), "=f"(d[74]), "=f"(d[75]), "=f"(d[76]), "=f"(d[77]), "=f"(d[78]), "=f"(d[79]), "=f"(d[80]), "=f"(d[81]), "=f"(d[82]), "=f"(d[83]), "=f"(d[84]), "=f"(d[85]), "=f"(d[86]), "=f"(d[87]), "=f"(d[88]), "=f"(d[89]), "=f"(d[90]), "=f"(d[91]), "=f"(d[92]), "=f"(d[93]), "=f"(d[94]), "=f"(d[95])
#define TILEWRIGHT_CHAIN_192_P0 "%96"
#define TILEWRIGHT_CHAIN_192_P1 "%97"
#define TILEWRIGHT_CHAIN_192_P2 "%98"
#define TILEWRIGHT_CHAIN_192_P3 "%99"
#define TILEWRIGHT_CHAIN_192_A0 "{%99, %100, %101, %102}"
#define TILEWRIGHT_CHAIN_192_A1 "{%103, %104, %105, %106}"
#define TILEWRIGHT_CHAIN_192_A2 "{%107, %108, %109, %110}"
#define TILEWRIGHT_CHAIN_192_A3 "{%111, %112, %113, %114}"
#define TILEWRIGHT_CHAIN_192_A4 "{%115, %116, %117, %118}"
#define TILEWRIGHT_CHAIN_192_A5 "{%119, %120, %121, %122}"
#define TILEWRIGHT_CHAIN_192_A6 "{%123, %124, %125, %126}"
#define TILEWRIGHT_CHAIN_192_A7 "{%127, %128, %129, %130}"
#define TILEWRIGHT_CHAIN_192_A8 "{%131, %132, %133, %134}"
#define TILEWRIGHT_CHAIN_192_A9 "{%135, %136, %137, %138}"
#define TILEWRIGHT_CHAIN_192_A10 "{%139, %140, %141, %142}"
#define TILEWRIGHT_CHAIN_192_A11 "{%143, %144, %145, %146}"
#define TILEWRIGHT_CHAIN_192_A12 "{%147, %148, %149, %150}"
#define TILEWRIGHT_CHAIN_192_A13 "{%151, %152, %153, %154}"
#define TILEWRIGHT_CHAIN_192_A14 "{%155, %156, %157, %158}"
#define TILEWRIGHT_CHAIN_192_A15 "{%159, %160, %161, %162}"
#if TILEWRIGHT_CHAIN_SHARED_COLUMNS == 192
#define TILEWRIGHT_CHAIN_SHARED(part) TILEWRIGHT_CHAIN_192_##part
#endif
#if TILEWRIGHT_CHAIN_REGISTER_COLUMNS == 192
#define TILEWRIGHT_CHAIN_REGISTER(part) TILEWRIGHT_CHAIN_192_##part
#endif
#endif
#if TILEWRIGHT_CHAIN_SHARED_COLUMNS == 200 || TILEWRIGHT_CHAIN_REGISTER_COLUMNS == 200
#define TILEWRIGHT_CHAIN_200_N "200"
#define TILEWRIGHT_CHAIN_200_D "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, %64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, %80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, %96, %97, %98, %99}"
#define TILEWRIGHT_CHAIN_200_SUM(d) "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]), "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31]), "+f"(d[32]), "+f"(d[33]), "+f"(d[34]), "+f"(d[35]), "+f"(d[36]), "+f"(d[37]), "+f"(d[38]), "+f"(d[39]), "+f"(d[40]), "+f"(d[41]), "+f"(d[42]), "+f"(d[43]), "+f"(d[44]), "+f"(d[45]), "+f"(d[46]), "+f"(d[47]), "+f"(d[48]), "+f"(d[49]), "+f"(d[50]), "+f"(d[51]), "+f"(d[52]), "+f"(d[53]), "+f"(d[54]), "+f"(d[55]), "+f"(d[56]), "+f"(d[57]), "+f"(d[58]), "+f"(d[59]), "+f"(d[60]), "+f"(d[61]), "+f"(d[62]), "+f"(d[63]), "+f"(d[64]), "+f"(d[65]), "+f"(d[66]), "+f"(d[67]), "+f"(d[68]), "+f"(d[69]), "+f"(d[70]), "+f"(d[71]), "+f"(d[72]), "+f"(d[73]), "+f"(d[74]), "+f"(d[75]), "+f"(d[76]), "+f"(d[77]), "+f"(d[78]), "+f"(d[79]), "+f"(d[80]), "+f"(d[81]), "+f"(d[82]), "+f"(d[83]), "+f"(d[84]), "+f"(d[85]), "+f"(d[86]), "+f"(d[87]), "+f"(d[88]), "+f"(d[89]), "+f"(d[90]), "+f"(d[91]), "+f"(d[92]), "+f"(d[93]), "+f"(d[94]), "+f"(d[95]), "+f"(d[96]), "+f"(d[97]), "+f"(d[98]), "+f"(d[99])
#define TILEWRIGHT_CHAIN_200_OUT(d) "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3]), "=f"(d[4]), "=f"(d[5]), "=f"(d[6]), "=f"(d[7]), "=f"(d[8]), "=f"(d[9]), "=f"(d[10]), "=f"(d[11]), "=f"(d[12]), "=f"(d[13]), "=f"(d[14]), "=f"(d[15]), "=f"(d[16]), "=f"(d[17]), "=f"(d[18]), "=f"(d[19]), "=f"(d[20]), "=f"(d[21]), "=f"(d[22]), "=f"(d[23]), "=f"(d[24]), "=f"(d[25]), "=f"(d[26]), "=f"(d[27]), "=f"(d[28]), "=f"(d[29]), "=f"(d[30]), "=f"(d[31]), "=f"(d[32]), "=f"(d[33]), "=f"(d[34]), "=f"(d[35]), "=f"(d[36]), "=f"(d[37]), "=f"(d[38]), "=f"(d[39]), "=f"(d[40]), "=f"(d[41]), "=f"(d[42]), "=f"(d[43]), "=f"(d[44]), "=f"(d[45]), "=f"(d[46]), "=f"(d[47]), "=f"(d[48]), "=f"(d[49]), "=f"(d[50]), "=f"(d[51]), "=f"(d[52]), "=f"(d[53]), "=f"(d[54]), "=f"(d[55]), "=f"(d[56]), "=f"(d[57]), "=f"(d[58]), "=f"(d[59]), "=f"(d[60]), "=f"(d[61]), "=f"(d[62]), "=f"(d[63]), "=f"(d[64]), "=f"(d[65]), "=f"(d[66]), "=f"(d[67]), "=f"(d[68]), "=f"(d[69]), "=f"(d[70]), "=f"(d[71]), "=f"(d[72]), "=f"(d[73]), "=f"(d[74]), "=f"(d[75]), "=f"(d[76]), "=f"(d[77]), "=f"(d[78]), "=f"(d[79]), "=f"(d[80]), "=f"(d[81]), "=f"(d[82]), "=f"(d[83]), "=f"(d[84]), "=f"(d[85]), "=f"(d[86]), "=f"(d[87]), "=f"(d[88]), "=f"(d[89]), "=f"(d[90]), "=f"(d[91]), "=f"(d[92]), "=f"(d[93]), "=f"(d[94]), "=f"(d[95]), "=f"(d[96]), "=f"(d[97]), "=f"(d[98]), "=f"(d[99])
#define TILEWRIGHT_CHAIN_200_P0 "%100"
#define TILEWRIGHT_CHAIN_200_P1 "%101"
#define TILEWRIGHT_CHAIN_200_P2 "%102"
#define TILEWRIGHT_CHAIN_200_P3 "%103"
#define TILEWRIGHT_CHAIN_200_A0 "{%103, %104, %105, %106}"
#define TILEWRIGHT_CHAIN_200_A1 "{%107, %108, %109, %110}"
#define TILEWRIGHT_CHAIN_200_A2 "{%111, %112, %113, %114}"
#define TILEWRIGHT_CHAIN_200_A3 "{%115, %116, %117, %118}"
#define TILEWRIGHT_CHAIN_200_A4 "{%119, %120, %121, %122}"
#define TILEWRIGHT_CHAIN_200_A5 "{%123, %124, %125, %126}"
#define TILEWRIGHT_CHAIN_200_A6 "{%127, %128, %129, %130}"
#define TILEWRIGHT_CHAIN_200_A7 "{%131, %132, %133, %134}"
#define TILEWRIGHT_CHAIN_200_A8 "{%135, %136, %137, %138}"
#define TILEWRIGHT_CHAIN_200_A9 "{%139, %140, %141, %142}"
#define TILEWRIGHT_CHAIN_200_A10 "{%143, %144, %145, %146}"
#define TILEWRIGHT_CHAIN_200_A11 "{%147, %148, %149, %150}"
#define TILEWRIGHT_CHAIN_200_A12 "{%151, %152, %153, %154}"
#define TILEWRIGHT_CHAIN_200_A13 "{%155, %156, %157, %158}"
#define TILEWRIGHT_CHAIN_200_A14 "{%159, %160, %161, %162}"
#define TILEWRIGHT_CHAIN_200_A15 "{%163, %164, %165, %166}"
#if TILEWRIGHT_CHAIN_SHARED_COLUMNS == 200
#define TILEWRIGHT_CHAIN_SHARED(part) TILEWRIGHT_CHAIN_200_##part
#endif
#if TILEWRIGHT_CHAIN_REGISTER_COLUMNS == 200
#define TILEWRIGHT_CHAIN_REGISTER(part) TILEWRIGHT_CHAIN_200_##part
#endif
#endif
#if TILEWRIGHT_CHAIN_SHARED_COLUMNS == 208 || TILEWRIGHT_CHAIN_REGISTER_COLUMNS == 208
#define TILEWRIGHT_CHAIN_208_N "208"
#define TILEWRIGHT_CHAIN_208_D "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, %64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, %80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, %96, %97, %98, %99, %100, %101, %102, %103}"
#define TILEWRIGHT_CHAIN_208_SUM(d) "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]), "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31]), "+f"(d[32]), "+f"(d[33]), "+f"(d[34]), "+f"(d[35]), "+f"(d[36]), "+f"(d[37]), "+f"(d[38]), "+f"(d[39]), "+f"(d[40]), "+f"(d[41]), "+f"(d[42]), "+f"(d[43]), "+f"(d[44]), "+f"(d[45]), "+f"(d[46]), "+f"(d[47]), "+f"(d[48]), "+f"(d[49]), "+f"(d[50]), "+f"(d[51]), "+f"(d[52]), "+f"(d[53]), "+f"(d[54]), "+f"(d[55]), "+f"(d[56]), "+f"(d[57]), "+f"(d[58]), "+f"(d[59]), "+f"(d[60]), "+f"(d[61]), "+f"(d[62]), "+f"(d[63]), "+f"(d[64]), "+f"(d[65]), "+f"(d[66]), "+f"(d[67]), "+f"(d[68]), "+f"(d[69]), "+f"(d[70]), "+f"(d[71]), "+f"(d[72]), "+f"(d[73]), "+f"(d[74]), "+f"(d[75]), "+f"(d[76]), "+f"(d[77]), "+f"(d[78]), "+f"(d[79]), "+f"(d[80]), "+f"(d[81]), "+f"(d[82]), "+f"(d[83]), "+f"(d[84]), "+f"(d[85]), "+f"(d[86]), "+f"(d[87]), "+f"(d[88]), "+f"(d[89]), "+f"(d[90]), "+f"(d[91]), "+f"(d[92]), "+f"(d[93]), "+f"(d[94]), "+f"(d[95]), "+f"(d[96]), "+f"(d[97]), "+f"(d[98]), "+f"(d[99]), "+f"(d[100]), "+f"(d[101]), "+f"(d[102]), "+f"(d[103])
#define TILEWRIGHT_CHAIN_208_OUT(d) "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3]), "=f"(d[4]), "=f"(d[5]), "=f"(d[6]), "=f"(d[7]), "=f"(d[8]), "=f"(d[9]), "=f"(d[10]), "=f"(d[11]), "=f"(d[12]), "=f"(d[13]), "=f"(d[14]), "=f"(d[15]), "=f"(d[16]), "=f"(d[17]), "=f"(d[18]), "=f"(d[19]), "=f"(d[20]), "=f"(d[21]), "=f"(d[22]), "=f"(d[23]), "=f"(d[24]), "=f"(d[25]), "=f"(d[26]), "=f"(d[27]), "=f"(d[28]), "=f"(d[29]), "=f"(d[30]), "=f"(d[31]), "=f"(d[32]), "=f"(d[33]), "=f"(d[34]), "=f"(d[35]), "=f"(d[36]), "=f"(d[37]), "=f"(d[38]), "=f"(d[39]), "=f"(d[40]), "=f"(d[41]), "=f"(d[42]), "=f"(d[43]), "=f"(d[44]), "=f"(d[45]), "=f"(d[46]), "=f"(d[47]), "=f"(d[48]), "=f"(d[49]), "=f"(d[50]), "=f"(d[51]), "=f"(d[52]), "=f"(d[53]), "=f"(d[54]), "=f"(d[55]), "=f"(d[56]), "=f"(d[57]), "=f"(d[58]), "=f"(d[59]), "=f"(d[60]), "=f"(d[61]), "=f"(d[62]), "=f"(d[63]), "=f"(d[64]), "=f"(d[65]), "=f"(d[66]), "=f"(d[67]), "=f"(d[68]), "=f"(d[69]), "=f"(d[70]), "=f"(d[71]), "=f"(d[72]), "=f"(d[73]), "=f"(d[74]), "=f"(d[75]), "=f"(d[76]), "=f"(d[77]), "=f"(d[78]), "=f"(d[79]), "=f"(d[80]), "=f"(d[81]), "=f"(d[82]), "=f"(d[83]), "=f"(d[84]), "=f"(d[85]), "=f"(d[86]), "=f"(d[87]), "=f"(d[88]), "=f"(d[89]), "=f"(d[90]), "=f"(d[91]), "=f"(d[92]), "=f"(d[93]), "=f"(d[94]), "=f"(d[95]), "=f"(d[96]), "=f"(d[97]), "=f"(d[98]), "=f"(d[99]), "=f"(d[100]), "=f"(d[101]), "=f"(d[102]), "=f"(d[103])
#define TILEWRIGHT_CHAIN_208_P0 "%104"
#define TILEWRIGHT_CHAIN_208_P1 "%105"
#define TILEWRIGHT_CHAIN_208_P2 "%106"
#define TILEWRIGHT_CHAIN_208_P3 "%107"
#define TILEWRIGHT_CHAIN_208_A0 "{%107, %108, %109, %110}"
#define TILEWRIGHT_CHAIN_208_A1 "{%111, %112, %113, %114}"
#define TILEWRIGHT_CHAIN_208_A2 "{%115, %116, %117, %118}"
#define TILEWRIGHT_CHAIN_208_A3 "{%119, %120, %121, %122}"
#define TILEWRIGHT_CHAIN_208_A4 "{%123, %124, %125, %126}"
#define TILEWRIGHT_CHAIN_208_A5 "{%127, %128, %129, %130}"
#define TILEWRIGHT_CHAIN_208_A6 "{%131, %132, %133, %134}"
#define TILEWRIGHT_CHAIN_208_A7 "{%135, %136, %137, %138}"
#define TILEWRIGHT_CHAIN_208_A8 "{%139, %140, %141, %142}"
#define TILEWRIGHT_CHAIN_208_A9 "{%143, %144, %145, %146}"
#define TILEWRIGHT_CHAIN_208_A10 "{%147, %148, %149, %150}"
#define TILEWRIGHT_CHAIN_208_A11 "{%151, %152, %153, %154}"
#define TILEWRIGHT_CHAIN_208_A12 "{%155, %156, %157, %158}"
#define TILEWRIGHT_CHAIN_208_A13 "{%159, %160, %161, %162}"
#define TILEWRIGHT_CHAIN_208_A14 "{%163, %164, %165, %166}"
#define TILEWRIGHT_CHAIN_208_A15 "{%167, %168, %169, %170}"
#if TILEWRIGHT_CHAIN_SHARED_COLUMNS == 208
#define TILEWRIGHT_CHAIN_SHARED(part) TILEWRIGHT_CHAIN_208_##part
#endif
#if TILEWRIGHT_CHAIN_REGISTER_COLUMNS == 208
#define TILEWRIGHT_CHAIN_REGISTER(part) TILEWRIGHT_CHAIN_208_##part
#endif
#endif
#if TILEWRIGHT_CHAIN_SHARED_COLUMNS == 216 || TILEWRIGHT_CHAIN_REGISTER_COLUMNS == 216
#define TILEWRIGHT_CHAIN_216_N "216"
#define TILEWRIGHT_CHAIN_216_D "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, %64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, %80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, %96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107}"
#define TILEWRIGHT_CHAIN_216_SUM(d) "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]), "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31]), "+f"(d[32]), "+f"(d[33]), "+f"(d[34]), "+f"(d[35]), "+f"(d[36]), "+f"(d[37]), "+f"(d[38]), "+f"(d[39]), "+f"(d[40]), "+f"(d[41]), "+f"(d[42]), "+f"(d[43]), "+f"(d[44]), "+f"(d[45]), "+f"(d[46]), "+f"(d[47]), "+f"(d[48]), "+f"(d[49]), "+f"(d[50]), "+f"(d[51]), "+f"(d[52]), "+f"(d[53]), "+f"(d[54]), "+f"(d[55]), "+f"(d[56]), "+f"(d[57]), "+f"(d[58]), "+f"(d[59]), "+f"(d[60]), "+f"(d[61]), "+f"(d[62]), "+f"(d[63]), "+f"(d[64]), "+f"(d[65]), "+f"(d[66]), "+f"(d[67]), "+f"(d[68]), "+f"(d[69]), "+f"(d[70]), "+f"(d[71]), "+f"(d[72]), "+f"(d[73]), "+f"(d[74]), "+f"(d[75]), "+f"(d[76]), "+f"(d[77]), "+f"(d[78]), "+f"(d[79]), "+f"(d[80]), "+f"(d[81]), "+f"(d[82]), "+f"(d[83]), "+f"(d[84]), "+f"(d[85]), "+f"(d[86]), "+f"(d[87]), "+f"(d[88]), "+f"(d[89]), "+f"(d[90]), "+f"(d[91]), "+f"(d[92]), "+f"(d[93]), "+f"(d[94]), "+f"(d[95]), "+f"(d[96]), "+f"(d[97]), "+f"(d[98]), "+f"(d[99]), "+f"(d[100]), "+f"(d[101]), "+f"(d[102]), "+f"(d[103]), "+f"(d[104]), "+f"(d[105]), "+f"(d[106]), "+f"(d[107])
#define TILEWRIGHT_CHAIN_216_OUT(d) "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3]), "=f"(d[4]), "=f"(d[5]), "=f"(d[6]), "=f"(d[7]), "=f"(d[8]), "=f"(d[9]), "=f"(d[10]), "=f"(d[11]), "=f"(d[12]), "=f"(d[13]), "=f"(d[14]), "=f"(d[15]), "=f"(d[16]), "=f"(d[17]), "=f"(d[18]), "=f"(d[19]), "=f"(d[20]), "=f"(d[21]), "=f"(d[22]), "=f"(d[23]), "=f"(d[24]), "=f"(d[25]), "=f"(d[26]), "=f"(d[27]), "=f"(d[28]), "=f"(d[29]), "=f"(d[30]), "=f"(d[31]), "=f"(d[32]), "=f"(d[33]), "=f"(d[34]), "=f"(d[35]), "=f"(d[36]), "=f"(d[37]), "=f"(d[38]), "=f"(d[39]), "=f"(d[40]), "=f"(d[41]), "=f"(d[42]), "=f"(d[43]), "=f"(d[44]), "=f"(d[45]), "=f"(d[46]), "=f"(d[47]), "=f"(d[48]), "=f"(d[49]), "=f"(d[50]), "=f"(d[51]), "=f"(d[52]), "=f"(d[53]), "=f"(d[54]), "=f"(d[55]), "=f"(d[56]), "=f"(d[57]), "=f"(d[58]), "=f"(d[59]), "=f"(d[60]), "=f"(d[61]), "=f"(d[62]), "=f"(d[63]), "=f"(d[64]), "=f"(d[65]), "=f"(d[66]), "=f"(d[67]), "=f"(d[68]), "=f"(d[69]), "=f"(d[70]), "=f"(d[71]), "=f"(d[72]), "=f"(d[73]), "=f"(d[74]), "=f"(d[75]), "=f"(d[76]), "=f"(d[77]), "=f"(d[78]), "=f"(d[79]), "=f"(d[80]), "=f"(d[81]), "=f"(d[82]), "=f"(d[83]), "=f"(d[84]), "=f"(d[85]), "=f"(d[86]), "=f"(d[87]), "=f"(d[88]), "=f"(d[89]), "=f"(d[90]), "=f"(d[91]), "=f"(d[92]), "=f"(d[93]), "=f"(d[94]), "=f"(d[95]), "=f"(d[96]), "=f"(d[97]), "=f"(d[98]), "=f"(d[99]), "=f"(d[100]), "=f"(d[101]), "=f"(d[102]), "=f"(d[103]), "=f"(d[104]), "=f"(d[105]), "=f"(d[106]), "=f"(d[107])
#define TILEWRIGHT_CHAIN_216_P0 "%108"
#define TILEWRIGHT_CHAIN_216_P1 "%109"
#define TILEWRIGHT_CHAIN_216_P2 "%110"
#define TILEWRIGHT_CHAIN_216_P3 "%111"
#define TILEWRIGHT_CHAIN_216_A0 "{%111, %112, %113, %114}"
#define TILEWRIGHT_CHAIN_216_A1 "{%115, %116, %117, %118}"
#define TILEWRIGHT_CHAIN_216_A2 "{%119, %120, %121, %122}"
#define TILEWRIGHT_CHAIN_216_A3 "{%123, %124, %125, %126}"
#define TILEWRIGHT_CHAIN_216_A4 "{%127, %128, %129, %130}"
#define TILEWRIGHT_CHAIN_216_A5 "{%131, %132, %133, %134}"
#define TILEWRIGHT_CHAIN_216_A6 "{%135, %136, %137, %138}"
#define TILEWRIGHT_CHAIN_216_A7 "{%139, %140, %141, %142}"
#define TILEWRIGHT_CHAIN_216_A8 "{%143, %144, %145, %146}"
#define TILEWRIGHT_CHAIN_216_A9 "{%147, %148, %149, %150}"
#define TILEWRIGHT_CHAIN_216_A10 "{%151, %152, %153, %154}"
#define TILEWRIGHT_CHAIN_216_A11 "{%155, %156, %157, %158}"
#define TILEWRIGHT_CHAIN_216_A12 "{%159, %160, %161, %162}"
#define TILEWRIGHT_CHAIN_216_A13 "{%163, %164, %165, %166}"
#define TILEWRIGHT_CHAIN_216_A14 "{%167, %168, %169, %170}"
#define TILEWRIGHT_CHAIN_216_A15 "{%171, %172, %173, %174}"
#if TILEWRIGHT_CHAIN_SHARED_COLUMNS == 216
#define TILEWRIGHT_CHAIN_SHARED(part) TILEWRIGHT_CHAIN_216_##part
#endif
#if TILEWRIGHT_CHAIN_REGISTER_COLUMNS == 216
#define TILEWRIGHT_CHAIN_REGISTER(part) TILEWRIGHT_CHAIN_216_##part
#endif
#endif
#if TILEWRIGHT_CHAIN_SHARED_COLUMNS == 224 || TILEWRIGHT_CHAIN_REGISTER_COLUMNS == 224
#define TILEWRIGHT_CHAIN_224_N "224"
#define TILEWRIGHT_CHAIN_224_D "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, %64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, %80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, %96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111}"
#define TILEWRIGHT_CHAIN_224_SUM(d) "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]), "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31]), "+f"(d[32]), "+f"(d[33]), "+f"(d[34]), "+f"(d[35]), "+f"(d[36]), "+f"(d[37]), "+f"(d[38]), "+f"(d[39]), "+f"(d[40]), "+f"(d[41]), "+f"(d[42]), "+f"(d[43]), "+f"(d[44]), "+f"(d[45]), "+f"(d[46]), "+f"(d[47]), "+f"(d[48]), "+f"(d[49]), "+f"(d[50]), "+f"(d[51]), "+f"(d[52]), "+f"(d[53]), "+f"(d[54]), "+f"(d[55]), "+f"(d[56]), "+f"(d[57]), "+f"(d[58]), "+f"(d[59]), "+f"(d[60]), "+f"(d[61]), "+f"(d[62]), "+f"(d[63]), "+f"(d[64]), "+f"(d[65]), "+f"(d[66]), "+f"(d[67]), "+f"(d[68]), "+f"(d[69]), "+f"(d[70]), "+f"(d[71]), "+f"(d[72]), "+f"(d[73]), "+f"(d[74]), "+f"(d[75]), "+f"(d[76]), "+f"(d[77]), "+f"(d[78]), "+f"(d[79]), "+f"(d[80]), "+f"(d[81]), "+f"(d[82]), "+f"(d[83]), "+f"(d[84]), "+f"(d[85]), "+f"(d[86]), "+f"(d[87]), "+f"(d[88]), "+f"(d[89]), "+f"(d[90]), "+f"(d[91]), "+f"(d[92]), "+f"(d[93]), "+f"(d[94]), "+f"(d[95]), "+f"(d[96]), "+f"(d[97]), "+f"(d[98]), "+f"(d[99]), "+f"(d[100]), "+f"(d[101]), "+f"(d[102]), "+f"(d[103]), "+f"(d[104]), "+f"(d[105]), "+f"(d[106]), "+f"(d[107]), "+f"(d[108]), "+f"(d[109]), "+f"(d[110]), "+f"(d[111])
#define TILEWRIGHT_CHAIN_224_OUT(d) "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3]), "=f"(d[4]), "=f"(d[5]), "=f"(d[6]), "=f"(d[7]), "=f"(d[8]), "=f"(d[9]), "=f"(d[10]), "=f"(d[11]), "=f"(d[12]), "=f"(d[13]), "=f"(d[14]), "=f"(d[15]), "=f"(d[16]), "=f"(d[17]), "=f"(d[18]), "=f"(d[19]), "=f"(d[20]), "=f"(d[21]), "=f"(d[22]), "=f"(d[23]), "=f"(d[24]), "=f"(d[25]), "=f"(d[26]), "=f"(d[27]), "=f"(d[28]), "=f"(d[29]), "=f"(d[30]), "=f"(d[31]), "=f"(d[32]), "=f"(d[33]), "=f"(d[34]), "=f"(d[35]), "=f"(d[36]), "=f"(d[37]), "=f"(d[38]), "=f"(d[39]), "=f"(d[40]), "=f"(d[41]), "=f"(d[42]), "=f"(d[43]), "=f"(d[44]), "=f"(d[45]), "=f"(d[46]), "=f"(d[47]), "=f"(d[48]), "=f"(d[49]), "=f"(d[50]), "=f"(d[51]), "=f"(d[52]), "=f"(d[53]), "=f"(d[54]), "=f"(d[55]), "=f"(d[56]), "=f"(d[57]), "=f"(d[58]), "=f"(d[59]), "=f"(d[60]), "=f"(d[61]), "=f"(d[62]), "=f"(d[63]), "=f"(d[64]), "=f"(d[65]), "=f"(d[66]), "=f"(d[67]), "=f"(d[68]), "=f"(d[69]), "=f"(d[70]), "=f"(d[71]), "=f"(d[72]), "=f"(d[73]), "=f"(d[74]), "=f"(d[75]), "=f"(d[76]), "=f"(d[77]), "=f"(d[78]), "=f"(d[79]), "=f"(d[80]), "=f"(d[81]), "=f"(d[82]), "=f"(d[83]), "=f"(d[84]), "=f"(d[85]), "=f"(d[86]), "=f"(d[87]), "=f"(d[88]), "=f"(d[89]), "=f"(d[90]), "=f"(d[91]), "=f"(d[92]), "=f"(d[93]), "=f"(d[94]), "=f"(d[95]), "=f"(d[96]), "=f"(d[97]), "=f"(d[98]), "=f"(d[99]), "=f"(d[100]), "=f"(d[101]), "=f"(d[102]), "=f"(d[103]), "=f"(d[104]), "=f"(d[105]), "=f"(d[106]), "=f"(d[107]), "=f"(d[108]), "=f"(d[109]), "=f"(d[110]), "=f"(d[111])
#define TILEWRIGHT_CHAIN_224_P0 "%112"
#define TILEWRIGHT_CHAIN_224_P1 "%113"
#define TILEWRIGHT_CHAIN_224_P2 "%114"
#define TILEWRIGHT_CHAIN_224_P3 "%115"
#define TILEWRIGHT_CHAIN_224_A0 "{%115, %116, %117, %118}"
#define TILEWRIGHT_CHAIN_224_A1 "{%119, %120, %121, %122}"
#define TILEWRIGHT_CHAIN_224_A2 "{%123, %124, %125, %126}"
#define TILEWRIGHT_CHAIN_224_A3 "{%127, %128, %129, %130}"
#define TILEWRIGHT_CHAIN_224_A4 "{%131, %132, %133, %134}"
#define TILEWRIGHT_CHAIN_224_A5 "{%135, %136, %137, %138}"
#define TILEWRIGHT_CHAIN_224_A6 "{%139, %140, %141, %142}"
#define TILEWRIGHT_CHAIN_224_A7 "{%143, %144, %145, %146}"
#define TILEWRIGHT_CHAIN_224_A8 "{%147, %148, %149, %150}"
#define TILEWRIGHT_CHAIN_224_A9 "{%151, %152, %153, %154}"
#define TILEWRIGHT_CHAIN_224_A10 "{%155, %156, %157, %158}"
#define TILEWRIGHT_CHAIN_224_A11 "{%159, %160, %161, %162}"
#define TILEWRIGHT_CHAIN_224_A12 "{%163, %164, %165, %166}"
#define TILEWRIGHT_CHAIN_224_A13 "{%167, %168, %169, %170}"
#define TILEWRIGHT_CHAIN_224_A14 "{%171, %172, %173, %174}"
#define TILEWRIGHT_CHAIN_224_A15 "{%175, %176, %177, %178}"
#if TILEWRIGHT_CHAIN_SHARED_COLUMNS == 224
#define TILEWRIGHT_CHAIN_SHARED(part) TILEWRIGHT_CHAIN_224_##part
#endif
#if TILEWRIGHT_CHAIN_REGISTER_COLUMNS == 224
#define TILEWRIGHT_CHAIN_REGISTER(part) TILEWRIGHT_CHAIN_224_##part
#endif
#endif
#if TILEWRIGHT_CHAIN_SHARED_COLUMNS == 232 || TILEWRIGHT_CHAIN_REGISTER_COLUMNS == 232
#define TILEWRIGHT_CHAIN_232_N "232"
#define TILEWRIGHT_CHAIN_232_D "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, %64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, %80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, %96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, %112, %113, %114, %115}"
#define TILEWRIGHT_CHAIN_232_SUM(d) "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]), "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31]), "+f"(d[32]), "+f"(d[33]), "+f"(d[34]), "+f"(d[35]), "+f"(d[36]), "+f"(d[37]), "+f"(d[38]), "+f"(d[39]), "+f"(d[40]), "+f"(d[41]), "+f"(d[42]), "+f"(d[43]), "+f"(d[44]), "+f"(d[45]), "+f"(d[46]), "+f"(d[47]), "+f"(d[48]), "+f"(d[49]), "+f"(d[50]), "+f"(d[51]), "+f"(d[52]), "+f"(d[53]), "+f"(d[54]), "+f"(d[55]), "+f"(d[56]), "+f"(d[57]), "+f"(d[58]), "+f"(d[59]), "+f"(d[60]), "+f"(d[61]), "+f"(d[62]), "+f"(d[63]), "+f"(d[64]), "+f"(d[65]), "+f"(d[66]), "+f"(d[67]), "+f"(d[68]), "+f"(d[69]), "+f"(d[70]), "+f"(d[71]), "+f"(d[72]), "+f"(d[73]), "+f"(d[74]), "+f"(d[75]), "+f"(d[76]), "+f"(d[77]), "+f"(d[78]), "+f"(d[79]), "+f"(d[80]), "+f"(d[81]), "+f"(d[82]), "+f"(d[83]), "+f"(d[84]), "+f"(d[85]), "+f"(d[86]), "+f"(d[87]), "+f"(d[88]), "+f"(d[89]), "+f"(d[90]), "+f"(d[91]), "+f"(d[92]), "+f"(d[93]), "+f"(d[94]), "+f"(d[95]), "+f"(d[96]), "+f"(d[97]), "+f"(d[98]), "+f"(d[99]), "+f"(d[100]), "+f"(d[101]), "+f"(d[102]), "+f"(d[103]), "+f"(d[104]), "+f"(d[105]), "+f"(d[106]), "+f"(d[107]), "+f"(d[108]), "+f"(d[109]), "+f"(d[110]), "+f"(d[111]), "+f"(d[112]), "+f"(d[113]), "+f"(d[114]), "+f"(d[115])
#define TILEWRIGHT_CHAIN_232_OUT(d) "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3]), "=f"(d[4]), "=f"(d[5]), "=f"(d[6]), "=f"(d[7]), "=f"(d[8]), "=f"(d[9]), "=f"(d[10]), "=f"(d[11]), "=f"(d[12]), "=f"(d[13]), "=f"(d[14]), "=f"(d[15]), "=f"(d[16]), "=f"(d[17]), "=f"(d[18]), "=f"(d[19]), "=f"(d[20]), "=f"(d[21]), "=f"(d[22]), "=f"(d[23]), "=f"(d[24]), "=f"(d[25]), "=f"(d[26]), "=f"(d[27]), "=f"(d[28]), "=f"(d[29]), "=f"(d[30]), "=f"(d[31]), "=f"(d[32]), "=f"(d[33]), "=f"(d[34]), "=f"(d[35]), "=f"(d[36]), "=f"(d[37]), "=f"(d[38]), "=f"(d[39]), "=f"(d[40]), "=f"(d[41]), "=f"(d[42]), "=f"(d[43]), "=f"(d[44]), "=f"(d[45]), "=f"(d[46]), "=f"(d[47]), "=f"(d[48]), "=f"(d[49]), "=f"(d[50]), "=f"(d[51]), "=f"(d[52]), "=f"(d[53]), "=f"(d[54]), "=f"(d[55]), "=f"(d[56]), "=f"(d[57]), "=f"(d[58]), "=f"(d[59]), "=f"(d[60]), "=f"(d[61]), "=f"(d[62]), "=f"(d[63]), "=f"(d[64]), "=f"(d[65]), "=f"(d[66]), "=f"(d[67]), "=f"(d[68]), "=f"(d[69]), "=f"(d[70]), "=f"(d[71]), "=f"(d[72]), "=f"(d[73]), "=f"(d[74]), "=f"(d[75]), "=f"(d[76]), "=f"(d[77]), "=f"(d[78]), "=f"(d[79]), "=f"(d[80]), "=f"(d[81]), "=f"(d[82]), "=f"(d[83]), "=f"(d[84]), "=f"(d[85]), "=f"(d[86]), "=f"(d[87]), "=f"(d[88]), "=f"(d[89]), "=f"(d[90]), "=f"(d[91]), "=f"(d[92]), "=f"(d[93]), "=f"(d[94]), "=f"(d[95]), "=f"(d[96]), "=f"(d[97]), "=f"(d[98]), "=f"(d[99]), "=f"(d[100]), "=f"(d[101]), "=f"(d[102]), "=f"(d[103]), "=f"(d[104]), "=f"(d[105]), "=f"(d[106]), "=f"(d[107]), "=f"(d[108]), "=f"(d[109]), "=f"(d[110]), "=f"(d[111]), "=f"(d[112]), "=f"(d[113]), "=f"(d[114]), "=f"(d[115])
#define TILEWRIGHT_CHAIN_232_P0 "%116"
#define TILEWRIGHT_CHAIN_232_P1 "%117"
#define TILEWRIGHT_CHAIN_232_P2 "%118"
#define TILEWRIGHT_CHAIN_232_P3 "%119"
#define TILEWRIGHT_CHAIN_232_A0 "{%119, %120, %121, %122}"
#define TILEWRIGHT_CHAIN_232_A1 "{%123, %124, %125, %126}"
#define TILEWRIGHT_CHAIN_232_A2 "{%127, %128, %129, %130}"
#define TILEWRIGHT_CHAIN_232_A3 "{%131, %132, %133, %134}"
#define TILEWRIGHT_CHAIN_232_A4 "{%135, %136, %137, %138}"
#define TILEWRIGHT_CHAIN_232_A5 "{%139, %140, %141, %142}"
#define TILEWRIGHT_CHAIN_232_A6 "{%143, %144, %145, %146}"
#define TILEWRIGHT_CHAIN_232_A7 "{%147, %148, %149, %150}"
#define TILEWRIGHT_CHAIN_232_A8 "{%151, %152, %153, %154}"
#define TILEWRIGHT_CHAIN_232_A9 "{%155, %156, %157, %158}"
#define TILEWRIGHT_CHAIN_232_A10 "{%159, %160, %161, %162}"
#define TILEWRIGHT_CHAIN_232_A11 "{%163, %164, %165, %166}"
#define TILEWRIGHT_CHAIN_232_A12 "{%167, %168, %169, %170}"
#define TILEWRIGHT_CHAIN_232_A13 "{%171, %172, %173, %174}"
#define TILEWRIGHT_CHAIN_232_A14 "{%175, %176, %177, %178}"
#define TILEWRIGHT_CHAIN_232_A15 "{%179, %180, %181, %182}"
#if TILEWRIGHT_CHAIN_SHARED_COLUMNS == 232
#define TILEWRIGHT_CHAIN_SHARED(part) TILEWRIGHT_CHAIN_232_##part
#endif
#if TILEWRIGHT_CHAIN_REGISTER_COLUMNS == 232
#define TILEWRIGHT_CHAIN_REGISTER(part) TILEWRIGHT_CHAIN_232_##part
#endif
#endif
#if TILEWRIGHT_CHAIN_SHARED_COLUMNS == 240 || TILEWRIGHT_CHAIN_REGISTER_COLUMNS == 240
#define TILEWRIGHT_CHAIN_240_N "240"
#define TILEWRIGHT_CHAIN_240_D "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, %64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, %80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, %96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, %112, %113, %114, %115, %116, %117, %118, %119}"
#define TILEWRIGHT_CHAIN_240_SUM(d) "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]), "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31]), "+f"(d[32]), "+f"(d[33]), "+f"(d[34]), "+f"(d[35]), "+f"(d[36]), "+f"(d[37]), "+f"(d[38]), "+f"(d[39]), "+f"(d[40]), "+f"(d[41]), "+f"(d[42]), "+f"(d[43]), "+f"(d[44]), "+f"(d[45]), "+f"(d[46]), "+f"(d[47]), "+f"(d[48]), "+f"(d[49]), "+f"(d[50]), "+f"(d[51]), "+f"(d[52]), "+f"(d[53]), "+f"(d[54]), "+f"(d[55]), "+f"(d[56]), "+f"(d[57]), "+f"(d[58]), "+f"(d[59]), "+f"(d[60]), "+f"(d[61]), "+f"(d[62]), "+f"(d[63]), "+f"(d[64]), "+f"(d[65]), "+f"(d[66]), "+f"(d[67]), "+f"(d[68]), "+f"(d[69]), "+f"(d[70]), "+f"(d[71]), "+f"(d[72]), "+f"(d[73]), "+f"(d[74]), "+f"(d[75]), "+f"(d[76]), "+f"(d[77]), "+f"(d[78]), "+f"(d[79]), "+f"(d[80]), "+f"(d[81]), "+f"(d[82]), "+f"(d[83]), "+f"(d[84]), "+f"(d[85]), "+f"(d[86]), "+f"(d[87]), "+f"(d[88]), "+f"(d[89]), "+f"(d[90]), "+f"(d[91]), "+f"(d[92]), "+f"(d[93]), "+f"(d[94]), "+f"(d[95]), "+f"(d[96]), "+f"(d[97]), "+f"(d[98]), "+f"(d[99]), "+f"(d[100]), "+f"(d[101]), "+f"(d[102]), "+f"(d[103]), "+f"(d[104]), "+f"(d[105]), "+f"(d[106]), "+f"(d[107]), "+f"(d[108]), "+f"(d[109]), "+f"(d[110]), "+f"(d[111]), "+f"(d[112]), "+f"(d[113]), "+f"(d[114]), "+f"(d[115]), "+f"(d[116]), "+f"(d[117]), "+f"(d[118]), "+f"(d[119])
#define TILEWRIGHT_CHAIN_240_OUT(d) "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3]), "=f"(d[4]), "=f"(d[5]), "=f"(d[6]), "=f"(d[7]), "=f"(d[8]), "=f"(d[9]), "=f"(d[10]), "=f"(d[11]), "=f"(d[12]), "=f"(d[13]), "=f"(d[14]), "=f"(d[15]), "=f"(d[16]), "=f"(d[17]), "=f"(d[18]), "=f"(d[19]), "=f"(d[20]), "=f"(d[21]), "=f"(d[22]), "=f"(d[23]), "=f"(d[24]), "=f"(d[25]), "=f"(d[26]), "=f"(d[27]), "=f"(d[28]), "=f"(d[29]), "=f"(d[30]), "=f"(d[31]), "=f"(d[32]), "=f"(d[33]), "=f"(d[34]), "=f"(d[35]), "=f"(d[36]), "=f"(d[37]), "=f"(d[38]), "=f"(d[39]), "=f"(d[40]), "=f"(d[41]), "=f"(d[42]), "=f"(d[43]), "=f"(d[44]), "=f"(d[45]), "=f"(d[46]), "=f"(d[47]), "=f"(d[48]), "=f"(d[49]), "=f"(d[50]), "=f"(d[51]), "=f"(d[52]), "=f"(d[53]), "=f"(d[54]), "=f"(d[55]), "=f"(d[56]), "=f"(d[57]), "=f"(d[58]), "=f"(d[59]), "=f"(d[60]), "=f"(d[61]), "=f"(d[62]), "=f"(d[63]), "=f"(d[64]), "=f"(d[65]), "=f"(d[66]), "=f"(d[67]), "=f"(d[68]), "=f"(d[69]), "=f"(d[70]), "=f"(d[71]), "=f"(d[72]), "=f"(d[73]), "=f"(d[74]), "=f"(d[75]), "=f"(d[76]), "=f"(d[77]), "=f"(d[78]), "=f"(d[79]), "=f"(d[80]), "=f"(d[81]), "=f"(d[82]), "=f"(d[83]), "=f"(d[84]), "=f"(d[85]), "=f"(d[86]), "=f"(d[87]), "=f"(d[88]), "=f"(d[89]), "=f"(d[90]), "=f"(d[91]), "=f"(d[92]), "=f"(d[93]), "=f"(d[94]), "=f"(d[95]), "=f"(d[96]), "=f"(d[97]), "=f"(d[98]), "=f"(d[99]), "=f"(d[100]), "=f"(d[101]), "=f"(d[102]), "=f"(d[103]), "=f"(d[104]), "=f"(d[105]), "=f"(d[106]), "=f"(d[107]), "=f"(d[108]), "=f"(d[109]), "=f"(d[110]), "=f"(d[111]), "=f"(d[112]), "=f"(d[113]), "=f"(d[114]), "=f"(d[115]), "=f"(d[116]), "=f"(d[117]), "=f"(d[118]), "=f"(d[119])
#define TILEWRIGHT_CHAIN_240_P0 "%120"
#define TILEWRIGHT_CHAIN_240_P1 "%121"
#define TILEWRIGHT_CHAIN_240_P2 "%122"
#define TILEWRIGHT_CHAIN_240_P3 "%123"
#define TILEWRIGHT_CHAIN_240_A0 "{%123, %124, %125, %126}"
#define TILEWRIGHT_CHAIN_240_A1 "{%127, %128, %129, %130}"
#define TILEWRIGHT_CHAIN_240_A2 "{%131, %132, %133, %134}"
#define TILEWRIGHT_CHAIN_240_A3 "{%135, %136, %137, %138}"
#define TILEWRIGHT_CHAIN_240_A4 "{%139, %140, %141, %142}"
#define TILEWRIGHT_CHAIN_240_A5 "{%143, %144, %145, %146}"
#define TILEWRIGHT_CHAIN_240_A6 "{%147, %148, %149, %150}"
#define TILEWRIGHT_CHAIN_240_A7 "{%151, %152, %153, %154}"
#define TILEWRIGHT_CHAIN_240_A8 "{%155, %156, %157, %158}"
#define TILEWRIGHT_CHAIN_240_A9 "{%159, %160, %161, %162}"
#define TILEWRIGHT_CHAIN_240_A10 "{%163, %164, %165, %166}"
#define TILEWRIGHT_CHAIN_240_A11 "{%167, %168, %169, %170}"
#define TILEWRIGHT_CHAIN_240_A12 "{%171, %172, %173, %174}"
#define TILEWRIGHT_CHAIN_240_A13 "{%175, %176, %177, %178}"
#define TILEWRIGHT_CHAIN_240_A14 "{%179, %180, %181, %182}"
#define TILEWRIGHT_CHAIN_240_A15 "{%183, %184, %185, %186}"
#if TILEWRIGHT_CHAIN_SHARED_COLUMNS == 240
#define TILEWRIGHT_CHAIN_SHARED(part) TILEWRIGHT_CHAIN_240_##part
#endif
#if TILEWRIGHT_CHAIN_REGISTER_COLUMNS == 240
#define TILEWRIGHT_CHAIN_REGISTER(part) TILEWRIGHT_CHAIN_240_##part
#endif
#endif
#if TILEWRIGHT_CHAIN_SHARED_COLUMNS == 248 || TILEWRIGHT_CHAIN_REGISTER_COLUMNS == 248
#define TILEWRIGHT_CHAIN_248_N "248"
#define TILEWRIGHT_CHAIN_248_D "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, %64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, %80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, %96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, %112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123}"
#define TILEWRIGHT_CHAIN_248_SUM(d) "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]), "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31]), "+f"(d[32]), "+f"(d[33]), "+f"(d[34]), "+f"(d[35]), "+f"(d[36]), "+f"(d[37]), "+f"(d[38]), "+f"(d[39]), "+f"(d[40]), "+f"(d[41]), "+f"(d[42]), "+f"(d[43]), "+f"(d[44]), "+f"(d[45]), "+f"(d[46]), "+f"(d[47]), "+f"(d[48]), "+f"(d[49]), "+f"(d[50]), "+f"(d[51]), "+f"(d[52]), "+f"(d[53]), "+f"(d[54]), "+f"(d[55]), "+f"(d[56]), "+f"(d[57]), "+f"(d[58]), "+f"(d[59]), "+f"(d[60]), "+f"(d[61]), "+f"(d[62]), "+f"(d[63]), "+f"(d[64]), "+f"(d[65]), "+f"(d[66]), "+f"(d[67]), "+f"(d[68]), "+f"(d[69]), "+f"(d[70]), "+f"(d[71]), "+f"(d[72]), "+f"(d[73]), "+f"(d[74]), "+f"(d[75]), "+f"(d[76]), "+f"(d[77]), "+f"(d[78]), "+f"(d[79]), "+f"(d[80]), "+f"(d[81]), "+f"(d[82]), "+f"(d[83]), "+f"(d[84]), "+f"(d[85]), "+f"(d[86]), "+f"(d[87]), "+f"(d[88]), "+f"(d[89]), "+f"(d[90]), "+f"(d[91]), "+f"(d[92]), "+f"(d[93]), "+f"(d[94]), "+f"(d[95]), "+f"(d[96]), "+f"(d[97]), "+f"(d[98]), "+f"(d[99]), "+f"(d[100]), "+f"(d[101]), "+f"(d[102]), "+f"(d[103]), "+f"(d[104]), "+f"(d[105]), "+f"(d[106]), "+f"(d[107]), "+f"(d[108]), "+f"(d[109]), "+f"(d[110]), "+f"(d[111]), "+f"(d[112]), "+f"(d[113]), "+f"(d[114]), "+f"(d[115]), "+f"(d[116]), "+f"(d[117]), "+f"(d[118]), "+f"(d[119]), "+f"(d[120]), "+f"(d[121]), "+f"(d[122]), "+f"(d[123])
#define TILEWRIGHT_CHAIN_248_OUT(d) "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3]), "=f"(d[4]), "=f"(d[5]), "=f"(d[6]), "=f"(d[7]), "=f"(d[8]), "=f"(d[9]), "=f"(d[10]), "=f"(d[11]), "=f"(d[12]), "=f"(d[13]), "=f"(d[14]), "=f"(d[15]), "=f"(d[16]), "=f"(d[17]), "=f"(d[18]), "=f"(d[19]), "=f"(d[20]), "=f"(d[21]), "=f"(d[22]), "=f"(d[23]), "=f"(d[24]), "=f"(d[25]), "=f"(d[26]), "=f"(d[27]), "=f"(d[28]), "=f"(d[29]), "=f"(d[30]), "=f"(d[31]), "=f"(d[32]), "=f"(d[33]), "=f"(d[34]), "=f"(d[35]), "=f"(d[36]), "=f"(d[37]), "=f"(d[38]), "=f"(d[39]), "=f"(d[40]), "=f"(d[41]), "=f"(d[42]), "=f"(d[43]), "=f"(d[44]), "=f"(d[45]), "=f"(d[46]), "=f"(d[47]), "=f"(d[48]), "=f"(d[49]), "=f"(d[50]), "=f"(d[51]), "=f"(d[52]), "=f"(d[53]), "=f"(d[54]), "=f"(d[55]), "=f"(d[56]), "=f"(d[57]), "=f"(d[58]), "=f"(d[59]), "=f"(d[60]), "=f"(d[61]), "=f"(d[62]), "=f"(d[63]), "=f"(d[64]), "=f"(d[65]), "=f"(d[66]), "=f"(d[67]), "=f"(d[68]), "=f"(d[69]), "=f"(d[70]), "=f"(d[71]), "=f"(d[72]), "=f"(d[73]), "=f"(d[74]), "=f"(d[75]), "=f"(d[76]), "=f"(d[77]), "=f"(d[78]), "=f"(d[79]), "=f"(d[80]), "=f"(d[81]), "=f"(d[82]), "=f"(d[83]), "=f"(d[84]), "=f"(d[85]), "=f"(d[86]), "=f"(d[87]), "=f"(d[88]), "=f"(d[89]), "=f"(d[90]), "=f"(d[91]), "=f"(d[92]), "=f"(d[93]), "=f"(d[94]), "=f"(d[95]), "=f"(d[96]), "=f"(d[97]), "=f"(d[98]), "=f"(d[99]), "=f"(d[100]), "=f"(d[101]), "=f"(d[102]), "=f"(d[103]), "=f"(d[104]), "=f"(d[105]), "=f"(d[106]), "=f"(d[107]), "=f"(d[108]), "=f"(d[109]), "=f"(d[110]), "=f"(d[111]), "=f"(d[112]), "=f"(d[113]), "=f"(d[114]), "=f"(d[115]), "=f"(d[116]), "=f"(d[117]), "=f"(d[118]), "=f"(d[119]), "=f"(d[120]), "=f"(d[121]), "=f"(d[122]), "=f"(d[123])
#define TILEWRIGHT_CHAIN_248_P0 "%124"
#define TILEWRIGHT_CHAIN_248_P1 "%125"
#define TILEWRIGHT_CHAIN_248_P2 "%126"
#define TILEWRIGHT_CHAIN_248_P3 "%127"
#define TILEWRIGHT_CHAIN_248_A0 "{%127, %128, %129, %130}"
#define TILEWRIGHT_CHAIN_248_A1 "{%131, %132, %133, %134}"
#define TILEWRIGHT_CHAIN_248_A2 "{%135, %136, %137, %138}"
#define TILEWRIGHT_CHAIN_248_A3 "{%139, %140, %141, %142}"
#define TILEWRIGHT_CHAIN_248_A4 "{%143, %144, %145, %146}"
#define TILEWRIGHT_CHAIN_248_A5 "{%147, %148, %149, %150}"
#define TILEWRIGHT_CHAIN_248_A6 "{%151, %152, %153, %154}"
#define TILEWRIGHT_CHAIN_248_A7 "{%155, %156, %157, %158}"
#define TILEWRIGHT_CHAIN_248_A8 "{%159, %160, %161, %162}"
#define TILEWRIGHT_CHAIN_248_A9 "{%163, %164, %165, %166}"
#define TILEWRIGHT_CHAIN_248_A10 "{%167, %168, %169, %170}"
#define TILEWRIGHT_CHAIN_248_A11 "{%171, %172, %173, %174}"
#define TILEWRIGHT_CHAIN_248_A12 "{%175, %176, %177, %178}"
#define TILEWRIGHT_CHAIN_248_A13 "{%179, %180, %181, %182}"
#define TILEWRIGHT_CHAIN_248_A14 "{%183, %184, %185, %186}"
#define TILEWRIGHT_CHAIN_248_A15 "{%187, %188, %189, %190}"
#if TILEWRIGHT_CHAIN_SHARED_COLUMNS == 248
#define TILEWRIGHT_CHAIN_SHARED(part) TILEWRIGHT_CHAIN_248_##part
#endif
#if TILEWRIGHT_CHAIN_REGISTER_COLUMNS == 248
#define TILEWRIGHT_CHAIN_REGISTER(part) TILEWRIGHT_CHAIN_248_##part
#endif
#endif
#if TILEWRIGHT_CHAIN_SHARED_COLUMNS == 256 || TILEWRIGHT_CHAIN_REGISTER_COLUMNS == 256
#define TILEWRIGHT_CHAIN_256_N "256"
#define TILEWRIGHT_CHAIN_256_D "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, %64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, %80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, %96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, %112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127}"
#define TILEWRIGHT_CHAIN_256_SUM(d) "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]), "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31]), "+f"(d[32]), "+f"(d[33]), "+f"(d[34]), "+f"(d[35]), "+f"(d[36]), "+f"(d[37]), "+f"(d[38]), "+f"(d[39]), "+f"(d[40]), "+f"(d[41]), "+f"(d[42]), "+f"(d[43]), "+f"(d[44]), "+f"(d[45]), "+f"(d[46]), "+f"(d[47]), "+f"(d[48]), "+f"(d[49]), "+f"(d[50]), "+f"(d[51]), "+f"(d[52]), "+f"(d[53]), "+f"(d[54]), "+f"(d[55]), "+f"(d[56]), "+f"(d[57]), "+f"(d[58]), "+f"(d[59]), "+f"(d[60]), "+f"(d[61]), "+f"(d[62]), "+f"(d[63]), "+f"(d[64]), "+f"(d[65]), "+f"(d[66]), "+f"(d[67]), "+f"(d[68]), "+f"(d[69]), "+f"(d[70]), "+f"(d[71]), "+f"(d[72]), "+f"(d[73]), "+f"(d[74]), "+f"(d[75]), "+f"(d[76]), "+f"(d[77]), "+f"(d[78]), "+f"(d[79]), "+f"(d[80]), "+f"(d[81]), "+f"(d[82]), "+f"(d[83]), "+f"(d[84]), "+f"(d[85]), "+f"(d[86]), "+f"(d[87]), "+f"(d[88]), "+f"(d[89]), "+f"(d[90]), "+f"(d[91]), "+f"(d[92]), "+f"(d[93]), "+f"(d[94]), "+f"(d[95]), "+f"(d[96]), "+f"(d[97]), "+f"(d[98]), "+f"(d[99]), "+f"(d[100]), "+f"(d[101]), "+f"(d[102]), "+f"(d[103]), "+f"(d[104]), "+f"(d[105]), "+f"(d[106]), "+f"(d[107]), "+f"(d[108]), "+f"(d[109]), "+f"(d[110]), "+f"(d[111]), "+f"(d[112]), "+f"(d[113]), "+f"(d[114]), "+f"(d[115]), "+f"(d[116]), "+f"(d[117]), "+f"(d[118]), "+f"(d[119]), "+f"(d[120]), "+f"(d[121]), "+f"(d[122]), "+f"(d[123]), "+f"(d[124]), "+f"(d[125]), "+f"(d[126]), "+f"(d[127])
#define TILEWRIGHT_CHAIN_256_OUT(d) "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3]), "=f"(d[4]), "=f"(d[5]), "=f"(d[6]), "=f"(d[7]), "=f"(d[8]), "=f"(d[9]), "=f"(d[10]), "=f"(d[11]), "=f"(d[12]), "=f"(d[13]), "=f"(d[14]), "=f"(d[15]), "=f"(d[16]), "=f"(d[17]), "=f"(d[18]), "=f"(d[19]), "=f"(d[20]), "=f"(d[21]), "=f"(d[22]), "=f"(d[23]), "=f"(d[24]), "=f"(d[25]), "=f"(d[26]), "=f"(d[27]), "=f"(d[28]), "=f"(d[29]), "=f"(d[30]), "=f"(d[31]), "=f"(d[32]), "=f"(d[33]), "=f"(d[34]), "=f"(d[35]), "=f"(d[36]), "=f"(d[37]), "=f"(d[38]), "=f"(d[39]), "=f"(d[40]), "=f"(d[41]), "=f"(d[42]), "=f"(d[43]), "=f"(d[44]), "=f"(d[45]), "=f"(d[46]), "=f"(d[47]), "=f"(d[48]), "=f"(d[49]), "=f"(d[50]), "=f"(d[51]), "=f"(d[52]), "=f"(d[53]), "=f"(d[54]), "=f"(d[55]), "=f"(d[56]), "=f"(d[57]), "=f"(d[58]), "=f"(d[59]), "=f"(d[60]), "=f"(d[61]), "=f"(d[62]), "=f"(d[63]), "=f"(d[64]), "=f"(d[65]), "=f"(d[66]), "=f"(d[67]), "=f"(d[68]), "=f"(d[69]), "=f"(d[70]), "=f"(d[71]), "=f"(d[72]), "=f"(d[73]), "=f"(d[74]), "=f"(d[75]), "=f"(d[76]), "=f"(d[77]), "=f"(d[78]), "=f"(d[79]), "=f"(d[80]), "=f"(d[81]), "=f"(d[82]), "=f"(d[83]), "=f"(d[84]), "=f"(d[85]), "=f"(d[86]), "=f"(d[87]), "=f"(d[88]), "=f"(d[89]), "=f"(d[90]), "=f"(d[91]), "=f"(d[92]), "=f"(d[93]), "=f"(d[94]), "=f"(d[95]), "=f"(d[96]), "=f"(d[97]), "=f"(d[98]), "=f"(d[99]), "=f"(d[100]), "=f"(d[101]), "=f"(d[102]), "=f"(d[103]), "=f"(d[104]), "=f"(d[105]), "=f"(d[106]), "=f"(d[107]), "=f"(d[108]), "=f"(d[109]), "=f"(d[110]), "=f"(d[111]), "=f"(d[112]), "=f"(d[113]), "=f"(d[114]), "=f"(d[115]), "=f"(d[116]), "=f"(d[117]), "=f"(d[118]), "=f"(d[119]), "=f"(d[120]), "=f"(d[121]), "=f"(d[122]), "=f"(d[123]), "=f"(d[124]), "=f"(d[125]), "=f"(d[126]), "=f"(d[127])
#define TILEWRIGHT_CHAIN_256_P0 "%128"
#define TILEWRIGHT_CHAIN_256_P1 "%129"
#define TILEWRIGHT_CHAIN_256_P2 "%130"
#define TILEWRIGHT_CHAIN_256_P3 "%131"
#define TILEWRIGHT_CHAIN_256_A0 "{%131, %132, %133, %134}"
#define TILEWRIGHT_CHAIN_256_A1 "{%135, %136, %137, %138}"
#define TILEWRIGHT_CHAIN_256_A2 "{%139, %140, %141, %142}"
#define TILEWRIGHT_CHAIN_256_A3 "{%143, %144, %145, %146}"
#define TILEWRIGHT_CHAIN_256_A4 "{%147, %148, %149, %150}"
#define TILEWRIGHT_CHAIN_256_A5 "{%151, %152, %153, %154}"
#define TILEWRIGHT_CHAIN_256_A6 "{%155, %156, %157, %158}"
#define TILEWRIGHT_CHAIN_256_A7 "{%159, %160, %161, %162}"
#define TILEWRIGHT_CHAIN_256_A8 "{%163, %164, %165, %166}"
#define TILEWRIGHT_CHAIN_256_A9 "{%167, %168, %169, %170}"
#define TILEWRIGHT_CHAIN_256_A10 "{%171, %172, %173, %174}"
#define TILEWRIGHT_CHAIN_256_A11 "{%175, %176, %177, %178}"
#define TILEWRIGHT_CHAIN_256_A12 "{%179, %180, %181, %182}"
#define TILEWRIGHT_CHAIN_256_A13 "{%183, %184, %185, %186}"
#define TILEWRIGHT_CHAIN_256_A14 "{%187, %188, %189, %190}"
#define TILEWRIGHT_CHAIN_256_A15 "{%191, %192, %193, %194}"
#if TILEWRIGHT_CHAIN_SHARED_COLUMNS == 256
#define TILEWRIGHT_CHAIN_SHARED(part) TILEWRIGHT_CHAIN_256_##part
#endif
#if TILEWRIGHT_CHAIN_REGISTER_COLUMNS == 256
#define TILEWRIGHT_CHAIN_REGISTER(part) TILEWRIGHT_CHAIN_256_##part
#endif
#endif

// A step in 128-byte swizzled rows, `at` in its block of four and `block`, in the statement of a
// product with A in shared memory (P: A and B, and the distance of A's blocks; of B's is A0's place).
#define TILEWRIGHT_CHAIN_SHARED_STEP(op, at, block) \
  "add.s64 a, " TILEWRIGHT_CHAIN_SHARED(P0) ", " #at " * 2 + " #block " * " TILEWRIGHT_CHAIN_SHARED(P2) "; " \
  "add.s64 b, " TILEWRIGHT_CHAIN_SHARED(P1) ", " #at " * 2 + " #block " * " TILEWRIGHT_CHAIN_SHARED(P3) "; " \
  op TILEWRIGHT_CHAIN_SHARED(D) ", a, b, p, 1, 1" TILEWRIGHT_CHAIN_SHARED_MAJOR "; "

// The same with A in registers (P: B, the distance of its steps, that of its blocks).
#define TILEWRIGHT_CHAIN_REGISTER_STEP(op, step, at, block) \
  "add.s64 b, " TILEWRIGHT_CHAIN_REGISTER(P0) ", " #at " * " TILEWRIGHT_CHAIN_REGISTER(P1) " + " #block " * " TILEWRIGHT_CHAIN_REGISTER(P2) "; " \
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

#if TILEWRIGHT_CHAIN_SHARED_STEPS > 0
#define TILEWRIGHT_CHAIN_SHARED_0(op) TILEWRIGHT_CHAIN_SHARED_STEP(op, 0, 0) "setp.eq.b32 p, 0, 0; "
#else
#define TILEWRIGHT_CHAIN_SHARED_0(op)
#endif
#if TILEWRIGHT_CHAIN_REGISTER_STEPS > 0
#define TILEWRIGHT_CHAIN_REGISTER_0(op) TILEWRIGHT_CHAIN_REGISTER_STEP(op, 0, 0, 0)
#else
#define TILEWRIGHT_CHAIN_REGISTER_0(op)
#endif
#if TILEWRIGHT_CHAIN_REGISTER_STEPS > 0
#define TILEWRIGHT_CHAIN_INPUT_0(a) , "r"(a[0][0]), "r"(a[0][1]), "r"(a[0][2]), "r"(a[0][3])
#else
#define TILEWRIGHT_CHAIN_INPUT_0(a)
#endif
#if TILEWRIGHT_CHAIN_SHARED_STEPS > 1
#define TILEWRIGHT_CHAIN_SHARED_1(op) TILEWRIGHT_CHAIN_SHARED_STEP(op, 1, 0)
#else
#define TILEWRIGHT_CHAIN_SHARED_1(op)
#endif
#if TILEWRIGHT_CHAIN_REGISTER_STEPS > 1
#define TILEWRIGHT_CHAIN_REGISTER_1(op) TILEWRIGHT_CHAIN_REGISTER_STEP(op, 1, 1, 0)
#else
#define TILEWRIGHT_CHAIN_REGISTER_1(op)
#endif
#if TILEWRIGHT_CHAIN_REGISTER_STEPS > 1
#define TILEWRIGHT_CHAIN_INPUT_1(a) , "r"(a[1][0]), "r"(a[1][1]), "r"(a[1][2]), "r"(a[1][3])
#else
#define TILEWRIGHT_CHAIN_INPUT_1(a)
#endif
#if TILEWRIGHT_CHAIN_SHARED_STEPS > 2
#define TILEWRIGHT_CHAIN_SHARED_2(op) TILEWRIGHT_CHAIN_SHARED_STEP(op, 2, 0)
#else
#define TILEWRIGHT_CHAIN_SHARED_2(op)
#endif
#if TILEWRIGHT_CHAIN_REGISTER_STEPS > 2
#define TILEWRIGHT_CHAIN_REGISTER_2(op) TILEWRIGHT_CHAIN_REGISTER_STEP(op, 2, 2, 0)
#else
#define TILEWRIGHT_CHAIN_REGISTER_2(op)
#endif
#if TILEWRIGHT_CHAIN_REGISTER_STEPS > 2
#define TILEWRIGHT_CHAIN_INPUT_2(a) , "r"(a[2][0]), "r"(a[2][1]), "r"(a[2][2]), "r"(a[2][3])
#else
#define TILEWRIGHT_CHAIN_INPUT_2(a)
#endif
#if TILEWRIGHT_CHAIN_SHARED_STEPS > 3
#define TILEWRIGHT_CHAIN_SHARED_3(op) TILEWRIGHT_CHAIN_SHARED_STEP(op, 3, 0)
#else
#define TILEWRIGHT_CHAIN_SHARED_3(op)
#endif
#if TILEWRIGHT_CHAIN_REGISTER_STEPS > 3
#define TILEWRIGHT_CHAIN_REGISTER_3(op) TILEWRIGHT_CHAIN_REGISTER_STEP(op, 3, 3, 0)
#else
#define TILEWRIGHT_CHAIN_REGISTER_3(op)
#endif
#if TILEWRIGHT_CHAIN_REGISTER_STEPS > 3
#define TILEWRIGHT_CHAIN_INPUT_3(a) , "r"(a[3][0]), "r"(a[3][1]), "r"(a[3][2]), "r"(a[3][3])
#else
#define TILEWRIGHT_CHAIN_INPUT_3(a)
#endif
#if TILEWRIGHT_CHAIN_SHARED_STEPS > 4
#define TILEWRIGHT_CHAIN_SHARED_4(op) TILEWRIGHT_CHAIN_SHARED_STEP(op, 0, 1)
#else
#define TILEWRIGHT_CHAIN_SHARED_4(op)
#endif
#if TILEWRIGHT_CHAIN_REGISTER_STEPS > 4
#define TILEWRIGHT_CHAIN_REGISTER_4(op) TILEWRIGHT_CHAIN_REGISTER_STEP(op, 4, 0, 1)
#else
#define TILEWRIGHT_CHAIN_REGISTER_4(op)
#endif
#if TILEWRIGHT_CHAIN_REGISTER_STEPS > 4
#define TILEWRIGHT_CHAIN_INPUT_4(a) , "r"(a[4][0]), "r"(a[4][1]), "r"(a[4][2]), "r"(a[4][3])
#else
#define TILEWRIGHT_CHAIN_INPUT_4(a)
#endif
#if TILEWRIGHT_CHAIN_SHARED_STEPS > 5
#define TILEWRIGHT_CHAIN_SHARED_5(op) TILEWRIGHT_CHAIN_SHARED_STEP(op, 1, 1)
#else
#define TILEWRIGHT_CHAIN_SHARED_5(op)
#endif
#if TILEWRIGHT_CHAIN_REGISTER_STEPS > 5
#define TILEWRIGHT_CHAIN_REGISTER_5(op) TILEWRIGHT_CHAIN_REGISTER_STEP(op, 5, 1, 1)
#else
#define TILEWRIGHT_CHAIN_REGISTER_5(op)
#endif
#if TILEWRIGHT_CHAIN_REGISTER_STEPS > 5
#define TILEWRIGHT_CHAIN_INPUT_5(a) , "r"(a[5][0]), "r"(a[5][1]), "r"(a[5][2]), "r"(a[5][3])
#else
#define TILEWRIGHT_CHAIN_INPUT_5(a)
#endif
#if TILEWRIGHT_CHAIN_SHARED_STEPS > 6
#define TILEWRIGHT_CHAIN_SHARED_6(op) TILEWRIGHT_CHAIN_SHARED_STEP(op, 2, 1)
#else
#define TILEWRIGHT_CHAIN_SHARED_6(op)
#endif
#if TILEWRIGHT_CHAIN_REGISTER_STEPS > 6
#define TILEWRIGHT_CHAIN_REGISTER_6(op) TILEWRIGHT_CHAIN_REGISTER_STEP(op, 6, 2, 1)
#else
#define TILEWRIGHT_CHAIN_REGISTER_6(op)
#endif
#if TILEWRIGHT_CHAIN_REGISTER_STEPS > 6
#define TILEWRIGHT_CHAIN_INPUT_6(a) , "r"(a[6][0]), "r"(a[6][1]), "r"(a[6][2]), "r"(a[6][3])
#else
#define TILEWRIGHT_CHAIN_INPUT_6(a)
#endif
#if TILEWRIGHT_CHAIN_SHARED_STEPS > 7
#define TILEWRIGHT_CHAIN_SHARED_7(op) TILEWRIGHT_CHAIN_SHARED_STEP(op, 3, 1)
#else
#define TILEWRIGHT_CHAIN_SHARED_7(op)
#endif
#if TILEWRIGHT_CHAIN_REGISTER_STEPS > 7
#define TILEWRIGHT_CHAIN_REGISTER_7(op) TILEWRIGHT_CHAIN_REGISTER_STEP(op, 7, 3, 1)
#else
#define TILEWRIGHT_CHAIN_REGISTER_7(op)
#endif
#if TILEWRIGHT_CHAIN_REGISTER_STEPS > 7
#define TILEWRIGHT_CHAIN_INPUT_7(a) , "r"(a[7][0]), "r"(a[7][1]), "r"(a[7][2]), "r"(a[7][3])
#else
#define TILEWRIGHT_CHAIN_INPUT_7(a)
#endif
#if TILEWRIGHT_CHAIN_SHARED_STEPS > 8
#define TILEWRIGHT_CHAIN_SHARED_8(op) TILEWRIGHT_CHAIN_SHARED_STEP(op, 0, 2)
#else
#define TILEWRIGHT_CHAIN_SHARED_8(op)
#endif
#if TILEWRIGHT_CHAIN_REGISTER_STEPS > 8
#define TILEWRIGHT_CHAIN_REGISTER_8(op) TILEWRIGHT_CHAIN_REGISTER_STEP(op, 8, 0, 2)
#else
#define TILEWRIGHT_CHAIN_REGISTER_8(op)
#endif
#if TILEWRIGHT_CHAIN_REGISTER_STEPS > 8
#define TILEWRIGHT_CHAIN_INPUT_8(a) , "r"(a[8][0]), "r"(a[8][1]), "r"(a[8][2]), "r"(a[8][3])
#else
#define TILEWRIGHT_CHAIN_INPUT_8(a)
#endif
#if TILEWRIGHT_CHAIN_SHARED_STEPS > 9
#define TILEWRIGHT_CHAIN_SHARED_9(op) TILEWRIGHT_CHAIN_SHARED_STEP(op, 1, 2)
#else
#define TILEWRIGHT_CHAIN_SHARED_9(op)
#endif
#if TILEWRIGHT_CHAIN_REGISTER_STEPS > 9
#define TILEWRIGHT_CHAIN_REGISTER_9(op) TILEWRIGHT_CHAIN_REGISTER_STEP(op, 9, 1, 2)
#else
#define TILEWRIGHT_CHAIN_REGISTER_9(op)
#endif
#if TILEWRIGHT_CHAIN_REGISTER_STEPS > 9
#define TILEWRIGHT_CHAIN_INPUT_9(a) , "r"(a[9][0]), "r"(a[9][1]), "r"(a[9][2]), "r"(a[9][3])
#else
#define TILEWRIGHT_CHAIN_INPUT_9(a)
#endif
#if TILEWRIGHT_CHAIN_SHARED_STEPS > 10
#define TILEWRIGHT_CHAIN_SHARED_10(op) TILEWRIGHT_CHAIN_SHARED_STEP(op, 2, 2)
#else
#define TILEWRIGHT_CHAIN_SHARED_10(op)
#endif
#if TILEWRIGHT_CHAIN_REGISTER_STEPS > 10
#define TILEWRIGHT_CHAIN_REGISTER_10(op) TILEWRIGHT_CHAIN_REGISTER_STEP(op, 10, 2, 2)
#else
#define TILEWRIGHT_CHAIN_REGISTER_10(op)
#endif
#if TILEWRIGHT_CHAIN_REGISTER_STEPS > 10
#define TILEWRIGHT_CHAIN_INPUT_10(a) , "r"(a[10][0]), "r"(a[10][1]), "r"(a[10][2]), "r"(a[10][3])
#else
#define TILEWRIGHT_CHAIN_INPUT_10(a)
#endif
#if TILEWRIGHT_CHAIN_SHARED_STEPS > 11
#define TILEWRIGHT_CHAIN_SHARED_11(op) TILEWRIGHT_CHAIN_SHARED_STEP(op, 3, 2)
#else
#define TILEWRIGHT_CHAIN_SHARED_11(op)
#endif
#if TILEWRIGHT_CHAIN_REGISTER_STEPS > 11
#define TILEWRIGHT_CHAIN_REGISTER_11(op) TILEWRIGHT_CHAIN_REGISTER_STEP(op, 11, 3, 2)
#else
#define TILEWRIGHT_CHAIN_REGISTER_11(op)
#endif
#if TILEWRIGHT_CHAIN_REGISTER_STEPS > 11
#define TILEWRIGHT_CHAIN_INPUT_11(a) , "r"(a[11][0]), "r"(a[11][1]), "r"(a[11][2]), "r"(a[11][3])
#else
#define TILEWRIGHT_CHAIN_INPUT_11(a)
#endif
#if TILEWRIGHT_CHAIN_SHARED_STEPS > 12
#define TILEWRIGHT_CHAIN_SHARED_12(op) TILEWRIGHT_CHAIN_SHARED_STEP(op, 0, 3)
#else
#define TILEWRIGHT_CHAIN_SHARED_12(op)
#endif
#if TILEWRIGHT_CHAIN_REGISTER_STEPS > 12
#define TILEWRIGHT_CHAIN_REGISTER_12(op) TILEWRIGHT_CHAIN_REGISTER_STEP(op, 12, 0, 3)
#else
#define TILEWRIGHT_CHAIN_REGISTER_12(op)
#endif
#if TILEWRIGHT_CHAIN_REGISTER_STEPS > 12
#define TILEWRIGHT_CHAIN_INPUT_12(a) , "r"(a[12][0]), "r"(a[12][1]), "r"(a[12][2]), "r"(a[12][3])
#else
#define TILEWRIGHT_CHAIN_INPUT_12(a)
#endif
#if TILEWRIGHT_CHAIN_SHARED_STEPS > 13
#define TILEWRIGHT_CHAIN_SHARED_13(op) TILEWRIGHT_CHAIN_SHARED_STEP(op, 1, 3)
#else
#define TILEWRIGHT_CHAIN_SHARED_13(op)
#endif
#if TILEWRIGHT_CHAIN_REGISTER_STEPS > 13
#define TILEWRIGHT_CHAIN_REGISTER_13(op) TILEWRIGHT_CHAIN_REGISTER_STEP(op, 13, 1, 3)
#else
#define TILEWRIGHT_CHAIN_REGISTER_13(op)
#endif
#if TILEWRIGHT_CHAIN_REGISTER_STEPS > 13
#define TILEWRIGHT_CHAIN_INPUT_13(a) , "r"(a[13][0]), "r"(a[13][1]), "r"(a[13][2]), "r"(a[13][3])
#else
#define TILEWRIGHT_CHAIN_INPUT_13(a)
#endif
#if TILEWRIGHT_CHAIN_SHARED_STEPS > 14
#define TILEWRIGHT_CHAIN_SHARED_14(op) TILEWRIGHT_CHAIN_SHARED_STEP(op, 2, 3)
#else
#define TILEWRIGHT_CHAIN_SHARED_14(op)
#endif
#if TILEWRIGHT_CHAIN_REGISTER_STEPS > 14
#define TILEWRIGHT_CHAIN_REGISTER_14(op) TILEWRIGHT_CHAIN_REGISTER_STEP(op, 14, 2, 3)
#else
#define TILEWRIGHT_CHAIN_REGISTER_14(op)
#endif
#if TILEWRIGHT_CHAIN_REGISTER_STEPS > 14
#define TILEWRIGHT_CHAIN_INPUT_14(a) , "r"(a[14][0]), "r"(a[14][1]), "r"(a[14][2]), "r"(a[14][3])
#else
#define TILEWRIGHT_CHAIN_INPUT_14(a)
#endif
#if TILEWRIGHT_CHAIN_SHARED_STEPS > 15
#define TILEWRIGHT_CHAIN_SHARED_15(op) TILEWRIGHT_CHAIN_SHARED_STEP(op, 3, 3)
#else
#define TILEWRIGHT_CHAIN_SHARED_15(op)
#endif
#if TILEWRIGHT_CHAIN_REGISTER_STEPS > 15
#define TILEWRIGHT_CHAIN_REGISTER_15(op) TILEWRIGHT_CHAIN_REGISTER_STEP(op, 15, 3, 3)
#else
#define TILEWRIGHT_CHAIN_REGISTER_15(op)
#endif
#if TILEWRIGHT_CHAIN_REGISTER_STEPS > 15
#define TILEWRIGHT_CHAIN_INPUT_15(a) , "r"(a[15][0]), "r"(a[15][1]), "r"(a[15][2]), "r"(a[15][3])
#else
#define TILEWRIGHT_CHAIN_INPUT_15(a)
#endif
#define TILEWRIGHT_CHAIN_SHARED_STEPS_(op) TILEWRIGHT_CHAIN_SHARED_0(op) TILEWRIGHT_CHAIN_SHARED_1(op) TILEWRIGHT_CHAIN_SHARED_2(op) TILEWRIGHT_CHAIN_SHARED_3(op) TILEWRIGHT_CHAIN_SHARED_4(op) TILEWRIGHT_CHAIN_SHARED_5(op) TILEWRIGHT_CHAIN_SHARED_6(op) TILEWRIGHT_CHAIN_SHARED_7(op) TILEWRIGHT_CHAIN_SHARED_8(op) TILEWRIGHT_CHAIN_SHARED_9(op) TILEWRIGHT_CHAIN_SHARED_10(op) TILEWRIGHT_CHAIN_SHARED_11(op) TILEWRIGHT_CHAIN_SHARED_12(op) TILEWRIGHT_CHAIN_SHARED_13(op) TILEWRIGHT_CHAIN_SHARED_14(op) TILEWRIGHT_CHAIN_SHARED_15(op)
#define TILEWRIGHT_CHAIN_REGISTER_STEPS_(op) TILEWRIGHT_CHAIN_REGISTER_0(op) TILEWRIGHT_CHAIN_REGISTER_1(op) TILEWRIGHT_CHAIN_REGISTER_2(op) TILEWRIGHT_CHAIN_REGISTER_3(op) TILEWRIGHT_CHAIN_REGISTER_4(op) TILEWRIGHT_CHAIN_REGISTER_5(op) TILEWRIGHT_CHAIN_REGISTER_6(op) TILEWRIGHT_CHAIN_REGISTER_7(op) TILEWRIGHT_CHAIN_REGISTER_8(op) TILEWRIGHT_CHAIN_REGISTER_9(op) TILEWRIGHT_CHAIN_REGISTER_10(op) TILEWRIGHT_CHAIN_REGISTER_11(op) TILEWRIGHT_CHAIN_REGISTER_12(op) TILEWRIGHT_CHAIN_REGISTER_13(op) TILEWRIGHT_CHAIN_REGISTER_14(op) TILEWRIGHT_CHAIN_REGISTER_15(op)
#define TILEWRIGHT_CHAIN_REGISTER_INPUTS(a) TILEWRIGHT_CHAIN_INPUT_0(a) TILEWRIGHT_CHAIN_INPUT_1(a) TILEWRIGHT_CHAIN_INPUT_2(a) TILEWRIGHT_CHAIN_INPUT_3(a) TILEWRIGHT_CHAIN_INPUT_4(a) TILEWRIGHT_CHAIN_INPUT_5(a) TILEWRIGHT_CHAIN_INPUT_6(a) TILEWRIGHT_CHAIN_INPUT_7(a) TILEWRIGHT_CHAIN_INPUT_8(a) TILEWRIGHT_CHAIN_INPUT_9(a) TILEWRIGHT_CHAIN_INPUT_10(a) TILEWRIGHT_CHAIN_INPUT_11(a) TILEWRIGHT_CHAIN_INPUT_12(a) TILEWRIGHT_CHAIN_INPUT_13(a) TILEWRIGHT_CHAIN_INPUT_14(a) TILEWRIGHT_CHAIN_INPUT_15(a)

namespace tilewright {

// WgmmaChain<Element>: the two products of a kernel. Operands in shared memory lie in 128-byte
// swizzled rows and are given by the matrix descriptor (smem_desc.cuh) of their first step; distances
// are in its units of 16 bytes. d holds N / 2 values a thread. Warp group.
template <class Element>
struct WgmmaChain;

#define TILEWRIGHT_CHAIN_PRODUCTS(Element, type) \
template <> \
struct WgmmaChain<Element> { \
  /* d = A * B, both K-major, further blocks of 128 bytes of K at kBlockA and kBlockB. */ \
  template <int kBlockA, int kBlockB> \
  __device__ static __forceinline__ void Shared(float (&d)[TILEWRIGHT_CHAIN_SHARED_COLUMNS / 2], uint64_t a, uint64_t b) { \
    asm volatile( \
        "{.reg .pred p; .reg .b64 a, b; setp.ne.b32 p, 0, 0; " \
        TILEWRIGHT_CHAIN_SHARED_STEPS_(TILEWRIGHT_CHAIN_OP(TILEWRIGHT_CHAIN_SHARED, type)) \
        "}" \
        : TILEWRIGHT_CHAIN_SHARED_RESULT(d) \
        : "l"(a), "l"(b), "n"(kBlockA), "n"(kBlockB)); \
  } \
  /* One step: d += A * B, or d = A * B without `accumulate`. */ \
  __device__ static __forceinline__ void SharedStep(float (&d)[TILEWRIGHT_CHAIN_SHARED_COLUMNS / 2], uint64_t a, uint64_t b, int accumulate) { \
    asm volatile( \
        "{.reg .pred p; setp.ne.b32 p, " TILEWRIGHT_CHAIN_SHARED(P2) ", 0; " \
        TILEWRIGHT_CHAIN_OP(TILEWRIGHT_CHAIN_SHARED, type) TILEWRIGHT_CHAIN_SHARED(D) ", " TILEWRIGHT_CHAIN_SHARED(P0) ", " TILEWRIGHT_CHAIN_SHARED(P1) ", p, 1, 1" TILEWRIGHT_CHAIN_SHARED_MAJOR ";}" \
        : TILEWRIGHT_CHAIN_SHARED(SUM)(d) \
        : "l"(a), "l"(b), "r"(accumulate)); \
  } \
  /* d += A * B. A step's a is the fragment of mma.sync's m16n8k16 (m16n8k32) for each warp's 16 rows; */ \
  /* B's steps lie kStep apart, its blocks of four steps kBlock. */ \
  template <int kStep, int kBlock> \
  __device__ static __forceinline__ void Registers(float (&d)[TILEWRIGHT_CHAIN_REGISTER_COLUMNS / 2], const uint32_t (&a)[TILEWRIGHT_CHAIN_REGISTER_STEPS][4], uint64_t b) { \
    asm volatile( \
        "{.reg .pred p; .reg .b64 b; setp.eq.b32 p, 0, 0; " \
        TILEWRIGHT_CHAIN_REGISTER_STEPS_(TILEWRIGHT_CHAIN_OP(TILEWRIGHT_CHAIN_REGISTER, type)) \
        "}" \
        : TILEWRIGHT_CHAIN_REGISTER(SUM)(d) \
        : "l"(b), "n"(kStep), "n"(kBlock) TILEWRIGHT_CHAIN_REGISTER_INPUTS(a)); \
  } \
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

#endif  // TILEWRIGHT_DEVICE_WGMMA_CHAIN_CUH_
