#!/usr/bin/env python3
"""bench_python.py [ROUNDS] - how fast the Python package is; run it with a Python whose site packages have numpy, and if wished
pytest-benchmark.

call      the time that assay.measure, timeit and pytest-benchmark report for an empty function, against the slope of unrolled calls (the
          difference of two blocks of such calls, divided by the difference of their lengths), alternating. How far each is from the
          slope of its round, in ns.
import    python -c 'import assay' against python -c pass, alternating.
samples   a profile of a million samples opened and given to numpy.

Floors: |assay - slope| <= 20 ns and below the others; import <= 30 ms; samples <= 20 ms.
"""
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time
import timeit

ROOT = pathlib.Path(__file__).resolve().parent.parent
SOURCE = ROOT / "python" / "src"
sys.path.insert(0, str(SOURCE))
sys.path += [str(ROOT / ".cache" / name) for name in ("python-tests", "bench")]

import assay  # noqa: E402


def empty():
    pass


def unrolled(count):
    space = {"perf_counter_ns": time.perf_counter_ns}
    body = " function()\n" * count
    exec(f"def block(function):\n start = perf_counter_ns()\n{body} return perf_counter_ns() - start\n", space)
    return space["block"]


SHORT, LONG = unrolled(200), unrolled(1200)


def slope_ns():
    """Of the fastest of many blocks: what disturbs only adds."""
    short = min(SHORT(empty) for _ in range(2000))
    return (min(LONG(empty) for _ in range(2000)) - short) / 1000


def by_timeit_ns():
    timer = timeit.Timer("function()", globals={"function": empty})
    number, _ = timer.autorange()
    return min(timer.repeat(5, number)) / number * 1e9


def by_pytest_benchmark_ns():
    with tempfile.TemporaryDirectory() as folder:
        test, result = pathlib.Path(folder, "test_empty.py"), pathlib.Path(folder, "result.json")
        test.write_text("def empty():\n    pass\n\n\ndef test_empty(benchmark):\n    benchmark(empty)\n")
        subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--benchmark-json={result}", str(test)],
                       cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
        if not result.exists():
            return None
        return json.loads(result.read_text())["benchmarks"][0]["stats"]["median"] * 1e9


def spread(values):
    return f"{statistics.median(values):7.2f} (from {min(values):.2f} to {max(values):.2f})"


def call(rounds):
    rows = {"assay.measure": [], "timeit": [], "pytest-benchmark": []}
    slopes = []
    for _ in range(rounds):
        before = slope_ns()
        found = {"assay.measure": float(assay.measure(empty, time_s=1)["latency.p50"]) * 1e9, "timeit": by_timeit_ns(),
                 "pytest-benchmark": by_pytest_benchmark_ns()}
        slopes.append((before + slope_ns()) / 2)
        for name, value in found.items():
            if value is not None:
                rows[name].append(abs(value - slopes[-1]))
    print(f"slope of unrolled calls       {spread(slopes)} ns")
    for name, values in rows.items():
        print(f"{name:<18} is off by {spread(values)} ns" if values else f"{name:<18} is not installed")
    return statistics.median(rows["assay.measure"]) <= 20 and all(
        statistics.median(rows["assay.measure"]) <= statistics.median(values) for values in rows.values() if values)


def imports(rounds):
    with_it, without = [], []
    environment = {**os.environ, "PYTHONPATH": str(SOURCE)}
    for _ in range(10 * rounds):
        for code, into in (("import assay", with_it), ("pass", without)):
            begin = time.perf_counter()
            subprocess.run([sys.executable, "-c", code], env=environment, check=True)
            into.append((time.perf_counter() - begin) * 1e3)
    took = statistics.median(with_it) - statistics.median(without)
    print(f"import assay       {took:.1f} ms  (python -c 'import assay' {spread(with_it)} ms, python -c pass {spread(without)} ms)")
    return took <= 30


def samples(rounds):
    import numpy
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "million.assay")
        os.environ.update(ASSAY_FAKE_DEVICES="cpu", ASSAY_FAKE_SCRIPTS="cpu steady=100us;noise=10us")
        assay.run("cfc", engine="fake", launches=1, iterations=1_000_000, warmup=0, layers="off", output=path, progress=False)
        took = []
        for _ in range(5 * rounds):
            begin = time.perf_counter()
            profile = assay.open(path)
            array = numpy.asarray(profile.trial.launches[0].samples())
            took.append((time.perf_counter() - begin) * 1e3)
            assert array.shape == (1_000_000,) and not array.flags.owndata
    print(f"a million samples  {spread(took)} ms")
    return statistics.median(took) <= 20


if __name__ == "__main__":
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    print(f"Python {sys.version.split()[0]}, load {os.getloadavg()[0]:.1f}, {count} rounds; median (spread)")
    results = [call(count), imports(count), samples(count)]
    print("within the floors" if all(results) else "NOT within the floors")
    sys.exit(0 if all(results) else 1)
