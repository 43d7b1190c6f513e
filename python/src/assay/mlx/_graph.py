"""FLOPs and bytes of a function, from the graph that MLX exports: nothing is run.

The counts are those of assay's own table for ONNX: a multiplication and an addition are two, tanh is one, sigmoid four. An operator that
is not in the table makes the count unavailable, not too small.
"""

from __future__ import annotations

import math
from typing import Any, Callable, NamedTuple

import mlx.core as core

from .._metric import Metric

_ONE = """Abs Add ArcCos ArcCosh ArcSin ArcSinh ArcTan ArcTan2 ArcTanh BitwiseBinary BitwiseInvert Ceil Cos Cosh Divide Equal Erf ErfInv
Exp Expm1 Floor Greater GreaterEqual Less LessEqual Log Log1p LogAddExp LogicalAnd LogicalNot LogicalOr Maximum Minimum Multiply
Negative NotEqual Power Remainder Round Sign Sin Sinh Sqrt Square Subtract Tan Tanh Rsqrt""".split()
_PER_OUTPUT = {**dict.fromkeys(_ONE, 1), "Sigmoid": 4, "Rsqrt": 2, "Select": 1, "Log2": 1, "Log10": 1, "NumberOfElements": 0}
_PER_INPUT = {"Softmax": 5, "LogSumExp": 3, "Reduce": 1, "ArgReduce": 1, "Scan": 1, "Sum": 1, "Prod": 1, "Max": 1, "Min": 1, "Mean": 1,
              "LayerNorm": 8, "RMSNorm": 4}
_MOVES = """Arange Concatenate Contiguous Copy Full Gather GatherAxis Pad Scatter ScatterAxis Slice SliceUpdate Sort ArgSort Partition
AsType RandomBits DynamicSlice DynamicSliceUpdate""".split()
_VIEWS = """AsStrided Broadcast BroadcastAxes ExpandDims Flatten Reshape Split Squeeze StopGradient Transpose Unflatten View Depends
CustomTransforms Identity""".split()
_Array = tuple[str, tuple[int, ...], Any]


class Cost(NamedTuple):
    """What one call computes and moves."""

    flops: Metric
    bytes: Metric
    written: Metric
    """Bytes of all results of operators; fused ones keep theirs in registers."""
    operators: dict[str, int]


def _size(array: _Array) -> int:
    return math.prod(array[1])


def _bytes(array: _Array) -> int:
    return _size(array) * int(array[2].size)


def _flops(node: dict[str, Any]) -> int | None:
    """None: not known."""
    name, inputs, outputs = node["name"], node["inputs"], node["outputs"]
    result = _size(outputs[0])
    inner: int
    weights: tuple[int, ...]
    if name in ("Matmul", "AddMM"):
        inner = inputs[0][1][-1]
        return 2 * result * inner + (result if name == "AddMM" else 0)
    if name == "Convolution":
        weights = inputs[1][1]  # output channels, space…, input channels
        return 2 * result * math.prod(weights[1:])
    if name in _PER_OUTPUT:
        return _PER_OUTPUT[name] * result
    if name in _PER_INPUT:
        return _PER_INPUT[name] * _size(inputs[0])
    return 0 if name in _MOVES or name in _VIEWS else None


def cost(function: Callable[..., Any], *arrays: Any) -> Cost:
    """FLOPs and bytes of function(*arrays), which is traced but not run.

    `bytes` is what all operators read and write; what a cache or a register holds in between counts, too."""
    nodes: list[dict[str, Any]] = []
    core.export_function(nodes.append, function, *arrays)
    flops = moved = written = 0
    unknown: set[str] = set()
    operators: dict[str, int] = {}
    for node in nodes:
        if node["type"] != "primitive":
            continue
        operators[node["name"]] = operators.get(node["name"], 0) + 1
        if node["name"] in _VIEWS:
            continue
        count = _flops(node)
        if count is None:
            unknown.add(node["name"])
        else:
            flops += count
        results = sum(map(_bytes, node["outputs"]))
        written += results
        moved += results + sum(map(_bytes, node["inputs"]))
    source = "MLX graph"
    total = Metric(flops, "FLOP", "derived", source, "sum over the graph of mlx.core.export_function") if not unknown else \
        Metric.unavailable(f"no FLOP count is known for {', '.join(sorted(unknown))}", "FLOP")
    return Cost(total, Metric(moved, "B", "derived", source, "what the operators read and write, caches not considered"),
                Metric(written, "B", "derived", source, "all results of operators"), operators)
