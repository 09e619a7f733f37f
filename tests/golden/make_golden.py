"""Writes the golden vectors that the references in manifest/references/ are checked against.

Usage: python3 make_golden.py [FOLDER [OP ...]]   (needs PyTorch; runs on the CPU)

Each file holds cases of one operator: normalised parameters in the manifest's order, operands as
dtype, shape and little-endian bytes in hex; null for an absent input.
"""
import json
import math
import pathlib
import sys

import torch

from attention_golden import attention_ops
from elementwise_golden import elementwise_ops
from encoding_golden import encoding_ops
from normalization_golden import normalization_ops
from pool_golden import pool_ops
from reduction_golden import reduction_ops

F = torch.nn.functional
INF, NAN = math.inf, math.nan
HALVES = (torch.float16, torch.bfloat16)
FLOATS = HALVES + (torch.float32,)
INTEGERS = (torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64)


def pack(tensor):
    flat = tensor.detach().contiguous().reshape(-1)
    raw = flat.view(torch.uint8).tolist() if flat.numel() else []
    return {"dtype": str(tensor.dtype).removeprefix("torch."), "shape": list(tensor.shape),
            "hex": bytes(raw).hex()}


def case(name, params, inputs, output, mutated=0):
    """`output` may be a list: the outputs, and then `mutated` inputs as the call leaves them."""
    made = {"case": name, "params": params,
            "inputs": [None if t is None else pack(t) for t in inputs]}
    if not isinstance(output, (list, tuple)):
        return made | {"output": pack(output)}
    return made | {"outputs": [pack(t) for t in output], "mutated": mutated}


def randn(shape, dtype, seed):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed)).to(dtype)


def gemm_cases():
    for dtype in HALVES:
        for trans_a in (False, True):
            for trans_b in (False, True):
                a, b = randn((5, 24), dtype, 1), randn((24, 3), dtype, 2)
                stored = (a.T.contiguous() if trans_a else a, b.T.contiguous() if trans_b else b)
                yield case(f"normal-{trans_a:d}{trans_b:d}", [trans_a, trans_b], stored,
                           torch.matmul(a.float(), b.float()).to(dtype))
        a, b = torch.zeros((2, 0), dtype=dtype), torch.zeros((0, 3), dtype=dtype)
        yield case("k0", [False, False], (a, b), torch.matmul(a, b))
        a, b = torch.zeros((0, 4), dtype=dtype), torch.zeros((4, 3), dtype=dtype)
        yield case("m0", [False, False], (a, b), torch.matmul(a, b))
        a = torch.tensor([[NAN, 0.0], [INF, 0.0], [INF, -INF], [1.0, 2.0]], dtype=dtype)
        b = torch.tensor([[1.0, 0.0], [1.0, 1.0]], dtype=dtype)
        yield case("nan-inf", [False, False], (a, b), torch.matmul(a, b))
    a = torch.tensor([[32000.0] * 4 + [-32000.0] * 4, [32000.0] * 8], dtype=torch.float16)
    b = torch.ones((8, 1), dtype=torch.float16)
    yield case("sums-past-fp16", [False, False], (a, b), torch.matmul(a.float(), b.float()).half())


def bmm_cases():
    for dtype in HALVES:
        for batch, m, n, k in ((3, 5, 3, 24), (1, 1, 1, 1), (2, 1, 7, 5), (4, 2, 3, 0),
                               (0, 2, 3, 4), (2, 0, 3, 4), (2, 3, 0, 4)):
            a, b = randn((batch, m, k), dtype, 13), randn((batch, k, n), dtype, 14)
            yield case(f"normal-{batch}-{m}-{n}-{k}", [], (a, b),
                       torch.bmm(a.float(), b.float()).to(dtype))
        a = torch.tensor([[[NAN, 0.0], [1.0, 2.0]], [[INF, -INF], [INF, 0.0]]], dtype=dtype)
        b = torch.ones((2, 2, 1), dtype=dtype)
        yield case("nan-inf", [], (a, b), torch.bmm(a, b))


def rms_norm_cases():
    for dtype in HALVES:
        x, w = randn((3, 16), dtype, 3), randn((16,), dtype, 4)
        for eps in (1e-6, 1e-5, 0.0, None, 1.0):
            yield case(f"eps-{eps}", [[16], eps], (x, w), F.rms_norm(x, (16,), w, eps))
        tiny = torch.full((1, 8), 2.0 ** -9, dtype=dtype)
        ones = torch.ones(8, dtype=dtype)
        yield case("tiny-eps-null", [[8], None], (tiny, ones), F.rms_norm(tiny, (8,), ones, None))
        zeros = torch.zeros((1, 8), dtype=dtype)
        yield case("zeros", [[8], 1e-6], (zeros, ones), F.rms_norm(zeros, (8,), ones, 1e-6))
        yield case("zeros-eps-0", [[8], 0.0], (zeros, ones), F.rms_norm(zeros, (8,), ones, 0.0))
        special = torch.tensor([[NAN, 1, 2, 3], [INF, 1, 2, 3], [-INF, INF, 0, 1]], dtype=dtype)
        w4 = torch.tensor([1.0, -2.0, 0.5, 0.0], dtype=dtype)
        yield case("nan-inf", [[4], 1e-6], (special, w4), F.rms_norm(special, (4,), w4, 1e-6))
        x3, w2 = randn((2, 3, 4), dtype, 5), randn((3, 4), dtype, 6)
        yield case("two-axes", [[3, 4], 1e-6], (x3, w2), F.rms_norm(x3, (3, 4), w2, 1e-6))
        empty = torch.zeros((0, 4), dtype=dtype)
        yield case("empty", [[4], 1e-6], (empty, w4), F.rms_norm(empty, (4,), w4, 1e-6))
    big = torch.full((1, 8), 60000.0, dtype=torch.float16)
    ones = torch.ones(8, dtype=torch.float16)
    yield case("squares-past-fp16", [[8], 1e-6], (big, ones), F.rms_norm(big, (8,), ones, 1e-6))


