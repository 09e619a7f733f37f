"""Golden cases of the normalisations; used by make_golden.py."""
import math

import torch

F = torch.nn.functional
INF, NAN = math.inf, math.nan
HALVES = (torch.float16, torch.bfloat16)
FLOATS = HALVES + (torch.float32,)
SPECIAL = [[NAN, 1, 2, 3], [INF, 1, 2, 3], [-INF, INF, 0, 1], [5, 5, 5, 5], [0, 0, 0, 0]]


def randn(shape, dtype, seed):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed)).to(dtype)


def layer_norm(x, weight, bias, eps, shape=None):
    """In float64, rounded once."""
    wide = [None if t is None else t.double() for t in (weight, bias)]
    return F.layer_norm(x.double(), shape or x.shape[-1:], *wide, eps).to(x.dtype)


def layer_norm_cases(case):
    for dtype in FLOATS:
        x, w, b = randn((3, 16), dtype, 51), randn((16,), dtype, 52), randn((16,), dtype, 53)
        for eps in (1e-5, 0.0, 1.0):
            yield case(f"eps-{eps}", [[16], eps], (x, w, b), layer_norm(x, w, b, eps))
        offset = (x.float() + 100).to(dtype)
        yield case("offset", [[16], 1e-5], (offset, w, b), layer_norm(offset, w, b, 1e-5))
        x3, w2, b2 = (randn(s, dtype, 54 + i) for i, s in enumerate(((2, 3, 4), (3, 4), (3, 4))))
        yield case("two-axes", [[3, 4], 1e-5], (x3, w2, b2), layer_norm(x3, w2, b2, 1e-5, (3, 4)))
        s, w4, b4 = torch.tensor(SPECIAL, dtype=dtype), randn((4,), dtype, 57), randn((4,), dtype, 58)
        yield case("special", [[4], 1e-5], (s, w4, b4), layer_norm(s, w4, b4, 1e-5))
        empty = torch.zeros((0, 4), dtype=dtype)
        yield case("empty", [[4], 1e-5], (empty, w4, b4), layer_norm(empty, w4, b4, 1e-5))


def fused_cases(case, dtypes, centered):
    for dtype in dtypes:
        for name, shape, eps in (("normal", (3, 16), 1e-5), ("rank-3", (2, 3, 8), 1e-6),
                                 ("one", (2, 1), 1e-5), ("large-eps", (3, 5), 1.0),
                                 ("no-rows", (0, 4), 1e-5)):
            x, r = randn(shape, dtype, 61), randn(shape, dtype, 62)
            w, b = randn(shape[-1:], dtype, 63), randn(shape[-1:], dtype, 64)
            yield from fused_case(case, name, x, r, w, b, eps, centered)
        s, zeros = torch.tensor(SPECIAL, dtype=dtype), torch.zeros((5, 4), dtype=dtype)
        w, b = randn((4,), dtype, 65), randn((4,), dtype, 66)
        yield from fused_case(case, "special", s, zeros, w, b, 1e-5, centered)


def fused_case(case, name, x, r, w, b, eps, centered):
    added = (x.float() + r.float()).to(x.dtype)
    if centered:
        y = layer_norm(added, w, b, eps)
    else:
        y = F.rms_norm(added.float(), x.shape[-1:], w.float(), eps).to(x.dtype)
    yield case(name, [eps], (x, r, w, b) if centered else (x, r, w), [y, added])


def adaptive_cases(case, gated):
    for dtype in FLOATS:
        for name, shape, eps in (("normal", (3, 16), 1e-5), ("rank-3", (2, 3, 8), 1e-6),
                                 ("large-eps", (3, 5), 1.0), ("no-rows", (0, 4), 1e-5)):
            x, s, t, g = (randn(shape, dtype, 71 + i) for i in range(4))
            y = s.float() * layer_norm(x.float(), None, None, eps) + t.float()
            y = (g.float() * y if gated else y).to(dtype)
            yield case(name, [eps], (x, s, t, g) if gated else (x, s, t), y)


def shapes():
    yield "rank-2", (6, 3)
    yield "rank-3", (2, 3, 5)
    yield "rank-4", (2, 4, 3, 2)
    yield "one-sample", (1, 4, 6)


