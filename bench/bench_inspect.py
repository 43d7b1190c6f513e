"""bench_inspect.py - the sections `inspect` and `build_model` of bench.py.

inspect: `assay inspect FILE` against the onnx package and onnx-tool on the same file, alternating. Two ratios: command against
command, start-up included, which is what one waits for and what the floor is for; and the work alone, both without their
process. And what inspect takes beyond the file's own pages for a model of 6 GB.

build_model: writing the zoo's gpt2 of 124 million parameters against a plain write of as many bytes to the same disk, alternating.
"""
import json
import os
import pathlib
import statistics
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
KEPT = ROOT / ".cache/bench-models"
RATIO = 50
BEYOND = 50e6
LIMIT_MS = 100


def python():
    """The interpreter and environment with the packages of scripts/setup bench."""
    folder = ROOT / ".cache/bench"
    chosen = folder / ".python"
    name = os.environ.get("ASSAY_BENCH_PYTHON") or (chosen.read_text().strip() if chosen.exists() else sys.executable)
    return name, {**os.environ, "PYTHONPATH": str(folder)}


def peer(path, shapes):
    """onnx + onnx-tool on the file: what it prints, with the wall time of the command; None without the packages."""
    name, environment = python()
    begin = time.perf_counter()
    done = subprocess.run([name, str(ROOT / "bench/python_inspect.py"), str(path), *shapes], stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, env=environment)
    wall = time.perf_counter() - begin
    return {**json.loads(done.stdout), "wall_s": wall} if done.returncode == 0 else None


def ours(bench, path):
    begin = time.perf_counter()
    subprocess.run([bench.assay, "inspect", str(path)], stdout=subprocess.DEVNULL, check=True)
    return time.perf_counter() - begin


def work(bench, path, rounds):
    done = subprocess.run([str(bench.build / "bench/inspect_loop"), str(path), str(rounds)], stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout)["median_s"]


def anonymous_peak(command):
    """The largest resident memory that is no page of a file, in bytes: what the command takes beyond the model's own pages.
    It is read while the command writes its JSON into the pipe in small pieces: by then it holds all that it ever holds."""
    process = subprocess.Popen(command, stdout=subprocess.PIPE)
    peak = 0
    time.sleep(0.001)
    while process.poll() is None:
        try:
            for line in open(f"/proc/{process.pid}/status"):
                if line.startswith("RssAnon"):
                    peak = max(peak, int(line.split()[1]) * 1024)
        except OSError:
            pass
        if len(os.read(process.stdout.fileno(), 1 << 12)) == 0:
            process.wait()
    if process.returncode != 0:
        raise SystemExit(f"bench: {command} failed")
    return peak


def made(bench, name, file):
    """A model of the zoo as a file, made once and kept."""
    path = KEPT / file
    if not path.exists():
        KEPT.mkdir(parents=True, exist_ok=True)
        subprocess.run([bench.assay, "make", name, "-o", str(path)], check=True, stdout=subprocess.DEVNULL)
    return path


def one(bench, say, judge, spread, name, path, rounds):
    commands, loops, peers = [], [], []
    for _ in range(rounds):
        commands.append(ours(bench, path) * 1e3)
        loops.append(work(bench, path, 20) * 1e3)
        other = peer(path, [])
        if other:
            peers.append(other)
    say(f"  {name}: assay inspect {spread(commands)} ms, its work alone {spread(loops)} ms")
    if not peers:
        say("    skipped: no Python with onnx and onnx-tool (scripts/setup bench; or set ASSAY_BENCH_PYTHON)")
        return commands
    walls = [p["wall_s"] * 1e3 for p in peers]
    totals = [p["total_s"] * 1e3 for p in peers]
    say(f"    onnx + onnx-tool as a command {spread(walls)} ms, load and cost alone {spread(totals)} ms")
    ratios = [wall / command for wall, command in zip(walls, commands)]
    judge(statistics.median(ratios) >= RATIO, f"{name}: command against command {spread(ratios)} ×, floor: {RATIO} ×")
    alone = [total / loop for total, loop in zip(totals, loops)]
    say(f"        {name}: the work alone, both without their process: {spread(alone)} ×")
    return commands


def inspect(bench, say, judge, spread):
    say("inspect: reading and costing a model against the onnx package and onnx-tool, alternating")
    rounds = max(3, bench.rounds)
    for path in sorted(ROOT.glob(".cache/onnx/current/onnx/backend/test/data/light/*.onnx")):
        one(bench, say, judge, spread, path.stem[len("light_"):], path, rounds)
    big = made(bench, "gpt2:size=1.5b", "gpt2-1.5B.onnx")
    commands = one(bench, say, judge, spread, "gpt2-1.5B", big, 3)
    judge(statistics.median(commands) <= LIMIT_MS, f"gpt2-1.5B: {spread(commands)} ms, floor: {LIMIT_MS} ms")
    peak = anonymous_peak([bench.assay, "inspect", "--json", str(big)])
    judge(peak <= BEYOND, f"gpt2-1.5B: {peak / 1e6:.1f} MB beyond the file's pages, floor: {BEYOND / 1e6:.0f} MB")


def plain_write(path, size):
    block = os.urandom(1 << 20) * 4
    begin = time.perf_counter()
    with open(path, "wb", buffering=0) as file:
        left = size
        while left > 0:
            left -= file.write(block[:min(left, len(block))])
        os.fsync(file.fileno())
    return time.perf_counter() - begin


def build(bench, say, judge, spread):
    say("build_model: writing gpt2 (124 million parameters) against a plain write of as many bytes, both with fsync, alternating")
    KEPT.mkdir(parents=True, exist_ok=True)
    path, plain = KEPT / "build.onnx", KEPT / "build.raw"
    rates, raw = [], []
    try:
        for _ in range(max(3, bench.rounds // 2)):
            begin = time.perf_counter()
            subprocess.run([bench.assay, "make", "gpt2:size=124m", "-o", str(path)], check=True, stdout=subprocess.DEVNULL)
            seconds = time.perf_counter() - begin
            size = sum(file.stat().st_size for file in KEPT.glob("build.onnx*"))
            rates.append(size / 1e6 / seconds)
            for file in KEPT.glob("build.onnx*"):
                file.unlink()
            raw.append(size / 1e6 / plain_write(plain, size))
            plain.unlink()
    finally:
        for file in KEPT.glob("build.*"):
            file.unlink()
    say(f"  assay make {spread(rates)} MB/s, plain write {spread(raw)} MB/s")
    shares = [ours_ / theirs for ours_, theirs in zip(rates, raw)]
    fast = statistics.median(rates) >= 500
    judge(fast or statistics.median(shares) >= 0.8,
          f"gpt2-124M: {spread(rates)} MB/s, floor: 500 MB/s, or 80 % of the plain write where the disk is slower ({spread(shares)})")
