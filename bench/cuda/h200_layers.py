#!/usr/bin/env python3
"""h200_layers.py - layer times on a GPU: do they add up, what does the pass cost that they come from,
and do other tools see the same kernels?

    LD_LIBRARY_PATH=<onnxruntime-gpu>/capi:<CUDA>/lib64 ASSAY_ORT_LIBRARY=<onnxruntime-gpu>/capi \\
        python3 bench/cuda/h200_layers.py DIST OUT [--only run,trace,plain,ncu,ratio,p50,graphs,drops] [--budget 140]

DIST: the folder of `make dist`. OUT gets JSON, profiles and logs. Prints one short line per check; what
misses its floor ends in MISSES. The parts:

  run    resnet50, mobilenetv2, gpt2 on cuda:0: kernels + copies + gaps + host = the traced run, exactly; the
         layers add up to the kernels; the ratio of runs with and without recording (8 alternating rounds)
  trace  `assay trace resnet50 --device cuda:0`
  plain  the kernel time of an inference in a process that is only recorded, against that of the layers
  ncu    kernels of an inference by name, how often and in which order, against Nsight Compute
  ratio  the ratio of runs with and without recording again: each model --repeat times in turn, and the median
  p50    resnet50 in a run by default: the traced run against the unprofiled median
  graphs a session that replays a CUDA graph: its kernels by layer, its latency beside one without, its timeline
  drops  a storm of launches with one small buffer: recorded + dropped = launched
"""
import argparse
import collections
import csv
import glob
import io
import json
import os
import re
import statistics
import subprocess
import sys
import time
from pathlib import Path

MODELS = {"resnet50": ["resnet50"], "mobilenetv2": ["mobilenetv2"], "gpt2": ["gpt2:phase=decode,past=32"]}
RATIO_FLOOR, KERNELS_FLOOR = 1.10, 0.03
INFERENCES = 40
HEURISTIC = ["--provider-options", "cudnn_conv_algo_search=HEURISTIC"]
GRAPH = ["--provider-options", "cudnn_conv_algo_search=HEURISTIC;enable_cuda_graph=1"]
STORM = 200000


class Bench:
    def __init__(self, options):
        self.out = Path(options.out)
        self.out.mkdir(parents=True, exist_ok=True)
        self.end = time.monotonic() + options.budget
        found = [path for path in (f"{options.dist}/bin/assay", f"{options.dist}/assay") if os.access(path, os.X_OK)]
        if not found:
            sys.exit(f"{options.dist}: no assay in it")
        self.assay = os.path.abspath(found[0])
        self.environment = dict(os.environ, ASSAY_LOG=str(self.out.resolve() / "log.txt"), NO_COLOR="1")
        self.results, self.device, self.repeat = {}, options.device, options.repeat
        self.find_cupti()

    def find_cupti(self):
        """The recorder looks where the loader does; a Python package is nowhere there."""
        if "ASSAY_CUPTI" in self.environment:
            return
        patterns = [f"{folder}/nvidia/**/libcupti.so.1[23]" for folder in sys.path if "packages" in folder]
        patterns += ["/usr/local/cuda*/**/libcupti.so.1[23]"]
        for pattern in patterns:
            for path in sorted(glob.glob(pattern, recursive=True), reverse=True):
                self.environment["ASSAY_CUPTI"] = path
                print(f"cupti {path}")
                return
        print("cupti not found: the loader's own search is left")

    def call(self, name, command, limit=60):
        """The standard output; standard error goes to a file and, of a failure, is shown in part."""
        limit = max(min(limit, self.end - time.monotonic()), 1)
        begin = time.monotonic()
        try:
            done = subprocess.run(command, env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                  timeout=limit, cwd=self.out, check=False)
        except subprocess.TimeoutExpired as late:
            (self.out / f"{name}.err").write_bytes(late.stderr or b"")
            print(f"{name}: no end after {limit:.0f} s")
            return None
        (self.out / f"{name}.out").write_bytes(done.stdout)
        (self.out / f"{name}.err").write_bytes(done.stderr)
        print(f"{name}: status {done.returncode}, {time.monotonic() - begin:.1f} s")
        if done.returncode:
            print("   ", done.stderr.decode(errors="replace").strip()[-600:].replace("\n", "\n    "))
            return None
        return done.stdout.decode(errors="replace")


def verdict(good):
    return "ok" if good else "MISSES"


def whole_ns(microseconds):
    return round(microseconds * 1000)


