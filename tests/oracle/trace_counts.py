#!/usr/bin/env python3
"""trace_counts.py FOLDER > tests/fixtures/traces/counts.txt - what the JSON traces of a folder hold, counted by Python's
json with decimal numbers: a line "FILE QUANTITY VALUE" each. tests/unit/test_import_real.c compares the importers with it.
"""
import collections
import decimal
import gzip
import json
import pathlib
import sys

KINDS = {"kernel": "kernel", "gpu_memcpy": "copy", "gpu_memset": "memset", "cuda_sync": "device-wait",
         "gpu_user_annotation": "device-range", "cpu_op": "operator", "user_annotation": "range", "overhead": "cpu",
         "python_function": "python", "Trace": "other", "Node": "operator", "Session": "range"}
LAUNCHES = {"cudaLaunchKernel", "cudaLaunchKernelExC", "cuLaunchKernel", "cuLaunchKernelEx", "cudaMemcpyAsync",
            "cudaMemsetAsync", "hipLaunchKernel", "hipExtModuleLaunchKernel", "hipMemcpyWithStream"}
SYNCS = {"cudaDeviceSynchronize", "cudaStreamSynchronize", "hipDeviceSynchronize"}


def kind_of(event):
    if event["ph"] == "i":
        return "other"
    if event["cat"] in ("cuda_runtime", "cuda_driver"):
        name = event["name"]
        return "launch" if name in LAUNCHES else "sync" if name in SYNCS else "runtime"
    return KINDS[event["cat"]]


def ns(microseconds):
    return int((decimal.Decimal(microseconds) * 1000).to_integral_value(decimal.ROUND_HALF_UP))


def bytes_of(event, calls):
    args = event.get("args", {})
    if "bytes" in args:
        return int(args["bytes"])
    return calls.get(args.get("correlation"), 0) if event["cat"] in ("gpu_memcpy", "gpu_memset") else 0


def count(path):
    trace = json.load(gzip.open(path, "rt"), parse_float=decimal.Decimal)
    events = trace if isinstance(trace, list) else trace["traceEvents"]
    base = 0 if isinstance(trace, list) else trace.get("baseTimeNanoseconds", 0)
    events = [event for event in events if event["ph"] in "Xi"]
    calls = {event["args"]["correlation"]: int(event["args"]["size"]) for event in events
             if event.get("cat") == "cuda_runtime" and "size" in event["args"]}
    totals = collections.Counter(events=len(events))
    streams = set()
    for event in events:
        kind = kind_of(event)
        totals[kind + ".count"] += 1
        totals[kind + ".ns"] += ns(event.get("dur", 0))
        if kind in ("kernel", "copy", "memset"):
            args = event["args"]
            streams.add((args["device"], args["stream"]))
            totals[kind + ".bytes"] += bytes_of(event, calls)
            totals[kind + ".correlations"] += args.get("correlation", 0)
            totals[kind + ".blocks"] += sum(args.get("grid", [])) + sum(args.get("block", []))
    totals["streams"] = len(streams)
    totals["first_ns"] = min(ns(event["ts"]) for event in events) + base
    totals["last_ns"] = max(ns(event["ts"]) + ns(event.get("dur", 0)) for event in events) + base
    totals["names"] = len({event["name"] for event in events})
    return totals


def main():
    folder = pathlib.Path(sys.argv[1])
    for path in sorted(folder.glob("**/*.json.gz")):
        for quantity, value in sorted(count(path).items()):
            print(path.relative_to(folder), quantity, value)


main()
