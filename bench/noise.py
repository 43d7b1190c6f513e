#!/usr/bin/env python3
"""noise.py - what a default `assay run` is worth on a machine as it is: repeats the same command and compares.

    bench/noise.py ASSAY [--runs N] [--busy] [--bare LOOP LIBRARY] [--out FILE] [--seconds S] MODEL…

Models take turns, so that a slow minute of the machine meets all of them. For each model it prints
  stable      runs that assay calls stable
  covered     of these, the intervals (latency.runs_low … _high, latency.between_low … _high for the first two runs of a model) that
              hold the median of the other runs' headlines
  half-width  of the intervals of stable runs, relative to the headline: median
  layers      stable runs whose |unattributed| is at most 5 % of the latency
  wall        seconds a run takes: median and longest
--busy keeps one CPU busy half of the time (10 ms on, 10 ms off) with another process. --bare runs bench/bare_loop on the model's
file for half a second before and after each run, and prints assay's headline over the mean of the two medians. --out keeps a JSON line
for each run and goes on where the file ends: runs that it has already count towards --runs. With --seconds it stops in time to be
continued later (no run is begun that would end after S seconds, judged by the longest so far).
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

BURN = """
import os, time, sys
if hasattr(os, 'sched_setaffinity'): os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
while os.getppid() == int(sys.argv[1]):
    until = time.monotonic() + 0.01
    while time.monotonic() < until: pass
    time.sleep(0.01)
"""


def one_run(assay, model):
    begin = time.monotonic()
    done = subprocess.run([assay, "run", *model.split(), "--json"], stdout=subprocess.PIPE, check=True)
    wall = time.monotonic() - begin
    trial = json.loads(done.stdout)["trials"][0]
    value = {name: trial["metrics"].get("latency." + name, {}).get("value")
             for name in ("p50", "between_low", "between_high", "runs_low", "runs_high")}
    unattributed = trial.get("unattributed_us")
    return {"model": model, "wall_s": wall, "verdict": trial["stability"]["verdict"], "reasons": trial["stability"]["reasons"],
            "p50": value["p50"], "low": value["runs_low"] or value["between_low"], "high": value["runs_high"] or value["between_high"],
            "launches": [launch["p50_us"] for launch in trial["launches"]],
            "unattributed": unattributed / 1e6 / value["p50"] if unattributed is not None else None}


def percent(part, whole):
    return f"{part} of {whole} ({100 * part / whole:.0f} %)" if whole else "0 of 0"


def judge(rows):
    stable = [row for row in rows if row["verdict"] == "stable"]
    covered = sum(row["low"] is not None and row["low"] <= statistics.median(r["p50"] for r in rows if r is not row) <= row["high"]
                  for row in stable) if len(rows) > 1 else 0
    widths = [(row["high"] - row["low"]) / 2 / row["p50"] for row in stable if row["low"] is not None]
    adds_up = sum(row["unattributed"] is not None and abs(row["unattributed"]) <= 0.05 for row in stable)
    walls = [row["wall_s"] for row in rows]
    heads = [row["p50"] for row in rows]
    print(f"{rows[0]['model']}: headlines {statistics.median(heads) * 1e6:.1f} µs [{min(heads) * 1e6:.1f} … {max(heads) * 1e6:.1f}]")
    print(f"  stable     {percent(len(stable), len(rows))}")
    print(f"  covered    {percent(covered, len(stable))}")
    if widths:
        print(f"  half-width {100 * statistics.median(widths):.2f} % [{100 * min(widths):.2f} … {100 * max(widths):.2f}]")
    print(f"  layers     {percent(adds_up, len(stable))}")
    print(f"  wall       {statistics.median(walls):.1f} s, longest {max(walls):.1f} s")
    bare = [row["p50"] / row["bare"] for row in rows if row.get("bare")]
    if bare:
        within = sum(abs(ratio - 1) <= 0.05 for ratio in bare)
        print(f"  over bare  {statistics.median(bare):.3f} [{min(bare):.3f} … {max(bare):.3f}], within 5 %: {percent(within, len(bare))}")


def bare_median(given, path):
    done = subprocess.run([*given.bare, str(path), "0.5", "0"], stdout=subprocess.PIPE)
    return json.loads(done.stdout)["median_ns"] / 1e9 if done.returncode == 0 else None


def run_beside_bare(given, model, path):
    before = bare_median(given, path) if path else None
    row = one_run(given.assay, model)
    after = bare_median(given, path) if path else None
    row["bare"] = (before + after) / 2 if before and after else None
    return row


def kept_rows(given):
    rows = {model: [] for model in given.models}
    if given.out and os.path.exists(given.out):
        for line in open(given.out):
            row = json.loads(line)
            rows.setdefault(row["model"], []).append(row)
    return rows


def make_files(given, folder):
    files = {}
    for i, model in enumerate(given.models if given.bare else []):
        files[model] = pathlib.Path(folder) / f"{i}.onnx"
        subprocess.run([given.assay, "make", *model.split(), "-o", str(files[model])], check=True, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)
    return files


def measure(given, rows, files, out):
    begin, longest = time.monotonic(), 0
    while any(len(rows[model]) < given.runs for model in given.models):
        for model in sorted(given.models, key=lambda m: len(rows[m])):  # after a pause, the one that misses a run comes first
            now = time.monotonic()
            if len(rows[model]) >= given.runs:
                continue
            if given.seconds and now - begin + longest > given.seconds:
                return
            row = run_beside_bare(given, model, files.get(model))
            longest = max(longest, time.monotonic() - now)
            rows[model].append(row)
            if out:
                out.write(json.dumps(row) + "\n")
                out.flush()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("assay")
    parser.add_argument("models", nargs="+")
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--busy", action="store_true")
    parser.add_argument("--bare", nargs=2, metavar=("LOOP", "LIBRARY"))
    parser.add_argument("--out")
    parser.add_argument("--seconds", type=float, default=0)
    given = parser.parse_args()
    rows = kept_rows(given)
    burner = subprocess.Popen([sys.executable, "-c", BURN, str(os.getpid())]) if given.busy else None
    out = open(given.out, "a") if given.out else None
    try:
        with tempfile.TemporaryDirectory() as folder:
            measure(given, rows, make_files(given, folder), out)
    except KeyboardInterrupt:
        pass
    finally:
        if burner:
            burner.terminate()
            burner.wait()
    for model in given.models:
        if rows[model]:
            judge(rows[model])


main()
