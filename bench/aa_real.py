#!/usr/bin/env python3
"""aa_real.py - how often `assay compare` claims a difference between a model and itself, and finds a slow-down of 5 %, for real.

    bench/aa_real.py [ASSAY [REPEATS [LANES]]] [--cpus-per-lane N] [--threads N] [--only same|slower] [--keep FILE]

ASSAY is the program (default: build/assay). Each repeat is one comparison of a model with itself and one with a model that has 21
equal layers instead of 20 (5.0 % more work by `assay inspect`), 10 launches of 0.2 s per arm. LANES repeats run side by side, each on
CPUs of its own (default: as many lanes as there are CPUs for); CPUs of one core go to the same lane. One repeat takes about 19 s in a
lane: 100 repeats on 16 CPUs some 4 minutes.

Prints a Markdown table. Exit status 1 when a bound is missed (at most 9 of 100 claims of a difference that is not there, at least 95
of 100 found), 3 when a comparison failed. --keep writes every verdict as a line of JSON. Standard library only.
"""
import argparse
import json
import os
import pathlib
import queue
import statistics
import subprocess
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
# Small enough for the first two caches: larger ones are at the mercy of the pages that a process happens to get.
MODEL = "mlp:layers={},width=64,inputs=64,outputs=64,batch=64"
FEW, MORE = 19, 20  # hidden layers; the output layer is one more of the same size
LAUNCHES, SECONDS = 10, 0.2
CLAIMS_MOST, FOUND_LEAST = 0.09, 0.95


def parse():
    parser = argparse.ArgumentParser(description="False claims and power of assay compare, measured.")
    parser.add_argument("assay", nargs="?", default=str(ROOT / "build/assay"))
    parser.add_argument("repeats", nargs="?", type=int, default=100)
    parser.add_argument("lanes", nargs="?", type=int, default=0)
    parser.add_argument("--cpus-per-lane", type=int, default=2)
    parser.add_argument("--threads", type=int, default=1, help="of the engine")
    parser.add_argument("--only", choices=["same", "slower"], help="one of the two kinds")
    parser.add_argument("--keep", help="file for one line of JSON per comparison")
    return parser.parse_args()


def run(command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)}: status {done.returncode}: {done.stderr.decode().strip()[-300:]}")
    return done.stdout


def work_of(assay, model):
    return json.loads(run([assay, "inspect", model, "--json"]))["totals"]["flops"]


def spread_of(trial):
    medians = [launch["p50_us"] for launch in trial["launches"] if launch["state"] == "ok"]
    return statistics.stdev(medians) / statistics.mean(medians)


def compare(options, kind, first, second, cpus):
    command = [options.assay, "compare", first, second, "--launches", str(LAUNCHES), "--time", str(SECONDS),
               "--threads", str(options.threads), "--no-power", "--json", "--quiet"]
    if cpus:
        command += ["--cpus", ",".join(map(str, cpus))]
    begin = time.monotonic()
    found = json.loads(run(command))
    row, advice = found["comparison"]["rows"][1], found["comparison"]["recommendation"]
    return {"kind": kind, "cpus": cpus, "verdict": row["verdict"], "speedup": row["speedup"],
            "low": row["speedup_low"], "high": row["speedup_high"], "smallest": row["smallest_difference"],
            "advised": any(advice[goal] is not None for goal in ("latency", "throughput")),
            "latency_s": row["latency_s"], "spread": statistics.mean(map(spread_of, found["trials"])),
            "medians_us": [[launch["p50_us"] for launch in trial["launches"]] for trial in found["trials"]],
            "began": time.strftime("%H:%M:%S", time.gmtime()), "seconds": time.monotonic() - begin}


def lane(options, models, cpus, repeats, results, failures):
    """Takes repeats until none is left; the two kinds alternate, so that the machine meets both alike."""
    if cpus:
        os.sched_setaffinity(0, cpus)  # of this thread; the programs it starts inherit it
    while True:
        try:
            number = repeats.get_nowait()
        except queue.Empty:
            return
        kinds = [("same", models[0], models[0]), ("slower", models[0], models[1])]
        for kind, first, second in kinds if number % 2 else reversed(kinds):
            if options.only not in (None, kind):
                continue
            try:
                results.append(compare(options, kind, first, second, cpus))
            except (RuntimeError, OSError, ValueError, KeyError, TypeError, statistics.StatisticsError) as error:
                failures.append(f"{kind}: {error}")


