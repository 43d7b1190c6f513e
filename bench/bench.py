#!/usr/bin/env python3
"""bench.py - what assay claims about its own speed and memory, as ratios in one run against a peer.

Standard library only. Each section alternates both sides over several rounds and prints median and spread:
these machines are shared, so a single number means little. Sections: loop start memory big repeat layers budget
inspect build_model claims figures page export timeline import import-xml marks watch record.

    bench/bench.py [--build DIR] [--rounds N] [--model NAME]... [--large] [section ...]

--model limits the section `layers` to models of that name; --large adds a trace of 1 GB to the section `import`.

Exit status 1 when a floor that is stated as a ratio or a size is missed.
"""
import argparse
import fcntl
import json
import os
import pathlib
import pty
import shutil
import statistics
import struct
import subprocess
import sys
import tempfile
import termios
import threading
import time

sys.dont_write_bytecode = True  # no folder of ours beside the sources
import bench_import  # noqa: E402
import bench_import_xml  # noqa: E402
import bench_inspect  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parent.parent
missed = []


def say(text=""):
    print(text, flush=True)


def judge(ok, text):
    say(("  ok    " if ok else "  MISS  ") + text)
    if not ok:
        missed.append(text)


def drain(descriptor):
    try:
        while os.read(descriptor, 65536):
            pass
    except OSError:
        pass


def spread(values):
    return f"median {statistics.median(values):.4g} [{min(values):.4g} … {max(values):.4g}]"


