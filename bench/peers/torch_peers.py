#!/usr/bin/env python3
"""Times PyTorch eager and torch.compile on the calls that `tilewright bench` writes.

    torch_peers.py CALLS.jsonl OUT.csv [--repeats N] [--mode MODE]

CALLS.jsonl has one line a case: {"op", "case", "dtype", "inputs": [[...], ...], "params": {...}}.
OUT.csv has op,case,peer,median_us,p10_us,p90_us. Times are kernel times from CUPTI (through
torch.profiler), summed over the kernels of one call, with the L2 cache flushed before each call and
inputs drawn at random. Matrix products are left out: cuBLASLt is their peer. Every operator served
here stands in this file by its full name in double quotes: the build lists them for validate.
"""
import argparse
import csv
import json
import sys
import time

import torch
from torch.profiler import ProfilerActivity, profile

FLUSH_BYTES = 256 << 20
WARM_UPS = 5
# What the profiler says of itself among the device's events.
PROFILER_EVENTS = {"Activity Buffer Request", "Buffer Flush", "Command Buffer Full",
                   "Instrumentation", "Lazy Function Loading", "Resource",
                   "Runtime Triggered Module Loading"}


# Operators whose weights and statistics are float32 whatever x is.
FLOAT_CHANNELS = {"BatchNormFwdOp", "BatchNormBwdOp"}


def tensors(case):
    dtype = getattr(torch, case["dtype"])
    made = []
    for shape in case["inputs"]:
        if case["op"] in FLOAT_CHANNELS and len(shape) == 1:
            made.append(torch.rand(shape, device="cuda") + 0.5)
        elif dtype.is_floating_point:
            made.append(torch.randn(shape, device="cuda", dtype=torch.float32).to(dtype))
        elif dtype == torch.bool:
            made.append(torch.rand(shape, device="cuda") < 0.5)
        else:
            made.append(torch.randint(0, 100, shape, device="cuda", dtype=torch.int64).to(dtype))
    return made


def rms_norm(inputs, params):
    x, weight = inputs
    return torch.nn.functional.rms_norm(x, params["normalized_shape"], weight, params["eps"])


def softmax(inputs, params):
    return torch.nn.functional.softmax(inputs[0], dim=params["dim"])


def add(inputs, params):
    return torch.add(inputs[0], inputs[1], alpha=params["alpha"])


def silu_and_mul(inputs, params):
    gate, up = inputs[0].chunk(2, dim=-1)
    return torch.nn.functional.silu(gate) * up


def attention(inputs, params):
    """cuDNN's kernel where there is one for the call."""
    q, k, v = (t.transpose(1, 2) for t in inputs)
    with torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.CUDNN_ATTENTION):
        return torch.nn.functional.scaled_dot_product_attention(
            q, k, v, is_causal=params["is_causal"], enable_gqa=q.shape[1] != k.shape[1])


def dims(params):
    dim = params["dim"]
    return tuple(dim) if isinstance(dim, list) else dim


def reduction(function):
    return lambda inputs, params: function(inputs[0], dim=dims(params), keepdim=params["keepdim"])


def count_nonzero(inputs, params):
    return torch.count_nonzero(inputs[0], dim=dims(params))


def moments(function):
    return lambda inputs, params: function(
        inputs[0], dim=dims(params), correction=params["correction"], keepdim=params["keepdim"])


def vector_norm(order):
    return lambda inputs, params: torch.linalg.vector_norm(
        inputs[0], order, dim=dims(params), keepdim=params["keepdim"])


def log_softmax(inputs, params):
    return torch.nn.functional.log_softmax(inputs[0], dim=params["dim"])


def layer_norm(inputs, params):
    x, weight, bias = inputs
    return torch.nn.functional.layer_norm(x, params["normalized_shape"], weight, bias,
                                          params["eps"])


def fused_add_rms_norm(inputs, params):
    x, residual, weight = inputs
    added = x + residual
    return torch.nn.functional.rms_norm(added, weight.shape, weight, params["eps"]), added


def fused_add_layer_norm(inputs, params):
    x, residual, weight, bias = inputs
    added = x + residual
    return torch.nn.functional.layer_norm(added, weight.shape, weight, bias, params["eps"]), added


def ada_layer_norm(inputs, params):
    x, scale, shift, *gate = inputs
    y = scale * torch.nn.functional.layer_norm(x, x.shape[-1:], None, None, params["eps"]) + shift
    return gate[0] * y if gate else y


def batch_norm(inputs, params):
    x, mean, var, weight, bias = inputs
    return torch.nn.functional.batch_norm(x, mean, var, weight, bias, params["training"],
                                          params["momentum"], params["eps"])


def batch_norm_backward(inputs, params):
    grad, x, weight, mean, rstd = inputs
    return torch.ops.aten.native_batch_norm_backward(grad, x, weight, None, None, mean, rstd, True,
                                                     1e-5, [True, True, True])


