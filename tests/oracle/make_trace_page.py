#!/usr/bin/env python3
"""make_trace_page.py FILE [hostile] - a trace as the PyTorch profiler writes it, for the tests of the timeline's page: steps of operators, launches, kernels on
two streams, copies and waits, memory, a loader thread with deep calls. hostile: names that mean harm."""
import json
import random
import sys

random.seed(8)
HOSTILE = ["<script>fetch('http://a.example/')</script>", "\"><img src=http://a.example/x onerror=alert(1)>", "x" * 10000, "\u202egnp.exe",
           "</script><style>*{display:none}</style>", "\u05e9\u05dc\u05d5\u05dd \U0001f600", "a\x1b[2J\x07b", "'; DROP TABLE layers;--", "", "=cmd|' /C calc'!A0", "a\tb\nc\u2028d"]
hostile = len(sys.argv) > 2
events, now, correlation, free = [], 1000.0, 0, [0.0, 0.0]


def name(text):
    return random.choice(HOSTILE) if hostile else text


def add(cat, text, ts, dur, tid=70, **args):
    work = cat in ("kernel", "gpu_memcpy", "gpu_user_annotation")
    events.append({"ph": "X", "cat": cat, "name": name(text), "pid": 0 if work else 70, "tid": tid, "ts": round(ts, 3), "dur": round(dur, 3), "args": args})


for step in range(12):
    begin = now
    for i in range(40):
        correlation += 1
        which = int(i % 9 == 0)
        launch, took = now + random.uniform(2, 6), random.uniform(3, 6)
        add("cpu_op", f"aten::op{i % 7}", now, launch + took - now + 1)
        add("cpu_op", f"aten::inner{i % 5}", now + 0.5, launch + took - now, **{"Input Dims": [[32, i]], "Input type": ["float"]})
        add("cuda_runtime", "cudaLaunchKernel", launch, took, correlation=correlation)
        start = max(launch + took / 2 + 3, free[which])
        free[which] = start + random.uniform(2, 30)
        add("kernel", f"void at::native::kernel_{i % 7}<float, {i % 11}>(int)", start, free[which] - start, 7 + 13 * which, device=0, stream=7 + 13 * which, correlation=correlation,
            grid=[i + 1, 1, 1], block=[256, 1, 1])
        now = launch + took + 1 + random.uniform(0.5, 4)
    correlation += 1
    end = max(free) + 2
    add("cuda_runtime", "cudaMemcpyAsync", now, 4, correlation=correlation)
    add("gpu_memcpy", "Memcpy DtoH (Device -> Pageable)", max(end, now + 3), 3, 7, device=0, stream=7, correlation=correlation, bytes=4)
    add("cuda_runtime", "cudaStreamSynchronize", now + 5, max(end + 4 - now, 5))
    free[0] = max(end, now + 3) + 3
    now = max(end + 12, now + 20)
    for depth in range(60):
        add("python_function", f"loader.py({depth}): level{depth}", now + depth, 200 - 2 * depth, 71)
    now += 220
    events.append({"ph": "i", "s": "t", "cat": "cpu_instant_event", "name": "[memory]", "pid": 70, "tid": 70, "ts": round(now, 3),
                   "args": {"Device Type": 1, "Device Id": 0, "Bytes": 1024, "Total Allocated": 1024 * (step + 1)}})
    add("user_annotation", f"ProfilerStep#{step}", begin, now - begin)
with open(sys.argv[1], "w", encoding="utf-8") as file:
    json.dump({"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": name("NVIDIA H200")}], "traceEvents": events}, file)
