#!/usr/bin/env python3
"""vary_timeline.py - a Kineto trace with something about it changed that must not change its diagnosis.

    vary_timeline.py IN OUT [scale=F] [from=A to=B] [shuffle=SEED] [without=CATEGORY,…]

scale multiplies all times; from and to keep what begins in that part (0 … 1) of the device's span; shuffle reorders the events;
without leaves categories out. Times stay exact: numbers are read as decimals and written with nanoseconds.
"""
import gzip
import json
import random
import sys
from decimal import Decimal

DEVICE = ("kernel", "gpu_memcpy", "gpu_memset")


def read(path):
    with (gzip.open if open(path, "rb").read(2) == b"\x1f\x8b" else open)(path, "rt") as text:
        return json.load(text, parse_float=Decimal)


def main():
    source, target = sys.argv[1:3]
    given = dict(word.split("=", 1) for word in sys.argv[3:])
    trace = read(source)
    events = trace["traceEvents"]
    work = [e for e in events if e.get("cat") in DEVICE]
    first = min(Decimal(e["ts"]) for e in work)
    last = max(Decimal(e["ts"]) + Decimal(e["dur"]) for e in work)
    if "from" in given:
        begin, end = (first + (last - first) * Decimal(given[k]) for k in ("from", "to"))
        kept = {e["args"].get("correlation") for e in work if begin <= Decimal(e["ts"]) < end}
        # device work of that part, its calls, and everything else that the host did around them
        calls = [e for e in events if e.get("cat", "").startswith("cuda_") and e["args"].get("correlation") in kept]
        host = (min(Decimal(e["ts"]) for e in calls), max(Decimal(e["ts"]) + Decimal(e["dur"]) for e in calls)) if calls else (begin, end)
        events = [e for e in events if e.get("ph") != "X" or
                  (e.get("args", {}).get("correlation") in kept if e.get("cat") in DEVICE
                   else host[0] - 1000 <= Decimal(e["ts"]) <= host[1])]
    without = given.get("without", "").split(",")
    events = [e for e in events if e.get("cat") not in without or e.get("ph") != "X"]
    scale = Decimal(given.get("scale", "1"))
    base = min(Decimal(e["ts"]) for e in events if e.get("ph") == "X")
    for e in events:
        if "ts" in e:
            e["ts"] = float(round((Decimal(e["ts"]) - base) * scale, 3))
        if "dur" in e:
            e["dur"] = float(round(Decimal(e["dur"]) * scale, 3))
    if "shuffle" in given:
        random.Random(int(given["shuffle"])).shuffle(events)
    trace["traceEvents"] = events
    trace.pop("baseTimeNanoseconds", None)
    trace.pop("traceName", None)
    with open(target, "w") as out:
        json.dump(trace, out, default=float)


if __name__ == "__main__":
    main()