def batch_norm_cases(case):
    for dtype in FLOATS:
        for name, shape in shapes():
            for training in (True, False):
                x, c = randn(shape, dtype, 81), shape[1]
                mean, w, b = (randn((c,), torch.float32, 82 + i) for i in range(3))
                var = randn((c,), torch.float32, 85).abs()
                new_mean, new_var = mean.clone(), var.clone()
                y = F.batch_norm(x.float(), new_mean, new_var, w, b, training, 0.3, 1e-5).to(dtype)
                yield case(f"{name}-{training}", [training, 0.3, 1e-5], (x, mean, var, w, b),
                           [y, new_mean, new_var], mutated=2)


def batch_norm_backward_cases(case):
    for dtype in FLOATS:
        for name, shape in shapes():
            axes = [0, *range(2, len(shape))]
            x, grad = randn(shape, dtype, 91), randn(shape, dtype, 92)
            w = randn((shape[1],), torch.float32, 93)
            wide = x.float().requires_grad_()
            leaf, bias = w.clone().requires_grad_(), torch.zeros(shape[1], requires_grad=True)
            F.batch_norm(wide, None, None, leaf, bias, True, 0.1, 1e-5).backward(grad.float())
            var, mean = torch.var_mean(x.float(), dim=axes, correction=0)
            yield case(name, [], (grad, x, w, mean, torch.rsqrt(var + 1e-5)),
                       [wide.grad.to(dtype), leaf.grad, bias.grad])


def group_norm_cases(case):
    for dtype in FLOATS:
        for name, shape, groups in (("halves", (2, 4, 5), 2), ("whole", (2, 3, 4), 1),
                                    ("each", (2, 3, 2, 2), 3), ("rank-2", (3, 6), 2),
                                    ("three", (1, 6, 4), 2)):
            x = randn(shape, dtype, 95)
            w, b = randn(shape[1:2], dtype, 96), randn(shape[1:2], dtype, 97)
            y = F.group_norm(x.float(), groups, w.float(), b.float(), 1e-5).to(dtype)
            yield case(name, [groups, 1e-5], (x, w, b), y)
            y = F.group_norm(x.float(), groups, None, None, 1e-3).to(dtype)
            yield case(name + "-plain", [groups, 1e-3], (x, None, None), y)


def instance_norm_cases(case):
    for dtype in FLOATS:
        for name, shape in (("rank-3", (2, 3, 5)), ("rank-4", (2, 4, 3, 2))):
            x, c = randn(shape, dtype, 98), shape[1]
            w, b = randn((c,), dtype, 99), randn((c,), dtype, 100)
            mean, var = randn((c,), torch.float32, 101), randn((c,), torch.float32, 102).abs()
            for affine in (True, False):
                wide = (w.float(), b.float()) if affine else (None, None)
                given = (w, b) if affine else (None, None)
                y = F.instance_norm(x.float(), None, None, *wide, True, 0.1, 1e-5).to(dtype)
                yield case(f"{name}-{affine}", [True, 0.1, 1e-5], (x, None, None, *given), y)
                y = F.instance_norm(x.float(), mean, var, *wide, False, 0.1, 1e-5).to(dtype)
                yield case(f"{name}-{affine}-running", [False, 0.1, 1e-5], (x, mean, var, *given),
                           y)


def normalization_ops(case):
    return {
        "LayerNormFwdOp": lambda: layer_norm_cases(case),
        "FusedAddRMSNormFwdOp": lambda: fused_cases(case, HALVES, False),
        "FusedAddLayerNormFwdOp": lambda: fused_cases(case, FLOATS, True),
        "AdaLayerNormFwdOp": lambda: adaptive_cases(case, False),
        "AdaLayerNormZeroFwdOp": lambda: adaptive_cases(case, True),
        "BatchNormFwdOp": lambda: batch_norm_cases(case),
        "BatchNormBwdOp": lambda: batch_norm_backward_cases(case),
        "GroupNormFwdOp": lambda: group_norm_cases(case),
        "InstanceNormFwdOp": lambda: instance_norm_cases(case),
    }
