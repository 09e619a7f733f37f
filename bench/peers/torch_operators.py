"""What PyTorch has for each operator of the manifest.

OPS maps an operator to a function of its inputs (None where absent) and params. PLANS maps one to
a function of inputs, params and an empty tensor of the output's dtype on its device: it makes
tables, masks and lengths of the sequences, which a program has at hand before the call, and returns
a function of the inputs alone. Matrix products are left out: cuBLASLt is their peer. Every operator
served here stands in this folder's scripts by its full name in double quotes: the build lists them
for validate.
"""
import math

import torch

from torch_attention import ATTENTION_OPS, ATTENTION_PLANS

F = torch.nn.functional


def prepare(op, inputs, params, output):
    """A function of the inputs that calls the operator."""
    if op in PLANS:
        return PLANS[op](inputs, params, output)
    function = OPS[op]
    return lambda tensors: function(tensors, params)


def serves(op):
    return op in OPS or op in PLANS


# Element-wise


def same(function):
    """An operator that takes its inputs alone."""
    return lambda inputs, params: function(*inputs)


def named(function):
    """An operator whose params have PyTorch's names."""
    return lambda inputs, params: function(*inputs, **params)


def gated(activation):
    def run(inputs, params):
        gate, up = inputs[0].chunk(2, dim=-1)
        return activation(gate) * up
    return run


def swiglu_oai(inputs, params):
    gate, up = inputs[0].chunk(2, dim=-1)
    gate = gate.clamp(max=7.0)
    return gate * torch.sigmoid(1.702 * gate) * (up.clamp(-7.0, 7.0) + 1)


def div(inputs, params):
    mode = {None: None, 0: "trunc", 1: "floor"}[params["rounding_mode"]]
    return torch.div(*inputs, rounding_mode=mode)


def gelu(inputs, params):
    return F.gelu(inputs[0], approximate=("none", "tanh")[params["approximate"]])


def round_decimals(inputs, params):
    decimals = params["decimals"]
    return torch.round(inputs[0], decimals=decimals) if decimals else torch.round(inputs[0])


def alibi(inputs, params, output):
    length, heads = params["seq_len"], params["num_heads"]
    place = torch.arange(length, device=output.device, dtype=torch.float32)
    slopes = torch.exp2(-8.0 * torch.arange(1, heads + 1, device=output.device) / heads)

    def run(_):
        distance = (place[:, None] - place[None, :]).abs()
        return (-slopes[:, None, None] * distance).to(output.dtype)
    return run


