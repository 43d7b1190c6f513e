#!/usr/bin/env python3
"""python_loop.py MODEL - the median of a Python loop around ONNX Runtime in µs, one thread: what most people measure with.
Exit status 3 when onnxruntime or numpy is not installed."""
import statistics
import sys
import time

try:
    import numpy
    import onnxruntime
except ImportError:
    sys.exit(3)

options = onnxruntime.SessionOptions()
options.intra_op_num_threads = 1
session = onnxruntime.InferenceSession(sys.argv[1], options, providers=["CPUExecutionProvider"])
random = numpy.random.default_rng(0)
feeds = {value.name: random.random([d if isinstance(d, int) else 1 for d in value.shape], dtype=numpy.float32)
         for value in session.get_inputs()}
samples = []
end = time.perf_counter_ns() + 1_000_000_000
for _ in range(100):
    session.run(None, feeds)
while time.perf_counter_ns() < end:
    begin = time.perf_counter_ns()
    session.run(None, feeds)
    samples.append(time.perf_counter_ns() - begin)
print(statistics.median(samples) / 1e3)
