"""Golden cases of the reductions; used by make_golden.py."""
import math

import torch

F = torch.nn.functional
INF, NAN = math.inf, math.nan
HALVES = (torch.float16, torch.bfloat16)
FLOATS = HALVES + (torch.float32,)
COUNTED = FLOATS + (torch.bool, torch.int32, torch.int64, torch.complex64, torch.complex128)
SPECIAL = [[NAN, 6, 8, 1], [INF, NAN, 1, 2], [INF, 1, 2, 3], [-INF, 1, 2, 3],
           [-INF, -INF, -INF, -INF], [INF, -INF, 0, 1], [0.0, -0.0, 0.0, -0.0],
           [1, 6, NAN, NAN], [5, 2, 5, 2], [-3, -3, -7, -7], [INF, INF, 1, 2]]


def randn(shape, dtype, seed):
    generator = torch.Generator().manual_seed(seed)
    if dtype == torch.bool:
        return torch.rand(shape, generator=generator) < 0.5
    if dtype in (torch.int32, torch.int64):
        return torch.randint(-1, 2, shape, generator=generator).to(dtype)
    if dtype.is_complex:
        parts = [torch.randint(0, 2, shape, generator=generator).double() for _ in range(2)]
        return torch.complex(*parts).to(dtype)
    return torch.randn(shape, generator=generator).to(dtype)


def inputs_of(dtype, empty_row):
    yield "wide", randn((4, 7), dtype, 31), -1
    yield "outer", randn((7, 4), dtype, 32), 0
    yield "middle", randn((2, 3, 5), dtype, 33), 1
    yield "rank-1", randn((9,), dtype, 34), 0
    yield "rank-0", randn((), dtype, 35), 0
    yield "extent-one", randn((3, 1), dtype, 36), 1
    if dtype in FLOATS:
        yield "special", torch.tensor(SPECIAL, dtype=dtype), 1
    yield "no-rows", torch.zeros((0, 3), dtype=dtype), 1
    if empty_row:
        yield "empty-row", torch.zeros((2, 0), dtype=dtype), 1


def several_axes(dtype, empty_row):
    x = randn((2, 3, 5), dtype, 37)
    yield "two-axes", x, [0, 2]
    yield "inner-axes", x, [1, 2]
    yield "all", x, None
    yield "empty-list", x, []
    if empty_row:
        yield "empty-all", torch.zeros((0,), dtype=dtype), None


def axes_of(x, dim):
    """The normalised parameter."""
    if dim is None:
        return list(range(x.dim()))
    if isinstance(dim, list):
        return sorted(dim)
    return [dim % max(x.dim(), 1)]


def axis_of(x, dim):
    return None if dim is None else dim % max(x.dim(), 1)


def reduction(case, function, params, dtypes=FLOATS, empty_row=True, lists=True, axis=False,
              null=False, keepdim=True):
    """`function(x, dim, keepdim)` gives the output or outputs; `params(dim)` the parameters, to
    which keepdim is added."""
    for dtype in dtypes:
        inputs = list(inputs_of(dtype, empty_row))
        if lists:
            inputs += list(several_axes(dtype, empty_row))
        if null:
            inputs.append(("flat", randn((3, 4), dtype, 38), None))
        for name, x, dim in inputs:
            normalised = axis_of(x, dim) if axis else axes_of(x, dim)
            yield case(name, params(normalised) + ([False] if keepdim else []), (x,),
                       function(x, dim, False))
        if keepdim:
            x = randn((2, 3, 4), dtype, 39)
            yield case("keepdim", params(1 if axis else [1]) + [True], (x,), function(x, 1, True))


def tuple_or(dim):
    return tuple(dim) if isinstance(dim, list) else dim


def plain(function):
    """Of a function that takes dim=None as all axes."""
    return lambda x, dim, keepdim: function(x, dim=tuple_or(dim), keepdim=keepdim)


def all_for_none(function):
    def run(x, dim, keepdim):
        return function(x, dim=list(range(x.dim())) if dim in (None, []) else dim, keepdim=keepdim)
    return run


def wide(function):
    """Accumulated in float32 and rounded once."""
    def run(x, dim, keepdim):
        return function(x.float(), dim, keepdim).to(x.dtype)
    return run


def extreme(function):
    return all_for_none(function)


