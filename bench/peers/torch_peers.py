#!/usr/bin/env python3
"""Times PyTorch eager and torch.compile on the calls that `tilewright bench` writes.

    torch_peers.py CALLS.jsonl OUT.csv [--repeats N] [--mode MODE] [--clean-l2]

CALLS.jsonl has one line a case: {"op", "case", "dtype" (of the first output), "inputs": [{"name",
"dtype", "shape", "values"} or null, ...], "params": {...}}; an input without "values" is drawn at
random. OUT.csv has op,case,peer,median_us,p10_us,p90_us. Times are kernel times from CUPTI (through
torch.profiler), summed over the kernels of one call, with the L2 cache flushed before each call.
What is called for each operator is in torch_operators.py, beside this file. A peer that fails is a
line on standard error; the exit code is 1 where cases were given and none was timed.
"""
import argparse
import csv
import json
import sys
import time

import torch
from torch.profiler import ProfilerActivity, profile

import torch_operators

FLUSH_BYTES = 256 << 20
WARM_UPS = 5
# What the profiler says of itself among the device's events.
PROFILER_EVENTS = {"Activity Buffer Request", "Buffer Flush", "Command Buffer Full",
                   "Instrumentation", "Lazy Function Loading", "Resource",
                   "Runtime Triggered Module Loading"}


# Inputs that are no negative numbers: variances and scales.
POSITIVE = {"running_var", "rstd"}


def draw(entry, device):
    dtype, shape = getattr(torch, entry["dtype"]), entry["shape"]
    if "values" in entry:
        return torch.tensor(entry["values"], device=device).to(dtype).reshape(shape)
    if dtype.is_floating_point:
        drawn = torch.randn(shape, device=device, dtype=torch.float32)
        return (drawn.abs() if entry["name"] in POSITIVE else drawn).to(dtype)
    if dtype == torch.bool:
        return torch.rand(shape, device=device) < 0.5
    return torch.randint(0, 100, shape, device=device, dtype=torch.int64).to(dtype)


def prepared(case, device):
    """The inputs of a case, and a function of them that calls its operator."""
    inputs = [entry and draw(entry, device) for entry in case["inputs"]]
    output = torch.empty(0, dtype=getattr(torch, case["dtype"]), device=device)
    return inputs, torch_operators.prepare(case["op"], inputs, case["params"], output)


def device_events(run):
    """(name, microseconds) of everything that ran on the device during run(), in order of start."""
    with profile(activities=[ProfilerActivity.CUDA]) as trace:
        run()
        torch.cuda.synchronize()
    events = [e for e in trace.events()
              if e.device_type == torch.autograd.DeviceType.CUDA and e.name not in PROFILER_EVENTS]
    events.sort(key=lambda e: e.time_range.start)
    return [(e.name, e.time_range.elapsed_us()) for e in events]


def summed_times(events, marks):
    """Summed time of each call: `events` are (name, microseconds), and two marks precede each call,
    its flush between them."""
    marked = 0
    times = []
    for name, microseconds in events:
        if name in marks:
            marked += 1
            if marked % 2 == 0:
                times.append(0.0)
        elif marked == 0:
            raise RuntimeError(f"{name} ran before the first flush")
        elif marked % 2 == 0:  # else of the flush
            times[-1] += microseconds
    return times


class Timer:
    """Times calls one by one, each with a cold L2 cache, flushed as `tilewright bench` does: by a
    fill, or by reading, which leaves the cache clean. A kernel that no operator has (fills are what
    torch.compile clears its workspaces with) marks where the flush begins and ends."""

    def __init__(self, repeats, clean_l2):
        self.repeats = repeats
        self.clean_l2 = clean_l2
        self.buffer = torch.ones(FLUSH_BYTES // 4, dtype=torch.int32, device="cuda")
        self.marked = torch.ones(1, dtype=torch.float64, device="cuda")
        self.flush()
        device_events(self.flush)  # the profiler's own start
        self.marks = {name for name, _ in device_events(self.mark)}
        if len(self.marks) != 1:
            raise RuntimeError(f"expected one kernel for the mark, got {self.marks}")

    def mark(self):
        torch.nextafter(self.marked, self.marked, out=self.marked)

    def flush(self):
        self.mark()
        if self.clean_l2:
            self.buffer.max()
        else:
            self.buffer.fill_(1)
        self.mark()

    def call_times(self, run):
        """Summed kernel time of each call, in microseconds, sorted."""
        for _ in range(WARM_UPS):
            self.flush()
            run()
        torch.cuda.synchronize()

        def all_calls():
            for _ in range(self.repeats):
                self.flush()
                run()

        times = summed_times(device_events(all_calls), self.marks)
        if len(times) != self.repeats or min(times) <= 0:
            raise RuntimeError(f"expected {self.repeats} calls in the trace, got {len(times)}, "
                               f"the shortest of {min(times, default=0)} us")
        return sorted(times)


def quantile(ordered, fraction):
    return ordered[min(len(ordered) - 1, int(fraction * len(ordered)))]


def peers_of(case, mode):
    """The peers of a case: a name, and a function that calls it once."""
    inputs, function = prepared(case, "cuda")
    torch._dynamo.reset()
    # Shapes are constants, as in a program that is compiled for them.
    compiled = torch.compile(function, mode=mode, dynamic=False)
    return {"torch": lambda: function(inputs), "torch-compile": lambda: compiled(inputs)}


def failures_of(case, action):
    """Runs action(); 1 and a line on standard error where it fails, which must not cost the rest."""
    try:
        action()
        return 0
    except Exception as error:
        print(f"{case['op']} {case['case']}: {type(error).__name__}: {error}", file=sys.stderr)
        return 1


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("calls")
    parser.add_argument("out")
    parser.add_argument("--repeats", type=int, default=50)
    parser.add_argument("--mode", default="default", help="of torch.compile")
    parser.add_argument("--clean-l2", action="store_true")
    arguments = parser.parse_args()
    torch.manual_seed(time.time_ns())
    timer = Timer(arguments.repeats, arguments.clean_l2)
    timed = failed = 0
    with open(arguments.calls) as calls, open(arguments.out, "w", newline="") as out:
        writer = csv.writer(out)
        writer.writerow(["op", "case", "peer", "median_us", "p10_us", "p90_us"])

        def measure(case, peer, run):
            times = timer.call_times(run)
            figures = (f"{quantile(times, fraction):.3f}" for fraction in (0.5, 0.1, 0.9))
            writer.writerow([case["op"], case["case"], peer, *figures])
            out.flush()

        def measure_all(case):
            nonlocal timed, failed
            for peer, run in peers_of(case, arguments.mode).items():
                failures = failures_of(case, lambda: measure(case, peer, run))
                failed += failures
                timed += 1 - failures

        for line in calls:
            case = json.loads(line)
            for name, value in case["params"].items():
                if value in ("inf", "-inf", "nan"):  # numbers that JSON lacks
                    case["params"][name] = float(value)
            if torch_operators.serves(case["op"]):
                failed += failures_of(case, lambda: measure_all(case))
    return 1 if failed and not timed else 0


if __name__ == "__main__":
    sys.exit(main())