def sinusoidal(inputs, params, output):
    width = params["d_model"]
    place = torch.arange(params["seq_len"], device=output.device, dtype=torch.float64)
    pair = torch.arange(width // 2, device=output.device, dtype=torch.float64)
    rates = 10000.0 ** (-2 * pair / width)

    def run(_):
        angle = place[:, None] * rates
        return torch.stack((angle.sin(), angle.cos()), dim=-1).flatten(-2).to(output.dtype)
    return run


ELEMENTWISE = {
    "AddFwdOp": named(torch.add),
    "SubFwdOp": named(torch.sub),
    "MulFwdOp": same(torch.mul),
    "DivFwdOp": div,
    "RemainderFwdOp": same(torch.remainder),
    "PowFwdOp": same(torch.pow),
    "FloorDivideFwdOp": same(torch.floor_divide),
    "LerpFwdOp": named(torch.lerp),
    "LerpTensorFwdOp": same(torch.lerp),
    "MaximumFwdOp": same(torch.maximum),
    "MinimumFwdOp": same(torch.minimum),
    "EqFwdOp": same(torch.eq),
    "NeFwdOp": same(torch.ne),
    "GtFwdOp": same(torch.gt),
    "LtFwdOp": same(torch.lt),
    "GeFwdOp": same(torch.ge),
    "LeFwdOp": same(torch.le),
    "LogicalAndFwdOp": same(torch.logical_and),
    "LogicalOrFwdOp": same(torch.logical_or),
    "LogicalNotFwdOp": same(torch.logical_not),
    "BitwiseAndFwdOp": same(torch.bitwise_and),
    "BitwiseOrFwdOp": same(torch.bitwise_or),
    "BitwiseXorFwdOp": same(torch.bitwise_xor),
    "BitwiseNotFwdOp": same(torch.bitwise_not),
    "WhereFwdOp": same(torch.where),
    "MaskedFillFwdOp": same(torch.masked_fill),
    "MaskedFillScalarFwdOp": named(torch.masked_fill),
    "ClampFwdOp": same(torch.clamp),
    "ClampScalarFwdOp": named(torch.clamp),
    "NanToNumFwdOp": named(torch.nan_to_num),
    "PreluFwdOp": same(F.prelu),
    "ReluFwdOp": same(F.relu),
    "GeluFwdOp": gelu,
    "SiluFwdOp": same(F.silu),
    "HardswishFwdOp": same(F.hardswish),
    "HardsigmoidFwdOp": same(F.hardsigmoid),
    "MishFwdOp": same(F.mish),
    "SeluFwdOp": same(F.selu),
    "LeakyReluFwdOp": named(F.leaky_relu),
    "EluFwdOp": named(F.elu),
    "HardtanhFwdOp": named(F.hardtanh),
    "SoftplusFwdOp": named(F.softplus),
    "SigmoidFwdOp": same(torch.sigmoid),
    "TanhFwdOp": same(torch.tanh),
    "ExpFwdOp": same(torch.exp),
    "Expm1FwdOp": same(torch.expm1),
    "LogFwdOp": same(torch.log),
    "Log1pFwdOp": same(torch.log1p),
    "SqrtFwdOp": same(torch.sqrt),
    "RsqrtFwdOp": same(torch.rsqrt),
    "AbsFwdOp": same(torch.abs),
    "NegFwdOp": same(torch.neg),
    "ReciprocalFwdOp": same(torch.reciprocal),
    "SignFwdOp": same(torch.sign),
    "SinFwdOp": same(torch.sin),
    "CosFwdOp": same(torch.cos),
    "ErfFwdOp": same(torch.erf),
    "FloorFwdOp": same(torch.floor),
    "CeilFwdOp": same(torch.ceil),
    "RoundFwdOp": round_decimals,
    "TruncFwdOp": same(torch.trunc),
    "IsnanFwdOp": same(torch.isnan),
    "IsinfFwdOp": same(torch.isinf),
    "IsfiniteFwdOp": same(torch.isfinite),
    "SiluAndMulFwdOp": gated(F.silu),
    "GeluAndMulFwdOp": gated(F.gelu),
    "GeluTanhAndMulFwdOp": gated(lambda gate: F.gelu(gate, approximate="tanh")),
    "SwigluOaiAndMulFwdOp": swiglu_oai,
}
ELEMENTWISE_PLANS = {"AlibiFwdOp": alibi, "SinusoidalFwdOp": sinusoidal}


# Reductions and scans


def vector_norm(order):
    return lambda inputs, params: torch.linalg.vector_norm(
        inputs[0], order, dim=params["dim"], keepdim=params["keepdim"])


REDUCTIONS = {
    "SoftmaxFwdOp": named(F.softmax),
    "LogSoftmaxFwdOp": named(F.log_softmax),
    "LogSumExpFwdOp": named(torch.logsumexp),
    "SumFwdOp": named(torch.sum),
    "MeanFwdOp": named(torch.mean),
    "AmaxFwdOp": named(torch.amax),
    "AminFwdOp": named(torch.amin),
    "ProdFwdOp": named(torch.prod),
    "VarFwdOp": named(torch.var),
    "StdFwdOp": named(torch.std),
    "VarMeanFwdOp": named(torch.var_mean),
    "ArgmaxFwdOp": named(torch.argmax),
    "ArgminFwdOp": named(torch.argmin),
    "AllFwdOp": named(torch.all),
    "AnyFwdOp": named(torch.any),
    "CountNonzeroFwdOp": named(torch.count_nonzero),
    "L1NormFwdOp": vector_norm(1),
    "L2NormFwdOp": vector_norm(2),
    "InfNormFwdOp": vector_norm(math.inf),
    "CumsumFwdOp": named(torch.cumsum),
    "CumprodFwdOp": named(torch.cumprod),
}


# Normalisation


def rms_norm(inputs, params):
    x, weight = inputs
    return F.rms_norm(x, params["normalized_shape"], weight, params["eps"])


def layer_norm(inputs, params):
    x, weight, bias = inputs
    return F.layer_norm(x, params["normalized_shape"], weight, bias, params["eps"])


def fused_add_rms_norm(inputs, params):
    x, residual, weight = inputs
    added = x + residual
    return F.rms_norm(added, added.shape[-1:], weight, params["eps"]), added


def fused_add_layer_norm(inputs, params):
    x, residual, weight, bias = inputs
    added = x + residual
    return F.layer_norm(added, added.shape[-1:], weight, bias, params["eps"]), added


def ada_layer_norm(inputs, params):
    x, scale, shift = inputs
    return scale * F.layer_norm(x, x.shape[-1:], eps=params["eps"]) + shift


def ada_layer_norm_zero(inputs, params):
    return inputs[3] * ada_layer_norm(inputs[:3], params)


def batch_norm_backward(inputs, params):
    grad_out, x, weight, mean, rstd = inputs
    return torch.ops.aten.native_batch_norm_backward(
        grad_out, x, weight, None, None, mean, rstd, True, 0.0, [True, True, True])


def group_norm(inputs, params):
    x, weight, bias = inputs
    return F.group_norm(x, params["num_groups"], weight, bias, params["eps"])


NORMS = {
    "RMSNormFwdOp": rms_norm,
    "LayerNormFwdOp": layer_norm,
    "FusedAddRMSNormFwdOp": fused_add_rms_norm,
    "FusedAddLayerNormFwdOp": fused_add_layer_norm,
    "AdaLayerNormFwdOp": ada_layer_norm,
    "AdaLayerNormZeroFwdOp": ada_layer_norm_zero,
    "BatchNormFwdOp": named(F.batch_norm),
    "BatchNormBwdOp": batch_norm_backward,
    "GroupNormFwdOp": group_norm,
    "InstanceNormFwdOp": named(F.instance_norm),
}


# Pooling


def max_pool(function):
    return lambda inputs, params: function(inputs[0], **params, return_indices=True)


def adaptive(function, **more):
    """-1 stands for the input's own extent."""
    def run(inputs, params):
        size = [None if extent == -1 else extent for extent in params["output_size"]]
        return function(inputs[0], size, **more)
    return run


POOLING = {
    "AvgPool1dFwdOp": named(F.avg_pool1d),
    "AvgPool2dFwdOp": named(F.avg_pool2d),
    "AvgPool3dFwdOp": named(F.avg_pool3d),
    "MaxPool1dFwdOp": named(F.max_pool1d),
    "MaxPool2dFwdOp": named(F.max_pool2d),
    "MaxPool3dFwdOp": named(F.max_pool3d),
    "MaxPool1dIndicesFwdOp": max_pool(F.max_pool1d),
    "MaxPool2dIndicesFwdOp": max_pool(F.max_pool2d),
    "MaxPool3dIndicesFwdOp": max_pool(F.max_pool3d),
    "AdaptiveAvgPool2dFwdOp": adaptive(F.adaptive_avg_pool2d),
    "AdaptiveMaxPool2dFwdOp": adaptive(F.adaptive_max_pool2d),
    "AdaptiveMaxPool2dIndicesFwdOp": adaptive(F.adaptive_max_pool2d, return_indices=True),
}


# Rotary embedding: the tables of cosines and sines are made ahead, as a model keeps them.


def plain(pairs, params):
    return params["base"] ** (-torch.arange(pairs, dtype=torch.float64) / pairs), 1.0


def llama31(pairs, params):
    f = plain(pairs, params)[0]
    low, high = params["low_freq_factor"], params["high_freq_factor"]
    turns = params["original_max_position"] * f / (2 * math.pi)
    smooth = ((turns - low) / (high - low)).clamp(0, 1)
    return (1 - smooth) * f / params["scale_factor"] + smooth * f, 1.0


def yarn(pairs, params):
    base = params["base"]

    def correction(rotations):
        length = params["original_max_position"] / (rotations * 2 * math.pi)
        return pairs * math.log(length) / (2 * math.log(base))

    low = max(math.floor(correction(params["beta_fast"])), 0)
    high = min(math.ceil(correction(params["beta_slow"])), pairs - 1)
    high += low == high
    ramp = ((torch.arange(pairs, dtype=torch.float64) - low) / (high - low)).clamp(0, 1)
    stretched = plain(pairs, {"base": params["scale"] * base})[0]
    return ramp * stretched + (1 - ramp) * plain(pairs, params)[0], params["attn_factor"]


def longrope(pairs, params):
    original = params["original_max_position_embeddings"]
    ratio = params["max_position_embeddings"] / original
    amplitude = math.sqrt(1 + math.log(ratio) / math.log(original)) if ratio > 1 else 1.0
    return plain(pairs, params)[0], amplitude


def rope(frequencies, halves=True):
    def plan(inputs, params, output):
        x, more = inputs[0], inputs[1] if len(inputs) > 1 else None
        width = params.get("rotary_dim") or x.shape[-1]
        rates, amplitude = frequencies(width // 2, params)
        rates = rates.to(x.device)
        place = torch.arange(x.shape[0] if x.ndim == 2 else x.shape[1], device=x.device)
        if more is not None and more.dtype.is_floating_point:  # rescale_factors
            rates = rates / more.double()
        elif more is not None:  # position_ids
            place = more
        angle = place.double()[:, None] * rates
        cos, sin = (angle.cos() * amplitude).float(), (angle.sin() * amplitude).float()
        if x.ndim > 2:
            cos, sin = cos[:, None, :], sin[:, None, :]

        def run(tensors):
            turned, rest = tensors[0][..., :width].float(), tensors[0][..., width:]
            if halves:
                a, b = turned.chunk(2, dim=-1)
                done = torch.cat((a * cos - b * sin, b * cos + a * sin), dim=-1).to(x.dtype)
                return torch.cat((done, rest), dim=-1) if rest.shape[-1] else done
            a, b = turned[..., 0::2], turned[..., 1::2]
            return torch.stack((a * cos - b * sin, b * cos + a * sin), -1).flatten(-2).to(x.dtype)
        return run
    return plan


ROPE_PLANS = {
    "RopeNeoxFwdOp": rope(plain),
    "RopeNonNeoxFwdOp": rope(plain, halves=False),
    "RopeLlama31FwdOp": rope(llama31),
    "RopeYarnFwdOp": rope(yarn),
    "RopeLongRopeFwdOp": rope(longrope),
    "RopeNeoxPositionIdsFwdOp": rope(plain),
}


# Dropout and quantisation


def dropout(inputs, params):
    """PyTorch draws by its own generator: another mask, the same work."""
    return F.dropout(inputs[0], params["p"], params["training"])


def fp8_quant(inputs, params):
    x = inputs[0].float()
    scale = x.abs().amax(dim=-1).clamp(min=1e-4) / 448.0
    quotient = (x / scale[..., None]).clamp(-448.0, 448.0)
    return scale, quotient.to(torch.float8_e4m3fn)


OPS = ELEMENTWISE | REDUCTIONS | NORMS | POOLING | ATTENTION_OPS | {
    "DropoutFwdOp": dropout,
    "FP8QuantFwdOp": fp8_quant,
}
PLANS = ELEMENTWISE_PLANS | ROPE_PLANS | ATTENTION_PLANS