def count_nonzero(x, dim, _):
    return torch.count_nonzero(x, dim=tuple_or(dim) if dim != [] else None)


def noop(function):
    def run(x, dim, keepdim):
        if dim is None:
            return function(x)
        return function(x, dim=tuple_or(dim), keepdim=keepdim)
    return run


def norm(order):
    def run(x, dim, keepdim):
        dim = None if dim == [] else dim
        return torch.linalg.vector_norm(x, order, dim=dim, keepdim=keepdim)
    return run


def correction_of(function, value):
    def run(x, dim, keepdim):
        dim = list(range(x.dim())) if dim in (None, []) else dim
        return function(x, dim=dim, correction=value, keepdim=keepdim)
    return run


def moments(case, function):
    for value in (1, 0, 4):
        yield from reduction(case, correction_of(function, value), lambda d, v=value: [d, v])


def log_softmax_cases(case):
    def run(x, dim):
        return F.log_softmax(x.float(), dim=dim).to(x.dtype)

    for dtype in FLOATS:
        for shape, dim in (((4, 7), 1), ((4, 7), 0), ((4, 7), None), ((2, 3, 5), None),
                           ((2, 3, 5), 1), ((6,), None), ((), None)):
            x = randn(shape, dtype, 40) * 4
            implicit = 0 if len(shape) in (0, 1, 3) else 1
            yield case(f"{len(shape)}d-{dim}", [dim], (x,),
                       run(x, implicit if dim is None else dim))
        special = torch.tensor(SPECIAL, dtype=dtype)
        yield case("special", [1], (special,), run(special, 1))
        empty = torch.zeros((2, 0), dtype=dtype)
        yield case("empty-axis", [1], (empty,), run(empty, 1))


def sum_cases(case):
    yield from reduction(case, wide(plain(torch.sum)), lambda d: [d])
    x = torch.tensor([[32000.0] * 4 + [-32000.0] * 4], dtype=torch.float16)
    yield case("past-fp16", [[1], False], (x,), torch.sum(x, dim=1))
    ones = torch.ones((1, 600), dtype=torch.bfloat16)
    yield case("600-ones", [[1], False], (ones,), torch.sum(ones, dim=1))


def reduction_ops(case):
    one = dict(lists=False, axis=True)
    return {
        "LogSoftmaxFwdOp": lambda: log_softmax_cases(case),
        "LogSumExpFwdOp": lambda: reduction(
            case, wide(all_for_none(torch.logsumexp)), lambda d: [d]),
        "SumFwdOp": lambda: sum_cases(case),
        "MeanFwdOp": lambda: reduction(case, wide(plain(torch.mean)), lambda d: [d]),
        "AmaxFwdOp": lambda: reduction(case, extreme(torch.amax), lambda d: [d], empty_row=False),
        "AminFwdOp": lambda: reduction(case, extreme(torch.amin), lambda d: [d], empty_row=False),
        "ProdFwdOp": lambda: reduction(case, wide(plain(torch.prod)), lambda d: [d], **one),
        "VarFwdOp": lambda: moments(case, torch.var),
        "StdFwdOp": lambda: moments(case, torch.std),
        "VarMeanFwdOp": lambda: moments(case, torch.var_mean),
        "ArgmaxFwdOp": lambda: reduction(case, plain(torch.argmax), lambda d: [d], empty_row=False,
                                         null=True, **one),
        "ArgminFwdOp": lambda: reduction(case, plain(torch.argmin), lambda d: [d], empty_row=False,
                                         null=True, **one),
        "AllFwdOp": lambda: reduction(case, noop(torch.all), lambda d: [d], COUNTED),
        "AnyFwdOp": lambda: reduction(case, noop(torch.any), lambda d: [d], COUNTED),
        "CountNonzeroFwdOp": lambda: reduction(case, count_nonzero, lambda d: [d], COUNTED,
                                               keepdim=False),
        "L1NormFwdOp": lambda: reduction(case, norm(1), lambda d: [1, d]),
        "L2NormFwdOp": lambda: reduction(case, norm(2), lambda d: [2, d]),
        # JSON has no infinity; the reference does not read ord.
        "InfNormFwdOp": lambda: reduction(case, norm(INF), lambda d: [None, d], empty_row=False),
    }