OPS = {
    "MultiHeadAttentionFwdOp": attention,
    "GroupedQueryAttentionFwdOp": attention,
    "AllFwdOp": reduction(torch.all),
    "AmaxFwdOp": reduction(torch.amax),
    "AminFwdOp": reduction(torch.amin),
    "AnyFwdOp": reduction(torch.any),
    "ArgmaxFwdOp": reduction(torch.argmax),
    "ArgminFwdOp": reduction(torch.argmin),
    "CountNonzeroFwdOp": count_nonzero,
    "InfNormFwdOp": vector_norm(float("inf")),
    "L1NormFwdOp": vector_norm(1),
    "L2NormFwdOp": vector_norm(2),
    "LogSoftmaxFwdOp": log_softmax,
    "LogSumExpFwdOp": reduction(torch.logsumexp),
    "MeanFwdOp": reduction(torch.mean),
    "ProdFwdOp": reduction(torch.prod),
    "StdFwdOp": moments(torch.std),
    "SumFwdOp": reduction(torch.sum),
    "VarFwdOp": moments(torch.var),
    "VarMeanFwdOp": moments(torch.var_mean),
    "AdaLayerNormFwdOp": ada_layer_norm,
    "AdaLayerNormZeroFwdOp": ada_layer_norm,
    "BatchNormBwdOp": batch_norm_backward,
    "BatchNormFwdOp": batch_norm,
    "FusedAddLayerNormFwdOp": fused_add_layer_norm,
    "FusedAddRMSNormFwdOp": fused_add_rms_norm,
    "LayerNormFwdOp": layer_norm,
    "RMSNormFwdOp": rms_norm,
    "SoftmaxFwdOp": softmax,
    "AddFwdOp": add,
    "SiluAndMulFwdOp": silu_and_mul,
}


def device_events(run):
    """(name, microseconds) of everything that ran on the device during run(), in order of start."""
    with profile(activities=[ProfilerActivity.CUDA]) as trace:
        run()
        torch.cuda.synchronize()
    events = [e for e in trace.events()
              if e.device_type == torch.autograd.DeviceType.CUDA and e.name not in PROFILER_EVENTS]
    events.sort(key=lambda e: e.time_range.start)
    return [(e.name, e.time_range.elapsed_us()) for e in events]


class Timer:
    """Times calls one by one; the fill that flushes the L2 cache stands between them."""

    def __init__(self, repeats):
        self.repeats = repeats
        self.flush = torch.empty(FLUSH_BYTES, dtype=torch.uint8, device="cuda")
        self.flush.fill_(1)
        device_events(lambda: self.flush.fill_(1))  # the profiler's own start
        self.separators = {name for name, _ in device_events(lambda: self.flush.fill_(1))}
        if len(self.separators) != 1:
            raise RuntimeError(f"expected one kernel for the flush, got {self.separators}")

    def call_times(self, run):
        """Summed kernel time of each call, in microseconds, sorted."""
        for _ in range(WARM_UPS):
            self.flush.fill_(1)
            run()
        torch.cuda.synchronize()

        def all_calls():
            for _ in range(self.repeats):
                self.flush.fill_(1)
                run()

        times = []
        for name, microseconds in device_events(all_calls):
            if name in self.separators:
                times.append(0.0)
            elif not times:
                raise RuntimeError(f"{name} ran before the first flush")
            else:
                times[-1] += microseconds
        if len(times) != self.repeats or min(times) <= 0:
            raise RuntimeError(f"expected {self.repeats} calls in the trace, got {len(times)}")
        return sorted(times)


def quantile(ordered, fraction):
    return ordered[min(len(ordered) - 1, int(fraction * len(ordered)))]


def measure(case, timer, mode):
    inputs, function, params = tensors(case), OPS[case["op"]], case["params"]
    torch._dynamo.reset()
    # Shapes are constants, as in a program that is compiled for them.
    compiled = torch.compile(function, mode=mode, dynamic=False)
    for peer, run in (("torch", function), ("torch-compile", compiled)):
        times = timer.call_times(lambda: run(inputs, params))
        yield peer, quantile(times, 0.5), quantile(times, 0.1), quantile(times, 0.9)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("calls")
    parser.add_argument("out")
    parser.add_argument("--repeats", type=int, default=50)
    parser.add_argument("--mode", default="default", help="of torch.compile")
    arguments = parser.parse_args()
    torch.manual_seed(time.time_ns())
    timer = Timer(arguments.repeats)
    failures = 0
    with open(arguments.calls) as calls, open(arguments.out, "w", newline="") as out:
        writer = csv.writer(out)
        writer.writerow(["op", "case", "peer", "median_us", "p10_us", "p90_us"])
        for line in calls:
            case = json.loads(line)
            if case["op"] not in OPS:
                continue
            try:
                for peer, *times in measure(case, timer, arguments.mode):
                    writer.writerow([case["op"], case["case"], peer, *(f"{t:.3f}" for t in times)])
                    out.flush()
            except Exception as error:  # one case must not cost the others
                failures += 1
                print(f"{case['op']} {case['case']}: {error}", file=sys.stderr)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
