"""Golden cases of the elementwise operators; used by make_golden.py."""
import math

import torch

F = torch.nn.functional
INF, NAN = math.inf, math.nan
HALVES = (torch.float16, torch.bfloat16)
FLOATS = HALVES + (torch.float32,)
INTEGERS = (torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64)
SPECIAL = [NAN, INF, -INF, 0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.5, -2.5, 7.0, -7.0, 25.0, -25.0,
           100.0, -100.0, 1e-3, -1e-3, 60000.0, -60000.0]


def randn(shape, dtype, seed):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed)).to(dtype)


def integers(dtype):
    info = torch.iinfo(dtype)
    return torch.tensor([info.max, info.min, 100, 7, 0, 1, info.max - 1], dtype=dtype)


def bools():
    return torch.tensor([True, False, True, False]), torch.tensor([True, True, False, False])


def wide(function):
    """`function` in float32, rounded once."""
    return lambda x, *rest: function(x.float(), *[r.float() for r in rest]).to(x.dtype)


def finite(function):
    """`function` with x itself for +inf, where PyTorch's vectorised GELU on the CPU gives NaN."""
    return lambda x: torch.where(x == INF, x, function(x))


class Maker:
    def __init__(self, case):
        self.case = case

    def unary(self, function, params=(), dtypes=FLOATS, tag="", scale=3):
        """Cases of one input: normal, special and rank-0 floats, whole ranges of integers."""
        params = list(params)
        for dtype in dtypes:
            if dtype == torch.bool:
                inputs = {"bool": bools()[0]}
            elif dtype in INTEGERS:
                inputs = {"range": integers(dtype), "one": integers(dtype)[3]}
            else:
                inputs = {"normal": randn((3, 5), dtype, 21) * scale,
                          "special": torch.tensor(SPECIAL, dtype=dtype),
                          "rank-0": randn((), dtype, 22), "empty": torch.zeros((0, 2), dtype=dtype)}
            for name, x in inputs.items():
                yield self.case(name + tag, params, (x,), function(x))

    def binary(self, function, params=(), dtypes=FLOATS, tag=""):
        """Cases of two inputs: broadcasts, and every pair of special values."""
        params = list(params)
        for dtype in dtypes:
            if dtype == torch.bool:
                pairs = {"bool": bools()}
            elif dtype in INTEGERS:
                x = integers(dtype)
                pairs = {"pairs": (x[:, None], x[None, :]), "scalar": (x, x[3])}
            else:
                x = torch.tensor(SPECIAL, dtype=dtype)
                pairs = {"pairs": (x[:, None].contiguous(), x[None, :].contiguous()),
                         "normal": (randn((3, 1), dtype, 23) * 5, randn((1, 4), dtype, 24)),
                         "rank": (randn((2, 3, 4), dtype, 25), randn((3, 1), dtype, 26)),
                         "empty": (torch.zeros((0, 3), dtype=dtype),
                                   torch.ones((1, 3), dtype=dtype))}
            for name, (a, b) in pairs.items():
                yield self.case(name + tag, params, (a, b), function(a, b))


def activation_cases(make):
    def table(name):
        return {
            "ReluFwdOp": [((), F.relu)],
            "GeluFwdOp": [((0,), finite(F.gelu)), ((1,), lambda x: F.gelu(x, approximate="tanh"))],
            "SiluFwdOp": [((), F.silu)],
            "HardswishFwdOp": [((), F.hardswish)],
            "HardsigmoidFwdOp": [((), F.hardsigmoid)],
            "MishFwdOp": [((), F.mish)],
            "SeluFwdOp": [((), F.selu)],
            "LeakyReluFwdOp": [((0.01,), F.leaky_relu), ((0.5,), lambda x: F.leaky_relu(x, 0.5)),
                               ((-1.5,), lambda x: F.leaky_relu(x, -1.5))],
            "EluFwdOp": [((1.0,), F.elu), ((0.25,), lambda x: F.elu(x, 0.25))],
            "HardtanhFwdOp": [((-1.0, 1.0), F.hardtanh),
                              ((-2.5, 0.5), lambda x: F.hardtanh(x, -2.5, 0.5))],
            "SoftplusFwdOp": [((1.0, 20.0), F.softplus),
                              ((2.0, 5.0), lambda x: F.softplus(x, 2, 5)),
                              ((-1.0, 20.0), lambda x: F.softplus(x, -1, 20))],
        }[name]

    def cases(name):
        for index, (params, function) in enumerate(table(name)):
            yield from make.unary(function, params, tag=f"-{index}")

    return {name: lambda name=name: cases(name) for name in (
        "ReluFwdOp", "GeluFwdOp", "SiluFwdOp", "HardswishFwdOp", "HardsigmoidFwdOp", "MishFwdOp",
        "SeluFwdOp", "LeakyReluFwdOp", "EluFwdOp", "HardtanhFwdOp", "SoftplusFwdOp")}