class Bench:
    def __init__(self, build, rounds, chosen):
        self.assay = str(build / "assay")
        self.build = build
        self.rounds = rounds
        self.chosen = chosen
        self.ort = os.environ.get("ASSAY_ORT_LIBRARY") or self.find_ort()
        self.cfc = ROOT / "tests/fixtures/models/cfc/model.onnx"

    def find_ort(self):
        for path in sorted((self.build / "onnxruntime").glob("libonnxruntime.*")):
            return str(path)
        sys.exit("bench: no ONNX Runtime beside the program: run make")

    def run(self, model, *options):
        done = subprocess.run([self.assay, "run", str(model), "--json", *options],
                              stdout=subprocess.PIPE, check=True)
        return json.loads(done.stdout)

    def bare(self, model, seconds, threads):
        done = subprocess.run([str(self.build / "bench/bare_loop"), self.ort, str(model), str(seconds), str(threads)],
                              stdout=subprocess.PIPE, check=True)
        return json.loads(done.stdout)

    def same_session(self, model):
        """Our loop over a bare loop in alternating blocks on one session."""
        done = subprocess.run([str(self.build / "bench/same_session"), str(model), "40"], stdout=subprocess.PIPE,
                              check=True, env={**os.environ, "ASSAY_ORT_LIBRARY": self.ort})
        result = json.loads(done.stdout)
        return result["loop_ns"] / result["bare_ns"]

    # --- the loop ----------------------------------------------------------------------------------------
    def loop(self):
        say("loop: the median of a model of some 20 µs, assay run against a bare C loop (alternating processes)")
        bare, ours, python, cost, ratios = [], [], [], [], []
        for _ in range(self.rounds):
            bare.append(self.bare(self.cfc, 1, 1)["median_ns"] / 1e3)
            trial = self.run(self.cfc, "--layers=off", "--time", "1s", "--threads", "1")["trials"][0]
            ours.append(trial["metrics"]["latency.p50"]["value"] * 1e6)
            cost.append(trial["metrics"]["overhead.loop"]["value"] * 1e9)
            ratios.append(ours[-1] / bare[-1])
            value = self.python_loop()
            if value is not None:
                python.append(value)
        say(f"  bare C loop   {spread(bare)} µs")
        say(f"  assay run     {spread(ours)} µs ({statistics.median(ratios):.3f} × the bare loop of its round"
            f" [{min(ratios):.3f} … {max(ratios):.3f}]: processes differ by their memory layout)")
        say(f"  Python loop   {spread(python)} µs" if python else "  Python loop   skipped: no Python with onnxruntime and numpy (scripts/setup bench; or set ASSAY_BENCH_PYTHON)")
        same = [self.same_session(self.cfc) for _ in range(self.rounds)]
        judge(abs(statistics.median(same) - 1) <= 0.02,
              f"assay's loop over a bare C loop on the same session: {spread(same)}, floor: within 2 %")
        judge(max(cost) <= 100, f"the loop's own cost {spread(cost)} ns per iteration, floor: 100 ns")

    def python_loop(self):
        """The median of a Python loop in µs, by the packages that scripts/setup bench fetched; None without them."""
        folder = ROOT / ".cache/bench"
        python = os.environ.get("ASSAY_BENCH_PYTHON")
        if not python:
            chosen = folder / ".python"
            python = chosen.read_text().strip() if chosen.exists() else sys.executable
        done = subprocess.run([python, str(ROOT / "bench/python_loop.py"), str(self.cfc)], stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, env={**os.environ, "PYTHONPATH": str(folder)})
        return float(done.stdout) if done.returncode == 0 else None

    # --- start-up ----------------------------------------------------------------------------------------
    def start(self):
        say("start: what assay adds around the measurement")
        times = []
        for _ in range(30):
            begin = time.perf_counter()
            subprocess.run([self.assay, "version"], stdout=subprocess.DEVNULL, check=True)
            times.append((time.perf_counter() - begin) * 1e3)
        judge(statistics.median(times) <= 10, f"assay version: {spread(times)} ms, floor: 10 ms")
        added = []
        for _ in range(self.rounds):
            begin = time.perf_counter()
            trial = self.run(self.cfc, "--layers=off", "--warmup", "10", "--iters", "2000", "--threads", "1")["trials"][0]
            wall = time.perf_counter() - begin
            metrics = trial["metrics"]
            work = metrics["timing.session"]["value"] + metrics["timing.first"]["value"] + 2010 * metrics["latency.mean"]["value"]
            added.append((wall - work) * 1e3)
        judge(statistics.median(added) <= 150, f"assay run beyond session creation and iterations: {spread(added)} ms, floor: 150 ms")

    # --- memory ------------------------------------------------------------------------------------------
    def peak_of(self, command):
        """Peak resident memory of the process itself (not of its workers) in bytes: VmHWM, polled."""
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        peak = 0
        while process.poll() is None:
            try:
                for line in open(f"/proc/{process.pid}/status"):
                    if line.startswith("VmHWM"):
                        peak = max(peak, int(line.split()[1]) * 1024)
            except OSError:
                pass
            time.sleep(0.01)
        if process.returncode != 0:
            raise SystemExit(f"bench: {command} failed")
        return peak

    def memory(self):
        say("memory: the parent with a million samples")
        with tempfile.TemporaryDirectory() as folder:
            peak = self.peak_of([self.assay, "run", str(self.cfc), "--layers=off", "--warmup", "10", "--iters", "1000000",
                                 "--threads", "1", "-o", folder + "/x.assay", "--quiet"])
        judge(peak <= 30e6, f"peak of the parent {peak / 1e6:.1f} MB, floor: 30 MB")

    def big(self):
        say("big: a model with 2 GB of external data; the worker against a bare loop in the same library")
        folder = pathlib.Path(tempfile.mkdtemp())
        try:
            subprocess.run([str(self.build / "bench/big_model"), str(folder / "big.onnx")], check=True)
            bare = self.bare(folder / "big.onnx", 1, 2)["peak_bytes"]
            trial = self.run(folder / "big.onnx", "--layers=off", "--time", "1s", "--threads", "2")["trials"][0]["metrics"]
            worker = trial["memory.peak.worker"]["value"] + trial["memory.baseline.worker"]["value"]
            judge(worker <= bare + 20e6, f"worker {worker / 1e6:.1f} MB, bare loop {bare / 1e6:.1f} MB, floor: + 20 MB")
            peak = self.peak_of([self.assay, "run", str(folder / "big.onnx"), "--layers=off", "--iters", "5", "--quiet"])
            judge(peak <= 30e6, f"parent {peak / 1e6:.1f} MB")
        finally:
            shutil.rmtree(folder)

    # --- the same command again ---------------------------------------------------------------------------
    def repeat(self):
        say("repeat: two runs of one command differ by at most 3 % in their medians, or a report says why not")
        for name, path in self.models():
            if name not in ("cfc", "encoder", "squeezenet"):
                continue
            runs = []
            for _ in range(self.rounds + 1):
                document = self.run(path, "--layers=off")
                trial = document["trials"][0]
                calm = trial["stability"]["verdict"] == "stable" and not document["environment"]["disturbances"]
                runs.append((trial["metrics"]["latency.p50"]["value"], calm))
            apart = [max(a, b) / min(a, b) - 1 for (a, _), (b, _) in zip(runs, runs[1:])]
            silent = [gap for gap, (_, first), (_, second) in zip(apart, runs, runs[1:])
                      if gap > 0.03 and first and second]
            said = sum(gap > 0.03 for gap in apart) - len(silent)
            judge(not silent, f"{name}: {len(apart)} pairs differ by {spread([gap * 100 for gap in apart])} %; "
                  f"{said} beyond 3 % explained by a report, {len(silent)} not")

    # --- layers ------------------------------------------------------------------------------------------
    def models(self):
        light = sorted(ROOT.glob(".cache/onnx/current/onnx/backend/test/data/light/*.onnx"))
        fixtures = [ROOT / "tests/fixtures/models" / name / "model.onnx" for name in ("cfc", "ltc", "encoder")]
        found = [(path.parent.name, path) for path in fixtures if path.exists()]
        found += [(path.stem[len("light_"):], path) for path in light]
        return [row for row in found if not self.chosen or row[0] in self.chosen]

    def layers(self):
        say("layers: layers + engine + unattributed = latency.p50; unattributed as a share, median of 5 launches [min … max]")
        say(f"  {'model':14} {'threads':>7} {'p50':>12} {'engine':>9} {'unattributed':>28} {'factor':>7} {'slow-down':>9}")
        for name, path in self.models():
            for threads in (1, 2):
                document = self.run(path, "--layers=markers", "--launches", "5", "--time", "1s", "--threads", str(threads))
                trial = document["trials"][0]
                p50 = trial["metrics"]["latency.p50"]["value"] * 1e6
                share = trial["unattributed_us"] / p50
                timing = trial["layer_timing"]
                each = [launch["metrics"]["layers.unattributed"]["value"] / (launch["p50_us"] * 1e-6)
                        for launch in trial["launches"] if "layers.unattributed" in launch["metrics"]]
                median = statistics.median(each) if each else share
                text = f"{median * 100:+6.2f} % [{min(each) * 100:+.2f} … {max(each) * 100:+.2f}]" if each else f"{share * 100:+6.2f} %"
                say(f"  {name:14} {threads:7} {p50:10.1f}µs {trial['engine_us']:7.1f}µs {text:>28} "
                    f"{timing['scale_factor'] or float('nan'):7.3f} {timing['slowdown'] or float('nan'):9.3f}")
                if threads == 1:
                    judge(abs(median) <= 0.05, f"{name}: |unattributed| {abs(median) * 100:.2f} %, floor: 5 %")

    def budget(self):
        say("budget: how long the layers take")
        for name, model, limit in (("cfc", self.cfc, 2.0), ("resnet50", "resnet50", 10.0)):
            extra = []
            for _ in range(3):
                begin = time.perf_counter()
                self.run(model, "--layers=off", "--time", "1s")
                plain = time.perf_counter() - begin
                begin = time.perf_counter()
                self.run(model, "--layers=markers", "--time", "1s")
                extra.append(time.perf_counter() - begin - plain)
            judge(statistics.median(extra) <= limit, f"{name}: layers add {spread(extra)} s, floor: {limit} s")

    # --- models without running them -----------------------------------------------------------------------
    def inspect(self):
        bench_inspect.inspect(self, say, judge, spread)

    def build_model(self):
        bench_inspect.build(self, say, judge, spread)

    # --- traces of other profilers ---------------------------------------------------------------------------
    def import_xml(self):
        bench_import_xml.run(self, say, judge, spread)

    # --- comparisons on the fake engine: nothing is timed -------------------------------------------------------
    def claims(self):
        say("claims: comparisons that claim what is not there, and that find 5 % (bench/aa_real.py measures the same)")
        done = subprocess.run([str(self.build / "bench/aa_simulate")], stdout=subprocess.PIPE, check=False)
        say(done.stdout.decode())
        judge(done.returncode == 0, "claims at most 5.5 %, found at least 95 %, of every kind of noise")

    # --- the page ----------------------------------------------------------------------------------------
    def page(self):
        say("page: the HTML report of a made-up profile, rendered in memory, then written once")
        for layers, samples, rounds in ((1000, 100000, 15), (100000, 1000, 1)):
            with tempfile.TemporaryDirectory() as folder:
                done = subprocess.run([str(self.build / "bench/report_page"), str(layers), str(samples), str(rounds),
                                       f"{folder}/page.html"], stdout=subprocess.PIPE, check=True)
            result = json.loads(done.stdout)
            took = result["median_s"] + result["write_s"]
            text = f"{layers:,} layers, {samples:,} samples: {took * 1e3:.0f} ms, {result['bytes'] / 1e6:.2f} MB"
            if layers > 1000:
                say(f"        {text}")
            else:
                judge(took <= 0.150 and result["bytes"] <= 2e6, f"{text}, floor: 150 ms, 2 MB")
        self.page_floors()
        self.page_in_browser()

    def in_browser(self, page, verb, *arguments):
        """What page.mjs prints of a page, and whether its limits hold; None: there is no browser."""
        cache = ROOT / ".cache"
        packages = [cache / "playwright-core/current", cache / "axe-core/current"]
        browser = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
        if not browser or not shutil.which("node") or not all(package.is_dir() for package in packages):
            say("        in Chromium: not measured, it takes chromium, node and scripts/setup oracle")
            return None
        done = subprocess.run(["node", str(ROOT / "tests/oracle/page.mjs"), *map(str, packages), browser, verb, page, *arguments],
                              capture_output=True, text=True, check=False)
        found = [line for line in done.stdout.splitlines() if line.startswith("{")]
        if not found:
            raise SystemExit(f"page.mjs {verb}: {done.stdout}{done.stderr}")
        return json.loads(found[0]), done.returncode == 0

    def page_floors(self):
        """Size, writing time, tab stops, height, and how soon the page answers."""
        for layers, most_bytes, most_s, floors in ((500, 400e3, 0.1, ("300", "16", "0")), (10000, 6e6, 1, ("1e9", "1e9", "30"))):
            with tempfile.TemporaryDirectory() as folder:
                page = f"{folder}/page.html"
                done = subprocess.run([str(self.build / "bench/report_page"), str(layers), "1000", "15", page], stdout=subprocess.PIPE, check=True)
                result = json.loads(done.stdout)
                took = result["median_s"] + result["write_s"]
                judge(result["bytes"] <= most_bytes, f"{layers:,} layers: {result['bytes'] / 1e3:.0f} kB, floor: {most_bytes / 1e3:.0f} kB")
                judge(took <= most_s, f"{layers:,} layers: written in {took * 1e3:.0f} ms, floor: {most_s * 1e3:.0f} ms")
                found = self.in_browser(page, "floors", *floors)
                if not found:
                    return
                times, ok = found
                how = (f"own processor time, the load is {times['load']}: {times['own']['picture_ms']} ms, {times['own']['select_ms']} ms, "
                       f"{times['own']['frame_ms']} ms a frame" if times["busy"] else "the machine is quiet")
                judge(ok, f"{layers:,} layers: first picture after {times['picture_ms']} ms, selection shown in {times['select_ms']} ms, {times['frames_per_s']} frames/s "
                          f"(medians; {how}), floor: {'300 ms, 16 ms' if layers == 500 else '30 frames/s'}")
                if layers > 500:
                    continue
                stops, ok = self.in_browser(page, "stops", "120")
                judge(ok, f"{layers:,} layers: {stops['stops']} tab stops, floor: 120")
                screens, ok = self.in_browser(page, "screens", "1.25")
                judge(ok, f"{layers:,} layers: screens of 1440 by 900 by tab: {screens['screens']}, floor: about one")

    def page_in_browser(self):
        for layers, samples, limit_ms in ((1000, 100000, 1000), (100000, 1000, 60000)):
            with tempfile.TemporaryDirectory() as folder:
                page = f"{folder}/page.html"
                subprocess.run([str(self.build / "bench/report_page"), str(layers), str(samples), "1", page],
                               stdout=subprocess.PIPE, check=True)
                found = self.in_browser(page, "time", str(limit_ms))
            if not found:
                return
            took, ok = found
            judge(ok, f"{layers:,} layers, {samples:,} samples: can be used in Chromium after {took['least_ms']} ms "
                                        f"(least of 3), floor: {limit_ms:,} ms")

    # --- timelines ---------------------------------------------------------------------------------------
    def export(self):
        say("export: a made-up timeline of a million events in the formats of other viewers, counted and not kept, least of 5")
        for name in ("perfetto", "chrome", "speedscope", "folded"):
            done = subprocess.run([str(self.build / "bench/timeline"), "export", name, "1000000", "5"], stdout=subprocess.PIPE, check=True)
            result = json.loads(done.stdout)
            rate = result["events"] / result["least_s"] / 1e6
            text = f"{name}: {rate:.2f} M events/s, {result['bytes'] / 1e6:.0f} MB"
            if name == "perfetto":
                judge(rate >= 1, f"{text}, floor: 1 M events/s")
            else:
                say(f"        {text}")

    def timeline(self):
        say("timeline: the page of a made-up trace of a million events, from the sealed store to the file, least of 3")
        with tempfile.TemporaryDirectory() as folder:
            page = f"{folder}/page.html"
            results = [json.loads(subprocess.run([str(self.build / "bench/timeline"), "page", "1000000", page], stdout=subprocess.PIPE, check=True).stdout)
                       for _ in range(3)]
            least = min(result["explain_s"] + result["page_s"] for result in results)
            judge(least <= 3 and results[0]["bytes"] <= 25e6, f"explained and written in {least:.2f} s, {results[0]['bytes'] / 1e6:.1f} MB, floor: 3 s, 25 MB")
            found = self.in_browser(page, "timeline-time", "1500", "30")
            if found:
                took, ok = found
                judge(ok, f"first picture in Chromium after {took['least_ms']} ms (least of 3{', own processor time: the machine is busy' if took['busy'] else ''}), "
                          f"zooming at {took['frames_per_s']} frames/s, floor: 1,500 ms, 30 frames/s")

    def figures(self):
        say("figures: SVG of large data, least of 5")
        done = subprocess.run([str(self.build / "bench/figures")], capture_output=True, text=True)
        say(done.stdout.rstrip())
        judge(done.returncode == 0, "every figure in at most 50 ms")

    # --- the monitor -------------------------------------------------------------------------------------
    def marks(self):
        say("marks: assay_mark_begin and _end in 8 threads at once, each call timed alone, the clock's own time subtracted")
        rows = [json.loads(subprocess.run([str(self.build / "bench/marks")], stdout=subprocess.PIPE, check=False).stdout)
                for _ in range(self.rounds)]
        for name in ("begin", "end"):
            medians = [row[f"{name}_ns"] for row in rows]
            tails = [row[f"{name}_p999_ns"] for row in rows]
            judge(statistics.median(medians) <= 50, f"{name}: {spread(medians)} ns, at most 50")
            judge(statistics.median(tails) <= 200, f"{name}, 99.9th percentile: {spread(tails)} ns, at most 200"
                  f" (the clock alone: {spread([row['clock_p999_ns'] for row in rows])})")

    def watched(self, argv, seconds, terminal):
        """Share of a core and resident memory of a program after that many seconds; it may want a terminal of 160 x 50."""
        output = subprocess.DEVNULL
        if terminal:
            master, output = pty.openpty()
            fcntl.ioctl(output, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 160, 0, 0))
            threading.Thread(target=drain, args=(master,), daemon=True).start()
        began = time.monotonic()
        with subprocess.Popen(argv, stdin=output, stdout=output, stderr=subprocess.DEVNULL,
                              env=dict(os.environ, TERM="xterm-256color")) as child:
            time.sleep(seconds)
            try:
                with open(f"/proc/{child.pid}/statm", encoding="utf-8") as file:
                    resident = int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE")
                with open(f"/proc/{child.pid}/stat", encoding="utf-8") as file:
                    fields = file.read().rsplit(")", 1)[1].split()
                ran = child.poll() is None
            except (OSError, IndexError):
                ran = False
            took = time.monotonic() - began
            child.terminate()
            child.wait()
        if terminal:
            os.close(output)
        return ((int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK") / took, resident) if ran else None

    def watch(self):
        say("watch: processor time and resident memory of assay watch; beside htop and btop at the same rate where they run")
        peers = [("assay watch, 1 Hz", [self.assay, "watch", "--json"], 0.003),
                 ("assay watch, 10 Hz", [self.assay, "watch", "--json", "--interval", "100ms"], 0.015)]
        for name, argv in (("htop", ["htop", "-d", "10"]), ("btop", ["btop", "-u", "1000"])):
            if shutil.which(name):
                peers.append((name + ", 1 Hz", argv, None))
        seen = {name: [] for name, _, _ in peers}
        for _ in range(self.rounds):
            for name, argv, limit in peers:
                result = self.watched(argv, 20, limit is None)
                if result:
                    seen[name].append(result)
        for name, _, limit in peers:
            shares = [share * 100 for share, _ in seen[name]]
            sizes = [size / 1e6 for _, size in seen[name]]
            if not shares:
                say(f"        {name}: it did not run here")
                continue
            text = f"{name}: {spread(shares)} % of a core, {spread(sizes)} MB"
            if limit is None:
                say("        " + text)
            else:
                judge(statistics.median(shares) <= limit * 100 and statistics.median(sizes) <= 15, f"{text}, at most {limit:.1%} and 15 MB")

    def record(self):
        say("record: a week of 40 rows of noise at one reading a second, on a scripted clock")
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run([str(self.build / "bench/record_week"), f"{folder}/week.assay"], stdout=subprocess.PIPE, check=False)
            result = json.loads(done.stdout)
            judge(result["bytes"] <= 50e6, f"{result['bytes'] / 1e6:.1f} MB, at most 50; {result['us_per_reading']:.0f} µs a reading")


def main():
    sections = ["loop", "start", "memory", "big", "repeat", "layers", "budget", "inspect", "build_model", "claims", "figures", "page",
                "export", "timeline", "import", "import-xml", "marks", "watch", "record"]
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", default=str(ROOT / "build"))
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--model", action="append", default=[])
    parser.add_argument("--large", action="store_true")
    parser.add_argument("sections", nargs="*", default=[])
    arguments = parser.parse_args()
    bench = Bench(pathlib.Path(arguments.build), arguments.rounds, arguments.model)
    for section in arguments.sections or sections:
        if section not in sections:
            sys.exit(f"bench: no section '{section}'; there are: {' '.join(sections)}")
        if section == "import":
            bench_import.run(bench, say, judge, spread, arguments.large)
        else:
            getattr(bench, section.replace("-", "_"))()
        say()
    say(f"floors missed: {len(missed)}" if missed else "every floor met")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
