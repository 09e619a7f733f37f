"""Golden cases of the pooling operators and scans; used by make_golden.py."""
import math

import torch

F = torch.nn.functional
INF, NAN = math.inf, math.nan
FLOATS = (torch.float16, torch.bfloat16, torch.float32)
ROWS = [1, 2, NAN, 3, NAN, 0, -INF, -INF, -INF, -INF, 5, 5, 4, INF, INF, -0.0, 0.0, -1, -2, -3, 7]


def randn(shape, dtype, seed):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed)).to(dtype)


def one_each(value, axes):
    return list(value) if isinstance(value, (list, tuple)) else [value] * axes


# kernel, stride, padding, ceil_mode, then dilation, or count_include_pad and divisor_override.
WINDOWS = {1: [(3, 2, 1, False), (2, 2, 0, True), (4, 3, 2, True), (7, 7, 0, False), (1, 2, 0, True)],
           2: [(3, 2, 1, False), (2, 3, 0, True), ((1, 2), 2, (0, 1), True),
               ((3, 2), (1, 2), (1, 0), False), ((4, 5), 2, (2, 1), True)],
           3: [(2, 2, 0, False), ((2, 3, 3), 2, 1, True), ((1, 2, 3), (1, 2, 1), (0, 1, 1), True)]}
SHAPES = {1: (2, 3, 11), 2: (1, 2, 7, 9), 3: (1, 2, 5, 6, 7)}


def inputs(axes):
    for dtype in FLOATS:
        yield "normal", randn(SHAPES[axes], dtype, 31)
        special = torch.tensor(ROWS, dtype=dtype)
        count = math.prod(SHAPES[axes][2:])
        yield "special", special.repeat(count // len(ROWS) + 1)[:count].reshape(1, 1, *SHAPES[axes][2:])
    yield "empty", torch.zeros((0,) + SHAPES[axes][1:])


def average(case, axes):
    run = (F.avg_pool1d, F.avg_pool2d, F.avg_pool3d)[axes - 1]

    def wide(x, *args):
        return run(x.float(), *args).to(x.dtype)

    def cases():
        for kernel, stride, padding, ceil in WINDOWS[axes]:
            for name, x in inputs(axes):
                for include in (True, False):
                    for divisor in (None,) if axes == 1 else (None, 7, -2):
                        args = [kernel, stride, padding, ceil, include] + ([divisor] if axes > 1 else [])
                        params = [one_each(a, axes) for a in args[:3]] + args[3:]
                        if divisor is None or name == "normal":
                            yield case(name, params, (x,), wide(x, *args))
        if axes == 2:
            x = torch.arange(49.0).reshape(1, 1, 7, 7)
            yield case("ceil-7x7", [[2, 2], [3, 3], [0, 0], True, True, None], (x,),
                       F.avg_pool2d(x, 2, 3, 0, True))
            x = torch.ones(1, 1, 4, 4)
            yield case("padding-after-end", [[1, 2], [2, 2], [0, 1], True, True, None], (x,),
                       F.avg_pool2d(x, (1, 2), 2, (0, 1), True))
    return cases


def maximum(case, axes, indices):
    run = (F.max_pool1d, F.max_pool2d, F.max_pool3d)[axes - 1]

    def cases():
        for kernel, stride, padding, ceil in WINDOWS[axes]:
            for dilation in (1, 2):
                extents = SHAPES[axes][2:]
                reach = [dilation * (k - 1) + 1 for k in one_each(kernel, axes)]
                if any(r > e for r, e in zip(reach, extents)):
                    continue
                params = [one_each(a, axes) for a in (kernel, stride, padding, dilation)] + [ceil]
                for name, x in inputs(axes):
                    y = run(x, kernel, stride, padding, dilation, ceil, return_indices=indices)
                    yield case(name, params, (x,), y)
        if axes == 1:
            x = torch.tensor([[[2.0]]])
            yield case("dilated-past-all", [[2], [1], [1], [2], False], (x,),
                       run(x, 2, 1, 1, 2, False, return_indices=indices))
    return cases


def adaptive(case, run, outputs):
    def cases():
        for size in (1, 2, (3, 4), (7, 9), (9, 11), (1, 5)):
            params = [one_each(size, 2)]
            for name, x in inputs(2):
                y = run(x.float(), size)
                yield case(name, params, (x,), outputs(y, x.dtype))
    return cases


def scan(case, run):
    def cases():
        for dtype in FLOATS:
            for shape, dim in (((4, 7), 1), ((4, 7), 0), ((2, 3, 5), 1), ((6,), 0), ((), 0)):
                x = randn(shape, dtype, 32)
                yield case("normal", [dim], (x,), run(x.double(), dim=dim).to(dtype))
            x = torch.tensor([ROWS, ROWS[::-1], ROWS[9:] + ROWS[:9]], dtype=dtype)
            yield case("special", [1], (x,), run(x.double(), dim=1).to(dtype))
            ones = torch.ones(8, dtype=dtype)
            yield case("eight-ones", [0], (ones,), run(ones, dim=0))
            empty = torch.zeros((0, 3), dtype=dtype)
            yield case("empty", [0], (empty,), run(empty, dim=0))
    return cases


def pool_ops(case):
    ops = {}
    for axes in (1, 2, 3):
        ops[f"AvgPool{axes}dFwdOp"] = average(case, axes)
        ops[f"MaxPool{axes}dFwdOp"] = maximum(case, axes, False)
        ops[f"MaxPool{axes}dIndicesFwdOp"] = maximum(case, axes, True)

    def values(y, dtype):
        return y.to(dtype)

    def pair(y, dtype):
        return y[0].to(dtype), y[1]

    ops["AdaptiveAvgPool2dFwdOp"] = adaptive(case, F.adaptive_avg_pool2d, values)
    ops["AdaptiveMaxPool2dFwdOp"] = adaptive(case, F.adaptive_max_pool2d, values)
    ops["AdaptiveMaxPool2dIndicesFwdOp"] = adaptive(
        case, lambda x, size: F.adaptive_max_pool2d(x, size, return_indices=True), pair)
    ops["CumsumFwdOp"] = scan(case, torch.cumsum)
    ops["CumprodFwdOp"] = scan(case, torch.cumprod)
    return ops