def prelu_cases(make):
    for dtype in FLOATS:
        for name, shape, weight in (("channels", (2, 3, 4), (3,)), ("single", (2, 3), (1,)),
                                    ("scalar", (2, 3), ()), ("rank-1", (5,), (1,))):
            x, w = randn(shape, dtype, 27), randn(weight, dtype, 28)
            yield make.case(name, [], (x, w), F.prelu(x, w))
        x, w = torch.tensor(SPECIAL, dtype=dtype), torch.tensor([0.25], dtype=dtype)
        yield make.case("special", [], (x, w), F.prelu(x, w))


def unary_ops(make):
    everything = (torch.bool,) + INTEGERS + FLOATS
    numbers = INTEGERS + FLOATS
    plain = {"Exp": torch.exp, "Expm1": torch.expm1, "Log": torch.log, "Log1p": torch.log1p,
             "Sqrt": torch.sqrt, "Rsqrt": torch.rsqrt, "Sin": torch.sin, "Cos": torch.cos,
             "Erf": torch.erf, "Tanh": torch.tanh, "Sigmoid": torch.sigmoid}
    ops = {f"{name}FwdOp": lambda f=f: make.unary(f) for name, f in plain.items()}
    for name, f in {"Abs": torch.abs, "Neg": torch.neg, "Reciprocal": torch.reciprocal,
                    "Sign": torch.sign, "Floor": torch.floor, "Ceil": torch.ceil,
                    "Trunc": torch.trunc}.items():
        ops[f"{name}FwdOp"] = lambda f=f: make.unary(f, dtypes=numbers)
    for name, f in {"LogicalNot": torch.logical_not, "Isnan": torch.isnan, "Isinf": torch.isinf,
                    "Isfinite": torch.isfinite}.items():
        ops[f"{name}FwdOp"] = lambda f=f: make.unary(f, dtypes=everything)
    ops["BitwiseNotFwdOp"] = lambda: make.unary(torch.bitwise_not, dtypes=(torch.bool,) + INTEGERS)

    def rounds():
        yield from make.unary(torch.round, (0,), dtypes=numbers)
        for decimals in (1, 3, -1):
            yield from make.unary(lambda x: torch.round(x, decimals=decimals), (decimals,),
                                  dtypes=(torch.float32,), tag=f"-{decimals}", scale=30)

    def nan_to_nums():
        yield from make.unary(torch.nan_to_num, (0.0, None, None))
        yield from make.unary(lambda x: torch.nan_to_num(x, 1.5, 2.5, -3.5), (1.5, 2.5, -3.5),
                              tag="-given")
        yield from make.unary(lambda x: torch.nan_to_num(x, 0.0, None, -1.0), (0.0, None, -1.0),
                              tag="-one")

    def clamps():
        for low, high in ((-0.5, 0.25), (None, 0.5), (0.5, None), (2.0, -1.0), (-1.0, 1.0)):
            yield from make.unary(lambda x: torch.clamp(x, low, high), (low, high),
                                  tag=f"-{low}-{high}")

    return ops | {"RoundFwdOp": rounds, "NanToNumFwdOp": nan_to_nums, "ClampScalarFwdOp": clamps}


def binary_ops(make):
    everything = (torch.bool,) + INTEGERS + FLOATS
    ops = {}
    for name, f in {"Mul": torch.mul, "Maximum": torch.maximum, "Minimum": torch.minimum,
                    "Eq": torch.eq, "Ne": torch.ne, "Gt": torch.gt, "Lt": torch.lt, "Ge": torch.ge,
                    "Le": torch.le, "LogicalAnd": torch.logical_and,
                    "LogicalOr": torch.logical_or}.items():
        ops[f"{name}FwdOp"] = lambda f=f: make.binary(f, dtypes=everything)
    for name, f in {"And": torch.bitwise_and, "Or": torch.bitwise_or,
                    "Xor": torch.bitwise_xor}.items():
        ops[f"Bitwise{name}FwdOp"] = lambda f=f: make.binary(f, dtypes=(torch.bool,) + INTEGERS)
    for name, f in {"Remainder": torch.remainder, "Pow": torch.pow,
                    "FloorDivide": torch.floor_divide}.items():
        ops[f"{name}FwdOp"] = lambda f=f: make.binary(wide(f))

    def divs():
        for code, mode in ((None, None), (0, "trunc"), (1, "floor")):
            yield from make.binary(wide(lambda a, b: torch.div(a, b, rounding_mode=mode)), (code,),
                                   tag=f"-{mode}")

    def subs():
        for alpha in (1, -2, 3):
            yield from make.binary(lambda a, b: torch.sub(a, b, alpha=alpha), (alpha,),
                                   dtypes=INTEGERS, tag=f"-{alpha}")
        for alpha in (1, 0, 0.5):
            yield from make.binary(wide(lambda a, b: torch.sub(a, b, alpha=alpha)), (alpha,),
                                   tag=f"-{alpha}")

    def lerps():
        for weight in (0.3, 0.5, -1.5, 2.0):
            yield from make.binary(wide(lambda a, b: torch.lerp(a, b, weight)), (weight,),
                                   tag=f"-{weight}")

    return ops | {"DivFwdOp": divs, "SubFwdOp": subs, "LerpFwdOp": lerps}


