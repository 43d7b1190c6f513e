#!/usr/bin/env python3
"""hta_numbers.py - `assay explain` against Holistic Trace Analysis: kernel counts exact, times to 1 µs, idle classes, queue lengths and
the overlap of communication and computation.

    hta_numbers.py write FIXTURE TRACE…          (with HTA) what HTA says of each trace, as a fixture
    hta_numbers.py check FIXTURE ASSAY FOLDER    what assay says of the traces in FOLDER against the fixture; HTA is not needed
    hta_numbers.py live ASSAY TRACE…             (with HTA) both at once

HTA reads times as doubles of microseconds since 1970, of which 0.25 µs are left; so it is given a copy whose times begin at 0,
exact to the nanosecond. It leaves out the last annotated step by default; here it is told not to. Its breakdown of
time counts records of synchronisation as device work; here its function gets kernels, copies and memsets. It knows some launching
calls by name and no others, and its queue lengths are only compared where it knows all of the trace's.
"""
import gzip
import json
import os
import subprocess
import sys
import tempfile
from decimal import Decimal

DEVICE = ("kernel", "gpu_memcpy", "gpu_memset")
KNOWN_CALLS = {"cudaLaunchKernel", "cudaLaunchKernelExC", "cuLaunchKernel", "cudaMemcpyAsync", "cudaMemsetAsync", "hipLaunchKernel",
               "hipExtModuleLaunchKernel", "hipMemsetAsync", "hipMemcpyAsync", "hipMemcpyWithStream"}


def read(path):
    with (gzip.open if open(path, "rb").read(2) == b"\x1f\x8b" else open)(path, "rt") as text:
        return json.load(text, parse_float=Decimal)


def rebased(path, folder):
    trace = read(path)
    events = [e for e in trace["traceEvents"] if e.get("ph") == "X"]
    base = min(Decimal(e["ts"]) for e in events)
    for e in trace["traceEvents"]:
        for key in ("ts", "dur"):
            if key in e:
                e[key] = float(Decimal(e[key]) - (base if key == "ts" else 0))
    to = os.path.join(folder, os.path.basename(path).replace(".gz", "") + ".gz")
    with gzip.open(to, "wt") as out:
        json.dump(trace, out, default=float)
    calls = {e["name"] for e in events if e.get("cat") in ("cuda_runtime", "cuda_driver") and
             e.get("args", {}).get("correlation") in {w["args"].get("correlation") for w in events if w.get("cat") in DEVICE}}
    return to, calls <= KNOWN_CALLS


def ask_hta(path):
    os.environ["HTA_DISABLE_NS_ROUNDING"] = "1"
    import logging
    import warnings
    logging.disable(logging.CRITICAL)
    warnings.filterwarnings("ignore")
    from hta.analyzers.breakdown_analysis import BreakdownAnalysis
    from hta.trace_analysis import TraceAnalysis
    with tempfile.TemporaryDirectory() as folder:
        copy, knows_calls = rebased(path, folder)
        analysis = TraceAnalysis(trace_files={0: copy}, trace_dir=folder, include_last_profiler_step=True)
        frame, names = analysis.t.get_trace(0), analysis.t.symbol_table.get_sym_table()
        work = frame[frame["stream"].ne(-1) & frame["cat"].isin([i for i, n in enumerate(names) if n in DEVICE])]
        kernels = work[work["cat"].isin([i for i, n in enumerate(names) if n == "kernel"])]
        idle_us = BreakdownAnalysis._get_idle_time_for_kernels(work.copy())[0]
        idle = analysis.get_idle_time_breakdown(ranks=[0], visualize=False)[0]
        overlap = analysis.get_comm_comp_overlap(visualize=False).iloc[0]["comp_comm_overlap_pctg"] / 100
        said = {
            "kernels": int(len(kernels)), "kernel_us": round(float(kernels["dur"].sum()), 3),
            "span_us": round(float((work["ts"] + work["dur"]).max() - work["ts"].min()), 3),
            "idle_us": round(float(idle_us), 3),
            "top": {}, "streams": {}, "queues": {},
            "overlap": None if overlap != overlap else round(float(overlap), 9),
        }
        for name, group in kernels.groupby("name"):
            said["top"][names[name]] = [int(len(group)), round(float(group["dur"].sum()), 3)]
        for row in idle.itertuples():
            said["streams"].setdefault(str(row.stream), {})[row.idle_category] = round(float(row.idle_time), 3)
        if knows_calls:
            lengths = analysis.get_queue_length_summary(ranks=[0])
            for (_, stream), row in lengths["queue_length"].iterrows():
                said["queues"][str(int(stream))] = [int(row["max"]), round(float(row["mean"]), 9)]
        return said


def ask_assay(assay, path):
    return json.loads(subprocess.run([assay, "explain", path, "--json"], check=True, capture_output=True).stdout)


class Differences:
    def __init__(self):
        self.count = self.compared = 0

    def check(self, what, ours, theirs, tolerance):
        self.compared += 1
        if ours is None or abs(ours - theirs) > tolerance:
            self.count += 1
            print("%s: %s here, %s there" % (what, ours, theirs))


def compare(found, name, ours, theirs):
    device = ours["devices"][0]
    found.check(name + " kernels", device["metrics"]["gpu.kernels"]["value"], theirs["kernels"], 0)
    found.check(name + " kernel time", sum(k["total_us"] for k in ours["top"]), theirs["kernel_us"], 1)
    found.check(name + " span", device["span_ns"] / 1e3, theirs["span_us"], 1)
    found.check(name + " idle", device["idle_ns"] / 1e3, theirs["idle_us"], 1)
    mine = {k["name"]: k for k in ours["top"]}
    for kernel, (count, total) in theirs["top"].items():
        found.check("%s %s count" % (name, kernel[:40]), mine.get(kernel, {}).get("count"), count, 0)
        found.check("%s %s time" % (name, kernel[:40]), mine.get(kernel, {}).get("total_us"), total, 1)
    streams = {str(s["stream"]): s for s in device["streams"]}
    for stream, classes in theirs["streams"].items():
        idle = {row["class"]: row["us"] for row in streams[stream]["hta_idle"]}
        for kind, us in classes.items():
            found.check("%s stream %s %s" % (name, stream, kind), idle[kind], us, 1)
    for stream, (most, mean) in theirs["queues"].items():
        found.check("%s stream %s queue max" % (name, stream), streams[stream]["queue"]["max"], most, 0)
        found.check("%s stream %s queue mean" % (name, stream), streams[stream]["queue"]["mean"], mean, 1e-6)
    if theirs["overlap"] is not None:
        found.check(name + " overlap", ours["ranks"]["items"][0]["overlap"], theirs["overlap"], 6e-5)


def main():
    mode, found = sys.argv[1], Differences()
    if mode == "write":
        fixture = {os.path.basename(path): ask_hta(path) for path in sys.argv[3:]}
        with open(sys.argv[2], "w") as out:
            json.dump(fixture, out, indent=1, sort_keys=True)
            out.write("\n")
        return 0
    if mode == "check":
        fixture, assay, folder = json.load(open(sys.argv[2])), sys.argv[3], sys.argv[4]
        for name, theirs in fixture.items():
            if os.path.exists(os.path.join(folder, name)):
                compare(found, name, ask_assay(assay, os.path.join(folder, name)), theirs)
    else:
        for path in sys.argv[3:]:
            compare(found, os.path.basename(path), ask_assay(sys.argv[2], path), ask_hta(path))
    print("%d numbers compared, %d differ" % (found.compared, found.count))
    return 1 if found.count or not found.compared else 0


if __name__ == "__main__":
    sys.exit(main())