def layers_of(bench, name, arguments):
    """The trial of a run, checked and printed; None where it has no layers by kernels."""
    text = bench.call(f"run-{name}", [bench.assay, "run", *arguments, "--device", bench.device, "--time", "1s", "--json"])
    if text is None:
        return None
    trial = json.loads(text)["trials"][0]
    timing, layers = trial["layer_timing"], trial["layers"]
    print(f"{name}: method {timing['method']}; {timing.get('reason') or 'no remark'}")
    if timing["method"] != "kernels":
        print(f"{name}: no kernels MISSES")
        return None
    parts = {key: timing[key + "_us"] for key in ("kernels", "copies", "gaps", "host", "traced")}
    p50_us = trial["metrics"]["latency.p50"]["value"] * 1e6
    known = [layer for layer in layers if layer["time_us"] is not None]
    in_layers = sum(whole_ns(layer["time_us"]) for layer in known)
    adds = sum(whole_ns(parts[key]) for key in ("kernels", "copies", "gaps", "host")) == whole_ns(parts["traced"])
    of_layers = sum(layer["kernel_count"] for layer in known if layer["kernel_count"])
    bench.results[name] = {
        "p50_us": p50_us, "ratio_to_p50": parts["traced"] / p50_us, "ratio_alternating": timing["slowdown"],
        "plain_us": timing["plain_us"], "lasting": timing["lasting"],
        "kernels": timing["kernel_count"], "kernels_of_layers": of_layers, "layers": len(layers),
        **{key + "_us": value for key, value in parts.items()}}
    print(f"{name}: p50 {p50_us:.1f} us, traced {parts['traced']:.1f} = kernels {parts['kernels']:.1f} + copies "
          f"{parts['copies']:.1f} + gaps {parts['gaps']:.1f} + host {parts['host']:.1f}: exact {verdict(adds)}")
    print(f"{name}: layers {len(known)} of {len(layers)}, {of_layers:.0f} of {timing['kernel_count']:.0f} kernels, "
          f"{in_layers / 1e3:.1f} us of {parts['kernels']:.1f} {verdict(in_layers <= whole_ns(parts['kernels']) + 1)}")
    print(f"{name}: alternating ratio {timing['slowdown']:.4f} {verdict(timing['slowdown'] <= RATIO_FLOOR)}, "
          f"to p50 {parts['traced'] / p50_us:.4f} {verdict(parts['traced'] / p50_us <= RATIO_FLOOR)}; runs beside it without "
          f"recording {timing['plain_us']:.1f} us, {timing['lasting']:.3f} x those before CUPTI was opened")
    longest = sorted(known, key=lambda layer: -layer["time_us"])[:3]
    print("   longest:", "; ".join(f"{layer['title']} {layer['op']} {layer['time_us']:.2f} us {layer['kernel_count']:.0f}k"
                                   for layer in longest))
    return trial


def run(bench):
    for name, model in MODELS.items():
        layers_of(bench, name, model)


def trace(bench):
    (bench.out / "trace.assay").unlink(missing_ok=True)
    text = bench.call("trace", [bench.assay, "trace", "resnet50", "--device", bench.device, "-o", "trace.assay"])
    if text is None:
        return
    kinds = query(bench, "trace.assay", "SELECT kind, count(*) AS n, sum(duration_ns) AS ns FROM events GROUP BY kind")
    print("trace:", ", ".join(f"{row['n']} {row['kind']}" for row in kinds or []))
    shown = (bench.out / "trace.err").read_text(errors="replace")
    print("   ", "\n    ".join(shown.splitlines()[:12]))


def query(bench, profile, sql):
    text = bench.call("query", [bench.assay, "query", profile, sql, "--json"])
    if text is None:
        return None
    table = json.loads(text)
    return [dict(zip(table["columns"], row)) for row in table["rows"]]


def program(bench, more):
    """A process that only runs the model."""
    return [bench.assay, "run", "resnet50", "--device", bench.device, "--layers=off", "--launches", "1", "--warmup", "5",
            "--iters", str(INFERENCES), "--json", *more]


def recorded(bench, name, more):
    """Its kernels in order: (name, ns); the last inferences are alike."""
    bench.call(name, [bench.assay, "trace", "--calls", "none", "-q", "-o", f"{name}.assay", "--", *program(bench, more)])
    rows = query(bench, f"{name}.assay", "SELECT name, duration_ns FROM events WHERE kind = 'kernel' ORDER BY start_ns")
    return [(row["name"], row["duration_ns"]) for row in rows or []]