def where_cases(make):
    for dtype in FLOATS:
        a, b = randn((3, 1), dtype, 29), randn((4,), dtype, 30)
        c = torch.tensor([[True], [False], [True]])
        yield make.case("broadcast", [], (c, a, b), torch.where(c, a, b))
        a, b = torch.tensor([NAN, 1, INF], dtype=dtype), torch.tensor([1, NAN, -INF], dtype=dtype)
        c = torch.tensor([True, False, False])
        yield make.case("nan", [], (c, a, b), torch.where(c, a, b))
        c = torch.zeros((0, 3), dtype=torch.bool)
        yield make.case("empty", [], (c, a, b), torch.where(c, a, b))


def masked_fill_cases(make, scalar):
    mask = torch.tensor([[True], [False]])
    values = {torch.bool: True, torch.uint8: 200, torch.int8: -7}
    for dtype in (torch.bool,) + INTEGERS + FLOATS:
        value = values.get(dtype, -3)
        x = bools()[0] if dtype == torch.bool else torch.arange(4).to(dtype)
        if scalar:
            yield make.case("fill", [value], (x, mask), x.expand(2, 4).masked_fill(mask, value))
        else:
            v = torch.tensor(value, dtype=dtype)
            yield make.case("fill", [], (x, mask, v), x.expand(2, 4).masked_fill(mask, v))
    if scalar:
        for dtype in FLOATS:
            x = randn((2, 3), dtype, 31)
            yield make.case("half", [0.5], (x, mask), x.masked_fill(mask, 0.5))
        x = torch.arange(4).to(torch.int32)
        yield make.case("truncated", [-2.75], (x, mask), x.expand(2, 4).masked_fill(mask, -2.75))


def clamp_cases(make):
    for dtype in FLOATS:
        x = torch.tensor(SPECIAL, dtype=dtype)
        low = torch.tensor([-1.0], dtype=dtype)
        high = torch.tensor([[0.5], [-2.0], [NAN]], dtype=dtype)
        yield make.case("both", [], (x, low, high), torch.clamp(x, low, high))
        yield make.case("min", [], (x, high, None), torch.clamp(x, min=high))
        yield make.case("max", [], (x, None, high), torch.clamp(x, max=high))
        empty = torch.zeros((0,), dtype=dtype)
        yield make.case("empty", [], (empty, low, low), torch.clamp(empty, low, low))


def lerp_tensor_cases(make):
    for dtype in FLOATS:
        a, b, w = randn((3, 1, 1), dtype, 32), randn((4, 1), dtype, 33), randn((5,), dtype, 34)
        lerp = wide(torch.lerp)
        yield make.case("broadcast", [], (a, b, w), lerp(*(t.expand(3, 4, 5) for t in (a, b, w))))
        a = torch.tensor([NAN, INF, 1.0, 1.0, 2.0], dtype=dtype)
        b = torch.tensor([1.0, 1.0, INF, NAN, 4.0], dtype=dtype)
        for weight in (0.25, 0.5, 1.0):
            w = torch.full((5,), weight, dtype=dtype)
            yield make.case(f"special-{weight}", [], (a, b, w), lerp(a, b, w))


def gated_cases(make, activation, up=lambda x: x):
    def run(x):
        n = x.shape[1] // 2
        return (activation(x.float()[:, :n]) * up(x.float()[:, n:])).to(x.dtype)

    for dtype in FLOATS:
        for name, x in (("normal", randn((3, 10), dtype, 35) * 3),
                        ("special", torch.tensor([[NAN, INF, -INF, -60000, 60000, 0] + [1] * 6],
                                                 dtype=dtype)),
                        ("empty", torch.zeros((0, 4), dtype=dtype))):
            yield make.case(name, [], (x,), run(x))


def elementwise_ops(case):
    make = Maker(case)
    return (activation_cases(make) | unary_ops(make) | binary_ops(make) | {
        "PreluFwdOp": lambda: prelu_cases(make),
        "WhereFwdOp": lambda: where_cases(make),
        "MaskedFillFwdOp": lambda: masked_fill_cases(make, False),
        "MaskedFillScalarFwdOp": lambda: masked_fill_cases(make, True),
        "ClampFwdOp": lambda: clamp_cases(make),
        "LerpTensorFwdOp": lambda: lerp_tensor_cases(make),
        "GeluAndMulFwdOp": lambda: gated_cases(make, finite(F.gelu)),
        "GeluTanhAndMulFwdOp": lambda: gated_cases(make, lambda x: F.gelu(x, approximate="tanh")),
        "SwigluOaiAndMulFwdOp": lambda: gated_cases(
            make, lambda x: x.clamp(max=7) * torch.sigmoid(1.702 * x.clamp(max=7)),
            lambda x: x.clamp(-7, 7) + 1),
    })
