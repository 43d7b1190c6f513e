#!/usr/bin/env python3
"""overhead.py - what recording costs a launch-bound program: on and off alternate in one process, by
the interface of src/base/cuda_trace.h. Short blocks alternate; a round's ratio is that of their
medians; the median, lowest and highest of 8 rounds are printed, and PyTorch's profiler beside them.

    gcc -O2 -std=gnu17 -shared -fPIC -fvisibility=hidden -Isrc -Iinclude src/cuda/*.c \\
        src/platform/posix_demangle.c -o /tmp/libassay-cuda-trace.so -ldl -lpthread
    python3 bench/cuda/overhead.py /tmp/libassay-cuda-trace.so [--rounds 8] [--budget 45]

Prints a line of JSON for each set of kinds: ratio (median, min, max), and what was recorded.
"""
import argparse
import ctypes
import json
import statistics
import sys
import tempfile
import time
from pathlib import Path

started = time.monotonic()
sys.path.insert(0, str(Path(__file__).resolve().parent))
import encoder  # noqa: E402
import torch  # noqa: E402

KERNELS, COPIES, SYNCS, CALLS, ALL = 1, 2, 4, 8, 32
TYPES = {1: "string", 2: "process", 3: "device", 4: "kernel", 5: "copy", 6: "memset", 7: "wait",
         8: "call", 9: "mark", 10: "external", 11: "state", 12: "dropped", 13: "failure"}
SETS = [
    {"name": "kernels", "kinds": KERNELS},
    {"name": "kernels, no subscription", "kinds": KERNELS, "file": False},
    {"name": "kernels + copies + syncs", "kinds": KERNELS | COPIES | SYNCS},
    {"name": "the same, not flushed meanwhile", "kinds": KERNELS | COPIES | SYNCS, "settings": {"flush_ms": 600000}},
    {"name": "the same, flushed every 500 ms", "kinds": KERNELS | COPIES | SYNCS, "settings": {"flush_ms": 500}},
    {"name": "+ selected calls", "kinds": KERNELS | COPIES | SYNCS | CALLS},
    {"name": "+ every call", "kinds": KERNELS | COPIES | SYNCS | ALL},
]

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
    begin = time.perf_counter()
    encoder.steps(net, data, steps)
    return time.perf_counter() - begin


def alternate(switch_on, switch_off, run, steps, pairs, rounds, end):
    """Ratio of every round: the median of its blocks with recording to that of those without. A block takes about 10 ms,
    and pairs are in the order off on, on off, …: a machine that changes its speed within a second does so for both.
    After a switch one step does not count. What the recorder's thread does every half second falls on both kinds of block,
    and the medians leave it out: "of_sums" has it, with the machine's noise."""
    ratios, off_ms, sums = [], [], {True: 0.0, False: 0.0}
    for number in range(rounds):
        begin = time.monotonic()
        times = {True: [], False: []}
        for pair in range(pairs):
            for recording in ((False, True), (True, False))[(pair + number) % 2]:
                if recording:
                    switch_on()
                run(1)
                times[recording].append(run(steps))
                if recording:
                    switch_off()
        for recording in sums:
            sums[recording] += sum(times[recording])
        ratios.append(statistics.median(times[True]) / statistics.median(times[False]))
        off_ms.append(1e3 * statistics.median(times[False]) / steps)
        if 2 * time.monotonic() - begin > end:  # another round would take too long
            break
    return {"ratio": round(statistics.median(ratios), 4), "min": round(min(ratios), 4), "max": round(max(ratios), 4),
            "of_sums": round(sums[True] / sums[False], 4), "rounds": len(ratios),
            "ms_per_step_off": round(statistics.median(off_ms), 4)}


def measure(api, row, net, data, options, folder, end):
    """One set of kinds. Without a file nothing subscribes to callbacks, and records go to a sink that does nothing."""
    why = ctypes.create_string_buffer(512)
    kinds, has_file, settings = row["kinds"], row.get("file", True), row.get("settings", {})
    sink = SINK(lambda *_: None)
    target = f"{folder}/{row['name'].replace(' ', '-')}"
    chosen = Options(size=ctypes.sizeof(Options), kinds=kinds, paused=True, **settings)
    if has_file:
        chosen.file = target.encode()
    else:
        chosen.sink = sink

    def checked(call):
        if call(why, 512):
            raise RuntimeError(why.value.decode())

    checked(lambda *room: api.open(chosen, *room))
    try:
        result = alternate(lambda: checked(api.start), lambda: checked(api.stop), lambda steps: timed(net, data, steps),
                           options.steps, options.pairs, options.rounds, end)
        counts = Counts()
        api.flush(why, 512)
        api.counts(counts)
    finally:
        api.close()
    result.update(kernels=counts.kernels, records=counts.records, dropped=counts.dropped_by_cupti)
    if has_file:
        result["types"] = count_types(next(Path(folder).glob(f"{Path(target).name}.*.cutrace")))
    return result


def peer(activities, net, data, options, end):
    """PyTorch's own profiler. It starts and stops slowly, so its blocks are longer and fewer."""
    running = []

    def begin():
        running.append(torch.profiler.profile(activities=activities))
        running[0].start()

    begin()  # the first time takes seconds
    running.pop().stop()
    return alternate(begin, lambda: running.pop().stop(), lambda steps: timed(net, data, steps), 15, 2, options.rounds,
                     end)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("library")
    parser.add_argument("--rounds", type=int, default=8)
    parser.add_argument("--pairs", type=int, default=20, help="blocks of a round with recording, and as many without")
    parser.add_argument("--steps", type=int, default=3, help="of a block")
    parser.add_argument("--budget", type=float, default=45, help="seconds for everything: each part ends early at its share")
    options = parser.parse_args()
    finish = started + options.budget
    library = ctypes.CDLL(options.library)
    library.assay_cuda_trace.restype = ctypes.POINTER(Api)
    api = library.assay_cuda_trace().contents
    net = encoder.model()
    data = torch.randn(1, 64, 256, dtype=torch.half, device="cuda")
    encoder.steps(net, data, 30)
    activity = torch.profiler.ProfilerActivity
    peers = {"PyTorch's profiler, CUDA only": [activity.CUDA], "PyTorch's profiler, CPU + CUDA": [activity.CPU, activity.CUDA]}
    with tempfile.TemporaryDirectory() as folder:
        parts = [(row["name"], lambda end, row=row: measure(api, row, net, data, options, folder, end)) for row in SETS]
        parts += [(name, lambda end, kinds=kinds: peer(kinds, net, data, options, end)) for name, kinds in peers.items()]
        for number, (name, part) in enumerate(parts):
            now = time.monotonic()
            try:
                result = part(now + (finish - now) / (len(parts) - number))
            except RuntimeError as error:
                result = {"failed": str(error)}
            print(json.dumps({"kinds": name, **result}), flush=True)


if __name__ == "__main__":
    main()
