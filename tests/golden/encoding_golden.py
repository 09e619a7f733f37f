"""Golden cases of position encodings, dropout and quantisation; used by make_golden.py."""
import math

import torch

INF, NAN = math.inf, math.nan
FLOATS = (torch.float16, torch.bfloat16, torch.float32)


def randn(shape, dtype, seed):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed)).to(dtype)


def alibi_cases(case):
    for dtype in FLOATS:
        for heads, length in ((1, 1), (3, 5), (8, 4), (12, 3)):
            slopes = 2.0 ** (-8.0 * torch.arange(1, heads + 1, dtype=torch.float64) / heads)
            place = torch.arange(length, dtype=torch.float64)
            bias = -slopes[:, None, None] * (place[:, None] - place[None, :]).abs()
            yield case(f"{heads}x{length}", [length, heads], (), bias.to(dtype))


def sinusoidal_cases(case):
    for dtype in FLOATS:
        for length, width in ((1, 2), (5, 6), (3, 16), (9000, 2)):
            place = torch.arange(length, dtype=torch.float64)[:, None]
            pair = torch.arange(width // 2, dtype=torch.float64)[None, :]
            angle = place / 10000.0 ** (2 * pair / width)
            table = torch.stack((angle.sin(), angle.cos()), dim=-1).reshape(length, width)
            yield case(f"{length}x{width}", [length, width], (), table.to(dtype))


def rotate(x, positions, frequencies, halves=True, amplitude=1.0):
    """`positions` has one value per token; heads, if any, are the axis before the last."""
    angle = positions.double()[:, None] * frequencies.double()
    cos, sin = angle.cos() * amplitude, angle.sin() * amplitude
    if x.ndim > 2:
        cos, sin = cos[:, None, :], sin[:, None, :]
    wide, pairs = x.double(), frequencies.numel()
    if halves:
        a, b, rest = wide[..., :pairs], wide[..., pairs:2 * pairs], wide[..., 2 * pairs:]
        parts = (a * cos - b * sin, b * cos + a * sin, rest)
        return torch.cat(parts, dim=-1).to(x.dtype)
    a, b = wide[..., 0::2], wide[..., 1::2]
    return torch.stack((a * cos - b * sin, b * cos + a * sin), dim=-1).flatten(-2).to(x.dtype)


def plain(base, pairs):
    return 1.0 / base ** (torch.arange(pairs, dtype=torch.float64) / pairs)


def llama31(base, pairs, scale, low, high, original):
    result = []
    for f in plain(base, pairs).tolist():
        wavelength = 2 * math.pi / f
        smooth = (original / wavelength - low) / (high - low)
        result.append(f if wavelength < original / high else f / scale
                      if wavelength > original / low else (1 - smooth) * f / scale + smooth * f)
    return torch.tensor(result, dtype=torch.float64)


def yarn(base, pairs, scale, original, fast, slow):
    def correction(rotations):
        return pairs * math.log(original / (rotations * 2 * math.pi)) / (2 * math.log(base))

    low = max(math.floor(correction(fast)), 0)
    high = min(math.ceil(correction(slow)), pairs - 1)
    high += low == high
    k = torch.arange(pairs, dtype=torch.float64)
    mask = 1 - ((k - low) / (high - low)).clamp(0, 1)
    return plain(scale * base, pairs) * (1 - mask) + plain(base, pairs) * mask


def rope_cases(case, variants, halves=True):
    """`variants`: (tag, params, pairs -> (frequencies, amplitude))."""
    for dtype in FLOATS:
        for tag, params, make in variants:
            for name, shape in (("1d", (7, 8)), ("2d", (2, 5, 3, 16)), ("long", (300, 2))):
                x = randn(shape, dtype, 41)
                frequencies, amplitude = make(shape[-1] // 2)
                positions = torch.arange(shape[0] if len(shape) == 2 else shape[1])
                entries = [x] if len(shape) == 2 else list(x)
                done = [rotate(e, positions, frequencies, halves, amplitude) for e in entries]
                yield case(name + tag, params, (x,), done[0] if len(shape) == 2
                           else torch.stack(done))
        x = torch.tensor([[1.0, 2.0, INF, NAN], [INF, 1.0, -1.0, -0.0]], dtype=dtype)
        tag, params, make = variants[0]
        frequencies, amplitude = make(2)
        yield case("special" + tag, params, (x,),
                   rotate(x, torch.arange(2), frequencies, halves, amplitude))


def longrope_cases(case):
    for dtype in FLOATS:
        for longest, original in ((4096, 4096), (131072, 4096)):
            ratio = longest / original
            amplitude = math.sqrt(1 + math.log(ratio) / math.log(original)) if ratio > 1 else 1.0
            for with_factors in (False, True):
                x = randn((7, 8), dtype, 42)
                factors = torch.tensor([1.0, 1.5, 4.0, 32.0]) if with_factors else None
                frequencies = plain(10000.0, 4) / (factors.double() if with_factors else 1)
                yield case(f"{longest}-{with_factors:d}", [10000.0, longest, original],
                           (x, factors),
                           rotate(x, torch.arange(7), frequencies, True, amplitude))


def position_ids_cases(case):
    for dtype in FLOATS:
        for ids in (torch.int32, torch.int64):
            for rotary in (None, 8, 4):
                x = randn((5, 3, 8), dtype, 43)
                positions = torch.tensor([0, 4095, 7, 7, 1234], dtype=ids)
                frequencies = plain(10000.0, (rotary or 8) // 2)
                yield case(f"rotary-{rotary}", [4096, 10000.0, rotary], (x, positions),
                           rotate(x, positions, frequencies))


MASK = 0xffffffff


def philox(key, counter):
    x = [counter & MASK, counter >> 32, 0, 0]
    low, high = key & MASK, key >> 32
    for _ in range(10):
        a, b = 0xd2511f53 * x[0], 0xcd9e8d57 * x[2]
        x = [b >> 32 ^ x[1] ^ low, b & MASK, a >> 32 ^ x[3] ^ high, a & MASK]
        low, high = (low + 0x9e3779b9) & MASK, (high + 0xbb67ae85) & MASK
    return x


# Known answers of the Random123 distribution (kat_vectors, philox4x32 10).
assert philox(0, 0) == [0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8]


def dropout(x, p, seed, offset, training):
    if not training or p == 0:
        return x
    if p == 1:
        return x * 0
    modulus = 1 << 64
    words = [philox(seed % modulus, (offset + i) % modulus // 4)[(offset + i) % 4]
             for i in range(x.numel())]
    kept = torch.tensor([word >= math.floor(p * 2 ** 32) for word in words]).reshape(x.shape)
    return (x.double() * (kept.double() / (1 - p))).to(x.dtype)


def dropout_cases(case):
    for dtype in FLOATS:
        for p, seed, offset, training in ((0.5, 0, 0, True), (0.25, 42, 3, True),
                                          (0.9, -7, (1 << 40) + 2, True), (0.0, 1, 0, True),
                                          (1.0, 1, 0, True), (0.5, 1, 0, False)):
            x = randn((5, 7), dtype, 44)
            yield case(f"p-{p}-{seed}", [p, seed, offset, training], (x, None),
                       dropout(x, p, seed, offset, training))
        x = torch.tensor([NAN, INF, -INF, 1.0, -0.0, 2.0, NAN, INF], dtype=dtype)
        state = torch.tensor([5, 9], dtype=torch.int64)
        yield case("special-state", [0.5, 3, 1, True], (x, state), dropout(x, 0.5, 8, 10, True))


def fp8_quant(x):
    scale = x.float().abs().amax(dim=-1).clamp(min=1e-4) / 448.0
    exact = x.double().abs().amax(dim=-1, keepdim=True).clamp(min=float(torch.tensor(1e-4))) / 448
    # In two steps, as float32 holds every quotient that matters here.
    quotient = (x.double() / exact).clamp(-448, 448).float()
    return [scale, quotient.to(torch.float8_e4m3fn)]


def fp8_quant_cases(case):
    for dtype in FLOATS:
        for shape in ((1, 3, 1, 8), (2, 2, 3, 5), (1, 4, 2, 1), (0, 2, 1, 4)):
            x = randn(shape, dtype, 45)
            yield case("x".join(map(str, shape)), [], (x,), fp8_quant(x) if x.numel() else
                       [torch.zeros(shape[:3]), torch.zeros(shape).to(torch.float8_e4m3fn)])
        rows = torch.tensor([[448, 300, 272, 304, -465 / 2, 1, 0, -0.0], [0] * 8,
                             [1e-6, -1e-6, 0, 5e-5, 0, 0, 0, 0], [INF, 1, 2, -INF, 0, 0, 0, 0],
                             [NAN, 1, 2, 3, 4, 5, 6, 7]], dtype=dtype).reshape(1, 5, 1, 8)
        yield case("special", [], (rows,), fp8_quant(rows))


def encoding_ops(case):
    def neox(base):
        return (f"-{base:g}", [base], lambda pairs: (plain(base, pairs), 1.0))

    bases = [neox(10000.0), neox(500000.0)]
    scaled = [("", [10000.0, 8.0, 1.0, 4.0, 8192],
               lambda pairs: (llama31(10000.0, pairs, 8.0, 1.0, 4.0, 8192), 1.0)),
              ("-short", [100.0, 4.0, 1.0, 2.0, 64],
               lambda pairs: (llama31(100.0, pairs, 4.0, 1.0, 2.0, 64), 1.0))]
    ramps = [("", [10000.0, 16.0, 4096, 32.0, 1.0, 1.0],
              lambda pairs: (yarn(10000.0, pairs, 16.0, 4096, 32.0, 1.0), 1.0)),
             ("-amplified", [10000.0, 4.0, 65536, 32.0, 1.0, 1.25],
              lambda pairs: (yarn(10000.0, pairs, 4.0, 65536, 32.0, 1.0), 1.25))]
    return {
        "AlibiFwdOp": lambda: alibi_cases(case),
        "SinusoidalFwdOp": lambda: sinusoidal_cases(case),
        "RopeNeoxFwdOp": lambda: rope_cases(case, bases),
        "RopeNonNeoxFwdOp": lambda: rope_cases(case, bases, halves=False),
        "RopeLlama31FwdOp": lambda: rope_cases(case, scaled),
        "RopeYarnFwdOp": lambda: rope_cases(case, ramps),
        "RopeLongRopeFwdOp": lambda: longrope_cases(case),
        "RopeNeoxPositionIdsFwdOp": lambda: position_ids_cases(case),
        "DropoutFwdOp": lambda: dropout_cases(case),
        "FP8QuantFwdOp": lambda: fp8_quant_cases(case),
    }
