#!/usr/bin/env python3
"""bench_ceilings.py - assay's CPU ceilings against likwid-bench (Debian: likwid), alternating in one run.

    bench_ceilings.py BUILD_FOLDER [--rounds N] [--only PREFIX]

Each round measures a row with assay's kernels, then runs likwid's kernels of the same work, in windows of a few
milliseconds; both sides keep their best, because on a machine that does other work too everything else is noise.
In main memory likwid's window is at least one
pass over the set and its pages are small, so a ratio far above 1 there says little about the kernels.
Exit status 1 when a row is below 95 % of likwid. Bytes are counted the same way (no write-allocate traffic).
triad in assay is STREAM's (a + s*b, likwid: stream); likwid's own triad (b*c + d) is compared too."""
import argparse
import os
import re
import subprocess
import sys

WINDOW_S = 0.003
FLOOR = 0.95


def flags():
    with open("/proc/cpuinfo") as file:
        return set(re.search(r"^flags\s*:(.*)$", file.read(), re.M).group(1).split())


def likwid(test, size, threads, iterations):
    """One run: (seconds, value in FLOP/s or B/s), or None when the kernel does not run here."""
    command = ["likwid-bench", "-t", test, "-w", f"S0:{size}kB:{threads}", "-i", str(iterations)]
    done = subprocess.run(command, capture_output=True, text=True)
    seconds = re.search(r"^Time:\s+(\S+)", done.stdout, re.M)
    unit = "MFlops/s" if test.startswith("peakflops") else "MByte/s"
    value = re.search(rf"^{unit}:\s+(\S+)", done.stdout, re.M)
    return (float(seconds.group(1)), float(value.group(1)) * 1e6) if seconds and value else None


def iterations_for(test, size, value):
    """Iterations of likwid's kernel that take about a window at the speed we measured."""
    # peakflops does 15 multiply-adds with each element it loads
    work = size * 1000 / (4 if "_sp" in test else 8) * 30 if test.startswith("peakflops") else size * 1000
    return max(1, int(value * WINDOW_S / work))


def ours(program, row):
    done = subprocess.run([program, "--plain", "--only", row, "--budget", "12"], capture_output=True, text=True,
                          check=True)
    for line in done.stdout.splitlines():
        fields = line.split("\t")
        if fields[0] == row and fields[1] != "nan":
            return float(fields[1]), int(fields[7]), " ".join(fields[8:]).strip()
    return None


def rows(threads):
    wide, fused = "avx512f" in flags(), "fma" in flags()
    vectors = (["avx512"] if wide else []) + (["avx"] if "avx" in flags() else []) + ["sse"]
    flop = [f"peakflops{{}}_{v}_fma" for v in vectors if v != "sse" and fused] or ["peakflops{}_sse"]
    for name in ("one-core", "all-cores") if threads > 1 else ("one-core",):
        yield f"compute.float64.{name}", [t.format("") for t in flop]
        yield f"compute.float32.{name}", [t.format("_sp") for t in flop]
        for level in ("l1", "l2", "l3", "dram"):
            def kernels(word, last=""):
                plain = [f"{word}_{v}{last if v != 'sse' else ''}" for v in vectors[:2]]
                around = [f"{word}_mem_{v}{last if v != 'sse' else ''}" for v in vectors[:2]]
                return plain + (around if level == "dram" and word != "load" else [])
            yield f"bandwidth.{level}.read.{name}", kernels("load")
            yield f"bandwidth.{level}.write.{name}", kernels("store")
            yield f"bandwidth.{level}.copy.{name}", kernels("copy")
            last = "_fma" if fused else ""
            yield f"bandwidth.{level}.triad.{name}", kernels("stream", last) + kernels("triad", last)


def compare(program, row, tests, rounds, threads):
    mine, theirs, best, kernel = 0.0, 0.0, "", ""
    count = threads if row.endswith("all-cores") else 1
    for _ in range(rounds):
        result = ours(program, row)
        if result is None:
            return None
        if result[0] > mine:
            mine, kernel = result[0], result[2]
        size = max(16 * count, result[1] // 1000)
        for test in tests:
            run = likwid(test, size, count, iterations_for(test, size, mine))
            if run and run[1] > theirs:
                theirs, best = run[1], test
    return mine, kernel, theirs, best


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    program = os.path.join(options.build, "bench", "ceilings")
    threads, low = len(os.sched_getaffinity(0)), 0
    for row, tests in rows(threads):
        if not row.startswith(options.only):
            continue
        result = compare(program, row, tests, options.rounds, threads)
        if result is None or not result[2]:
            print(f"{row:34} not compared: {'no value here' if result is None else 'no likwid kernel ran'}")
            continue
        mine, kernel, theirs, best = result
        low += mine < FLOOR * theirs
        print(f"{row:34} {mine / 1e9:8.1f} G/s ({kernel})   likwid {theirs / 1e9:8.1f} G/s ({best})   "
              f"{mine / theirs:5.2f}", flush=True)
    print(f"{low} below {FLOOR:.0%}")
    return 1 if low else 0


if __name__ == "__main__":
    sys.exit(main())
