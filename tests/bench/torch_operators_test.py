"""Runs what PyTorch has for each operator on the golden vectors, on the CPU.

    torch_operators_test.py [OP ...]

Guards: the peers of `tilewright bench` compute what the manifest says: every operator but matrix
products is served, each at least once at golden inputs, with outputs of the golden shapes, dtypes
and values. Leaves with 77, and says so, where PyTorch or PyYAML is missing.
"""
import json
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench" / "peers"))
try:
    import torch
    import yaml
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)

import torch_operators  # noqa: E402

CUBLASLT = {"GemmFwdOp", "BmmFwdOp"}
# The mask is of another generator: shape and dtype alone.
SHAPE_ALONE = {"DropoutFwdOp"}
TOLERANCE = {torch.float16: 1e-2, torch.bfloat16: 4e-2, torch.float32: 1e-4,
             torch.float8_e4m3fn: 0.13}
# Golden cases at which PyTorch's CPU function differs from the manifest: gelu of infinity, an empty
# list of axes.
DIFFERS = {("GeluFwdOp", "special-0"), ("GeluAndMulFwdOp", "special"),
           ("LogSumExpFwdOp", "empty-list")}


def unpack(entry):
    if entry is None:
        return None
    dtype = getattr(torch, entry["dtype"])
    raw = torch.frombuffer(bytearray.fromhex(entry["hex"]) or bytearray(8), dtype=torch.uint8)
    raw = raw[:len(entry["hex"]) // 2]
    return raw.view(dtype).reshape(entry["shape"]).clone()


def manifest():
    ops = {}
    for path in sorted((ROOT / "manifest").glob("*.yaml")):
        ops |= yaml.safe_load(path.read_text())
    return ops


def complaint(got, expected, op):
    if got.shape != expected.shape:
        return f"expected shape {tuple(expected.shape)}, got {tuple(got.shape)}"
    if got.dtype != expected.dtype:
        return f"expected {expected.dtype}, got {got.dtype}"
    if op in SHAPE_ALONE:
        return None
    if not expected.dtype.is_floating_point:
        wrong = int((got != expected).sum())
        return f"{wrong} elements of {got.numel()} are wrong" if wrong else None
    tolerance = TOLERANCE[expected.dtype]
    close = torch.isclose(got.double(), expected.double(), tolerance, tolerance, equal_nan=True)
    if bool(close.all()):
        return None
    at = int((~close).flatten().nonzero()[0])
    return f"element {at}: expected {expected.flatten()[at]}, got {got.flatten()[at]}"


def call(op, inputs, params, dtype):
    """In float32 where PyTorch has the operator on the CPU for no less."""
    function = torch_operators.prepare(op, inputs, params, torch.empty(0, dtype=dtype))
    try:
        return function(inputs)
    except NotImplementedError:
        return function([t.float() for t in inputs]).to(dtype)


def run(op, spec, case):
    inputs = [unpack(entry) for entry in case["inputs"]]
    expected = [unpack(entry) for entry in case.get("outputs") or [case["output"]]]
    names = list(spec["signature"].get("params", {}))
    params = dict(zip(names, case["params"], strict=True))
    got = call(op, inputs, params, expected[0].dtype)
    got = list(got) if isinstance(got, (list, tuple)) else [got]
    # What a call leaves in its mutated inputs comes last.
    mutated = [name for name, tensor in spec["signature"].get("inputs", {}).items()
               if tensor.get("mutated")]
    places = list(spec["signature"].get("inputs", {}))
    if case.get("mutated"):
        got += [inputs[places.index(name)] for name in mutated]
    # Attention's log-sum-exp is not asked of the peer.
    if len(got) < len(expected) and "lse" not in spec["signature"]["outputs"]:
        return f"expected {len(expected)} outputs, got {len(got)}"
    for value, want in zip(got, expected):
        found = complaint(value, want, op)
        if found:
            return found
    return None


def failures_of(op, spec):
    """What is wrong with an operator's function, in words."""
    if not torch_operators.serves(op):
        return ["PyTorch's function is missing"]
    golden = ROOT / "tests" / "golden" / f"{op}.json"
    if not golden.exists():
        return ["no golden vectors"]
    failures, served = [], 0
    for case in json.loads(golden.read_text())["cases"]:
        if (op, case["case"]) in DIFFERS:
            continue
        served += 1
        try:
            found = run(op, spec, case)
        except Exception as error:  # one case must not hide the others
            found = f"{type(error).__name__}: {error}"
        if found:
            failures.append(f"{case['case']}: {found}")
    return failures if served else ["no golden vectors"]


def main():
    ops = manifest()
    asked = [op for op in sys.argv[1:] or ops if op not in CUBLASLT]
    wrong = 0
    for op in asked:
        failures = failures_of(op, ops[op])
        wrong += bool(failures)
        for failure in failures[:3]:
            print(f"{op} {failure}")
    print(f"{len(asked)} operators, {wrong} wrong")
    return 1 if wrong or not asked else 0


if __name__ == "__main__":
    sys.exit(main())