def softmax_cases():
    for dtype in FLOATS:
        for shape, dim in (((4, 7), 1), ((4, 7), 0), ((4, 7), None), ((2, 3, 5), None),
                           ((2, 3, 5), 1), ((2, 2, 3, 2), None), ((6,), None), ((), None)):
            x = randn(shape, dtype, 7) * 4
            implicit = 0 if len(shape) in (0, 1, 3) else 1
            yield case(f"{len(shape)}d-{dim}", [dim], (x,),
                       F.softmax(x, dim=implicit if dim is None else dim))
        special = torch.tensor([[NAN, 1, 2], [INF, 1, 2], [-INF, 1, 2], [-INF, -INF, -INF],
                                [60000, -60000, 0]], dtype=dtype)
        yield case("nan-inf", [1], (special,), F.softmax(special, dim=1))
        yield case("empty-axis", [1], (torch.zeros((2, 0), dtype=dtype),),
                   F.softmax(torch.zeros((2, 0), dtype=dtype), dim=1))
        yield case("empty-lines", [1], (torch.zeros((0, 3), dtype=dtype),),
                   F.softmax(torch.zeros((0, 3), dtype=dtype), dim=1))
    equal = torch.full((1, 512), 2.5, dtype=torch.bfloat16)
    yield case("512-equal", [1], (equal,), F.softmax(equal, dim=1))


def add_cases():
    for dtype in FLOATS:
        a, b = randn((3, 1), dtype, 8), randn((1, 4), dtype, 9)
        for alpha in (1, 0, -2, 0.5, 0.1):
            yield case(f"broadcast-alpha-{alpha}", [alpha], (a, b), torch.add(a, b, alpha=alpha))
        a, b = randn((2, 3, 4), dtype, 10), randn((3, 1), dtype, 11)
        yield case("rank-broadcast", [1], (a, b), torch.add(a, b))
        scalar = randn((), dtype, 12)
        yield case("scalar", [1], (scalar, b), torch.add(scalar, b))
        a = torch.tensor([NAN, INF, INF, 1.0, -0.0, 0.0], dtype=dtype)
        b = torch.tensor([1.0, 1.0, -INF, INF, -0.0, -0.0], dtype=dtype)
        yield case("nan-inf", [1], (a, b), torch.add(a, b))
        yield case("zero-times-inf", [0], (b, a), torch.add(b, a, alpha=0))
        largest = torch.tensor([torch.finfo(dtype).max], dtype=dtype)
        yield case("overflow", [1], (largest, largest), torch.add(largest, largest))
        empty = torch.zeros((0, 3), dtype=dtype)
        yield case("empty", [1], (empty, torch.ones((1, 3), dtype=dtype)),
                   torch.add(empty, torch.ones((1, 3), dtype=dtype)))
    for dtype in INTEGERS:
        info = torch.iinfo(dtype)
        a = torch.tensor([info.max, info.min, 100, 7, 0], dtype=dtype)
        b = torch.tensor([1, info.max, 100, 3, info.min], dtype=dtype)
        for alpha in (1, 3, 0, -1):
            yield case(f"wrap-alpha-{alpha}", [alpha], (a, b), torch.add(a, b, alpha=alpha))
    a = torch.tensor([True, True, False, False])
    b = torch.tensor([True, False, True, False])
    for alpha in (1, 0, 2, -1, 256):
        yield case(f"bool-alpha-{alpha}", [alpha], (a, b), torch.add(a, b, alpha=alpha))


def silu_and_mul_cases():
    def run(x):
        n = x.shape[1] // 2
        wide = x.float()
        return (F.silu(wide[:, :n]) * wide[:, n:]).to(x.dtype)

    for dtype in FLOATS:
        x = randn((3, 10), dtype, 13) * 3
        yield case("normal", [], (x,), run(x))
        x = torch.tensor([[NAN, INF, -INF, -60000, 60000, 0, 1, 1, 1, 1, 1, INF]], dtype=dtype)
        yield case("nan-inf", [], (x,), run(x))
        for shape in ((0, 4), (2, 0), (1, 2)):
            x = randn(shape, dtype, 14)
            yield case(f"shape-{shape[0]}x{shape[1]}", [], (x,), run(x))


OPS = {"GemmFwdOp": gemm_cases, "BmmFwdOp": bmm_cases, "RMSNormFwdOp": rms_norm_cases, "SoftmaxFwdOp": softmax_cases,
       "AddFwdOp": add_cases, "SiluAndMulFwdOp": silu_and_mul_cases} | elementwise_ops(case) | reduction_ops(case)
OPS |= pool_ops(case) | attention_ops(case) | encoding_ops(case) | normalization_ops(case)


def main():
    folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent)
    for op, cases in OPS.items():
        if sys.argv[2:] and op not in sys.argv[2:]:
            continue
        lines = ",\n".join(json.dumps(c) for c in cases())
        version = torch.__version__.split("+")[0]
        (folder / f"{op}.json").write_text(
            f'{{"op": "{op}", "made_with": "PyTorch {version}", "cases": [\n{lines}\n]}}\n')


if __name__ == "__main__":
    main()
