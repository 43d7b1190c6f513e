"""bench_import.py - the section `import` of bench.py: reading a Kineto trace into the event store.

The trace is a real one (beside the checkout, else the small one of the tests) repeated with shifted times and ids, so that it
is the same in every run: 72 MB, some 300,000 events; 1 GB with --large. Peers, alternating: json.load of Python, in a process
of its own, its start not counted; and Holistic Trace Analysis, where ASSAY_BENCH_HTA names a Python that has it.
"""
import gzip
import json
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
KEPT = ROOT / ".cache/bench-traces"
REAL = ROOT.parent / "shared/data/traces/kineto-h200-encoder-sync.json.gz"
SMALL = ROOT / "tests/fixtures/traces/kineto.json"
SPEED = 400e6  # bytes of text a second
JSON_RATIO, HTA_RATIO = 4, 25
OWN = " (own processor time: the machine is busy)"
EVENT_BYTES, REST_BYTES = 64, 32e6
LOAD = "import json, sys, time; begin = time.perf_counter(); json.load(open(sys.argv[1])); print(time.perf_counter() - begin)"


def make_trace(size, name):
    """A trace of about that many bytes, plain and gzip; kept between runs."""
    plain = KEPT / f"{name}.json"
    if not plain.exists():
        KEPT.mkdir(parents=True, exist_ok=True)
        text = gzip.open(REAL, "rt").read() if REAL.exists() else SMALL.read_text()
        begin, end = text.index("[", text.index('"traceEvents"')) + 1, text.rindex("]")
        body = text[begin:end].rstrip()
        pieces = re.split(r'("ts": |"correlation": |"id": )(\d+)', body)
        draft = plain.with_suffix(".part")
        with open(draft, "w") as out:
            out.write(text[:begin])
            for turn in range(max(1, round(size / len(body)))):
                out.write("," if turn else "")
                for i in range(0, len(pieces) - 1, 3):
                    step = 120_000 if "ts" in pieces[i + 1] else 10_000_000
                    out.write(pieces[i] + pieces[i + 1] + str(int(pieces[i + 2]) + turn * step))
                out.write(pieces[-1])
            out.write(text[end:])
        draft.rename(plain)
    packed = plain.with_suffix(".json.gz")
    if not packed.exists():
        with open(plain, "rb") as source, gzip.open(packed, "wb", 6) as out:
            shutil.copyfileobj(source, out, 1 << 20)
    return plain, packed


def ours(build, path):
    done = subprocess.run([str(build / "bench/import_trace"), str(path)], stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout)


def rate(result):
    """Bytes of text a second on one core: of processor time where other programs took a tenth of the core or more."""
    busy = result["seconds"] > 1.1 * result["own_seconds"]
    return result["bytes"] / (result["own_seconds"] if busy else result["seconds"]), busy


def python_load(path):
    done = subprocess.run([sys.executable, "-c", LOAD, str(path)], stdout=subprocess.PIPE, check=True)
    return float(done.stdout)


def hta(path):
    """Seconds of HTA's parsing, idle time and kernel breakdown; None without it."""
    python = os.environ.get("ASSAY_BENCH_HTA")
    if not python:
        return None
    done = subprocess.run([python, str(ROOT / "bench/python_hta.py"), str(path)], stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL)
    return json.loads(done.stdout.splitlines()[-1])["seconds"] if done.returncode == 0 else None


def memory(result, judge, what):
    allowed = EVENT_BYTES * result["events"] + result["text_bytes"] + REST_BYTES
    judge(result["peak_bytes"] <= allowed, f"{what}: peak {result['peak_bytes'] / 1e6:.1f} MB for {result['events']:,} events,"
          f" at most {allowed / 1e6:.1f} MB ({EVENT_BYTES} B an event, the texts, {REST_BYTES / 1e6:.0f} MB)")


def run(bench, say, judge, spread, large):
    plain, packed = make_trace(72e6, "kineto-72mb")
    say(f"import: a Kineto trace of {plain.stat().st_size / 1e6:.0f} MB into the event store")
    speeds, packed_speeds, ratios, hta_ratios, busy = [], [], [], [], False
    for _ in range(bench.rounds):
        mine, other, mine_packed = ours(bench.build, plain), python_load(plain), ours(bench.build, packed)
        speeds.append(rate(mine)[0])
        packed_speeds.append(rate(mine_packed)[0])
        busy |= rate(mine)[1]
        ratios.append(other / mine["seconds"])
        theirs = hta(plain) if len(hta_ratios) < 3 else None
        if theirs:
            hta_ratios.append(theirs / mine["seconds"])
    say(f"  {mine['events']:,} events, {mine['skipped']} skipped; MB/s of text: plain {spread([s / 1e6 for s in speeds])},"
        f" gzip {spread([s / 1e6 for s in packed_speeds])}")
    judge(statistics.median(speeds) >= SPEED, f"plain text at {statistics.median(speeds) / 1e6:.0f} MB/s{OWN if busy else ''}, at least"
          f" {SPEED / 1e6:.0f}")
    judge(statistics.median(ratios) >= JSON_RATIO, f"json.load takes {spread(ratios)} times as long, at least {JSON_RATIO}")
    if hta_ratios:
        judge(statistics.median(hta_ratios) >= HTA_RATIO, f"HTA's parsing, idle time and kernel breakdown take"
              f" {spread(hta_ratios)} times as long, at least {HTA_RATIO}")
    else:
        say("  HTA: not compared (ASSAY_BENCH_HTA names no Python that has it)")
    memory(mine, judge, "plain")
    memory(mine_packed, judge, "gzip")
    if not large:
        return
    for path in make_trace(1e9, "kineto-1gb"):
        result = ours(bench.build, path)
        say(f"  {path.name}: {result['bytes'] / 1e6:.0f} MB of text in {result['seconds']:.2f} s,"
            f" {rate(result)[0] / 1e6:.0f} MB/s{OWN if rate(result)[1] else ''}")
        memory(result, judge, path.name)
