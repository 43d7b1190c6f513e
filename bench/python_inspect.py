#!/usr/bin/env python3
"""python_inspect.py MODEL [INPUT=AxBxC ...] - seconds that the onnx package takes to load a model and onnx-tool to cost it, and
the peak memory of the process, as JSON. Imports and the interpreter's start are not counted.
Exit status 3 when onnx, onnx_tool or numpy is not installed."""
import contextlib
import io
import json
import resource
import sys
import time

try:
    import numpy
    import onnx
    import onnx_tool
except ImportError:
    sys.exit(3)

DTYPES = {1: numpy.float32, 6: numpy.int32, 7: numpy.int64, 9: numpy.bool_, 10: numpy.float16}

before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
begin = time.perf_counter()
model = onnx.load(sys.argv[1])
loaded = time.perf_counter()
shapes = dict(text.split("=", 1) for text in sys.argv[2:])
weights = {tensor.name for tensor in model.graph.initializer}
feeds = {}
for value in model.graph.input:
    if value.name in weights:
        continue
    tensor = value.type.tensor_type
    dims = [int(size) for size in shapes[value.name].split("x")] if value.name in shapes else \
        [dim.dim_value or 1 for dim in tensor.shape.dim]
    feeds[value.name] = numpy.zeros(dims, DTYPES.get(tensor.elem_type, numpy.float32))
with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
    tool = onnx_tool.Model(model, {"verbose": False})
    tool.graph.shape_infer(feeds)
    tool.graph.profile()
end = time.perf_counter()
macs = tool.graph.macs[0] if isinstance(tool.graph.macs, (list, tuple)) else tool.graph.macs
print(json.dumps({"load_s": loaded - begin, "total_s": end - begin, "macs": float(macs),
                  "peak_bytes": (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024}))