def plain(bench):
    own = bench.results.get("resnet50")
    kernels = recorded(bench, "plain", []) if own else []
    if not own or not kernels:
        return
    count = int(own["kernels"])
    last = kernels[-count * INFERENCES:]
    regular = all(last[i][0] == last[i - count][0] for i in range(count, len(last)))
    each_us = sorted(sum(ns for _, ns in last[i:i + count]) / 1e3 for i in range(0, len(last), count))
    median = each_us[len(each_us) // 2]
    away = own["kernels_us"] / median - 1
    print(f"plain: {len(kernels)} kernels, {count} an inference {verdict(regular)}, {median:.1f} us against "
          f"{own['kernels_us']:.1f}: {away:+.2%} {verdict(abs(away) <= KERNELS_FLOOR)}")
    bench.results["plain"] = {"kernel_us": median, "away": away, "regular": regular, "all": len(kernels)}


def ncu_names(text):
    lines = [line for line in text.splitlines() if line.startswith('"')]
    return [row["Kernel Name"] for row in csv.DictReader(io.StringIO("\n".join(lines))) if row.get("ID", "").isdigit()]


def names_of_layers(layers):
    """The kernels of an inference: how often each name."""
    names = collections.Counter()
    for layer in layers:
        for item in (layer.get("kernels") or "").split("; "):
            times = re.match(r"(\d+) x (.*)", item)
            if item:
                names[times[2] if times else item] += int(times[1]) if times else 1
    return names


def differences(title, ours, theirs):
    for name in sorted(set(ours) | set(theirs)):
        if ours[name] != theirs[name]:
            print(f"   {title}: {ours[name]} of assay, {theirs[name]}: {name[:140]}")


def ncu(bench):
    """One inference out of those that are all alike, against Nsight Compute; with few kernels before them, because cuDNN's
    exhaustive search for algorithms launches 19,000."""
    trial = layers_of(bench, "resnet50-heuristic", ["resnet50", *HEURISTIC])
    kernels = [name for name, _ in recorded(bench, "heuristic", HEURISTIC)] if trial else []
    if not kernels:
        return
    count = int(trial["layer_timing"]["kernel_count"])
    regular = len(kernels)
    while regular > count and kernels[regular - 1] == kernels[regular - 1 - count]:
        regular -= 1
    skip = regular + count
    print(f"ncu: {len(kernels)} kernels, the same {count} again from number {regular} on "
          f"{verdict(len(kernels) - regular >= 20 * count)}; {skip} are skipped")
    begin = time.monotonic()
    text = bench.call("ncu", ["ncu", "--clock-control", "none", "--cache-control", "none", "--target-processes", "all",
                              "--csv", "--page", "raw", "--print-kernel-base", "mangled", "--launch-skip", str(skip),
                              "--launch-count", str(count), "--kill", "yes", "--metrics", "launch__grid_size", *program(bench, HEURISTIC)],
                      limit=100)  # a metric of the launch, not of a counter: nothing is replayed
    if text is None:
        return
    # assay names kernels as the C++ library demangles them, which is what c++filt does
    names = subprocess.run(["c++filt"], input="\n".join(ncu_names(text)), stdout=subprocess.PIPE, text=True,
                           check=True).stdout.splitlines()
    theirs, traced = collections.Counter(names), collections.Counter(kernels[-count:])
    ours = names_of_layers(trial["layers"])
    twice = kernels[-count:] * 2
    in_order = any(twice[i:i + count] == names for i in range(count))
    print(f"ncu: {len(names)} kernels, {len(theirs)} names ({time.monotonic() - begin:.0f} s); of the layers {sum(ours.values())}, "
          f"{len(ours)} names, each as often {verdict(ours == theirs)}; of `assay trace` each as often "
          f"{verdict(traced == theirs)}, in the same order {verdict(in_order)}")
    differences("layers, ncu", ours, theirs)
    differences("trace, ncu", traced, theirs)
    bench.results["ncu"] = {"kernels": len(names), "names": len(theirs), "of_layers": ours == theirs, "of_trace": traced == theirs,
                            "in_order": in_order}


def ratio(bench):
    seen = {name: [] for name in MODELS}
    for number in range(bench.repeat):
        for name, model in MODELS.items():
            if layers_of(bench, f"{name}-{number}", model):
                seen[name].append(bench.results[f"{name}-{number}"]["ratio_alternating"])
    for name, values in seen.items():
        if not values:
            print(f"ratio: {name} has none MISSES")
            continue
        median = statistics.median(values)
        print(f"ratio: {name} median {median:.4f} of {', '.join(f'{value:.4f}' for value in values)} {verdict(median <= RATIO_FLOOR)}")
        bench.results[f"ratio-{name}"] = values


def p50(bench):
    text = bench.call("p50", [bench.assay, "run", "resnet50", "--device", bench.device, "--json"], limit=120)
    if text is None:
        return
    trial = json.loads(text)["trials"][0]
    timing, p50_us = trial["layer_timing"], trial["metrics"]["latency.p50"]["value"] * 1e6
    if timing["method"] != "kernels":
        print(f"p50: method {timing['method']}: {timing.get('reason')} MISSES")
        return
    share = timing["traced_us"] / p50_us
    print(f"p50: {len(trial['launches'])} launches, p50 {p50_us:.1f} us, traced {timing['traced_us']:.1f}: {share:.4f} "
          f"{verdict(share <= RATIO_FLOOR)}; alternating {timing['slowdown']:.4f} {verdict(timing['slowdown'] <= RATIO_FLOOR)}")
    bench.results["p50"] = {"p50_us": p50_us, "traced_us": timing["traced_us"], "alternating": timing["slowdown"]}


def graphs(bench):
    """cuDNN chooses by heuristics, which is the same in every session."""
    without = layers_of(bench, "resnet50-without-graph", ["resnet50", *HEURISTIC])
    trial = layers_of(bench, "resnet50-graph", ["resnet50", *GRAPH])
    if not trial or not without:
        return
    own, other = bench.results["resnet50-graph"], bench.results["resnet50-without-graph"]
    print(f"graphs: p50 {own['p50_us']:.1f} us with a graph, {other['p50_us']:.1f} without; gaps {own['gaps_us']:.1f} and "
          f"{other['gaps_us']:.1f}; kernels {own['kernels_us']:.1f} and {other['kernels_us']:.1f} us, {own['kernels']:.0f} and "
          f"{other['kernels']:.0f}, of layers {own['kernels_of_layers']:.0f} {verdict(own['kernels_of_layers'] == own['kernels'])}")
    if bench.call("graph-trace", [bench.assay, "trace", "resnet50", "--device", bench.device, *GRAPH, "-q", "-o",
                                  "graph-trace.assay"]) is None:
        return
    rows = query(bench, "graph-trace.assay", "SELECT kind, count(*) AS n FROM events GROUP BY kind") or []
    kinds = {row["kind"]: row["n"] for row in rows}
    calls = query(bench, "graph-trace.assay", "SELECT name, count(*) AS n FROM events WHERE kind = 'launch' GROUP BY name") or []
    named = {row["name"]: row["n"] for row in calls}
    graph_launches = sum(count for name, count in named.items() if "GraphLaunch" in name)
    steps = kinds.get("range", 0)
    print(f"graphs: timeline {kinds}; launches {named}; {graph_launches} graph launches in {steps} inferences "
          f"{verdict(0 < graph_launches == steps)}; kernels {verdict(kinds.get('kernel') == steps * own['kernels'])}")
    bench.results["graph-trace"] = {"kinds": kinds, "launches": named}


def drops(bench):
    storm = str(Path(__file__).resolve().parent / "storm.py")
    for name, more in (("storm-all", []), ("storm-few", ["--buffers", "1", "--buffer-size", "64"])):
        text = bench.call(name, [bench.assay, "trace", "--calls", "none", "--cpu", "none", *more, "-o", f"{name}.assay", "--",
                                 sys.executable, storm, str(STORM)])
        if text is None:
            continue
        launched = json.loads(text.splitlines()[-1])["launched"]
        kernels = query(bench, f"{name}.assay", "SELECT count(*) AS n FROM events WHERE kind = 'kernel'")[0]["n"]
        waits = query(bench, f"{name}.assay", "SELECT count(*) AS n FROM events WHERE kind = 'device-wait'")[0]["n"]
        dropped = query(bench, f"{name}.assay", "SELECT sum(skipped) AS n FROM trace_sources")[0]["n"]
        # the wait's record, and that of the device, may be among the dropped ones
        good = 0 <= kernels + dropped - launched <= 2 and (dropped > 0) == bool(more)
        print(f"drops: {name}: {launched} launched, {kernels} recorded, {dropped} dropped, {waits} waits: "
              f"recorded + dropped - launched = {kernels + dropped - launched} {verdict(good)}")
        said = (bench.out / f"{name}.err").read_text(errors="replace")
        print("   ", next((line.strip() for line in said.splitlines() if "dropped" in line), "nothing is said of dropped records"))
        bench.results[name] = {"launched": launched, "recorded": kernels, "dropped": dropped}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dist")
    parser.add_argument("out")
    parser.add_argument("--only", default="run,trace,plain,ncu")
    parser.add_argument("--device", default="cuda:0")
    parser.add_argument("--budget", type=float, default=140, help="seconds for everything")
    parser.add_argument("--repeat", type=int, default=3, help="how often `ratio` runs each model")
    options = parser.parse_args()
    bench = Bench(options)
    for part in options.only.split(","):
        try:
            {"run": run, "trace": trace, "plain": plain, "ncu": ncu, "ratio": ratio, "p50": p50, "graphs": graphs,
             "drops": drops}[part](bench)
        except Exception as error:  # the other parts are run all the same
            print(f"{part}: {type(error).__name__}: {error} MISSES")
    (bench.out / "results.json").write_text(json.dumps(bench.results, indent=1))
    log = bench.out / "log.txt"
    if log.exists():
        print("log:\n" + "\n".join(line[:300] for line in log.read_text(errors="replace").splitlines()[-60:]))


if __name__ == "__main__":
    main()
