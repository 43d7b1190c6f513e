#!/usr/bin/env python3
"""overhead.py - what recording costs a launch-bound program: on and off alternate in one process, by
the interface of src/base/cuda_trace.h; medians of the rounds' ratios.

    gcc -O2 -std=gnu17 -shared -fPIC -fvisibility=hidden -Isrc -Iinclude src/cuda/*.c \\
        -o /tmp/libassay-cuda-trace.so -ldl -lpthread
    python3 bench/cuda/overhead.py /tmp/libassay-cuda-trace.so [--rounds 8] [--steps 30]

Prints a line of JSON for each set of kinds: ratio (median, min, max), and what was recorded in a round.
"""
import argparse
import ctypes
import json
import statistics
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import encoder  # noqa: E402
import torch  # noqa: E402

KERNELS, COPIES, SYNCS, CALLS, CALLBACK, ALL = 1, 2, 4, 8, 16, 32
TYPES = {1: "string", 2: "process", 3: "device", 4: "kernel", 5: "copy", 6: "memset", 7: "wait",
         8: "call", 9: "mark", 10: "external", 11: "state", 12: "dropped", 13: "failure"}
SETS = {
    "kernels": KERNELS,
    "kernels + copies + syncs": KERNELS | COPIES | SYNCS,
    "+ selected calls by activity": KERNELS | COPIES | SYNCS | CALLS,
    "+ selected calls by callback": KERNELS | COPIES | SYNCS | CALLBACK,
    "+ every call": KERNELS | COPIES | SYNCS | ALL,
}

SINK = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t)


class Options(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("file", ctypes.c_char_p), ("sink", SINK),
                ("sink_data", ctypes.c_void_p), ("kinds", ctypes.c_uint),
                ("buffer_bytes", ctypes.c_size_t), ("buffers", ctypes.c_size_t),
                ("flush_ms", ctypes.c_uint32), ("delay_ms", ctypes.c_uint32),
                ("duration_ms", ctypes.c_uint32), ("nvtx", ctypes.c_char_p),
                ("signal", ctypes.c_int), ("paused", ctypes.c_bool)]


class Counts(ctypes.Structure):
    _fields_ = [(name, ctypes.c_uint64) for name in
                ("records", "kernels", "dropped_by_cupti", "dropped_by_writer", "dropped_marks", "bytes")]


WITH_WHY = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_char_p, ctypes.c_size_t)


class Api(ctypes.Structure):
    _fields_ = [("abi", ctypes.c_uint32), ("size", ctypes.c_size_t),
                ("open", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(Options), ctypes.c_char_p,
                                          ctypes.c_size_t)),
                ("start", WITH_WHY), ("stop", WITH_WHY), ("flush", WITH_WHY),
                ("push", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_uint64)),
                ("pop", ctypes.CFUNCTYPE(ctypes.c_int)),
                ("counts", ctypes.CFUNCTYPE(None, ctypes.POINTER(Counts))),
                ("close", ctypes.CFUNCTYPE(None))]


def count_types(path):
    """Records of a file by type."""
    data, seen, at = path.read_bytes(), {}, 16
    while at < len(data):
        end = at + 16 + int.from_bytes(data[at + 4:at + 8], "little")
        at += 16
        while at < end:
            kind = TYPES.get(int.from_bytes(data[at:at + 2], "little"), "?")
            seen[kind] = seen.get(kind, 0) + 1
            at += int.from_bytes(data[at + 4:at + 8], "little")
    return seen


def timed(net, data, steps):
    torch.cuda.synchronize()
    begin = time.perf_counter()
    encoder.steps(net, data, steps)
    return time.perf_counter() - begin


def measure(api, kinds, net, data, options, folder):
    why = ctypes.create_string_buffer(512)
    ratios = []
    chosen = Options(size=ctypes.sizeof(Options), file=f"{folder}/{kinds}".encode(), kinds=kinds, paused=True)
    if api.open(chosen, why, 512):
        return {"failed": why.value.decode()}
    for _ in range(options.rounds):
        off = timed(net, data, options.steps)
        if api.start(why, 512):
            return {"failed": why.value.decode()}
        on = timed(net, data, options.steps)
        api.stop(why, 512)
        api.flush(why, 512)
        off = (off + timed(net, data, options.steps)) / 2
        ratios.append(on / off)
    counts = Counts()
    api.counts(counts)
    api.close()
    seen = count_types(next(Path(folder).glob(f"{kinds}.*.cutrace")))
    return {"ratio": round(statistics.median(ratios), 4), "min": round(min(ratios), 4),
            "max": round(max(ratios), 4), "kernels": counts.kernels / options.rounds,
            "records": counts.records / options.rounds, "dropped": counts.dropped_by_cupti,
            "types": seen, "ms_per_step_off": round(1e3 * off / options.steps, 4)}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("library")
    parser.add_argument("--rounds", type=int, default=8)
    parser.add_argument("--steps", type=int, default=30)
    options = parser.parse_args()
    library = ctypes.CDLL(options.library)
    library.assay_cuda_trace.restype = ctypes.POINTER(Api)
    api = library.assay_cuda_trace().contents
    net = encoder.model()
    data = torch.randn(1, 64, 256, dtype=torch.half, device="cuda")
    encoder.steps(net, data, 20)
    with tempfile.TemporaryDirectory() as folder:
        for name, kinds in SETS.items():
            print(json.dumps({"kinds": name, **measure(api, kinds, net, data, options, folder)}), flush=True)


if __name__ == "__main__":
    main()