def core_of(cpu):
    """Sorts the CPUs of one core beside each other."""
    path = pathlib.Path(f"/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list")
    try:
        return int(path.read_text().replace("-", ",").split(",")[0]), cpu
    except (OSError, ValueError):
        return cpu, cpu


def lanes_of(options):
    """The lists of CPUs, disjoint; [None]: they cannot be chosen here."""
    if not hasattr(os, "sched_getaffinity"):
        return [None] * max(options.lanes, 1)
    allowed, size = sorted(os.sched_getaffinity(0), key=core_of), max(options.cpus_per_lane, 1)
    lists = [allowed[at:at + size] for at in range(0, len(allowed) - size + 1, size)] or [allowed]
    if options.lanes > len(lists):
        print(f"aa_real: {options.lanes} lanes of {size} CPUs need {options.lanes * size}, there are {len(allowed)}",
              file=sys.stderr)
        sys.exit(2)
    return lists[:options.lanes] if options.lanes else lists


def wilson(k, n):
    """95 % score interval of k of n."""
    z, share = 1.959963984540054, k / n
    centre, scale = share + z * z / (2 * n), 1 + z * z / n
    half = z * (share * (1 - share) / n + z * z / (4 * n * n)) ** 0.5
    return max(0, (centre - half) / scale), min(1, (centre + half) / scale)


def row(name, items, counted, bound):
    low, high = wilson(counted, len(items))
    middle = {key: statistics.median(item[key] for item in items)
              for key in ("spread", "latency_s", "speedup", "smallest", "seconds")}
    print(f"| {name} | {counted} of {len(items)} | {100 * low:.1f} – {100 * high:.1f} % | {bound} "
          f"| {sum(item['advised'] for item in items)} | {1 / middle['speedup']:.4f} | {1e6 * middle['latency_s']:.0f} µs "
          f"| {100 * middle['spread']:.1f} % | {100 * middle['smallest']:.1f} % | {middle['seconds']:.1f} s |")


def main():
    options = parse()
    if not os.access(options.assay, os.X_OK):
        print(f"aa_real: {options.assay} is no program: run make, or give its path", file=sys.stderr)
        return 2
    if options.repeats < 1:
        print("aa_real: at least one repeat", file=sys.stderr)
        return 2
    results, failures, repeats = [], [], queue.Queue()
    for number in range(options.repeats):
        repeats.put(number)
    begin = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        models = [f"{folder}/{layers}.onnx" for layers in (FEW, MORE)]
        for path, layers in zip(models, (FEW, MORE)):
            run([options.assay, "make", MODEL.format(layers), "-o", path, "--quiet"])
        work = work_of(options.assay, models[1]) / work_of(options.assay, models[0])
        cpus = lanes_of(options)
        threads = [threading.Thread(target=lane, args=(options, models, list_, repeats, results, failures))
                   for list_ in cpus]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    if options.keep:
        pathlib.Path(options.keep).write_text("".join(json.dumps(result) + "\n" for result in results))
    same = [result for result in results if result["kind"] == "same"]
    slower = [result for result in results if result["kind"] == "slower"]
    for failure in failures[:5]:
        print(f"aa_real: {failure}", file=sys.stderr)
    if failures or not results:
        return 3
    claimed = sum(item["verdict"] in ("faster", "slower") for item in same)
    found = sum(item["verdict"] == "slower" for item in slower)
    print(f"Measured: {options.repeats} repeat{'s' if options.repeats > 1 else ''}, {len(cpus)} lane{'s' if len(cpus) > 1 else ''} of "
          f"{options.cpus_per_lane} CPUs, {options.threads} thread{'s' if options.threads > 1 else ''}, {LAUNCHES} launches of "
          f"{SECONDS} s per arm; {time.monotonic() - begin:.0f} s in all.\n")
    print("| compared | differences claimed | 95 % interval | bound | recommended | time ratio | p50 | launches differ by "
          "| detectable | one takes |\n|---|---|---|---|---|---|---|---|---|---|")
    if same:
        row("a model with itself", same, claimed, f"≤ {CLAIMS_MOST:.0%}")
    if slower:
        row(f"{MORE + 1} layers against {FEW + 1} ({100 * (work - 1):.2f} % more FLOPs): \"slower\"", slower, found,
            f"≥ {FOUND_LEAST:.0%}")
    met = claimed <= CLAIMS_MOST * len(same) and found >= FOUND_LEAST * len(slower)
    print(f"\nBounds: {'met' if met else 'MISSED'}.")
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
